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

// 𝓜, basis and A⁻¹ for one point (kept until the step or the point changes) or for a blend.
void set_matrices(const Mechanism& m, int base, double h, double theta, MechanismScratch& w) {
  StepMatrices& x = w.matrices;
  const int n = m.coordinates();
  const bool one = w.blend.count == 1;
  const int point = one ? w.blend.point[0] : -1;
  if (x.is_cut) x.inverse = x.uncut;  // servos were cut in the step before
  x.is_cut = false;
  if (one && x.point == point && x.h == h && x.theta == theta) return;
  x.h = h, x.theta = theta, x.point = point;
  const MatX* U = nullptr;
  const MatX *K = nullptr, *M = nullptr, *D = nullptr;
  if (one) {
    const Point& p = m.points[point];
    U = &p.U, K = &p.K_U, M = &p.M_U, D = &p.D_U;
  } else {
    blend_matrices(m, w.blend, w.blended);
    U = &w.blended.U, K = &w.blended.K_U, M = &w.blended.M_U, D = &w.blended.D_U;
  }
  const int r = static_cast<int>(U->cols());
  x.basis.setZero(base + n, base + r);
  for (int k = 0; k < base; ++k) x.basis(k, k) = 1;
  x.basis.bottomRightCorner(n, r) = *U;
  x.A.setZero(base + r, base + r);
  x.A.bottomRightCorner(r, r) = *M;
  x.A.bottomRightCorner(r, r) += theta * h * *D;
  x.A.bottomRightCorner(r, r) += theta * theta * h * h * *K;
  x.M.setZero(base + n, base + n);
  for (int k = 0; k < w.blend.count; ++k) {
    const Point& p = m.points[w.blend.point[k]];
    x.M.bottomRightCorner(n, n) += w.blend.weight[k] * p.M;
    if (base == 0) continue;
    x.M.topLeftCorner<6, 6>() += w.blend.weight[k] * p.inertia.matrix();
    x.M.topRightCorner(6, n) += w.blend.weight[k] * p.momentum;
  }
  if (base > 0) {
    x.M.bottomLeftCorner(n, 6) = x.M.topRightCorner(6, n).transpose();
    x.A.topLeftCorner<6, 6>() = x.M.topLeftCorner<6, 6>();
    x.A.topRightCorner(6, r) = x.M.topRightCorner(6, n) * x.basis.bottomRightCorner(n, r);
    x.A.bottomLeftCorner(r, 6) = x.A.topRightCorner(6, r).transpose();
  }
  x.llt.compute(x.A);
  x.half = x.basis.transpose();
  x.llt.solve_lower(x.half);
  x.inverse.noalias() = x.half.transpose() * x.half;
}

