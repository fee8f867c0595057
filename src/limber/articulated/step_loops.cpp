// Loops in a step. Positions stay closed by a projection along H⁻¹Gᵀ with the factor at hand (a chord
// iteration), velocities likewise: no stiff term, no limit on h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/stepper.h"
#include "limber/math/stop.h"
#include "limber/result/warnings.h"

namespace limber::articulated {

using result::Status;

double Stepper::place_end() {
  Blocks& b = *w_.blocks;
  multibody::poses(tree_, w_.q_end.data(), b.links_end, w_.workers.get());
  place_loops(s_, w_.q_end.data(), b.links_end, b.loops_end);
  return largest_gap(s_, b.loops_end);
}

// Moves q_end onto the loops; velocity_share of the shift, over h, goes into v_end and w_.a.
bool Stepper::close_positions(double h, double velocity_share) {
  Blocks& b = *w_.blocks;
  double previous = 0;
  for (int round = 0; round < 60; ++round) {
    int worst = -1;
    place_end();
    const double gap = largest_gap(s_, b.loops_end, &worst);
    if (!std::isfinite(gap)) return fail_non_finite(state_.t);
    const bool still = round > 2 && gap > 0.5 * previous && gap <= 1e-10 * s_.size;
    if (gap <= gap_tolerance() || still) {
      report_.loop_gap = std::max(report_.loop_gap, gap / s_.size);
      return true;
    }
    if (round > 12 && gap > 0.9 * previous) {
      report_.worst = s_.loops[worst].name;
      return fail(
          Status::not_converged, state_.t,
          fmt::format("loop \"{}\" does not close: a gap of {:.3g} m is left", s_.loops[worst].name, gap),
          -1);
    }
    if (round > 0 && gap > 0.3 * previous && !factor_at_end()) break;  // the factor at hand is too far away
    previous = gap;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) b.rhs.g[l] = -b.loops_end[l].gap;
    add_sticking_gaps();
    for (Vec6& f : b.rhs.wrench) f.setZero();
    std::fill(b.rhs.tau.begin(), b.rhs.tau.end(), 0.0);
    if (!solve_blocks(s_, w_, b.x, true)) break;
    multibody::integrate(tree_, w_.q_end.data(), b.x.a.data(), 1, w_.q_mid.data());
    std::swap(w_.q_end, w_.q_mid);
    if (velocity_share > 0)
      for (std::size_t k = 0; k < w_.v_end.size(); ++k) {
        w_.v_end[k] += velocity_share * b.x.a[k] / h;
        w_.a[k] += velocity_share * b.x.a[k] / (h * h);
      }
  }
  return fail(Status::not_converged, state_.t, "the loops do not close; a smaller step may help", -1);
}

// Inertia and loops at q_end, factored anew.
bool Stepper::factor_at_end() {
  std::fill(w_.v_mid.begin(), w_.v_mid.end(), 0.0);
  evaluate(s_, w_.q_end.data(), w_.v_mid.data(), state_.t, {0, 0, 0}, w_);
  if (rubs_close()) add_sticking_rows();
  return factor_blocks(s_, w_);
}

// Makes v_end obey the loops at q_end.
bool Stepper::project_velocities() {
  return find_velocities() ||
         fail(Status::not_converged, state_.t,
              "no velocity obeys the loops: they contradict each other in this pose", -1);
}

bool Stepper::find_velocities() {
  Blocks& b = *w_.blocks;
  double previous = 0;
  for (int round = 0; round < 30; ++round) {
    place_end();
    multibody::set_kinematics(w_.q_end.data(), b.links_end, b.end);
    multibody::jacobian_times(b.end, w_.v_end.data(), b.twist.data());
    double largest = 0, speed = 1e-30;
    for (const Vec6& phi : b.twist) speed = std::max(speed, phi.cwiseAbs().maxCoeff());
    put_loop_rows(s_, b.loops_end, b.end);
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      b.rhs.g[l] = -multibody::loop_times(b.end, static_cast<int>(l), b.twist.data());
    }
    add_sticking_rates();
    for (const Vec6& g : b.rhs.g) largest = std::max(largest, g.cwiseAbs().maxCoeff());
    if (largest <= 1e-13 * speed) return true;
    if (round == 29) return largest <= 1e-8 * speed;
    if (round > 0 && largest > 0.3 * previous && !factor_at_end()) return false;
    previous = largest;
    for (Vec6& f : b.rhs.wrench) f.setZero();
    std::fill(b.rhs.tau.begin(), b.rhs.tau.end(), 0.0);
    if (!solve_blocks(s_, w_, b.x, true)) return false;
    for (std::size_t k = 0; k < w_.v_end.size(); ++k) w_.v_end[k] += b.x.a[k];
  }
  return true;
}

