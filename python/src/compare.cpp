// One scene by every method, and mechanisms reduced to their ends (sim/compare.h, sim/reduce.h).
#include "limber/sim/compare.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "errors.h"
#include "limber/sim/reduce.h"
#include "moment.h"
#include "run_options.h"
#include "scene.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

sim::Comparison compare(ScenePtr scene, const nb::dict& given, const std::string& kind, double time) {
  sim::RunOptions options = scene->scene.run;
  apply(given, options);
  if (!std::isfinite(time) || time < 0)
    throw std::invalid_argument("time: expected a time that is not negative");
  const Model& model = scene->scene.model;
  return computing([&] {
    return with_places(scene->scene, [&] {
      return kind == "rest"     ? sim::compare_statics(model, options, time)
             : kind == "motion" ? sim::compare_motion(model, options, time)
                                : sim::compare_reduced(model, options);
    });
  });
}

nb::bytes reduce(ScenePtr scene, const nb::dict& given) {
  scene::Scene s = scene->scene;
  s.run.method = sim::Method::rom;
  s.run.reduced = nullptr;
  apply(given, s.run);
  const std::string bytes = computing([&] {
    rom::ModelFile file;
    file.model = with_places(scene->scene, [&] { return sim::reduce(s.model, s.run.rom); });
    file.scene = scene::write_yaml(s.model, s.run);
    return rom::save(file);
  });
  return nb::bytes(bytes.data(), bytes.size());
}

}  // namespace

void bind_compare(nb::module_& m) {
  nb::class_<sim::Candidate>(m, "Candidate", "What one method made of a scene.")
      .def_ro("method", &sim::Candidate::method)
      .def_ro("setting", &sim::Candidate::setting, "Elements, or the step.")
      .def_ro("refusal", &sim::Candidate::refusal,
              "Why it does not apply or did not converge; empty: it ran.")
      .def_ro("seconds", &sim::Candidate::seconds, "Of the solve, or of a step [s].")
      .def_ro("error", &sim::Candidate::error,
              "Largest distance from the reference, of the structure's size.")
      .def_ro("force_error", &sim::Candidate::force_error, "Of a reduced model.")
      .def_ro("gap", &sim::Candidate::gap, "Of a reduced model.")
      .def("__repr__", [](const sim::Candidate& c) {
        return c.refusal.empty()
                   ? fmt::format("<Candidate {} ({}): off by {:.3g}>", c.method, c.setting, c.error)
                   : fmt::format("<Candidate {} ({}): {}>", c.method, c.setting, c.refusal);
      });
  nb::class_<sim::Comparison>(m, "Comparison", "One scene through every method that applies.")
      .def_ro("reference", &sim::Comparison::reference, "What the others are measured against.")
      .def_ro("time", &sim::Comparison::time, "Whose loads act, or that was simulated [s].")
      .def_ro("candidates", &sim::Comparison::candidates, "Best first, refused ones last.")
      .def("__repr__", [](const sim::Comparison& c) {
        return fmt::format("<Comparison with {}: {} candidates>", c.reference, c.candidates.size());
      });
  m.def("compare", &compare, nb::arg("scene"), nb::arg("options"), nb::arg("kind"), nb::arg("time"));
  m.def("reduce", &reduce, nb::arg("scene"), nb::arg("options"), "The bytes of a .rom file.");
}

}  // namespace limber::python
