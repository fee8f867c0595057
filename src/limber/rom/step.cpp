// One step of a reduced model (Andrews et al., section 6): with θ = 1 backward Euler, θ = ½ the midpoint
// rule,
//
//   (𝓜 + θh 𝓓 + θ²h² 𝓚) v_θ = 𝓜 v + θh (f − force(ends)),   v⁺ = v + (v_θ − v)/θ,   ends⁺ = ends ⊕ h v_θ
//
// A free base is six more unknowns, with the momentum P u̇ of the links against it: 𝓜 = (I, P; Pᵀ, M).
// Unknowns are those of the basis U of admissible directions. The centre of mass of a free mechanism moves by
// its momentum alone.
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <string>

#include "limber/result/warnings.h"
#include "limber/rom/system.h"

namespace limber::rom {
namespace {

// 𝓜 and A⁻¹: with one point kept until the step changes.
void set_matrices(const Mechanism& m, int base, double h, double theta, MechanismScratch& w) {
  StepMatrices& x = w.matrices;
  const int n = m.coordinates();
  if (x.is_cut) x.inverse = x.uncut;  // servos were cut in the step before
  x.is_cut = false;
  if (m.points.size() == 1 && x.h == h && x.theta == theta) return;
  x.h = h, x.theta = theta;
  blend_inertia(m, w.blend);
  x.M.setZero(base + n, base + n);
  x.M.bottomRightCorner(n, n) = w.blend.M;
  if (base > 0) {
    for (std::size_t k = 0; k < m.points.size(); ++k) {
      const Point& p = m.points[k];
      x.M.topLeftCorner<6, 6>() += w.blend.weight[k] * p.inertia.matrix();
      x.M.topRightCorner(6, n) += w.blend.weight[k] * p.momentum;
    }
    x.M.bottomLeftCorner(n, 6) = x.M.topRightCorner(6, n).transpose();
  }
  const auto invert = [&](const MatX& K) {
    x.A = x.M;
    x.A.bottomRightCorner(n, n) += theta * h * w.blend.D;
    x.A.bottomRightCorner(n, n) += theta * theta * h * h * K;
    x.llt.compute(x.A);
    x.half.setIdentity(base + n, base + n);
    x.llt.solve_lower(x.half);
    x.inverse.noalias() = x.half.transpose() * x.half;
    return x.inverse.allFinite();
  };
  if (invert(w.blend.curve)) return;
  // A hill of the energy that a step would leap over: without its negative curvature.
  const math::SymmetricEigen e = math::symmetric_eigen(w.blend.curve);
  invert(e.vectors * e.values.cwiseMax(0).asDiagonal() * e.vectors.transpose());
}

// What the inertia's change along the way does: −Ṁ ȧ + ½ ∂(ȧᵀ M ȧ)/∂a, so that energy is kept.
void add_change_of_inertia(const Mechanism& m, MechanismScratch& w, const double* rates, VecX& f, int base) {
  if (m.points.size() == 1) return;
  const int n = m.coordinates();
  const Eigen::Map<const VecX> v(rates, n);
  VecX& p = w.blend.momentum;
  for (std::size_t k = 0; k < m.points.size(); ++k) {
    const auto change = w.blend.change.row(static_cast<int>(k));
    p.noalias() = m.points[k].M * v;
    double rate = 0;
    for (int c = 0; c < m.columns(); ++c) rate += change[c] * (c < n ? v[c] : w.input_rate[c - n]);
    const double twice = v.dot(p);
    for (int c = 0; c < n; ++c) f[base + c] += 0.5 * twice * change[c] - rate * p[c];
  }
}

// Loads on links and on the base, and weight where the base is free: into f (base + n).
void add_loads(const SystemData& s, int k, double t, WorkspaceData& all, VecX& f) {
  const Mechanism& m = s.reduced.mechanisms[k];
  MechanismScratch& w = all.mechanisms[k];
  const int base = s.mechanisms[k].base, n = m.coordinates();
  const Vec3 g = all.load * s.model.gravity().value(t);
  const bool weight_changes = !s.model.gravity().is_constant() || all.load != 1;
  for (std::size_t i = 0; i < m.points.size(); ++i) {
    const Point& p = m.points[i];
    const double a = w.blend.weight[i];
    if (base > 0) {
      const Vec3 own = w.base.R.transpose() * g;
      f.segment<3>(0) += a * p.inertia.h.cross(own);
      f.segment<3>(3) += a * p.inertia.m * own;
      f.segment(base, n) += a * (p.momentum.bottomRows<3>().transpose() * own);
    } else if (weight_changes) {  // the points know the weight of their time
      f += a * (p.momentum.bottomRows<3>().transpose() * (g - s.model.gravity().value(p.time)));
    }
  }
  for (const PlacedLoad& load : s.loads) {
    if (load.at.mechanism != k) continue;
    const PointLoad& l = s.model.point_loads()[load.load];
    const Pose& X_B = w.X[load.at.link];
    const Pose X = w.base * X_B;
    const Vec6 wrench = all.load * load_wrench(l, X, t);
    Vec6 more = wrench;
    if (load.at.end < 0 && base == 0)  // what acts at a point is in its equilibrium already
      for (std::size_t i = 0; i < m.points.size(); ++i)
        more -= w.blend.weight[i] * load_wrench(l, X, m.points[i].time);
    const Twists& map = link_map(m, w.blend, load.at.link);
    for (int c = 0; c < n; ++c) f[base + c] += map.col(c).dot(more);
    if (base > 0) f.head<6>() += X_B.force(wrench);
  }
}

// Moments of loads and of the hand about the centre of mass, world axes.
Vec3 moment_of_loads(const SystemData& s, int k, double t, const Vec3& com, const WorkspaceData& all) {
  const MechanismScratch& w = all.mechanisms[k];
  Vec3 out = Vec3::Zero();
  const auto add = [&](const Vec6& at_origin) {
    out += at_origin.head<3>() - com.cross(Vec3(at_origin.tail<3>()));
  };
  for (const PlacedLoad& load : s.loads) {
    if (load.at.mechanism != k) continue;
    const Pose X = w.base * w.X[load.at.link];
    add(X.force(Vec6(all.load * load_wrench(s.model.point_loads()[load.load], X, t))));
  }
  if (all.held && s.places[all.held->body].mechanism == k)
    out += (all.X[all.held->body] * all.held->p - com).cross(all.held_force);
  return out;
}

// Adds the impulse of a hand that pulls at a point: −J A⁻¹ Jᵀ and the spring's own softness, implicit.
void pull(const SystemData& s, double h, WorkspaceData& all, std::vector<double>& prop_v) {
  all.held_force.setZero();
  if (!all.held) return;
  const Held& held = *all.held;
  const result::Hand& hand = held.hand;
  const BodyPlace& at = s.places[held.body];
  const Pose& X = all.X[held.body];
  const Vec3 arm = X.R * held.p, place = X.p + arm;
  const double soft = 1 / (h * h * hand.stiffness + h * hand.damping);
  const auto impulse = [&](const Mat3& W, const Vec3& v) {
    // λ = h (k (target − place − h v⁺) − d v⁺),  v⁺ = v + W λ
    const Vec3 wanted =
        h * hand.stiffness * (hand.target - place) / (h * h * hand.stiffness + h * hand.damping);
    const Vec3 lambda = (W + soft * Mat3::Identity()).ldlt().solve(wanted - v);
    all.held_force = lambda / h;
    return lambda;
  };
  if (at.on == BodyPlace::On::prop) {
    const PropPlace& p = s.props[at.prop];
    double* v = prop_v.data() + 6 * at.prop;
    const Vec3 r = place - X * p.com;
    const Mat3 I = (X.R * p.inertia.I * X.R.transpose()).inverse(), S = math::skew(r);
    const Vec3 speed = Vec3(v[3], v[4], v[5]) + Vec3(v[0], v[1], v[2]).cross(r);
    const Vec3 lambda = impulse(Mat3::Identity() / p.inertia.m - S * I * S, speed);
    const Vec3 dw = I * r.cross(lambda), dv = lambda / p.inertia.m;
    for (int c = 0; c < 3; ++c) v[c] += dw[c], v[3 + c] += dv[c];
    return;
  }
  if (at.on != BodyPlace::On::mechanism) return;
  const Mechanism& m = s.reduced.mechanisms[at.mechanism];
  MechanismScratch& w = all.mechanisms[at.mechanism];
  const int base = s.mechanisms[at.mechanism].base, n = m.coordinates();
  Eigen::Matrix<double, 3, 6> of_body;  // velocity of the point per body twist
  of_body << -(X.R * math::skew(held.p)), X.R;
  MatX J = MatX::Zero(3, base + n);
  J.rightCols(n) = of_body * link_map(m, w.blend, at.link).leftCols(n);
  if (base > 0) J.leftCols(6) = of_body * (w.base.inverse() * X).inverse().adjoint();
  const MatX Y = w.matrices.inverse * J.transpose();
  w.v_new += Y * impulse(J * Y, J * w.v_new);
}

}  // namespace

Vec6 load_wrench(const PointLoad& load, const Pose& X, double t) {
  Vec3 f = load.force.value(t), moment = load.moment.value(t);
  if (!load.follows) f = X.R.transpose() * f, moment = X.R.transpose() * moment;
  Vec6 out;
  out << moment + load.at.p.cross(f), f;
  return out;
}

void read_mechanism(const SystemData& s, const State& state, int k, double t, MechanismScratch& w,
                    bool with_curve) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const MechanismPlace& place = s.mechanisms[k];
  w.base = m.free_base ? pose_at(state.q.data() + place.q) : Pose{};
  const int n = m.coordinates();
  for (int i = 0; i < n; ++i) w.blend.at[i] = state.q[place.a() + i];
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    w.blend.at[n + static_cast<int>(i)] = s.inputs[k][i].at(t);
    w.input_rate[static_cast<int>(i)] = s.inputs[k][i].rate(t);
  }
  blend_at(m, w.blend, with_curve);
}

