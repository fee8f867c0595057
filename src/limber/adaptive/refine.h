// Which joints move, within an error: the partial back-substitution of Redon and Lin 2005, section 4.3.
//
// Parts wait in a queue, largest total acceleration first. The first is opened: its joint's acceleration is
// computed and its two halves join the queue. What is still in the queue is taken to be at rest; the error of
// that, for the four measures of the paper (its definition 2), is bounded by
//   linkage, absolute   (Σ A)^½ over the queue                  relative   … / (A of the whole)^½
//   joint, absolute     (max A)^½ over the queue                relative   … / largest ‖w q̈‖ computed so far
// The joint measures use the largest part instead of the sum, which is as safe (a joint's acceleration is no
// more than its part's) and opens fewer parts.
//
// A(part) comes out of a sum of products whose terms may cancel: it is known up to noise · ε · scale, where
// scale is the sum of the sizes of the terms (ε = 2⁻⁵³). That much is added to every A, so the bound holds
// for the true accelerations; a part whose A is all noise is opened until its parts are small enough. `noise`
// is measured on the linkage itself (measure_noise) and checked against every part that is opened.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "limber/adaptive/back_substitution.h"

namespace limber::adaptive {

enum class Measure : std::uint8_t { relative_joint, absolute_joint, relative_linkage, absolute_linkage };

struct RefineOptions {
  Measure measure = Measure::relative_joint;
  double error = 0;          // asked for
  double floor = 0;          // accelerations below it (weighted) count as rest for the relative measures
  int limit = 0;             // gives up when more joints than this have been computed; 0: never
  double budget = 0;         // [s] of wall clock from `started` on; 0: no limit
  double cost_of_joint = 0;  // [s] that each computed joint costs later, part of the budget
  std::chrono::steady_clock::time_point started{};
};

struct RefineResult {
  double bound = 0;      // of the error, in the chosen measure
  double total = 0;      // (A of the whole)^½
  double largest = 0;    // ‖w q̈‖ of a joint, of those computed
  double noise = 0;      // as it was, or raised by what was seen
  bool complete = true;  // the asked error is reached
  bool gave_up = false;  // at the limit
};

// A of a part, and the size of its terms.
struct Total {
  double value = 0, scale = 0;
};
Total total_acceleration(const Coefficients& c, int node, const Inputs& in);

class Refinement {
 public:
  explicit Refinement(const Coefficients& c);
  // qdd (v_count) of the opened joints; other entries are left alone. `noise`: see above.
  RefineResult operator()(const Coefficients& c, const JointInput& joints, const RefineOptions& options,
                          double noise, double* qdd);
  // Nodes that were opened, parents before children.
  const std::vector<int>& opened() const { return opened_; }

 private:
  struct Item {
    double guarded;  // A + noise
    int node, input;
    Total total;
  };
  Total push(const Coefficients& c, int node, const Inputs& in);
  double exact_sum();
  static bool below(const Item& x, const Item& y) {
    return x.guarded < y.guarded || (x.guarded == y.guarded && x.node > y.node);
  }
  std::vector<Item> heap_;
  std::vector<Inputs> inputs_;
  std::vector<int> opened_;
  double noise_unit_ = 0, sum_ = 0;
};

// The largest |A − Σ‖w q̈‖²| / (ε · scale) over all parts, from a full back-substitution: O(n).
double measure_noise(const Coefficients& c, const JointInput& joints, const BackSubstitution& full,
                     const double* qdd);

}  // namespace limber::adaptive
