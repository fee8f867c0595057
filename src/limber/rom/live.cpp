#include "limber/rom/live.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "limber/math/dense.h"
#include "limber/rom/system.h"

namespace limber::rom {
void touches(const System& system, const State& state, Workspace& workspace, result::Touches& out) {
  const SystemData& s = system.data();
  const double h = workspace.data().contact_step;
  out.clear();
  if (!(h > 0)) return;
  for (std::size_t k = 0; k < state.impulse.size(); k += State::impulse_width) {
    const double* x = state.impulse.data() + k;
    const auto frame = [&](int side) {
      return s.contacts.solids()[static_cast<std::size_t>(x[side])].body.value;
    };
    result::Touch t{frame(0), frame(1), Vec3(x[3], x[4], x[5]), Vec3(x[6], x[7], x[8]) / h};
    if (t.a < 0) std::swap(t.a, t.b), t.force = -t.force;
    out.push_back(t);
  }
}

bool hold(const System& system, Workspace& workspace, const result::Hand& hand) {
  const SystemData& s = system.data();
  const std::optional<Attachment> at = observe::held_place(s.traces, s.model, hand);
  if (!at || at->on_world() || s.places[at->body.value].on == BodyPlace::On::ground) return false;
  workspace.data().held = Held{hand, at->body.value, at->p};
  return true;
}

void release(Workspace& workspace) { workspace.data().held.reset(); }

int held_body(Workspace& workspace) { return workspace.data().held ? workspace.data().held->body : -1; }

result::Pull pull(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  if (!w.held) return {};
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k)
    read_mechanism(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
  place_bodies(s, state, w);
  return {w.X[w.held->body] * w.held->p, w.held_force};
}

void scale_loads(Workspace& workspace, double factor) { workspace.data().load = factor; }

std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  std::vector<result::Reading> out;
  for (std::size_t b = 0; b < s.model.bodies().size(); ++b) {
    if (s.model.bodies()[b].name != name) continue;
    const BodyPlace& at = s.places[b];
    if (at.on == BodyPlace::On::prop) {
      const double* v = state.v.data() + s.props[at.prop].v;
      out.push_back({"speed", "m/s", std::sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])});
    }
    if (at.on != BodyPlace::On::mechanism || at.end < 0) continue;
    MechanismScratch& x = w.mechanisms[at.mechanism];
    read_mechanism(s, state, at.mechanism, state.t, x);
    const Mechanism& m = s.reduced.mechanisms[at.mechanism];
    const Eigen::Map<const VecX> rates(state.v.data() + s.mechanisms[at.mechanism].rate(), m.coordinates());
    const Vec6 V = link_map(m, x.blend, at.link).leftCols(m.coordinates()) * rates;
    const Vec6 wrench = end_wrenches(m, x.blend).segment<6>(6 * at.end);
    out.push_back({"speed", "m/s", V.tail<3>().norm()});
    out.push_back({"holding force", "N", wrench.tail<3>().norm()});
    out.push_back({"holding moment", "N m", wrench.head<3>().norm()});
    out.push_back({"distance from its points", "", x.blend.distance});
  }
  return out;
}

// Where a free base flies, and the momenta of its links.
static void adopt_base(const Mechanism& m, const std::vector<Pose>& X, const std::vector<Pose>& before,
                       double h, double* q, double* v) {
  const auto twist = [&](int body) {
    return h > 0 ? Vec6(math::se3_log(before[body].inverse() * X[body]) / h) : Vec6(Vec6::Zero());
  };
  Vec3 com = Vec3::Zero(), old = Vec3::Zero();
  Vec6 momentum = Vec6::Zero();
  double mass = 0;
  for (std::size_t l = 0; l < m.bodies.size(); ++l) {
    const int body = m.bodies[l];
    com += m.inertias[l].m * (X[body] * m.inertias[l].com());
    old += m.inertias[l].m * (before[body] * m.inertias[l].com());
    mass += m.inertias[l].m;
    momentum += X[body].force(m.inertias[l].momentum(twist(body)));
  }
  const Vec3 speed = h > 0 ? Vec3((com - old) / (mass * h)) : Vec3(Vec3::Zero());
  com /= mass;
  const Vec3 spin = momentum.head<3>() - com.cross(Vec3(momentum.tail<3>()));
  const Vec6 V = twist(m.bodies[0]);
  store_pose(X[m.bodies[0]], q);
  std::copy_n(com.data(), 3, q + 7);
  std::copy_n(V.data(), 6, v);
  std::copy_n(speed.data(), 3, v + 6);
  std::copy_n(spin.data(), 3, v + 9);
}