// Blocks of links on all threads; which thread does which changes no bit.
template <class Fill>
static void all_blocks(int blocks, multibody::Workers* workers, Fill fill) {
  constexpr int least = 16;
  if (!workers || blocks < 2 * least) return fill(0, blocks);
  workers->arena.execute([&] {
    const int parts = std::min(blocks / least, 2 * workers->arena.max_concurrency());
    tbb::parallel_for(0, parts, [&](int p) { fill(blocks * p / parts, blocks * (p + 1) / parts); });
  });
}

void mechanism_poses(const SystemData& s, int k, MechanismScratch& w, multibody::Workers* workers,
                     std::vector<Pose>& X) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const Blend& b = w.blend;
  const int blocks = (static_cast<int>(m.bodies.size()) + 3) / 4;
  const LinkMaps* maps = s.maps.data() + s.first_map[k];
  w.blend_parts.clear();
  for (std::size_t i = 0; i < m.points.size(); ++i) {
    w.parts[i][0] = b.weight[i];
    for (int c = 0; c < m.columns(); ++c) w.parts[i][1 + c] = b.weight[i] * b.y[i][c];
    w.blend_parts.push_back({maps + i, w.parts[i].data()});
  }
  all_blocks(blocks, workers, [&](int begin, int end) { pose_blocks(w.blend_parts, begin, end, X.data()); });
}

