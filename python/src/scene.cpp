#include "scene.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "errors.h"
#include "limber/result/recording.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "run_options.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

ScenePtr parse(const std::string& text, const std::string& name, const std::string& folder, const Pairs& set,
               const std::optional<Pairs>& embedded) {
  return computing([&]() -> ScenePtr {
    scene::LoadOptions options;
    options.set = set;
    std::vector<sim::SourceFile> files;
    if (embedded)
      for (const auto& [path, bytes] : *embedded) files.push_back({path, bytes});
    return std::make_shared<CompiledScene>(
        CompiledScene{scene::parse(text, name, folder, options, embedded ? &files : nullptr)});
  });
}

ScenePtr parse_reduced(nb::bytes bytes, const std::string& name) {
  const std::string text(bytes.c_str(), bytes.size());
  return computing([&]() -> ScenePtr {
    rom::ModelFile file = rom::load(text);
    scene::Scene read = scene::parse(file.scene, name);
    read.run.reduced = std::make_shared<rom::ReducedModel>(std::move(file.model));
    return std::make_shared<CompiledScene>(CompiledScene{std::move(read)});
  });
}

// What a method says against a scene; sizes: bodies, joints, freedoms, where it tells them.
struct MethodVerdict {
  std::string method;
  bool rests = false;
  std::vector<std::string> against;
  std::optional<std::tuple<std::size_t, std::size_t, std::size_t>> sizes;
};

std::vector<MethodVerdict> verdicts(const CompiledScene& s) {
  return computing([&] {
    std::vector<MethodVerdict> out;
    std::optional<scene::Places> places;
    for (const sim::Verdict& v : sim::methods_for(s.scene.model, s.scene.run)) {
      MethodVerdict m{method_of(v.question), is_static(v.question), {}, {}};
      if (!v.against.empty()) {
        if (!places) places.emplace(s.scene);
        for (const scene::Diagnostic& d : places->of(ModelError(v.against)))
          m.against.push_back(to_string(d));
      }
      if (v.sizes) m.sizes = {v.sizes->bodies, v.sizes->joints, v.sizes->dofs};
      out.push_back(std::move(m));
    }
    return out;
  });
}

nb::dict counts(const CompiledScene& s) {
  const Model& m = s.scene.model;
  nb::dict out;
  out["bodies"] = m.bodies().size();
  out["joints"] = m.joints().size();
  out["beams"] = m.beams().size();
  out["springs"] = m.springs().size();
  out["loops"] = m.loops().size();
  out["loads"] = m.point_loads().size() + m.distributed_loads().size();
  out["probes"] = m.probes().size();
  return out;
}

}  // namespace

void bind_scene(nb::module_& m) {
  nb::class_<MethodVerdict>(m, "MethodVerdict", "What a method says of a scene.")
      .def_ro("method", &MethodVerdict::method, "Its name.")
      .def_ro("rests", &MethodVerdict::rests, "Whether it is asked for a rest (else for a run).")
      .def_ro("against", &MethodVerdict::against,
              "What it refuses, each with its place; empty: it takes the scene.")
      .def_ro("sizes", &MethodVerdict::sizes,
              "Bodies, joints and freedoms as it sees them, where it tells them.")
      .def("__repr__", [](const MethodVerdict& v) {
        return fmt::format("<MethodVerdict: {} {} it{}>", v.method, v.against.empty() ? "takes" : "refuses",
                           v.rests ? " at rest" : "");
      });

  nb::class_<CompiledScene>(m, "CompiledScene", "A scene as it was read; it never changes.")
      .def_prop_ro("title", [](const CompiledScene& s) { return s.scene.model.title(); })
      .def_prop_ro("file", [](const CompiledScene& s) { return s.scene.file; })
      .def_prop_ro(
          "notes", [](const CompiledScene& s) { return s.scene.notes; }, "Words that have a new name.")
      .def_prop_ro(
          "sources",
          [](const CompiledScene& s) {
            Pairs out;
            for (const auto& f : s.scene.sources) out.emplace_back(f.path, f.text);
            return out;
          },
          "The scene's text and the files that it names: (path, text).")
      .def_prop_ro(
          "parameters",
          [](const CompiledScene& s) {
            std::vector<std::tuple<std::string, std::string, double, std::string>> out;
            for (const auto& p : s.scene.parameters) out.emplace_back(p.name, p.text, p.value, p.unit);
            return out;
          },
          "Parameters: (name, text, value in SI, unit).")
      .def_prop_ro(
          "options", [](const CompiledScene& s) { return to_dict(s.scene.run); },
          "How the scene says it runs.")
      .def_prop_ro("counts", &counts, "How many things of each kind are written in it.")
      .def_prop_ro("reduced", [](const CompiledScene& s) { return s.scene.run.reduced != nullptr; })
      .def_prop_ro("body_names",
                   [](const CompiledScene& s) {
                     std::vector<std::string> out;
                     for (const Body& b : s.scene.model.bodies()) out.push_back(b.name);
                     return out;
                   })
      .def(
          "yaml", [](const CompiledScene& s) { return scene::write_yaml(s.scene.model, s.scene.run); },
          "Written out without short forms or parameters; reading it back gives the same model.")
      .def("verdicts", &verdicts, "What every method says of it.")
      .def(
          "warnings", [](const CompiledScene& s) { return sim::notes(s.scene.model, s.scene.run); },
          "What a run by its method does not look at.");

  m.def("parse", &parse, nb::arg("text"), nb::arg("name"), nb::arg("folder"), nb::arg("set"),
        nb::arg("embedded").none(),
        "Reads a scene; files that it names come from `folder` or from `embedded`.");
  m.def("parse_reduced", &parse_reduced, nb::arg("data"), nb::arg("name"), "Reads a reduced model (.rom).");
  m.def(
      "schema", [] { return scene::schema_json(); }, "JSON Schema of scenes, for editors.");
  m.def("quantity", &number_of, nb::arg("value"), nb::arg("name"), nb::arg("unit"),
        "A number (SI), or a text with a unit of that dimension, in SI.");
  m.def(
      "method_names", [](bool rests) { return sim::names_of_methods(rests); }, nb::arg("rests"),
      "Methods that run, or that find rests.");
}

}  // namespace limber::python
