// Forces, energy and the linear system of the whole set of threads.
#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

Mat3 node_axes(const WorkspaceData& w, int j) {
  Mat3 P;
  for (int k = 0; k < 9; ++k) P(k / 3, k % 3) = w.elements.P[k][j];
  return P;
}

void add_force(double* f, int slot, const std::array<double, 4>& n, const Vec3& force) {
  for (int k = 0; k < 4; ++k)
    for (int i = 0; i < 3; ++i) f[12 * (slot + k / 2) + 3 * (k % 2) + i] += n[k] * force[i];
}

// A moment turns the polar frames of the two nodes: θ = 2G⁻¹w with G = tr U − U.
void add_moment(WorkspaceData& w, int node, const Vec3& moment_W) {
  const ElementArrays& a = w.elements;
  const Mat3 P = node_axes(w, node);
  Mat3 U;
  U << a.strain[0][node], a.strain[3][node], a.strain[4][node], a.strain[3][node], a.strain[1][node],
      a.strain[5][node], a.strain[4][node], a.strain[5][node], a.strain[2][node];
  U += Mat3::Identity();
  const Mat3 G = U.trace() * Mat3::Identity() - U;
  Mat3 inverse;
  bool invertible = false;
  G.computeInverseWithCheck(inverse, invertible);
  if (!invertible) return;
  // δW = m·θ, θ = G⁻¹ axial(A − Aᵀ): the force on A is the skew matrix of G⁻¹m.
  const Mat3 f = P * math::skew(inverse * (P.transpose() * moment_W));
  for (int c = 0; c < 3; ++c)
    for (int i = 0; i < 3; ++i) w.external[12 * node + 3 + 3 * c + i] += f(i, c);
}

// The section's own axes at a place, from which the nodes' principal ones are turned by the rod's angle.
Mat3 section_axes(const SystemData& s, const WorkspaceData& w, const Spot& at) {
  Mat3 P = node_axes(w, at.slot);
  if (at.xi != 0) P = P * math::so3_exp(at.xi * math::so3_log(P.transpose() * node_axes(w, at.slot + 1)));
  return P * math::rotation_x(-s.threads[w.thread_of[at.slot]].rod.angle);
}

void point_load(const SystemData& s, const State& state, const ThreadLoad& l, double t, double load,
                WorkspaceData& w) {
  const Spot at = spot_at(s, state, l.thread, l.s);
  Vec3 force = load * l.force.value(t), moment = load * l.moment.value(t);
  const Mat3 P = section_axes(s, w, at);
  if (l.follows) force = P * force, moment = P * moment;
  moment += (P * l.arm).cross(force);
  add_force(w.external.data(), at.slot, hermite(at.xi, w.length[at.slot]), force);
  if (moment.squaredNorm() == 0) return;
  if (at.xi < 1) add_moment(w, at.slot, (1 - at.xi) * moment);
  if (at.xi > 0) add_moment(w, at.slot + 1, at.xi * moment);
}

// Forces on x and, by the arm, on the directions; a moment turns the node.
void body_load(const SystemData& s, const State& state, const BodyLoad& l, double t, double load,
               WorkspaceData& w) {
  const Carried& c = *carried_body(s, l.body);
  const int node = node_at(state, c.thread, c.place);
  Vec3 force = load * l.force.value(t), moment = load * l.moment.value(t);
  const Mat3 R = node_axes(w, node) * c.X_NB.R;
  if (l.follows) force = R * force, moment = R * moment;
  const Vec3 xi = c.X_NB * l.p;
  for (int i = 0; i < 3; ++i) {
    w.external[12 * node + i] += force[i];
    for (int k = 0; k < 3; ++k) w.external[12 * node + 3 + 3 * k + i] += xi[k] * force[i];
  }
  if (moment.squaredNorm() > 0) add_moment(w, node, moment);
}

