#include "limber/chain/elements.h"

#include <algorithm>
#include <cmath>

#include "limber/elastic/beam_frames.h"
#include "limber/elastic/section_constants.h"
#include "limber/math/so3.h"

namespace limber::chain {

ElementModel elements_of(const Model& m, double time) {
  const std::string instead = ": the published sweeps do not know it; --solver newton does";
  if (!m.ties().empty()) throw ModelError({{"tie", m.ties()[0].name, "", "a tie" + instead}});
  if (!m.loops().empty()) throw ModelError({{"loop", m.loops()[0].name, "", "a loop" + instead}});
  if (!m.springs().empty()) throw ModelError({{"spring", m.springs()[0].name, "", "a spring" + instead}});
  if (m.wind()) throw ModelError({{"wind", "", "", "wind" + instead}});
  for (const Beam& b : m.beams())
    if (b.rest) throw ModelError({{"beam", b.name, "rest", "a shape at ease other than the path" + instead}});
  for (const Joint& j : m.joints())
    if (j.kind != JointKind::fixed) throw ModelError({{"joint", j.name, "", "a joint" + instead}});
  const auto poses = m.initial_poses();
  ElementModel out;
  out.tips.assign(m.beams().size(), -1);
  const Vec3 g = m.gravity().value(time);

  std::vector<int> first(m.beams().size(), -1);
  std::vector<Pose> starts(m.beams().size());  // the paths' frames in the world
  std::vector<Pose> tip_at_rest;               // of each element, in the world
  std::vector<char> done(m.beams().size(), 0);
  for (std::size_t round = 0; round < m.beams().size(); ++round) {
    bool any = false;
    for (std::size_t b = 0; b < m.beams().size(); ++b) {
      const Beam& beam = m.beams()[b];
      if (done[b] || (beam.from.beam.valid() && !done[beam.from.beam.value])) continue;
      done[b] = 1, any = true;
      const elastic::BeamFrames frames(beam.path, beam.up);
      const auto c = elastic::section_constants(m[beam.section].shape);
      const auto p = elastic::principal_moments(c);
      const Material& material = m[beam.material];
      // A planar element bends about its z: the section's y.
      const Pose principal = Pose::rotation(math::rotation_x(beam.planar ? -0.5 * pi : p.angle));
      // From a beam: the element whose tip is nearest to that place.
      int parent = -1;
      Pose X_WS = Pose::identity();
      if (beam.from.beam.valid()) {
        const Beam& on = m[beam.from.beam];
        const int e =
            std::clamp(static_cast<int>(std::lround(beam.from.s * on.elements)) - 1, -1, on.elements - 1);
        parent = e < 0 ? out.elements[first[beam.from.beam.value]].parent : first[beam.from.beam.value] + e;
        const elastic::BeamFrames host(on.path, on.up);
        X_WS = starts[beam.from.beam.value] * host.at((e + 1.0) / on.elements);
      } else {
        X_WS = (beam.from.body.valid() ? poses[beam.from.body.value] : Pose::identity()) *
               Pose::translation(beam.from.p);
      }
      starts[b] = X_WS;
      const int n = beam.elements;
      first[b] = static_cast<int>(out.elements.size());
      for (int e = 0; e < n; ++e) {
        const Pose a = X_WS * frames.at(static_cast<double>(e) / n), z = X_WS * frames.at((e + 1.0) / n);
        Element element;
        element.parent = e == 0 ? parent : static_cast<int>(out.elements.size()) - 1;
        const Vec3 chord = z.p - a.p;
        element.length = chord.norm();
        // Axes of the middle of the element, x along the chord.
        const Pose middle = X_WS * frames.at((e + 0.5) / n);
        const Vec3 x = chord / element.length,
                   zz = (middle.R.col(2) - x * x.dot(middle.R.col(2))).normalized();
        Pose base;
        base.R << x, zz.cross(x), zz;
        base = Pose{base.R, a.p} * principal;
        element.X = (element.parent < 0 ? Pose::identity() : tip_at_rest[element.parent]).inverse() * base;
        element.stiffness = {material.G * c.J, material.E * p.I_y, material.E * p.I_z};
        if (beam.planar) std::swap(element.stiffness.y(), element.stiffness.z());
        element.recipe = beam.recipe;
        element.planar = beam.planar;
        tip_at_rest.push_back(base * Pose::translation({element.length, 0, 0}));
        out.elements.push_back(element);
      }
      out.tips[b] = static_cast<int>(out.elements.size()) - 1;
      const double weight = material.density * c.A * frames.length() / n;
      for (int e = 0; e < n; ++e) {
        const int i = first[b] + e, before = out.elements[i].parent;
        out.elements[i].F += 0.5 * weight * g;
        if (before >= 0) out.elements[before].F += 0.5 * weight * g;
      }
    }
    if (!any) break;
  }
  if (out.elements.empty()) throw ModelError({{"scene", m.title(), "", "there is no beam"}});

  const auto nearest = [&](const BeamId beam, double s) {
    const int n = m[beam].elements;
    const int e = static_cast<int>(std::lround(s * n)) - 1;
    return e < 0 ? out.elements[first[beam.value]].parent : first[beam.value] + e;
  };
  for (const PointLoad& l : m.point_loads()) {
    if (l.follows)
      throw ModelError({{"load", l.name, "follows", "a load that turns with the beam" + instead}});
    if (!l.at.beam.valid()) throw ModelError({{"load", l.name, "on", "a load on a body" + instead}});
    const int e = nearest(l.at.beam, l.at.s);
    if (e < 0) continue;  // at the root: nothing bends
    out.elements[e].F += l.force.value(time);
    out.elements[e].M += l.moment.value(time);
  }
  for (const DistributedLoad& l : m.distributed_loads()) {
    if (l.follows)
      throw ModelError({{"load", l.name, "follows", "a load that turns with the beam" + instead}});
    const int n = m[l.beam].elements;
    const double length = path_length(m[l.beam].path);
    for (int e = 0; e < n; ++e) {
      const double part = std::min(l.s1, (e + 1.0) / n) - std::max(l.s0, static_cast<double>(e) / n);
      if (part <= 0) continue;
      const Vec3 f = 0.5 * part * length * l.force_per_length.value(time);
      const int i = first[l.beam.value] + e, before = out.elements[i].parent;
      out.elements[i].F += f;
      if (before >= 0) out.elements[before].F += f;
    }
  }
  return out;
}

}  // namespace limber::chain
