// Anderson's acceleration (Anderson 1965; Walker and Ni 2011) of a fixed-point iteration x ← g(x). From the
// last few pairs (x, g) it takes the combination whose residual f = g − x is least,
//
//   minimise |f_k − ΔF θ|,     x_{k+1} = g_k − ΔG θ,
//
// ΔF, ΔG the differences of residuals and values between neighbouring iterates. On a linear iteration that is
// GMRES. Combinations are affine: whatever linear equation all values g obey, the next iterate obeys too.
#pragma once

#include <vector>

namespace limber::math {

class Anderson {
 public:
  static constexpr int most_depth = 8;

  // weight: of each component in the norm, so that it does not depend on units.
  Anderson(std::vector<double> weight, int depth);

  // A new iteration starts.
  void restart() { columns_ = newest_ = 0, any_ = false; }

  // Replaces g by the next iterate. x: where g was taken.
  void next(const std::vector<double>& x, std::vector<double>& g);

 private:
  int depth_, columns_ = 0, newest_ = 0;
  bool any_ = false;  // f_ and g_ hold the iterate before
  std::vector<double> weight_, f_, g_, left_;
  std::vector<std::vector<double>> dF_, dG_, Q_;  // (depth) × n
};

}  // namespace limber::math
