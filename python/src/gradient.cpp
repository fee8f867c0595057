// Derivatives of rests and runs (sim/static_gradient.h, sim/run_gradient.h), and what a text of a scene is
// worth.
#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <mutex>
#include <optional>

#include "arrays.h"
#include "errors.h"
#include "limber/scene/expression.h"
#include "limber/sim/run_gradient.h"
#include "limber/sim/static_gradient.h"
#include "run_options.h"
#include "scene.h"
#include "statics.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

// A scene whose parameters are a little different, for one thread at a time.
class Variations {
 public:
  explicit Variations(ScenePtr scene) : of_(scene->scene) {}
  std::optional<elastic::ModelNumbers> with(const std::string& name, const std::string& text) {
    const std::lock_guard turn(mutex_);
    return of_.with(name, text);
  }

 private:
  std::mutex mutex_;
  scene::Variations of_;
};

class Gradient {
 public:
  Gradient(ScenePtr scene, const nb::dict& run, const nb::dict& statics) : scene_(std::move(scene)) {
    sim::RunOptions options = scene_->scene.run;
    apply(run, options);
    const sim::StaticOptions how = static_options(statics);
    computing([&] {
      with_places(scene_->scene, [&] {
        of_.emplace(scene_->scene.model, options, how);
        return 0;
      });
      return 0;
    });
  }
  std::vector<std::pair<std::string, std::string>> columns() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& s : of_->layout().scalars) out.emplace_back(s.name, s.unit);
    return out;
  }
  Array1 values() const { return array_of(of_->rest().scalars); }
  // By a parameter with a value of `unit` of a scene that is this one; NaN of columns that hang on more than
  // places, nothing where the scene has to be read anew.
  std::optional<Array1> by_parameter(Variations& of, const std::string& name, double value,
                                     const std::string& unit, double delta) {
    if (!std::isfinite(delta) || delta == 0)
      throw std::invalid_argument("delta: expected a number that is not zero");
    const auto text = [&](double x) { return fmt::format("{:.17g} {}", x, unit); };
    std::optional<std::vector<double>> found = computing([&]() -> std::optional<std::vector<double>> {
      const std::lock_guard turn(mutex_);
      const auto up = of.with(name, text(value + delta));
      if (!up) return {};
      const auto down = of.with(name, text(value - delta));
      const auto rates = elastic::rates_between(scene_->scene.model, *up, *down, delta, of_->time());
      if (!rates) return {};
      return of_->derivative(*rates, delta);
    });
    if (!found) return {};
    return array_of(std::move(*found));
  }
  Array1 derivative(ScenePtr up, ScenePtr down, double delta) {
    if (!std::isfinite(delta) || delta == 0)
      throw std::invalid_argument("delta: expected a number that is not zero");
    return array_of(computing([&] {
      const std::lock_guard turn(mutex_);
      return with_places(up->scene,
                         [&] { return of_->derivative(up->scene.model, down->scene.model, delta); });
    }));
  }

 private:
  ScenePtr scene_;
  std::mutex mutex_;
  std::optional<sim::StaticGradient> of_;
};

using Number = std::tuple<std::int64_t, int, double>;  // frame, column, weight