void line_load(const SystemData& s, const State& state, const LineLoad& l, double t, double load,
               WorkspaceData& w) {
  const ThreadInfo& info = s.threads[l.thread];
  const Vec3 per_length = load * l.force.value(t);
  for (int j = state.first[l.thread]; j + 1 < state.first[l.thread + 1]; ++j) {
    const double a = double(state.place[j]) / info.fine, b = double(state.place[j + 1]) / info.fine;
    const double lo = std::max(a, l.s0), hi = std::min(b, l.s1);
    if (hi <= lo) continue;
    constexpr double x[3] = {0.1127016653792583, 0.5, 0.8872983346207417},
                     weight[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    for (int g = 0; g < 3; ++g) {  // the Hermite weights are cubic
      const double xi = (lo + x[g] * (hi - lo) - a) / (b - a);
      Vec3 force = weight[g] * (hi - lo) * info.length * per_length;
      if (l.follows) force = section_axes(s, w, {j, xi}) * force;
      add_force(w.external.data(), j, hermite(xi, w.length[j]), force);
    }
  }
}

// nᵀKn of a spring at a place of the midline, in node axes.
void add_stiffness(const Spot& at, const std::array<double, 4>& n, const Mat3& K, WorkspaceData& w) {
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      const int ja = at.slot + a / 2, jb = at.slot + b / 2;
      if (n[a] * n[b] == 0 || ja > jb) continue;
      const Mat3 block = n[a] * n[b] * (node_axes(w, ja).transpose() * K * node_axes(w, jb));
      double* to = (ja == jb ? w.elements.D : w.elements.O).data() + 144 * ja;
      for (int i = 0; i < 3; ++i)
        for (int c = 0; c < 3; ++c) to[12 * (3 * (a % 2) + i) + 3 * (b % 2) + c] += block(i, c);
    }
}

// A spring off the midline: its force turns the nodes around too. The point moves by N dx + Σ c_j θ_j × P_j
// a, and θ_j × (θ_j × P_j a) in second order: JᵀKJ and c_j ((f·a) − sym(f aᵀ)) on the turns. What the section
// strains meanwhile is left out of the latter.
struct Lever {
  const Tether& k;
  const Spot& at;
  const std::array<double, 4>& n;
  WorkspaceData& w;

  double share(int side) const { return side == 0 ? 1 - at.xi : at.xi; }

  void add_moments(const Vec3& force) const {
    for (int side = 0; side < 2; ++side)
      if (share(side) > 0)
        add_moment(w, at.slot + side, share(side) * (node_axes(w, at.slot + side) * k.arm).cross(force));
  }

  using Turn = Eigen::Matrix<double, 3, 9>;
  // The turn that a motion A of the gradient is, in node axes: θ = G⁻¹ axial(A − Aᵀ).
  Turn turn(int node) const {
    const Table& u = w.elements.strain;
    Mat3 U;
    U << u[0][node], u[3][node], u[4][node], u[3][node], u[1][node], u[5][node], u[4][node], u[5][node],
        u[2][node];
    U += Mat3::Identity();
    Turn axial = Turn::Zero();
    for (int i = 0; i < 3; ++i) {
      const int a = (i + 1) % 3, b = (i + 2) % 3;
      axial(i, 3 * a + b) = 1;
      axial(i, 3 * b + a) = -1;
    }
    return (U.trace() * Mat3::Identity() - U).inverse() * axial;
  }

  void add_stiffness(const Mat3& K, const Vec3& force) const {
    Eigen::Matrix<double, 3, 12> J[2];
    using Block = Eigen::Matrix<double, 12, 12, Eigen::RowMajor>;
    for (int side = 0; side < 2; ++side) {
      const int node = at.slot + side;
      const Mat3 P = node_axes(w, node);
      const Turn T = turn(node);
      J[side].setZero();
      J[side].leftCols<3>() = n[2 * side] * P;
      J[side].middleCols<3>(3) = n[2 * side + 1] * P;
      J[side].rightCols<9>() -= share(side) * P * math::skew(k.arm) * T;
      const Vec3 f = P.transpose() * force;
      const Mat3 fa = f * k.arm.transpose();
      const Mat3 bend = share(side) * (f.dot(k.arm) * Mat3::Identity() - 0.5 * (fa + fa.transpose()));
      Eigen::Map<Block> D(w.elements.D.data() + 144 * static_cast<std::size_t>(node));
      D += J[side].transpose() * K * J[side];
      D.bottomRightCorner<9, 9>() += T.transpose() * bend * T;
    }
    Eigen::Map<Block> O(w.elements.O.data() + 144 * static_cast<std::size_t>(at.slot));
    O += J[0].transpose() * K * J[1];
  }
};

