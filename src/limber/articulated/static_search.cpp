// Newton for an equilibrium, on a path that keeps the loops closed.
//
// A rest is a minimum of the potential Π on the loops gap(q) = 0. From a q on them the step is
//   [K + σD, Gᵀ; G, 0] (δ, λ) = (f, 0),     q⁺ = closed(q ⊕ α δ).
// K is the exact tangent with λ's geometric stiffness; D, the metric of steps, is the stiffness of springs
// and joint laws and a little inertia. σ = 0 near a stable rest. Where K has negative directions within the
// loops σ is raised until it has none: then f·δ > 0, Π falls along δ, and the structure rolls downhill
// instead of stopping on a saddle. In this metric geometric stiffness of the size of the elastic one is made
// good by a σ of order one, whatever the mesh; in that of the inertia alone σ would have to hold the softest
// direction of all and shrink every other. Because q stays on the loops, Π alone says whether a step helps,
// and λ enters no test. α is at most what turns a joint by half a radian or moves a link by half the
// structure's size, and is halved until Π lies below the highest of the last few (Grippo, Lampariello and
// Lucidi 1986): stiff springs make curved valleys which a path that must always fall follows in tiny steps.
// A limit on the way ends the step on it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/tangent.h"
#include "limber/math/dense.h"
#include "limber/math/stop.h"

namespace limber::articulated {

using multibody::BlockRhs;
using multibody::BlockSolution;
using multibody::Gaba;
using multibody::Link;

namespace {

constexpr double least_shift = 0.01;       // σ: Newton with it still gains two digits a step
constexpr double most_shift = 1e14;        // of D: nothing moves any more
constexpr double largest_turn = 0.5;       // [rad] of a joint in one step; of the size for what slides
constexpr double closed_enough = 1e-12;    // gap of the loops, of the size
constexpr double share_of_inertia = 1e-5;  // in D, of the largest stiffness

}  // namespace

// Newton at one load level. Quadratic at the end; `last` iterates until rounding stops it.
bool Equilibrium::find(StaticResult& out, bool last) {
  double sigma = 0, best = std::numeric_limits<double>::infinity();
  int still = 0;
  highest_.clear();
  measure_ = 1;
  if (!close_start(out)) return false;
  for (int k = 0; k < options_.max_iterations; ++k, ++iterations_) {
    stop_if_requested();
    if (k % 10 == 0) set_augment();
    if (!shifted_step(out, sigma)) return false;
    const double gap = this->gap();
    out.residual = acting_ > 0 ? left_ / acting_ : 0;
    const double step = step_size();
    if (!std::isfinite(step) || !std::isfinite(gap)) return failed(out, "a value is no longer finite");
    const double measure = measure_ = std::max(out.residual, gap);
    // At rounding: one more step costs little, and stops when it no longer helps.
    if (measure <= options_.tolerance && gap <= closed_enough && (sigma == 0 || step < 1e-10))
      if (!last || measure >= 0.5 * best || measure == 0 || ++still > 2) return report_done(out);
    // A step below rounding, and no more force left over than rounding of stiff springs explains.
    if (step <= 1e-12 && gap <= 10 * closed_enough && left_ <= rounding_of_forces()) return report_done(out);
    best = std::min(best, measure);
    if (!advance(std::min(1.0, largest_turn / step), sigma, measure)) {
      if (measure <= 1e-9) return report_done(out);
      sigma = sigma > 0 ? 10 * sigma : least_shift;
      if (sigma > most_shift) break;
      continue;
    }
    if (halvings_ > 2)  // the model was far off
      sigma = sigma > 0 ? 4 * sigma : least_shift;
    else if (halvings_ == 0)
      sigma = sigma > 4 * least_shift ? sigma / 4 : 0;
  }
  return failed(
      out,
      fmt::format("no equilibrium found in {} iterations: forces of {:.2g} of those that act are left over",
                  iterations_, out.residual));
}

// The step of K + σD with the least σ from `sigma` on that holds every direction; λ and what is left over.
bool Equilibrium::shifted_step(StaticResult& out, double& sigma) {
  assemble(0);
  if (!std::isfinite(w_.tau.empty() ? 0.0 : w_.tau[0])) return failed(out, "a value is no longer finite");
  if (!factor_metric()) return failed(out, "links without inertia that nothing holds");
  if (!s_.loops.empty() && measure_ > 1e-6) {
    // λ at q by least squares: what the loops carry while the structure is let go in the metric of steps. A
    // step's own λ is that of its far end, straight on: where steps are long it says little of K here.
    metric_.solve(rhs_, scratch_, x_);
    lambda_ = x_.lambda;
    assemble(0);
  }
  if (sigma > 0) add_metric(sigma);
  while (!gaba_.factor(K_, true) || gaba_.directions().negative > 0) {
    if (sigma == 0 && gaba_.bad_link() >= 0)
      return failed(out,
                    fmt::format("nothing holds more than {} joints, \"{}\" among them: no spring, no weight",
                                Gaba::most_borders, s_.model.joints()[gaba_.bad_link()].name));
    const double more = sigma > 0 ? 4 * sigma : least_shift;
    if (more > most_shift) return failed(out, "no shift makes the tangent positive");
    add_metric(more - sigma);
    sigma = more;
  }
  gaba_.solve(rhs_, scratch_, x_);
  if (sigma > 0 && !circulatory_ && pushes_only_where_stable(sigma)) {
    add_metric(-sigma);
    gaba_.factor(K_, true);
    gaba_.solve(rhs_, scratch_, x_);
    sigma = 0;
  }
  if (circulatory_) complete_step(sigma);
  lambda_ = x_.lambda;
  left_ = leftover(acting_);
  return true;
}

// Whether the forces do not push at all into the directions in which K is negative, as on a flat beam that is
// bent in its plane beyond the load at which it buckles out of it. Then Newton's own step goes downhill, and
// σ would only shrink it. The directions into which they push are those of the Krylov space of (K + σD)⁻¹D
// from the step at hand; Lanczos' values there, θ = 1/(k + σ), tell their stiffness k. What is not seen after
// a few of them is at rounding level.
bool Equilibrium::pushes_only_where_stable(double sigma) {
  const auto n = static_cast<Eigen::Index>(s_.tree.v_count());
  const int most = std::min<int>(16, static_cast<int>(n));
  const auto D_times = [&](const VecX& v) {
    VecX out(n);
    stiffness_times(D_, v.data(), out.data());
    return out;
  };
  BlockRhs load(K_);
  BlockSolution solved(K_);
  std::vector<VecX> V, HV;  // orthonormal in K + σD, and its products
  MatX T = MatX::Zero(most, most);
  VecX v = Eigen::Map<const VecX>(x_.a.data(), n), Hv(n);
  stiffness_times(K_, v.data(), Hv.data());  // K holds σD
  int count = 0;
  for (double norm = v.dot(Hv); count < most && norm > 0; norm = v.dot(Hv)) {
    V.push_back(v / std::sqrt(norm));
    HV.push_back(Hv / std::sqrt(norm));
    ++count;
    Hv = D_times(V.back());
    std::copy_n(Hv.data(), n, load.tau.begin());
    gaba_.solve(load, scratch_, solved, true);
    v = Eigen::Map<const VecX>(solved.a.data(), n);
    const double before = v.dot(Hv);
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < count; ++i) {
        const double c = v.dot(HV[i]);
        if (pass == 0) T(i, count - 1) = T(count - 1, i) = c;
        v -= c * V[i];
        Hv -= c * HV[i];
      }
    if (!(v.dot(Hv) > 1e-20 * before)) break;
  }
  if (count == 0) return true;
  const double largest = math::symmetric_eigen(T.topLeftCorner(count, count)).values.maxCoeff();
  return 1 / largest > sigma * (1 + 1e-6);
}

