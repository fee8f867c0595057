// Rests and curves of rests (sim/equilibrium.h, static_curve.h, static_inverse.h).
#include "statics.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "arrays.h"
#include "errors.h"
#include "limber/chain/chain.h"
#include "limber/result/recording.h"
#include "limber/sim/method_table.h"
#include "limber/sim/snap.h"
#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"
#include "moment.h"
#include "run_options.h"
#include "scene.h"
#include "static_report.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

sim::StaticOptions static_options(const nb::dict& given) {
  sim::StaticOptions o;
  for (const auto& [key, value] : given) {
    const std::string name = nb::cast<std::string>(key);
    const auto whole = [&](int least) {
      const double x = number_of(value, name.c_str(), "");
      if (!(x >= least && x <= 1e9) || std::floor(x) != x)
        throw std::invalid_argument(fmt::format("{}: expected a whole number of at least {}", name, least));
      return static_cast<int>(x);
    };
    if (name == "method") {
      std::string method;
      if (!nb::try_cast(value, method) || !sim::find_method(method))
        throw std::invalid_argument(fmt::format("method: there is no method {}", nb::repr(value).c_str()));
      o.method = sim::find_method(method)->method;
    } else if (name == "at") {
      o.time = number_of(value, "at", "s");
    } else if (name == "load") {
      o.load = number_of(value, "load", "");
    } else if (name == "load_steps") {
      o.load_steps = whole(1);
    } else if (name == "max_iterations") {
      o.max_iterations = whole(1);
    } else if (name == "modes") {
      o.modes = whole(0);
    } else if (name == "error") {
      o.error = number_of(value, "error", "");
    } else if (name == "estimate") {
      if (!nb::try_cast(value, o.estimate)) throw std::invalid_argument("estimate: expected True or False");
    } else {
      throw std::invalid_argument(fmt::format("{}: a rest has no such option", name));
    }
  }
  if (!std::isfinite(o.time) || o.time < 0)
    throw std::invalid_argument("at: expected a time that is not negative");
  if (!std::isfinite(o.load)) throw std::invalid_argument("load: expected a number");
  if (!(o.error >= 0)) throw std::invalid_argument("error: expected a number that is not negative");
  return o;
}

namespace {

sim::RunOptions run_options(const CompiledScene& s, const nb::dict& given) {
  sim::RunOptions o = s.scene.run;
  apply(given, o);
  return o;
}

// A rest with what it is of, to be reported and asked further.
struct Rest {
  ScenePtr scene;
  sim::RunOptions run;
  sim::StaticOptions options;
  sim::Equilibrium e;
  LayoutPtr layout;
};

std::shared_ptr<Rest> find_rest(ScenePtr scene, const nb::dict& run, const nb::dict& statics) {
  auto out = std::make_shared<Rest>();
  out->scene = std::move(scene);
  out->run = run_options(*out->scene, run);
  out->options = static_options(statics);
  computing([&] {
    out->e = with_places(out->scene->scene, [&] {
      return sim::find_equilibrium(out->scene->scene.model, out->run, out->options);
    });
    return 0;
  });
  out->layout = std::make_shared<result::Layout>(out->e.layout);
  return out;
}

// The report's page. Files are what the library writes, so it goes over one.
template <class Write>
nb::str page_of(const std::string& file, Write&& write) {
  const std::string text = computing([&] {
    write();
    return result::read_file(file);
  });
  return nb::str(text.data(), text.size());
}

nb::str rest_page(const Rest& r, const std::string& file) {
  return page_of(file, [&] {
    sim::CurveOptions way;
    way.statics = r.options;
    way.statics.method = sim::find_method(r.e.method)->method;
    way.statics.modes.reset();
    const Model& written = r.scene->scene.model;
    const Model model = r.e.refinement == 1 ? written : chain::refined(written, r.e.refinement);
    cli::write_static_report(r.scene->scene, r.e, sim::way_to_rest(model, r.run, 20, way), file);
  });
}

struct Curve {
  ScenePtr scene;
  sim::StaticCurve c;
  LayoutPtr layout;
};

template <class Find>
std::shared_ptr<Curve> find_curve(ScenePtr scene, Find&& find) {
  auto out = std::make_shared<Curve>();
  out->scene = std::move(scene);
  computing([&] {
    out->c = with_places(out->scene->scene, find);
    return 0;
  });
  out->layout = std::make_shared<result::Layout>(out->c.layout);
  return out;
}

std::vector<std::pair<std::string, std::string>> pairs(const std::vector<sim::Statement>& list) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [label, text] : list) out.emplace_back(label, text);
  return out;
}

