#include "limber/articulated/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/static_parts.h"
#include "limber/articulated/tangent.h"
#include "limber/articulated/touches.h"

namespace limber::articulated {

using multibody::BlockRhs;
using multibody::BlockSolution;
using multibody::Gaba;
using multibody::Link;
using result::Status;

Equilibrium::Equilibrium(const SystemData& s, const State& state, WorkspaceData& w,
                         const StaticOptions& options)
    : s_(s),
      w_(w),
      options_(options),
      t_(state.t),
      pattern_(static_pattern(s)),
      K_(s.tree, pattern_),
      D_(s.tree, pattern_),
      moved_(s.tree, pattern_),
      rhs_(K_),
      x_(K_),
      gaba_(s.tree, pattern_, false),
      metric_(s.tree, pattern_, gaba_.order()),
      scratch_(gaba_),
      loops_(s.loops.size()),
      loops_moved_(s.loops.size()),
      q_(state.q),
      trial_(state.q),
      lambda_(s.loops.size(), Vec6::Zero()),
      residual_(s.tree.v_count()),
      twist_(s.tree.size()),
      lock_index_(s.tree.size(), -1),
      touched_(s.limits.size(), 0),
      limit_rows_(s.limits.size(), -1),
      changes_(s.limits.size(), 0) {
  K_.length = s_.size;
  w_.cable_from = state.cables.size() == s.cable_start.size() ? state.cables : s.cable_start;
  for (const CompiledMotion& m : s_.motions) {
    double v[6];
    prescribed(m, s_.tree[m.link], t_, q_.data() + s_.tree[m.link].q, v, options.motion);
  }
  std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
  circulatory_ = !s_.wind_shapes.empty() || std::any_of(s_.loads.begin(), s_.loads.end(), [](const auto& l) {
    return l.follows || !l.moment.is_zero();
  }) || std::any_of(s_.drives.begin(), s_.drives.end(), [&](const CompiledDrive& d) {
    return has_rotation_vector(s_.tree[d.link].kind);  // torques in axes that turn
  });
}

bool Equilibrium::solve(StaticResult& out) {
  const std::vector<StaticPart> parts = static_parts(s_);
  if (parts.empty()) return search(out);
  for (const StaticPart& part : parts)
    if (!search(part, out)) return false;
  return find_within_limits(out, true);
}

// So much of the shares that are asked for.
void Equilibrium::set_shares(double part) {
  w_.load = options_.load * part, w_.weight = options_.weight * part;
}

// One part by itself; what it finds is put into the whole.
bool Equilibrium::search(const StaticPart& part, StaticResult& out) {
  const SystemData& s = part.system.data();
  Workspace workspace(part.system);
  State state;
  state.q.resize(s.tree.q_count());
  state.t = t_;
  const auto each_coordinate = [&](const auto& copy) {
    for (int i = 0; i < s.tree.size(); ++i)
      for (int k = 0; k < multibody::coordinate_count(s.tree[i].kind); ++k)
        copy(s.tree[i].q + k, s_.tree[part.link[i]].q + k);
  };
  each_coordinate([&](int own, int whole) { state.q[own] = q_[whole]; });
  Equilibrium search(s, state, workspace.data(), options_);
  const bool found = search.search(out);
  iterations_ += search.iterations_;
  if (!found) return false;
  each_coordinate([&](int own, int whole) { q_[whole] = search.q_[own]; });
  for (const CompiledCable& c : s.cables)
    for (const CompiledCable& same : s_.cables)
      if (same.name == c.name)
        std::copy_n(workspace.data().cable_from.begin() + c.state, CompiledCable::width * c.guides.size(),
                    w_.cable_from.begin() + same.state);
  // Limits and drives of the part stand in the same order in the whole.
  const auto same = [&](const Limit& a, const Limit& b) {
    return a.dof == b.dof && a.upper == b.upper && (a.loop >= 0) == (b.loop >= 0) &&
           (a.loop >= 0 ? s.loops[a.loop].name == s_.loops[b.loop].name : part.link[a.link] == b.link);
  };
  for (std::size_t l = 0, at = 0; l < s.limits.size(); ++l) {
    while (!same(s.limits[l], s_.limits[at])) ++at;
    touched_[at] = search.touched_[l], changes_[at] = search.changes_[l];
  }
  for (std::size_t d = 0, at = 0; d < s.drives.size(); ++d) {
    while (part.link[s.drives[d].link] != s_.drives[at].link) ++at;
    std::copy_n(workspace.data().servo.begin() + 6 * d, 6, w_.servo.begin() + 6 * at++);
  }
  return true;
}

// From where the state stands: at once, or if that fails with loads and weight in steps.
bool Equilibrium::search(StaticResult& out) {
  const std::vector<double> start = q_;
  for (int parts = std::max(1, options_.load_steps); parts <= 64; parts *= 4) {
    q_ = start;
    for (Vec6& l : lambda_) l.setZero();
    std::fill(touched_.begin(), touched_.end(), 0);
    std::fill(changes_.begin(), changes_.end(), 0);
    std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
    bool good = true;
    for (int k = 1; good && k <= parts; ++k) {
      set_shares(static_cast<double>(k) / parts);
      good = find_within_limits(out, k == parts);
    }
    set_shares(1);
    if (good) return true;
    if (iterations_ >= options_.max_iterations * 4) break;
  }
  return false;
}

void Equilibrium::finish(StaticResult& out) {
  assemble(0);
  gaba_.factor(K_, true);
  const auto d = gaba_.directions();
  const bool leans = !w_.leans_on.empty();  // K knows nothing of what holds it there
  if (!leans) {
    out.negative = d.negative;
    out.least_pivot = d.least;
    out.moved_pivots = d.moved;
  }
  out.redundant_rows = gaba_.dropped_rows();
  out.gap = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
  out.circulatory = circulatory_;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (touched_[l])
      out.stops.push_back({limit.loop >= 0 ? s_.loops[limit.loop].name : s_.model.joints()[limit.link].name,
                           limit.dof, limit.bound, limit_force_[l]});
  }
  if (!leans) find_modes(out);
  reactions(out);
}

