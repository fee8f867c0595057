// With s an axis of joint c (world axes), f_c the wrench of all that hangs on it, and dF_i the change of body
// i's wrench seen by a resting observer, −δτ·b = −Σ ψ_i·dF_i(φ) − Σ_c f_c·(φ_p × S b) − Σ_c f_c·S̊(a) b for
// motions φ = J a, ψ = J b. The symmetric part of it is: blocks −sym dF_i on bodies, the coupling
// c = −½ s ×* f_c between a joint's rate and its parent's twist, and a block from S̊ on the joint.
#include "limber/articulated/tangent.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"

namespace limber::articulated {
namespace {

using multibody::BlockSystem;
using multibody::Link;

class Assembly {
 public:
  // `material`: the stiffness of springs and joint laws alone, positive semidefinite.
  Assembly(const SystemData& s, const double* q, WorkspaceData& w, BlockSystem& K, bool material = false)
      : s_(s), q_(q), w_(w), K_(K), material_(material) {}

  // A force at r (from the link's origin) that keeps its direction: dF = (δx × f; 0), δx = v + ω × r.
  void dead_force(int link, const Vec3& r, const Vec3& f) {
    if (link < 0) return;
    const Mat3 F = math::skew(f), R = math::skew(r);
    const Mat3 FR = F * R;
    Mat6& A = K_.diagonal[link];
    A.topLeftCorner<3, 3>() -= 0.5 * (FR + FR.transpose());
    A.topRightCorner<3, 3>() += 0.5 * F;
    A.bottomLeftCorner<3, 3>() -= 0.5 * F;
  }

  // One that turns with the link: (δx × f + r × (ω × f); ω × f).
  void following_force(int link, const Vec3& r, const Vec3& f) {
    dead_force(link, r, f);
    Mat6 N = Mat6::Zero();
    N.topLeftCorner<3, 3>() = math::skew(r) * math::skew(f);
    N.bottomLeftCorner<3, 3>() = math::skew(f);
    K_.diagonal[link] += 0.5 * (N + N.transpose());
  }

  void load(const CompiledLoad& l, double share, double t) {
    const Mat3& R = w_.links[l.at.link].X_WM.R;
    const Vec3 f = share * l.force.value(t);
    if (l.follows)
      following_force(l.at.link, R * l.at.p, R * (l.R_MB * f));
    else
      dead_force(l.at.link, R * l.at.p, f);
  }

  void weight_and_loads(double t) {
    const Vec3 g = w_.weight * s_.model.gravity().value(t);
    for (int i = 0; i < s_.tree.size(); ++i) {
      const Inertia& I = s_.tree[i].inertia;
      if (I.m > 0) dead_force(i, w_.links[i].X_WM.R * (I.h / I.m), I.m * g);
    }
    for (const CompiledLoad& l : s_.loads) load(l, w_.load, t);
    for (const CompiledRider& rider : s_.riders) {
      RiderShare shares[2];
      const int n = rider_shares(rider, t, shares);
      for (int k = 0; k < n; ++k)
        dead_force(shares[k].link, w_.links[shares[k].link].X_WM.R * shares[k].p,
                   shares[k].share * rider.mass * g);
    }
  }

  // Drag keeps its direction; its size follows the area that the shape shows, by differences.
  void wind(double t) {
    if (s_.wind_shapes.empty()) return;
    const Wind& wind = *s_.model.wind();
    const Vec3 air = wind.velocity.value(t);
    const double speed = air.norm();
    if (speed == 0) return;
    const double c = w_.load * 0.5 * wind.air_density * wind.drag_coefficient;
    constexpr double h = 1e-5;
    for (const WindShape& shape : s_.wind_shapes) {
      const Mat3& R = w_.links[shape.link].X_WM.R;
      const Vec3 r = R * shape.X_MG.p;
      const auto area = [&](const Vec3& turn) {
        return projected_area(shape.geometry, shape.X_MG.R.transpose() *
                                                  (R.transpose() * (math::so3_exp(-turn) * air)) / speed);
      };
      dead_force(shape.link, r, c * area(Vec3::Zero()) * speed * air);
      Vec3 slope;
      for (int k = 0; k < 3; ++k) slope[k] = (area(h * Vec3::Unit(k)) - area(-h * Vec3::Unit(k))) / (2 * h);
      const Mat3 D = c * speed * air * slope.transpose();  // ∂f/∂ω
      Mat6 N = Mat6::Zero();
      N.topLeftCorner<3, 3>() = -math::skew(r) * D;
      N.bottomLeftCorner<3, 3>() = -D;
      K_.diagonal[shape.link] += 0.5 * (N + N.transpose());
    }
  }

