// The main pass: a part's coefficients from those of its two halves. Equations in the header; the total
// acceleration (eq. 9 of the paper in our inputs), with tildes for A's blocks seen in c's frame:
//   Ψ₀  = Ψ₀ᴬ + M₀ᵀΨ₀ᴮM₀ + C₀ᵀΨ̃₁ᴬC₀ − Ψ̃₀₁ᴬC₀ − (Ψ̃₀₁ᴬC₀)ᵀ + y₀w²y₀ᵀ
//   Ψ₁  = Ψ₁ᴮ + M₁ᵀΨ₀ᴮM₁ + M₁ᵀΨ₀₁ᴮ + (M₁ᵀΨ₀₁ᴮ)ᵀ + C₁ᵀΨ̃₁ᴬC₁ + y₁w²y₁ᵀ
//   Ψ₀₁ = M₀ᵀ(Ψ₀ᴮM₁ + Ψ₀₁ᴮ) − C₀ᵀΨ̃₁ᴬC₁ + Ψ̃₀₁ᴬC₁ − y₀w²y₁ᵀ
//   z = 2Ψ₀ᴮm + p₀ᴮ,  x = 2Ψ̃₁ᴬc − p̃₁ᴬ
//   p₀ = p₀ᴬ + M₀ᵀz + C₀ᵀx − 2Ψ̃₀₁ᴬc − 2w²r y₀,   p₁ = p₁ᴮ + M₁ᵀz + 2Ψ₀₁ᴮᵀm − C₁ᵀx + 2w²r y₁
//   η  = ηᴬ + ηᴮ + mᵀ(Ψ₀ᴮm + p₀ᴮ) + cᵀ(Ψ̃₁ᴬc − p̃₁ᴬ) + w²r²
#include "limber/adaptive/coefficients.h"

#include <algorithm>
#include <cstring>

#include "limber/adaptive/block6.h"

namespace limber::adaptive {
namespace {

constexpr std::size_t block_bytes = 36 * sizeof(double);

int subspace_row(JointKind kind) {
  return kind == JointKind::revolute ? 2 : kind == JointKind::prismatic ? 5 : -1;
}

// S of a joint: a row that it picks, or columns.
struct Subspace {
  int row = -1, dofs = 0;
  alignas(16) double columns[36];

