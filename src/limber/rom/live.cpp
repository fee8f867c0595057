#include "limber/rom/live.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "limber/rom/system.h"

namespace limber::rom {
void touches(const System& system, const State& state, Workspace& workspace, result::Touches& out) {
  const SystemData& s = system.data();
  const double h = workspace.data().contact_step;
  out.clear();
  if (!(h > 0)) return;
  for (std::size_t k = 0; k < state.impulse.size(); k += State::impulse_width) {
    const double* x = state.impulse.data() + k;
    const auto frame = [&](int side) { return s.collidables[static_cast<std::size_t>(x[side])].body.value; };
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
    read_ends(s, state, static_cast<int>(k), state.t, w.mechanisms[k]);
  place_bodies(s, state, true, w);
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
    read_ends(s, state, at.mechanism, state.t, x);
    const MechanismPlace& place = s.mechanisms[at.mechanism];
    const double* v = state.v.data() + place.v + (place.base > 0 ? 9 : 0) + 6 * at.end;
    out.push_back({"speed", "m/s", std::sqrt(v[3] * v[3] + v[4] * v[4] + v[5] * v[5])});
    out.push_back({"holding force", "N", x.blend.force.segment<3>(6 * at.end + 3).norm()});
    out.push_back({"holding moment", "N m", x.blend.force.segment<3>(6 * at.end).norm()});
    out.push_back({"distance from its points", "", x.blend.distance});
  }
  return out;
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
  for (std::size_t k = 0; k < s.mechanisms.size(); ++k) {
    const Mechanism& m = s.reduced.mechanisms[k];
    double* q = state.q.data() + s.mechanisms[k].q;
    double* v = state.v.data() + s.mechanisms[k].v;
    Pose base, base_before;
    if (m.free_base) {
      base = pose(now, m.bodies[0]), base_before = pose(before, m.bodies[0]);
      store_pose(base, q);
      const Vec6 V = twist(base_before, base);
      std::copy_n(V.data(), 6, v);
      Vec3 com = Vec3::Zero(), old = Vec3::Zero();
      double mass = 0;
      for (std::size_t l = 0; l < m.bodies.size(); ++l) {
        com += m.inertias[l].m * (pose(now, m.bodies[l]) * m.inertias[l].com());
        old += m.inertias[l].m * (pose(before, m.bodies[l]) * m.inertias[l].com());
        mass += m.inertias[l].m;
      }
      const Vec3 speed = h > 0 ? Vec3((com - old) / (mass * h)) : Vec3(Vec3::Zero());
      com /= mass;
      std::copy_n(com.data(), 3, q + 7);
      std::copy_n(speed.data(), 3, v + 6);
      q += 10, v += 9;
    }
    for (std::size_t e = 0; e < m.ends.size(); ++e) {
      const Pose X = base.inverse() * pose(now, m.bodies[m.ends[e]]);
      store_pose(X, q + 7 * e);
      const Vec6 V = twist(base_before.inverse() * pose(before, m.bodies[m.ends[e]]), X);
      std::copy_n(V.data(), 6, v + 6 * e);
    }
    std::fill_n(q + 7 * m.ends.size(), m.modes, 0.0);
  }
  for (const PropPlace& p : s.props) {
    const Pose X = pose(now, p.body), X0 = pose(before, p.body);
    store_pose(X, state.q.data() + p.q);
    const Vec6 V = twist(X0, X);
    const Vec3 spin = X.R * V.head<3>();
    const Vec3 speed = h > 0 ? Vec3((X * p.com - X0 * p.com) / h) : Vec3(Vec3::Zero());
    std::copy_n(spin.data(), 3, state.v.data() + p.v);
    std::copy_n(speed.data(), 3, state.v.data() + p.v + 3);
  }
  return true;
}

}  // namespace limber::rom