bool Equilibrium::stand(StaticResult& out) {
  const std::vector<double> values = limit_values(q_);
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    touched_[l] = std::abs(values[l] - s_.limits[l].bound) <= 1e-9 * (1 + std::abs(s_.limits[l].bound));
  set_shares(1);
  update_servos();
  set_augment();
  assemble(0);
  // As torques: forces times the size. Where it leans, sums of wrenches are small, so each side by itself.
  acting_ = 0;
  for (const double tau : rhs_.tau) acting_ = std::max(acting_, std::abs(tau));
  for (int i = 0; i < s_.tree.size(); ++i)
    acting_ =
        std::max(acting_, s_.tree[i].inertia.m * s_.size * w_.weight * s_.model.gravity().value(t_).norm());
  for (std::size_t k = 0; k < w_.leans_on.size(); k += State::touching_width)
    acting_ = std::max(acting_, s_.size * Eigen::Map<const Vec3>(w_.leans_on.data() + k + 6).norm());
  // Nothing moves: any matrix that is definite tells what loops and stops carry.
  double sigma = acting_ / (s_.moving_mass * s_.size * s_.size), ignored = 0;
  for (assemble(sigma); !gaba_.factor(K_, true) || gaba_.directions().negative > 0; assemble(sigma *= 4))
    if (!(sigma < 1e30)) return failed(out, "no shift makes the tangent positive");
  gaba_.solve(rhs_, scratch_, x_);
  lambda_ = x_.lambda;
  find_limit_forces();
  leftover(ignored);
  left_ = 0;
  for (std::size_t k = 0; k < residual_.size(); ++k)
    left_ = std::max(left_, std::abs(residual_[k]) / s_.rate_unit[k]);
  out.report.status = Status::ok;
  out.residual = out.report.residual = std::max(left_ / acting_, gap());
  constexpr double too_much = 1e-6;  // steps from rest to rest end at 1e-8 and below
  return out.residual < too_much ||
         failed(out, fmt::format("forces of {:.2g} of those that act are left over", out.residual));
}

