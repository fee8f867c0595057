// What moves and what is carried at a frame: accelerations a of the state itself, to the order of the
// integrator, by one solve of the equations of motion there,
//
//   M(q) a + bias(q, v) + Gᵀλ = f(q, v, t),   G a = −Ġ v,
//
// with given motions at the accelerations of their functions and touched bounds held; then the wrench that
// every joint carries, from the leaves to the root (recursive Newton–Euler, Featherstone 2008, table 5.1):
//
//   A_i = X⁻¹ A_p + S a + c,   f_i = I A_i + V ×* I V − F_i + Σ_children X f.
//
// A step's own a belongs to a time within the step, and its λ to a position that was made to close: neither
// is that of the frame.
#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/stepper.h"
#include "limber/multibody/inertia_rows.h"

namespace limber::articulated {
namespace {

constexpr double touching = 1e-9;  // of a bound: how near is there
// [s] Accelerations of given motions are differences over a twentieth of it: exact to 1e-8 at 1 kHz, to 1e-11
// at 1 Hz. No more than a step: a motion in another unit of time has the same.
constexpr double given_over = 4e-4;

// Wrenches of the loops, on b about the closing joint and on both links.
void take_loop_forces(const SystemData& s, WorkspaceData& w) {
  const Blocks& b = *w.blocks;
  for (std::size_t l = 0; l < s.loops.size(); ++l) {
    const CompiledLoop& loop = s.loops[l];
    const multibody::LoopRows& rows = b.system.loops[l];
    if (loop.coupling >= 0) {  // pushes coordinates, as a drive does: the joints carry it
      w.frame.loop[l] << -b.x.lambda[l][0], 0, 0, 0, 0, 0;
      continue;
    }
    const int n = rows.rows;
    const auto put_on = [&](int link, const Mat6& on) {
      const Vec6 F = -(on.topRows(n).transpose() * b.x.lambda[l].head(n));
      const Mat3& R = w.links[link].X_WM.R;
      w.frame.joint[link].head<3>() -= R.transpose() * F.head<3>();
      w.frame.joint[link].tail<3>() -= R.transpose() * F.tail<3>();
      return multibody::shift_wrench(F, b.system.origin[link] - b.loops[l].p_W);
    };
    Vec6 on_b = Vec6::Zero();
    if (loop.a >= 0) on_b = -put_on(loop.a, rows.on_a);
    if (loop.b >= 0) on_b = put_on(loop.b, rows.on_b);
    const int index = static_cast<int>(l);
    const Vec6 rates = loop_rates(s, index, b.loops[l], w.links);
    w.frame.loop[l] = on_b + loop_law_wrench(s, index, b.loops[l], rates);
    for (std::size_t r = 0; r < s.rubs.size(); ++r)
      if (const Rub& rub = s.rubs[r]; rub.loop == index && w.rub[r] != 0)  // what sticks is among the rows
        w.frame.loop[l] += loop_wrench(loop, b.loops[l],
                                       -w.rub[r] * rub.level(std::abs(rates[rub.dof])) * Vec6::Unit(rub.dof));
  }
}

void find_accelerations(const SystemData& s, const State& state, WorkspaceData& w) {
  if (!w.blocks) {
    w.frame.acceleration = w.aba.a_body;
    return;
  }
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    Vec6& A = w.frame.acceleration[i];
    A = w.links[i].c +
        multibody::joint_twist(link.kind, link.lead, state.q.data() + link.q, w.a.data() + link.v);
    if (link.parent >= 0) A += w.links[i].X_PM.inverse_motion(w.frame.acceleration[link.parent]);
  }
}

// I A + V ×* I V − F of every link.
LIMBER_KERNEL void find_link_forces(const multibody::Tree& tree, const LinkMotion* links, const Vec6* wrench,
                                    const Vec6* acceleration, Vec6* out) {
  using namespace multibody::rows;
  for (int i = 0; i < tree.size(); ++i) {
    Pack w, v, moment, force;
    bias_force(tree[i].inertia, links[i].V, w, v);
    momentum(tree[i].inertia, load3(acceleration[i].data()), load3(acceleration[i].data() + 3), moment,
             force);
    store(out[i].data(), (moment + w) - load3(wrench[i].data()));
    store3(out[i].data() + 3, (force + v) - load3(wrench[i].data() + 3));
  }
}

// What is left for each joint to carry.
void find_joint_forces(const SystemData& s, WorkspaceData& w) {
  std::vector<Vec6>& joint = w.frame.joint;
  find_link_forces(s.tree, w.links.data(), w.wrench.data(), w.frame.acceleration.data(), joint.data());
  if (w.blocks) take_loop_forces(s, w);
  for (int i = s.tree.size() - 1; i >= 0; --i)
    if (const int p = s.tree[i].parent; p >= 0) joint[p] += w.links[i].X_PM.force(joint[i]);
}

}  // namespace

