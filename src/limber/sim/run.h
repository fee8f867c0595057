// The run loop and the run folder.
//
//   DIR/run.json       what ran, versions, parameters, options, outcome, report; wall-clock facts in one
//   object
//                      "wall_clock", all else is the same for every run of the same scene
//   DIR/scene/         the scene file and the files it names, so that `limber resume DIR` needs nothing else
//   DIR/frames         every recorded frame (result/recording.h)
//   DIR/touches        where things pressed on each other in it, if anything may (result/touch.h)
//   DIR/checkpoint     the last saved state (atomic); gone when the run has come to its end
//   DIR/lock           while a process writes the run; holds its id
//   DIR/probes.csv, DIR/scene.glb, DIR/scene.pvd, DIR/vtk/*.vtp    made from `frames` when the run ends
//
// A frame is recorded at step 0 and after every steps_per_frame() steps, and after the last step; where
// frames_per_step() is more than 1, after every step and at equal distances within it.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/report.h"
#include "limber/sim/happening.h"
#include "limber/sim/options.h"

namespace limber::sim {

const char* version();  // of limber: "0.1.0"

struct Progress {
  double time = 0, end_time = 0;  // [s] simulated
  std::int64_t step = 0, steps = 0;
  std::uint64_t frames = 0;
  double wall_seconds = 0;  // since start or resume
};

struct SourceFile {
  std::string path;  // relative to the scene's folder
  std::string text;
};

struct RunRequest {
  std::filesystem::path folder;
  bool next_free_name = false;  // folder taken: use folder-2, folder-3, …
  bool force = false;           // replace the run in the folder, or write beside what else is in it
  std::string scene_file;       // name of the main file in `sources`
  std::vector<SourceFile> sources;
  std::vector<std::pair<std::string, std::string>> set;  // --set name=value, as typed
  RunOptions options;
  std::vector<std::string> files;  // what the caller will make from `frames`; for run.json
  double checkpoint_interval =
      30;  // [s] of wall clock; stretched so that saving takes at most 1 % of the time
  bool resume = false;
  bool history = false;  // beams at rest in the course of time (method chain), not a motion
  const std::atomic<bool>* stop = nullptr;        // becomes true: checkpoint and leave (math/stop.h)
  std::function<void(const Progress&)> progress;  // called after every step; must be cheap
  std::function<void(const std::filesystem::path&)> started;  // the folder, once it is ours
  std::function<void(const std::string&)> note;  // what a person should know, such as an unusable checkpoint
};

enum class Outcome { done, interrupted, diverged, not_converged };
const char* to_string(Outcome outcome);

// What a method makes of a model.
struct Sizes {
  std::size_t bodies = 0, joints = 0, dofs = 0;  // with the links of beams
  double mass = 0;                               // [kg] of all bodies and links
  std::size_t beams = 0, springs = 0, loops = 0, drives = 0, motions = 0, loads = 0, probes = 0;
};
Sizes measure(const Model& model,
              const RunOptions& options);  // throws ModelError for what the method cannot run

struct RunResult {
  Outcome outcome = Outcome::done;
  result::SolveReport report;
  std::uint64_t frames = 0;
  double wall_seconds = 0;      // since start or resume
  std::int64_t first_step = 0;  // where this process began: 0, or the step of the checkpoint
  std::filesystem::path folder;
  Sizes sizes;
  std::vector<std::string> warnings;  // what makes its numbers worth less, each once, for people
  std::vector<Happening> events;      // that happened, in their order
  std::string stopped_by;             // the event that ended it; empty: its time was over
};

// Simulates and records; throws result::IoError, ModelError, and std::invalid_argument for unusable options
// or a folder that is not free. Writes run.json at start ("running") and at the end. The files made from
// `frames` are the caller's (export/ stands above sim/). A stop before the first step, while the model is
// compiled or comes to rest, throws Stopped and leaves a folder as it was, or none.
RunResult run(const Model& model, const RunRequest& request);

struct WallClock {
  std::string started, finished;  // UTC, ISO 8601
  double seconds = 0;             // of all parts of the run
  std::uint64_t checkpoints = 0;
  int resumed = 0;  // times
  int cpu_threads = 1;
};

// What `limber resume` needs to rebuild the request; throws result::IoError for a folder that holds no run.
struct StoredRun {
  std::string scene_file;
  std::string title;
  std::vector<SourceFile> sources;
  std::string began_with;  // hash of the sources when the run began
  bool edited = false;     // they are others now: no run that goes on from here would be one run
  std::vector<std::pair<std::string, std::string>> set;
  RunOptions options;
  std::string outcome;  // "running" after a kill
  std::string solver;   // what solved the linear systems
  std::string version;
  Sizes sizes;
  result::SolveReport report;
  std::vector<std::string> warnings;  // as in RunResult
  std::vector<Happening> events;
  std::string stopped_by;
  std::uint64_t frames = 0;
  std::vector<std::string> files;
  WallClock wall_clock;
};
StoredRun read_run(const std::filesystem::path& folder);
// Throws std::invalid_argument where the files in DIR/scene are no longer those that the run began with.
void require_unedited(const std::filesystem::path& folder, const StoredRun& run);

// Removes what a process killed at the very end left behind: temporary files, the checkpoint of an ended run.
void clean_up(const std::filesystem::path& folder);

// Holds DIR/lock: only one process writes a run. Throws result::IoError naming the other's id when it is
// taken.
class RunLock {
 public:
  explicit RunLock(const std::filesystem::path& folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();
  bool left_behind() const { return left_behind_; }  // a killed run's lock was there

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  bool left_behind_ = false;
};

}  // namespace limber::sim