class RunGradient {
 public:
  RunGradient(ScenePtr scene, const nb::dict& run) : scene_(std::move(scene)) {
    sim::RunOptions options = scene_->scene.run;
    apply(run, options);
    computing([&] {
      with_places(scene_->scene, [&] {
        of_.emplace(scene_->scene.model, options);
        return 0;
      });
      return 0;
    });
  }
  std::vector<std::pair<std::string, std::string>> columns() const {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& s : of_->layout().scalars) out.emplace_back(s.name, s.unit);
    return out;
  }
  Array1 times() const { return array_of(of_->times()); }
  std::vector<std::pair<std::string, int>> freedoms() const { return of_->freedoms(); }
  nb::dict of(const std::vector<Number>& numbers, const std::vector<ScenePtr>& up,
              const std::vector<ScenePtr>& down, const std::vector<double>& delta, bool forces) {
    if (up.size() != down.size() || up.size() != delta.size())
      throw std::invalid_argument("up, down and delta: expected as many of each");
    std::vector<sim::RecordedNumber> what;
    for (const auto& [frame, column, weight] : numbers) what.push_back({frame, column, weight});
    std::vector<sim::ModelChange> changes;
    for (std::size_t k = 0; k < up.size(); ++k) {
      if (!std::isfinite(delta[k]) || delta[k] == 0)
        throw std::invalid_argument("delta: expected numbers that are not zero");
      changes.push_back({&up[k]->scene.model, &down[k]->scene.model, delta[k]});
    }
    const std::unique_lock turn(mutex_, std::try_to_lock);
    if (!turn.owns_lock()) throw std::runtime_error("this gradient is in use by another thread");
    sim::RunSensitivity found =
        computing([&] { return with_places(scene_->scene, [&] { return of_->of(what, changes, forces); }); });
    const std::size_t freedoms = found.positions.size();
    nb::dict out;
    out["value"] = found.value;
    out["by"] = array_of(std::move(found.by));
    out["positions"] = array_of(std::move(found.positions));
    out["velocities"] = array_of(std::move(found.velocities));
    const std::size_t shape[] = {freedoms > 0 ? found.forces.size() / freedoms : 0, freedoms};
    if (forces) out["forces"] = array_of<2>(std::move(found.forces), shape);
    return out;
  }

 private:
  ScenePtr scene_;
  std::mutex mutex_;
  std::optional<sim::RunGradient> of_;
};

// Value in SI and unit of an expression with the scene's parameters.
std::pair<double, std::string> evaluate(const CompiledScene& s, const std::string& text) {
  const auto look_up = [&](std::string_view name, std::string&) -> std::optional<scene::Quantified> {
    for (const scene::Parameter& p : s.scene.parameters)
      if (p.name == name) {
        const auto unit = scene::parse_unit(p.unit).unit;
        return scene::Quantified{p.value, unit ? unit->dimension : scene::dimension::number, p.unit.empty()};
      }
    return std::nullopt;
  };
  const auto read = scene::compile_expression(text, look_up, false);
  if (!read.expression) throw std::invalid_argument(fmt::format("'{}' is no number: {}", text, read.error));
  return {read.expression->value, scene::si_unit_of(read.expression->dimension)};
}

}  // namespace

void bind_gradient(nb::module_& m) {
  nb::class_<Variations>(m, "Variations", "A scene whose parameters are a little different.")
      .def(nb::init<ScenePtr>(), nb::arg("scene"));
  nb::class_<Gradient>(m, "StaticGradient",
                       "Derivatives of a rest; limber.Equilibrium.gradient is what people use.")
      .def(nb::init<ScenePtr, const nb::dict&, const nb::dict&>(), nb::arg("scene"), nb::arg("options"),
           nb::arg("statics"))
      .def_prop_ro("columns", &Gradient::columns)
      .def_prop_ro("values", &Gradient::values, nb::rv_policy::automatic)
      .def("derivative", &Gradient::derivative, nb::arg("up"), nb::arg("down"), nb::arg("delta"),
           "Of every column, by the parameter in which two scenes differ by plus and minus delta.")
      .def("by_parameter", &Gradient::by_parameter, nb::arg("variations"), nb::arg("name"), nb::arg("value"),
           nb::arg("unit"), nb::arg("delta"), nb::rv_policy::automatic,
           "The same of the parameter with a value of that unit, for less: of columns that tell where things "
           "stand, NaN of others. None where it changes more than numbers of materials, sections and loads.");
  nb::class_<RunGradient>(m, "RunGradient", "Derivatives of a run; limber.Run.gradient is what people use.")
      .def(nb::init<ScenePtr, const nb::dict&>(), nb::arg("scene"), nb::arg("options"))
      .def_prop_ro("columns", &RunGradient::columns)
      .def_prop_ro("times", &RunGradient::times, "Of the frames [s].", nb::rv_policy::automatic)
      .def_prop_ro("freedoms", &RunGradient::freedoms, "Joint and its coordinate, of each freedom.")
      .def("of", &RunGradient::of, nb::arg("numbers"), nb::arg("up"), nb::arg("down"), nb::arg("delta"),
           nb::arg("forces") = false,
           "Of the sum of recorded numbers (frame, column, weight): its value, its derivatives by parameters "
           "in "
           "which scenes differ by plus and minus delta, by the start and, if wanted, by forces at every "
           "step.");
  m.def("evaluate", &evaluate, nb::arg("scene"), nb::arg("text"),
        "Value in SI and SI unit of an expression with the scene's parameters.");
}

}  // namespace limber::python