// Of the spring in a step of the scheme e = ê + ch v; of one at rest (ch = 0) without its damper. What its
// other end hangs on rests if it is damped: refused otherwise.
elastic::SpringLine tether_line(const SystemData& s, const State& state, const Tether& k, const double* e,
                                double ch, const WorkspaceData& w) {
  Vec3 rate = Vec3::Zero();
  if (ch > 0 && k.law.damping > 0)
    rate = (tether_rate(s, state, e, k, w) - tether_rate(s, state, w.e_hat.data(), k, w)) / ch;
  return elastic::spring_line(k.law, tether_point(s, state, e, k, w) - tether_anchor(k, w), rate, true);
}

void tether(const SystemData& s, const State& state, const Tether& k, const double* e, double ch,
            bool tangent, WorkspaceData& w) {
  const elastic::SpringLine line = tether_line(s, state, k, e, ch, w);
  w.pulls[static_cast<std::size_t>(&k - s.tethers.data())] = !line.pull.isZero(0);
  if (k.law.tension_only && line.pull.isZero(0)) return;
  const Spot at = spot_at(s, state, k.thread, k.s);
  const auto n = hermite(at.xi, w.length[at.slot]);
  const bool off = !k.arm.isZero(0);
  const Lever lever{k, at, n, w};
  add_force(w.external.data(), at.slot, n, -line.pull);
  if (off) lever.add_moments(-line.pull);
  if (!tangent) return;
  const Mat3 K = line.blend(1, ch > 0 ? 1 / ch : 0);
  if (off) return lever.add_stiffness(K, -line.pull);
  add_stiffness(at, n, K, w);
}

// Of a hand in a step of the scheme e = ê + ch v; of one at rest (ch = 0) without its damper.
Vec3 hand_pull(const result::Hand& hand, const Vec3& x, const Vec3& x_hat, double ch) {
  return hand.force(hand.target - x, ch > 0 ? Vec3((x - x_hat) / ch) : Vec3(Vec3::Zero()));
}

// A hand on a body that is carried: at x + F ξ, by its weights (1, ξ) of the node's numbers.
void hand_on_body(const SystemData& s, const State& state, const Held& held, const double* e, double ch,
                  bool tangent, WorkspaceData& w) {
  const result::Hand& k = held.hand;
  const Carried& c = *carried_body(s, held.body);
  const int node = node_at(state, c.thread, c.place);
  const Vec3 xi = c.X_NB * k.p;
  const double weight[4] = {1, xi[0], xi[1], xi[2]};
  const auto point = [&](const double* q) {
    Vec3 x = Vec3::Zero();
    for (int a = 0; a < 4; ++a) x += weight[a] * Eigen::Map<const Vec3>(q + 12 * node + 3 * a);
    return x;
  };
  const Vec3 x = point(e), force = hand_pull(k, x, ch > 0 ? point(w.e_hat.data()) : x, ch);
  const double K = k.stiffness + (ch > 0 ? k.damping / ch : 0);
  double* D = w.elements.D.data() + 144 * static_cast<std::size_t>(node);
  for (int i = 0; i < 3; ++i)
    for (int a = 0; a < 4; ++a) {
      w.external[12 * node + 3 * a + i] += weight[a] * force[i];
      for (int b = 0; b < 4 && tangent; ++b) D[12 * (3 * a + i) + 3 * b + i] += K * weight[a] * weight[b];
    }
}

