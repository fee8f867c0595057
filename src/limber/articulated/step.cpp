// One time step of a tree: linearly implicit Euler or implicit midpoint, with prescribed joints, limits and
// servos.
//
// Euler (Baxter 2019, eq. 2.13, K = −∂f/∂q):   (M + hD + h²K) a = f(q₀, v₀) − hK v₀ − bias,  v₁ = v₀ + h a,
// q₁ = q₀ ⊕ h v₁ Midpoint, v̄ = v₀ + ½h a, q̄ = q₀ ⊕ ½h v̄:      M(q̄) a + bias(q̄, v̄) = f(q̄, v̄, t + ½h),  v₁ = v₀
// + h a,  q₁ = q₀ ⊕ h v̄
//   solved by  (M + ½hD + ¼h²K) a⁺ = f(q̄, v̄) − bias + (½hD + ¼h²K) a  until a stands still: springs and
//   dampers enter by Newton, velocity terms by fixed point, each iteration is one O(n) pass.
//
// Limits are an active set: a coordinate that would pass its bound is made to end on it; one whose bound
// would pull is let go. After the step the active ones get their speed by an impulse: zero, or −e times the
// speed of the hit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/multibody/joint_kinematics.h"

namespace limber::articulated {
namespace {

using multibody::AbaInput;
using multibody::Link;
using result::SolveReport;
using result::Status;

constexpr int max_rounds = 30;       // of the active set
constexpr int max_split_depth = 10;  // a step is halved this often at most
constexpr double stalled =
    1e-7;  // a residual that no longer falls is accepted below this (rounding of stiff systems)

class Stepper {
 public:
  Stepper(const SystemData& s, State& state, WorkspaceData& w, SolveReport& report)
      : s_(s), tree_(s.tree), state_(state), w_(w), report_(report) {}

  // One step, split in halves where the iteration does not converge.
  bool advance(double t, double h, int depth) {
    if (attempt(t, h)) {
      commit();
      return true;
    }
    if (report_.status == Status::diverged || depth == max_split_depth) return false;
    ++report_.substeps;
    report_.status = Status::ok;
    return advance(t, h / 2, depth + 1) && advance(t + h / 2, h / 2, depth + 1);
  }

 private:
  bool midpoint() const { return s_.options.integrator == Integrator::midpoint; }

  // The whole step from state_ into q_end, v_end, a.
  bool attempt(double t, double h) {
    std::fill(w_.limit_active.begin(), w_.limit_active.end(), 0);
    std::fill(w_.limit_changes.begin(), w_.limit_changes.end(), 0);
    std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
    for (int round = 0; round < max_rounds; ++round) {
      const bool solved = midpoint() ? solve_midpoint(t, h) : solve_euler(t, h);
      if (!solved) return false;
      if (!check_finite(t + h)) return false;
      if (!update_active_set(t, h)) {
        apply_impacts();
        return check_finite(t + h);
      }
    }
    return fail(Status::not_converged, t,
                "the set of joint limits and cut drives does not settle; a smaller step may help", -1);
  }

  bool solve_euler(double t, double h) {
    const double* q0 = state_.q.data();
    const double* v0 = state_.v.data();
    set_locks(t, h);
    evaluate(s_, q0, v0, t + h, {h, h * h, h}, w_);
    input_ = make_input();
    if (!multibody::aba(tree_, q0, input_, w_.aba, w_.a.data(), w_.workers.get())) return fail_pivot(t);
    q_at_ = q0;
    for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] = v0[k] + h * w_.a[k];
    multibody::integrate(tree_, q0, w_.v_end.data(), h, w_.q_end.data());
    for (const CompiledMotion& m : s_.motions) {
      double rates[6];
      prescribed(m, tree_[m.link], t + h, w_.q_end.data() + tree_[m.link].q, rates);
    }
    report_.iterations = std::max(report_.iterations, 1);
    ++report_.total_iterations;
    return true;
  }