  void spring(const elastic::SpringParameters& law, const LinkPoint& a, const LinkPoint& b, int pair) {
    const auto arm = [&](const LinkPoint& at) {
      return at.link < 0 ? at.p : Vec3(w_.links[at.link].X_WM.R * at.p);
    };
    const auto place = [&](const LinkPoint& at) {
      return at.link < 0 ? at.p : Vec3(w_.links[at.link].X_WM * at.p);
    };
    const Vec3 r_a = arm(a), r_b = arm(b);
    const auto line = elastic::spring_line(law, place(b) - place(a), Vec3::Zero(), material_);
    const Mat3 Q = line.K();
    if (a.link >= 0) K_.diagonal[a.link] += between(r_a, Q, r_a);
    if (b.link >= 0) K_.diagonal[b.link] += between(r_b, Q, r_b);
    if (pair >= 0) off(pair, a.link, b.link, -between(r_a, Q, r_b));
    if (material_) return;
    dead_force(a.link, r_a, line.pull);
    dead_force(b.link, r_b, -line.pull);
  }

  void springs() {
    for (const GroundSpring& g : s_.ground_springs) spring(g.law, g.at, {-1, g.anchor_W}, -1);
    for (const PairSpring& p : s_.pair_springs) spring(p.law, p.a, p.b, p.pair);
    for (const CompiledBushing& b : s_.bushings) bushing(b);
  }

  void joints() {
    std::fill(K_.joint.begin(), K_.joint.end(), 0.0);
    for (int i = 0; i < s_.tree.size(); ++i) {
      const Link& link = s_.tree[i];
      const int d = link.dofs;
      double* B = K_.joint.data() + link.block;
      if (!has_rotation_vector(link.kind)) {
        for (int k = 0; k < d; ++k) B[k * d + k] += s_.stiffness[link.v + k];
        continue;
      }
      if (!s_.has_rotation_law[i]) continue;
      const elastic::JointConfiguration c = elastic::configuration_of(link.kind, q_ + link.q);
      const JointLaw& law = s_.model.joints()[i].law;
      const Mat6 H = material_ ? elastic::joint_hessian_psd(link.kind, law, c)
                               : elastic::joint_hessian(link.kind, law, c);
      for (int k = 0; k < d; ++k)
        for (int l = 0; l < d; ++l) B[l * d + k] += 0.5 * (H(k, l) + H(l, k));
    }
    add_extra_stiffness(s_, q_, material_, K_.joint);
    for (const CompiledDrive& drive : s_.drives) {
      if (drive.drive.kind != Drive::Kind::servo) continue;
      const Link& link = s_.tree[drive.link];
      const ServoState* state = w_.servo.data() + 6 * (&drive - s_.drives.data());
      for (int k = 0; k < link.dofs; ++k)
        if (state[k] == ServoState::linear) K_.joint[link.block + k * link.dofs + k] += drive.drive.kp[k];
    }
  }

  // The laws of closing joints, and λ · Hess(gap).
  void loop_laws(const std::vector<LoopState>& loops, const std::vector<int>& loop_pair) {
    for (std::size_t l = 0; l < s_.loops.size(); ++l) loop_law(static_cast<int>(l), loops[l], loop_pair[l]);
  }
  void loop_geometries(const std::vector<LoopState>& loops, const std::vector<Vec6>& lambda,
                       const std::vector<int>& loop_pair) {
    for (std::size_t l = 0; l < s_.loops.size(); ++l)
      loop_geometry(s_.loops[l], loops[l], lambda[l], loop_pair[l]);
  }