void hand_force(const SystemData& s, const State& state, const Held& held, const double* e, double ch,
                bool tangent, WorkspaceData& w) {
  if (held.body >= 0) return hand_on_body(s, state, held, e, ch, tangent, w);
  const result::Hand& k = held.hand;
  const Spot at = spot_at(s, state, held.thread, held.s);
  const double l = w.length[at.slot];
  const Vec3 x = midline(e, at.slot, l, at.xi).x;
  const Vec3 before = ch > 0 ? midline(w.e_hat.data(), at.slot, l, at.xi).x : x;
  const auto n = hermite(at.xi, l);
  add_force(w.external.data(), at.slot, n, hand_pull(k, x, before, ch));
  if (tangent) add_stiffness(at, n, (k.stiffness + (ch > 0 ? k.damping / ch : 0)) * Mat3::Identity(), w);
}

bool evaluate_all(const SystemData& s, const double* e, bool tangent, WorkspaceData& w) {
  const int nodes = static_cast<int>(w.place.size());
  if (s.options.element != Element::log) {
    other_elements(s, e, nodes, tangent, w);
    return true;
  }
  gather(e, nodes, w.elements);
  if (!polar(nodes, w.elements)) return false;
  elements(nodes, tangent, w.elements);
  if (tangent) add_carried_mass(w, w.elements);
  for (int j = 0; j < nodes; ++j)
    if (w.length[j] > 0 && !(w.elements.gap[0][j] > 0)) return false;
  return true;
}

}  // namespace

Midline midline(const double* e, int slot, double l, double xi) {
  const auto n = hermite(xi, l);
  const double x2 = xi * xi;
  const double d[4] = {(-6 * xi + 6 * x2) / l, 1 - 4 * xi + 3 * x2, (6 * xi - 6 * x2) / l, -2 * xi + 3 * x2};
  Midline out{Vec3::Zero(), Vec3::Zero()};
  for (int k = 0; k < 4; ++k) {
    const Eigen::Map<const Vec3> v(e + 12 * (slot + k / 2) + 3 * (k % 2));
    if (n[k] != 0 || d[k] != 0) {
      out.x += n[k] * v;
      out.slope += d[k] * v;
    }
  }
  return out;
}

Vec3 tether_point(const SystemData& s, const State& state, const double* e, const Tether& k,
                  const WorkspaceData& w) {
  const Spot at = spot_at(s, state, k.thread, k.s);
  Vec3 x = midline(e, at.slot, w.length[at.slot], at.xi).x;
  if (k.arm.isZero(0)) return x;
  if (at.xi < 1) x += (1 - at.xi) * (rotation_of(e + 12 * at.slot + 3) * k.arm);
  if (at.xi > 0) x += at.xi * (rotation_of(e + 12 * at.slot + 15) * k.arm);
  return x;
}

Vec3 tether_anchor(const Tether& k, const WorkspaceData& w) {
  return k.body < 0 ? k.p : w.X_WB[k.body] * k.p;
}

Vec3 tether_rate(const SystemData& s, const State& state, const double* v, const Tether& k,
                 const WorkspaceData& w) {
  const Spot at = spot_at(s, state, k.thread, k.s);
  Vec3 sum = midline(v, at.slot, w.length[at.slot], at.xi).x;
  if (k.arm.isZero(0)) return sum;
  for (int side = 0; side < 2; ++side) {
    const double share = side == 0 ? 1 - at.xi : at.xi;
    if (share == 0) continue;
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 3; ++i) sum[i] += share * k.arm[c] * v[12 * (at.slot + side) + 3 + 3 * c + i];
  }
  return sum;
}

bool tethers_settled(const SystemData& s, const State& state, const double* e, double ch,
                     const WorkspaceData& w) {
  for (std::size_t i = 0; i < s.tethers.size(); ++i)
    if (const Tether& k = s.tethers[i]; k.law.tension_only)
      if (tether_line(s, state, k, e, ch, w).pull.isZero(0) == (w.pulls[i] != 0)) return false;
  return true;
}

double tether_losses(const SystemData& s, const State& state, const double* e, double ch,
                     const WorkspaceData& w) {
  double sum = 0;
  for (const Tether& k : s.tethers) {
    if (k.law.damping == 0) continue;
    const Vec3 damper = tether_line(s, state, k, e, ch, w).pull - tether_line(s, state, k, e, 0, w).pull;
    sum += damper.dot(tether_point(s, state, e, k, w) - tether_point(s, state, state.e.data(), k, w));
  }
  return sum;
}

