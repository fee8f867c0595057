// What the recorded numbers say against a run that went well: looked at over all its frames, so that one that
// was resumed says the same.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/result/snapshot.h"

namespace limber::sim {

// Says when the integrator itself has at any frame taken or made a large part of the energies that changed.
// In a structure in which nothing takes any, the motion is then another one than the scene's: the run has
// failed.
class EnergyWatch {
 public:
  EnergyWatch(const Model& model, const result::Layout& layout);
  void look(const result::Snapshot& s);
  bool fatal() const { return keeps_ && dissipated_ >= 0 && !verdict().empty(); }
  std::string verdict() const;  // "": nothing

 private:
  struct Column {
    int at = 0;
    double low = std::numeric_limits<double>::infinity(), high = -low;
  };
  std::vector<Column> columns_;
  const Model& model_;
  int remainder_ = -1, dissipated_ = -1;
  double stretch_ = 0;               // [N] largest E A of a beam
  double worst_ = 0, rounding_ = 0;  // [J]
  Vec3 low_ = Vec3::Constant(std::numeric_limits<double>::infinity()), high_ = -low_;  // of all places
  bool keeps_;  // nothing has taken energy
};

// Says when the joints of a reduced model come apart: it is used where it was not made for.
class GapWatch {
 public:
  GapWatch(const result::Layout& layout, double allowed);
  void look(const result::Snapshot& s);
  std::string verdict() const;

 private:
  std::vector<int> columns_;
  double allowed_ = 0, first_ = -1, largest_ = 0;
};

}  // namespace limber::sim
