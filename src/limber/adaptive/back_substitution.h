// From a part's inputs to its joint's acceleration and the inputs of its halves (Redon and Lin 2005, eq. 4
// to 7), and the divide-and-conquer algorithm (Featherstone 1999) in full.
#pragma once

#include <cstring>

#include "limber/adaptive/block6.h"
#include "limber/adaptive/coefficients.h"

namespace limber::adaptive {

// What a part is given: the acceleration of its top and the force on its bottom, in their M.
struct Inputs {
  alignas(16) double a[6] = {}, f[6] = {};
};

// Joint acceleration into qdd (dofs entries), inputs of A and B. The part's own bias (m, c, r) is given.
inline void split(const Coefficients& c, int i, const double* m, const double* bias_c, const double* r,
                  const Inputs& in, double* qdd, Inputs& A, Inputs& B) {
  const AssemblyNode& n = c.node(i);
  const double* d = c.data(i);
  const int dof = c.dofs(i);
  const double* y = c.y0(i);
  std::memcpy(B.a, m, sizeof B.a);
  for (int k = 0; k < dof; ++k) qdd[k] = r[k];
  if (n.is_root()) return;
  apply_add<1>(d + at::M0, in.a, B.a);
  for (int k = 0; k < dof; ++k) qdd[k] -= dot(y + 6 * k, in.a);
  std::memcpy(A.a, in.a, sizeof A.a);
  const double* third = n.handles == 2 ? c.bottom(i) : nullptr;
  if (third) {
    apply_add<1>(third + at::M1, in.f, B.a);
    const double* y1 = c.y1(i);
    for (int k = 0; k < dof; ++k) qdd[k] += dot(y1 + 6 * k, in.f);
    std::memcpy(B.f, in.f, sizeof B.f);
  }
  if (!n.a_join) return;
  alignas(16) double on_c[6], on_p[6];
  std::memcpy(on_c, bias_c, sizeof on_c);
  apply_add<1>(d + at::C0, in.a, on_c);
  if (third) apply_add<-1>(third + at::C1, in.f, on_c);
  force_in(d + at::X, on_c, on_p);
  for (int k = 0; k < 6; ++k) A.f[k] = -on_p[k];
}
inline void split(const Coefficients& c, int i, const Inputs& in, double* qdd, Inputs& A, Inputs& B) {
  const double* d = c.data(i);
  split(c, i, d + at::m, d + at::c, c.r(i), in, qdd, A, B);
}

// All joint accelerations (v_count) from the coefficients, parts in parallel if there are workers.
class BackSubstitution {
 public:
  explicit BackSubstitution(const Coefficients& c) : inputs_(c.assembly().nodes.size()) {}
  void operator()(const Coefficients& c, double* qdd, multibody::Workers* workers = nullptr);
  const Inputs& inputs(int node) const { return inputs_[node]; }

 private:
  void visit(const Coefficients& c, int i, double* qdd);
  std::vector<Inputs> inputs_;
};

}  // namespace limber::adaptive
