#include "limber/adaptive/live.h"

#include <fmt/format.h>

#include <cmath>

#include "limber/adaptive/system.h"

namespace limber::adaptive {
namespace {

Pose pose_of_link(const SystemData& s, const State& state, int link) {
  Pose X = Pose::identity();
  for (int i = link; i >= 0; i = s.tree[i].parent)
    X = (s.tree[i].X_PF * multibody::joint_transform(s.tree[i], state.q.data() + s.tree[i].q)) * X;
  return X;
}

void become(std::shared_ptr<SystemData> data, System& system, State& state, Workspace& workspace) {
  find_paths(*data);
  system = System(std::move(data));
  workspace = Workspace(system);
  state.touch();
}

}  // namespace

bool hold(System& system, State& state, Workspace& workspace, const result::Hand& grip) {
  const SystemData& s = system.data();
  const std::optional<Attachment> on = observe::held_place(s.traces, s.model, grip);
  if (!on || on->on_world() || s.layout.frames[on->body.value].fixed) return false;
  const LinkPoint at = s.link_point(*on);
  TiedSpring hand;
  hand.link_a = -1, hand.link_b = at.link;
  hand.p_a = grip.target, hand.p_b = at.p;
  hand.law = {grip.stiffness, grip.damping, 0, false};
  const TiedSpring* held = s.hand >= 0 ? &s.tied_springs[s.hand] : nullptr;
  const bool there = held && held->link_b == at.link && held->p_b == at.p &&
                     held->law.stiffness == grip.stiffness && held->law.damping == grip.damping;
  if (!there) {
    auto data = std::make_shared<SystemData>(s);
    if (data->hand >= 0) data->tied_springs.pop_back();
    data->hand = static_cast<int>(data->tied_springs.size());
    data->tied_springs.push_back(hand);
    become(std::move(data), system, state, workspace);
  }
  workspace.data().hand_target = grip.target;
  return true;
}

void release(System& system, State& state, Workspace& workspace) {
  if (system.data().hand < 0) return;
  auto data = std::make_shared<SystemData>(system.data());
  data->tied_springs.pop_back();
  data->hand = -1;
  become(std::move(data), system, state, workspace);
}

result::Pull pull(const System& system, const State& state, Workspace& workspace) {
  const SystemData& s = system.data();
  if (s.hand < 0) return {};
  const TiedSpring& hand = s.tied_springs[s.hand];
  const Vec3 point = pose_of_link(s, state, hand.link_b) * hand.p_b;
  return {point, hand.law.stiffness * (workspace.data().hand_target - point)};
}

std::vector<result::Reading> readings(const System& system, const State& state, const std::string& name) {
  const SystemData& s = system.data();
  std::vector<result::Reading> out;
  for (int i = 0; i < s.tree.size(); ++i) {
    if (s.model.bodies()[i].name != name) continue;
    const multibody::Link& link = s.tree[i];
    const DofArray q = multibody::get_coordinates(link, state.q.data() + link.q);
    for (int k = 0; k < link.dofs; ++k) {
      const bool turns = is_rotational(link.kind, k);
      const std::string number = link.dofs > 1 ? fmt::format(" {}", k) : "";
      out.push_back({"joint" + number, turns ? "rad" : "m", q[k]});
      out.push_back({"acceleration" + number, turns ? "rad/s2" : "m/s2", state.a[link.v + k]});
    }
    out.push_back({"steps in which it moved", "", static_cast<double>(state.active_steps[i])});
    break;
  }
  return out;
}

}  // namespace limber::adaptive
