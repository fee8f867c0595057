// Derivatives of a run: of any weighted sum of what is recorded, by all that its scene is made of at once.
//
//   sim::RunGradient g(model, options);
//   const sim::RunSensitivity d = g.of({{.frame = -1, .column = 2}}, {{&up, &down, delta}});
//   d.by[0], d.positions, d.velocities, d.forces
//
// The adjoint of the time step (articulated/step_adjoint.h), backwards over the run. States are kept at
// checkpoints; between two of them the run is computed again, which gives the same bits. A parameter costs
// two evaluations of the equations of motion at each stage, no solve; coordinates, rates and forces at every
// step cost nothing beyond.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/snapshot.h"
#include "limber/sim/options.h"

namespace limber::sim {

struct RecordedNumber {
  std::int64_t frame = -1;  // negative: from the end
  int column = 0;           // of the layout's scalars
  double weight = 1;
};

// Two models that differ in one parameter by plus and minus delta.
struct ModelChange {
  const Model* up = nullptr;
  const Model* down = nullptr;
  double delta = 0;
};

struct RunSensitivity {
  double value = 0;                        // of the weighted sum
  std::vector<double> by;                  // of each change, per unit of its parameter
  std::vector<double> positions;           // (freedoms) where it starts: by rates that lead away from there
  std::vector<double> velocities;          // (freedoms) by the rates that it starts with
  std::vector<double> forces;              // (steps × freedoms) by a force on each rate during each step
  std::int64_t steps = 0, recomputed = 0;  // taken, and taken again
};

class RunGradient {
 public:
  // Throws ModelError and std::invalid_argument where a run has no gradient by this way: another method,
  // loops, contact, friction, controllers, events, steps by an error.
  RunGradient(const Model& model, const RunOptions& options);
  ~RunGradient();
  RunGradient(RunGradient&&) noexcept;

  const result::Layout& layout() const;
  std::vector<double> times() const;                          // of the frames
  std::vector<std::pair<std::string, int>> freedoms() const;  // of RunSensitivity: joint and its coordinate
  // Throws std::invalid_argument where a parameter changes more than numbers, and where the motion is not
  // smooth (a stop that is hit); std::runtime_error where it diverges.
  RunSensitivity of(std::span<const RecordedNumber> numbers, std::span<const ModelChange> changes,
                    bool forces = false);

 private:
  struct Data;
  std::unique_ptr<Data> d_;
};

}  // namespace limber::sim
