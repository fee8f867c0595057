// What a run does by what its probes read: events and sampled controllers, for every method alike.
//
// A step is divided at times that are known (those of events, delays and samples). Whether a column has
// passed an event's value is looked at where a step or a part of it ends; if it has, the step is taken again
// from its start, shorter and shorter, until the moment is known to 1e-12 of the step, and the run goes on
// from there: the integrator's order stays. What passes a value and comes back within one step is not seen.
//
// A controller that is sampled reads its column at t_k = k · period, or where a step starts, and holds
//
//   u_k = kp e_k + ki I_k + kd (e_k − e_{k−1})/(t_k − t_{k−1}),   I_{k+1} = I_k + (t_{k+1} − t_k) e_k,
//
// cut to its limits, until the next sample; I does not take e_k where u_k is cut and ki e_k would cut it
// further.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/report.h"
#include "limber/result/snapshot.h"
#include "limber/sim/happening.h"

namespace limber::sim {

class Driver;

class Conductor {
 public:
  // `layout`: of the driver. Throws ModelError with its objections.
  Conductor(const Model& model, const result::Layout& layout, const char* method);
  // The columns that are read and that the layout lacks.
  static std::vector<Problem> objections(const Model& model, const result::Layout& layout,
                                         const char* method);
  static bool is_needed(const Model& model);

  void start(Driver& driver);  // before the first step: looks, and does what is due at t = 0
  // One step of size h, or the part of it before an event stops the run. On failure all is as it was.
  result::SolveReport step(Driver& driver, double h);

  const std::vector<Happening>& happened() const { return happened_; }
  std::optional<double> stopped_at() const { return stopped_ ? std::optional(stop_time_) : std::nullopt; }
  const std::vector<Done>& done() const { return done_; }

  std::string save() const;
  void load(const std::string& bytes);  // throws std::invalid_argument

 private:
  struct Watch {  // of an event
    int column = -1;
    double gap = 0;      // reading less value, at the last look
    bool over = false;   // it is not to happen again
    bool timed = false;  // its time has not come
  };
  struct Sampler {  // of a controller
    int column = -1, control = -1;
    bool on = true, any = false;
    double integral = 0, error = 0, rate = 0, t = 0;  // at the last sample; rate: of the integral since
    std::int64_t samples = 0;
    double force = 0;
  };
  struct Pending {
    int event = 0;
    double found = 0, at = 0;  // [s]
  };

  void read(Driver& driver);
  double next_time(double t, double end, double slack) const;
  bool watches() const;
  bool has_passed(std::size_t e) const;
  result::SolveReport advance(Driver& driver, double t, double& to);
  bool locate(Driver& driver, const std::string& from, std::size_t e, double t, double& to,
              result::SolveReport& report);
  void look_again();
  void happen(std::size_t e, double t);
  void act(Driver& driver, double t, double slack);
  void take(Driver& driver, const Action& action, double t);
  void sample(Driver& driver, double t, double slack, bool step_starts);
  void sample_one(std::size_t k, double t);

  const std::vector<Event> events_;
  const std::vector<Controller> controllers_;
  std::vector<TimeFunction> targets_;  // of the controllers, as events leave them
  std::vector<Watch> watches_;         // (events)
  std::vector<Sampler> samplers_;
  std::vector<Pending> pending_;
  std::vector<Done> done_;
  std::vector<Happening> happened_;
  std::vector<std::pair<int, double>> acted_;  // events and times, from which done_ is made again
  bool stopped_ = false;
  double stop_time_ = 0;
  result::Snapshot snapshot_;
};

}  // namespace limber::sim