  Subspace(const multibody::Tree& tree, int link, int count, const double* q) : dofs(count) {
    if (count == 0) return;
    row = subspace_row(tree[link].kind);
    if (row < 0) Eigen::Map<Mat6>{columns} = multibody::motion_subspace(tree[link], q + tree[link].q);
  }
  void times(const double* x, double* out) const {  // out += S x
    if (row >= 0) {
      out[row] += x[0];
      return;
    }
    for (int k = 0; k < dofs; ++k)
      for (int l = 0; l < 6; ++l) out[l] += columns[6 * k + l] * x[k];
  }
  double transposed_times(int k, const double* f) const {
    return row >= 0 ? f[row] : dot(columns + 6 * k, f);
  }
  void after(const double* A, int k, double* out) const {  // out = A S e_k
    if (row >= 0)
      std::memcpy(out, A + 6 * row, 6 * sizeof(double));
    else
      apply(A, columns + 6 * k, out);
  }
  // A += s S e_k yᵀ
  void add_rows(double* A, int k, const double* y, double s) const {
    for (int j = 0; j < 6; ++j) {
      if (row >= 0)
        A[6 * j + row] += s * y[j];
      else
        for (int i = 0; i < 6; ++i) A[6 * j + i] += s * columns[6 * k + i] * y[j];
    }
  }
};

// Inverse of a symmetric positive definite matrix of n ≤ 6 rows, n × n in place.
bool invert_small(double* A, int n) {
  bool good = true;
  for (int k = 0; k < n; ++k) {
    const double pivot = A[k * n + k];
    good = good && pivot > 0 && pivot < 1e300;
    const double inverse = 1 / pivot;
    A[k * n + k] = 1;
    for (int j = 0; j < n; ++j) A[j * n + k] *= inverse;
    for (int i = 0; i < n; ++i) {
      if (i == k) continue;
      const double x = A[k * n + i];
      A[k * n + i] = 0;
      for (int j = 0; j < n; ++j) A[j * n + i] -= x * A[j * n + k];
    }
  }
  return good;
}

// A += u vᵀ · s
void add_outer(double* A, const double* u, const double* v, double s) {
  for (int j = 0; j < 6; ++j) {
    const Pair x = both(s * v[j]);
    for (int i = 0; i < 6; i += 2) store(A + 6 * j + i, load(A + 6 * j + i) + load(u + i) * x);
  }
}

void add_block(double* A, const double* B) {
  for (int k = 0; k < 36; k += 2) store(A + k, load(A + k) + load(B + k));
}

}  // namespace

Coefficients::Coefficients(const multibody::Tree& tree, const AssemblyTree& assembly)
    : tree_(&tree), assembly_(&assembly) {
  const int n = static_cast<int>(assembly.nodes.size());
  offset_.resize(n);
  tail_.resize(n);
  dofs_.resize(n);
  std::size_t size = 0;
  for (int i = 0; i < n; ++i) {
    const AssemblyNode& node = assembly.nodes[i];
    offset_[i] = size;
    if (node.is_leaf()) {
      size += at::leaf_size;
      continue;
    }
    const int d = node.link < 0 ? 0 : tree[node.link].dofs;
    const bool two = node.handles == 2;
    int tail = at::first_size + (node.a_join ? at::second_size : 0);
    if (two) tail += at::third_size + (node.a_join ? 36 : 0);
    dofs_[i] = static_cast<std::int8_t>(d);
    tail_[i] = static_cast<std::int16_t>(tail);
    size += static_cast<std::size_t>(tail + (two ? 18 : 12) * d + d * d + d + (d * d + d) % 2);
  }
  pool_.reset(new double[size]());
  pool_size_ = size;
  for (int i = 0; i < n; ++i) {
    const AssemblyNode& node = assembly.nodes[i];
    if (!node.is_leaf())
      store_pose(Pose::identity(), data(i) + at::X);
    else if (assembly.leaf_of[node.link] == i)  // the other pieces of a body have no mass
      Eigen::Map<Mat6>(data(i) + at::lambda) = tree[node.link].inertia.matrix();
  }
  // Ranges of at most 1/16 of the nodes: enough for a few threads.
  const int grain = std::max(256, n / 16);
  for (int i = n - 1; i >= 0;) {
    if (i - assembly.nodes[i].first + 1 <= grain) {
      cut_.subtrees.push_back({assembly.nodes[i].first, i + 1});
      i = assembly.nodes[i].first - 1;
    } else {
      cut_.top.push_back(i--);
    }
  }
  std::reverse(cut_.subtrees.begin(), cut_.subtrees.end());
  std::reverse(cut_.top.begin(), cut_.top.end());
}

bool Coefficients::set_wrench(int link, const Vec6& wrench) {
  double* zeta = data(assembly_->leaf_of[link]) + at::zeta;
  bool changed = false;
  for (int k = 0; k < 6; ++k) {
    changed = changed || zeta[k] != -wrench[k];
    zeta[k] = -wrench[k];
  }
  return changed;
}

void Coefficients::place_joint(int i, const double* q) {
  const int l = node(i).link;
  if (l < 0) return;  // a weld: identity for ever
  const multibody::Link& link = (*tree_)[l];
  store_pose(link.X_PF * multibody::joint_transform(link, q + link.q), data(i) + at::X);
}

void Coefficients::update_matrices(int i, const JointInput& in) {
  const AssemblyNode& n = node(i);
  double* d = data(i);
  const double* X = d + at::X;
  const double* B = data(n.b);
  const bool two = n.handles == 2, below = n.a_join != 0;
  double* third = two ? const_cast<double*>(bottom(i)) : nullptr;
  const int dof = dofs(i);
  const Subspace S(*tree_, n.link, dof, in.q);
  double* u = const_cast<double*>(U(i));
  double* y_0 = const_cast<double*>(y0(i));
  double* y_1 = two ? const_cast<double*>(y1(i)) : nullptr;
  double* D_ = const_cast<double*>(D(i));

  // The joint: H, D, U, Λ'
  alignas(16) double lambda[36], H[36];
  std::memcpy(lambda, B + at::lambda, block_bytes);
  for (int k = 0; k < dof; ++k) S.after(lambda, k, H + 6 * k);
  for (int k = 0; k < dof; ++k)
    for (int l = 0; l < dof; ++l) {
      D_[dof * k + l] = S.transposed_times(l, H + 6 * k);
      if (in.kappa) D_[dof * k + l] += in.kappa[(*tree_)[n.link].block + dof * k + l];
    }
  if (dof && !invert_small(D_, dof)) bad_node_ = i;
  for (int k = 0; k < dof; ++k) {
    for (int l = 0; l < 6; ++l) u[6 * k + l] = 0;
    for (int j = 0; j < dof; ++j)
      for (int l = 0; l < 6; ++l) u[6 * k + l] += H[6 * j + l] * D_[dof * k + j];
  }
  for (int k = 0; k < dof; ++k) add_outer(lambda, u + 6 * k, H + 6 * k, -1);
  if (n.is_root()) return;

  // B's bottom through the joint: N, K'ᵀ, Ω'
  alignas(16) double Kb[36], Kbt[36], ND[36];
  if (two) {
    const double* b3 = n.b_out ? bottom(n.b) : nullptr;
    double* omega = third + at::omega;
    if (b3) {
      std::memcpy(Kb, b3 + at::K, block_bytes);
      std::memcpy(omega, b3 + at::omega, block_bytes);
    } else {
      Eigen::Map<Mat6>{Kb}.setIdentity();
      std::memset(omega, 0, block_bytes);
    }
    alignas(16) double N[36];
    for (int k = 0; k < dof; ++k) S.after(Kb, k, N + 6 * k);
    for (int k = 0; k < dof; ++k) {
      for (int l = 0; l < 6; ++l) ND[6 * k + l] = 0;
      for (int j = 0; j < dof; ++j)
        for (int l = 0; l < 6; ++l) ND[6 * k + l] += N[6 * j + l] * D_[dof * k + j];
    }
    for (int k = 0; k < dof; ++k) {
      add_outer(Kb, N + 6 * k, u + 6 * k, -1);
      add_outer(omega, ND + 6 * k, N + 6 * k, 1);
      std::memcpy(y_1 + 6 * k, ND + 6 * k, 6 * sizeof(double));
    }
    transpose(Kb, Kbt);
  }

  const double* A = data(n.a);
  double* M0 = d + at::M0;
  double* M1 = two ? third + at::M1 : nullptr;
  if (!below) {
    // p = u: ã = Fᵀa
    Eigen::Map<Mat6> Ft(M0);
    Ft.setZero();
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) Ft(j, k) = Ft(3 + j, 3 + k) = X[3 * j + k];
    // −Rᵀ[p]: column k of [p] is p × e_k
    const double* p = X + 9;
    for (int j = 0; j < 3; ++j) {
      const double* R = X + 3 * j;
      Ft(3 + j, 0) = -(R[1] * p[2] - R[2] * p[1]);
      Ft(3 + j, 1) = -(R[2] * p[0] - R[0] * p[2]);
      Ft(3 + j, 2) = -(R[0] * p[1] - R[1] * p[0]);
    }
    congruence_back(lambda, X, d + at::lambda);
    add_block(d + at::lambda, A + at::lambda);
    for (int k = 0; k < dof; ++k) force_in(X, u + 6 * k, y_0 + 6 * k);
    if (two) {
      times_force_transposed(Kb, X, third + at::K);
      std::memset(M1, 0, block_bytes);
    }
  } else {
    // p below u: ã = J₀a + J₁f + j
    const double* a3 = bottom(n.a);
    alignas(16) double Kt[36], Kh[36], Om[36], left[36], t[36];
    transpose(a3 + at::K, t);
    times_force(t, X, Kt);
    transpose(Kt, Kh);
    congruence(a3 + at::omega, X, left, Om);
    double* R = d + at::R;
    multiply<1, false>(Om, lambda, R);
    for (int k = 0; k < 6; ++k) R[7 * k] += 1;
    if (!invert(R)) bad_node_ = i;
    multiply<1, false>(R, Kh, M0);
    for (int k = 0; k < dof; ++k) apply_transposed(M0, u + 6 * k, y_0 + 6 * k);
    multiply<1, false>(lambda, M0, d + at::C0);
    std::memcpy(d + at::lambda, A + at::lambda, block_bytes);
    multiply<1, true>(Kt, d + at::C0, d + at::lambda);
    symmetrize(d + at::lambda);
    if (two) {
      alignas(16) double T[36];
      multiply<1, false>(R, Om, T);
      multiply<1, false>(T, Kbt, M1);
      for (int k = 0; k < dof; ++k) {
        apply_transposed(M1, u + 6 * k, t);
        for (int l = 0; l < 6; ++l) y_1[6 * k + l] -= t[l];
      }
      multiply<1, false>(Kb, R, t);
      transpose(t, third + at::C1);
      multiply<1, false>(Kb, M0, third + at::K);
      multiply<1, true>(Kb, M1, third + at::omega);
      symmetrize(third + at::omega);
    }
  }
  for (int k = 0; k < dof; ++k) {
    S.add_rows(M0, k, y_0 + 6 * k, -1);
    if (two) S.add_rows(M1, k, y_1 + 6 * k, 1);
  }
  if (!two) return;
  // X01: the bottom's pose in the top's frame
  double* X01 = third + at::X01;
  alignas(16) double to_c[12];
  if (below)
    compose(bottom(n.a) + at::X01, X, to_c);
  else
    std::memcpy(to_c, X, sizeof to_c);
  if (n.b_out)
    compose(to_c, bottom(n.b) + at::X01, X01);
  else
    std::memcpy(X01, to_c, sizeof to_c);
}

