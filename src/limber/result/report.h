// How a step or a solve went. Never an error code, never silent.
#pragma once

#include <string>

namespace limber::result {

enum class Status { ok, not_converged, diverged };
const char* to_string(Status status);

struct SolveReport {
  Status status = Status::ok;
  double time = 0;     // [s] reached, or where it failed
  int iterations = 0;  // largest number in one step
  long total_iterations = 0;
  long steps = 0;                // finished
  long substeps = 0;             // steps that had to be split to converge
  long parts = 0, rejected = 0;  // of steps by an error: taken; missed it and were taken again, shorter
  double residual = 0;           // largest that was accepted, relative
  double loop_gap = 0;           // largest that was left open, of the structure's size
  double contact_residual = 0;   // largest of contact forces, of the velocities that they stop
  double cone_violation = 0;     // largest of them, of the largest force
  double contact_overlap = 0;    // largest that a step left, of the size of the smaller of the two
  int redundant_rows = 0;        // most rows of loops that hung on others
  std::string redundant;         // the loops with such rows, and how many
  int solver_iterations = 0;     // most of an iterative linear solver in one solve
  std::string worst;             // the body or joint where it is worst; empty if all is well
  std::string message;           // for people: what failed, where, and what may help
  std::string warning;  // of a run that goes on: what makes its numbers worth less, a line each (warnings.h)
  bool ok() const { return status == Status::ok; }
};

// [J]
struct Energy {
  double kinetic = 0, gravity = 0, elastic = 0;
  double total() const { return kinetic + gravity + elastic; }
};

}  // namespace limber::result
