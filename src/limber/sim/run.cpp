// The loop: step, look, record, and save now and then. Every decision that shows in the results depends on
// the step number alone, so a run that was killed and resumed writes the same bytes as one that was not.
#include "limber/sim/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

#include "limber/math/stop.h"
#include "limber/result/recording.h"
#include "limber/result/touch.h"
#include "limber/result/warnings.h"
#include "limber/sim/checkpoint.h"
#include "limber/sim/driver.h"
#include "limber/sim/folder.h"
#include "limber/sim/methods.h"
#include "limber/sim/pass_through.h"
#include "limber/sim/run_json.h"
#include "limber/sim/unseen_links.h"
#include "limber/sim/watches.h"

namespace limber::sim {

namespace fs = std::filesystem;
using result::Status;

namespace {

constexpr double largest_saving_share = 0.01;  // of the time, spent on checkpoints

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Sizes sizes_of(const Driver& driver, const Model& model) {
  Sizes s;
  s.bodies = driver.model().bodies().size();
  s.joints = driver.model().joints().size();
  s.dofs = static_cast<std::size_t>(driver.dof_count());
  for (const Body& body : driver.model().bodies()) s.mass += body.inertia.m;
  s.beams = model.beams().size();
  s.springs = model.springs().size();
  s.loops = model.loops().size();
  s.drives = model.drives().size();
  s.motions = model.motions().size();
  s.loads = model.point_loads().size() + model.distributed_loads().size() + (model.wind() ? 1 : 0);
  s.probes = model.probes().size();
  return s;
}

// The first thing in a snapshot that has no finite place or value.
std::optional<std::string> first_non_finite(const result::Layout& layout, const result::Snapshot& s) {
  for (std::size_t i = 0; i < s.positions.size(); ++i)
    if (!s.positions[i].allFinite() || !s.rotations[i].coeffs().allFinite()) return layout.frames[i].name;
  std::size_t point = 0;
  for (const auto& line : layout.polylines)
    for (int i = 0; i < line.points; ++i)
      if (!s.points[point++].allFinite()) return line.name;
  for (std::size_t i = 0; i < s.scalars.size(); ++i)
    if (!std::isfinite(s.scalars[i])) return layout.scalars[i].name;
  return std::nullopt;
}

// Nothing else that is to be resumed is of method chain.
bool is_history(const RunRequest& request) {
  return request.history || (request.resume && request.options.method == Method::chain);
}

class Run {
 public:
  Run(const Model& model, const RunRequest& request)
      : request_(request),
        h_(request.options.step),
        frames_per_step_(Conductor::is_needed(model) ? 1 : request.options.frames_per_step()),
        driver_(is_history(request) ? Driver::of_history(model) : Driver(model, request.options)) {
    request.resume ? enter_again() : enter_new();
    stored_.scene_file = request.scene_file;
    stored_.title = model.title();
    stored_.sources = request.sources;
    stored_.began_with = sources_hash(stored_);
    stored_.set = request.set;
    stored_.options = request.options;
    stored_.version = version();
    stored_.sizes = sizes_of(driver_, model);
    stored_.solver = driver_.solver();
    stored_.files = request.files;
    stored_.wall_clock.cpu_threads = cpu_threads_of(request.options);
    notes_ = notes(model, request.options);
    stored_.wall_clock.finished.clear();
    stored_.report = {};
    stored_.frames = 0;
    hash_ = run_hash(stored_);
    snapshot_.resize(driver_.layout());
    driver_.set_frames_per_step(frames_per_step_);
  }

  RunResult operator()() {
    begin();
    if (request_.started) request_.started(folder_);
    open_frames();
    if (request_.resume) load_checkpoint();
    if (driver_.model().contact()) touches_.emplace(folder_ / "touches", next_frame_);
    const std::int64_t first_step = step_;
    const Outcome outcome = advance_and_look_back();
    finish(outcome);
    return {outcome, report_,       frames_->frame_count(), watch_.seconds(), first_step,
            folder_, stored_.sizes, stored_.warnings,       stored_.events,   stored_.stopped_by};
  }