  // Couplings and S̊ blocks; F: world axes at the links' origins, with everything in it. F is used up.
  void joint_geometry(std::vector<Vec6>& F) {
    K_.coupling.assign(6 * static_cast<std::size_t>(s_.tree.v_count()), 0.0);
    for (int i = s_.tree.size() - 1; i >= 0; --i) {
      const Link& link = s_.tree[i];
      const Mat3& R = w_.links[i].X_WM.R;
      if (multibody::axes_turn(link.kind)) {
        Vec6 f;
        f << R.transpose() * F[i].head<3>(), R.transpose() * F[i].tail<3>();
        Eigen::Map<Eigen::MatrixXd> B(K_.joint.data() + link.block, link.dofs, link.dofs);
        add_axes_rate(link.kind, q_ + link.q, f, B);
      }
      if (link.parent < 0) continue;
      const Vec3 r = K_.origin[i] - K_.origin[link.parent];
      for (int k = 0; k < link.dofs; ++k) {
        const Vec6 s = Eigen::Map<const Vec6>(K_.S.data() + 6 * (link.v + k));
        Eigen::Map<Vec6>{K_.coupling.data() + 6 * (link.v + k)} =
            multibody::shift_wrench(-0.5 * cross_force(s, F[i]), r);
      }
      F[link.parent] += multibody::shift_wrench(F[i], r);
    }
  }

  void add_mass(double mass) {
    for (int i = 0; i < s_.tree.size(); ++i)
      K_.diagonal[i] += mass * multibody::world_inertia(s_.tree[i].inertia, w_.links[i].X_WM.R);
  }

  void augment(double rho, const std::vector<int>& loop_pair) {
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      const CompiledLoop& loop = s_.loops[l];
      const int n = K_.loops[l].rows;
      const auto Ga = K_.loops[l].on_a.topRows(n), Gb = K_.loops[l].on_b.topRows(n);
      const Vec6 weights = augment_weights(s_, static_cast<int>(l), K_.loops[l], rho);
      const auto weight = weights.head(n).asDiagonal();
      if (loop.a >= 0) K_.diagonal[loop.a] += Ga.transpose() * weight * Ga;
      if (loop.b >= 0) K_.diagonal[loop.b] += Gb.transpose() * weight * Gb;
      if (loop_pair[l] >= 0) off(loop_pair[l], loop.a, loop.b, Ga.transpose() * weight * Gb);
    }
  }

 private:
  static Mat6 between(const Vec3& r, const Mat3& Q, const Vec3& r2) {
    Mat6 out;
    out << -math::skew(r) * Q * math::skew(r2), math::skew(r) * Q, -Q * math::skew(r2), Q;
    return out;
  }
  // Adds a block with rows of link a and columns of link b.
  void off(int pair, int a, int b, const Mat6& block) {
    if (a < b)
      K_.off[pair] += block;
    else
      K_.off[pair] += block.transpose();
  }
  Vec3 arm(int link, const Vec3& p) const { return link < 0 ? p : Vec3(p - w_.links[link].X_WM.p); }

  void loop_law(int l, const LoopState& at, int pair) {
    const CompiledLoop& loop = s_.loops[l];
    if (!loop.has_law) return;
    const int d = dof_count(loop.kind);
    const Vec6 force = loop_force(s_, l, at, Vec6::Zero());
    const Mat6 H = loop_hessian(loop, at, force);
    const multibody::Subspace S = multibody::closing_axes(loop.joint(), at.q);
    Mat6 on_a = Mat6::Zero(), on_b = Mat6::Zero();
    for (int k = 0; k < d; ++k) {
      Vec6 axis;
      axis << at.R_WM * S.col(k).head<3>(), at.R_WM * S.col(k).tail<3>();
      on_a.col(k) = multibody::shift_wrench(axis, arm(loop.a, at.p_W));
      on_b.col(k) = multibody::shift_wrench(axis, arm(loop.b, at.p_W));
    }
    Mat6 Q = Mat6::Zero();
    Q.topLeftCorner(d, d) = H.topLeftCorner(d, d);
    if (loop.a >= 0) K_.diagonal[loop.a] += on_a * Q * on_a.transpose();
    if (loop.b >= 0) K_.diagonal[loop.b] += on_b * Q * on_b.transpose();
    if (pair >= 0) off(pair, loop.a, loop.b, -on_a * Q * on_b.transpose());
    if (material_) return;
    if (pair >= 0) {
      // Turned by α at a and β at b, R changes by β − α − ½ α × β: the torque g of the law adds −½ g·(α × β).
      Mat6 block = Mat6::Zero();
      block.topLeftCorner<3, 3>() = -0.5 * math::skew(at.R_WM * (S.leftCols(d) * force.head(d)).head<3>());
      off(pair, loop.a, loop.b, block);
    }
    // A sliding joint's force turns with a.
    const Mat3 R_F = at.R_WM * at.X_FM.R.transpose();
    if (loop.kind == JointKind::prismatic) sliding_row(loop, at, pair, R_F.col(2), -force[0]);
    if (loop.kind == JointKind::cylindrical) sliding_row(loop, at, pair, R_F.col(2), -force[1]);
    if (loop.kind == JointKind::point_on_line) sliding_row(loop, at, pair, R_F.col(2), -force[3]);
    if (loop.kind == JointKind::planar)
      for (int k = 0; k < 2; ++k) sliding_row(loop, at, pair, R_F.col(k), -force[k]);
    if (loop.kind == JointKind::point_on_plane)
      for (int k = 0; k < 2; ++k) sliding_row(loop, at, pair, R_F.col(k), -force[3 + k]);
  }

