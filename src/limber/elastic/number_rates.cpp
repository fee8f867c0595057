#include "limber/elastic/number_rates.h"

#include <algorithm>
#include <cmath>

#include "limber/elastic/section_constants.h"
#include "limber/math/trig.h"

namespace limber::elastic {
namespace {

bool same(const Circle& a, const Circle& b) { return a.radius == b.radius; }
bool same(const Tube& a, const Tube& b) {
  return a.outer_radius == b.outer_radius && a.inner_radius == b.inner_radius;
}
bool same(const Rectangle& a, const Rectangle& b) { return a.width == b.width && a.height == b.height; }
bool same(const Ellipse& a, const Ellipse& b) { return a.a == b.a && a.b == b.b; }
bool same(const Polygon& a, const Polygon& b) { return a.outline == b.outline && a.holes == b.holes; }
bool same(const SectionShape& a, const SectionShape& b) {
  return std::visit([&](const auto& x) { return same(x, *std::get_if<std::decay_t<decltype(x)>>(&b)); }, a);
}

bool same(const Aging& a, const Aging& b) {
  return a.rate == b.rate && a.stress == b.stress && a.exponent == b.exponent;
}
bool same_strength(const Material& a, const Material& b) {
  return a.yield == b.yield && a.strength == b.strength && same(a.creep, b.creep) &&
         same(a.fatigue, b.fatigue);
}
bool same_elasticity(const Material& a, const Material& b) {
  return a.E == b.E && a.G == b.G && a.density == b.density;
}

bool same_place(const Attachment& a, const Attachment& b) {
  return a.body == b.body && a.beam == b.beam && a.s == b.s && a.p == b.p;
}

// What a beam's joints and links are multiples of.
struct BeamNumbers {
  Vec3 stiffness, give;
  double mass = 0, angle = 0;
};
BeamNumbers numbers_of(const Material& m, const SectionConstants& s) {
  BeamNumbers out;
  const PrincipalMoments principal = principal_moments(s);
  const auto [sine, cosine] = math::sincos(principal.angle);
  const Vec2 shear = Vec2(1 / s.shear_y, 1 / s.shear_z) / m.G;
  const double ss = sine * sine, cc = cosine * cosine;
  out.stiffness = {m.G * s.J, m.E * principal.I_y, m.E * principal.I_z};
  out.give = Vec3(1 / m.E, cc * shear[0] + ss * shear[1], ss * shear[0] + cc * shear[1]) / s.A;
  out.mass = m.density * s.A;
  out.angle = principal.angle;
  return out;
}

double relative(double up, double down, double delta) {
  return up == down ? 0 : (up - down) / ((up + down) * delta);
}
Vec3 relative(const Vec3& up, const Vec3& down, double delta) {
  return {relative(up[0], down[0], delta), relative(up[1], down[1], delta), relative(up[2], down[2], delta)};
}

bool add_beams(const Model& model, const ModelNumbers& up, const ModelNumbers& down, double delta,
               NumberRates& out) {
  if (up.materials.size() != model.materials().size() || up.sections.size() != model.sections().size() ||
      down.materials.size() != up.materials.size() || down.sections.size() != up.sections.size())
    return false;
  std::vector<char> material(up.materials.size()), section(up.sections.size());
  for (std::size_t k = 0; k < material.size(); ++k) {
    const Material &a = up.materials[k], &b = down.materials[k];
    if (!same_strength(a, b)) return false;
    if (a.density != b.density && !model.bodies().empty()) return false;  // which may be of it
    material[k] = !same_elasticity(a, b);
  }
  bool any = std::ranges::count(material, 1) > 0;
  std::vector<SectionConstants> of_up(section.size()), of_down(section.size());
  for (std::size_t k = 0; k < section.size(); ++k) {
    const SectionShape &a = up.sections[k].shape, &b = down.sections[k].shape;
    if (a.index() != b.index()) return false;
    section[k] = !same(a, b);
    any = any || section[k];
  }
  if (!any) return true;
  if (model.wind()) return false;
  for (std::size_t k = 0; k < section.size(); ++k) {
    of_up[k] = section_constants(up.sections[k].shape);
    of_down[k] = section[k] ? section_constants(down.sections[k].shape) : of_up[k];
  }
  for (std::size_t b = 0; b < model.beams().size(); ++b) {
    const Beam& beam = model.beams()[b];
    const auto m = static_cast<std::size_t>(beam.material.value),
               s = static_cast<std::size_t>(beam.section.value);
    if (!material[m] && !section[s]) continue;
    const BeamNumbers x = numbers_of(up.materials[m], of_up[s]),
                      y = numbers_of(down.materials[m], of_down[s]);
    if (x.angle != y.angle) return false;
    BeamRates rates;
    rates.beam = static_cast<int>(b);
    rates.stiffness = relative(x.stiffness, y.stiffness, delta);
    rates.give = relative(x.give, y.give, delta);
    rates.mass = relative(x.mass, y.mass, delta);
    out.beams.push_back(rates);
  }
  return true;
}

bool add_loads(const ModelNumbers& up, const ModelNumbers& down, double delta, double t, NumberRates& out) {
  if (up.point_loads.size() != down.point_loads.size() ||
      up.distributed_loads.size() != down.distributed_loads.size())
    return false;
  for (std::size_t k = 0; k < up.point_loads.size(); ++k) {
    const PointLoad &a = up.point_loads[k], &b = down.point_loads[k];
    if (!same_place(a.at, b.at) || a.follows != b.follows) return false;
    const Vec3 force = a.force.value(t) - b.force.value(t), moment = a.moment.value(t) - b.moment.value(t);
    if (force.isZero(0) && moment.isZero(0)) continue;
    if (a.follows || a.at.on_world()) return false;
    out.loads.push_back({static_cast<int>(k), force / (2 * delta), moment / (2 * delta)});
  }
  for (std::size_t k = 0; k < up.distributed_loads.size(); ++k) {
    const DistributedLoad &a = up.distributed_loads[k], &b = down.distributed_loads[k];
    if (a.beam != b.beam || a.s0 != b.s0 || a.s1 != b.s1 || a.follows != b.follows ||
        a.force_per_length.value(t) != b.force_per_length.value(t))
      return false;
  }
  return true;
}

}  // namespace

std::optional<NumberRates> rates_between(const Model& model, const ModelNumbers& up, const ModelNumbers& down,
                                         double delta, double t) {
  NumberRates out;
  if (!add_beams(model, up, down, delta, out) || !add_loads(up, down, delta, t, out)) return {};
  out.gravity = (up.gravity.value(t) - down.gravity.value(t)) / (2 * delta);
  if (!model.riders().empty() && !out.gravity.isZero(0)) return {};
  return out;
}

// As Converter::let_stretch() has them: a beam that stretches has joints that shift, by 1/give.
DofArray joint_rates(const BeamRates& rates, JointKind kind) {
  const Vec3 &k = rates.stiffness, &g = rates.give;
  switch (kind) {
    case JointKind::revolute:
      return {k[1]};
    case JointKind::spherical:
      return {k[0], k[1], k[2]};
    case JointKind::planar:
      return {-g[0], -g[2], k[1]};
    case JointKind::free:
      return {k[0], k[1], k[2], -g[0], -g[1], -g[2]};
    default:
      return {};
  }
}

}  // namespace limber::elastic
