// limber._limber: the library for Python. People use the package limber, which is written over it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "errors.h"
#include "limber/sim/run.h"
#include "moment.h"
#include "scene.h"

namespace limber::python {

namespace {

using Names = std::vector<std::pair<std::string, std::string>>;

void bind_moments(nb::module_& m) {
  nb::class_<result::Layout>(m, "Layout", "What the numbers of a moment are of.")
      .def_prop_ro(
          "frames",
          [](const result::Layout& l) {
            std::vector<std::string> out;
            for (const auto& f : l.frames) out.push_back(f.name);
            return out;
          },
          "Names of what has a pose.")
      .def_prop_ro(
          "lines",
          [](const result::Layout& l) {
            std::vector<std::pair<std::string, int>> out;
            for (const auto& p : l.polylines) out.emplace_back(p.name, p.points);
            return out;
          },
          "Names of beams, springs and threads, and how many points each has.")
      .def_prop_ro(
          "columns",
          [](const result::Layout& l) {
            Names out;
            for (const auto& s : l.scalars) out.emplace_back(s.name, s.unit);
            return out;
          },
          "Probes: names and units.")
      .def_ro("title", &result::Layout::title);
  nb::class_<Moment>(m, "Moment", "One moment of a structure.")
      .def_prop_ro(
          "time", [](const Moment& x) { return x.snapshot.time; }, "[s]")
      .def_prop_ro(
          "layout", [](const Moment& x) -> const result::Layout& { return *x.layout; },
          nb::rv_policy::reference_internal)
      .def_prop_ro(
          "poses",
          [](const Moment& x) {
            std::vector<double> out(pose_width * x.snapshot.positions.size());
            write_poses(x.snapshot, out.data());
            const std::size_t shape[] = {x.snapshot.positions.size(), pose_width};
            return array_of<2>(std::move(out), shape);
          },
          "Of each frame: x, y, z [m] and the unit quaternion w, x, y, z.", nb::rv_policy::automatic)
      .def_prop_ro(
          "points",
          [](const Moment& x) {
            std::vector<double> out(3 * x.snapshot.points.size());
            write_points(x.snapshot, out.data());
            const std::size_t shape[] = {x.snapshot.points.size(), 3};
            return array_of<2>(std::move(out), shape);
          },
          "Of all lines, one after the other [m].", nb::rv_policy::automatic)
      .def_prop_ro(
          "scalars", [](const Moment& x) { return array_of(x.snapshot.scalars); }, "Of each column.",
          nb::rv_policy::automatic);
}

}  // namespace

}  // namespace limber::python

NB_MODULE(_limber, m) {
  namespace nb = nanobind;
  using namespace limber::python;
  nb::set_leak_warnings(false);  // at exit objects of modules may outlive theirs
  m.doc() = "The library limber as Python sees it. Use the package limber.";
  m.def("version", [] { return limber::sim::version(); });
  bind_errors(m);
  bind_moments(m);
  bind_tree(m);
  bind_scene(m);
  bind_statics(m);
  bind_runs(m);
  bind_simulation(m);
  bind_compare(m);
  bind_gradient(m);
}
