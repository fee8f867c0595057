// Controllers and events: what a run does by what its probes read. Both name a column of the run's probes,
// "arm.angle" or "ball.position.z", as probes.csv has it.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "limber/model/ids.h"
#include "limber/model/time_function.h"

namespace limber {

struct ModelParts;
struct Probe;

// A force on a coordinate of a joint, of e = target − reading:
//
//   u = kp e + ki ∫e dt + kd ė,   cut to [lower, upper].
//
// While it is cut, e does not add to the integral if that would cut it further.
struct Controller {
  std::string name;
  JointId joint;
  int dof = 0;                    // of its coordinates; no part of a rotation vector
  std::string reads;              // a column
  TimeFunction target;            // in the column's unit
  double kp = 0, ki = 0, kd = 0;  // [N·m or N by the column's unit, … s, … · s]
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  double period = 0;  // [s] from sample to sample, u held between; 0: see ControllerReads
};

// What a controller without a period reads: its own coordinate, or the rate of it, at every moment, as a
// servo does; anything else at the start of every step, u held over the step.
enum class ControllerReads : std::uint8_t { position, rate, samples };

// What an event does, and to what.
struct Action {
  enum class Kind : std::uint8_t { release, switch_off, switch_on, retarget, stop };
  enum class On : std::uint8_t { run, joint, tie, coupling, spring, clamp, drive, load, controller };
  Kind kind = Kind::stop;
  On on = On::run;
  std::string name;                    // of the thing; a drive has its joint's, a clamp its beam's
  int clamp = -1;                      // of the beam's clamps, in the order given
  std::array<TimeFunction, 6> target;  // retarget: of a drive by its coordinates, of a controller the first
};
const char* to_string(Action::Kind kind);
const char* to_string(Action::On on);
std::string to_string(const Action& action);  // release joint "sling"

// An action that was taken, and when [s].
struct Done {
  Action action;
  double t = 0;
};

struct Event {
  enum class Way : std::uint8_t { rising, falling, either };
  std::string name;
  std::string reads;      // a column; empty: at a time
  double value = 0;       // that it passes, in the column's unit …
  Way way = Way::rising;  // … on its way up, down, or both
  double at = 0;          // [s] without a column
  double delay = 0;       // [s] from there to the actions
  bool once = true;       // else at every passing
  std::vector<Action> actions;
};

// Columns: names and units of the numbers that a probe gives.
struct Column {
  std::string name;
  const char* unit = "";
};
std::vector<Column> columns_of(const ModelParts& parts, const Probe& probe);
// With that name, of a probe or of what every run writes down (energies, contact).
std::optional<Column> find_column(const ModelParts& parts, std::string_view name);

ControllerReads what_it_reads(const ModelParts& parts, const Controller& controller);
// The joint of the tree, or −1: it closes a loop, or there is none.
int tree_joint_of(const ModelParts& parts, const Action& action);

}  // namespace limber
