// Free bodies that a thread carries. A body that is fixed to a node moves with it as x + F ξ, with F a
// rotation: so its inertia is a constant mass of the node's twelve numbers,
//
//   μ ⊗ 1,   μ = ∫ρ (1, ξ)(1, ξ)ᵀ = ( m     m ξ̄ᵀ )
//                                    ( m ξ̄  ∫ρξξᵀ )
//
// in any axes, its weight a constant force, and the node's stretch U stays 1. With A = PᵀδF = [θ] + V that is
// V = 0: the symmetric part of A is taken out of the equations by the projector S onto what is left, S D S +
// k (1 − S).
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

// Row r of the symmetric part of A is that of its partner: x_,y's x with x_,x's y and so on; −1: of x.
int partner(int r) { return r < 3 ? -1 : 3 + 3 * ((r - 3) % 3) + (r - 3) / 3; }

// v → S v over numbers `stride` apart.
void project(double* v, int stride) {
  for (int r = 3; r < 12; ++r) {
    const int q = partner(r);
    if (q < r) continue;
    const double half = r == q ? 0 : 0.5 * (v[r * stride] - v[q * stride]);
    v[r * stride] = half;
    v[q * stride] = -half;
  }
}

}  // namespace

Eigen::Matrix4d carried_mass(const Inertia& inertia, const Pose& X_NB) {
  const Vec3 com = X_NB * inertia.com();
  const Mat3 I = inertia.about_com();
  const Mat3 spread = X_NB.R * (0.5 * I.trace() * Mat3::Identity() - I) * X_NB.R.transpose();
  Eigen::Matrix4d mu;
  mu(0, 0) = inertia.m;
  mu.block<1, 3>(0, 1) = inertia.m * com.transpose();
  mu.block<3, 1>(1, 0) = inertia.m * com;
  mu.block<3, 3>(1, 1) = spread + inertia.m * com * com.transpose();
  return mu;
}

void add_carried_mass(const WorkspaceData& w, ElementArrays& a) {
  for (const CarriedNode& c : w.carried)
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 3; ++i)
          a.D[144 * static_cast<std::size_t>(c.node) + 12 * (3 * p + i) + 3 * q + i] +=
              a.weight[0][c.node] * c.mu(p, q);
}

void carried_mass_times(const WorkspaceData& w, const double* y, double* out) {
  for (const CarriedNode& c : w.carried)
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 4; ++q)
        for (int i = 0; i < 3; ++i) out[12 * c.node + 3 * p + i] += c.mu(p, q) * y[12 * c.node + 3 * q + i];
}

void hold_carried(const WorkspaceData& w, double* rhs, bool matrix, ElementArrays& a) {
  for (const CarriedNode& c : w.carried) {
    project(rhs + 12 * c.node, 1);
    if (!matrix) continue;
    const auto block = static_cast<std::size_t>(c.node) * 144;
    double *D = a.D.data() + block, most = 0;
    // Of D the upper triangle counts.
    for (int r = 0; r < 12; ++r)
      for (int k = 0; k < r; ++k) D[12 * r + k] = D[12 * k + r];
    for (int k = 3; k < 12; ++k) most = std::max(most, D[13 * k]);
    for (int k = 0; k < 12; ++k) project(D + k, 12);
    for (int r = 0; r < 12; ++r) project(D + 12 * r, 1);
    for (int r = 3; r < 12; ++r) {
      const int q = partner(r);
      D[13 * r] += r == q ? most : 0.5 * most;
      if (r != q) D[12 * r + q] += 0.5 * most;
    }
    for (int k = 0; k < 12; ++k) {
      project(a.O.data() + block + k, 12);
      if (c.node > 0) project(a.O.data() + block - 144 + 12 * k, 1);
    }
  }
}

void place_carried(const SystemData& s, const State& state, const double* e, std::vector<Pose>& X_WB) {
  for (const Carried& c : s.carried) {
    const double* q = e + 12 * node_at(state, c.thread, c.place);
    Pose X_WN;
    for (int i = 0; i < 3; ++i) {
      X_WN.p[i] = q[i];
      for (int k = 0; k < 3; ++k) X_WN.R(i, k) = q[3 + 3 * k + i];
    }
    X_WB[c.body] = X_WN * c.X_NB;
  }
}

// x' + F' ξ, and the turn of F' = [ω] F.
CarriedRate carried_rate(const State& state, const Carried& c, const Vec3& p_B) {
  const int at = 12 * node_at(state, c.thread, c.place);
  const Vec3 xi = c.X_NB * p_B;
  CarriedRate out;
  Vec3 F[3], v[3];
  for (int k = 0; k < 3; ++k)
    for (int i = 0; i < 3; ++i) F[k][i] = state.e[at + 3 + 3 * k + i], v[k][i] = state.v[at + 3 + 3 * k + i];
  for (int i = 0; i < 3; ++i)
    out.velocity[i] = state.v[at + i] + v[0][i] * xi[0] + v[1][i] * xi[1] + v[2][i] * xi[2];
  out.turn = 0.5 * (F[0].cross(v[0]) + F[1].cross(v[1]) + F[2].cross(v[2]));
  return out;
}

const Carried* carried_body(const SystemData& s, int body) {
  for (const Carried& c : s.carried)
    if (c.body == body) return &c;
  return nullptr;
}

}  // namespace limber::thread
