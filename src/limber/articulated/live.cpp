#include "limber/articulated/live.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

void update_links(const SystemData& s, const State& state, WorkspaceData& w) {
  multibody::kinematics(s.tree, state.q.data(), state.v.data(), w.links, w.workers.get());
}

// A coordinate that lies where the joint does not move is left out: the nearest pose that the joint can take.
void coordinates_of(const multibody::Link& link, const Pose& X_FM, double* q) {
  DofArray x{};
  double as_tree[7];
  multibody::closing_coordinates({link.kind, link.lead, 0}, X_FM, as_tree, x);
  // An angle of more than half a turn keeps its turns: the nearest to where it was.
  if (link.kind == JointKind::revolute || link.kind == JointKind::cylindrical)
    x[0] += 2 * pi * std::round((q[0] - x[0]) / (2 * pi));
  multibody::set_coordinates(link, x, q);
}

using FrameIndex = std::unordered_map<std::string, std::size_t>;

void coordinates_from(const SystemData& s, const FrameIndex& frames, const result::Snapshot& at,
                      std::vector<double>& q) {
  std::vector<Pose> X_WM(s.tree.size());
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    const std::size_t f = frames.at(s.model.bodies()[i].name);
    const Pose X_WB{math::to_matrix(at.rotations[f]), at.positions[f]};
    const Pose X_WF = link.parent >= 0 ? X_WM[link.parent] * link.X_PF : link.X_PF;
    coordinates_of(link, X_WF.inverse() * (X_WB * link.X_MB.inverse()), q.data() + link.q);
    X_WM[i] = X_WF * multibody::joint_transform(link, q.data() + link.q);
  }
}

double bending_stress(const SystemData& s, const State& state, const BeamFibres& fibres, int link) {
  if (s.tree[link].kind != JointKind::spherical) return std::numeric_limits<double>::quiet_NaN();
  const Vec6 M = joint_force(s, link, state);
  if (fibres.round) return Vec3(0, M[1], M[2]).norm() * fibres.z_max / fibres.I_y;
  return std::abs(M[1]) * fibres.z_max / fibres.I_y + std::abs(M[2]) * fibres.y_max / fibres.I_z;
}

}  // namespace

void touches(const System& system, const State& state, result::Touches& out) {
  const SystemData& s = system.data();
  out.clear();
  for (std::size_t k = 0; k < state.touching.size(); k += State::touching_width) {
    const double* x = state.touching.data() + k;
    const auto frame = [&](int side) {
      return s.contacts.solids()[static_cast<std::size_t>(x[side])].body.value;
    };
    result::Touch t{frame(0), frame(1), Vec3(x[3], x[4], x[5]), Vec3(x[6], x[7], x[8])};
    if (t.a < 0) std::swap(t.a, t.b), t.force = -t.force;
    out.push_back(t);
  }
}

bool hold(const System& system, Workspace& workspace, const result::Hand& hand) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  const std::optional<Attachment> on = observe::held_place(s.traces, s.model, hand);
  if (!on || on->on_world()) return false;
  const LinkPoint at = s.link_point(*on);
  release(system, workspace);
  // A link without a block of its own gets one for as long as it is held.
  int& block = w.body_block_index[at.link];
  if (block < 0) {
    block = s.body_blocks;
    w.body_block.resize(s.body_blocks + 1);
  }
  w.held = Held{hand, at, block};
  return true;
}

int held_body(Workspace& workspace) {
  const auto& held = workspace.data().held;
  return held ? held->at.link : -1;
}

void release(const System& system, Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  if (!w.held) return;
  w.body_block_index[w.held->at.link] = s.body_block_index[w.held->at.link];
  w.body_block.resize(s.body_blocks);
  w.held.reset();
}

result::Pull pull(const System& system, const State& state, Workspace& workspace) {
  WorkspaceData& w = workspace.data();
  if (!w.held) return {};
  update_links(system.data(), state, w);
  const LinkMotion& m = w.links[w.held->at.link];
  const Vec3& p = w.held->at.p;
  const Vec3 point = m.X_WM * p, v = m.X_WM.R * (m.V.tail<3>() + m.V.head<3>().cross(p));
  return {point, w.held->hand.force(w.held->hand.target - point, v)};
}

void scale_loads(Workspace& workspace, double factor) {
  workspace.data().load = workspace.data().weight = factor;
}

static std::vector<observe::CableReading> cable_readings(const System& system, const State& state,
                                                         Workspace& workspace) {
  const SystemData& s = system.data();
  WorkspaceData& w = workspace.data();
  std::vector<observe::CableReading> out;
  if (s.cables.empty()) return out;
  update_links(s, state, w);
  w.cable_from = state.cables;
  cable_energy(s, w.links, state.t, w.cable_from, w.cables);  // places them
  for (std::size_t i = 0; i < s.cables.size(); ++i)
    out.push_back(read_cable(s, static_cast<int>(i), -1, w.links, state.t, w.cables));
  return out;
}