void Equilibrium::assemble(double sigma) {
  assemble_tangent(s_, q_.data(), t_, lambda_, sigma, s_.loops.empty() ? 0 : augment_, w_, loops_, K_, rhs_,
                   &touched_, &limit_rows_);
  set_locks();
}

// Prescribed joints wholly, touched limits a row each.
void Equilibrium::set_locks() {
  for (const JointLock& lock : locks_) lock_index_[lock.link] = -1;
  locks_.clear();
  for (const CompiledMotion& m : s_.motions) {
    JointLock& lock = lock_of(m.link, locks_, lock_index_);
    lock.rows = s_.tree[m.link].dofs;
    lock.C.setIdentity();
  }
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (!touched_[l] || limit.loop >= 0) continue;
    JointLock& lock = lock_of(limit.link, locks_, lock_index_);
    lock.C.row(lock.rows) = limit_row(s_, limit, q_.data()).transpose();
    lock.g[lock.rows++] = limit.bound - limit_coordinate(s_, limit, q_.data(), nullptr);
  }
  K_.locks = locks_.data();
  K_.lock_index = locks_.empty() ? nullptr : lock_index_.data();
}

double Equilibrium::gap() const {
  double largest = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    if (touched_[l])
      largest = std::max(
          largest, std::abs(s_.limits[l].bound - limit_coordinate(s_, s_.limits[l], q_.data(), &loops_)));
  return largest;
}

// What locked rows carry taken out of y.
void Equilibrium::without_locked(std::vector<double>& y) const {
  for (const JointLock& lock : locks_) {
    const Link& link = s_.tree[lock.link];
    Eigen::Map<VecX> part(y.data() + link.v, link.dofs);
    for (int r = 0; r < lock.rows; ++r) {
      const VecX row = lock.C.row(r).head(link.dofs).transpose();
      part -= row * row.dot(part);
    }
  }
}

// Forces left over at q for the best multipliers at hand, and what acts in all.
double Equilibrium::leftover(double& acting) {
  std::vector<Vec6> F = rhs_.wrench;
  if (augment_ > 0 && !s_.loops.empty()) {  // without ρ Gᵀ g
    std::vector<Vec6> scaled = rhs_.g;
    for (std::size_t l = 0; l < scaled.size(); ++l)
      scaled[l].array() *= augment_weights(s_, static_cast<int>(l), K_.loops[l], augment_).array();
    multibody::subtract_loop_forces(K_, scaled.data(), F.data());
  }
  acting = 0;
  for (const Vec6& f : F)
    acting = std::max({acting, f.head<3>().norm(), f.tail<3>().norm() * 1e-3 * s_.size});
  multibody::subtract_loop_forces(K_, lambda_.data(), F.data());
  for (const Vec6& f : F) acting = std::max(acting, f.head<3>().norm());
  multibody::jacobian_transpose_times(K_, F.data(), residual_.data());
  for (std::size_t k = 0; k < residual_.size(); ++k) {
    acting = std::max(acting, std::abs(rhs_.tau[k]));
    residual_[k] += rhs_.tau[k];
  }
  without_locked(residual_);
  double largest = 0;
  for (const double r : residual_) largest = std::max(largest, std::abs(r));
  return largest;
}

// Newton until no limit is passed, none pulls, and every servo pushes as it can.
bool Equilibrium::find_within_limits(StaticResult& out, bool last) {
  const int rounds = 20 + 4 * static_cast<int>(s_.limits.size() + s_.drives.size());
  for (int round = 0; round < rounds; ++round) {
    if (!find(out, last)) return false;
    if (let_go() || update_servos()) continue;
    return keeps_limits() || failed(out, "a limit is passed");
  }
  return failed(out, "limits and servos do not settle");
}