// Bounds that a coordinate stands at without leaving.
void Stepper::touch_limits() {
  if (s_.limits.empty()) return;
  if (w_.blocks) {
    multibody::kinematics(tree_, state_.q.data(), state_.v.data(), w_.links_other, w_.workers.get());
    place_loops(s_, state_.q.data(), w_.links_other, w_.blocks->loops);
  }
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    const std::vector<LoopState>* loops = w_.blocks ? &w_.blocks->loops : nullptr;
    const double side = limit.upper ? 1 : -1;
    const double left = side * (limit.bound - limit_coordinate(s_, limit, state_.q.data(), loops));
    double rate = 0;
    if (limit.loop >= 0) {
      const LoopState& at = (*loops)[limit.loop];
      const Vec6 rates = loop_rates(s_, limit.loop, at, w_.links_other);
      const Vec3 theta(at.x[0], at.x[1], at.x[2]);
      const bool ball = s_.loops[limit.loop].kind == JointKind::spherical;
      rate = !ball ? rates[limit.dof] : theta.norm() > 0 ? theta.normalized().dot(rates.head<3>()) : 0;
    } else {
      const Link& link = tree_[limit.link];
      const Vec6 row = limit_row(s_, limit, state_.q.data());
      for (int k = 0; k < link.dofs; ++k) rate += row[k] * state_.v[link.v + k];
    }
    w_.limit_active[l] = left <= touching * (1 + std::abs(limit.bound)) && side * rate >= -touching;
  }
}

void Stepper::lock_at_frame() {
  for (const JointLock& lock : w_.locks) w_.lock_index[lock.link] = -1;
  w_.locks.clear();
  for (const CompiledMotion& m : s_.motions) {
    JointLock& lock = lock_of(m.link);
    lock.rows = tree_[m.link].dofs;
    lock.C.setIdentity();
    const double step = state_.step > 0 ? state_.t / static_cast<double>(state_.step) : given_over;
    lock.g = prescribed_acceleration(m, state_.t, std::min(given_over, step));
  }
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l] || s_.limits[l].loop >= 0) continue;
    JointLock& lock = lock_of(s_.limits[l].link);
    lock.C.row(lock.rows) = limit_row(s_, s_.limits[l], state_.q.data()).transpose();
    lock.g[lock.rows++] = 0;
  }
  rub_at_frame();
}

// Rows of closing joints' touched bounds, after the loop's own.
void Stepper::hold_touched_loops() {
  Blocks& b = *w_.blocks;
  for (std::size_t k = 0; k < s_.limits.size(); ++k) {
    const Limit& limit = s_.limits[k];
    if (limit.loop < 0 || !w_.limit_active[k]) continue;
    const int r = add_limit_row(s_, limit, b.loops[limit.loop], b.system);
    if (r < 0) continue;
    b.limit_row[k] = r;
    b.rhs.g[limit.loop][r] = -multibody::loop_times(b.system, limit.loop, b.twist.data())[r];
  }
}