// Stages whose velocities or accelerations obey the loops do not stand on them. Rows that hang on others on
// the loops are not the same from stage to stage off them, and hold what should move: those that the step's
// start can do without are left out of it.
bool Stepper::leave_contradicting_rows_out(double t, double h) {
  if (w_.blocks && w_.blocks->gaba) w_.blocks->gaba->leave_none_out();
  const bool by_position = order_of(now_) == 1 || midpoint() || closed_stages_;
  if (!s_.rows_contradict || by_position) return true;
  set_locks(t, h, 1, h);
  evaluate(s_, state_.q.data(), state_.v.data(), t, {0, 0, 0}, w_);
  if (!factor_blocks(s_, w_)) return false;
  report_.redundant_rows = std::max(report_.redundant_rows, w_.blocks->gaba->dropped_rows());
  w_.blocks->gaba->leave_dropped_out();
  return true;
}

void Stepper::note_redundant_rows() {
  const Blocks& b = *w_.blocks;
  if (!b.gaba || b.gaba->dropped_rows() == 0) return;
  report_.redundant_rows = std::max(report_.redundant_rows, b.gaba->dropped_rows());
  if (!report_.redundant.empty()) return;
  const bool sticks = any_sticks();  // it holds what the loops hold too, and lets go again
  for (std::size_t l = 0; l < s_.loops.size(); ++l) {
    int rows = 0;
    for (int r = 0; r < closing_row_count(s_.loops[l].kind); ++r) rows += b.x.dropped[6 * l + r];
    if (rows == 0) continue;
    if (s_.asked_loops[l])
      result::add_warning(
          report_,
          fmt::format("loop \"{}\" has dependent constraints: its reaction is one of many that are possible",
                      s_.loops[l].name));
    if (sticks) continue;
    if (!report_.redundant.empty()) report_.redundant += ", ";
    report_.redundant += fmt::format("{} ({})", s_.loops[l].name, rows);
  }
}

bool Stepper::assemble() {
  Blocks& b = *w_.blocks;
  std::copy(state_.q.begin(), state_.q.end(), w_.q_end.begin());
  std::copy(state_.v.begin(), state_.v.end(), w_.v_end.begin());
  std::fill(w_.a.begin(), w_.a.end(), 0.0);
  std::fill(w_.rub.begin(), w_.rub.end(), std::int8_t{1});  // nothing sticks
  hold_motions();
  const std::vector<double> zero(tree_.v_count(), 0.0);
  // The nearest by inertia; where beams stretch by stiffness too, so that they bend rather than stretch.
  const bool stretches =
      std::ranges::any_of(s_.traces, [](const elastic::BeamTrace& t) { return !t.give.empty(); });
  const Weights nearest{0, stretches ? 1.0 : 0.0, 0};  // [s²]
  double previous = 0;
  for (int round = 0; round < 100; ++round) {
    stop_if_requested();
    evaluate(s_, w_.q_end.data(), zero.data(), state_.t, nearest, w_);
    int worst = -1;
    const double gap = largest_gap(s_, b.loops, &worst);
    if (!factor_blocks(s_, w_)) return fail_pivot(state_.t);
    if (gap <= gap_tolerance() || (round > 5 && gap <= 1e-10 * s_.size && gap > 0.5 * previous)) break;
    if (round == 99 || !std::isfinite(gap)) {
      report_.worst = s_.loops[worst].name;
      return fail(
          Status::not_converged, state_.t,
          fmt::format("loop \"{}\" cannot close: a gap of {:.3g} m is left", s_.loops[worst].name, gap), -1);
    }
    previous = gap;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) b.rhs.g[l] = -b.loops[l].gap;
    for (Vec6& f : b.rhs.wrench) f.setZero();
    std::fill(b.rhs.tau.begin(), b.rhs.tau.end(), 0.0);
    if (!solve_blocks(s_, w_, b.x, true))
      return fail(Status::not_converged, state_.t, "the loops do not close", -1);
    double largest = 0;
    for (const double x : b.x.a) largest = std::max(largest, std::abs(x));
    const double share = largest > 0.3 ? 0.3 / largest : 1;  // no wild turns far from the loop
    multibody::integrate(tree_, w_.q_end.data(), b.x.a.data(), share, w_.q_mid.data());
    std::swap(w_.q_end, w_.q_mid);
  }
  if (!project_velocities()) return false;
  state_.q = w_.q_end;
  state_.v = w_.v_end;
  return true;
}

}  // namespace limber::articulated
