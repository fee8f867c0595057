// Two elements to compare with, both on the paper's field x = Σ φ_k(x, y, z) e_k (eq. 2–4, with ς = z/l),
// straight at ease, in world axes:
//
//   printed  W = ½ dᵀK_e d, d = Qᵀe − e₀, K_e = ∫BᵀDB (eq. 16–17 without the stray ½), f = Q K_e d, tangent Q
//   K_e Qᵀ with
//            the rotation frozen (eq. 19–20). Full three-dimensional elasticity: it locks
//            (docs/theory/thread.md).
//   green    W = ½ ∫ E_GᵀD E_G with the Green–Lagrange strain (eq. 6, 13) and the split elasticity, exact
//   tangent:
//            the reference that the paper's section 8.1 asks for.
//
// Over the section four points (±√(2I_z/A), 0), (0, ±√(2I_y/A)) give its area and moments exactly; along the
// element three Gauss points.
#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/thread/gauss.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

using Vec24 = Eigen::Matrix<double, 24, 1>;
using Mat24 = Eigen::Matrix<double, 24, 24>;
using Gradients = Eigen::Matrix<double, 8, 3>;  // ∂φ_k/∂(x, y, z)

Gradients gradients(double xi, double y, double z, double l) {
  Gradients g = Gradients::Zero();
  const double x2 = xi * xi;
  g.col(0) << (-6 * xi + 6 * x2) / l, 1 - 4 * xi + 3 * x2, -y / l, -z / l, (6 * xi - 6 * x2) / l,
      -2 * xi + 3 * x2, y / l, z / l;
  g(2, 1) = g(3, 2) = 1 - xi;
  g(6, 1) = g(7, 2) = xi;
  return g;
}

constexpr int pair_a[6] = {0, 1, 2, 0, 1, 2}, pair_b[6] = {0, 1, 2, 1, 2, 0};  // 11 22 33 12 23 31

// Strains (engineering shears) of F, and their gradients in the 24 coordinates.
struct Strains {
  double value[6];
  Vec24 b[6];
};
Strains strains(const Gradients& g, const Mat3& F) {
  Strains s;
  for (int m = 0; m < 6; ++m) {
    const int a = pair_a[m], b = pair_b[m];
    const double dot = F.col(a).dot(F.col(b));
    s.value[m] = m < 3 ? 0.5 * (dot - 1) : dot;
    for (int k = 0; k < 8; ++k)
      s.b[m].segment<3>(3 * k) =
          m < 3 ? Vec3(g(k, a) * F.col(a)) : Vec3(g(k, a) * F.col(b) + g(k, b) * F.col(a));
  }
  return s;
}

using Elasticity = Eigen::Matrix<double, 6, 6>;
Elasticity diagonal_part(const Rod& r) {
  Elasticity D = Elasticity::Zero();
  for (int i = 0; i < 3; ++i) D(i, i) = r.E, D(3 + i, 3 + i) = r.G;
  return D;
}
Elasticity whole(const Rod& r) {
  Elasticity D = Elasticity::Zero();
  const double lambda = r.E * r.nu / ((1 + r.nu) * (1 - 2 * r.nu)), mu = r.E / (2 * (1 + r.nu));
  D.topLeftCorner<3, 3>().setConstant(lambda);
  for (int i = 0; i < 3; ++i) D(i, i) += 2 * mu, D(3 + i, 3 + i) = r.G;
  return D;
}

struct Point {
  double y, z, weight;
  Elasticity D;
};
// Points of the section: the whole elasticity at each, or its diagonal there and the rest on the midline.
std::array<Point, 5> section_points(const Rod& r, bool split) {
  const double a = std::sqrt(2 * r.I_z / r.A), b = std::sqrt(2 * r.I_y / r.A);
  const Elasticity D = split ? diagonal_part(r) : whole(r),
                   rest = split ? Elasticity(whole(r) - D) : Elasticity(Elasticity::Zero());
  return {
      {{a, 0, r.A / 4, D}, {-a, 0, r.A / 4, D}, {0, b, r.A / 4, D}, {0, -b, r.A / 4, D}, {0, 0, r.A, rest}}};
}

