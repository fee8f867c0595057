// Fourth order, for smooth motion. On rotations and poses a step moves along u in the Lie algebra,
// q = q₀ ⊕ u, and
//
//   u̇ = v + ½ [u, v] + 1/12 [u, [u, v]] + O(u⁴)          (Munthe-Kaas 1998: dexp⁻¹, left-trivialised)
//
// so that a Runge–Kutta method of order four stays one, with stages
//
//   u_i = h Σ a_ij k_j,   v_i = v₀ + h Σ a_ij a_j,   k_j = u̇_j.
//
//   rk4     the classical explicit method: four plain solves M a = f − bias, nothing implicit
//   gauss   collocation at the two Gauss points: symmetric, does not damp; both stages are iterated
//           together, springs and dampers in their matrices with what suits A's eigenvalues best
//   sdirk4  five stages with γ = ¼ (Hairer and Wanner 1996, table IV.6.5): L-stable, for what is stiff
//
// Loops hold the stages' accelerations (index 1), so the order stays; then position and velocity are
// projected onto them. Prescribed joints have the accelerations of their functions. Where a bound acts or a
// servo is cut the step is one of sdirk, where a function of time is not smooth within it one of midpoint:
// there is no fourth order to be had.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "limber/articulated/stepper.h"
#include "limber/math/stop.h"

namespace limber::articulated {

using result::Status;

namespace {

struct Tableau {
  int stages;
  std::array<std::array<double, 5>, 5> A;
  std::array<double, 5> b, c;
};

constexpr Tableau rk4 = {4,
                         {{{0, 0, 0, 0, 0}, {0.5, 0, 0, 0, 0}, {0, 0.5, 0, 0, 0}, {0, 0, 1, 0, 0}, {}}},
                         {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6, 0},
                         {0, 0.5, 0.5, 1, 0}};

constexpr double root3 = 1.7320508075688772;
constexpr Tableau gauss = {
    2,
    {{{0.25, 0.25 - root3 / 6, 0, 0, 0}, {0.25 + root3 / 6, 0.25, 0, 0, 0}, {}, {}, {}}},
    {0.5, 0.5, 0, 0, 0},
    {0.5 - root3 / 6, 0.5 + root3 / 6, 0, 0, 0}};
// With λ the eigenvalues of A, |λ|²/Re λ: the real number that takes their place in the damping with the
// least rest, and for A² in the stiffness.
constexpr double least_with_companion = 1e-14;  // of the velocities
constexpr double gauss_damping = 1.0 / 3, gauss_stiffness = 1.0 / 6;

// h λ of what decays at a rate λ: rk4 is stable up to 2.785; beyond, rounding grows.
constexpr double most_of_explicit = 2.7;

constexpr Tableau sdirk4 = {5,
                            {{{0.25, 0, 0, 0, 0},
                              {0.5, 0.25, 0, 0, 0},
                              {17.0 / 50, -1.0 / 25, 0.25, 0, 0},
                              {371.0 / 1360, -137.0 / 2720, 15.0 / 544, 0.25, 0},
                              {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 0.25}}},
                            {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 0.25},
                            {0.25, 0.75, 11.0 / 20, 0.5, 1}};

const Tableau& tableau_of(Integrator integrator) {
  return integrator == Integrator::rk4 ? rk4 : integrator == Integrator::gauss ? gauss : sdirk4;
}

Vec3 rotation_vector(const std::vector<double>& x, const multibody::Link& link) {
  return {x[link.v], x[link.v + 1], x[link.v + 2]};
}

}  // namespace

Vec6 bracket(JointKind kind, const Vec6& u, const Vec6& v) {
  Vec6 out = Vec6::Zero();
  if (has_rotation_vector(kind)) out.head<3>() = u.head<3>().cross(v.head<3>());
  return out;
}

// k = u̇ for given u and v. False: no joint turns freely, k = v whatever u.
bool Stepper::rates_along(const std::vector<double>& u, const std::vector<double>& v,
                          std::vector<double>& k) const {
  k = v;
  bool depends = false;
  for (const Link& link : tree_.links()) {
    if (!has_rotation_vector(link.kind)) continue;
    depends = true;
    const Vec3 x = rotation_vector(u, link), y = rotation_vector(v, link);
    const Vec3 once = x.cross(y), sum = y + 0.5 * once + x.cross(once) / 12;
    std::copy_n(sum.data(), 3, k.data() + link.v);
  }
  return depends;
}

void combine(const std::vector<double>* start, double h, std::span<const double> weights,
             const std::vector<std::vector<double>>& x, int n, std::vector<double>& out) {
  for (std::size_t k = 0; k < out.size(); ++k) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += weights[j] * x[j][k];
    out[k] = (start ? (*start)[k] : 0) + h * sum;
  }
}

