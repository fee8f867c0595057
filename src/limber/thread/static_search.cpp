// Where threads come to rest: Newton on the exact tangent, downhill, along the threads' own arcs.
//
//   (K + σD) δ = f − ∇V,    K = K_m + K_g,   D = K_m + μM
//
// K_m is the stiffness of the strains, K_g that of the stresses (how strains curve), so that the matrix is
// (1 + σ) (K_m + K_g/(1 + σ) + σ/(1 + σ) μM). σ = 0 near a stable rest. Where the tangent has negative
// directions into which the forces push, σ is raised until it has none: then the potential Π falls along δ.
// In the metric of the stiffness a σ of order one makes good a stress of the order of the buckling load on
// any mesh and at any slenderness; μM holds what no strain holds.
//
// A step goes along arcs (static_motion.h) and strains a thread by what the equations say. So Π alone tells
// whether it helps, however thin the thread is: it has to lie below the highest of the last few (Grippo,
// Lampariello and Lucidi 1986), else the step is halved. Loads that have no potential are booked by their
// work along the way, with the mean of the forces at the step's two ends.
//
// It ends when what is still to come is known to be small: a whole Newton step that displaces nothing by more
// than `tolerance` of the size and turns nothing by more (in rad), with the rate at which steps shrink.
#include "limber/thread/static_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/stop.h"