void Coefficients::update_totals(int i, const JointInput& in) {
  const AssemblyNode& n = node(i);
  if (n.is_root()) return;
  double* d = data(i);
  const bool two = n.handles == 2, a_joints = !node(n.a).is_leaf(), b_joints = !node(n.b).is_leaf();
  const bool below = n.a_join != 0;  // A has joints then
  double* third = two ? const_cast<double*>(bottom(i)) : nullptr;
  double* psi0 = d + at::psi0;
  double* psi1 = two ? third + at::psi1 : nullptr;
  double* psi01 = two ? third + at::psi01 : nullptr;
  alignas(16) double Z[36], Mt[36], Q[36];
  const auto add_both = [](double* psi, const double* N) {  // psi += N + Nᵀ
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 6; ++k) psi[6 * j + k] += N[6 * j + k] + N[6 * k + j];
  };

  if (a_joints)
    std::memcpy(psi0, data(n.a) + at::psi0, block_bytes);
  else
    std::memset(psi0, 0, block_bytes);
  if (two) {
    std::memset(psi01, 0, block_bytes);
    if (n.b_out)
      std::memcpy(psi1, bottom(n.b) + at::psi1, block_bytes);
    else
      std::memset(psi1, 0, block_bytes);
  }
  if (b_joints) {
    const double* P = data(n.b) + at::psi0;
    transpose(d + at::M0, Mt);
    multiply<1, false>(P, d + at::M0, Z);
    multiply<1, true>(Mt, Z, psi0);
    if (two) {
      const double* M1 = third + at::M1;
      const double* P01 = n.b_out ? bottom(n.b) + at::psi01 : nullptr;
      multiply<1, false>(P, M1, Z);
      for (int k = 0; k < 36; ++k) Q[k] = 0.5 * Z[k];
      if (P01)
        for (int k = 0; k < 36; ++k) Z[k] += P01[k], Q[k] += P01[k];
      multiply<1, true>(Mt, Z, psi01);
      transpose(M1, Mt);
      multiply<1, false>(Mt, Q, Z);
      add_both(psi1, Z);
    }
  }
  if (below) {
    const double* a3 = bottom(n.a);
    alignas(16) double P1[36], P01[36], P01t[36];
    congruence(a3 + at::psi1, d + at::X, Z, P1);
    times_force(a3 + at::psi01, d + at::X, P01);
    transpose(P01, P01t);
    const double* C0 = d + at::C0;
    multiply<1, false>(P1, C0, Z);
    for (int k = 0; k < 36; ++k) Z[k] = 0.5 * Z[k] - P01t[k];
    transpose(C0, Mt);
    multiply<1, false>(Mt, Z, Q);
    add_both(psi0, Q);
    if (two) {
      const double* C1 = third + at::C1;
      multiply<1, false>(P1, C1, Z);
      multiply<-1, true>(Mt, Z, psi01);
      multiply<1, true>(P01, C1, psi01);
      transpose(C1, Mt);
      multiply<1, true>(Mt, Z, psi1);
    }
  }
  const int dof = dofs(i);
  for (int k = 0; k < dof; ++k) {
    const double weight = in.weight[(*tree_)[n.link].v + k];
    const double w = weight * weight;
    const double* ya = y0(i) + 6 * k;
    add_outer(psi0, ya, ya, w);
    if (!two) continue;
    const double* yb = y1(i) + 6 * k;
    add_outer(psi1, yb, yb, w);
    add_outer(psi01, ya, yb, -w);
  }
}