// What is given as a function of time moves smoothly in the step: its change is that of its rates at the
// stages.
bool Stepper::smooth_in_time(double t, double h) const {
  const Tableau& m = tableau_of(now_);
  const auto smooth = [&](const auto& start, const auto& value, const auto& rate) {
    Vec3 left = Vec3(value(t + h)) - start;
    double size = 0;
    for (int i = 0; i < m.stages; ++i) {
      const Vec3 change = h * rate(t + m.c[i] * h);
      left -= m.b[i] * change;
      size = std::max(size, change.norm());
    }
    return left.norm() <= 1e-2 * size + 1e-12 * start.norm();
  };
  const VectorFunction& g = s_.model.gravity();
  const auto g_rate = [&](double at) { return Vec3(g.c[0].rate(at), g.c[1].rate(at), g.c[2].rate(at)); };
  if (!smooth(
          g.value(t), [&](double at) { return g.value(at); }, g_rate))
    return false;
  for (const CompiledMotion& motion : s_.motions) {
    const Link& link = tree_[motion.link];
    for (int k = 0; k < link.dofs; ++k) {
      const auto velocity = [&](double at) {
        double q[7], v[6];
        prescribed(motion, link, at, q, v);
        return Vec3(v[k], 0, 0);
      };
      const auto acceleration = [&](double at) {
        return Vec3(prescribed_acceleration(motion, at, h)[k], 0, 0);
      };
      if (!smooth(Vec3(state_.v[link.v + k], 0, 0), velocity, acceleration)) return false;
    }
  }
  return true;
}

// Of a joint that follows functions of time: differences of their exact rates. What they are off by,
// (h/20)⁴ω⁵/30, is far below the step's own error.
Vec6 Stepper::prescribed_acceleration(const CompiledMotion& m, double t, double h) const {
  const Link& link = tree_[m.link];
  const auto rates = [&](double at) {
    double q[7];
    Vec6 v = Vec6::Zero();
    prescribed(m, link, at, q, v.data());
    return v;
  };
  const double d = h / 20;
  return (8 * (rates(t + d) - rates(t - d)) - (rates(t + 2 * d) - rates(t - 2 * d))) / (12 * d);
}

// Work of a field that changes, −ġ · Σ m c, over its share of the step.
void Stepper::book_field_rate(double t, double share) {
  if (!field_changes()) return;
  Vec3 rate;
  for (int k = 0; k < 3; ++k) rate[k] = s_.model.gravity().c[k].rate(t);
  const double work = -share * rate.dot(multibody::moved_mass(tree_, w_.links));
  w_.work += work;
  w_.field_work += work;
}

// a at (q_mid, v_mid, t), nothing implicit.
bool Stepper::solve_explicitly(double t, double h) {
  tension_ = false;
  set_locks(t, h, 0, h);
  evaluate(s_, w_.q_mid.data(), w_.v_mid.data(), t, {0, 0, 0}, w_);
  q_at_ = w_.q_mid.data();
  std::fill(w_.a.begin(), w_.a.end(), 0.0);
  if (!solve_accelerations({t, h, 0, true, h, Rows::acceleration}, false)) return false;
  std::swap(w_.a, w_.a_new);
  ++report_.total_iterations;
  report_.iterations = std::max(report_.iterations, 1);
  return true;
}