bool section_axes_at(const double* e, int nodes, WorkspaceData& w) {
  gather(e, nodes, w.elements);
  return polar(nodes, w.elements);
}

bool evaluate(const SystemData& s, const double* e, WorkspaceData& w) { return evaluate_all(s, e, false, w); }

bool evaluate_tangent(const SystemData& s, const double* e, const MassWeight& weight, WorkspaceData& w) {
  for (int j = 0; j < static_cast<int>(w.place.size()); ++j)
    w.elements.weight[0][j] =
        weight.ch > 0 ? weight.all + s.threads[w.thread_of[j]].rod.air / weight.ch : weight.all;
  return evaluate_all(s, e, true, w);
}

void external_forces(const SystemData& s, const State& state, const double* e, double t, double load,
                     double ch, bool tangent, WorkspaceData& w) {
  const int nodes = state.node_count();
  const Vec3 g = load * s.model.gravity().value(t);
  for (int j = 0; j < nodes; ++j) {
    double* f = w.external.data() + 12 * j;
    for (int i = 0; i < 3; ++i) {
      f[i] = w.weight[2 * j] * g[i];
      f[3 + i] = w.weight[2 * j + 1] * g[i];
    }
    std::fill(f + 6, f + 12, 0.0);
  }
  for (const CarriedNode& c : w.carried)
    for (int p = 0; p < 4; ++p)
      for (int i = 0; i < 3; ++i) w.external[12 * c.node + 3 * p + i] += c.mu(0, p) * g[i];
  load_forces(s, state, t, load, w);
  for (const Tether& k : s.tethers) tether(s, state, k, e, ch, tangent, w);
  if (w.held_by_hand) hand_force(s, state, *w.held_by_hand, e, ch, tangent, w);
}

void load_forces(const SystemData& s, const State& state, double t, double load, WorkspaceData& w) {
  for (const ThreadLoad& l : s.loads) point_load(s, state, l, t, load, w);
  for (const LineLoad& l : s.line_loads) line_load(s, state, l, t, load, w);
  for (const BodyLoad& l : s.body_loads) body_load(s, state, l, t, load, w);
}

void hand_forces(const SystemData& s, const State& state, const double* e, WorkspaceData& w) {
  if (w.held_by_hand) hand_force(s, state, *w.held_by_hand, e, 0, false, w);
}

double gravity_potential(const SystemData& s, const State& state, const double* e, double t, double load,
                         const WorkspaceData& w) {
  double sum = 0;
  const Vec3 g = load * s.model.gravity().value(t);
  for (int j = 0; j < state.node_count(); ++j)
    for (int i = 0; i < 3; ++i)
      sum -= g[i] * (w.weight[2 * j] * e[12 * j + i] + w.weight[2 * j + 1] * e[12 * j + 3 + i]);
  for (const CarriedNode& c : w.carried)
    for (int p = 0; p < 4; ++p)
      for (int i = 0; i < 3; ++i) sum -= g[i] * c.mu(0, p) * e[12 * c.node + 3 * p + i];
  return sum;
}

double tether_energy(const SystemData& s, const State& state, const double* e, const WorkspaceData& w) {
  double sum = 0;
  for (const Tether& k : s.tethers)
    sum += elastic::spring_energy(k.law, (tether_point(s, state, e, k, w) - tether_anchor(k, w)).norm());
  return sum;
}

double potential(const SystemData& s, const State& state, const double* e, double t, double load,
                 const WorkspaceData& w) {
  return gravity_potential(s, state, e, t, load, w) + tether_energy(s, state, e, w);
}