  bool solve_midpoint(double t, double h) {
    const std::size_t n = w_.a.size();
    const double* v0 = state_.v.data();
    std::copy(state_.a.begin(), state_.a.end(), w_.a.begin());
    set_locks(t, h);
    double previous = 0;
    for (int iteration = 1; iteration <= s_.options.max_iterations; ++iteration) {
      place_midpoint(t, h);
      evaluate(s_, w_.q_mid.data(), w_.v_mid.data(), t + h / 2, {h / 2, h * h / 4, 0}, w_);
      add_implicit_forces();
      input_ = make_input();
      q_at_ = w_.q_mid.data();
      if (!multibody::aba(tree_, q_at_, input_, w_.aba, w_.a_new.data(), w_.workers.get()))
        return fail_pivot(t);
      const double change = h * largest_change(n), scale = velocity_scale(t, h);
      std::swap(w_.a, w_.a_new);
      ++report_.total_iterations;
      report_.iterations = std::max(report_.iterations, iteration);
      if (!std::isfinite(change)) return fail_non_finite(t + h);
      const bool still = iteration > 3 && change > previous / 2 && change <= stalled * scale;
      if (change <= s_.options.tolerance * scale || still) {
        if (scale > 0) report_.residual = std::max(report_.residual, change / scale);
        finish_midpoint(t, h, v0);
        return true;
      }
      previous = change;
    }
    return fail(
        Status::not_converged, t,
        fmt::format("the midpoint iteration does not converge in {} iterations; a smaller step may help",
                    s_.options.max_iterations),
        worst_link());
  }

  // v̄ and q̄ for the accelerations in w_.a; prescribed joints stand where they must.
  void place_midpoint(double t, double h) {
    for (std::size_t k = 0; k < w_.v_mid.size(); ++k) w_.v_mid[k] = state_.v[k] + h / 2 * w_.a[k];
    multibody::integrate(tree_, state_.q.data(), w_.v_mid.data(), h / 2, w_.q_mid.data());
    for (const CompiledMotion& m : s_.motions) {
      const Link& link = tree_[m.link];
      prescribed(m, link, t + h / 2, w_.q_mid.data() + link.q, w_.v_mid.data() + link.v);
    }
  }

  void finish_midpoint(double t, double h, const double* v0) {
    for (std::size_t k = 0; k < w_.v_end.size(); ++k) {
      w_.v_mid[k] = v0[k] + h / 2 * w_.a[k];
      w_.v_end[k] = v0[k] + h * w_.a[k];
    }
    multibody::integrate(tree_, state_.q.data(), w_.v_mid.data(), h, w_.q_end.data());
    for (const CompiledMotion& m : s_.motions) {
      const Link& link = tree_[m.link];
      prescribed(m, link, t + h, w_.q_end.data() + link.q, w_.v_end.data() + link.v);
    }
  }

  // The right-hand side's share of the implicit blocks: + B a, and + A a_body of the iterate before.
  void add_implicit_forces() {
    for (const Link& link : tree_.links()) {
      const double* B = w_.joint_block.data() + link.block;
      for (int i = 0; i < link.dofs; ++i)
        for (int j = 0; j < link.dofs; ++j) w_.tau[link.v + i] += B[j * link.dofs + i] * w_.a[link.v + j];
    }
    if (s_.body_blocks == 0) return;
    for (int i = 0; i < tree_.size(); ++i) {
      const Link& link = tree_[i];
      Vec6& a = w_.a_body[i];
      a = w_.links[i].c;
      if (link.parent >= 0) a += w_.links[i].X_PM.inverse_motion(w_.a_body[link.parent]);
      a += multibody::joint_twist(link.kind, w_.q_mid.data() + link.q, w_.a.data() + link.v);  // S a
      if (const int b = s_.body_block_index[i]; b >= 0) w_.wrench[i] += w_.body_block[b] * a;
    }
  }