// rk4 and sdirk4: one stage after the other.
bool Stepper::solve_by_stages(double t, double h) {
  const Tableau& m = tableau_of(now_);
  if (now_ == Integrator::rk4 && h * s_.drag_rate > most_of_explicit)
    return fail(Status::not_converged, t, "drag slows a body too fast for an explicit step of this length",
                -1);
  if ((by_own_estimate() || wants_nodes()) && !know_start(t, h)) return false;
  std::copy(state_.a.begin(), state_.a.end(), w_.a.begin());
  for (int i = 0; i < m.stages; ++i) {
    if (i == 0 && now_ == Integrator::rk4 && by_own_estimate()) {  // the end of the part before
      book_node(w_.node, m.b[i] * h);
      w_.stage_a[i] = w_.node.a;
      w_.stage_k[i] = state_.v;
      continue;
    }
    const double at = t + m.c[i] * h, gamma = m.A[i][i];
    combine(&state_.v, h, m.A[i], w_.stage_a, i, w_.v_base);
    combine(nullptr, h, m.A[i], w_.stage_k, i, w_.u_base);
    combine_controls(h, m.A[i], i, w_.control);
    if (gamma > 0) {
      if (!solve_stage({at, h, gamma, true, h, Rows::acceleration})) return false;
    } else {
      place_stage({at, h, 0, true, h, Rows::acceleration});
      if (!solve_explicitly(at, h)) return false;
    }
    book_energy(m.b[i] * h);
    book_field_rate(at, m.b[i] * h);
    w_.stage_a[i] = w_.a;
    w_.stage_control[i] = w_.control_rate;
    rates_along(w_.u, w_.v_mid, w_.stage_k[i]);
  }
  if (wants_nodes()) keep_node(t + h, w_.q_mid, w_.v_mid, w_.node_end);  // sdirk4 ends at its last stage
  return end_step(t, h);
}

// gauss: both stages in turn, until their accelerations stand still.
bool Stepper::solve_gauss(double t, double h) {
  const Tableau& m = gauss;
  if (by_own_estimate() && !know_start(t, h)) return false;
  companion_ = by_own_estimate() && take_companion(t, h);
  if (by_own_estimate()) report_.status = Status::ok;  // a companion that fails is none
  for (int i = 0; i < m.stages && !companion_; ++i) {
    w_.stage_a[i] = state_.a;
    w_.stage_k[i] = state_.v;
  }
  w_.anderson_pair.restart();
  double previous = 0, tolerance = 0;
  for (int iteration = 1; iteration <= s_.options.max_iterations; ++iteration) {
    stop_if_requested();
    clear_books();
    double change = 0, scale = 0;
    place_pair(h);
    look_at_pair(t, h, m.c);
    for (int i = 0; i < m.stages; ++i)
      if (!improve_one_of_pair(i, t, h, change, scale)) return false;
    ++report_.total_iterations;
    report_.iterations = std::max(report_.iterations, iteration);
    if (iteration == 1) tolerance = tolerance_of(scale > 0 ? first_change(change, h) / scale : 0);
    // From a guess so near the iteration ends right at its tolerance, where else it goes far below.
    if (iteration == 1 && companion_) tolerance = std::max(least_with_companion, 0.01 * tolerance);
    const bool done = change <= tolerance * scale || stands_still(iteration, change, previous, scale, h);
    if (!done) w_.anderson_pair.next(w_.pair, w_.pair_new);
    std::swap(w_.pair, w_.pair_new);
    const std::size_t n = w_.a.size();
    for (int i = 0; i < m.stages; ++i) std::copy_n(w_.pair.data() + i * n, n, w_.stage_a[i].data());
    if (done) {
      if (scale > 0) report_.residual = std::max(report_.residual, change / scale);
      place_pair(h);
      look_at_pair(t, h, m.c);
      return end_step(t, h);
    }
    previous = change;
  }
  return fail_iteration(t);
}