 private:
  void enter_new() {
    std::error_code error;
    made_folder_ = request_.next_free_name || !fs::exists(request_.folder, error);
    folder_ = request_.next_free_name ? claim_free_name(request_.folder) : request_.folder;
    try {
      lock_ = prepare_folder(folder_, request_.force);
    } catch (...) {
      if (made_folder_) fs::remove(folder_, error);
      throw;
    }
    stored_.wall_clock.started = utc_now();
  }

  // A folder is known as a run's by its run.json: one that does not get so far (a full disk) is left as it
  // was.
  void begin() {
    try {
      if (!request_.resume) write_sources(folder_, request_.sources);
      write_run_json("running");
    } catch (...) {
      if (!request_.resume) abandon(folder_, std::move(lock_), made_folder_);
      throw;
    }
  }

  void enter_again() {
    folder_ = request_.folder;
    lock_ = std::make_unique<RunLock>(folder_);
    remove_temporary_files(folder_);
    const StoredRun before = read_run(folder_);
    require_unedited(folder_, before);
    stored_.wall_clock = before.wall_clock;
    ++stored_.wall_clock.resumed;
    seconds_before_ = stored_.wall_clock.seconds;
  }

  void open_frames() {
    const fs::path file = folder_ / "frames";
    std::error_code error;
    frames_.emplace(request_.resume && fs::exists(file, error)
                        ? result::RecordingWriter::reopen(file, driver_.layout())
                        : result::RecordingWriter::create(file, driver_.layout()));
  }

  void load_checkpoint() {
    const fs::path file = folder_ / "checkpoint";
    std::error_code error;
    if (!fs::exists(file, error)) return note("no checkpoint yet: starting again at 0 s");
    try {
      use(decode(result::read_file(file)));
    } catch (const std::invalid_argument& e) {
      note(fmt::format("{}: not usable ({}): starting again at 0 s", file.string(), e.what()));
    }
  }

  void use(const Checkpoint& c) {
    if (c.hash != hash_)
      throw std::invalid_argument("it belongs to another scene, other options or another version");
    if (c.step < 0 || c.step > request_.options.steps())
      throw std::invalid_argument("its step is out of range");
    if (c.frames > frames_->frame_count()) throw std::invalid_argument("frames before it are missing");
    driver_.load(c.state);
    step_ = c.step;
    report_ = c.report;
    next_frame_ = c.frames;
    stored_.wall_clock.checkpoints = c.saved;
    seconds_before_ = std::max(seconds_before_, c.wall_seconds);
  }

  // What was computed since the last step is computed again when the run is resumed.
  Outcome advance_and_look_back() {
    try {
      const Outcome outcome = advance();
      return look_back() && outcome == Outcome::done ? Outcome::not_converged : outcome;
    } catch (const Stopped&) {
      report_.status = Status::ok;  // a step that failed fails again
      report_.message.clear();
      return Outcome::interrupted;
    }
  }

  Outcome advance() {
    const std::int64_t steps = request_.options.steps();
    if (next_frame_ == 0 && !record(time_of(step_))) return Outcome::diverged;
    tell_progress(steps);
    while (step_ < steps && !stopped_at()) {
      stop_if_requested();
      driver_.set_clock(step_, time_of(step_));
      const result::SolveReport r = driver_.step(h_);
      if (!r.ok()) return fail(r);
      ++step_;
      const double t = stopped_at().value_or(time_of(step_));
      driver_.set_clock(step_, t);
      add(r);
      report_.time = t;
      if (!driver_.finite()) return lost(), Outcome::diverged;
      if (!record_between()) return Outcome::diverged;
      const bool ends = step_ == steps || stopped_at();
      if ((step_ % request_.options.steps_per_frame() == 0 || ends) && !record(t)) return Outcome::diverged;
      if (step_ < steps && checkpoint_due()) save();
      tell_progress(steps);
    }
    return Outcome::done;
  }

  double time_of(std::int64_t step) const { return static_cast<double>(step) * h_; }
  // By an event, within a step.
  std::optional<double> stopped_at() const {
    return driver_.conductor() ? driver_.conductor()->stopped_at() : std::nullopt;
  }