  AbaInput make_input() const {
    AbaInput in;
    in.links = &w_.links;
    in.tau = w_.tau.data();
    in.wrench = w_.wrench.data();
    in.joint_block = w_.joint_block.data();
    in.body_block = s_.body_blocks > 0 ? w_.body_block.data() : nullptr;
    in.body_block_index = s_.body_block_index.data();
    in.locks = w_.locks.empty() ? nullptr : w_.locks.data();
    in.lock_index = w_.locks.empty() ? nullptr : w_.lock_index.data();
    return in;
  }

  double largest_change(std::size_t n) const {
    double change = 0;
    for (std::size_t k = 0; k < n; ++k) {
      const double c = std::abs(w_.a_new[k] - w_.a[k]);
      if (!(c <= change)) change = c;  // takes NaN along
    }
    return change;
  }

  // Speeds in the step, and what the weight would give in it: a floor for what is nearly at rest.
  double velocity_scale(double t, double h) const {
    double speed = 0, acceleration = s_.model.gravity().value(t).norm();
    for (std::size_t k = 0; k < w_.a.size(); ++k) {
      speed = std::max(speed, std::abs(w_.v_mid[k]));
      acceleration = std::max(acceleration, std::abs(w_.a_new[k]));
    }
    return speed + h * acceleration;
  }

  // Locks: prescribed joints wholly, active limits a row each.
  void set_locks(double t, double h) {
    for (const JointLock& lock : w_.locks) w_.lock_index[lock.link] = -1;
    w_.locks.clear();
    for (const CompiledMotion& m : s_.motions) lock_motion(m, t, h);
    for (std::size_t l = 0; l < s_.limits.size(); ++l)
      if (w_.limit_active[l]) lock_limit(s_.limits[l], h);
  }

  JointLock& lock_of(int link) {
    int& index = w_.lock_index[link];
    if (index < 0) {
      index = static_cast<int>(w_.locks.size());
      w_.locks.emplace_back();
      w_.locks.back().link = link;
      w_.locks.back().rows = 0;
      w_.locks.back().C.setZero();
      w_.locks.back().g.setZero();
    }
    return w_.locks[index];
  }

  void lock_motion(const CompiledMotion& m, double t, double h) {
    const Link& link = tree_[m.link];
    JointLock& lock = lock_of(m.link);
    lock.rows = link.dofs;
    lock.C.setIdentity();
    double q1[7], v1[6];
    prescribed(m, link, t + h, q1, v1);
    if (!midpoint()) multibody::rates_between(link.kind, state_.q.data() + link.q, q1, h, v1);
    for (int k = 0; k < link.dofs; ++k) lock.g[k] = (v1[k] - state_.v[link.v + k]) / h;
  }

  void lock_limit(const Limit& limit, double h) {
    const Link& link = tree_[limit.link];
    JointLock& lock = lock_of(limit.link);
    const Vec6 row = limit_row(limit, state_.q.data());
    const double rate = row.head(link.dofs).dot(Eigen::Map<const VecX>(state_.v.data() + link.v, link.dofs));
    const double needed = (limit.bound - limit_coordinate(limit, state_.q.data())) / h;
    lock.C.row(lock.rows) = row.transpose();
    lock.g[lock.rows] = (midpoint() ? 2 : 1) * (needed - rate) / h;
    ++lock.rows;
  }

  double limit_coordinate(const Limit& limit, const double* q) const {
    const Link& link = tree_[limit.link];
    const double* x = q + link.q;
    const bool rotation = link.kind == JointKind::spherical || link.kind == JointKind::free;
    if (!rotation) return x[limit.dof];
    if (limit.dof == 0) return math::quat_log(Quat(x[0], x[1], x[2], x[3])).norm();
    return x[4 + limit.dof - 3];
  }

