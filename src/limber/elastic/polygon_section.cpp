// With c = y_i z_{i+1} − y_{i+1} z_i over the sides of all rings (Green):
//   A = ½Σc,  ∫y = ⅙Σ(y_i + y_{i+1})c,  ∫y² = 1/12 Σ(y_i² + y_i y_{i+1} + y_{i+1}²)c,
//   ∫yz = 1/24 Σ(y_i z_{i+1} + 2 y_i z_i + 2 y_{i+1} z_{i+1} + y_{i+1} z_i)c.
// Torsion and shear: polygon_fem.h, on a mesh refined where the bounds of J differ until they are near
// enough.
#include "limber/elastic/polygon_section.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "limber/elastic/polygon_fem.h"
#include "limber/elastic/triangulate.h"
#include "limber/math/stop.h"

namespace limber::elastic {
namespace {

using Rings = std::vector<std::vector<Vec2>>;

// The bounds may differ by this part of J; the mean is then right to half of it.
constexpr double wanted_gap = 2e-4;
constexpr double settled_shear = 1e-4;
constexpr int max_triangles = 8'000;

struct Moments {
  double A = 0;
  Vec2 first = Vec2::Zero();                         // ∫(y, z)
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();  // ∫(y, z)(y, z)ᵀ
};

Moments moments(const std::vector<Vec2>& ring) {
  Moments m;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Vec2 &a = ring[i], &b = ring[(i + 1) % ring.size()];
    const double c = a[0] * b[1] - a[1] * b[0];
    const Vec2 s = a + b;
    m.A += c / 2;
    m.first += c / 6 * s;
    m.second += c / 24 * (a * a.transpose() + b * b.transpose() + s * s.transpose());
  }
  return m;
}

Moments moments(const Rings& rings) {
  Moments sum;
  for (const auto& ring : rings) {
    const Moments m = moments(ring);
    sum.A += m.A;
    sum.first += m.first;
    sum.second += m.second;
  }
  return sum;
}

// The largest errors that make up most of their sum, in a fixed order.
std::vector<int> worst_triangles(const std::vector<double>& error) {
  std::vector<int> order(error.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return error[a] > error[b]; });
  const double wanted = 0.75 * std::accumulate(error.begin(), error.end(), 0.0);
  double sum = 0;
  std::size_t n = 0;
  while (n < order.size() && sum < wanted) sum += error[order[n++]];
  order.resize(n);
  return order;
}

// Refines until the energies settle: well in one pass, or over two, since one may do no more than flip edges.
Vec2 converged_shear_energy(TriangleMesh& mesh, const Eigen::Matrix2d& a) {
  ShearEnergies shear = shear_energies(mesh, a);
  const auto moved = [&](const Vec2& from) {
    return ((shear.energy - from).array() / shear.energy.array()).abs().maxCoeff();
  };
  Vec2 last = Vec2::Zero(), second_last = Vec2::Zero();
  while (moved(last) > 0.2 * settled_shear && moved(second_last) > settled_shear &&
         static_cast<int>(mesh.triangles.size()) < max_triangles) {
    stop_if_requested();
    second_last = last;
    last = shear.energy;
    refine_marked(mesh, worst_triangles(shear.error));
    shear = shear_energies(mesh, a);
  }
  return shear.energy;
}

struct Scale {
  Vec2 center;
  double size;
};

// Moves the rings to their centroid and scales them to order 1.
Scale normalize(Rings& rings) {
  const Vec2 near = rings[0][0];
  for (auto& ring : rings)
    for (Vec2& p : ring) p -= near;
  const Moments m = moments(rings);
  const Vec2 centroid = m.first / m.A;
  double size = 0;
  for (auto& ring : rings)
    for (Vec2& p : ring) {
      p -= centroid;
      size = std::max(size, p.cwiseAbs().maxCoeff());
    }
  for (auto& ring : rings)
    for (Vec2& p : ring) p /= size;
  return {near + centroid, size};
}

}  // namespace

PolygonSection polygon_section(const Polygon& polygon) {
  Rings rings = polygon_rings(polygon);
  const Scale scale = normalize(rings);
  const Moments m = moments(rings);

  // 20.7°, the angle that Rivara's refinement reaches surely: sin = 0.354.
  TriangleMesh mesh = triangulate(rings);
  // What it leaves beside sharp corners, refinement by error mends.
  refine_angles(mesh, 0.354, std::min(400 + 8 * static_cast<int>(mesh.points.size()), max_triangles));
  std::vector<double> hole_areas;
  for (std::size_t r = 1; r < rings.size(); ++r) hole_areas.push_back(-moments(rings[r]).A);
  TorsionBounds J = torsion_bounds(mesh, hole_areas);
  while (J.upper - J.lower > wanted_gap * J.lower &&
         static_cast<int>(mesh.triangles.size()) < max_triangles) {
    stop_if_requested();
    refine_marked(mesh, worst_triangles(J.gap));
    J = torsion_bounds(mesh, hole_areas);
  }

  const double l2 = scale.size * scale.size, l4 = l2 * l2;
  PolygonSection out;
  out.J_lower = J.lower * l4;
  out.J_upper = J.upper * l4;
  out.triangles = static_cast<int>(mesh.triangles.size());

  SectionConstants& c = out.constants;
  c.A = m.A * l2;
  c.centroid = scale.center;
  c.I_y = m.second(1, 1) * l4;
  c.I_z = m.second(0, 0) * l4;
  c.I_yz = m.second(0, 1) * l4;
  c.J = 0.5 * (out.J_lower + out.J_upper);
  // Unit forces along y and along z: a = I⁻¹V; factor = 1 / (A · energy).
  const Vec2 energy = converged_shear_energy(mesh, m.second.inverse());
  c.shear_y = 1 / (m.A * energy[0]);
  c.shear_z = 1 / (m.A * energy[1]);
  for (const Vec2& p : rings[0]) {
    c.y_max = std::max(c.y_max, std::abs(p[0]) * scale.size);
    c.z_max = std::max(c.z_max, std::abs(p[1]) * scale.size);
  }
  c.radius = std::sqrt(c.A / pi);
  return out;
}

}  // namespace limber::elastic