  // False when there is something without a finite place: then nothing is recorded.
  bool record(double t) {
    driver_.observe(snapshot_);
    snapshot_.time = t;
    if (touches_) driver_.touches(touching_);
    return append();
  }

  // Frames within the step that is just over.
  bool record_between() {
    const std::int64_t n = frames_per_step_;
    for (std::int64_t i = 1; i < n; ++i) {
      driver_.observe_between(i - 1, snapshot_);
      snapshot_.time = time_of(step_ - 1) + h_ * static_cast<double>(i) / static_cast<double>(n);
      if (touches_) driver_.touches_between(i - 1, touching_);
      if (!append()) return false;
    }
    return true;
  }

  bool append() {
    if (first_non_finite(driver_.layout(), snapshot_)) return lost(), false;
    frames_->append(next_frame_++, snapshot_);
    if (touches_) touches_->append(touching_);
    return true;
  }

  void lost() {
    driver_.observe(snapshot_);
    report_.status = Status::diverged;
    report_.time = time_of(step_);
    report_.worst = first_non_finite(driver_.layout(), snapshot_).value_or("");
    report_.message =
        fmt::format("at t = {:.9g} s, \"{}\": a value is no longer finite", report_.time, report_.worst);
  }

  Outcome fail(const result::SolveReport& r) {
    report_.status = r.status;
    report_.time = r.time;
    report_.worst = r.worst;
    report_.message = r.message;
    result::add_warning(report_, r.warning);  // what it says of the scene may be the reason
    return r.status == Status::diverged ? Outcome::diverged : Outcome::not_converged;
  }

  void add(const result::SolveReport& r) {
    report_.time = time_of(step_);
    report_.steps = static_cast<long>(step_);
    report_.substeps += r.substeps;
    report_.parts += r.parts;
    report_.rejected += r.rejected;
    report_.total_iterations += r.total_iterations;
    report_.iterations = std::max(report_.iterations, r.iterations);
    report_.loop_gap = std::max(report_.loop_gap, r.loop_gap);
    report_.contact_residual = std::max(report_.contact_residual, r.contact_residual);
    report_.cone_violation = std::max(report_.cone_violation, r.cone_violation);
    report_.contact_overlap = std::max(report_.contact_overlap, r.contact_overlap);
    report_.redundant_rows = std::max(report_.redundant_rows, r.redundant_rows);
    if (report_.redundant.empty()) report_.redundant = r.redundant;
    result::add_warning(report_, r.warning);
    report_.solver_iterations = std::max(report_.solver_iterations, r.solver_iterations);
    if (r.residual > report_.residual) report_.residual = r.residual, report_.worst = r.worst;
  }

  // When the interval is over and one more saving keeps the share of the time spent on it small; the first
  // always.
  bool checkpoint_due() const {
    const double now = watch_.seconds();
    if (now - last_save_ < request_.checkpoint_interval) return false;
    return saves_ == 0 || spent_saving_ + spent_saving_ / saves_ <= largest_saving_share * now;
  }

  void save() {
    const double begin = watch_.seconds();
    frames_->sync();
    if (touches_) touches_->sync();
    Checkpoint c;
    c.hash = hash_;
    c.step = step_;
    c.frames = next_frame_;
    c.wall_seconds = seconds_before_ + begin;
    c.saved = ++stored_.wall_clock.checkpoints;
    c.report = report_;
    c.state = driver_.save();
    write_checkpoint(folder_ / "checkpoint", c);
    last_save_ = watch_.seconds();
    spent_saving_ += last_save_ - begin;
    ++saves_;
  }

  void finish(Outcome outcome) {
    if (outcome == Outcome::interrupted) save();
    frames_->sync();
    if (touches_) touches_->sync();
    stored_.wall_clock.finished = utc_now();
    write_run_json(to_string(outcome));
    std::error_code error;
    if (outcome != Outcome::interrupted) fs::remove(folder_ / "checkpoint", error);
  }

