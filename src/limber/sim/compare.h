// One scene through every method that applies, against the best reference there is: what each is off, and
// what it costs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "limber/result/snapshot.h"
#include "limber/sim/options.h"

namespace limber::sim {

struct Candidate {
  std::string method, setting;             // "chain", "10 elements"
  std::string refusal;                     // why it does not apply or did not converge; empty: it ran
  double seconds = 0;                      // of the solve, or of a step
  double error = 0;                        // largest distance from the reference, of the structure's size
  std::optional<double> force_error, gap;  // of a reduced model: see compare_reduced
  result::Layout layout;
  std::vector<result::Snapshot> moments;
};

struct Comparison {
  enum class Kind { rest, motion, reduced } kind = Kind::rest;
  std::string reference;  // what the others are measured against
  double time = 0;        // [s] whose loads act, or that was simulated
  result::Layout layout;  // of the reference
  std::vector<result::Snapshot> moments;
  std::vector<Candidate> candidates;  // best first, refused ones last
};

// Where beams come to rest: chain, articulated and thread with a quarter, half, once and twice the elements.
// The reference is the exact rod for one straight clamped beam under dead loads at its tip and its weight,
// if it is the one that they find, else the first of them with eight times the elements. Throws
// std::invalid_argument if none finds any.
Comparison compare_statics(const Model& model, const RunOptions& options, double at);
// How a scene moves: every method of the driver at the scene's step and half of it; the reference takes steps
// eight times as short.
Comparison compare_motion(const Model& model, const RunOptions& options, double time);
// The scene's mechanisms reduced to their ends, with all points and with one, against the whole at rest under
// loads on the ends. Errors: pose of the ends (of the radius, or of half a turn), force that holds them where
// the whole has them (by its work), gaps of the joints summed (of the radius).
Comparison compare_reduced(const Model& model, const RunOptions& options);

// A candidate's moments with everything so many times as far from the reference as it is, to be drawn where
// methods could not be told apart: lines at equal fractions of their lengths, bodies of the model by name.
std::vector<result::Snapshot> exaggerated(const Model& model, const Candidate& candidate,
                                          const Comparison& comparison, double factor);

}  // namespace limber::sim