  // The coordinate's rate is row · v. Angle φ = |θ|: dφ/dt = θ/φ · ω; shift p of a free joint: ṗ = R v.
  Vec6 limit_row(const Limit& limit, const double* q) const {
    const Link& link = tree_[limit.link];
    const double* x = q + link.q;
    Vec6 row = Vec6::Zero();
    const bool rotation = link.kind == JointKind::spherical || link.kind == JointKind::free;
    if (!rotation) {
      row[limit.dof] = 1;
    } else if (limit.dof == 0) {
      const Vec3 theta = math::quat_log(Quat(x[0], x[1], x[2], x[3]));
      row.head<3>() = theta.norm() > 0 ? Vec3(theta.normalized()) : Vec3::UnitX();
    } else {
      row.tail<3>() = math::to_matrix(Quat(x[0], x[1], x[2], x[3])).row(limit.dof - 3).transpose();
    }
    return row;
  }

  // True if a limit or a servo changed its side and the step has to be solved again.
  bool update_active_set(double t, double h) {
    bool changed = false;
    for (std::size_t l = 0; l < s_.limits.size(); ++l) changed |= update_limit(l);
    for (std::size_t d = 0; d < s_.drives.size(); ++d)
      if (s_.drives[d].drive.kind == Drive::Kind::servo) changed |= update_servo(d, t, h);
    return changed;
  }

