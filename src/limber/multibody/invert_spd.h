// Inverse of a joint's small positive definite block.
#pragma once

#include <cmath>

#include "limber/math/types.h"

namespace limber::multibody {

template <int D>
using MatD = Eigen::Matrix<double, D, D>;

// Inverse by Cholesky. A pivot below 1e-13 of its own diagonal entry has lost all its digits: not positive
// definite.
template <int D>
bool invert_spd(const MatD<D>& M, MatD<D>& inverse) {
  if constexpr (D == 1) {
    inverse(0, 0) = 1 / M(0, 0);
    return M(0, 0) > 0 && M(0, 0) < 1e300;
  } else {
    MatD<D> L = MatD<D>::Zero();
    for (int j = 0; j < D; ++j) {
      double pivot = M(j, j);
      for (int k = 0; k < j; ++k) pivot -= L(j, k) * L(j, k);
      if (!(pivot > 1e-13 * M(j, j)) || !(M(j, j) < 1e300)) return false;
      L(j, j) = std::sqrt(pivot);
      for (int i = j + 1; i < D; ++i) {
        double sum = M(i, j);
        for (int k = 0; k < j; ++k) sum -= L(i, k) * L(j, k);
        L(i, j) = sum / L(j, j);
      }
    }
    const MatD<D> L_inverse = L.template triangularView<Eigen::Lower>().solve(MatD<D>::Identity());
    inverse.noalias() = L_inverse.transpose() * L_inverse;
    return true;
  }
}

}  // namespace limber::multibody