  // With g the gradient by (turn in M, shift in F): the Hessian of V by these, and g times their own second
  // derivatives, as of a closing joint that turns and slides freely.
  void bushing(const CompiledBushing& b) {
    CompiledLoop loop;
    loop.a = b.a, loop.b = b.b;
    LoopState at;
    const Pose X_WF = b.a >= 0 ? w_.links[b.a].X_WM * b.X_AF : b.X_AF;
    const Pose X_WM = b.b >= 0 ? w_.links[b.b].X_WM * b.X_BM : b.X_BM;
    at.X_FM = {X_WF.R.transpose() * X_WM.R, X_WF.R.transpose() * (X_WM.p - X_WF.p)};
    at.R_WM = X_WM.R, at.p_W = X_WM.p;
    const Vec3 theta = math::so3_log(at.X_FM.R);
    Vec6 x;
    x << theta, at.X_FM.p;
    const Vec6 w = b.K * x;
    const Mat3 Ji = math::so3_jacobian_inverse(theta);
    Mat6 G = Mat6::Identity(), on_a = Mat6::Zero(), on_b = Mat6::Zero();
    G.topLeftCorner<3, 3>() = Ji;
    Mat6 Q = G.transpose() * b.K * G;
    if (!material_) {
      const Mat3 turn = math::so3_jacobian_inverse_transpose_derivative(theta, w.head<3>()) * Ji;
      Q.topLeftCorner<3, 3>() += 0.5 * (turn + turn.transpose());
    }
    for (int k = 0; k < 6; ++k) {
      Vec6 axis = Vec6::Zero();
      if (k < 3)
        axis.head<3>() = X_WM.R.col(k);
      else
        axis.tail<3>() = X_WF.R.col(k - 3);
      on_a.col(k) = multibody::shift_wrench(axis, arm(b.a, at.p_W));
      on_b.col(k) = multibody::shift_wrench(axis, arm(b.b, at.p_W));
    }
    if (b.a >= 0) K_.diagonal[b.a] += on_a * Q * on_a.transpose();
    if (b.b >= 0) K_.diagonal[b.b] += on_b * Q * on_b.transpose();
    if (b.pair >= 0) off(b.pair, b.a, b.b, -on_a * Q * on_b.transpose());
    if (material_) return;
    if (b.pair >= 0) {  // as in loop_law
      Mat6 block = Mat6::Zero();
      block.topLeftCorner<3, 3>() = 0.5 * math::skew(X_WM.R * (Ji.transpose() * w.head<3>()));
      off(b.pair, b.a, b.b, block);
    }
    for (int k = 0; k < 3; ++k) sliding_row(loop, at, b.pair, X_WF.R.col(k), w[3 + k]);
  }

  // Of a closing joint's law in its rates; the exact one has the force on the turning axes in it.
  Mat6 loop_hessian(const CompiledLoop& loop, const LoopState& at, const Vec6& force) const {
    const elastic::JointConfiguration c = loop_configuration(loop, at);
    if (material_) return elastic::joint_hessian_psd(loop.kind, loop.law, c);
    Mat6 H = elastic::joint_hessian(loop.kind, loop.law, c);
    H = (0.5 * (H + H.transpose())).eval();
    if (loop.kind == JointKind::universal || loop.kind == JointKind::constant_velocity)
      add_axes_rate(loop.kind, at.q, -(multibody::closing_axes(loop.joint(), at.q) * force), H);
    return H;
  }