  // Over all frames, so that a run that was resumed says the same. True: the motion is not to be had like
  // this.
  bool look_back() {
    PassThrough watch(driver_.model(), driver_.layout());
    UnseenLinks unseen(driver_.model(), driver_.layout(), driver_.contact_parts());
    EnergyWatch ledger(driver_.model(), driver_.layout());
    GapWatch gaps(driver_.layout(), request_.options.rom.gap_error);
    result::RecordingReader reader(folder_ / "frames");
    result::Snapshot frame;
    for (std::uint64_t i = 0; i < reader.frame_count(); ++i) {
      stop_if_requested();
      reader.read(i, frame);
      ledger.look(frame);
      gaps.look(frame);
      if (std::string text = watch.look(frame); !text.empty()) notes_.push_back(std::move(text));
      if (std::string text = unseen.look(frame); !text.empty()) notes_.push_back(std::move(text));
    }
    if (std::string text = gaps.verdict(); !text.empty()) notes_.push_back(std::move(text));
    const std::string text = ledger.verdict();
    if (ledger.fatal() && report_.ok()) {
      report_.status = Status::not_converged;
      report_.message = text;
    } else if (!text.empty()) {
      notes_.push_back(text);
    }
    return ledger.fatal();
  }

  void write_run_json(const char* outcome) {
    stored_.outcome = outcome;
    stored_.report = report_;
    stored_.warnings = warnings();
    stored_.events = driver_.conductor() ? driver_.conductor()->happened() : driver_.happened();
    stored_.stopped_by = stopped_at() ? stored_.events.back().event : "";
    stored_.frames = frames_ ? frames_->frame_count() : 0;
    stored_.wall_clock.seconds = seconds_before_ + watch_.seconds();
    result::write_atomically(folder_ / "run.json", run_json(stored_));
  }

  std::vector<std::string> warnings() const {
    std::vector<std::string> out = notes_;
    if (report_.substeps > 0 && report_.parts == 0)  // by an error steps are made to be split
      out.push_back(fmt::format("{} step{} had to be split to converge; a shorter step may be faster",
                                report_.substeps, report_.substeps == 1 ? "" : "s"));
    for (std::string& line : result::warnings_of(report_)) out.push_back(std::move(line));
    if (!report_.redundant.empty()) out.push_back("loops with dependent constraints: " + report_.redundant);
    return out;
  }

  void tell_progress(std::int64_t steps) const {
    if (!request_.progress) return;
    request_.progress({time_of(step_), time_of(steps), step_, steps, next_frame_, watch_.seconds()});
  }

  void note(const std::string& text) const {
    if (request_.note) request_.note(text);
  }

  const RunRequest& request_;
  double h_;
  std::int64_t frames_per_step_;  // 1 where events divide steps
  Stopwatch watch_;
  Driver driver_;
  fs::path folder_;
  bool made_folder_ = false;
  std::unique_ptr<RunLock> lock_;
  StoredRun stored_;  // what run.json says
  std::uint64_t hash_ = 0;
  std::optional<result::RecordingWriter> frames_;
  std::optional<result::TouchWriter> touches_;  // where something may touch
  result::Snapshot snapshot_;
  result::Touches touching_;        // at the snapshot
  std::vector<std::string> notes_;  // warnings that are known before the first step
  result::SolveReport report_;      // totals
  std::int64_t step_ = 0;           // finished
  std::uint64_t next_frame_ = 0;    // index
  double seconds_before_ = 0;       // wall clock of the earlier parts of a resumed run
  double last_save_ = 0, spent_saving_ = 0;
  int saves_ = 0;
};

}  // namespace

const char* version() { return LIMBER_VERSION; }

const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::done:
      return "done";
    case Outcome::interrupted:
      return "interrupted";
    case Outcome::diverged:
      return "diverged";
    case Outcome::not_converged:
      return "not_converged";
  }
  return "?";
}

Sizes measure(const Model& model, const RunOptions& options) {
  return sizes_of(Driver(model, options), model);
}

void clean_up(const fs::path& folder) {
  const RunLock lock(folder);
  remove_temporary_files(folder);
  const std::string outcome = read_run(folder).outcome;
  std::error_code error;
  if (outcome != "running" && outcome != to_string(Outcome::interrupted))
    fs::remove(folder / "checkpoint", error);
}

RunResult run(const Model& model, const RunRequest& request) {
  validate(request.options);
  const StopScope scope(request.stop);
  return Run(model, request)();
}

}  // namespace limber::sim
