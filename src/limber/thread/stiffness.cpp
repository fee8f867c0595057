#include "limber/thread/stiffness.h"

#include <algorithm>
#include <cmath>

#include "limber/math/trig.h"
#include "limber/thread/gauss.h"

namespace limber::thread {
namespace {

constexpr int upper7(int i, int k) { return 7 * i - i * (i - 1) / 2 + k - i; }
constexpr int upper3(int i, int k) { return 3 * i - i * (i - 1) / 2 + k - i; }

// Stretch and thickness: ε_xx = u', ε_yy and ε_zz linear, coupled on the midline; their gradients by shear.
void axial_part(const Rod& r, double l, double* k) {
  const double mu2 = r.E / (1 + r.nu), lambda = r.E * r.nu / ((1 + r.nu) * (1 - 2 * r.nu));
  for (int g = 0; g < 3; ++g) {
    const double x = gauss_x[g];
    const double b[3][7] = {{6 * x * (1 - x) / l, 1 - 4 * x + 3 * x * x, 0, 0, -2 * x + 3 * x * x, 0, 0},
                            {0, 0, 1 - x, 0, 0, x, 0},
                            {0, 0, 0, 1 - x, 0, 0, x}};
    for (int i = 0; i < 7; ++i)
      for (int j = i; j < 7; ++j)
        for (int p = 0; p < 3; ++p)
          for (int q = 0; q < 3; ++q)
            k[upper7(i, j)] += gauss_w[g] * l * r.A * (lambda + (p == q ? mu2 : 0)) * b[p][i] * b[q][j];
  }
  const double gy = r.G * r.I_z / l, gz = r.G * r.I_y / l;
  k[upper7(2, 2)] += gy, k[upper7(5, 5)] += gy, k[upper7(2, 5)] -= gy;
  k[upper7(3, 3)] += gz, k[upper7(6, 6)] += gz, k[upper7(3, 6)] -= gz;
}

// Shear γ = u' − section's turn with the bulge b eliminated: ½kGA l [∫γ² − (∫γw)²/(∫w² + 12EI/(kGA l²))].
void shear_part(double kGA, double EI, double l, double* k) {
  double K[3][3] = {}, w_part[3] = {};
  for (int g = 0; g < 3; ++g) {
    const double x = gauss_x[g], w = 6 * x * (1 - x);
    const double b[3] = {w / l, 2 - 5 * x + 3 * x * x, -x + 3 * x * x};
    for (int i = 0; i < 3; ++i) {
      w_part[i] += gauss_w[g] * b[i] * w;
      for (int j = 0; j < 3; ++j) K[i][j] += gauss_w[g] * b[i] * b[j];
    }
  }
  const double bulge = 1 / (1.2 + 12 * EI / (kGA * l * l));
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) k[upper3(i, j)] = kGA * l * (K[i][j] - bulge * w_part[i] * w_part[j]);
}

double outer_radius(const SectionShape& shape, const elastic::SectionConstants& c) {
  if (const auto* polygon = std::get_if<Polygon>(&shape)) {
    double r = 0;
    for (const Vec2& p : polygon->outline) r = std::max(r, (p - c.centroid).norm());
    return r;
  }
  if (const auto* r = std::get_if<Rectangle>(&shape)) return 0.5 * Vec2(r->width, r->height).norm();
  return std::max(c.y_max, c.z_max);
}

}  // namespace

Rod make_rod(const Material& material, const SectionShape& shape) {
  const elastic::SectionConstants c = elastic::section_constants(shape);
  const elastic::PrincipalMoments p = elastic::principal_moments(c);
  Rod r;
  r.E = material.E, r.G = material.G, r.nu = material.nu, r.density = material.density;
  r.A = c.A, r.I_y = p.I_y, r.I_z = p.I_z, r.J = c.J;
  // Shear compliances turn with the axes.
  const auto [s, k] = math::sincos(p.angle);
  r.shear_y = 1 / (k * k / c.shear_y + s * s / c.shear_z);
  r.shear_z = 1 / (k * k / c.shear_z + s * s / c.shear_y);
  r.angle = p.angle;
  r.centroid = c.centroid;
  r.radius = outer_radius(shape, c);
  return r;
}

ElementStiffness element_stiffness(const Rod& r, double l) {
  ElementStiffness out;
  axial_part(r, l, out.k + slot::axial);
  shear_part(r.shear_y * r.G * r.A, r.E * r.I_z, l, out.k + slot::shear_y);
  shear_part(r.shear_z * r.G * r.A, r.E * r.I_y, l, out.k + slot::shear_z);
  out.k[slot::bend_z] = r.E * r.I_z / l;
  out.k[slot::bend_y] = r.E * r.I_y / l;
  out.k[slot::torsion] = r.G * r.J / l;
  // γ_yz = 2ε_yz linear along the element, and its gradient.
  const double area = 4 * r.G * r.A * l, gradient = r.G * (r.I_y + r.I_z) / l;
  out.k[slot::skew_yz] = out.k[slot::skew_yz + 2] = area / 3 + gradient;
  out.k[slot::skew_yz + 1] = area / 6 - gradient;
  // Consistent mass: cubic Hermite for the midline, linear for the directors.
  const double m = r.density * r.A * l, my = r.density * r.I_z * l, mz = r.density * r.I_y * l;
  const double own[5] = {156 * m / 420, 22 * m * l / 420, 4 * m * l * l / 420, my / 3, mz / 3};
  for (int i = 0; i < 5; ++i) {
    out.first_mass[i] = own[i];
    out.second_mass[i] = i == 1 ? -own[i] : own[i];
  }
  const double off[6] = {54 * m / 420, -13 * m * l / 420, 13 * m * l / 420, -3 * m * l * l / 420, my / 6,
                         mz / 6};
  std::copy_n(off, 6, out.off_mass);
  return out;
}

}  // namespace limber::thread
