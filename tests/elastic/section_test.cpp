// Against tests/data/A9_torsion_constants.json: closed forms to 1e-14, L shapes to its stated bounds.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/elastic/polygon_section.h"
#include "limber/elastic/section_constants.h"
#include "limber/math/trig.h"

namespace limber::elastic {
namespace {

using nlohmann::json;

json reference() {
  std::ifstream file(LIMBER_TEST_DATA "/A9_torsion_constants.json");
  return json::parse(file).at("reference");
}

// A regular polygon of the ellipse's own area. In its moments and in J what is left falls as 1/n⁴ (the
// outline alternates about the ellipse by 1/n²): below 1e-6 at n = 192.
std::vector<Vec2> many_sided(double a, double b, int n = 192) {
  const double grow = std::sqrt(2 * pi / n / math::sin(2 * pi / n));
  std::vector<Vec2> ring;
  for (int i = 0; i < n; ++i) {
    const auto [s, c] = math::sincos(2 * pi * i / n);
    ring.push_back({grow * a * c, grow * b * s});
  }
  return ring;
}

struct Case {
  std::string name;
  std::optional<SectionShape> closed;
  Polygon polygon;
  double A, I_y, I_z, I_yz, J;
};

Case read(const json& r) {
  const std::string shape = r.at("shape");
  const auto get = [&](const char* key) { return r.value(key, 0.0); };
  const double a = get("a"), b = get("b");
  Case c{shape, {}, {}, get("area"), get("Ixx"), get("Iyy"), get("Ixy"), get("J")};
  if (shape == "rectangle") {
    c.name = fmt::format("rectangle {} x {}", a, b);
    c.closed = Rectangle{a, b};
    c.polygon = {{{0, 0}, {a, 0}, {a, b}, {0, b}}, {}};
  } else if (shape.starts_with("equilateral")) {
    c.polygon = {{{0, 0}, {1, 0}, {0.5, std::sqrt(0.75)}}, {}};
  } else if (shape.starts_with("ellipse")) {
    c.name = fmt::format("ellipse {} {}", a, b);
    c.closed = Ellipse{a, b};
    c.polygon = {many_sided(a, b), {}};
  } else if (shape.starts_with("hollow")) {
    c.name = fmt::format("tube {} {}", get("ro"), get("ri"));
    c.closed = Tube{get("ro"), get("ri")};
    c.polygon = {many_sided(get("ro"), get("ro")), {many_sided(get("ri"), get("ri"))}};
  } else if (shape.starts_with("L ")) {
    const double B = get("B"), H = get("H"), t = get("t");
    c.name = fmt::format("L {} {} {}", B, H, t);
    c.polygon = {{{0, 0}, {B, 0}, {B, t}, {t, t}, {t, H}, {0, H}}, {}};
  } else {
    ADD_FAILURE() << "unknown shape " << shape;
  }
  return c;
}

TEST(SectionConstants, ClosedFormsMatchTheReference) {
  int count = 0;
  for (const json& r : reference()) {
    const Case c = read(r);
    if (!c.closed) continue;
    SCOPED_TRACE(c.name);
    const SectionConstants k = section_constants(*c.closed);
    EXPECT_NEAR(k.A, c.A, 1e-14 * c.A);
    EXPECT_NEAR(k.I_y, c.I_y, 1e-14 * c.I_y);
    EXPECT_NEAR(k.I_z, c.I_z, 1e-14 * c.I_z);
    // The reference cuts the rectangle's series after 200 terms, which leaves 1e-11 of J.
    EXPECT_NEAR(k.J, c.J, 1e-11 * c.J);
    ++count;
  }
  EXPECT_EQ(count, 11);
}

TEST(SectionConstants, PolygonsMatchTheReference) {
  int count = 0;
  for (const json& r : reference()) {
    const Case c = read(r);
    SCOPED_TRACE(c.name);
    const PolygonSection p = polygon_section(c.polygon);
    const SectionConstants& k = p.constants;
    // Straight-sided shapes: moments exact, J within its bounds; many-sided ones: 1e-6 from the outline
    // itself.
    const bool round = c.closed && !std::holds_alternative<Rectangle>(*c.closed);
    const double exact = round ? 1e-6 : 1e-13, slack = round ? 1e-5 : 1e-6;
    EXPECT_NEAR(k.A, c.A, exact * c.A);
    EXPECT_NEAR(k.I_y, c.I_y, exact * c.I_y);
    EXPECT_NEAR(k.I_z, c.I_z, exact * c.I_z);
    EXPECT_NEAR(k.I_yz, c.I_yz, exact * (c.I_y + c.I_z));
    EXPECT_NEAR(k.J, c.J, 1e-4 * c.J);
    EXPECT_LE(p.J_lower, c.J * (1 + slack));
    EXPECT_GE(p.J_upper, c.J * (1 - slack));
    EXPECT_LT(p.J_upper - p.J_lower, 2e-4 * c.J);
    if (r.contains("centroid")) {
      EXPECT_NEAR(k.centroid[0], r["centroid"][0].get<double>(), 1e-13);
      EXPECT_NEAR(k.centroid[1], r["centroid"][1].get<double>(), 1e-13);
    }
    if (c.closed) {
      const SectionConstants closed = section_constants(*c.closed);
      EXPECT_NEAR(k.shear_y, closed.shear_y, 2e-4);
      EXPECT_NEAR(k.shear_z, closed.shear_z, 2e-4);
      EXPECT_NEAR(k.y_max, closed.y_max, 1e-3 * closed.y_max);
      EXPECT_NEAR(k.z_max, closed.z_max, 1e-3 * closed.z_max);
      EXPECT_NEAR(k.radius, closed.radius, 1e-6 * closed.radius);
    }
    ++count;
  }
  EXPECT_EQ(count, 15);
}

TEST(SectionConstants, ShearFactorsOfKnownShapes) {
  EXPECT_DOUBLE_EQ(section_constants(Circle{2}).shear_y, 6.0 / 7);
  EXPECT_DOUBLE_EQ(section_constants(Tube{2, 0}).shear_z, 6.0 / 7);
  EXPECT_NEAR(section_constants(Tube{1, 0.999}).shear_z, 0.5, 1e-5);  // a thin ring
  const SectionConstants circle = section_constants(Polygon{many_sided(1, 1), {}});
  EXPECT_NEAR(circle.shear_y, 6.0 / 7, 1e-4);
}

TEST(SectionConstants, ThinClosedBoxFollowsBredt) {
  // J → 4 A_m² t / perimeter of the middle line, error of order t; and a slit wall loses nearly all of it.
  const double t = 0.01, w = 1 - t;
  const Polygon box{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{{t, t}, {1 - t, t}, {1 - t, 1 - t}, {t, 1 - t}}}};
  EXPECT_NEAR(section_constants(box).J, w * w * w * t, 0.02 * t);
  const Polygon slit{{{0, 0},
                      {0.45, 0},
                      {0.45, t},
                      {t, t},
                      {t, 1 - t},
                      {1 - t, 1 - t},
                      {1 - t, t},
                      {0.55, t},
                      {0.55, 0},
                      {1, 0},
                      {1, 1},
                      {0, 1}},
                     {}};
  EXPECT_NEAR(section_constants(slit).J, (4 * w - 0.1) * t * t * t / 3, 0.01 * t * t * t);
}

TEST(SectionConstants, SharpTipsStayFinite) {
  // No refinement opens an angle of 2°; it must stop before triangles collapse.
  for (const double inner : {0.5, 0.15, 0.08}) {
    std::vector<Vec2> star;
    for (int i = 0; i < 24; ++i) {
      const auto [s, c] = math::sincos(pi * i / 12 + 0.1);
      star.push_back((i % 2 ? 1 : inner) * Vec2(3 * c, s));
    }
    const PolygonSection p = polygon_section({star, {}});
    EXPECT_GT(p.J_lower, 0);
    EXPECT_LE(p.J_lower, p.J_upper);
    EXPECT_LT(p.J_upper - p.J_lower, 1e-3 * p.J_upper);
    EXPECT_GT(p.constants.shear_y, 0);
    EXPECT_LT(p.constants.shear_y, 1);
  }
}

TEST(SectionConstants, ScaleShiftAndTurnAsTheyShould) {
  const std::vector<Vec2> L{{0, 0}, {3, 0}, {3, 0.5}, {0.5, 0.5}, {0.5, 2}, {0, 2}};
  const SectionConstants k = section_constants(Polygon{L, {}});
  const double f = 1e-3;
  std::vector<Vec2> moved, turned;
  for (const Vec2& p : L) {
    moved.push_back(f * p + Vec2(0.3, -0.2));
    turned.push_back({-p[1], p[0]});  // by 90°
  }
  const SectionConstants m = section_constants(Polygon{moved, {}}),
                         q = section_constants(Polygon{turned, {}});
  EXPECT_NEAR(m.A / k.A, 1e-6, 1e-15);
  EXPECT_NEAR(m.I_yz / k.I_yz, 1e-12, 1e-21);
  EXPECT_NEAR(m.J / k.J, 1e-12, 1e-17);
  EXPECT_NEAR(m.shear_y, k.shear_y, 1e-4);
  EXPECT_LT((m.centroid - (f * k.centroid + Vec2(0.3, -0.2))).norm(), 1e-14);
  EXPECT_NEAR(q.I_y, k.I_z, 1e-13);
  EXPECT_NEAR(q.I_yz, -k.I_yz, 1e-13);
  EXPECT_NEAR(q.J, k.J, 1e-4 * k.J);
  EXPECT_NEAR(q.shear_z, k.shear_y, 1e-4);
}

TEST(SectionConstants, PrincipalMoments) {
  // A rectangle turned by φ has its own moments about axes at φ.
  const double a = 3, b = 1;
  for (const double phi : {0.0, 0.2, -0.7, 0.78}) {
    const auto [s, c] = math::sincos(phi);
    std::vector<Vec2> ring;
    for (const Vec2& p : {Vec2(-a, -b), Vec2(a, -b), Vec2(a, b), Vec2(-a, b)})
      ring.push_back({c * p[0] - s * p[1], s * p[0] + c * p[1]});
    const PrincipalMoments m = principal_moments(section_constants(Polygon{ring, {}}));
    EXPECT_NEAR(m.angle, phi, 1e-13);
    EXPECT_NEAR(m.I_y, 4 * a * b * b * b / 3, 1e-12);
    EXPECT_NEAR(m.I_z, 4 * a * a * a * b / 3, 1e-12);
  }
  const PrincipalMoments square = principal_moments(section_constants(Rectangle{1, 1}));
  EXPECT_EQ(square.angle, 0);
}

TEST(SectionConstants, RejectsWhatIsNoShape) {
  EXPECT_THROW(section_constants(Circle{0}), std::invalid_argument);
  EXPECT_THROW(section_constants(Circle{NAN}), std::invalid_argument);
  EXPECT_THROW(section_constants(Tube{1, 1}), std::invalid_argument);
  EXPECT_THROW(section_constants(Tube{1, -0.1}), std::invalid_argument);
  EXPECT_THROW(section_constants(Rectangle{1, -1}), std::invalid_argument);
  EXPECT_THROW(section_constants(Ellipse{1, 0}), std::invalid_argument);
  EXPECT_THROW(section_constants(Polygon{}), std::invalid_argument);
}

TEST(SectionConstants, AreTheSameBitsEveryTime) {
  const Polygon p{{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}, {}};
  const SectionConstants a = section_constants(p), b = section_constants(p);
  EXPECT_EQ(a.J, b.J);
  EXPECT_EQ(a.shear_y, b.shear_y);
}

}  // namespace
}  // namespace limber::elastic
