// Rotation and stretch of every node's gradient, and the arrays of a pass over the elements.
#include <algorithm>

#include "limber/thread/element.h"

namespace limber::thread {
namespace {

// Newton's iteration for the polar decomposition (Higham 1986), scaled by Frobenius norms.
LIMBER_KERNEL bool polar_kernel(int nodes, ElementArrays& a) {
  bool good = true;
  for (int j = 0; j < nodes; j += lanes) {
    P33 F;
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 3; ++i) F(i, c) = load(a.F[3 * c + i] + j);
    P33 X = F;
    bool far = false;  // from a rotation: then the iteration is scaled
    for (int iteration = 0; iteration < 30; ++iteration) {
      const P33 C = cofactors(X);
      const Pack det = X(0, 0) * C(0, 0) + X(0, 1) * C(0, 1) + X(0, 2) * C(0, 2);
      Pack norm = pack(0), inverse = pack(0);
      LIMBER_EACH33 {
        norm += X(i, k) * X(i, k);
        inverse += C(i, k) * C(i, k);
      }
      if (iteration == 0)
        for (int i = 0; i < lanes; ++i) {
          if (j + i < nodes && !(det[i] > 1e-6)) good = false;
          if (!(std::abs(norm[i] - 3) < 1 && std::abs(det[i] - 1) < 0.5)) far = true;
        }
      // The scale brings far gradients close in few steps and is 1 at a rotation.
      const Pack scale =
          far && iteration < 4 ? root(root(inverse / norm) / root(det * det + pack(1e-300))) : pack(1);
      const Pack s1 = 0.5 * scale, s2 = 0.5 / (scale * det);
      Pack change = pack(0);
      LIMBER_EACH33 {
        const Pack next = s1 * X(i, k) + s2 * C(i, k);
        change = larger(change, next > X(i, k) ? next - X(i, k) : X(i, k) - next);
        X(i, k) = next;
      }
      bool done = true;
      for (int i = 0; i < lanes; ++i)
        if (change[i] > 1e-9) done = false;
      if (done && iteration >= 1) break;
    }
    for (int k = 0; k < 9; ++k) store(a.P[k] + j, X.m[k / 3][k % 3]);
    const P33 U = transposed_times(X, F);
    const Pack one = pack(1);
    store(a.strain[0] + j, U(0, 0) - one);
    store(a.strain[1] + j, U(1, 1) - one);
    store(a.strain[2] + j, U(2, 2) - one);
    store(a.strain[3] + j, 0.5 * (U(0, 1) + U(1, 0)));
    store(a.strain[4] + j, 0.5 * (U(0, 2) + U(2, 0)));
    store(a.strain[5] + j, 0.5 * (U(1, 2) + U(2, 1)));
  }
  return good;
}

}  // namespace

void ElementArrays::resize(int capacity) {
  constants.resize(slot::rows, capacity);
  node_constants.resize(node::rows, capacity);
  x.resize(3, capacity);
  F.resize(9, capacity);
  for (int k = 0; k < 3; ++k)  // beyond the last node: gradients that can be decomposed
    std::fill_n(F[4 * k], F[1] - F[0], 1.0);
  P.resize(9, capacity);
  strain.resize(6, capacity);
  z.resize(6, capacity);
  stress.resize(6, capacity);
  foreseen.resize(3, capacity);
  energy.resize(1, capacity);
  gap.resize(1, capacity);
  half.resize(114, capacity);
  force.resize(24, capacity);
  weight.resize(1, capacity);
  D.assign(144 * static_cast<std::size_t>(capacity), 0);
  O.assign(144 * static_cast<std::size_t>(capacity), 0);
  g.assign(12 * static_cast<std::size_t>(capacity), 0);
}

void gather(const double* e, int nodes, ElementArrays& a) {
  for (int j = 0; j < nodes; ++j) {
    for (int i = 0; i < 3; ++i) a.x[i][j] = e[12 * j + i];
    for (int i = 0; i < 9; ++i) a.F[i][j] = e[12 * j + 3 + i];
  }
  // The pack after the last node: somewhere a step on, so that nothing is singular.
  for (int k = 0; k < lanes; ++k) {
    for (int i = 0; i < 3; ++i) a.x[i][nodes + k] = a.x[i][nodes - 1] + (i == 0 ? 1.0 + k : 0.0);
    for (int i = 0; i < 9; ++i) a.F[i][nodes + k] = i % 4 == 0 ? 1.0 : 0.0;
  }
}

bool polar(int nodes, ElementArrays& a) { return polar_kernel(nodes + lanes, a); }

}  // namespace limber::thread