void mass_times(const WorkspaceData& w, int nodes, const double* y, double* out) {
  const Table& own = w.elements.node_constants;
  const Table& t = w.elements.constants;
  for (int j = 0; j < nodes; ++j) {
    const double xx = own[node::mass_xx][j], xs = own[node::mass_xs][j], ss = own[node::mass_ss][j],
                 yy = own[node::mass_yy][j], zz = own[node::mass_zz][j];
    const double* p = y + 12 * j;
    double* q = out + 12 * j;
    for (int i = 0; i < 3; ++i) {
      q[i] = xx * p[i] + xs * p[3 + i];
      q[3 + i] = xs * p[i] + ss * p[3 + i];
      q[6 + i] = yy * p[6 + i];
      q[9 + i] = zz * p[9 + i];
    }
  }
  for (int j = 0; j + 1 < nodes; ++j) {
    const double xx = t[slot::mass][j], xs = t[slot::mass + 1][j], sx = t[slot::mass + 2][j],
                 ss = t[slot::mass + 3][j], yy = t[slot::mass + 4][j], zz = t[slot::mass + 5][j];
    const double *p = y + 12 * j, *p2 = p + 12;
    double *q = out + 12 * j, *q2 = q + 12;
    for (int i = 0; i < 3; ++i) {
      q[i] += xx * p2[i] + xs * p2[3 + i];
      q[3 + i] += sx * p2[i] + ss * p2[3 + i];
      q[6 + i] += yy * p2[6 + i];
      q[9 + i] += zz * p2[9 + i];
      q2[i] += xx * p[i] + sx * p[3 + i];
      q2[3 + i] += xs * p[i] + ss * p[3 + i];
      q2[6 + i] += yy * p[6 + i];
      q2[9 + i] += zz * p[9 + i];
    }
  }
  carried_mass_times(w, y, out);
}

void to_node_axes(const WorkspaceData& w, int nodes, const double* world, double* local) {
  const Table& P = w.elements.P;
  for (int j = 0; j < nodes; ++j) {
    double p[9];
    for (int k = 0; k < 9; ++k) p[k] = P[k][j];
    for (int b = 0; b < 4; ++b) {
      const double* x = world + 12 * j + 3 * b;
      double* y = local + 12 * j + 3 * b;
      const double x0 = x[0], x1 = x[1], x2 = x[2];
      for (int i = 0; i < 3; ++i) y[i] = p[i] * x0 + p[3 + i] * x1 + p[6 + i] * x2;
    }
  }
}

void to_world(const WorkspaceData& w, int nodes, const double* local, double* world) {
  const Table& P = w.elements.P;
  for (int j = 0; j < nodes; ++j) {
    double p[9];
    for (int k = 0; k < 9; ++k) p[k] = P[k][j];
    for (int b = 0; b < 4; ++b) {
      const double* x = local + 12 * j + 3 * b;
      double* y = world + 12 * j + 3 * b;
      const double x0 = x[0], x1 = x[1], x2 = x[2];
      for (int i = 0; i < 3; ++i) y[i] = p[3 * i] * x0 + p[3 * i + 1] * x1 + p[3 * i + 2] * x2;
    }
  }
}