template <class Get>
Array1 column(const std::vector<sim::SectionForce>& sections, Get&& get) {
  std::vector<double> out;
  for (const auto& s : sections) out.push_back(get(s));
  return array_of(std::move(out));
}
template <class Get>
Array2 vectors(const std::vector<sim::SectionForce>& sections, Get&& get) {
  std::vector<double> out;
  for (const auto& s : sections) {
    const Vec3 v = get(s);
    out.insert(out.end(), v.data(), v.data() + 3);
  }
  const std::size_t shape[] = {sections.size(), 3};
  return array_of<2>(std::move(out), shape);
}

void bind_parts(nb::module_& m) {
  nb::class_<sim::Reaction>(
      m, "Reaction",
      "What holds a place: in world axes, on the beam, on what hangs on the joint, on b of the loop.")
      .def_ro("name", &sim::Reaction::name)
      .def_ro("of", &sim::Reaction::of, "root, tie, clamp, joint, loop or contact")
      .def_prop_ro(
          "at", [](const sim::Reaction& r) { return array_of(r.at); }, "[m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "force", [](const sim::Reaction& r) { return array_of(r.force); }, "[N]", nb::rv_policy::automatic)
      .def_prop_ro(
          "moment", [](const sim::Reaction& r) { return array_of(r.moment); }, "[N m]",
          nb::rv_policy::automatic)
      .def_prop_ro(
          "torque", [](const sim::Reaction& r) { return array_of(r.torque); },
          "Of a joint's springs and drives, for each freedom [N m or N].", nb::rv_policy::automatic)
      .def("__repr__", [](const sim::Reaction& r) {
        return fmt::format("<Reaction of {} {}: force ({:.6g}, {:.6g}, {:.6g}) N>", r.of, r.name, r.force[0],
                           r.force[1], r.force[2]);
      });

  nb::class_<sim::BeamRest>(m, "BeamRest", "A beam at rest; arrays go from root to tip.")
      .def_ro("name", &sim::BeamRest::name)
      .def_prop_ro(
          "tip", [](const sim::BeamRest& b) { return array_of(b.tip); }, "[m]", nb::rv_policy::automatic)
      .def_prop_ro(
          "moved", [](const sim::BeamRest& b) { return array_of(b.moved); }, "Of the tip [m].",
          nb::rv_policy::automatic)
      .def_ro("slope", &sim::BeamRest::slope, "That the tangent at the tip has turned [rad].")
      .def_prop_ro(
          "s", [](const sim::BeamRest& b) { return column(b.sections, [](const auto& s) { return s.s; }); },
          "Where along the beam, 0 to 1.", nb::rv_policy::automatic)
      .def_prop_ro(
          "force",
          [](const sim::BeamRest& b) { return vectors(b.sections, [](const auto& s) { return s.force; }); },
          "What the part beyond pulls with, x along the beam, principal axes [N].", nb::rv_policy::automatic)
      .def_prop_ro(
          "moment",
          [](const sim::BeamRest& b) { return vectors(b.sections, [](const auto& s) { return s.moment; }); },
          "And turns with [N m].", nb::rv_policy::automatic)
      .def_prop_ro(
          "stress",
          [](const sim::BeamRest& b) {
            return column(b.sections, [](const auto& s) { return s.stress.combined; });
          },
          "Largest von Mises stress of the section [Pa].", nb::rv_policy::automatic)
      .def_prop_ro(
          "bending",
          [](const sim::BeamRest& b) {
            return column(b.sections, [](const auto& s) { return s.stress.bending; });
          },
          "[Pa]", nb::rv_policy::automatic)
      .def_prop_ro(
          "torsion",
          [](const sim::BeamRest& b) {
            return column(b.sections, [](const auto& s) { return s.stress.torsion; });
          },
          "[Pa]", nb::rv_policy::automatic)
      .def_prop_ro(
          "axial",
          [](const sim::BeamRest& b) {
            return column(b.sections, [](const auto& s) { return s.stress.axial; });
          },
          "[Pa]", nb::rv_policy::automatic)
      .def_prop_ro(
          "safety",
          [](const sim::BeamRest& b) { return column(b.sections, [](const auto& s) { return s.safety; }); },
          "Yield stress over the combined one; infinite without load or yield stress.",
          nb::rv_policy::automatic)
      .def("__repr__", [](const sim::BeamRest& b) {
        return fmt::format("<BeamRest {}: tip ({:.6g}, {:.6g}, {:.6g}) m>", b.name, b.tip[0], b.tip[1],
                           b.tip[2]);
      });

  nb::class_<articulated::StaticMode>(m, "StaticMode", "A small swing about a rest.")
      .def_ro("eigenvalue", &articulated::StaticMode::eigenvalue, "[1/s2]; negative: the way it would go.")
      .def_prop_ro(
          "frequency",
          [](const articulated::StaticMode& x) {
            return x.eigenvalue >= 0 ? std::sqrt(x.eigenvalue) / (2 * pi) : std::nan("");
          },
          "[Hz]; nan where it would leave.")
      .def_prop_ro(
          "shape", [](const articulated::StaticMode& x) { return array_of(x.shape); },
          "Joint rates, the largest 1.", nb::rv_policy::automatic)
      .def_ro("moves", &articulated::StaticMode::moves, "The joint that moves most.")
      .def("__repr__", [](const articulated::StaticMode& x) {
        return fmt::format("<StaticMode: eigenvalue {:.6g} 1/s2, moves {}>", x.eigenvalue, x.moves);
      });

  nb::class_<chain::StabilityLoss>(m, "StabilityLoss", "Where stability changes as loads come on.")
      .def_ro("factor", &chain::StabilityLoss::factor, "Of the loads.")
      .def_ro("negative", &chain::StabilityLoss::negative, "Directions after it.")
      .def_ro("limit", &chain::StabilityLoss::limit,
              "The load has a maximum or minimum there; else another branch crosses.")
      .def_ro("moves", &chain::StabilityLoss::moves)
      .def("__repr__", [](const chain::StabilityLoss& x) {
        return fmt::format("<StabilityLoss at {:.6g} of the loads: {}>", x.factor,
                           x.limit ? "limit" : "bifurcation");
      });
}

void bind_rest(nb::module_& m) {
  nb::class_<Rest>(m, "Rest", "Where a scene comes to rest; limber.Equilibrium is what people use.")
      .def_prop_ro("ok", [](const Rest& r) { return r.e.ok(); })
      .def_prop_ro("stable", [](const Rest& r) { return r.e.stable(); })
      .def_prop_ro("message", [](const Rest& r) { return r.e.report.message; })
      .def_prop_ro("status", [](const Rest& r) { return std::string(to_string(r.e.report.status)); })
      .def_prop_ro("worst", [](const Rest& r) { return r.e.report.worst; })
      .def_prop_ro("iterations", [](const Rest& r) { return r.e.report.iterations; })
      .def_prop_ro("method", [](const Rest& r) { return r.e.method; })
      .def_prop_ro("time", [](const Rest& r) { return r.e.time; })
      .def_prop_ro("load", [](const Rest& r) { return r.e.load; })
      .def_prop_ro("residual", [](const Rest& r) { return r.e.residual; })
      .def_prop_ro("gap", [](const Rest& r) { return r.e.gap; })
      .def_prop_ro("negative", [](const Rest& r) { return r.e.stability.negative; })
      .def_prop_ro("counted", [](const Rest& r) { return r.e.stability.counted; })
      .def_prop_ro("lost", [](const Rest& r) { return r.e.stability.lost; })
      .def_prop_ro("modes", [](const Rest& r) { return r.e.modes; })
      .def_prop_ro("reactions", [](const Rest& r) { return r.e.reactions; })
      .def_prop_ro("beams", [](const Rest& r) { return r.e.beams; })
      .def_prop_ro("springs",
                   [](const Rest& r) {
                     std::vector<std::pair<std::string, std::pair<double, double>>> out;
                     for (const auto& s : r.e.springs) out.push_back({s.name, {s.length, s.tension}});
                     return out;
                   })
      .def_prop_ro("stops",
                   [](const Rest& r) {
                     std::vector<std::pair<std::pair<std::string, int>, std::pair<double, double>>> out;
                     for (const auto& s : r.e.stops) out.push_back({{s.joint, s.dof}, {s.bound, s.force}});
                     return out;
                   })
      .def_prop_ro("stiffness", [](const Rest& r) { return r.e.stiffness; })
      .def_prop_ro("energy", [](const Rest& r) { return std::pair(r.e.energy.gravity, r.e.energy.elastic); })
      .def_prop_ro("error",
                   [](const Rest& r) -> std::optional<double> {
                     return r.e.error.ok ? std::optional(r.e.error.largest) : std::nullopt;
                   })
      .def_prop_ro("warnings", [](const Rest& r) { return r.e.warnings; })
      .def_prop_ro("statements", [](const Rest& r) { return pairs(describe(r.e)); })
      .def_prop_ro("unloaded",
                   [](const Rest& r) {
                     return Moment{r.layout, r.e.before};
                   })
      .def_prop_ro("moment",
                   [](const Rest& r) {
                     return Moment{r.layout, r.e.after};
                   })
      .def("page", &rest_page, nb::arg("file"), "The text of its report, by way of that file.");
  m.def("find_rest", &find_rest, nb::arg("scene"), nb::arg("options"), nb::arg("statics"));
}

void bind_curves(nb::module_& m) {
  nb::class_<sim::CurvePoint>(m, "CurvePoint", "A rest on a curve of rests.")
      .def_ro("load", &sim::CurvePoint::load)
      .def_ro("time", &sim::CurvePoint::time)
      .def_ro("negative", &sim::CurvePoint::negative)
      .def_prop_ro("kind", [](const sim::CurvePoint& p) { return std::string(to_string(p.kind)); })
      .def_ro("deflection", &sim::CurvePoint::deflection, "Of the place of the only load, along it [m].")
      .def_ro("largest_stress", &sim::CurvePoint::largest_stress)
      .def_ro("severed", &sim::CurvePoint::severed);
  nb::class_<Curve>(m, "Curve", "Rests one after the other; limber.StaticCurve is what people use.")
      .def_prop_ro("ok", [](const Curve& c) { return c.c.ok(); })
      .def_prop_ro("message", [](const Curve& c) { return c.c.report.message; })
      .def_prop_ro("method", [](const Curve& c) { return c.c.method; })
      .def_prop_ro("job", [](const Curve& c) { return std::string(to_string(c.c.job)); })
      .def_prop_ro("lost", [](const Curve& c) { return c.c.lost; })
      .def_prop_ro("force", [](const Curve& c) { return c.c.force; })
      .def_prop_ro("stiffness", [](const Curve& c) { return c.c.stiffness; })
      .def_prop_ro(
          "snap",
          [](const Curve& c) {
            const sim::Snap snap = sim::snap_of(c.c);
            const auto turn =
                [](const std::optional<sim::Turn>& t) -> std::optional<std::pair<double, double>> {
              return t ? std::optional(std::pair(t->load, t->deflection)) : std::nullopt;
            };
            return std::tuple(turn(snap.snaps), turn(snap.comes_back), snap.stays);
          },
          "Load and deflection where it snaps and where it comes back, deflection where it stays.")
      .def_prop_ro("events", [](const Curve& c) { return c.c.events; })
      .def_prop_ro("warnings", [](const Curve& c) { return c.c.warnings; })
      .def_prop_ro("statements", [](const Curve& c) { return pairs(describe(c.c)); })
      .def("__len__", [](const Curve& c) { return c.c.points.size(); })
      .def(
          "point", [](const Curve& c, std::size_t i) { return c.c.points.at(i); }, nb::arg("index"))
      .def(
          "moment",
          [](const Curve& c, std::size_t i) {
            return Moment{c.layout, c.c.points.at(i).snapshot};
          },
          nb::arg("index"))
      .def_prop_ro(
          "loads",
          [](const Curve& c) {
            std::vector<double> out;
            for (const auto& p : c.c.points) out.push_back(p.load);
            return array_of(std::move(out));
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "times",
          [](const Curve& c) {
            std::vector<double> out;
            for (const auto& p : c.c.points) out.push_back(p.time);
            return array_of(std::move(out));
          },
          nb::rv_policy::automatic)
      .def_prop_ro("columns",
                   [](const Curve& c) {
                     std::vector<std::pair<std::string, std::string>> out;
                     for (const auto& s : c.layout->scalars) out.emplace_back(s.name, s.unit);
                     return out;
                   })
      .def_prop_ro(
          "scalars",
          [](const Curve& c) {
            std::vector<double> out;
            for (const auto& p : c.c.points)
              out.insert(out.end(), p.snapshot.scalars.begin(), p.snapshot.scalars.end());
            const std::size_t shape[] = {c.c.points.size(), c.layout->scalars.size()};
            return array_of<2>(std::move(out), shape);
          },
          "(points, columns)", nb::rv_policy::automatic)
      .def(
          "page",
          [](const Curve& c, const std::string& file) {
            return page_of(file, [&] { cli::write_static_report(c.scene->scene, c.c, file); });
          },
          nb::arg("file"));

  m.def(
      "load_curve",
      [](ScenePtr s, const nb::dict& run, const nb::dict& statics, int steps, bool weight) {
        const sim::RunOptions r = run_options(*s, run);
        const sim::CurveOptions o{static_options(statics), true};
        const CompiledScene* scene = s.get();
        return find_curve(std::move(s), [&] {
          return sim::load_curve(scene->scene.model, r, steps,
                                 weight ? sim::Growth::everything : sim::Growth::loads, o);
        });
      },
      nb::arg("scene"), nb::arg("options"), nb::arg("statics"), nb::arg("steps"), nb::arg("weight"));
  m.def(
      "equilibrium_path",
      [](ScenePtr s, const nb::dict& statics, int branch) {
        const sim::CurveOptions o{static_options(statics), true};
        const CompiledScene* scene = s.get();
        return find_curve(std::move(s), [&] {
          return sim::equilibrium_path(scene->scene.model, sim::Branch{static_cast<std::int8_t>(branch)}, o);
        });
      },
      nb::arg("scene"), nb::arg("statics"), nb::arg("branch"));
  m.def(
      "static_history",
      [](ScenePtr s, const nb::dict& statics, double until, int steps) {
        const sim::CurveOptions o{static_options(statics), true};
        const CompiledScene* scene = s.get();
        return find_curve(std::move(s),
                          [&] { return sim::static_history(scene->scene.model, until, steps, o); });
      },
      nb::arg("scene"), nb::arg("statics"), nb::arg("until"), nb::arg("steps"));
}

struct Shape {
  ScenePtr scene;
  sim::UnloadedShape u;
  LayoutPtr layout;
};

void bind_inverse(nb::module_& m) {
  nb::class_<Shape>(m, "UnloadedShape", "The shape that becomes the scene's under its loads.")
      .def_prop_ro("ok", [](const Shape& s) { return s.u.ok(); })
      .def_prop_ro("message", [](const Shape& s) { return s.u.report.message; })
      .def_prop_ro(
          "off", [](const Shape& s) { return s.u.off; },
          "Of the loaded shape from the given one, of its size.")
      .def_prop_ro(
          "stable", [](const Shape& s) { return s.u.stable; }, "The given shape, under these loads.")
      .def_prop_ro("warnings", [](const Shape& s) { return s.u.warnings; })
      .def_prop_ro("statements", [](const Shape& s) { return pairs(describe(s.u)); })
      .def_prop_ro("unloaded",
                   [](const Shape& s) {
                     return Moment{s.layout, s.u.unloaded};
                   })
      .def_prop_ro("loaded",
                   [](const Shape& s) {
                     return Moment{s.layout, s.u.loaded};
                   })
      .def(
          "page",
          [](const Shape& s, const std::string& file) {
            return page_of(file, [&] { cli::write_static_report(s.scene->scene, s.u, file); });
          },
          nb::arg("file"), "The text of its report, by way of that file.");
  m.def(
      "unloaded_shape",
      [](ScenePtr s, const nb::dict& statics) {
        const sim::StaticOptions o = static_options(statics);
        auto out = std::make_shared<Shape>();
        out->scene = std::move(s);
        computing([&] {
          out->u =
              with_places(out->scene->scene, [&] { return sim::unloaded_shape(out->scene->scene.model, o); });
          return 0;
        });
        out->layout = std::make_shared<result::Layout>(out->u.layout);
        return out;
      },
      nb::arg("scene"), nb::arg("statics"));
}

}  // namespace

void bind_statics(nb::module_& m) {
  bind_parts(m);
  bind_rest(m);
  bind_curves(m);
  bind_inverse(m);
}

}  // namespace limber::python
