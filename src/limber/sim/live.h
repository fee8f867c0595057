// A simulation that people watch and pull at: it can be held, cut, loaded, taken back in time, and it goes on
// by another method or with other parameters from where it is. Whoever calls step() decides when.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "limber/result/fields.h"
#include "limber/result/hand.h"
#include "limber/result/snapshot.h"
#include "limber/result/touch.h"
#include "limber/sim/methods.h"

namespace limber::sim {

class Driver;

class Live {
 public:
  using Note = std::function<void(const std::string&)>;
  // `note` hears what a person should know. Throws as Driver does.
  Live(Model model, const RunOptions& options, Note note);
  ~Live();

  const Model& model() const { return model_; }  // of the scene, without cuts
  const RunOptions& options() const { return options_; }
  const std::vector<MethodChoice>& methods() const { return methods_; }
  const result::Layout& layout() const;
  const result::Snapshot& snapshot() const { return snapshot_; }
  const result::Fields& fields() const { return fields_; }     // of the last look()
  const result::Touches& touches() const { return touches_; }  // of the last look()
  result::Pull pull();
  std::vector<result::Reading> readings(const std::string& name);
  std::optional<Model> model_at() const;  // with the state as its start
  std::int64_t steps() const { return step_; }
  int starts() const { return starts_; }  // more: another layout, or time that went back to the start
  double time() const { return static_cast<double>(step_) * options_.step; }
  bool failed() const { return failed_; }
  bool can_hold() const;
  bool held() const { return hand_.has_value(); }
  double strength() const { return strength_; }  // of the hand [N/m]

  bool step();     // false: it failed, and said why; else the snapshot is of the new time
  void look();     // after steps: fields as they are now, and a moment to go back to
  void restart();  // at t = 0, uncut
  void rewind(double time);

  void grab(result::Hand hand);  // with the strength that is set
  void drag(const Vec3& target);
  void release();
  void set_strength(double stiffness) { strength_ = stiffness; }
  void scale_loads(double factor);

  bool cut(int point);  // the same scene with one change more, from where it is; false: not there
  bool is_cut() const;
  // The reduced model gets a linearisation point where the whole mechanism rests under the present loads and
  // the present pull.
  void add_point();
  // Another model, as of other parameters; where its coordinates are the same it goes on, else from its
  // start.
  void replace(Model model);
  void switch_method(const std::string& name);

 private:
  struct Past {
    std::int64_t step;
    std::string state;
  };
  void start(std::unique_ptr<Driver> driver);
  void observe();
  void forget();
  void tell_events(const class Conductor& conductor);

  Model model_;
  RunOptions options_;
  Note note_;
  std::unique_ptr<Driver> driver_;
  std::vector<MethodChoice> methods_;
  result::Snapshot snapshot_, before_;  // now, and a step ago
  result::Fields fields_;
  result::Touches touches_;
  std::deque<Past> past_;
  std::size_t past_bytes_ = 0;
  std::int64_t step_ = 0;
  int starts_ = 0;
  bool failed_ = false, warned_ = false;
  std::size_t told_events_ = 0;
  double loads_ = 1, strength_ = 0, mass_ = 1;
  std::optional<result::Hand> hand_;
};

}  // namespace limber::sim