// Loads on ends, on inner links and on the base, and weight where the base is free: into f (n_full).
void add_loads(const SystemData& s, int k, double t, WorkspaceData& all, VecX& f) {
  const Mechanism& m = s.reduced.mechanisms[k];
  MechanismScratch& w = all.mechanisms[k];
  const int base = s.mechanisms[k].base, n = m.coordinates();
  if (base > 0) {
    const Vec3 g = all.load * (w.base.R.transpose() * s.model.gravity().value(t));
    for (int i = 0; i < w.blend.count; ++i) {
      const Point& p = m.points[w.blend.point[i]];
      const double a = w.blend.weight[i];
      f.segment<3>(0) += a * p.inertia.h.cross(g);
      f.segment<3>(3) += a * p.inertia.m * g;
      for (int c = 0; c < n; ++c) f[6 + c] += a * p.momentum.col(c).tail<3>().dot(g);
    }
  }
  if (base == 0 &&
      (!s.model.gravity().is_constant() || all.load != 1)) {  // the points know the weight of their time
    const Vec3 g = all.load * s.model.gravity().value(t);
    for (int i = 0; i < w.blend.count; ++i) {
      const Point& p = m.points[w.blend.point[i]];
      const Vec3 more = g - s.model.gravity().value(p.time);
      for (int c = 0; c < n; ++c) f[c] += w.blend.weight[i] * p.momentum.col(c).tail<3>().dot(more);
    }
  }
  for (const PlacedLoad& load : s.loads) {
    if (load.at.mechanism != k) continue;
    const PointLoad& l = s.model.point_loads()[load.load];
    const Pose X_B = load.at.end >= 0 ? w.ends.X[load.at.end] : w.X[load.at.link];
    const Pose X = w.base * X_B;
    const Vec6 wrench = all.load * load_wrench(l, X, t);
    if (load.at.end >= 0) {
      f.segment<6>(base + 6 * load.at.end) += wrench;
    } else {
      const int columns = m.columns();
      for (int i = 0; i < w.blend.count; ++i) {
        const Point& p = m.points[w.blend.point[i]];
        // What acts at a point is in its equilibrium already.
        const Vec6 more = base > 0 ? wrench : Vec6(wrench - load_wrench(l, X, p.time));
        const double* map = p.map.data() + static_cast<std::size_t>(load.at.link) * 6 * columns;
        for (int c = 0; c < n; ++c)
          f[base + c] += w.blend.weight[i] * more.dot(Eigen::Map<const Vec6>(map + 6 * c));
      }
    }
    if (base > 0) f.head<6>() += X_B.force(wrench);
  }
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

void read_ends(const SystemData& s, const State& state, int k, double t, MechanismScratch& w) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const double* q = state.q.data() + s.mechanisms[k].q;
  w.base = m.free_base ? pose_at(q) : Pose{};
  if (m.free_base) q += 10;
  for (std::size_t e = 0; e < m.ends.size(); ++e) w.ends.X[e] = pose_at(q + 7 * e);
  for (int z = 0; z < m.modes; ++z) w.ends.z[z] = q[7 * m.ends.size() + z];
  for (std::size_t i = 0; i < m.inputs.size(); ++i) w.ends.input[i] = s.inputs[k][i].at(t);
  blend_at(m, w.ends, w.blend);
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

void mechanism_poses(const SystemData& s, int k, MechanismScratch& w, multibody::Workers* workers) {
  const Mechanism& m = s.reduced.mechanisms[k];
  Blend& b = w.blend;
  const int blocks = (static_cast<int>(m.bodies.size()) + 3) / 4;
  const LinkMaps* maps = s.maps.data() + s.first_map[k];
  if (b.count == 1) {
    all_blocks(blocks, workers, [&](int begin, int end) {
      pose_blocks(maps[b.point[0]], b.u[0].data(), begin, end, w.X.data());
    });
  } else {
    b.parts.clear();
    for (int i = 0; i < b.count; ++i)
      b.parts.push_back({maps + b.point[i], b.weight[i], b.u[i].data(), b.bend[i].data()});
    all_blocks(blocks, workers, [&](int begin, int end) { blended_blocks(b.parts, begin, end, w.X.data()); });
  }
  // Ends are where the state says.
  for (std::size_t e = 0; e < m.ends.size(); ++e) w.X[m.ends[e]] = w.ends.X[e];
}

void place_bodies(const SystemData& s, const State& state, bool links, WorkspaceData& w) {
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    MechanismScratch& x = w.mechanisms[k];
    if (links) {
      mechanism_poses(s, static_cast<int>(k), x, w.workers.get());
      if (m.free_base)
        for (std::size_t l = 0; l < m.bodies.size(); ++l) w.X[m.bodies[l]] = x.base * x.X[l];
      else
        for (std::size_t l = 0; l < m.bodies.size(); ++l) w.X[m.bodies[l]] = x.X[l];
    }
    if (!links)
      for (std::size_t e = 0; e < m.ends.size(); ++e) w.X[m.bodies[m.ends[e]]] = x.base * x.ends.X[e];
  }
  for (const PropPlace& p : s.props) w.X[p.body] = pose_at(state.q.data() + p.q);
}