// D at q, factored within the loops.
bool Equilibrium::factor_metric() {
  assemble_metric(s_, q_.data(), inertia_share(), w_, loops_, D_);
  if (s_.loops.empty()) return true;
  D_.origin = K_.origin, D_.S = K_.S, D_.loops = K_.loops, D_.length = K_.length;
  D_.locks = K_.locks, D_.lock_index = K_.lock_index;
  return metric_.factor(D_, true);
}

void Equilibrium::add_metric(double sigma) {
  for (std::size_t i = 0; i < K_.diagonal.size(); ++i) K_.diagonal[i] += sigma * D_.diagonal[i];
  for (std::size_t i = 0; i < K_.off.size(); ++i) K_.off[i] += sigma * D_.off[i];
  for (std::size_t i = 0; i < K_.joint.size(); ++i) K_.joint[i] += sigma * D_.joint[i];
  for (auto& row : K_.elastic)  // those of D are the same
    for (Vec6& x : row) x *= std::sqrt(1 + sigma);
}

// The inertia in D, for what no spring holds: so much that it stands for a small part of the stiffness.
double Equilibrium::inertia_share() const {
  const double stiffness = largest_stiffness();
  double inertia = 0;
  for (const Link& link : s_.tree.links()) inertia = std::max(inertia, link.inertia.m * s_.size * s_.size);
  return stiffness > 0 && inertia > 0 ? share_of_inertia * stiffness / inertia : 1;
}

