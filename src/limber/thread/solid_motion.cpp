// How long a step may be beside driven solids, so that none passes through a thread unseen.
//
// Contacts are found where a step ends, and push a strand out by the nearest way: that is the side it came
// from only while its midline has not gone below the surface. So a strand and a solid that may meet it
// together move by less than the strand's radius in a step.
#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

constexpr double share = 0.9;  // of the smallest radius, that may be gone in a step
constexpr int most_rounds = 20;

// Where threads can be within the step; between its nodes an element bulges by less than its length.
contact::Bounds room_of(const SystemData& s, const State& state, const WorkspaceData& w, double moved) {
  contact::Bounds room{Vec3::Constant(INFINITY), Vec3::Constant(-INFINITY)};
  double longest = 0, radius = 0;
  for (const ThreadInfo& t : s.threads) radius = std::max(radius, t.rod.radius);
  for (int j = 0; j < state.node_count(); ++j) {
    const Eigen::Map<const Vec3> x(state.e.data() + 12 * j);
    room = {room.low.cwiseMin(x), room.high.cwiseMax(x)};
    longest = std::max(longest, w.length[j]);
  }
  const Vec3 grow = Vec3::Constant(longest + 2 * radius + moved);
  return {room.low - grow, room.high + grow};
}

// The way of the fastest solid that may meet a thread in a step of size h.
double way_of_solids(const SystemData& s, const State& state, double h, double fastest, WorkspaceData& w) {
  ContactWork& c = w.contact;
  s.poses(state.t, c.X0);
  s.poses(state.t + h / 2, c.X1);
  s.poses(state.t + h, w.X_before);
  const contact::Bounds room = room_of(s, state, w, fastest * h);
  double most = 0;
  for (const BodySolid& b : s.solids) {
    if (b.body < 0 || !s.bodies[b.body].moves) continue;
    const Pose first = c.X0[b.body] * b.X_BG, middle = c.X1[b.body] * b.X_BG,
               last = w.X_before[b.body] * b.X_BG;
    const double way = farthest(first, middle, b.reach) + farthest(middle, last, b.reach);
    if (way <= most) continue;
    contact::Bounds swept = contact::bounds({b.geometry, first});
    swept = {swept.low - Vec3::Constant(way), swept.high + Vec3::Constant(way)};
    if (contact::overlap(swept, room)) most = way;
  }
  return most;
}

}  // namespace

double farthest(const Pose& from, const Pose& to, double reach) {
  return (to.p - from.p).norm() + reach * math::so3_log(from.R.transpose() * to.R).norm();
}

double reach_of(const contact::Geometry& geometry) {
  const contact::Bounds b = contact::bounds({geometry, Pose{}});
  return b.low.cwiseAbs().cwiseMax(b.high.cwiseAbs()).norm();
}

double longest_beside_solids(const SystemData& s, const State& state, double h, double fastest,
                             WorkspaceData& w) {
  const double allowed = share * s.smallest_radius;
  for (int round = 0; s.driven_solids && round < most_rounds; ++round) {
    const double way = way_of_solids(s, state, h, fastest, w);
    if (way == 0 || way + fastest * h <= allowed) break;
    h *= std::min(0.9, allowed / (way + fastest * h));
  }
  return h;
}

}  // namespace limber::thread