const std::vector<Pose>& update_links(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
    read_ends(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
  place_bodies(s, state, true, w);
  return w.X;
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
static std::string what_is_lost(const SystemData& s, double h, const WorkspaceData& w) {
  bool finite = std::all_of(w.prop_v.begin(), w.prop_v.end(), [](double x) { return std::isfinite(x); });
  for (const MechanismScratch& x : w.mechanisms) finite = finite && x.v_new.allFinite();
  if (!finite) return "a velocity is no longer finite; a smaller step may help";
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    for (std::size_t e = 0; e < m.ends.size(); ++e) {
      const Vec6 move = h * w.mechanisms[k].v_new.segment<6>(s.mechanisms[k].base + 6 * static_cast<int>(e));
      if (move.head<3>().norm() <= pi && move.tail<3>().norm() <= m.radius) continue;
      return fmt::format(
          "\"{}\" is flung away: in one step it would move farther than its mechanism is large; {}",
          m.names[m.ends[e]],
          m.points.size() > 1 ? "between points that are far apart stiff directions push against "
                                "each other: take one point, or points closer together"
                              : "a smaller step may help");
    }
  }
  return "";
}

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  result::SolveReport report;
  report.time = state.t + h;
  const double t = state.t + h;
  const bool touching = !s.collidables.empty();
  const double theta = s.options.integrator == Integrator::midpoint && !touching ? 0.5 : 1;
  const bool inner = w.held || std::any_of(s.loads.begin(), s.loads.end(), [](const PlacedLoad& l) {
                       return l.at.on == BodyPlace::On::mechanism && l.at.end < 0;
                     });

  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    MechanismScratch& x = w.mechanisms[k];
    read_ends(s, state, static_cast<int>(k), t, x);
    const Mechanism& m = s.reduced.mechanisms[k];
    if (w.warned || !out_of_range(m, x.blend)) continue;
    w.warned = true;
    result::add_warning(
        report,
        fmt::format("at t = {:.4g} s \"{}\" leaves the loads its points were chosen for ({:.4g} N, "
                    "{:.4g} N m on every end): from there on its errors may be larger than the model says",
                    state.t, m.name, m.quality.force, m.quality.moment));
  }
  if (touching || inner) place_bodies(s, state, inner, w);
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const MechanismPlace& place = s.mechanisms[k];
    MechanismScratch& x = w.mechanisms[k];
    const int n = m.coordinates(), base = place.base;
    set_matrices(m, base, h, theta, x);
    const double* v = state.v.data() + place.v;
    for (int i = 0; i < base; ++i) x.v[i] = v[i];
    for (int i = 0; i < n; ++i) x.v[base + i] = v[(base > 0 ? 9 : 0) + i];
    x.rhs.setZero();
    add_loads(s, static_cast<int>(k), t, w, x.rhs);
    if (base > 0) {  // its momentum, seen from the turning base
      const Vec6 p = x.matrices.M.topRows<6>() * x.v;
      x.rhs.head<6>() -= cross_force(Vec6(x.v.head<6>()), p);
    }
    x.rhs.tail(n) -= x.blend.force;
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
    const int base = place.base, E = static_cast<int>(m.ends.size());
    for (int e = 0; e < E; ++e)
      x.ends.X[e] = x.ends.X[e] * math::se3_exp(h * x.v_new.segment<6>(base + 6 * e));
    for (int z = 0; z < m.modes; ++z) x.ends.z[z] += h * x.v_new[base + 6 * E + z];
    if (m.points[0].U.cols() < m.coordinates()) {
      blend_at(m, x.ends, x.blend);
      return_ends(m, x.blend, x.blended, x.ends);
    }
    if (theta != 1) x.v_new = x.v + (x.v_new - x.v) / theta;
    double* v = state.v.data() + place.v;
    double* q = state.q.data() + place.q;
    if (base > 0) {
      const Vec3 force_and_impulse = w.impulse[k];
      const double mass = m.points[0].inertia.m;
      Eigen::Map<Vec3> speed(v + 6), com(q + 7);
      Vec3 push = h * w.load * s.model.gravity().value(t) + force_and_impulse / mass;
      for (const PlacedLoad& load : s.loads)
        if (load.at.mechanism == static_cast<int>(k)) {
          const PointLoad& l = s.model.point_loads()[load.load];
          Vec3 f = l.force.value(t);
          if (l.follows)
            f = (x.base.R * (load.at.end >= 0 ? x.ends.X[load.at.end] : x.X[load.at.link]).R) * f;
          push += w.load * h * f / mass;
        }
      if (w.held && s.places[w.held->body].mechanism == static_cast<int>(k)) push += h * w.held_force / mass;
      speed += push;
      com += h * speed;
      // The base stands where the links' centre of mass is on its way.
      const Mat3 R = x.base.R * math::so3_exp(h * x.v_new.head<3>());
      blend_at(m, x.ends, x.blend);
      mechanism_poses(s, static_cast<int>(k), x, w.workers.get());
      Vec3 c = Vec3::Zero();
      for (std::size_t l = 0; l < m.bodies.size(); ++l) c += m.inertias[l].m * (x.X[l] * m.inertias[l].com());
      c /= mass;
      x.base = {R, com - R * c};
      Vec3 inner_speed = x.matrices.M.block(3, 6, 3, m.coordinates()) * x.v_new.tail(m.coordinates()) / mass;
      const Vec3 w_b = x.v_new.head<3>();
      x.v_new.segment<3>(3) = R.transpose() * speed - w_b.cross(c) - inner_speed;
      store_pose(x.base, q);
      for (int i = 0; i < 6; ++i) v[i] = x.v_new[i];
      q += 10, v += 9;
    }
    for (int i = 0; i < m.coordinates(); ++i) v[i] = x.v_new[base + i];
    for (int e = 0; e < E; ++e) store_pose(x.ends.X[e], q + 7 * e);
    for (int z = 0; z < m.modes; ++z) q[7 * E + z] = x.ends.z[z];
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