void place_bodies(const SystemData& s, const State& state, WorkspaceData& w) {
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    MechanismScratch& x = w.mechanisms[k];
    mechanism_poses(s, static_cast<int>(k), x, w.workers.get(), x.X);
    for (std::size_t l = 0; l < m.bodies.size(); ++l)
      w.X[m.bodies[l]] = m.free_base ? x.base * x.X[l] : x.X[l];
  }
  for (const PropPlace& p : s.props) w.X[p.body] = pose_at(state.q.data() + p.q);
}

// Only what loads act on.
static void place_loaded(const SystemData& s, const State& state, WorkspaceData& w) {
  for (const PlacedLoad& load : s.loads) {
    if (load.at.mechanism < 0) continue;
    MechanismScratch& x = w.mechanisms[load.at.mechanism];
    x.X[load.at.link] = link_pose(s.reduced.mechanisms[load.at.mechanism], x.blend, load.at.link);
  }
  for (const PropPlace& p : s.props) w.X[p.body] = pose_at(state.q.data() + p.q);
}

const std::vector<Pose>& update_links(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
    read_mechanism(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
  place_bodies(s, state, w);
  return w.X;
}

Vec6 inner_momentum(const Mechanism& m, MechanismScratch& w, const double* rates) {
  VecX all(m.columns());
  all << Eigen::Map<const VecX>(rates, m.coordinates()), w.input_rate;
  Vec6 out = Vec6::Zero();
  for (std::size_t l = 0; l < m.bodies.size(); ++l)
    out += w.X[l].force(m.inertias[l].momentum(link_map(m, w.blend, static_cast<int>(l)) * all));
  return out;
}

Whole whole_of(const Mechanism& m, const std::vector<Pose>& X) {
  Inertia sum;
  for (std::size_t l = 0; l < m.bodies.size(); ++l) sum += m.inertias[l].in_frame(X[l]);
  return {sum.m, sum.com(), sum.about_com()};
}

// Velocities of free bodies after the step, before anything touches them.
static void free_bodies(const SystemData& s, const State& state, double t, double h, WorkspaceData& w) {
  for (std::size_t p = 0; p < s.props.size(); ++p) {
    const PropPlace& prop = s.props[p];
    const double* v = state.v.data() + prop.v;
    double* to = w.prop_v.data() + 6 * p;
    const Vec3 g = w.load * s.model.gravity().value(t);
    for (int c = 0; c < 3; ++c) to[c] = v[c], to[3 + c] = v[3 + c] + h * g[c];
    for (const PlacedLoad& load : s.loads) {
      if (load.at.prop != static_cast<int>(p)) continue;
      const Pose& X = w.X[prop.body];
      const Vec6 wrench = w.load * load_wrench(s.model.point_loads()[load.load], X, t);
      const Vec3 f = X.R * wrench.tail<3>(),
                 moment = X.R * (wrench.head<3>() - prop.com.cross(wrench.tail<3>()));
      const Vec3 dw = X.R * (prop.inertia.I.inverse() * (X.R.transpose() * moment));
      for (int c = 0; c < 3; ++c) to[c] += h * dw[c], to[3 + c] += h * f[c] / prop.inertia.m;
    }
  }
}

// Why the step at hand makes no sense, or nothing: velocities that are not finite, an end that moves farther
// in one step than its mechanism is large.
static std::string what_is_lost(const SystemData& s, double h, WorkspaceData& w) {
  bool finite = std::all_of(w.prop_v.begin(), w.prop_v.end(), [](double x) { return std::isfinite(x); });
  for (const MechanismScratch& x : w.mechanisms) finite = finite && x.v_new.allFinite();
  if (!finite) return "a velocity is no longer finite; a smaller step may help";
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    if (h * w.mechanisms[k].v_new.tail(m.coordinates()).norm() <= 1) continue;
    const VecX way = h * w.mechanisms[k].v_new.tail(m.coordinates());
    for (const int end : m.ends) {
      const Vec6 move = link_map(m, w.mechanisms[k].blend, end).leftCols(m.coordinates()) * way;
      if (move.head<3>().norm() <= pi && move.tail<3>().norm() <= m.radius) continue;
      return fmt::format(
          "\"{}\" is flung away: in one step it would move farther than its mechanism is large; {}",
          m.names[end],
          m.points.size() > 1 ? "take one point, or points closer together" : "a smaller step may help");
    }
  }
  return "";
}