bool Equilibrium::keeps_limits() {
  const std::vector<double> values = limit_values(q_);
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if ((limit.upper ? 1 : -1) * (values[l] - limit.bound) > 1e-9 * (1 + std::abs(limit.bound))) return false;
  }
  return true;
}

// What every touched limit pushes with on its coordinate.
void Equilibrium::find_limit_forces() {
  limit_force_.assign(s_.limits.size(), 0);
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (!touched_[l]) continue;
    limit_force_[l] =
        limit.loop >= 0 ? -lambda_[limit.loop][limit_rows_[l]]
                        : limit_row(s_, limit, q_.data())
                              .head(s_.tree[limit.link].dofs)
                              .dot(gaba_.lock_force(limit.link, scratch_, x_).head(s_.tree[limit.link].dofs));
  }
}

// Lets go of the one that would pull most.
bool Equilibrium::let_go() {
  find_limit_forces();
  std::size_t worst = 0;
  double pull = 0;
  for (std::size_t l = 0; l < s_.limits.size(); ++l)
    if (const double p = (s_.limits[l].upper ? 1 : -1) * limit_force_[l]; p > pull) pull = p, worst = l;
  if (!(pull > 1e-12 * acting_)) return false;
  touched_[worst] = 0;
  ++changes_[worst];
  return true;
}

bool Equilibrium::update_servos() {
  const std::vector<double> still(6, 0.0);
  bool changed = false;
  for (std::size_t d = 0; d < s_.drives.size(); ++d) {
    const CompiledDrive& drive = s_.drives[d];
    if (drive.drive.kind != Drive::Kind::servo) continue;
    const Link& link = s_.tree[drive.link];
    for (int k = 0; k < link.dofs; ++k) {
      const double force = servo_force(drive, link, k, q_.data() + link.q, still.data(), t_);
      const ServoState wanted = servo_state(force, drive.drive.max_force[k]);
      ServoState& state = w_.servo[6 * d + k];
      changed = changed || wanted != state;
      state = wanted;
    }
  }
  return changed;
}

bool Equilibrium::report_done(StaticResult& out) {
  out.residual = measure_at();
  out.report.status = Status::ok;
  out.report.iterations = iterations_;
  out.report.residual = out.residual;
  return true;
}

// Forces left over at q_ with the multipliers at hand. Where nothing acts, those of rounding are no share of
// anything.
double Equilibrium::measure_at() {
  assemble(0);
  double acting = 0;
  const double left = leftover(acting);
  return std::max(acting > rounding_of_forces() ? left / acting : 0, gap());
}

// ρ of the size of the stiffness that stands on the diagonal.
void Equilibrium::set_augment() {
  if (s_.loops.empty()) return;
  augment_ = 0;
  assemble(0);
  const double largest = largest_stiffness();
  augment_ = largest > 0 ? largest / (s_.size * s_.size) : 1;
}

// [N m] Of K, of a joint or of a link against turning: norms, the same in any axes. A shift counts by the
// size.
double Equilibrium::largest_stiffness() const {
  double largest = 0;
  for (const Link& link : s_.tree.links()) {
    double sum = 0;
    for (int i = 0; i < link.dofs; ++i)
      for (int j = 0; j < link.dofs; ++j) {
        const double entry = K_.joint[link.block + j * link.dofs + i] * way(link.v + i) * way(link.v + j);
        sum += entry * entry;
      }
    largest = std::max(largest, std::sqrt(sum));
  }
  for (const Mat6& A : K_.diagonal) largest = std::max(largest, A.topLeftCorner<3, 3>().norm());
  return largest;
}