void Coefficients::join_bias(int i, const double* q, const double* tau, const Vec3& gravity,
                             const BiasOfHalves& half, const Bias& out) const {
  const AssemblyNode& n = node(i);
  const double* d = data(i);
  const double* X = d + at::X;
  const bool below = n.a_join != 0, root = n.is_root();
  const int dof = dofs(i);
  const Subspace S(*tree_, n.link, dof, q);
  const double* u = U(i);
  const double* D_ = D(i);

  // s, ζ', j
  alignas(16) double zeta[6], j[6] = {}, t[6], g[6];
  std::memcpy(zeta, half.zeta_b, sizeof zeta);
  double s[6];
  for (int k = 0; k < dof; ++k) s[k] = (tau ? tau[k] : 0) - S.transposed_times(k, half.zeta_b);
  for (int k = 0; k < dof; ++k)
    for (int l = 0; l < 6; ++l) zeta[l] += u[6 * k + l] * s[k];
  if (root) {  // the world accelerates with −g
    const double a0[6] = {0, 0, 0, -gravity[0], -gravity[1], -gravity[2]};
    motion_out(X, a0, j);
  } else if (below) {
    force_in(X, zeta, t);
    apply(bottom(n.a) + at::omega, t, g);
    for (int k = 0; k < 6; ++k) t[k] = half.alpha_a[k] - g[k];
    motion_out(X, t, g);
    apply(d + at::R, g, j);
  }
  // r, m
  for (int k = 0; k < dof; ++k) {
    out.r[k] = -dot(u + 6 * k, j);
    for (int l = 0; l < dof; ++l) out.r[k] += D_[dof * l + k] * s[l];
  }
  std::memcpy(out.m, j, sizeof j);
  S.times(out.r, out.m);
  if (root) return;
  // c, ζ, α
  if (below) {
    apply(data(n.b) + at::lambda, j, t);
    double back[6];
    for (int k = 0; k < dof; ++k) back[k] = S.transposed_times(k, t);
    for (int k = 0; k < dof; ++k)
      for (int l = 0; l < 6; ++l) t[l] -= u[6 * k + l] * back[k];
    for (int k = 0; k < 6; ++k) out.c[k] = t[k] + zeta[k];
    force_in(X, out.c, g);
    apply_transposed(bottom(n.a) + at::K, g, t);
  } else {
    force_in(X, zeta, t);
  }
  for (int k = 0; k < 6; ++k) out.zeta[k] = half.zeta_a[k] + t[k];
  if (n.handles != 2) return;
  if (n.b_out) {
    apply(bottom(n.b) + at::K, out.m, t);
    for (int k = 0; k < 6; ++k) out.alpha[k] = half.alpha_b[k] + t[k];
  } else {
    std::memcpy(out.alpha, out.m, 6 * sizeof(double));
  }
}