// A free base stands where the links' centre of mass is on its way, and turns as their angular momentum says:
// both change by what acts from outside alone.
static void move_base(const SystemData& s, int k, double t, double h, const Vec3& turn, WorkspaceData& w,
                      State& state) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const MechanismPlace& place = s.mechanisms[k];
  MechanismScratch& x = w.mechanisms[k];
  double *q = state.q.data() + place.q, *v = state.v.data() + place.v;
  Eigen::Map<Vec3> com(q + 7), speed(v + 6), spin(v + 9);
  const Vec6& impulse = w.impulse[k];
  spin += h * moment_of_loads(s, k, t, com, w) + impulse.head<3>() - com.cross(Vec3(impulse.tail<3>()));
  Vec3 push = h * w.load * s.model.gravity().value(t) + impulse.tail<3>() / m.points[0].inertia.m;
  for (const PlacedLoad& load : s.loads)
    if (load.at.mechanism == k) {
      const PointLoad& l = s.model.point_loads()[load.load];
      Vec3 f = l.force.value(t);
      if (l.follows) f = x.base.R * (x.X[load.at.link].R * f);
      push += w.load * h * f / m.points[0].inertia.m;
    }
  if (w.held && s.places[w.held->body].mechanism == k) push += h * w.held_force / m.points[0].inertia.m;
  speed += push;
  com += h * speed;
  const Mat3 R = x.base.R * math::so3_exp(turn);
  read_mechanism(s, state, k, t, x);
  mechanism_poses(s, k, x, w.workers.get(), x.X);
  const Whole whole = whole_of(m, x.X);
  const Vec6 inner = inner_momentum(m, x, state.v.data() + place.rate());
  const Vec3 about_com = inner.head<3>() - whole.com.cross(Vec3(inner.tail<3>()));
  const Vec3 omega = whole.inertia.inverse() * (R.transpose() * spin - about_com);
  const Vec3 shift = R.transpose() * speed - omega.cross(whole.com) - inner.tail<3>() / whole.mass;
  store_pose({R, com - R * whole.com}, q);
  for (int i = 0; i < 3; ++i) v[i] = omega[i], v[3 + i] = shift[i];
}

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  result::SolveReport report;
  report.time = state.t + h;
  const double t = state.t + h;
  const bool touching = !s.contacts.empty();
  const double theta = s.options.integrator == Integrator::midpoint && !touching ? 0.5 : 1;
  const bool placed = touching || w.held ||
                      std::any_of(s.mechanisms.begin(), s.mechanisms.end(),
                                  [](const MechanismPlace& place) { return place.base > 0; });

  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    MechanismScratch& x = w.mechanisms[k];
    const Mechanism& m = s.reduced.mechanisms[k];
    read_mechanism(s, state, static_cast<int>(k), t, x, m.points.size() > 1 || x.matrices.h != h);
    if (w.warned || !out_of_range(m, x.blend)) continue;
    w.warned = true;
    result::add_warning(
        report,
        fmt::format("at t = {:.4g} s \"{}\" leaves the loads its points were chosen for ({:.4g} N, "
                    "{:.4g} N m on every end): from there on its errors may be larger than the model says",
                    state.t, m.name, m.quality.reached * m.quality.force,
                    m.quality.reached * m.quality.moment));
  }
  if (placed)
    place_bodies(s, state, w);
  else
    place_loaded(s, state, w);
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const MechanismPlace& place = s.mechanisms[k];
    MechanismScratch& x = w.mechanisms[k];
    const int n = m.coordinates(), base = place.base;
    set_matrices(m, base, h, theta, x);
    for (int i = 0; i < base; ++i) x.v[i] = state.v[place.v + i];
    for (int i = 0; i < n; ++i) x.v[base + i] = state.v[place.rate() + i];
    x.rhs.setZero();
    add_loads(s, static_cast<int>(k), t, w, x.rhs);
    if (base > 0) {  // its momentum, seen from the turning base
      const Vec6 p = x.matrices.M.topRows<6>() * x.v;
      x.rhs.head<6>() -= cross_force(Vec6(x.v.head<6>()), p);
    }
    x.rhs.tail(n) -= x.blend.force;
    add_change_of_inertia(m, x, state.v.data() + place.rate(), x.rhs, base);
    x.rhs *= theta * h;
    x.rhs.noalias() += x.matrices.M * x.v;
    std::fill(x.servos.cut.begin(), x.servos.cut.end(), static_cast<signed char>(0));
  }

  // Once, and again while servos reach their largest force: within a step they are only ever cut, so that
  // there is an end. Each time is one linear solve: the step is linearly implicit, nothing is iterated but
  // contacts.
  for (bool more = true; more;) {
    report.iterations = static_cast<int>(++report.total_iterations);
    for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
      apply_servos(s, static_cast<int>(k), t, h, theta, w.mechanisms[k]);
    free_bodies(s, state, t, h, w);
    pull(s, h, w, w.prop_v);
    solve_contacts(s, state, h, w, report);
    if (!report.ok()) return report;
    more = false;
    for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
      more = cut_servos(s, static_cast<int>(k), t, h, theta, w.mechanisms[k]) || more;
  }
  if (const std::string lost = what_is_lost(s, h, w); !lost.empty()) {
    report.status = result::Status::diverged;
    report.message = lost;
    return report;
  }

  // New places.
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const MechanismPlace& place = s.mechanisms[k];
    MechanismScratch& x = w.mechanisms[k];
    const int base = place.base, n = m.coordinates();
    for (int i = 0; i < n; ++i) state.q[place.a() + i] += h * x.v_new[base + i];
    const Vec3 turn = base > 0 ? Vec3(h * x.v_new.head<3>()) : Vec3(Vec3::Zero());
    if (theta != 1) x.v_new = x.v + (x.v_new - x.v) / theta;
    for (int i = 0; i < n; ++i) state.v[place.rate() + i] = x.v_new[base + i];
    if (base > 0) move_base(s, static_cast<int>(k), t, h, turn, w, state);
  }
  for (std::size_t p = 0; p < s.props.size(); ++p) {
    const PropPlace& prop = s.props[p];
    const double* to = w.prop_v.data() + 6 * p;
    double* q = state.q.data() + prop.q;
    double* v = state.v.data() + prop.v;
    Pose X = pose_at(q);
    const Vec3 spin(to[0], to[1], to[2]), speed(to[3], to[4], to[5]);
    const Vec3 com = X * prop.com + h * speed;
    const Mat3 R = math::so3_exp(h * spin) * X.R;
    // Angular momentum goes on: ω turns with the body.
    const Vec3 L = X.R * (prop.inertia.I * (X.R.transpose() * spin));
    const Vec3 w_new = R * (prop.inertia.I.inverse() * (R.transpose() * L));
    store_pose({R, com - R * prop.com}, q);
    for (int c = 0; c < 3; ++c) v[c] = w_new[c], v[3 + c] = speed[c];
  }
  report.steps = 1;
  return report;
}

}  // namespace limber::rom
