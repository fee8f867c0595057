// Bushings: V = ½ xᵀKx with x = (θ, p), θ = log R_FM, p the origin of M in F (model/joint.h). With the rates
// (ω, v) of M against F, seen in M: θ̇ = J_r⁻¹(θ) ω, ṗ = R_FM v, so that
//
//   ẋ = G (ω, v),   G = diag(J_r⁻¹, R_FM),   force on the rates −Gᵀ(Kx + Cẋ),   H₊ = GᵀKG,   D = GᵀCG.
//
// The force acts on b at M's origin and against it on a at the same point.
#include <algorithm>

#include "limber/articulated/system.h"
#include "limber/math/so3.h"

namespace limber::articulated {
namespace {

struct BushingAt {
  Pose X_WM, X_FM;
  Vec6 x;
  Mat6 G = Mat6::Zero();

  BushingAt(const CompiledBushing& b, const std::vector<LinkMotion>& links) {
    const Pose X_WF = b.a >= 0 ? links[b.a].X_WM * b.X_AF : b.X_AF;
    X_WM = b.b >= 0 ? links[b.b].X_WM * b.X_BM : b.X_BM;
    X_FM = {X_WF.R.transpose() * X_WM.R, X_WF.R.transpose() * (X_WM.p - X_WF.p)};
    const Vec3 theta = math::so3_log(X_FM.R);
    x << theta, X_FM.p;
    G.topLeftCorner<3, 3>() = math::so3_jacobian_inverse(theta);
    G.bottomRightCorner<3, 3>() = X_FM.R;
  }

  // A link's twist at M's origin, in M's axes.
  Vec6 twist_of(int link, const std::vector<LinkMotion>& links) const {
    return twist_seen_in(X_WM.R, X_WM.p, link, links);
  }

  // Rates (ω, v) from the twist of a link at its origin; `R`: axes of that twist in the world.
  Mat6 rates_from(const Vec3& origin, const Mat3& R) const {
    const Mat3 turn = X_WM.R.transpose() * R;
    Mat6 J = Mat6::Zero();
    J.topLeftCorner<3, 3>() = J.bottomRightCorner<3, 3>() = turn;
    J.bottomLeftCorner<3, 3>() = -X_WM.R.transpose() * math::skew(X_WM.p - origin) * R;
    return J;
  }
};

// Force on the rates, with `ahead` of what the stiffness will add; blocks.
struct BushingForce {
  Vec6 force;
  Mat6 Q;
  double power = 0;  // [W] that dampers take
  BushingForce(const CompiledBushing& b, const BushingAt& at, const Weights& weights,
               const std::vector<LinkMotion>& links) {
    const Vec6 x_rate = at.G * (at.twist_of(b.b, links) - at.twist_of(b.a, links));
    force = -(at.G.transpose() * (b.K * (at.x + weights.ahead * x_rate) + b.C * x_rate));
    Q = at.G.transpose() * (weights.k * b.K + weights.d * b.C) * at.G;
    power = x_rate.dot(b.C * x_rate);
  }
};

}  // namespace

void compile_bushings(SystemData& s) {
  for (const Bushing& x : s.model.bushings()) {
    CompiledBushing b;
    b.a = x.a.value, b.b = x.b.value;
    b.X_AF = b.a >= 0 ? s.tree[b.a].X_MB * x.X_AF : x.X_AF;
    b.X_BM = b.b >= 0 ? s.tree[b.b].X_MB * x.X_BM : x.X_BM;
    b.K = 0.5 * (x.stiffness + x.stiffness.transpose());
    b.C = 0.5 * (x.damping + x.damping.transpose());
    if (b.a >= 0 && b.b >= 0) {
      b.pair = pair_of(s, b.a, b.b);
    } else {
      const int link = std::max(b.a, b.b);
      add_body_block(s, link, true);
      b.block = s.body_block_index[link];
    }
    s.bushings.push_back(b);
  }
}

void add_ground_bushings(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  for (const CompiledBushing& b : s.bushings) {
    if (b.block < 0) continue;
    const BushingAt at(b, w.links);
    const BushingForce f(b, at, weights, w.links);
    const int link = std::max(b.a, b.b);
    const Mat6 J = at.rates_from(w.links[link].X_WM.p, w.links[link].X_WM.R);
    w.wrench[link] += (b.b >= 0 ? 1 : -1) * (J.transpose() * f.force);
    w.body_block[b.block] += J.transpose() * f.Q * J;
    w.dissipated_power += f.power;
  }
}

void add_pair_bushings(const SystemData& s, const Weights& weights, WorkspaceData& w) {
  multibody::BlockSystem& m = w.blocks->system;
  for (const CompiledBushing& b : s.bushings) {
    if (b.pair < 0) continue;
    const BushingAt at(b, w.links);
    const BushingForce f(b, at, weights, w.links);
    const Pose &A = w.links[b.a].X_WM, &B = w.links[b.b].X_WM;
    w.wrench[b.a] -= at.rates_from(A.p, A.R).transpose() * f.force;
    w.wrench[b.b] += at.rates_from(B.p, B.R).transpose() * f.force;
    w.dissipated_power += f.power;
    if (!weights.matrix) continue;
    const Mat6 J_a = at.rates_from(A.p, Mat3::Identity()), J_b = at.rates_from(B.p, Mat3::Identity());
    m.diagonal[b.a] += J_a.transpose() * f.Q * J_a;
    m.diagonal[b.b] += J_b.transpose() * f.Q * J_b;
    m.off[b.pair] -= b.a < b.b ? Mat6(J_a.transpose() * f.Q * J_b) : Mat6(J_b.transpose() * f.Q * J_a);
  }
}

double bushing_energy(const SystemData& s, const std::vector<LinkMotion>& links) {
  double sum = 0;
  for (const CompiledBushing& b : s.bushings) {
    const Vec6 x = BushingAt(b, links).x;
    sum += 0.5 * x.dot(b.K * x);
  }
  return sum;
}

}  // namespace limber::articulated