// The largest turn and slide of a joint in the step at hand, whatever its axes; slides of the size.
double Equilibrium::step_size() const {
  double largest = 0;
  for (const Link& link : s_.tree.links()) {
    double turn = 0, slide = 0;
    for (int k = 0; k < link.dofs; ++k) {
      const bool slides = Eigen::Map<const Vec6>(K_.S.data() + 6 * (link.v + k)).head<3>().norm() < 0.5;
      (slides ? slide : turn) += x_.a[link.v + k] * x_.a[link.v + k];
      if (std::isnan(x_.a[link.v + k])) return x_.a[link.v + k];
    }
    largest = std::max({largest, std::sqrt(turn), std::sqrt(slide) / s_.size});
  }
  return largest;
}

// What rounding of coordinates makes of the stiffest spring's force, as a force or torque of a joint. Of D: K
// holds the shift at hand, which may be anything.
double Equilibrium::rounding_of_forces() const {
  double joint = 0, line = 0, turn = 0;
  for (const double b : D_.joint) joint = std::max(joint, std::abs(b));
  for (const Mat6& A : D_.diagonal) {
    line = std::max(line, A.bottomRightCorner<3, 3>().norm());
    turn = std::max(turn, A.topLeftCorner<3, 3>().norm());
  }
  for (const auto& row : D_.elastic)
    for (const Vec6& x : row) {
      line = std::max(line, x.tail<3>().squaredNorm());
      turn = std::max(turn, x.head<3>().squaredNorm());
    }
  constexpr double ulps = 1e3 * std::numeric_limits<double>::epsilon();  // of sums over many links
  return ulps * std::max({joint, line * s_.size, turn});
}

// Takes as much of the step as is downhill. False: none of it.
bool Equilibrium::advance(double share, double sigma, double before) {
  double slope = 0;  // of Π along the step, downwards
  for (std::size_t k = 0; k < residual_.size(); ++k) slope += residual_[k] * x_.a[k];
  const double open = gap();
  const Potential here = potential(q_);
  if (highest_.size() == memory) highest_.erase(highest_.begin());
  highest_.push_back(here.value);
  const double highest = *std::max_element(highest_.begin(), highest_.end());
  const std::vector<double> pushed = residual_;
  for (halvings_ = 0; halvings_ < 30; ++halvings_, share /= 2) {
    multibody::integrate(s_.tree, q_.data(), x_.a.data(), share, trial_.data());
    if (!close(trial_) || !stop_at_limits(share)) continue;
    const Potential there = potential(trial_);
    if (!std::isfinite(there.value)) continue;
    std::swap(q_, trial_);
    bool good = !circulatory_ && there.value <= highest - 1e-4 * share * slope;
    // Too small for Π to tell, loads without a potential, loops or limits not reached yet: the forces tell.
    if (!good && (circulatory_ || open > 10 * closed_enough || share * slope < 1e-10 * here.scale)) {
      const double after = measure_at();
      double work = 0;
      for (std::size_t k = 0; k < pushed.size(); ++k) work += (pushed[k] + residual_[k]) * x_.a[k];
      good = after < before || (circulatory_ && sigma > 0 && work > 0);
    }
    if (good) {
      for (const std::size_t l : met_) touched_[l] = 1;
      return true;
    }
    std::swap(q_, trial_);
  }
  return false;
}

// Where the trial passes limits that were free, it is taken back to the first of them: q_ ⊕ share·δ.
bool Equilibrium::stop_at_limits(double& share) {
  met_.clear();
  for (int round = 0; round < 12; ++round) {
    double first = 1;
    std::size_t which = 0;
    const std::vector<double> at_q = limit_values(q_), at_trial = limit_values(trial_);
    for (std::size_t l = 0; l < s_.limits.size(); ++l) {
      const Limit& limit = s_.limits[l];
      if (touched_[l] || changes_[l] > 3) continue;
      const double sign = limit.upper ? 1 : -1, way = sign * (at_trial[l] - at_q[l]);
      const double room = std::max(0.0, sign * (limit.bound - at_q[l]));
      if (way > room + 1e-12 * (1 + std::abs(limit.bound)) && room / way < first)
        first = room / way, which = l;
    }
    if (first == 1) return true;
    met_.assign(1, which);
    share *= first;
    multibody::integrate(s_.tree, q_.data(), x_.a.data(), share, trial_.data());
    if (!close(trial_)) return false;
  }
  return true;
}

