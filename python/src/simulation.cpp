// A simulation that Python steps: the driver of the run loop (sim/driver.h) behind a few calls.
//
// Arrays look at numbers that the simulation keeps, which are renewed when one is asked for after a step:
// nothing is copied for Python, and an array from before shows the new moment. Times, and what a step does,
// are those of a run: the same bits.
#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>

#include "arrays.h"
#include "errors.h"
#include "limber/articulated/touches.h"
#include "limber/result/state_bytes.h"
#include "limber/sim/driver.h"
#include "moment.h"
#include "run_options.h"
#include "scene.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

struct Contact {
  articulated::TouchReaction touch;
  // As the scene has it: names in sentences stand in quotes.
  static std::string plain(const std::string& name) {
    return name.size() > 1 && name.front() == '"' && name.back() == '"' ? name.substr(1, name.size() - 2)
                                                                        : name;
  }
};

class Simulation {
 public:
  Simulation(ScenePtr scene, const nb::dict& options)
      : scene_(std::move(scene)), options_(scene_->scene.run) {
    apply(options, options_);
    computing([&] {
      driver_ = with_places(scene_->scene,
                            [&] { return std::make_unique<sim::Driver>(scene_->scene.model, options_); });
      return 0;
    });
    const result::Layout& layout = driver_->layout();
    snapshot_.resize(layout);
    poses_.resize(pose_width * layout.frames.size());
    points_.resize(3 * layout.point_count());
    large_ = driver_->dof_count() > 60;
  }

  // One owner at a time: another thread is refused, not waited for.
  class Turn {
   public:
    explicit Turn(Simulation& s) : lock_(s.mutex_, std::try_to_lock) {
      if (!lock_.owns_lock()) throw std::runtime_error("this simulation is in use by another thread");
    }

   private:
    std::unique_lock<std::mutex> lock_;
  };

  void step() {
    const Turn turn(*this);
    const result::SolveReport report = large_ ? computing([&] { return take_step(); }) : short_step();
    finish(report);
  }
  void step_many(std::int64_t n) {
    if (n < 0) throw std::invalid_argument("step: expected a count that is not negative");
    const Turn turn(*this);
    finish(computing([&] {
      result::SolveReport report;
      for (std::int64_t i = 0; i < n && report.ok() && !over(); ++i) {
        stop_if_requested();
        report = take_step();
      }
      return report;
    }));
  }
  // Of the library alone, for the measure of what Python adds.
  double seconds_of(std::int64_t n) {
    const Turn turn(*this);
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < n; ++i) take_step();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  double time() const { return stopped_ ? *stopped_ : static_cast<double>(step_) * options_.step; }
  std::int64_t steps() const { return step_; }
  double step_size() const { return options_.step; }
  std::string method() const { return to_string(options_.method); }
  std::string solver() const { return driver_->solver(); }
  int dofs() const { return driver_->dof_count(); }
  const result::Layout& layout() const { return driver_->layout(); }
  nb::dict options() const { return to_dict(options_); }
  std::vector<std::string> events() const {
    std::vector<std::string> out;
    if (driver_->conductor())
      for (const sim::Happening& h : driver_->conductor()->happened()) out.push_back(to_string(h));
    return out;
  }
  bool over() const { return stopped_.has_value(); }

  const std::vector<double>& poses() { return look(), poses_; }
  const std::vector<double>& points() { return look(), points_; }
  const std::vector<double>& scalars() { return look(), snapshot_.scalars; }
  Moment moment() {
    look();
    Moment out{std::make_shared<result::Layout>(layout()), snapshot_};
    out.snapshot.time = time();
    return out;
  }

  // Coordinates and rates of the method's own state; copies that stay where they are.
  const std::vector<double>& q() { return copy_state(), q_; }
  const std::vector<double>& v() { return copy_state(), v_; }