result::Fields fields(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  result::Fields out;
  const float none = std::numeric_limits<float>::quiet_NaN();
  if (!s.springs.empty() || !s.cables.empty()) {
    result::Field tension{"tension", "N", result::Field::On::polylines, {}};
    tension.values.assign(s.layout.polylines.size(), none);
    std::size_t k = s.traces.size();
    for (const SpringTension& spring : spring_tensions(system, state))
      tension.values[k++] = static_cast<float>(spring.tension);
    for (const observe::CableReading& cable : cable_readings(system, state, workspace))
      tension.values[k++] = static_cast<float>(cable.most);
    out.push_back(std::move(tension));
  }
  if (!s.fibres.empty()) {
    result::Field stress{"bending stress", "Pa", result::Field::On::points, {}};
    for (std::size_t t = 0; t < s.traces.size(); ++t) {
      const auto& bodies = s.traces[t].bodies;
      const std::size_t first = stress.values.size();
      for (const BodyId body : bodies)
        stress.values.push_back(
            body.valid() ? static_cast<float>(bending_stress(s, state, s.fibres[t], body.value)) : none);
      // The root is welded to what carries the beam: it bears what its first joint bears.
      for (std::size_t k = stress.values.size() - 1; k-- > first;)
        if (std::isnan(stress.values[k])) stress.values[k] = stress.values[k + 1];
    }
    stress.values.resize(s.layout.point_count(), none);
    out.push_back(std::move(stress));
  }
  update_links(s, state, workspace.data());
  return out;
}

std::vector<result::Reading> readings(const System& system, const State& state, Workspace& workspace,
                                      const std::string& name) {
  const SystemData& s = system.data();
  update_links(s, state, workspace.data());
  std::vector<result::Reading> out;
  for (int i = 0; i < s.tree.size(); ++i) {
    if (s.model.bodies()[i].name != name) continue;
    const multibody::Link& link = s.tree[i];
    const DofArray x = multibody::get_coordinates(link, state.q.data() + link.q);
    const Vec6 f = joint_force(s, i, state);
    for (int k = 0; k < link.dofs; ++k) {
      const bool turns = is_rotational(link.kind, k);
      const std::string number = link.dofs > 1 ? " " + std::to_string(k) : "";
      out.push_back({"joint" + number, turns ? "rad" : "m", x[k]});
      out.push_back({"joint rate" + number, turns ? "rad/s" : "m/s", state.v[link.v + k]});
      out.push_back({"joint force" + number, turns ? "N m" : "N", f[k]});
    }
    const Vec3 v = workspace.data().links[i].X_WM.R * workspace.data().links[i].V.tail<3>();
    out.push_back({"speed", "m/s", v.norm()});
  }
  for (const SpringTension& spring : spring_tensions(system, state)) {
    if (spring.name != name) continue;
    out.push_back({"tension", "N", spring.tension});
  }
  const auto cables = cable_readings(system, state, workspace);
  for (std::size_t i = 0; i < cables.size(); ++i)
    if (s.cables[i].name == name) out.push_back({"tension", "N", cables[i].most});
  return out;
}

Model model_at(const System& system, const State& state) {
  const SystemData& s = system.data();
  ModelParts parts = s.model.parts();
  for (int i = 0; i < s.tree.size(); ++i) {
    const multibody::Link& link = s.tree[i];
    parts.joints[i].position = multibody::get_coordinates(link, state.q.data() + link.q);
    std::copy_n(state.v.begin() + link.v, link.dofs, parts.joints[i].velocity.begin());
  }
  if (!s.cables.empty()) {
    std::vector<LinkMotion> links(s.tree.size());
    multibody::kinematics(s.tree, state.q.data(), state.v.data(), links);
    std::vector<CableShape> cables(s.cables.begin(), s.cables.end());
    cable_energy(s, links, state.t, state.cables, cables);  // places them
    for (std::size_t i = 0; i < s.cables.size(); ++i) {
      Cable& c = parts.cables[i];
      c.rest_length = rest_off_drums(s.cables[i], cables[i]);
      c.EA = s.cables[i].EA, c.stiffness = c.pretension = 0;
    }
  }
  return Model(std::move(parts));
}

bool adopt(const System& system, State& state, const result::Layout& layout, const result::Snapshot& before,
           const result::Snapshot& now) {
  const SystemData& s = system.data();
  FrameIndex frames;
  for (std::size_t f = 0; f < layout.frames.size(); ++f) frames.emplace(layout.frames[f].name, f);
  for (const Body& body : s.model.bodies())
    if (!frames.contains(body.name)) return false;
  coordinates_from(s, frames, now, state.q);
  state.t = now.time;
  std::fill(state.a.begin(), state.a.end(), 0.0);
  std::fill(state.v.begin(), state.v.end(), 0.0);
  if (const double h = now.time - before.time; h > 0) {
    std::vector<double> q_before = state.q;
    coordinates_from(s, frames, before, q_before);
    for (const multibody::Link& link : s.tree.links())
      multibody::rates_between(link.kind, q_before.data() + link.q, state.q.data() + link.q, h,
                               state.v.data() + link.v);
  }
  Workspace workspace(system);
  open_ledger(system, state, workspace);
  return true;
}

}  // namespace limber::articulated
