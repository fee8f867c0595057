// How to run a scene: the method, its options, and time. A scene's `run:` section fills it, the command line
// overrides.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "limber/adaptive/adaptive.h"
#include "limber/articulated/articulated.h"
#include "limber/rom/rom.h"
#include "limber/thread/thread.h"

namespace limber::sim {

// All about each of them: sim/method_table.h.
enum class Method : std::uint8_t { articulated, adaptive, thread, rom, chain };
const char* to_string(Method method);
std::vector<std::pair<Method, std::string>> method_words();
std::string about_methods();

struct RunOptions {
  Method method = Method::articulated;
  double time = 5;           // [s] to simulate
  double step = 0.01;        // [s]
  double frame = 1.0 / 30;   // [s] between recorded frames, rounded to whole steps or a whole part of one
  bool from_static = false;  // start at rest under the loads of t = 0
  articulated::Options articulated;
  adaptive::Options adaptive;
  thread::Options thread;
  rom::Options rom;
  std::shared_ptr<const rom::ReducedModel> reduced;  // of a file; null: reduced when the run starts

  std::int64_t steps() const;  // whole steps to reach `time` (a last step is not shortened: rounds up)
  std::int64_t steps_per_frame() const;  // at least 1
  // More than 1 where frames within steps can be told: steps by an error (articulated).
  std::int64_t frames_per_step() const;
  double frame_interval() const;  // [s] as recorded

  // The options of every run (sim/option.h); those of the methods describe themselves.
  template <class Table>
  static void describe(Table& t) {
    t.say("", "run: {time: 3 s, step: 5 ms, integrator: midpoint}\n");
    t.choice("method", &RunOptions::method, method_words(), "by which it runs, or comes to rest")
        .meaning(about_methods())
        .on_command_line();
    t.add("time", &RunOptions::time, "to simulate").measured_in("s").at_least(0).on_command_line();
    t.add("step", &RunOptions::step, "time step").measured_in("s").above(0).on_command_line();
    t.add("frame", &RunOptions::frame,
          "time between recorded frames, rounded to whole steps; with `error` of articulated also shorter")
        .measured_in("s")
        .above(0)
        .on_command_line();
    t.choice("from", &RunOptions::from_static, {{false, "written"}, {true, "static"}},
             "where it starts: as written, or at rest under its loads")
        .on_command_line();
  }
};

std::string integrator_of(const RunOptions& options);  // of the method that runs; "" if it has none

// Of the method that runs, and of all of them.
int cpu_threads_of(const RunOptions& options);
void set_cpu_threads(RunOptions& options, int n);

// Throws std::invalid_argument naming the first option that cannot be used, or ModelError with all that do
// not go together.
void validate(const RunOptions& options);

}  // namespace limber::sim