  nb::bytes save() {
    const Turn turn(*this);
    result::StateWriter out;
    out.put(step_);
    out.put(static_cast<std::uint64_t>(targets_.size()));
    for (const auto& [name, values] : targets_) {
      out.put(name);
      out.put(values);
    }
    out.put(driver_->save());
    out.put(driver_->save_plainly());
    const std::string bytes = out.take();
    return nb::bytes(bytes.data(), bytes.size());
  }
  void load(nb::bytes given) {
    const Turn turn(*this);
    const std::string bytes(given.c_str(), given.size());
    std::int64_t step = 0;
    std::uint64_t count = 0;
    std::map<std::string, std::vector<double>> targets;
    std::string state, plain;
    result::StateReader in(bytes);
    in.get(step), in.get(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string name;
      std::vector<double> values;
      in.get(name), in.get_any(values);
      if (!targets.emplace(name, values).second || drive_of(name).size != static_cast<int>(values.size()))
        throw std::invalid_argument("no state of this simulation");
    }
    in.get(state), in.get(plain), in.end();
    const std::string before = driver_->save(), before_plain = driver_->save_plainly();
    const auto old = targets_;
    const auto enter = [&](const std::string& all, const std::string& own) {
      driver_->load(all);
      retarget();
      driver_->load_plainly(own);
    };
    try {
      targets_ = targets;
      enter(state, plain);
    } catch (...) {
      targets_ = old;
      enter(before, before_plain);
      throw;
    }
    step_ = step;
    settle();
  }

  // What drives aim at from now on: their joint's coordinate [rad or m], or its force [N·m or N].
  void set_drive(const std::string& name, const std::vector<double>& values) {
    const Turn turn(*this);
    const int size = drive_of(name).size;
    if (static_cast<int>(values.size()) != size)
      throw std::invalid_argument(fmt::format("drive {}: expected {} value{}, got {}", name, size,
                                              size == 1 ? "" : "s", values.size()));
    for (const double x : values)
      if (!std::isfinite(x))
        throw std::invalid_argument(fmt::format("drive {}: expected finite numbers", name));
    targets_[name] = values;
    retarget();
    fresh_ = false;
  }
  std::vector<std::string> drives() const {
    std::vector<std::string> out;
    if (options_.method == sim::Method::articulated)
      for (const Drive& d : driver_->model().drives()) out.push_back(driver_->model()[d.joint].name);
    return out;
  }

  void grab(const std::string& frame, const std::array<double, 3>& at, const std::array<double, 3>& target,
            double stiffness, double damping) {
    const Turn turn(*this);
    const auto& frames = layout().frames;
    const auto found = std::ranges::find(frames, frame, &result::FrameInfo::name);
    if (found == frames.end()) throw std::invalid_argument(fmt::format("there is no body \"{}\"", frame));
    for (const double x : {at[0], at[1], at[2], target[0], target[1], target[2], stiffness, damping})
      if (!std::isfinite(x)) throw std::invalid_argument("grab: expected finite numbers");
    if (!(stiffness >= 0 && damping >= 0))
      throw std::invalid_argument("grab: stiffness and damping must not be negative");
    result::Hand hand;
    hand.index = static_cast<int>(found - frames.begin());
    hand.p = Vec3(at[0], at[1], at[2]);
    hand.target = Vec3(target[0], target[1], target[2]);
    hand.stiffness = stiffness;
    hand.damping = damping;
    if (!driver_->hold(hand))
      throw std::invalid_argument(fmt::format("\"{}\" cannot be pulled by method {}", frame, method()));
  }
  void release() {
    const Turn turn(*this);
    driver_->release();
  }
  void scale_loads(double factor) {
    const Turn turn(*this);
    if (!std::isfinite(factor)) throw std::invalid_argument("scale_loads: expected a finite number");
    if (!driver_->scale_loads(factor))
      throw std::invalid_argument(fmt::format("method {} cannot change its loads while it runs", method()));
    fresh_ = false;
  }

  std::vector<Contact> contacts() {
    const Turn turn(*this);
    const auto* a = std::get_if<sim::ArticulatedDriver>(&driver_->method());
    if (!a)
      throw std::invalid_argument(fmt::format("method {} does not tell its contacts; probes may", method()));
    std::vector<Contact> out;
    for (auto& touch : articulated::touches(a->system, a->state)) out.push_back({std::move(touch)});
    return out;
  }