struct ElementResult {
  double energy = 0;
  Vec24 f = Vec24::Zero();
  Mat24 K = Mat24::Zero();
};

// Sums over the points; `linear`: strains and their gradients at F = 1 (the constant matrix of the printed
// element).
ElementResult integrate(const Rod& rod, double l, const Vec24& e, bool split, bool linear, bool tangent) {
  ElementResult out;
  for (int q = 0; q < 3; ++q)
    for (const Point& p : section_points(rod, split)) {
      const Gradients g = gradients(gauss_x[q], p.y, p.z, l);
      Mat3 F = Mat3::Identity();
      if (!linear) F = Eigen::Map<const Eigen::Matrix<double, 3, 8>>(e.data()) * g;
      const Strains s = strains(g, F);
      const double w = gauss_w[q] * l * p.weight;
      Eigen::Matrix<double, 6, 1> strain;
      for (int m = 0; m < 6; ++m) strain[m] = s.value[m];
      const Eigen::Matrix<double, 6, 1> stress = p.D * strain;
      out.energy += 0.5 * w * strain.dot(stress);
      for (int m = 0; m < 6; ++m) out.f += w * stress[m] * s.b[m];
      if (!tangent) continue;
      for (int m = 0; m < 6; ++m)
        for (int n = 0; n < 6; ++n)
          if (p.D(m, n) != 0) out.K += w * p.D(m, n) * s.b[m] * s.b[n].transpose();
      for (int m = 0; m < 6; ++m)
        for (int i = 0; i < 8; ++i)
          for (int k = 0; k < 8; ++k) {
            const int a = pair_a[m], b = pair_b[m];
            const double c = m < 3 ? g(i, a) * g(k, a) : g(i, a) * g(k, b) + g(i, b) * g(k, a);
            for (int d = 0; d < 3; ++d) out.K(3 * i + d, 3 * k + d) += w * stress[m] * c;
          }
    }
  return out;
}

// Eq. 10–12, with eq. 11 divided by ‖r₁ × x_{m,y}‖; or the polar rotation in the middle.
Mat3 frame_of(const Vec24& e, double l, Frame kind) {
  if (kind == Frame::polar)
    return rotation_of(
        Mat3(Eigen::Map<const Eigen::Matrix<double, 3, 8>>(e.data()) * gradients(0.5, 0, 0, l)).data());
  const Vec3 r1 = (e.segment<3>(12) - e.segment<3>(0)).normalized();
  const Vec3 r3 = r1.cross(0.5 * (e.segment<3>(6) + e.segment<3>(18))).normalized();
  Mat3 R;
  R << r1, r3.cross(r1), r3;
  return R;
}

ElementResult printed(const Rod& rod, double l, const Vec24& e, Frame kind) {
  Vec24 rest = Vec24::Zero();
  rest[12] = l;
  for (const int k : {3, 7, 11, 15, 19, 23}) rest[k] = 1;
  const Mat3 R = frame_of(e, l, kind);
  Vec24 d;
  for (int k = 0; k < 8; ++k)
    d.segment<3>(3 * k) = R.transpose() * e.segment<3>(3 * k) - rest.segment<3>(3 * k);
  const Mat24 K = integrate(rod, l, rest, false, true, true).K;
  const Vec24 f = K * d;
  ElementResult out;
  out.energy = 0.5 * d.dot(f);
  for (int i = 0; i < 8; ++i) {
    out.f.segment<3>(3 * i) = R * f.segment<3>(3 * i);
    for (int k = 0; k < 8; ++k)
      out.K.block<3, 3>(3 * i, 3 * k) = R * K.block<3, 3>(3 * i, 3 * k) * R.transpose();
  }
  return out;
}

Mat3 axes_of(const ElementArrays& a, int node) {
  Mat3 P;
  for (int k = 0; k < 9; ++k) P(k / 3, k % 3) = a.P[k][node];
  return P;
}

