// Closed forms about the centroid. Torsion: Timoshenko and Goodier, Theory of Elasticity, ch. 10. Shear
// factors: equal shear energy with ν = 0 (polygon_fem.h), where Cowper's factors (1966, table 1) coincide
// with it.
//   rectangle a ≥ b: J = a b³ (1/3 − 64 b/(π⁵ a) Σ_{n odd} tanh(nπa/2b)/n⁵); with tanh = 1 − 2/(e^{2x} + 1)
//   the slow part of the sum is 31/32 ζ(5) and the rest falls by e^{−2π} a term or faster.
#include "limber/elastic/section_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "limber/elastic/polygon_section.h"
#include "limber/math/trig.h"

namespace limber::elastic {
namespace {

void positive(const char* shape, const char* name, double value) {
  if (!(value > 0) || !std::isfinite(value))
    throw std::invalid_argument(fmt::format("{}: {} must be positive, got {:.6g}", shape, name, value));
}

double rectangle_torsion(double side1, double side2) {
  constexpr double zeta5 = 1.0369277551433699263;
  const double a = std::max(side1, side2), b = std::min(side1, side2);
  double sum = 31.0 / 32 * zeta5;
  for (int n = 1; n <= 11; n += 2) {
    const double n2 = static_cast<double>(n) * n, x = n * pi * a / b;
    if (x > 700) break;
    sum -= 2 / (math::exp(x) + 1) / (n2 * n2 * n);
  }
  const double pi2 = pi * pi, pi5 = pi2 * pi2 * pi;
  return a * b * b * b * (1.0 / 3 - 64 * b / (pi5 * a) * sum);
}

SectionConstants constants(const Rectangle& r) {
  positive("rectangle", "width", r.width);
  positive("rectangle", "height", r.height);
  SectionConstants c;
  c.A = r.width * r.height;
  c.I_y = c.A * r.height * r.height / 12;
  c.I_z = c.A * r.width * r.width / 12;
  c.J = rectangle_torsion(r.width, r.height);
  c.shear_y = c.shear_z = 5.0 / 6;
  c.y_max = r.width / 2;
  c.z_max = r.height / 2;
  return c;
}

SectionConstants constants(const Ellipse& e) {
  positive("ellipse", "a", e.a);
  positive("ellipse", "b", e.b);
  const double a2 = e.a * e.a, b2 = e.b * e.b;
  SectionConstants c;
  c.A = pi * e.a * e.b;
  c.I_y = c.A * b2 / 4;
  c.I_z = c.A * a2 / 4;
  c.J = c.A * a2 * b2 / (a2 + b2);
  c.shear_y = 1.5 * (3 * a2 + b2) / (5 * a2 + 2 * b2);
  c.shear_z = 1.5 * (3 * b2 + a2) / (5 * b2 + 2 * a2);
  c.y_max = e.a;
  c.z_max = e.b;
  return c;
}

SectionConstants constants(const Circle& circle) {
  positive("circle", "radius", circle.radius);
  return constants(Ellipse{circle.radius, circle.radius});
}

SectionConstants constants(const Tube& t) {
  positive("tube", "outer_radius", t.outer_radius);
  if (!(t.inner_radius >= 0 && t.inner_radius < t.outer_radius))
    throw std::invalid_argument(
        fmt::format("tube: inner_radius must be between 0 and outer_radius = {:.6g}, got {:.6g}",
                    t.outer_radius, t.inner_radius));
  const double ro2 = t.outer_radius * t.outer_radius, ri2 = t.inner_radius * t.inner_radius;
  SectionConstants c;
  c.A = pi * (t.outer_radius - t.inner_radius) * (t.outer_radius + t.inner_radius);
  c.I_y = c.I_z = c.A * (ro2 + ri2) / 4;
  c.J = 2 * c.I_y;
  const double m2 = ri2 / ro2, s = (1 + m2) * (1 + m2);
  c.shear_y = c.shear_z = 6 * s / (7 * s + 20 * m2);
  c.y_max = c.z_max = t.outer_radius;
  return c;
}

SectionConstants constants(const Polygon& p) { return polygon_section(p).constants; }

}  // namespace

SectionConstants section_constants(const SectionShape& shape) {
  SectionConstants c = std::visit([](const auto& s) { return constants(s); }, shape);
  c.radius = std::sqrt(c.A / pi);
  return c;
}

PrincipalMoments principal_moments(const SectionConstants& c) {
  // Rounding leaves about 1e-16 of the moments in ∫yz of a symmetric section.
  if (std::abs(c.I_yz) <= 1e-12 * (c.I_y + c.I_z)) return {0, c.I_y, c.I_z};
  // y′ = y cos α + z sin α, z′ = −y sin α + z cos α: ∫y′z′ = 0 when tan 2α = 2 I_yz / (I_z − I_y).
  const double difference = c.I_z - c.I_y;
  double angle = 0.5 * math::atan2(2 * c.I_yz, difference);
  if (angle > pi / 4) angle -= pi / 2;
  if (angle < -pi / 4) angle += pi / 2;
  const auto [s, k] = math::sincos(angle);
  return {angle, k * k * c.I_y + s * s * c.I_z - 2 * s * k * c.I_yz,
          k * k * c.I_z + s * s * c.I_y + 2 * s * k * c.I_yz};
}

}  // namespace limber::elastic
