#include "limber/contact/scene_contacts.h"

#include <algorithm>
#include <cmath>

#include "limber/contact/collide.h"
#include "limber/contact/shape_geometry.h"
#include "limber/math/numbers.h"
#include "limber/math/so3.h"

namespace limber::contact {
namespace {

double reach_of(const Geometry& geometry, const Pose& X) {
  const Bounds box = bounds({geometry, Pose{}});
  double reach = 0;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3 at;
    for (int i = 0; i < 3; ++i) at[i] = corner >> i & 1 ? box.high[i] : box.low[i];
    reach = std::max(reach, (X * at).norm());
  }
  return reach;
}

// Groups of bodies that fixed joints hold together: 0 is the world's.
std::vector<int> weld(const Model& model) {
  std::vector<int> group(model.bodies().size());
  int count = 0;
  for (std::size_t b = 0; b < group.size(); ++b) {  // parents stand before their children
    const Joint& j = model.joints()[b];
    if (j.kind != JointKind::fixed)
      group[b] = ++count;
    else
      group[b] = j.parent.valid() ? group[j.parent.value] : 0;
  }
  return group;
}

// What a joint hangs on: past bodies without mass and shape, which only stand between joints that are one.
BodyId carried_by(const Model& model, BodyId body) {
  while (body.valid()) {
    const Body& b = model.bodies()[body.value];
    const Joint& j = model.joints()[body.value];
    if (b.inertia.m > 0 || !b.shapes.empty() || j.kind == JointKind::free) break;
    body = j.parent;
  }
  return body;
}

}  // namespace

SceneContacts::SceneContacts(const Model& model, const std::vector<BeamLinks>& beams) {
  const auto& contact = model.contact();
  if (!contact) return;
  for (const Plane& plane : contact->planes)
    solids_.push_back({world,
                       static_cast<int>(solids_.size()),
                       HalfSpace{},
                       {math::rotation_from_z(plane.normal.normalized()), plane.at}});
  for (std::size_t b = 0; b < model.bodies().size(); ++b)
    for (const Shape& shape : model.bodies()[b].shapes) {
      if (!model.bodies()[b].collide) break;
      Collidable out{BodyId{static_cast<int>(b)}, -1, geometry_of(shape.geometry), shape.X_BG};
      const Bounds box = bounds({out.geometry, Pose{}});
      out.size = (box.high - box.low).norm();
      out.reach = reach_of(out.geometry, out.X_BG);
      solids_.push_back(std::move(out));
    }
  group_ = weld(model);
  const auto group = [&](BodyId b) { return b.valid() ? group_[b.value] : 0; };
  const auto join = [&](BodyId a, BodyId b) {
    if (group(a) != group(b)) neighbours_.push_back(std::minmax(group(a), group(b)));
  };
  for (const Joint& j : model.joints())
    if (j.kind != JointKind::fixed && j.kind != JointKind::free) join(j.child, carried_by(model, j.parent));
  for (const Loop& l : model.loops()) join(l.a, l.b);
  std::sort(neighbours_.begin(), neighbours_.end());
  leave_out_drawn_through(model);
  ask_pairs(model);
  on_beam_.resize(model.bodies().size());
  for (std::size_t k = 0; k < beams.size(); ++k) {
    const BeamLinks& beam = beams[k];
    const double piece = beam.length / std::max<double>(1, static_cast<double>(beam.pieces.size()));
    apart_.push_back(pi * beam.radius + piece);
    root_group_.push_back(group(beam.pieces.front()));
    for (std::size_t i = 0; i < beam.pieces.size(); ++i)
      on_beam_[beam.pieces[i].value] = {static_cast<int>(k), piece * static_cast<double>(i),
                                        piece * static_cast<double>(i + 1)};
  }
}