// Coordinates at which the ends stand where they stood (Newton's method; in least squares where they cannot):
// links of another blend are elsewhere at the same coordinates.
static void stand_on_ends(const SystemData& s, int k, const std::vector<Pose>& X, State& state) {
  const Mechanism& m = s.reduced.mechanisms[k];
  const int n = m.coordinates(), E = static_cast<int>(m.ends.size());
  MechanismScratch w(m, m.free_base ? 6 : 0);
  MatX J(6 * E, n);
  VecX off(6 * E);
  constexpr int most = 20;
  for (int i = 0; i < most; ++i) {
    read_mechanism(s, state, k, state.t, w, false);
    for (int e = 0; e < E; ++e) {
      const Pose at = w.base * link_pose(m, w.blend, m.ends[e]);
      off.segment<6>(6 * e) = math::se3_log(at.inverse() * X[m.bodies[m.ends[e]]]);
      J.middleRows<6>(6 * e) = link_map(m, w.blend, m.ends[e]).leftCols(n);
      off.segment<3>(6 * e + 3) /= m.radius;
      J.middleRows<3>(6 * e + 3) /= m.radius;
    }
    if (!(off.norm() > 1e-12)) return;
    const VecX step = math::solve_least_norm(J, off);
    for (int c = 0; c < n; ++c) state.q[s.mechanisms[k].a() + c] += step[c];
    if (!(step.norm() > 1e-12)) return;
  }
}

bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now) {
  const SystemData& s = system.data();
  std::unordered_map<std::string, std::size_t> frames;
  for (std::size_t f = 0; f < layout.frames.size(); ++f) frames.emplace(layout.frames[f].name, f);
  for (const Body& body : s.model.bodies())
    if (!frames.contains(body.name)) return false;
  const auto pose = [&](const result::Snapshot& at, int body) {
    const std::size_t f = frames.at(s.model.bodies()[body].name);
    return Pose{math::to_matrix(at.rotations[f]), at.positions[f]};
  };
  const double h = now.time - before.time;
  const auto twist = [&](const Pose& from, const Pose& to) {
    return h > 0 ? Vec6(math::se3_log(from.inverse() * to) / h) : Vec6(Vec6::Zero());
  };
  std::fill(state.v.begin(), state.v.end(), 0.0);
  state.impulse.clear();
  state.t = now.time;
  std::vector<Pose> X, X0;
  for (std::size_t body = 0; body < s.model.bodies().size(); ++body) {
    X.push_back(pose(now, static_cast<int>(body)));
    X0.push_back(pose(before, static_cast<int>(body)));
  }
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    const MechanismPlace& place = s.mechanisms[k];
    const VecX a = coordinates_of(m, joint_coordinates(s, m, X));
    const VecX old = coordinates_of(m, joint_coordinates(s, m, X0));
    for (int i = 0; i < m.coordinates(); ++i) {
      state.q[place.a() + i] = a[i];
      state.v[place.rate() + i] = h > 0 ? (a[i] - old[i]) / h : 0;
    }
    if (m.free_base) adopt_base(m, X, X0, h, state.q.data() + place.q, state.v.data() + place.v);
    stand_on_ends(s, static_cast<int>(k), X, state);
  }
  for (const PropPlace& p : s.props) {
    const Pose &to = X[p.body], &from = X0[p.body];
    store_pose(to, state.q.data() + p.q);
    const Vec6 V = twist(from, to);
    const Vec3 spin = to.R * V.head<3>();
    const Vec3 speed = h > 0 ? Vec3((to * p.com - from * p.com) / h) : Vec3(Vec3::Zero());
    std::copy_n(spin.data(), 3, state.v.data() + p.v);
    std::copy_n(speed.data(), 3, state.v.data() + p.v + 3);
  }
  return true;
}

}  // namespace limber::rom