// A coordinate's change that turns by one or shifts by the size.
double Equilibrium::way(int k) const {
  const Eigen::Map<const Vec6> S(K_.S.data() + 6 * static_cast<std::size_t>(k));
  return 1 / std::max(S.head<3>().norm(), S.tail<3>().norm() / s_.size);
}

// A shift that is small against stiffness over inertia.
double Equilibrium::lowest_sigma() const {
  const double stiffness = largest_stiffness();
  double inertia = 0;
  for (const multibody::Link& link : s_.tree.links())
    inertia = std::max(inertia, link.inertia.m * s_.size * s_.size);
  return inertia > 0 ? std::max(1e-6 * stiffness / inertia, 1e-12) : 1;
}

bool Equilibrium::failed(StaticResult& out, std::string what) {
  out.report.status = Status::not_converged;
  out.report.time = t_;
  out.report.iterations = iterations_;
  out.report.residual = out.residual;
  int worst = -1;
  double largest = 0;
  for (int i = 0; i < s_.tree.size(); ++i)
    for (int k = 0; k < s_.tree[i].dofs; ++k)
      if (const double r = std::abs(residual_[s_.tree[i].v + k]); r > largest) largest = r, worst = i;
  if (worst >= 0) out.report.worst = s_.model.joints()[worst].name;
  out.report.message = worst >= 0 ? fmt::format("{}; worst at joint \"{}\"", what, out.report.worst) : what;
  return false;
}

std::vector<SpringTension> spring_tensions(const System& system, const State& state) {
  const SystemData& s = system.data();
  std::vector<LinkMotion> links(s.tree.size());
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), links);
  const auto pose = [&](const LinkPoint& at) { return at.link < 0 ? Pose{} : links[at.link].X_WM; };
  const auto twist = [&](const LinkPoint& at) { return at.link < 0 ? Vec6(Vec6::Zero()) : links[at.link].V; };
  std::vector<SpringTension> out;
  for (std::size_t k = 0; k < s.springs.size(); ++k) {
    const SpringEnds& e = s.springs[k];
    const auto at = elastic::spring_state(e.law, pose(e.a), e.a.p, twist(e.a), pose(e.b), e.b.p, twist(e.b));
    out.push_back({s.model.springs()[k].name, at.length, at.tension});
  }
  return out;
}

namespace {

StaticResult settle(const System& system, State& state, Workspace& workspace, const StaticOptions& options,
                    const std::vector<int>* ends, std::unique_ptr<multibody::SmallMotion>* motion) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  StaticResult out;
  State at = state;
  if (!s.contacts.empty() && !settle_touching(s, at, options, out)) return out;
  const int steps = out.report.iterations;
  w.leans_on = at.touching;
  Equilibrium equilibrium(s, at, w, options);
  const bool found = w.leans_on.empty() ? equilibrium.solve(out) : equilibrium.stand(out);
  if (found) equilibrium.finish(out);
  if (found && motion) *motion = equilibrium.small_motion(*ends);
  out.report.iterations += steps;
  out.touches = touch_reactions(s, w.leans_on);
  w.leans_on.clear();
  w.load = w.weight = 1;
  std::fill(w.servo.begin(), w.servo.end(), ServoState::linear);
  if (!found) return out;
  state.q = equilibrium.q();
  state.cables = w.cable_from;
  state.touching = at.touching, state.overlap = at.overlap;
  std::fill(state.v.begin(), state.v.end(), 0.0);
  std::fill(state.a.begin(), state.a.end(), 0.0);
  out.energy = energy(system, state, workspace);
  return out;
}

}  // namespace

StaticResult solve_static(const System& system, State& state, Workspace& workspace,
                          const StaticOptions& options) {
  return settle(system, state, workspace, options, nullptr, nullptr);
}

StaticMotion solve_static_motion(const System& system, State& state, Workspace& workspace,
                                 const std::vector<int>& ends, const StaticOptions& options) {
  StaticMotion out;
  out.result = settle(system, state, workspace, options, &ends, &out.motion);
  return out;
}

}  // namespace limber::articulated