  // −f·S̊(a) b, symmetric: from its values for a = b.
  template <class Block>
  static void add_axes_rate(JointKind kind, const double* q, const Vec6& f, Block& B) {
    const auto Q = [&](int k, int l) {
      double v[6] = {};
      v[k] = 1, v[l] = 1;
      return f.dot(multibody::joint_twist_rate(kind, q, v));
    };
    for (int k = 0; k < dof_count(kind); ++k)
      for (int l = 0; l < dof_count(kind); ++l)
        B(k, l) -= k == l ? Q(k, k) : 0.5 * (Q(k, l) - Q(k, k) - Q(l, l));
  }

  void loop_geometry(const CompiledLoop& loop, const LoopState& at, const Vec6& lambda, int pair) {
    if (loop.coupling >= 0)  // linear in the coordinates but for cams; its force on the gap is −λ
      return add_profile_stiffness(s_, s_.couplings[loop.coupling], at.profile, -lambda[0], K_.joint);
    const Mat3& R_M = at.R_WM;
    const Mat3 R_F = R_M * at.X_FM.R.transpose();
    const auto point = [&](const Vec3& along) {  // λ·Rᵀp: a force at the common point
      const Vec3 f = R_M * along;
      dead_force(loop.b, arm(loop.b, at.p_W), -f);
      dead_force(loop.a, arm(loop.a, at.p_W), f);
    };
    switch (loop.kind) {
      case JointKind::fixed:
        point(lambda.segment<3>(3));
        break;
      case JointKind::spherical:
        point(lambda.head<3>());
        break;
      case JointKind::revolute:  // λ₀ u_y − λ₁ u_x = z_F · (λ₀ y − λ₁ x)_M
        tilt_row(loop, pair, R_F.col(2), lambda[0] * R_M.col(1) - lambda[1] * R_M.col(0));
        point(lambda.segment<3>(2));
        break;
      case JointKind::planar:
        tilt_row(loop, pair, R_F.col(2), lambda[0] * R_M.col(1) - lambda[1] * R_M.col(0));
        sliding_row(loop, at, pair, R_F.col(2), lambda[2]);
        break;
      case JointKind::universal:
        tilt_row(loop, pair, R_F.col(0), -lambda[0] * R_M.col(1));
        point(lambda.segment<3>(1));
        break;
      case JointKind::prismatic:
        sliding_row(loop, at, pair, R_F.col(0), lambda[3]);
        sliding_row(loop, at, pair, R_F.col(1), lambda[4]);
        break;
      case JointKind::cylindrical:
      case JointKind::screw:  // its angle's second derivative vanishes where the axes stay aligned
        tilt_row(loop, pair, R_F.col(2), lambda[0] * R_M.col(1) - lambda[1] * R_M.col(0));
        for (int k = 0; k < closing_row_count(loop.kind) - 2; ++k)
          sliding_row(loop, at, pair, R_F.col(k), lambda[2 + k]);
        break;
      case JointKind::point_on_line:
        for (int k = 0; k < 2; ++k) sliding_row(loop, at, pair, R_F.col(k), lambda[k]);
        break;
      case JointKind::point_on_plane:
        sliding_row(loop, at, pair, R_F.col(2), lambda[0]);
        break;
      case JointKind::constant_velocity: {  // 2 z = (y_F·x_M − x_F·y_M)/2w, and z = 0
        const double share = 0.5 * lambda[0] / math::to_quat(at.X_FM.R).w();
        tilt_row(loop, pair, R_F.col(1), share * R_M.col(0));
        tilt_row(loop, pair, R_F.col(0), -share * R_M.col(1));
        point(lambda.segment<3>(1));
        break;
      }
      case JointKind::distance:
        rod_row(loop, at, pair, lambda[0]);
        break;
      case JointKind::free:
        break;
    }
  }

  // Second derivative of z·w, z turning with a and w with b.
  void tilt_row(const CompiledLoop& loop, int pair, const Vec3& z, const Vec3& w) {
    const Mat3 own = 0.5 * (z * w.transpose() + w * z.transpose()) - z.dot(w) * Mat3::Identity();
    if (loop.a >= 0) K_.diagonal[loop.a].topLeftCorner<3, 3>() += own;
    if (loop.b >= 0) K_.diagonal[loop.b].topLeftCorner<3, 3>() += own;
    if (pair < 0) return;
    Mat6 block = Mat6::Zero();
    block.topLeftCorner<3, 3>() = z.dot(w) * Mat3::Identity() - w * z.transpose();
    off(pair, loop.a, loop.b, block);
  }