std::vector<double> Equilibrium::limit_values(const std::vector<double>& q) {
  std::vector<double> out(s_.limits.size());
  if (out.empty()) return out;
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
  place_loops(s_, q.data(), w_.links, loops_moved_);
  for (std::size_t l = 0; l < out.size(); ++l)
    out[l] = limit_coordinate(s_, s_.limits[l], q.data(), &loops_moved_);
  return out;
}

// Back onto the loops on the shortest way in the metric of steps: a chord iteration. False: it does not get
// there. (K + σD may be nearly singular along the loops; its shortest way would be a long one along them.)
bool Equilibrium::close(std::vector<double>& q) {
  if (s_.loops.empty()) return true;
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  std::vector<double> moved(q.size());
  BlockRhs open(K_);
  BlockSolution back(K_);
  double last = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 30; ++round) {
    multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
    place_loops(s_, q.data(), w_.links, loops_);
    const double gap = largest_gap(s_, loops_) / s_.size;
    if (gap <= 0.1 * closed_enough || (gap <= closed_enough && gap > 0.5 * last)) return true;
    if (!(gap < 2 * last) || gap > 1) return false;
    last = gap;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      open.g[l].setZero();
      open.g[l] = -loops_[l].gap;
    }
    metric_.solve(open, scratch_, back, true);
    multibody::integrate(s_.tree, q.data(), back.a.data(), 1, moved.data());
    std::swap(q, moved);
  }
  return false;
}

// Loops that motions opened by moving on to the time that is asked: closed by Newton in the metric of steps.
bool Equilibrium::close_start(StaticResult& out) {
  if (s_.loops.empty()) return true;
  const std::vector<Vec6> lambda = lambda_;
  for (Vec6& l : lambda_) l.setZero();
  for (int k = 0; k < 50; ++k) {
    set_augment();
    assemble(0);
    if (largest_gap(s_, loops_) <= closed_enough * s_.size) {
      lambda_ = lambda;
      return true;
    }
    if (!factor_metric()) break;
    BlockRhs open(K_);
    for (std::size_t l = 0; l < s_.loops.size(); ++l) open.g[l] = -loops_[l].gap;
    metric_.solve(open, scratch_, x_, true);
    multibody::integrate(s_.tree, q_.data(), x_.a.data(), std::min(1.0, largest_turn / step_size()),
                         trial_.data());
    std::swap(q_, trial_);
  }
  return failed(out, "loops do not close where motions put their joints");
}

// Π, and the size of the terms that it is a sum of.
Equilibrium::Potential Equilibrium::potential(const std::vector<double>& q) {
  const std::vector<double> zero(s_.tree.v_count(), 0.0);
  multibody::kinematics(s_.tree, q.data(), zero.data(), w_.links);
  const Vec3 g = w_.weight * s_.model.gravity().value(t_);
  Potential out;
  const auto add = [&out](double term) { out.value += term, out.scale += std::abs(term); };
  add(multibody::gravity_energy(s_.tree, w_.links, g));
  add(elastic_energy(s_, q.data(), w_.links, t_, w_));
  for (const CompiledLoad& l : s_.loads)
    if (!l.follows) add(-w_.load * l.force.value(t_).dot(w_.links[l.at.link].X_WM * l.at.p));
  for (const CompiledRider& rider : s_.riders) {
    RiderShare shares[2];
    const int n = rider_shares(rider, t_, shares);
    for (int k = 0; k < n; ++k)
      add(-shares[k].share * rider.mass * g.dot(w_.links[shares[k].link].X_WM * shares[k].p));
  }
  for (std::size_t d = 0; d < s_.drives.size(); ++d) add(drive_potential(d, q));
  return out;
}

// ½ f²/kp of a servo's force f while it pushes as it should; of one at its largest force, that force.
double Equilibrium::drive_potential(std::size_t d, const std::vector<double>& q) const {
  const CompiledDrive& drive = s_.drives[d];
  const Link& link = s_.tree[drive.link];
  const double still[6] = {};
  double sum = 0;
  for (int k = 0; k < link.dofs; ++k) {
    const double kp = drive.drive.kp[k], x = q[link.q + k];
    if (drive.drive.kind == Drive::Kind::force) {
      sum -= drive.drive.target[k].value(t_) * x;
    } else if (const ServoState state = w_.servo[6 * d + k]; state != ServoState::linear) {
      sum -= (state == ServoState::at_maximum ? 1 : -1) * drive.drive.max_force[k] * x;
    } else if (kp > 0) {
      const double f = servo_force(drive, link, k, q.data() + link.q, still, t_);
      sum += 0.5 * f * f / kp;
    }
  }
  return sum;
}

}  // namespace limber::articulated
