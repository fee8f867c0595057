// A structure that changes while it stands under load (Hall 2013, section 6.3): loads of time, materials and
// sections that change, creep and tire, beams that grow, are cut, and break where their strength is passed.
//
// Time goes in steps; at the end of each the structure is at rest, from where it stood with its loads,
// supports and wind of the time before. Steps end where a change is due. What changes acts on the state as it
// is: a new stiffness on the joints as they are bent, a grown beam unloaded from where its root has come to,
// a cut at the joint next to the place. Where the combined stress passes the strength, at joints and roots,
// the step is gone back to the time when it does; the most overloaded place breaks, what is left comes to
// rest, and so on. What has come off falls freely as it stood.
//   creep:    θ ← (1 − f) θ and the joint's rest follows, f = Δt · rate · (σ/σ₀)^n
//   fatigue:  k ← (1 − f) k
// with σ the combined stress at the joint before the step. f is cut at ½.
// Where no rest is near the last one, or the one there is unstable, it goes on slowly (Solver::relax) to a
// stable one, and says so.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "limber/chain/chain.h"
#include "limber/chain/stress.h"

namespace limber::chain {

// A branch that has come off: its own links, as it stood at that moment, root where it broke.
struct Severed {
  double time = 0;
  std::string beam;
  double s = 0;         // where along the beam
  double stress = 0;    // [Pa] that broke it; 0: it was cut
  Structure structure;  // its root joint where it broke, without loads
  Rest rest;
};

struct HistoryEvent {
  double time = 0;
  std::string text;  // for people
};

class History {
 public:
  explicit History(const Model& model, const StaticOptions& options = {});

  // To rest at time t, from the time before, by way of all that happens until then. Not ok: the state is that
  // of the last rest.
  StaticReport advance_to(double t);

  double time() const { return time_; }
  const System& system() const { return *system_; }
  Solver& solver() { return *solver_; }
  const Rest& rest() const { return rest_; }
  const std::vector<Severed>& severed() const { return severed_; }
  const std::vector<HistoryEvent>& events() const { return events_; }

  // All that what comes depends on, and what was told: a history of the same model that loads it goes on with
  // the same bits. load() throws std::invalid_argument where the bytes are of none, or of another model's.
  std::string save() const;
  void load(const std::string& bytes);

 private:
  // What a step without changes of beams changes.
  struct Saved {
    double time;
    bool started;
    Rest rest;
    Links links;
    std::vector<double> left;
    std::size_t events;
  };
  Saved as_it_stands() const;
  void restore(const Saved& at);
  void stand_still();
  void rebuild(const Model& model);
  void begin();  // nothing has happened yet
  void change_beam(const Change& c, ModelParts& parts) const;
  void hold();                  // the ties of what is there; multipliers stay with their ties
  bool make_changes(double t);  // false: none is due
  void age(double dt);
  struct Overload {
    double ratio = 0, stress = 0, s = 0;  // of the strength; [Pa]; along the beam
    int link = -1;
  };
  Overload overload();
  void sever(int link, double s, double t, double stress, double asked);
  StaticReport go(double t);    // to rest at t, whatever breaks there
  StaticReport step(double t);  // to rest at t, or at the time before it when something breaks
  StaticReport settle(const Structure& before);
  StaticReport lead();
  StaticReport break_off(StaticReport r);
  void take_hold(Closure& c);
  double next_change(double t) const;

  Model model_;  // as it was written
  StaticOptions options_;
  double time_ = 0;
  bool started_ = false;
  std::vector<char> made_;  // of the model's changes
  std::unique_ptr<System> system_;
  std::unique_ptr<Solver> solver_;
  Rest rest_;
  std::vector<Closure> ties_;      // all of them
  std::vector<std::size_t> held_;  // those that the structure has now
  std::vector<double> left_;       // (links) of their stiffness, after fatigue
  std::vector<Severed> severed_;
  std::vector<HistoryEvent> events_;
};

}  // namespace limber::chain
