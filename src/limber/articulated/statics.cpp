#include "limber/articulated/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/tangent.h"

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
      moved_(s.tree, pattern_),
      rhs_(K_),
      x_(K_),
      gaba_(s.tree, pattern_, false),
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
  for (const CompiledMotion& m : s_.motions) {
    double v[6];
    prescribed(m, s_.tree[m.link], t_, q_.data() + s_.tree[m.link].q, v);
  }
  std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
  circulatory_ = !s_.wind_shapes.empty() || std::any_of(s_.loads.begin(), s_.loads.end(), [](const auto& l) {
    return l.follows || !l.moment.is_zero();
  });
}

bool Equilibrium::solve(StaticResult& out) {
  const std::vector<double> start = q_;
  for (int parts = std::max(1, options_.load_steps); parts <= 64; parts *= 4) {
    q_ = start;
    for (Vec6& l : lambda_) l.setZero();
    std::fill(touched_.begin(), touched_.end(), 0);
    std::fill(changes_.begin(), changes_.end(), 0);
    std::fill(w_.servo.begin(), w_.servo.end(), ServoState::linear);
    bool good = true;
    for (int k = 1; good && k <= parts; ++k) {
      w_.load = options_.load * (static_cast<double>(k) / parts);
      good = find_within_limits(out, k == parts);
    }
    w_.load = options_.load;
    if (good) return true;
    if (iterations_ >= options_.max_iterations * 4) break;
  }
  return false;
}

void Equilibrium::finish(StaticResult& out) {
  assemble(0);
  gaba_.factor(K_, true);
  const auto d = gaba_.directions();
  out.negative = d.negative;
  out.least_pivot = d.least;
  out.moved_pivots = d.moved;
  out.redundant_rows = gaba_.dropped_rows();
  out.gap = s_.loops.empty() ? 0 : largest_gap(s_, loops_) / s_.size;
  out.circulatory = circulatory_;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (touched_[l])
      out.stops.push_back({limit.loop >= 0 ? s_.loops[limit.loop].name : s_.model.joints()[limit.link].name,
                           limit.dof, limit.bound, limit_force_[l]});
  }
  find_modes(out);
  reactions(out);
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
    for (Vec6& g : scaled) g *= augment_;
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

// One load level. Quadratic at the end; `last` iterates until rounding stops it.
bool Equilibrium::find(StaticResult& out, bool last) {
  double sigma = 0, best = std::numeric_limits<double>::infinity();
  int still = 0;
  for (int k = 0; k < options_.max_iterations; ++k, ++iterations_) {
    if (k % 10 == 0) set_augment();
    assemble(sigma);
    double acting = 0;
    const double gap = this->gap();
    if (!std::isfinite(gap) || !std::isfinite(w_.tau.empty() ? 0.0 : w_.tau[0]))
      return failed(out, "a value is no longer finite");
    if (!gaba_.factor(K_, true))
      return failed(out,
                    fmt::format("nothing holds more than {} joints, \"{}\" among them: no spring, no weight",
                                Gaba::most_borders, s_.model.joints()[gaba_.bad_link()].name));
    while (gaba_.directions().negative > 0) {  // raise σ until every direction is held
      sigma = sigma > 0 ? 4 * sigma : lowest_sigma();
      if (sigma > 1e30) return failed(out, "no shift makes the tangent positive");
      assemble(sigma);
      gaba_.factor(K_, true);
    }
    gaba_.solve(rhs_, scratch_, x_);
    if (circulatory_) complete_step(sigma);
    lambda_ = x_.lambda;
    const double left = leftover(acting);
    acting_ = acting;
    out.residual = acting > 0 ? left / acting : 0;
    double step = 0;
    for (const double a : x_.a) step = std::max(step, std::abs(a));
    if (!std::isfinite(step)) return failed(out, "a value is no longer finite");
    const double measure = std::max(out.residual, gap);
    if (measure <= options_.tolerance && gap <= 1e-12 && (sigma == 0 || step < 1e-10)) {
      // At rounding: one more step costs little, and stops when it no longer helps.
      if (!last || measure >= 0.5 * best || measure == 0 || ++still > 2) return report_done(out);
    }
    // A step below rounding: nothing more to gain, whatever rounding leaves of stiff springs' forces.
    if (sigma == 0 && step <= 1e-12 * std::max(1.0, s_.size) && gap <= 1e-11) {
      multibody::integrate(s_.tree, q_.data(), x_.a.data(), 1, trial_.data());
      std::swap(q_, trial_);
      return report_done(out);
    }
    best = std::min(best, measure);
    const double largest_turn = 0.5;
    double share = step > largest_turn ? largest_turn / step : 1;
    if (!move(share, sigma, measure)) {
      if (measure <= 1e-9) return report_done(out);
      sigma = sigma > 0 ? 10 * sigma : lowest_sigma();
      if (sigma > 1e20) break;
      continue;
    }
    sigma = sigma > 10 * lowest_sigma() ? sigma / 10 : 0;
    if (touch_limits()) best = std::numeric_limits<double>::infinity();
  }
  return failed(
      out,
      fmt::format("no equilibrium found in {} iterations: forces of {:.2g} of those that act are left over",
                  iterations_, out.residual));
}