 private:
  // As the run loop does: time is a step's number times h.
  result::SolveReport take_step() {
    driver_->set_clock(step_, static_cast<double>(step_) * options_.step);
    const std::size_t done = driver_->conductor() ? driver_->conductor()->done().size() : 0;
    result::SolveReport report = driver_->step(options_.step);
    if (!report.ok()) return report;
    fresh_ = false;
    ++step_;
    settle();
    if (driver_->conductor() && driver_->conductor()->done().size() != done && !targets_.empty()) retarget();
    if (!driver_->finite()) {
      report.status = result::Status::diverged;
      report.message = fmt::format("at t = {:.9g} s: a value is no longer finite", time());
    }
    return report;
  }
  result::SolveReport short_step() {
    if (over()) return {};
    const nb::gil_scoped_release release;
    return take_step();
  }
  void settle() {
    fresh_ = false;
    stopped_ = driver_->conductor() ? driver_->conductor()->stopped_at() : std::nullopt;
    driver_->set_clock(step_, time());
  }
  void finish(const result::SolveReport& report) {
    if (!report.ok()) raise("diverged", to_string(report.status), report.message, report.time, report.worst);
  }
  void look() {
    const Turn turn(*this);
    if (fresh_) return;
    driver_->observe(snapshot_);
    write_poses(snapshot_, poses_.data());
    write_points(snapshot_, points_.data());
    fresh_ = true;
  }
  void copy_state() {
    const Turn turn(*this);
    std::visit(
        [&](const auto& m) {
          if constexpr (requires { m.state.e; })
            take(m.state.e, q_), take(m.state.v, v_);
          else if constexpr (requires { m.state.v; })
            take(m.state.q, q_), take(m.state.v, v_);
          else if constexpr (requires { m.state.q; })
            take(m.state.q, q_), v_.clear();
        },
        driver_->method());
  }
  // Where the numbers stand does not change, unless there are others (a thread that is cut).
  static void take(const std::vector<double>& from, std::vector<double>& to) {
    if (to.empty()) to.resize(from.size());
    if (to.size() != from.size())
      throw std::runtime_error("the state has another size now: make a new simulation");
    std::ranges::copy(from, to.begin());
  }

  struct DriveInfo {
    int size = 0;
  };
  DriveInfo drive_of(const std::string& name) const {
    if (options_.method != sim::Method::articulated)
      throw std::invalid_argument(fmt::format("method {} cannot set drives while it runs", method()));
    const Model& model = driver_->model();
    for (const Drive& d : model.drives())
      if (model[d.joint].name == name) return {dof_count(model[d.joint].kind)};
    throw std::invalid_argument(fmt::format("there is no drive \"{}\"", name));
  }
  void retarget() {
    std::vector<Done> all;
    if (driver_->conductor()) all = driver_->conductor()->done();
    for (const auto& [name, values] : targets_) {
      Done done;
      done.action.kind = Action::Kind::retarget;
      done.action.on = Action::On::drive;
      done.action.name = name;
      for (std::size_t k = 0; k < values.size(); ++k) done.action.target[k] = values[k];
      done.t = time();
      all.push_back(std::move(done));
    }
    if (!all.empty()) driver_->apply(all);
  }

  ScenePtr scene_;
  sim::RunOptions options_;
  std::unique_ptr<sim::Driver> driver_;
  std::mutex mutex_;
  std::int64_t step_ = 0;
  std::optional<double> stopped_;  // [s] by an event
  bool large_ = false, fresh_ = false;
  std::map<std::string, std::vector<double>> targets_;  // of drives, by their joints' names
  result::Snapshot snapshot_;
  std::vector<double> poses_, points_, q_, v_;
};

template <std::size_t n>
Array<n> look_at(nb::handle self, const std::vector<double>& numbers, const std::size_t (&shape)[n]) {
  return view_of<n>(numbers, shape, self);
}

}  // namespace