  // Second derivative of λ |x_M − x_F|.
  void rod_row(const CompiledLoop& loop, const LoopState& at, int pair, double lambda) {
    const Vec3 d = at.R_WM * (at.X_FM.R.transpose() * at.X_FM.p), n = d.normalized(), x_F = at.p_W - d;
    const Mat3 Q = (lambda / d.norm()) * (Mat3::Identity() - n * n.transpose());
    const Vec3 r_a = arm(loop.a, x_F), r_b = arm(loop.b, at.p_W);
    if (loop.a >= 0) K_.diagonal[loop.a] += between(r_a, Q, r_a);
    if (loop.b >= 0) K_.diagonal[loop.b] += between(r_b, Q, r_b);
    if (pair >= 0) off(pair, loop.a, loop.b, -between(r_a, Q, r_b));
    dead_force(loop.a, r_a, lambda * n);
    dead_force(loop.b, r_b, -lambda * n);
  }

  // Second derivative of λ e·(x_M − x_F), e turning with a.
  void sliding_row(const CompiledLoop& loop, const LoopState& at, int pair, const Vec3& e, double lambda) {
    const Mat3 R_F = at.R_WM * at.X_FM.R.transpose();
    const Vec3 d = R_F * at.X_FM.p, x_F = at.p_W - d;
    dead_force(loop.b, arm(loop.b, at.p_W), -lambda * e);
    if (loop.a < 0) return;
    dead_force(loop.a, arm(loop.a, x_F), lambda * e);
    Mat6& A = K_.diagonal[loop.a];
    A.topLeftCorner<3, 3>() +=
        lambda * (0.5 * (e * d.transpose() + d * e.transpose()) - e.dot(d) * Mat3::Identity());
    Eigen::Matrix<double, 3, 6> J_a, J_b;  // of x_F and x_M
    J_a << -math::skew(arm(loop.a, x_F)), Mat3::Identity();
    Mat6 N = Mat6::Zero();
    N.topRows<3>() = -lambda * math::skew(e) * J_a;
    A += N + N.transpose();
    if (pair < 0) return;
    J_b << -math::skew(arm(loop.b, at.p_W)), Mat3::Identity();
    Mat6 block = Mat6::Zero();
    block.topRows<3>() = lambda * math::skew(e) * J_b;
    off(pair, loop.a, loop.b, block);
  }

  const SystemData& s_;
  const double* q_;
  WorkspaceData& w_;
  BlockSystem& K_;
  bool material_;
};

// Pairs of the loops in static_pattern: behind those of the system.
std::vector<int> loop_pairs(const SystemData& s, const multibody::Pattern& pattern) {
  std::vector<int> out;
  for (const CompiledLoop& loop : s.loops) {
    int found = -1;
    for (std::size_t k = 0; loop.a >= 0 && loop.b >= 0 && k < pattern.pairs.size(); ++k)
      if (pattern.pairs[k].a == std::min(loop.a, loop.b) && pattern.pairs[k].b == std::max(loop.a, loop.b))
        found = static_cast<int>(k);
    out.push_back(found);
  }
  return out;
}

}  // namespace

multibody::Pattern static_pattern(const SystemData& s) {
  multibody::Pattern pattern = s.pattern;
  for (const CompiledLoop& loop : s.loops) {
    if (loop.a < 0 || loop.b < 0) continue;
    const multibody::LinkPair pair{std::min(loop.a, loop.b), std::max(loop.a, loop.b)};
    const bool known =
        std::any_of(pattern.pairs.begin(), pattern.pairs.end(),
                    [&](const multibody::LinkPair& p) { return p.a == pair.a && p.b == pair.b; });
    if (!known) pattern.pairs.push_back(pair);
  }
  return pattern;
}

Vec6 augment_weights(const SystemData& s, int loop, const multibody::LoopRows& rows, double rho) {
  Vec6 out = Vec6::Zero();
  if (s.loops[loop].coupling >= 0) return out;
  for (int r = 0; r < rows.rows; ++r) {
    const bool turns = rows.on_a.row(r).tail<3>().isZero(0) && rows.on_b.row(r).tail<3>().isZero(0);
    out[r] = turns ? rho * s.size * s.size : rho;
  }
  return out;
}

