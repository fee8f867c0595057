#include "limber/chain/stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::chain {
namespace {

double mises(double sigma, double tau) { return std::sqrt(sigma * sigma + 3 * tau * tau); }

// Torsion of a rectangle a × b, a ≥ b: shear at the middle of the long and of the short side, per T b / J
// (Timoshenko and Goodier 1951, section 109).
struct RectangleShear {
  double at_long, at_short;
};
RectangleShear rectangle_shear(double a, double b) {
  double at_long = 0, at_short = 0;
  for (int n = 1; n < 200; n += 2) {
    const double x = n * pi * a / (2 * b), e = math::exp(-2 * x);
    const double cosh_inverse = x > 350 ? 0 : 2 * math::exp(-x) / (1 + e), tanh = (1 - e) / (1 + e);
    at_long += cosh_inverse / (n * n);
    at_short += (n % 4 == 1 ? 1 : -1) * tanh / (n * n);
  }
  constexpr double c = 8 / (pi * pi);
  return {1 - c * at_long, c * at_short};
}

}  // namespace

Stress section_stress(const SectionShape& shape, const elastic::SectionConstants& c, double N, double T,
                      double M_y, double M_z) {
  Stress out;
  out.axial = N / c.A;
  const double axial = std::abs(out.axial);
  const auto p = elastic::principal_moments(c);
  if (const auto* r = std::get_if<Rectangle>(&shape)) {
    const double by_y = std::abs(M_y) * 0.5 * r->height / p.I_y,
                 by_z = std::abs(M_z) * 0.5 * r->width / p.I_z;
    const bool tall = r->height >= r->width;
    const double a = std::max(r->height, r->width), b = std::min(r->height, r->width);
    const RectangleShear shear = rectangle_shear(a, b);
    const double at_long = std::abs(T) * b / c.J * shear.at_long;
    const double at_short = std::abs(T) * b / c.J * shear.at_short;
    out.bending = by_y + by_z;
    out.torsion = std::max(at_long, at_short);
    // The middle of a long side lies across the short dimension: there only that bending acts.
    out.combined = std::max({axial + by_y + by_z, mises(axial + (tall ? by_z : by_y), at_long),
                             mises(axial + (tall ? by_y : by_z), at_short)});
    return out;
  }
  if (const auto* polygon = std::get_if<Polygon>(&shape)) {
    const double ca = math::cos(p.angle), sa = math::sin(p.angle);
    for (const Vec2& v : polygon->outline) {
      const Vec2 d = v - c.centroid;
      const double y = ca * d.x() + sa * d.y(), z = -sa * d.x() + ca * d.y();
      out.bending = std::max(out.bending, std::abs(M_y * z / p.I_y - M_z * y / p.I_z));
    }
    out.torsion = std::abs(T) * 2 * std::min(c.y_max, c.z_max) / c.J;
  } else if (const auto* e = std::get_if<Ellipse>(&shape)) {
    out.bending = Vec2(M_y * e->b / p.I_y, M_z * e->a / p.I_z).norm();
    const double major = std::max(e->a, e->b), minor = std::min(e->a, e->b);
    out.torsion = 2 * std::abs(T) / (pi * major * minor * minor);
  } else {
    const double radius = std::max(c.y_max, c.z_max);
    out.bending = Vec2(M_y, M_z).norm() * radius / p.I_y;
    out.torsion = std::abs(T) * radius / c.J;
  }
  out.combined = mises(axial + out.bending, out.torsion);
  return out;
}

std::vector<Station> stresses(const System& system, Solver& solver, const Rest& rest) {
  solver.evaluate(rest, false);
  const Balance& b = solver.balance();
  const Model& model = system.written();
  std::vector<std::vector<int>> links(model.beams().size());
  for (int k = 0; k < system.structure().links.count(); ++k)
    if (system.joints()[k].beam >= 0 && system.structure().links.active[k])
      links[system.joints()[k].beam].push_back(k);
  std::vector<Station> out;
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Beam& beam = model.beams()[i];
    auto& list = links[i];
    std::sort(list.begin(), list.end(),
              [&](int x, int y) { return system.joints()[x].s < system.joints()[y].s; });
    const auto add = [&](int link, double s, const Vec3& force, const Vec3& moment, const Mat3& R_WL) {
      Station station;
      station.beam = static_cast<int>(i);
      station.s = s;
      station.link = s == 0 ? -1 : link;
      // A hinge's z is the section's y.
      const Mat3 axes = system.structure().links.hinge[link] ? Mat3(R_WL * math::rotation_x(0.5 * pi)) : R_WL;
      station.force = axes.transpose() * force;
      station.moment = axes.transpose() * moment;
      const Material& material = model[beam.material];
      station.stress = section_stress(model[beam.section].shape, system.sections()[i], station.force.x(),
                                      station.moment.x(), station.moment.y(), station.moment.z());
      station.safety = station.stress.combined > 0 ? material.yield / station.stress.combined
                                                   : std::numeric_limits<double>::infinity();
      station.yields = station.stress.combined > material.yield;
      station.breaks = station.stress.combined > material.strength;
      out.push_back(station);
    };
    if (list.empty()) continue;
    // At the root: the moment of the first joint, carried back along the piece before it.
    const int first = list[0];
    const Mat3 before = b.R[first] * rest.shape.R[first].transpose();
    const double back = system.joints()[first].s * path_length(beam.path);
    const Vec3 arm = before.col(0) * back;
    add(first, 0, b.N[first], b.tau[first] + arm.cross(b.N[first]), before);
    for (const int k : list) add(k, system.joints()[k].s, b.N[k], b.tau[k], b.R[k]);
  }
  return out;
}