void Coefficients::update_bias(int i, const JointInput& in, bool totals) {
  const AssemblyNode& n = node(i);
  if (n.is_leaf()) return;
  double* d = data(i);
  const double* X = d + at::X;
  const double* B = data(n.b);
  const bool two = n.handles == 2, below = n.a_join != 0, root = n.is_root();
  double* third = two ? const_cast<double*>(bottom(i)) : nullptr;
  const int dof = dofs(i);
  double* r_ = const_cast<double*>(r(i));
  const double* m = d + at::m;
  const double* c = d + at::c;
  const double* weight = dof ? in.weight + (*tree_)[n.link].v : nullptr;
  BiasOfHalves half;
  half.zeta_b = B + at::zeta;
  if (two && n.b_out) half.alpha_b = bottom(n.b) + at::alpha;
  if (!root) half.zeta_a = data(n.a) + at::zeta;
  if (below) half.alpha_a = bottom(n.a) + at::alpha;
  join_bias(i, in.q, dof ? in.tau + (*tree_)[n.link].v : nullptr, in.gravity, half,
            {d + at::zeta, two ? third + at::alpha : nullptr, d + at::m, below ? d + at::c : nullptr, r_});
  if (!totals) return;

  // z, x, p, η
  const bool a_joints = !root && !node(n.a).is_leaf(), b_joints = !node(n.b).is_leaf();
  double eta = 0;
  for (int k = 0; k < dof; ++k) eta += (weight[k] * r_[k]) * (weight[k] * r_[k]);
  alignas(16) double z[6] = {}, x[6] = {}, t[6], g[6];
  double* p_0 = d + at::p0;
  double* p_1 = two ? third + at::p1 : nullptr;
  for (int k = 0; k < 6; ++k) p_0[k] = a_joints ? data(n.a)[at::p0 + k] : 0;
  if (a_joints) eta += data(n.a)[at::eta];
  if (two)
    for (int k = 0; k < 6; ++k) p_1[k] = n.b_out ? bottom(n.b)[at::p1 + k] : 0;
  if (b_joints) {
    apply(B + at::psi0, m, t);
    eta += B[at::eta] + (dot(m, t) + dot(m, B + at::p0));
    for (int k = 0; k < 6; ++k) z[k] = 2 * t[k] + B[at::p0 + k];
    apply_transposed(d + at::M0, z, t);
    for (int k = 0; k < 6; ++k) p_0[k] += t[k];
    if (two) {
      apply_transposed(third + at::M1, z, t);
      for (int k = 0; k < 6; ++k) p_1[k] += t[k];
      if (n.b_out) {
        apply_transposed(bottom(n.b) + at::psi01, m, t);
        for (int k = 0; k < 6; ++k) p_1[k] += 2 * t[k];
      }
    }
  }
  if (below) {
    const double* a3 = bottom(n.a);
    force_in(X, c, g);
    apply(a3 + at::psi1, g, x);
    eta += dot(g, x) - dot(g, a3 + at::p1);
    alignas(16) double back[6];
    for (int k = 0; k < 6; ++k) x[k] = 2 * x[k] - a3[at::p1 + k];
    motion_out(X, x, back);
    apply_transposed(d + at::C0, back, t);
    for (int k = 0; k < 6; ++k) p_0[k] += t[k];
    apply(a3 + at::psi01, g, t);
    for (int k = 0; k < 6; ++k) p_0[k] -= 2 * t[k];
    if (two) {
      apply_transposed(third + at::C1, back, t);
      for (int k = 0; k < 6; ++k) p_1[k] -= t[k];
    }
  }
  if (!root)
    for (int k = 0; k < dof; ++k) {
      const double w = 2 * weight[k] * weight[k] * r_[k];
      const double* ya = y0(i) + 6 * k;
      for (int l = 0; l < 6; ++l) p_0[l] -= w * ya[l];
      if (!two) continue;
      const double* yb = y1(i) + 6 * k;
      for (int l = 0; l < 6; ++l) p_1[l] += w * yb[l];
    }
  d[at::eta] = eta;
}

void Coefficients::update_shape(int i, const JointInput& in, bool moved, bool totals) {
  if (node(i).is_leaf()) return;
  if (moved) place_joint(i, in.q);
  update_matrices(i, in);
  if (totals) update_totals(i, in);
}

void Coefficients::update_all(const JointInput& in, bool totals, multibody::Workers* workers) {
  const int n = static_cast<int>(assembly_->nodes.size());
  bad_node_ = -1;
  const auto visit = [&](int i) {
    update_shape(i, in, true, totals);
    update_bias(i, in, totals);
  };
  if (!workers) {
    for (int i = 0; i < n; ++i) visit(i);
    return;
  }
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, cut_.subtrees.size(), [&](std::size_t k) {
      for (int i = cut_.subtrees[k].begin; i < cut_.subtrees[k].end; ++i) visit(i);
    });
  });
  for (const int i : cut_.top) visit(i);
}

}  // namespace limber::adaptive