bool Stepper::solve_frame_blocks() {
  Blocks& b = *w_.blocks;
  std::fill(w_.a.begin(), w_.a.end(), 0.0);
  set_block_rhs(false);
  for (std::size_t l = 0; l < s_.loops.size(); ++l) {
    const int rows = closing_row_count(s_.loops[l].kind);
    if (s_.loops[l].coupling >= 0) {
      b.rhs.g[l].setZero();
      b.rhs.g[l][0] = -coupling_bias(s_.couplings[s_.loops[l].coupling], b.loops[l].profile, state_.v.data());
      continue;
    }
    const Vec6 rate = multibody::loop_times(b.system, static_cast<int>(l), b.twist.data());
    const Vec6 bias = loop_acceleration_bias(s_, static_cast<int>(l), b.loops[l], w_.links);
    b.rhs.g[l].head(rows) = -(rate + bias).head(rows);
  }
  hold_touched_loops();
  if (rubs_close()) add_sticking_rows();
  for (std::size_t r = 0; r < s_.rubs.size(); ++r)
    if (const int l = s_.rubs[r].loop; l >= 0 && b.rub_row[r] >= 0)
      b.rhs.g[l][b.rub_row[r]] = -multibody::loop_times(b.system, l, b.twist.data())[b.rub_row[r]];
  if (!factor_blocks(s_, w_)) return false;
  if (b.pcg) std::fill(b.x.a.begin(), b.x.a.end(), 0.0);
  if (!solve_blocks(s_, w_, b.x, false)) return false;
  w_.a = b.x.a;
  keep_limit_forces();
  return true;
}

// The touched bound that would pull most; false: none does.
bool Stepper::let_one_go() {
  std::size_t worst = 0;
  double most = 0;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    if (!w_.limit_active[l]) continue;
    const Limit& limit = s_.limits[l];
    const double force =
        w_.blocks ? w_.blocks->limit_force[l]
                  : limit_row(s_, limit, state_.q.data())
                        .dot(multibody::lock_force(tree_, q_at_, input_, w_.aba, w_.a.data(), limit.link));
    if (const double pull = (limit.upper ? 1 : -1) * force; pull > most) most = pull, worst = l;
  }
  if (most > 0) w_.limit_active[worst] = 0;
  return most > 0;
}

bool Stepper::solve_at_frame() {
  const double *q = state_.q.data(), *v = state_.v.data();
  for (std::size_t d = 0; d < s_.drives.size(); ++d) {
    const CompiledDrive& drive = s_.drives[d];
    const Link& link = tree_[drive.link];
    for (int k = 0; k < link.dofs && drive.drive.kind == Drive::Kind::servo; ++k)
      w_.servo[6 * d + k] = servo_state(servo_force(drive, link, k, q + link.q, v + link.v, state_.t),
                                        drive.drive.max_force[k]);
  }
  control_at_frame();
  touch_limits();
  start_rubs();
  q_at_ = q;
  do {
    lock_at_frame();
    evaluate(s_, q, v, state_.t, {0, 0, 0}, w_);
    if (w_.contacts) add_kept_wrenches(s_, state_.touching, w_);
    input_ = make_input();
    input_.joint_block = nullptr, input_.body_block = nullptr;  // nothing is implicit
    const bool good = w_.blocks ? solve_frame_blocks()
                                : multibody::aba(tree_, q, input_, w_.aba, w_.a.data(), w_.workers.get());
    if (!good) return false;
  } while (let_one_go() || let_one_slip());
  return true;
}

bool find_frame_forces(const SystemData& s, const State& state, WorkspaceData& w) {
  w.frame.acceleration.resize(s.tree.size());
  w.frame.joint.resize(s.tree.size());
  w.frame.loop.resize(s.loops.size());
  w.before = state;
  result::SolveReport report;
  if (Stepper(s, w.before, w, report).solve_at_frame()) {
    find_accelerations(s, state, w);
    find_joint_forces(s, w);
    return true;
  }
  for (auto* list : {&w.frame.acceleration, &w.frame.joint, &w.frame.loop})
    for (Vec6& x : *list) x.setConstant(std::numeric_limits<double>::quiet_NaN());
  return false;
}

}  // namespace limber::articulated