namespace limber::thread {
namespace {

constexpr double least_shift = 0.01;  // σ: Newton with it still gains two digits a step
constexpr double most_shift = 1e12;   // nothing moves any more
// In one step: of a node; of an element's nodes against each other, whose turn is a strain; of a strain.
constexpr double largest_turn = 1.0, largest_bend = 0.5, largest_strain = 0.3;
constexpr int most_iterations_at_once = 600;  // beyond that another way is better
constexpr int corrections = 3;                // of a step that is not downhill, before it is halved
constexpr std::size_t memory = 5;             // levels that a step is compared with
constexpr double levels_tell = 1e-11;  // of what Π is the sum of: a change that rounding does not make
constexpr double near_enough = 1e-6;   // a step that no longer shrinks ends the search below this
constexpr double unfelt = 1e-9;        // share of the push that goes into unstable directions by rounding

}  // namespace

StaticSearch::StaticSearch(const SystemData& s, State& state, WorkspaceData& w, const StaticOptions& options,
                           StaticResult& out)
    : s_(s), state_(state), w_(w), options_(options), out_(out), motion_(s, state, w) {
  push_.resize(12 * static_cast<std::size_t>(nodes()));
  loads_.resize(push_.size());
  correction_.resize(push_.size());
}

// Forces as a length-weighted norm: x_,x and the directors act over an element.
double StaticSearch::norm(const double* r) const {
  double sum = 0;
  for (int j = 0; j < nodes(); ++j) {
    const double l = w_.length[j] > 0 ? w_.length[j] : w_.length[j - 1];
    for (int i = 0; i < 3; ++i) sum += r[12 * j + i] * r[12 * j + i];
    for (int i = 3; i < 12; ++i) sum += r[12 * j + i] * r[12 * j + i] / (l * l);
  }
  return std::sqrt(sum);
}

bool StaticSearch::failed(const std::string& why) {
  why_ = why;
  return false;
}

// Of the slowest bending of a thread, and of how the forces would turn it.
double StaticSearch::mass_of_metric() const {
  const ThreadInfo& t = s_.threads[0];
  const double m = t.rod.density * t.rod.A, L = t.length;
  double force = 0;
  for (int j = 0; j < nodes(); ++j) force += Eigen::Map<const Vec3>(w_.external.data() + 12 * j).norm();
  return t.rod.E * std::max(t.rod.I_y, t.rod.I_z) / (m * L * L * L * L) + force / (m * L * L);
}

// The tangent at w.e with its shift, factored; what is left of the forces in push_.
bool StaticSearch::factored() {
  ++out_.report.total_iterations;
  w_.elements.geometric = 1 / (1 + sigma_);
  const bool good = evaluate_tangent(s_, w_.e.data(), {mass_ * sigma_ / (1 + sigma_)}, w_);
  w_.elements.geometric = 1;
  if (!good) return false;
  external_forces(s_, state_, w_.e.data(), state_.t, load_, 0, true, w_);
  if (mass_ == 0) mass_ = mass_of_metric();  // the first tangent has no shift
  take_residual();
  motion_.take_shape();
  motion_.take_columns();
  hold(w_, nodes(), push_.data(), true, w_.elements);
  factor(s_, nodes(), nodes() / 2, w_);
  return true;
}

void StaticSearch::take_residual() {
  const auto n = push_.size();
  to_node_axes(w_, nodes(), w_.external.data(), push_.data());
  const Rod& rod = s_.threads[0].rod;
  const double acting = norm(push_.data()) + 1e-12 * rod.E * rod.A + norm(w_.elements.g.data()) * 1e-3;
  for (std::size_t i = 0; i < n; ++i) push_[i] -= w_.elements.g[i];
  std::copy(push_.begin(), push_.end(), w_.rhs.begin());
  hold(w_, nodes(), w_.rhs.data(), false, w_.elements);
  out_.residual = norm(w_.rhs.data()) / acting;
}

// Stresses that balance the forces in the threads' present shape, by the stiffness of the strains alone.
bool StaticSearch::foresee() {
  const double sigma = sigma_;
  sigma_ = most_shift;
  w_.elements.foresees = false;
  const bool good = factored();
  sigma_ = sigma;
  if (!good || w_.solver.negative() > 0) return false;
  std::copy(push_.begin(), push_.end(), w_.delta.begin());
  w_.solver.solve(w_.delta.data());
  motion_.foresee(w_.delta.data());
  w_.elements.foresees = true;
  return true;
}

// The step of the least shift, from the present one on, that goes downhill; in w_.delta.
bool StaticSearch::shifted_step() {
  w_.elements.foresees = false;
  for (;; sigma_ = sigma_ > 0 ? 4 * sigma_ : least_shift) {
    stop_if_requested();
    if (sigma_ > most_shift) return failed("no shift makes the tangent positive");
    if (!factored()) return failed("a section is turned inside out");
    std::copy(push_.begin(), push_.end(), w_.delta.begin());
    w_.solver.solve(w_.delta.data());
    bool unstable = w_.solver.negative() > 0;
    if (sigma_ == 0 && !w_.elements.foresees) {
      out_.negative = w_.solver.negative();
      if (unstable && w_.solver.negative_share(w_.delta.data()) < unfelt) unstable = false;
    }
    if (!unstable) break;
    if (!w_.elements.foresees && !in_vain_ && foresee()) {
      if (!factored()) return failed("a section is turned inside out");
      std::copy(push_.begin(), push_.end(), w_.delta.begin());
      w_.solver.solve(w_.delta.data());
      if (w_.solver.negative() == 0) break;
      in_vain_ = true;
    }
  }
  if (sigma_ == 0) in_vain_ = false;
  motion_.take_step(w_.delta.data(), push_.data());
  for (std::size_t i = 0; i < push_.size(); ++i) w_.delta[i] /= 1 + sigma_;
  w_.elements.foresees = false;
  return true;
}

// Π at w.e without the work of loads, after evaluate().
StaticSearch::Level StaticSearch::level() {
  Level out;
  for (int j = 0; j < nodes(); ++j)
    if (w_.length[j] > 0) out.value += w_.elements.energy[0][j];
  const double weight = gravity_potential(s_, state_, w_.e.data(), state_.t, load_, w_);
  const double springs = tether_energy(s_, state_, w_.e.data(), w_);
  out.scale = out.value + std::abs(weight) + springs;
  out.value += weight + springs;
  return out;
}

// Of loads and a hand, at w.e after evaluate(), into w.external.
void StaticSearch::take_loads() {
  std::fill_n(w_.external.begin(), push_.size(), 0.0);
  load_forces(s_, state_, state_.t, load_, w_);
  hand_forces(s_, state_, w_.e.data(), w_);
}

// Whether the shape in w.e, a share of the step away, is low enough.
bool StaticSearch::downhill(double share, double highest) {
  if (!evaluate(s_, w_.e.data(), w_)) return false;
  const Level there = level();
  take_loads();
  double work = 0;
  for (std::size_t i = 0; i < push_.size(); ++i)
    work += 0.5 * (w_.external[i] + loads_[i]) * (w_.e[i] - w_.e_start[i]);
  rise_ = there.value - here_.value - work;
  told_by_level_ = share * slope_ > levels_tell * (here_.scale + there.scale + std::abs(work));
  return std::isfinite(rise_) && (!told_by_level_ || rise_ <= highest - 1e-4 * share * slope_);
}

// The same matrix takes back what forces are left beyond those that the equations foresaw, (1 − α) of them:
// by that a step bends with the valley that it follows. False: that is no small correction.
bool StaticSearch::corrected(double share) {
  if (!evaluate(s_, w_.e.data(), w_)) return false;
  external_forces(s_, state_, w_.e.data(), state_.t, load_, 0, false, w_);
  to_node_axes(w_, nodes(), w_.external.data(), correction_.data());
  for (std::size_t i = 0; i < push_.size(); ++i) correction_[i] -= w_.elements.g[i] + (1 - share) * push_[i];
  hold(w_, nodes(), correction_.data(), false, w_.elements);
  motion_.solve_across(correction_.data());
  if (!(motion_.turns(correction_.data()).node < 0.5 * share * turn_)) return false;
  return motion_.moved_on(correction_.data(), w_.e.data());
}

// From a saddle the way down begins in tiny steps, as small as the push is: as long as it falls it is
// doubled.
void StaticSearch::lengthen(double share) {
  const auto n = push_.size();
  for (; 2 * share <= longest_; share *= 2) {
    const double before = rise_;
    std::copy_n(w_.e.begin(), n, w_.e_try.begin());
    std::copy_n(w_.e_start.begin(), n, w_.e.begin());
    if (motion_.moved(w_.delta.data(), 2 * share, w_.e.data()) && downhill(2 * share, before)) continue;
    std::copy_n(w_.e_try.begin(), n, w_.e.begin());
    rise_ = before;
    return;
  }
}

// Takes as much of the step as is downhill. False: none of it.
bool StaticSearch::advance(double share) {
  const auto n = push_.size();
  slope_ = 0;
  for (std::size_t i = 0; i < n; ++i) slope_ += push_[i] * w_.delta[i];
  here_ = level();
  take_loads();
  std::copy_n(w_.external.begin(), n, loads_.begin());
  std::copy_n(w_.e.begin(), n, w_.e_start.begin());
  if (highest_.empty()) highest_.push_back(0);
  const double highest = *std::ranges::max_element(highest_);
  for (halvings_ = 0; halvings_ < 30; ++halvings_, share /= 2) {
    std::copy_n(w_.e_start.begin(), n, w_.e.begin());
    bool good = false, there = motion_.moved(w_.delta.data(), share, w_.e.data());
    for (int round = 0; there && !good && round <= corrections; ++round) {
      if (round > 0) there = corrected(share);
      good = there && downhill(share, highest);
    }
    if (!good) continue;
    if (halvings_ == 0 && sigma_ > 0) lengthen(share);
    // Levels are kept against the present one.
    for (double& x : highest_) x -= rise_;
    if (highest_.size() == memory) highest_.erase(highest_.begin());
    highest_.push_back(0);
    displaced_ = 0;
    for (int j = 0; j < nodes(); ++j) {
      const Eigen::Map<const Vec3> x(w_.e.data() + 12 * j), x0(w_.e_start.data() + 12 * j);
      displaced_ = std::max(displaced_, (x - x0).norm() / s_.size);
    }
    return true;
  }
  std::copy_n(w_.e_start.begin(), n, w_.e.begin());
  return false;
}

bool StaticSearch::find(double load) {
  load_ = load;
  sigma_ = 0;
  in_vain_ = false;
  highest_.clear();
  place_fixes(s_, state_, state_.t, w_.e.data(), w_);
  mass_ = 0;
  double last = 0;  // whole Newton step; 0: there was none
  const auto limit =
      std::min<std::int64_t>(options_.max_iterations, out_.report.total_iterations + most_iterations_at_once);
  while (out_.report.total_iterations < limit) {
    if (!shifted_step()) return false;
    const Turns turns = motion_.turns(w_.delta.data());
    if (!std::isfinite(turns.node)) return failed("a value is no longer finite");
    longest_ =
        std::min({largest_turn / turns.node, largest_bend / turns.element, largest_strain / turns.strain});
    const double share = std::min(1.0, longest_);
    turn_ = turns.node;
    if (!advance(share)) {
      sigma_ = sigma_ > 0 ? 10 * sigma_ : least_shift;
      continue;
    }
    if (sigma_ == 0 && share == 1 && halvings_ == 0) {
      // What is to come: this step's error if steps shrink as they did, at most the step itself.
      const double step = std::max(displaced_, turns.node), rate = last > 0 ? step / last : 1;
      if (step * std::min(1.0, rate < 0.5 ? rate / (1 - rate) : 1.0) <= options_.tolerance) return true;
      if (!told_by_level_ && rate > 0.5 && step < near_enough) return true;
      last = step;
    } else {
      last = 0;
    }
    if (halvings_ > 2)
      sigma_ = sigma_ > 0 ? 4 * sigma_ : least_shift;
    else if (halvings_ == 0)
      sigma_ = sigma_ > 4 * least_shift ? sigma_ / 4 : 0;
  }
  return failed("");
}

}  // namespace limber::thread