// What the first iteration would have changed from the accelerations of the start.
double Stepper::first_change(double change, double h) const {
  if (!companion_) return change;
  const std::size_t n = w_.node.a.size();
  for (std::size_t k = 0; k < w_.pair_new.size(); ++k)
    change = std::max(change, h * std::abs(w_.pair_new[k] - w_.node.a[k % n]) * s_.rate_unit[k % n]);
  return change;
}

// Both stages' velocities, their way u from the step's start, and the rates along it.
void Stepper::place_pair(double h) {
  const Tableau& m = gauss;
  for (int i = 0; i < m.stages; ++i) {
    combine(nullptr, h, m.A[i], w_.stage_k, m.stages, w_.stage_u[i]);
    combine(&state_.v, h, m.A[i], w_.stage_a, m.stages, w_.stage_v[i]);
  }
  for (int i = 0; i < m.stages; ++i) rates_along(w_.stage_u[i], w_.stage_v[i], w_.stage_k[i]);
  for (int i = 0; i < m.stages; ++i) combine(nullptr, h, m.A[i], w_.stage_k, m.stages, w_.stage_u[i]);
}

bool Stepper::improve_one_of_pair(int i, double t, double h, double& change, double& scale) {
  const double at = t + gauss.c[i] * h;
  const std::size_t n = w_.a.size();
  w_.v_mid = w_.stage_v[i];
  w_.u = w_.stage_u[i];
  put_stage(at);
  w_.a = w_.stage_a[i];
  set_locks(at, h, 0, h);
  combine_controls(h, gauss.A[i], gauss.stages, w_.control);
  for (std::size_t c = 0; c < w_.control.size(); ++c)  // evaluate() adds what the matrix has of it
    w_.control[c] -= gauss_damping * h * w_.stage_control[i][c];
  evaluate(s_, w_.q_mid.data(), w_.v_mid.data(), at, {gauss_damping * h, gauss_stiffness * h * h, 0}, w_);
  q_at_ = w_.q_mid.data();
  if (!tension_ && (tension_ = takes_tension())) set_tension(q_at_, gauss_stiffness * h * h);
  if (!solve_accelerations({at, h, 0, true, h, Rows::acceleration}, false)) return false;
  const double moved = h * largest_change();
  if (!std::isfinite(moved)) return fail_non_finite(at);
  change = std::max(change, moved);
  scale = std::max(scale, velocity_scale(at, h));
  std::copy_n(w_.a.data(), n, w_.pair.data() + i * n);
  std::copy_n(w_.a_new.data(), n, w_.pair_new.data() + i * n);
  std::swap(w_.a, w_.a_new);
  book_energy(gauss.b[i] * h);
  book_field_rate(at, gauss.b[i] * h);
  return true;
}

// v₁ and q₁ from the stages, on the loops.
bool Stepper::end_step(double t, double h) {
  const Tableau& m = tableau_of(now_);
  combine(&state_.v, h, m.b, w_.stage_a, m.stages, w_.v_end);
  combine(nullptr, h, m.b, w_.stage_k, m.stages, w_.u);
  multibody::integrate(tree_, state_.q.data(), w_.u.data(), 1, w_.q_end.data());
  combine_controls(h, m.b, m.stages, w_.control_end);
  if (by_own_estimate() && now_ == Integrator::gauss) estimate_by_companion(h);
  if (by_own_estimate() && now_ == Integrator::sdirk4) estimate_by_weights(h);
  follow_motions(t + h);
  if (has_loops() && !(close_positions(h, 0) && project_velocities())) return false;
  return !by_own_estimate() || estimate_at_end(t, h);
}

}  // namespace limber::articulated