std::vector<RangeWarning> out_of_range(const System& system, const std::vector<Station>& stations,
                                       const Rest& rest) {
  std::vector<RangeWarning> out;
  const auto beams = system.written().beams();
  std::vector<double> most(beams.size(), 0);
  for (const Station& s : stations) most[s.beam] = std::max(most[s.beam], s.moment.tail<2>().norm());
  // Joints of one element, in order.
  for (std::size_t i = 0; i < stations.size();) {
    const Station& s = stations[i];
    if (s.link < 0) {
      ++i;
      continue;
    }
    const Beam& beam = beams[s.beam];
    const int element = std::min(beam.elements - 1, static_cast<int>(s.s * beam.elements));
    Vec3 turn = Vec3::Zero();
    bool inflection = false;
    Vec2 last = Vec2::Zero();
    for (; i < stations.size() && stations[i].beam == s.beam && stations[i].link >= 0 &&
           std::min(beam.elements - 1, static_cast<int>(stations[i].s * beam.elements)) == element;
         ++i) {
      turn += rest.shape.theta[stations[i].link];
      const Vec2 now = stations[i].moment.tail<2>();
      for (int axis = 0; axis < 2; ++axis)
        if (last[axis] * now[axis] < 0 &&
            std::min(std::abs(last[axis]), std::abs(now[axis])) > 1e-3 * most[s.beam])
          inflection = true;
      last = now;
    }
    const double bend = turn.norm() * 180 / pi;
    if (beam.recipe == Recipe::published_1r && bend > 124.4)
      out.push_back(
          {beam.name, element, fmt::format("bends by {:.0f}°, the recipe is good up to 124.4°", bend)});
    else if (beam.recipe == Recipe::published_3r && inflection)
      out.push_back({beam.name, element, "has a point of inflection inside, which the recipe does not know"});
    else if (beam.recipe != Recipe::published_1r && bend > 60)
      out.push_back({beam.name, element, fmt::format("bends by {:.0f}°: too much for one element", bend)});
  }
  return out;
}

Reaction joint_reaction(const System& system, const Solver& solver, const Rest&, int k) {
  const Balance& b = solver.balance();
  return {system.structure().links.name[k], b.in.c[k], -b.N[k], -b.tau[k]};
}

Reaction root_reaction(const System& system, const Solver& solver, const Rest& rest, int k) {
  const Balance& b = solver.balance();
  const BeamJoint& j = system.joints()[k];
  const Beam& beam = system.written().beams()[j.beam];
  const Vec3 at = system.bodies()[system.traces()[j.beam].pieces[0].value].X.p;
  const DeadLoad own = system.root_load(j.beam, rest.factor);
  return {beam.name, at, -b.N[k] - own.F,
          -(b.tau[k] + (b.in.c[k] - at).cross(b.N[k])) - (own.M - at.cross(own.F))};
}

Reaction closure_reaction(const System& system, const Solver& solver, int closure) {
  const Balance& b = solver.balance();
  const Closure& c = system.structure().closures[closure];
  Reaction r{c.name, Vec3::Zero(), Vec3::Zero(), Vec3::Zero()};
  r.at = c.b < 0 ? c.X_B.p : Vec3(b.in.c[c.b] + b.R[c.b] * c.X_B.p);
  for (const Tug& t : solver.ties().tugs()) {
    if (t.closure != closure || !t.on_b) continue;
    if (t.director)
      r.moment += t.arm.cross(t.f);
    else
      r.force += t.f;
  }
  return r;
}

std::vector<Reaction> reactions(const System& system, Solver& solver, const Rest& rest) {
  solver.evaluate(rest, false);
  const Structure& s = system.structure();
  std::vector<Reaction> out;
  for (int k = 0; k < s.links.count(); ++k)
    if (s.links.parent[k] < 0 && s.links.active[k])
      out.push_back(system.joints()[k].beam >= 0 ? root_reaction(system, solver, rest, k)
                                                 : joint_reaction(system, solver, rest, k));
  for (std::size_t c = 0; c < s.closures.size(); ++c)
    out.push_back(closure_reaction(system, solver, static_cast<int>(c)));
  return out;
}

}  // namespace limber::chain
