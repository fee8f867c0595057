// A structure that changes while it stands under load (Hall 2013, section 6.3): loads of time, materials and
// sections that change, creep and tire, beams that grow, are cut, and break where their strength is passed.
//
// Time goes in steps; at the end of each the structure is at rest. What changes between steps acts on the
// state as it is: a new stiffness on the joints as they are bent, a grown beam unloaded from where its root
// has come to, a broken branch gone from the tree (it goes on as a chain of its own, `severed`).
//   creep:    θ ← (1 − f) θ and the joint's rest follows, f = Δt · rate · (σ/σ₀)^n
//   fatigue:  k ← (1 − f) k
// with σ the combined stress at the joint after the step. f is cut at ½.
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

  // To rest at time t, from the time before. Changes due until then are made first. Not ok: the state is that
  // of the last rest.
  StaticReport advance_to(double t);

  double time() const { return time_; }
  const System& system() const { return *system_; }
  Solver& solver() { return *solver_; }
  const Rest& rest() const { return rest_; }
  const std::vector<Severed>& severed() const { return severed_; }
  const std::vector<HistoryEvent>& events() const { return events_; }

 private:
  void rebuild(const Model& model);
  void hold();  // the ties of what is there; multipliers stay with their ties
  void make_changes(double t);
  void age(double dt);
  bool break_off(double t);  // the most overloaded joint; false: none
  void sever(int link, double t, double stress);
  StaticReport settle(const std::vector<DeadLoad>& before, const std::vector<TurningLoad>& turning_before);

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