  bool update_limit(std::size_t l) {
    const Limit& limit = s_.limits[l];
    const double side = limit.upper ? 1 : -1;
    if (!w_.limit_active[l]) {
      const double over = side * (limit_coordinate(limit, w_.q_end.data()) - limit.bound);
      // Rounding of a coordinate that already ended on its bound is no violation.
      if (over <= 1e-13 * (1 + std::abs(limit.bound)) || w_.limit_changes[l] > 4) return false;
      w_.limit_active[l] = 1;
      ++w_.limit_changes[l];
      return true;
    }
    const Vec6 force = multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), limit.link);
    if (side * limit_row(limit, state_.q.data()).dot(force) <= 0) return false;  // pushes back
    if (w_.limit_changes[l] > 3) return false;
    w_.limit_active[l] = 0;
    ++w_.limit_changes[l];
    return true;
  }

  bool update_servo(std::size_t d, double t, double h) {
    const CompiledDrive& drive = s_.drives[d];
    const Link& link = tree_[drive.link];
    // The force the step used: at its end (Euler) or its middle.
    const double* q = (midpoint() ? w_.q_mid : w_.q_end).data() + link.q;
    const double* v = (midpoint() ? w_.v_mid : w_.v_end).data() + link.v;
    bool changed = false;
    for (int k = 0; k < link.dofs; ++k) {
      const double force = servo_force(drive, link, k, q, v, midpoint() ? t + h / 2 : t + h);
      const double max = drive.drive.max_force[k];
      const ServoState wanted = force > max    ? ServoState::at_maximum
                                : force < -max ? ServoState::at_minimum
                                               : ServoState::linear;
      ServoState& state = w_.servo[6 * d + k];
      // Within a step a servo only goes from linear to cut: it may be cut a step too long, never flicker.
      if (state != ServoState::linear || wanted == state) continue;
      state = wanted;
      changed = true;
    }
    return changed;
  }

  // Gives the coordinates on their bounds the speed after the hit, by an impulse through the whole tree.
  void apply_impacts() {
    if (std::none_of(w_.limit_active.begin(), w_.limit_active.end(), [](char on) { return on != 0; })) return;
    for (const JointLock& lock : w_.locks) w_.lock_index[lock.link] = -1;
    w_.locks.clear();
    for (const CompiledMotion& m : s_.motions) {
      JointLock& lock = lock_of(m.link);
      lock.rows = tree_[m.link].dofs;
      lock.C.setIdentity();
    }
    for (std::size_t l = 0; l < s_.limits.size(); ++l) {
      if (!w_.limit_active[l]) continue;
      const Limit& limit = s_.limits[l];
      const Link& link = tree_[limit.link];
      const double side = limit.upper ? 1 : -1;
      const Vec6 row = limit_row(limit, w_.q_end.data());
      const auto rate = [&](const std::vector<double>& v) {
        return row.head(link.dofs).dot(Eigen::Map<const VecX>(v.data() + link.v, link.dofs));
      };
      JointLock& lock = lock_of(limit.link);
      lock.C.row(lock.rows) = row.transpose();
      lock.g[lock.rows] = -side * limit.restitution * std::max(0.0, side * rate(state_.v)) - rate(w_.v_end);
      ++lock.rows;
    }
    std::fill(w_.v_mid.begin(), w_.v_mid.end(), 0.0);
    std::fill(w_.tau.begin(), w_.tau.end(), 0.0);
    multibody::kinematics(tree_, w_.q_end.data(), w_.v_mid.data(), w_.links, w_.workers.get());
    AbaInput in;
    in.links = &w_.links;
    in.tau = w_.tau.data();
    in.locks = w_.locks.data();
    in.lock_index = w_.lock_index.data();
    if (!multibody::aba(tree_, w_.q_end.data(), in, w_.aba, w_.a_new.data(), w_.workers.get())) return;
    for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] += w_.a_new[k];
  }

  void commit() {
    state_.q.swap(w_.q_end);
    state_.v.swap(w_.v_end);
    state_.a.swap(w_.a);
  }

  bool check_finite(double t) {
    for (const double x : w_.v_end)
      if (!std::isfinite(x)) return fail_non_finite(t);
    for (const double x : w_.q_end)
      if (!std::isfinite(x)) return fail_non_finite(t);
    return true;
  }

  bool fail_non_finite(double t) {
    // The deepest link that is spoilt is the one nearest to the cause.
    int bad = 0;
    for (int i = 0; i < tree_.size(); ++i) {
      const Link& link = tree_[i];
      for (int k = 0; k < link.dofs; ++k)
        if (!std::isfinite(w_.a_new[link.v + k]) || !std::isfinite(w_.a[link.v + k]) ||
            !std::isfinite(w_.v_end[link.v + k]) || !std::isfinite(w_.tau[link.v + k]))
          bad = std::max(bad, i);
      if (!w_.wrench[i].allFinite()) bad = std::max(bad, i);
    }
    return fail(Status::diverged, t, "a value is no longer finite", bad);
  }

  bool fail_pivot(double t) {
    return fail(Status::diverged, t, "the inertia of the joint is no longer positive definite",
                w_.aba.bad_link);
  }

  int worst_link() const {
    int worst = -1;
    double largest = -1;
    for (int i = 0; i < tree_.size(); ++i)
      for (int k = 0; k < tree_[i].dofs; ++k)
        if (const double c = std::abs(w_.a_new[tree_[i].v + k] - w_.a[tree_[i].v + k]); c > largest) {
          largest = c;
          worst = i;
        }
    return worst;
  }

  bool fail(Status status, double t, std::string what, int link) {
    report_.status = status;
    report_.time = t;
    report_.worst = link >= 0 ? s_.model.bodies()[link].name : "";
    report_.message = link >= 0 ? fmt::format("at t = {:.9g} s, body \"{}\": {}", t, report_.worst, what)
                                : fmt::format("at t = {:.9g} s: {}", t, what);
    return false;
  }

  const SystemData& s_;
  const multibody::Tree& tree_;
  State& state_;
  WorkspaceData& w_;
  SolveReport& report_;
  AbaInput input_;
  const double* q_at_ = nullptr;  // where input_ was evaluated
};

}  // namespace

SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  SolveReport report;
  const double t0 = state.t;
  if (!Stepper(s, state, w, report).advance(t0, h, 0)) return report;
  state.t = t0 + h;
  ++state.step;
  report.time = state.t;
  report.steps = 1;
  return report;
}

}  // namespace limber::articulated
