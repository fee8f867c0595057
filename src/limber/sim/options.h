// How to run a scene: the method, its options, and time. A scene's `run:` section fills it, the command line
// overrides.
#pragma once

#include <cstdint>

#include "limber/adaptive/adaptive.h"
#include "limber/articulated/articulated.h"
#include "limber/rom/rom.h"
#include "limber/thread/thread.h"

namespace limber::sim {

// All about each of them: sim/method_table.h.
enum class Method : std::uint8_t { articulated, adaptive, thread, rom, chain };
const char* to_string(Method method);

struct RunOptions {
  Method method = Method::articulated;
  double time = 5;           // [s] to simulate
  double step = 0.01;        // [s]
  double frame = 1.0 / 30;   // [s] between recorded frames, rounded to whole steps (at least one)
  bool from_static = false;  // start at rest under the loads of t = 0
  articulated::Options articulated;
  adaptive::Options adaptive;
  thread::Options thread;
  rom::Options rom;
  std::shared_ptr<const rom::ReducedModel> reduced;  // of a file; null: reduced when the run starts

  std::int64_t steps() const;  // whole steps to reach `time` (a last step is not shortened: rounds up)
  std::int64_t steps_per_frame() const;  // at least 1
};

const char* integrator_of(const RunOptions& options);  // of the method that runs; "" if it has none

// Of the CPU: of the method that runs, and of all of them.
int threads_of(RunOptions options);
void set_threads(RunOptions& options, int threads);

// Throws std::invalid_argument naming the first option that cannot be used.
void validate(const RunOptions& options);

}  // namespace limber::sim