void assemble_tangent(const SystemData& s, const double* q, double t, const std::vector<Vec6>& lambda,
                      double mass, double augment, WorkspaceData& w, std::vector<LoopState>& loops,
                      multibody::BlockSystem& K, multibody::BlockRhs& rhs, const std::vector<char>* touched,
                      std::vector<int>* limit_rows) {
  const std::vector<double> zero(s.tree.v_count(), 0.0);
  evaluate(s, q, zero.data(), t, {0, 0, 0}, w);
  add_kept_wrenches(s, w.leans_on, w);
  multibody::set_kinematics(q, w.links, K);
  place_loops(s, q, w.links, loops);
  put_loop_rows(s, loops, K);
  for (std::size_t l = 0; l < s.loops.size(); ++l) rhs.g[l] = -loops[l].gap;
  for (std::size_t k = 0; touched && k < s.limits.size(); ++k) {
    const Limit& limit = s.limits[k];
    if (limit.loop < 0 || !(*touched)[k]) continue;
    const int r = add_limit_row(s, limit, loops[limit.loop], K);
    (*limit_rows)[k] = r;
    if (r >= 0) rhs.g[limit.loop][r] = limit.bound - limit_coordinate(s, limit, q, &loops);
  }
  for (Mat6& A : K.diagonal) A.setZero();
  for (Mat6& A : K.off) A.setZero();
  for (int i = 0; i < s.tree.size(); ++i) {
    const Mat3& R = w.links[i].X_WM.R;
    rhs.wrench[i] << R * w.wrench[i].head<3>(), R * w.wrench[i].tail<3>();
  }
  std::copy(w.tau.begin(), w.tau.end(), rhs.tau.begin());

  Assembly build(s, q, w, K);
  const std::vector<int> pairs = loop_pairs(s, *K.pattern);
  build.weight_and_loads(t);
  build.wind(t);
  build.springs();
  build.joints();
  build.loop_laws(loops, pairs);
  std::vector<Vec6> row;
  add_coupling_blocks(s, q, 0, 1, K, row);
  for (const CompiledCoupling& c : s.couplings)
    if (!c.rigid && c.profile)
      add_profile_stiffness(s, c, profile_at(c, q), coupling_force(c, q, zero.data()), K.joint);
  if (!s.cables.empty()) {
    add_cable_tangent(s, w.links, false, w.cables, K);
    carry_cables_over(s, w.links, t, w.cables, w.cable_from);
  }
  build.loop_geometries(loops, lambda, pairs);
  std::vector<Vec6> F = rhs.wrench;
  // Couplings push the coordinates themselves: they turn no wrench.
  std::vector<Vec6> turning = lambda;
  for (std::size_t l = 0; l < s.loops.size(); ++l)
    if (s.loops[l].coupling >= 0) turning[l].setZero();
  multibody::subtract_loop_forces(K, turning.data(), F.data());
  build.joint_geometry(F);
  if (mass > 0) build.add_mass(mass);
  if (augment > 0) {
    build.augment(augment, pairs);
    std::vector<Vec6> scaled = rhs.g;
    for (std::size_t l = 0; l < scaled.size(); ++l)
      scaled[l].array() *= -augment_weights(s, static_cast<int>(l), K.loops[l], augment).array();
    multibody::subtract_loop_forces(K, scaled.data(), rhs.wrench.data());
  }
}

void assemble_metric(const SystemData& s, const double* q, double mass, WorkspaceData& w,
                     const std::vector<LoopState>& loops, multibody::BlockSystem& D) {
  for (Mat6& A : D.diagonal) A.setZero();
  for (Mat6& A : D.off) A.setZero();
  Assembly build(s, q, w, D, true);
  build.springs();
  build.joints();
  build.loop_laws(loops, loop_pairs(s, *D.pattern));
  if (!s.couplings.empty()) {
    multibody::set_kinematics(q, w.links, D);
    std::vector<Vec6> row;
    add_coupling_blocks(s, q, 0, 1, D, row);
  }
  if (!s.cables.empty()) add_cable_tangent(s, w.links, true, w.cables, D);
  build.add_mass(mass);
}

void remove_load_blocks(const SystemData& s, const std::vector<int>& links, double t, WorkspaceData& w,
                        multibody::BlockSystem& K) {
  Assembly build(s, nullptr, w, K);
  for (const CompiledLoad& l : s.loads)
    if (std::find(links.begin(), links.end(), l.at.link) != links.end()) build.load(l, -w.load, t);
}

}  // namespace limber::articulated