// A solution A = PᵀδF of the linear equations is [θ]U + V with V symmetric, θ = G⁻¹ axial(A − Aᵀ), G = tr U −
// U. On its chord a section that turns would be stretched by θ²/2, against E A and with the inertia of ρ I:
// stress that the next step takes for real, and that stops a thread which spins. So the section's two
// directions go to C(U + V) instead, turned as far as the chord points: by atan |θ|. (By |θ|, BDF2 would gain
// spin: the stress that makes a section go round is that of the end, which a single iteration does not know.)
void turn_sections(const WorkspaceData& w, int nodes, double* delta) {
  const Table& e = w.elements.strain;
  for (int j = 0; j < nodes; ++j) {
    if ((w.held[j] & 0b1100u) != 0) continue;  // given
    double* d = delta + 12 * j;
    const double exx = e[0][j], eyy = e[1][j], ezz = e[2][j], exy = e[3][j], exz = e[4][j], eyz = e[5][j];
    // Columns of A: x_,x, x_,y, x_,z.
    const double wx = d[8] - d[10], wy = d[9] - d[5], wz = d[4] - d[6];
    // (tr U − U) θ = w, a small step from 2θ = w: by cofactors.
    const double t = 2 + exx + eyy + ezz, a = t - exx, b = t - eyy, c = t - ezz;
    const double c00 = b * c - eyz * eyz, c01 = exy * c + exz * eyz, c02 = exy * eyz + exz * b;
    const double c11 = a * c - exz * exz, c12 = a * eyz + exy * exz, c22 = a * b - exy * exy;
    const double det = 1 / (a * c00 - exy * c01 - exz * c02);
    const double x = det * (c00 * wx + c01 * wy + c02 * wz), y = det * (c01 * wx + c11 * wy + c12 * wz),
                 z = det * (c02 * wx + c12 * wy + c22 * wz);
    const double c1 = 1 / std::sqrt(1 + (x * x + y * y + z * z)), c2 = c1 * c1 / (1 + c1);
    // With a body all three directions, which stay those of a rotation; else the midline's goes straight, as
    // contacts have it.
    const bool body = (w.held[j] & carries_body) != 0;
    const double U[3][3] = {{1 + exx, exy, exz}, {exy, 1 + eyy, eyz}, {exz, eyz, 1 + ezz}};
    for (int k = body ? 0 : 1; k < 3; ++k) {
      double* p = d + 3 + 3 * k;
      const double u = U[k][0], v = U[k][1], q = U[k][2];
      // s = (U + V) of this column, then C s − U.
      const double r0 = y * q - z * v, r1 = z * u - x * q, r2 = x * v - y * u;
      const double s0 = body ? k == 0 : u + p[0] - r0, s1 = body ? k == 1 : v + p[1] - r1,
                   s2 = body ? k == 2 : q + p[2] - r2;
      const double along = c2 * (x * s0 + y * s1 + z * s2);
      p[0] = c1 * (s0 + (y * s2 - z * s1)) + along * x - u;
      p[1] = c1 * (s1 + (z * s0 - x * s2)) + along * y - v;
      p[2] = c1 * (s2 + (x * s1 - y * s0)) + along * z - q;
    }
  }
}

void hold(const WorkspaceData& w, int nodes, double* rhs, bool matrix, ElementArrays& a) {
  hold_carried(w, rhs, matrix, a);
  for (int j = 0; j < nodes; ++j) {
    if (w.held[j] == 0) continue;
    for (int r = 0; r < 12; ++r) {
      if (!(w.held[j] >> (r / 3) & 1u)) continue;
      rhs[12 * j + r] = 0;
      if (!matrix) continue;
      double* D = a.D.data() + 144 * j;
      for (int c = 0; c < 12; ++c) {
        D[12 * r + c] = D[12 * c + r] = 0;
        a.O[144 * static_cast<std::size_t>(j) + 12 * r + c] = 0;
        if (j > 0) a.O[144 * static_cast<std::size_t>(j - 1) + 12 * c + r] = 0;
      }
      D[13 * r] = 1;
    }
  }
}

void place_fixes(const SystemData& s, const State& state, double t, double* e, WorkspaceData& w) {
  s.poses(t, w.X_WB);
  for (const Fix& f : s.fixes) {
    if (!holds(f, state)) continue;
    const int j = node_at(state, f.thread, f.place);
    const Pose X = f.body < 0 ? f.X_BN : w.X_WB[f.body] * f.X_BN;
    double* q = e + 12 * j;
    for (int b = 0; b < 4; ++b)
      if (f.held >> b & 1u)
        for (int i = 0; i < 3; ++i) q[3 * b + i] = b == 0 ? X.p[i] : (b == 1 ? f.stretch : 1) * X.R(i, b - 1);
  }
}

int factor(const SystemData& s, int nodes, int top, WorkspaceData& w) {
  if (s.options.solver == Solver::cg) return -1;
  w.inverse.reset();
  return w.solver.factor(nodes, top, w.elements.D.data(), w.elements.O.data());
}

void solve(const SystemData& s, int nodes, double* x, WorkspaceData& w) {
  if (s.options.solver == Solver::cg)
    w.cg_iterations = conjugate_gradients(nodes, s.options.cg_tolerance, x, w);
  else
    w.solver.solve(x);
}

}  // namespace limber::thread