// What probes ask for, as the log element leaves it: |q|, q_y, q_z, φ of the nodes' rotations, and what is
// conjugate to them. The element pulls at its second node with the section's force; it turns a node by Σ F_c
// × f_c over the columns of its gradient, and the moments of the two nodes are those of the section half an
// element away from its middle.
void leave_section(const Vec24& e, const Vec24& f, int j, ElementArrays& a) {
  const Mat3 P = axes_of(a, j);
  const Vec3 phi = math::so3_log(P.transpose() * axes_of(a, j + 1));
  const Mat3 R = P * math::so3_exp(0.5 * phi);
  const Vec3 chord = R.transpose() * (e.segment<3>(12) - e.segment<3>(0));
  const Vec3 q = math::so3_jacobian_inverse(phi) * (math::so3_exp(-0.5 * phi) * chord);
  const Vec3 force = R.transpose() * f.segment<3>(12);
  Vec3 moment = Vec3::Zero();
  for (int c = 1; c < 4; ++c) {
    moment -= 0.5 * e.segment<3>(3 * c).cross(f.segment<3>(3 * c));
    moment += 0.5 * e.segment<3>(12 + 3 * c).cross(f.segment<3>(12 + 3 * c));
  }
  moment = R.transpose() * moment;
  const double z[3] = {q.norm(), q[1], q[2]};
  for (int i = 0; i < 3; ++i) {
    a.z[i][j] = z[i], a.z[3 + i][j] = phi[i];
    a.stress[i][j] = force[i], a.stress[3 + i][j] = moment[i];
  }
}

}  // namespace

void other_elements(const SystemData& s, const double* e, int nodes, bool tangent, WorkspaceData& w) {
  ElementArrays& a = w.elements;
  gather(e, nodes, a);
  polar(nodes, a);  // the directions that moments act on
  std::fill_n(a.g.begin(), 12 * nodes, 0.0);
  if (tangent) {
    std::fill_n(a.D.begin(), 144 * nodes, 0.0);
    std::fill_n(a.O.begin(), 144 * nodes, 0.0);
  }
  for (int j = 0; j < nodes; ++j) {
    a.energy[0][j] = 0;
    if (w.length[j] == 0) continue;
    const Rod& rod = s.threads[w.thread_of[j]].rod;
    const Vec24 x = Eigen::Map<const Vec24>(e + 12 * j);
    const ElementResult r = s.options.element == Element::printed
                                ? printed(rod, w.length[j], x, s.options.frame)
                                : integrate(rod, w.length[j], x, true, false, tangent);
    a.energy[0][j] = r.energy;
    leave_section(x, r.f, j, a);
    for (int i = 0; i < 24; ++i) a.g[12 * j + i] += r.f[i];
    if (!tangent) continue;
    for (int i = 0; i < 12; ++i)
      for (int k = 0; k < 12; ++k) {
        a.D[144 * j + 12 * i + k] += r.K(i, k);
        a.D[144 * (j + 1) + 12 * i + k] += r.K(12 + i, 12 + k);
        a.O[144 * j + 12 * i + k] += r.K(i, 12 + k);
      }
  }
  if (!tangent) return;
  const Table &own = a.node_constants, &t = a.constants;
  for (int j = 0; j < nodes; ++j)
    for (int i = 0; i < 3; ++i) {
      const double mass_weight = a.weight[0][j];
      double *D = a.D.data() + 144 * j, *O = a.O.data() + 144 * j;
      D[13 * i] += mass_weight * own[node::mass_xx][j];
      D[12 * i + 3 + i] += mass_weight * own[node::mass_xs][j];
      D[12 * (3 + i) + i] += mass_weight * own[node::mass_xs][j];
      D[13 * (3 + i)] += mass_weight * own[node::mass_ss][j];
      D[13 * (6 + i)] += mass_weight * own[node::mass_yy][j];
      D[13 * (9 + i)] += mass_weight * own[node::mass_zz][j];
      O[13 * i] += mass_weight * t[slot::mass][j];
      O[12 * i + 3 + i] += mass_weight * t[slot::mass + 1][j];
      O[12 * (3 + i) + i] += mass_weight * t[slot::mass + 2][j];
      O[13 * (3 + i)] += mass_weight * t[slot::mass + 3][j];
      O[13 * (6 + i)] += mass_weight * t[slot::mass + 4][j];
      O[13 * (9 + i)] += mass_weight * t[slot::mass + 5][j];
    }
}

}  // namespace limber::thread