// A rod on a hinge in the wall goes through the wall, but not through what stands on the floor.
void SceneContacts::leave_out_drawn_through(const Model& model) {
  const std::vector<Pose> X = model.initial_poses();
  const auto placed = [&](int i) {
    const Collidable& c = solids_[i];
    return Solid{c.geometry, c.body.valid() ? X[c.body.value] * c.X_BG : c.X_BG};
  };
  const auto group = [&](int i) { return solids_[i].body.valid() ? group_[solids_[i].body.value] : 0; };
  Collider scratch;
  Manifold found;
  for (int i = 0; i < static_cast<int>(solids_.size()); ++i) {
    if (group(i) == 0 || !joined(0, group(i))) continue;
    for (int k = 0; k < static_cast<int>(solids_.size()); ++k) {
      if (group(k) != 0) continue;
      collide(placed(i), placed(k), 0, scratch, found);
      double gap = 0;
      for (int p = 0; p < found.count; ++p) gap = std::min(gap, found.points[p].gap);
      if (gap < -1e-6 * solids_[i].size) drawn_through_.push_back(std::minmax(i, k));
    }
  }
  std::sort(drawn_through_.begin(), drawn_through_.end());
}

// Pairs of solids for which a pair of the scene says whether they touch: all are asked once, and only where
// some pair says so.
void SceneContacts::ask_pairs(const Model& model) {
  const auto& pairs = model.contact()->pairs;
  if (std::ranges::none_of(pairs, [](const SurfacePair& p) { return p.collide.has_value(); })) return;
  const int n = static_cast<int>(solids_.size());
  for (int i = 0; i < n; ++i)
    for (int k = i + 1; k < n; ++k)
      if (const TouchLaw said = law(model, i, k); said.collide) {
        told_.emplace_back(i, k);
        told_to_touch_.push_back(*said.collide);
      }
}

bool SceneContacts::joined(int a, int b) const {
  return std::binary_search(neighbours_.begin(), neighbours_.end(), std::pair<int, int>(std::minmax(a, b)));
}

bool SceneContacts::near_on_beam(BodyId a, BodyId b) const {
  const auto place = [&](BodyId x) { return x.valid() ? on_beam_[x.value] : OnBeam{}; };
  const OnBeam p = place(a), q = place(b);
  if (p.beam >= 0 && p.beam == q.beam) return std::max(p.from - q.to, q.from - p.to) < apart_[p.beam];
  const auto at_root = [&](const OnBeam& x, BodyId other) {
    return x.beam >= 0 && x.from < apart_[x.beam] &&
           root_group_[x.beam] == (other.valid() ? group_[other.value] : 0);
  };
  return at_root(p, b) || at_root(q, a);
}

bool SceneContacts::may_touch(int i, int k) const {
  const BodyId a = solids_[i].body, b = solids_[k].body;
  const int g = a.valid() ? group_[a.value] : 0, h = b.valid() ? group_[b.value] : 0;
  if (g == h) return false;
  if (!told_.empty()) {
    const std::pair<int, int> pair = std::minmax(i, k);
    const auto found = std::ranges::lower_bound(told_, pair);
    if (found != told_.end() && *found == pair) return told_to_touch_[found - told_.begin()];
  }
  if (near_on_beam(a, b)) return false;
  if (!joined(g, h)) return true;
  return (g == 0 || h == 0) && !std::binary_search(drawn_through_.begin(), drawn_through_.end(),
                                                   std::pair<int, int>(std::minmax(i, k)));
}

TouchLaw SceneContacts::law(const Model& model, int i, int k) const {
  const auto surface = [&](int s) {
    return Surface{.body = solids_[s].body, .beam = {}, .plane = solids_[s].plane, .kind = -1};
  };
  return model.touch_law(surface(i), surface(k));
}

bool SceneContacts::is_of(int solid, BodyId body, BeamId beam) const {
  const BodyId on = solids_[solid].body;
  if (!beam.valid()) return on == body;
  return on.valid() && on_beam_[on.value].beam == beam.value;
}

std::string SceneContacts::name_of(const Model& model, int i) const {
  const BodyId body = solids_[i].body;
  return body.valid() ? "\"" + model.bodies()[body.value].name + "\"" : "a plane";
}

}  // namespace limber::contact
