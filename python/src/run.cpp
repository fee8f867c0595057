// Runs into folders (sim/run.h), and what was recorded there as arrays.
#include "limber/sim/run.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "arrays.h"
#include "errors.h"
#include "limber/export/export.h"
#include "moment.h"
#include "run_options.h"
#include "run_report.h"
#include "scene.h"
#include "work.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

// Hears of every step; tells Python of it twenty times a second, where signals have their turn too.
class ProgressCall {
 public:
  ProgressCall(nb::object callback, std::atomic<bool>& stop) : callback_(std::move(callback)), stop_(stop) {}

  void operator()(const sim::Progress& p) {
    const auto now = Clock::now();
    const bool ends = p.step == 0 || p.step == p.steps;
    if (!ends && now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    const nb::gil_scoped_acquire lock;
    if (error_) return;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      if (!callback_.is_none()) callback_(p.time, p.end_time);
    } catch (nb::python_error& e) {
      error_ = std::make_unique<nb::python_error>(std::move(e));
      stop_.store(true, std::memory_order_relaxed);
    }
  }
  // With the lock.
  void raise_its_error() {
    if (error_) throw nb::python_error(std::move(*error_));
  }

 private:
  using Clock = std::chrono::steady_clock;
  nb::object callback_;
  std::atomic<bool>& stop_;
  Clock::time_point last_{};
  std::unique_ptr<nb::python_error> error_;
};

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string run(ScenePtr scene, const nb::dict& options, const std::string& folder, bool force,
                const Pairs& set, nb::object progress) {
  const scene::Scene& s = scene->scene;
  sim::RunRequest request;
  request.options = s.run;
  apply(options, request.options);
  request.folder = folder;
  request.force = force;
  request.scene_file = s.sources.front().path;
  request.sources = s.sources;
  request.set = set;
  std::unique_ptr<ProgressCall> call;
  struct Forget {  // under the lock, whatever happens
    std::unique_ptr<ProgressCall>& call;
    ~Forget() { call.reset(); }
  } forget{call};
  const sim::RunResult result = computing_with([&](std::atomic<bool>& stop) {
    call = std::make_unique<ProgressCall>(std::move(progress), stop);
    request.progress = [&](const sim::Progress& p) { (*call)(p); };
    return with_places(s, [&] { return sim::run(s.model, request); });
  });
  call->raise_its_error();
  if (result.outcome == sim::Outcome::interrupted) throw Interrupted{};
  return to_string(result.outcome);
}

// All frames of a folder, as arrays.
class Recording {
 public:
  explicit Recording(const std::string& file)
      : reader_(file), layout_(std::make_shared<result::Layout>(reader_.layout())) {}

  const LayoutPtr& layout() const { return layout_; }
  std::size_t count() const { return reader_.frame_count(); }
  bool torn() const { return reader_.torn(); }

  template <class Take>
  void each(Take&& take) {
    result::Snapshot s;
    for (std::size_t i = 0; i < count(); ++i) {
      stop_if_requested();
      reader_.read(i, s);
      take(s);
    }
  }
  Array1 times() {
    std::vector<double> out;
    computing([&] {
      each([&](const result::Snapshot& s) { out.push_back(s.time); });
      return 0;
    });
    return array_of(std::move(out));
  }
  Array2 scalars() {
    std::vector<double> out;
    computing([&] {
      each([&](const result::Snapshot& s) { out.insert(out.end(), s.scalars.begin(), s.scalars.end()); });
      return 0;
    });
    const std::size_t shape[] = {count(), layout_->scalars.size()};
    return array_of<2>(std::move(out), shape);
  }
  Array3 poses() {
    const std::size_t n = layout_->frames.size();
    std::vector<double> out(count() * n * pose_width);
    computing([&] {
      double* at = out.data();
      each([&](const result::Snapshot& s) { write_poses(s, at), at += n * pose_width; });
      return 0;
    });
    const std::size_t shape[] = {count(), n, pose_width};
    return array_of<3>(std::move(out), shape);
  }
  Array3 points() {
    const std::size_t n = layout_->point_count();
    std::vector<double> out(count() * n * 3);
    computing([&] {
      double* at = out.data();
      each([&](const result::Snapshot& s) { write_points(s, at), at += n * 3; });
      return 0;
    });
    const std::size_t shape[] = {count(), n, 3};
    return array_of<3>(std::move(out), shape);
  }
  Moment moment(std::size_t i) {
    if (i >= count()) throw nb::index_error("frame");
    Moment out{layout_, {}};
    reader_.read(i, out.snapshot);
    return out;
  }

 private:
  result::RecordingReader reader_;
  LayoutPtr layout_;
};

void write_file(const std::string& folder, const std::string& kind, const std::string& file) {
  computing([&] {
    if (kind == "report") {
      cli::write_run_report(folder, file);
      return 0;
    }
    result::RecordingReader recording(std::filesystem::path(folder) / "frames");
    if (kind == "csv") exporting::write_csv(recording, file);
    if (kind == "glb") exporting::write_glb(recording, file);
    if (kind == "vtk") exporting::write_vtk(recording, file);
    return 0;
  });
}

}  // namespace

void bind_runs(nb::module_& m) {
  nb::class_<Recording>(m, "Recording", "The frames of a run.")
      .def(nb::init<const std::string&>(), nb::arg("file"))
      .def_prop_ro(
          "layout", [](const Recording& r) -> const result::Layout& { return *r.layout(); },
          nb::rv_policy::reference_internal)
      .def_prop_ro("torn", &Recording::torn, "Bytes follow that are no complete frame.")
      .def("__len__", &Recording::count)
      .def("times", &Recording::times, "[s]")
      .def("scalars", &Recording::scalars, "(frames, columns)")
      .def("poses", &Recording::poses, "(frames, bodies, 7): x, y, z [m] and the unit quaternion w, x, y, z.")
      .def("points", &Recording::points, "(frames, points of all lines, 3) [m]")
      .def("moment", &Recording::moment, nb::arg("index"));
  m.def("run", &run, nb::arg("scene"), nb::arg("options"), nb::arg("folder"), nb::arg("force"),
        nb::arg("set"), nb::arg("progress").none(), "Runs into a folder; returns the outcome.");
  m.def("write_file", &write_file, nb::arg("folder"), nb::arg("kind"), nb::arg("file"),
        "Makes csv, glb, vtk (a folder) or report of a run's folder.");
}

}  // namespace limber::python