// Newton until no limit is passed, none pulls, and every servo pushes as it can.
bool Equilibrium::find_within_limits(StaticResult& out, bool last) {
  const int rounds = 20 + 4 * static_cast<int>(s_.limits.size() + s_.drives.size());
  for (int round = 0; round < rounds; ++round) {
    if (!find(out, last)) return false;
    if (!let_go() && !update_servos()) return true;
  }
  return failed(out, "limits and servos do not settle");
}

bool Equilibrium::touch_limits() {
  bool more = false;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (touched_[l] || changes_[l] > 3) continue;
    const double over =
        (limit.upper ? 1 : -1) * (limit_coordinate(s_, limit, q_.data(), &loops_) - limit.bound);
    if (over <= 1e-13 * (1 + std::abs(limit.bound))) continue;
    touched_[l] = 1;
    more = true;
  }
  return more;
}

// What every touched limit pushes with on its coordinate; lets go of the one that would pull most.
bool Equilibrium::let_go() {
  limit_force_.assign(s_.limits.size(), 0);
  std::size_t worst = 0;
  double pull = 0;
  for (std::size_t l = 0; l < s_.limits.size(); ++l) {
    const Limit& limit = s_.limits[l];
    if (!touched_[l]) continue;
    limit_force_[l] =
        limit.loop >= 0 ? -lambda_[limit.loop][limit_rows_[l]]
                        : limit_row(s_, limit, q_.data())
                              .head(s_.tree[limit.link].dofs)
                              .dot(gaba_.lock_force(limit.link, scratch_, x_).head(s_.tree[limit.link].dofs));
    if (const double p = (limit.upper ? 1 : -1) * limit_force_[l]; p > pull) pull = p, worst = l;
  }
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

// Takes as much of the step as lowers the energy or the forces left over.
bool Equilibrium::move(double share, double sigma, double before) {
  const double energy0 = potential(q_);
  const std::vector<double> pushed = residual_;
  for (int halving = 0; halving < 12; ++halving, share /= 2) {
    multibody::integrate(s_.tree, q_.data(), x_.a.data(), share, trial_.data());
    if (sigma > 0) close(trial_);
    const double energy1 = potential(trial_);
    if (!std::isfinite(energy1)) continue;
    std::swap(q_, trial_);
    const double after = measure_at();
    // Downhill: the energy falls, or, where loads have none, the forces do work on the way.
    double work = 0;
    for (std::size_t k = 0; circulatory_ && k < pushed.size(); ++k)
      work += (pushed[k] + residual_[k]) * x_.a[k];
    const bool downhill = circulatory_ ? work > 0 : energy1 < energy0;
    if (after < before || (sigma > 0 && downhill) || (share == 1 && before > 1e-3 && after < 10 * before))
      return true;
    std::swap(q_, trial_);
  }
  return false;
}

// Back onto the loops, so that energies compare: a chord iteration with the factor at hand.
void Equilibrium::close(std::vector<double>& q) {
  if (s_.loops.empty()) return;
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  std::vector<double> moved(q.size());
  BlockRhs open(K_);
  BlockSolution back(K_);
  for (int round = 0; round < 8; ++round) {
    multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
    place_loops(s_, w_.links, loops_);
    if (largest_gap(s_, loops_) <= 1e-12 * s_.size) return;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) open.g[l] = -loops_[l].gap;
    gaba_.solve(open, scratch_, back, true);
    multibody::integrate(s_.tree, q.data(), back.a.data(), 1, moved.data());
    std::swap(q, moved);
  }
}

// Forces left over at q_ with the multipliers at hand.
double Equilibrium::measure_at() {
  assemble(0);
  double acting = 0;
  const double left = leftover(acting);
  return std::max(acting > 0 ? left / acting : 0, gap());
}

double Equilibrium::potential(const std::vector<double>& q) {
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
  const Vec3 g = w_.load * s_.model.gravity().value(t_);
  double sum = multibody::gravity_energy(s_.tree, w_.links, g) + elastic_energy(s_, q.data(), w_.links);
  for (const CompiledLoad& l : s_.loads)
    if (!l.follows) sum -= w_.load * l.force.value(t_).dot(w_.links[l.at.link].X_WM * l.at.p);
  return sum;
}

// ρ of the size of the stiffness that stands on the diagonal.
void Equilibrium::set_augment() {
  if (s_.loops.empty()) return;
  augment_ = 0;
  assemble(0);
  double largest = 0;
  for (const double b : K_.joint) largest = std::max(largest, std::abs(b));
  for (const Mat6& A : K_.diagonal)
    largest = std::max(largest, A.topLeftCorner<3, 3>().cwiseAbs().maxCoeff());
  augment_ = largest > 0 ? largest / (s_.size * s_.size) : 1;
}

// A shift that is small against stiffness over inertia.
double Equilibrium::lowest_sigma() const {
  double stiffness = 0, inertia = 0;
  for (const double b : K_.joint) stiffness = std::max(stiffness, std::abs(b));
  for (const Mat6& A : K_.diagonal)
    stiffness = std::max(stiffness, A.diagonal().head<3>().cwiseAbs().maxCoeff());
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
  Equilibrium equilibrium(s, state, w, options);
  const bool found = equilibrium.solve(out);
  if (found) equilibrium.finish(out);
  if (found && motion) *motion = equilibrium.small_motion(*ends);
  w.load = 1;
  std::fill(w.servo.begin(), w.servo.end(), ServoState::linear);
  if (!found) return out;
  state.q = equilibrium.q();
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