void bind_simulation(nb::module_& m) {
  nb::class_<Contact>(m, "Contact", "A place where two things touch.")
      .def_prop_ro("a", [](const Contact& c) { return Contact::plain(c.touch.a); })
      .def_prop_ro("b", [](const Contact& c) { return Contact::plain(c.touch.b); })
      .def_prop_ro(
          "at", [](const Contact& c) { return array_of(c.touch.at); }, "In the world [m].",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "force", [](const Contact& c) { return array_of(c.touch.force); }, "On a, in the world [N].",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "normal", [](const Contact& c) { return array_of(c.touch.normal); }, "From b to a.",
          nb::rv_policy::automatic)
      .def("__repr__", [](const Contact& c) {
        return fmt::format("<Contact of {} and {}: {:.6g} N>", c.touch.a, c.touch.b, c.touch.force.norm());
      });
  nb::class_<Simulation>(m, "Stepper", "A simulation that is stepped; limber.Simulation is what people use.")
      .def(nb::init<ScenePtr, const nb::dict&>(), nb::arg("scene"), nb::arg("options"))
      .def("step", &Simulation::step, "One step of the scene's size.")
      .def("step", &Simulation::step_many, nb::arg("count"), "So many steps.")
      .def("seconds_of", &Simulation::seconds_of, nb::arg("count"), "What so many steps take without Python.")
      .def_prop_ro("time", &Simulation::time, "[s]")
      .def_prop_ro("steps", &Simulation::steps, "Finished.")
      .def_prop_ro("step_size", &Simulation::step_size, "[s]")
      .def_prop_ro("method", &Simulation::method)
      .def_prop_ro("solver", &Simulation::solver, "What solves its linear systems.")
      .def_prop_ro("dofs", &Simulation::dofs, "Degrees of freedom.")
      .def_prop_ro("options", &Simulation::options)
      .def_prop_ro("events", &Simulation::events, "That happened, in words.")
      .def_prop_ro("over", &Simulation::over, "An event has ended it.")
      .def_prop_ro("layout", &Simulation::layout, nb::rv_policy::reference_internal)
      .def_prop_ro(
          "poses",
          [](nb::handle self) {
            auto& s = nb::cast<Simulation&>(self);
            const std::size_t shape[] = {s.layout().frames.size(), pose_width};
            return look_at<2>(self, s.poses(), shape);
          },
          "Of each body and link: x, y, z [m] and the unit quaternion w, x, y, z. Not a copy.")
      .def_prop_ro(
          "points",
          [](nb::handle self) {
            auto& s = nb::cast<Simulation&>(self);
            const std::size_t shape[] = {s.layout().point_count(), 3};
            return look_at<2>(self, s.points(), shape);
          },
          "Of all lines, one after the other [m]. Not a copy.")
      .def_prop_ro(
          "scalars",
          [](nb::handle self) {
            auto& s = nb::cast<Simulation&>(self);
            const std::size_t shape[] = {s.layout().scalars.size()};
            return look_at<1>(self, s.scalars(), shape);
          },
          "Of each column. Not a copy.")
      .def_prop_ro(
          "q",
          [](nb::handle self) {
            const auto& q = nb::cast<Simulation&>(self).q();
            const std::size_t shape[] = {q.size()};
            return look_at<1>(self, q, shape);
          },
          "Coordinates of the method's state, as of now.")
      .def_prop_ro(
          "v",
          [](nb::handle self) {
            const auto& v = nb::cast<Simulation&>(self).v();
            const std::size_t shape[] = {v.size()};
            return look_at<1>(self, v, shape);
          },
          "Rates of the method's state, as of now; empty where it has none.")
      .def("moment", &Simulation::moment, "This moment, to keep.")
      .def("save", &Simulation::save, "All that the next step depends on, to its last bit.")
      .def("load", &Simulation::load, nb::arg("state"), "Goes on from what save() gave.")
      .def("set_drive", &Simulation::set_drive, nb::arg("name"), nb::arg("values"))
      .def_prop_ro("drives", &Simulation::drives, "Joints whose drives can be set.")
      .def("grab", &Simulation::grab, nb::arg("frame"), nb::arg("at"), nb::arg("target"),
           nb::arg("stiffness"), nb::arg("damping"))
      .def("release", &Simulation::release)
      .def("scale_loads", &Simulation::scale_loads, nb::arg("factor"))
      .def_prop_ro("contacts", &Simulation::contacts);
}

}  // namespace limber::python
