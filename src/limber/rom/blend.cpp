#include "limber/rom/blend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense.h"

namespace limber::rom {
namespace {

using Columns = Eigen::Map<const Eigen::Matrix<double, 6, Eigen::Dynamic>>;

Columns map_of(const Mechanism& m, const Point& p, int link) {
  return {p.map.data() + static_cast<std::size_t>(link) * 6 * m.columns(), 6, m.columns()};
}
Columns chart_of(const Mechanism& m, const Point& p, int link) {
  return {p.chart.data() + static_cast<std::size_t>(link) * 6 * (1 + m.columns()), 6, 1 + m.columns()};
}

// log(X), of its branches the one nearest to `near`: a link may turn by more than half a turn from one point
// to the next but one.
Vec6 log_near(const Pose& X, const Vec6& near) {
  const Vec6 principal = math::se3_log(X);
  const double angle = principal.head<3>().norm();
  if ((principal - near).head<3>().norm() <= pi || angle < 1e-9) return principal;
  const double turned = angle - 2 * pi;  // about the same axis, the other way round
  Vec6 out;
  out.head<3>() = principal.head<3>() * (turned / angle);
  const Mat6 J = math::se3_jacobian(out);  // p = J_l v, with the rotation's own block: the same for J_r and −
  out.tail<3>() = (X.R * J.topLeftCorner<3, 3>()).inverse() * X.p;
  return out;
}

// ∂²/∂u² of w·log(X⁻¹ X_0 exp(ψ + Ψ u)) at u = 0: w·dJ_r(ψ)[Ψ] Ψ.
MatX bend_of(const Vec6& psi, const MatX& Psi, const Vec6& w) {
  MatX out(Psi.cols(), Psi.cols());
  for (int c = 0; c < Psi.cols(); ++c) {
    const double size = Psi.col(c).norm();
    if (!(size > 0)) {
      out.row(c).setZero();
      continue;
    }
    const double h = 1e-4 / size;
    const Mat6 dJ =
        (math::se3_jacobian(psi + h * Psi.col(c)) - math::se3_jacobian(psi - h * Psi.col(c))) / (2 * h);
    out.row(c) = w.transpose() * dJ * Psi;
  }
  return 0.5 * (out + out.transpose());
}

}  // namespace

void join_points(Mechanism& m) {
  const int count = static_cast<int>(m.points.size()), columns = m.columns();
  const int links = static_cast<int>(m.bodies.size());
  const std::size_t width = static_cast<std::size_t>(6) * (1 + columns);
  for (int k = 0; k < count; ++k) {
    Point& p = m.points[k];
    p.chart.assign(links * width, 0.0);
    p.curve = p.response;
    // Of the points before, the nearest says on which branch a rotation is.
    int near = -1;
    double least = std::numeric_limits<double>::infinity();
    for (int j = 0; j < k; ++j)
      if (const double d = (m.points[j].at - p.at).norm() + (m.points[j].input - p.input).norm() / pi;
          d < least)
        least = d, near = j;
    for (int l = 0; l < links; ++l) {
      Eigen::Map<MatX> chart(p.chart.data() + l * width, 6, 1 + columns);
      if (k > 0)
        chart.col(0) = log_near(m.points[0].X[l].inverse() * p.X[l], chart_of(m, m.points[near], l).col(0));
      chart.rightCols(columns) = math::se3_jacobian_inverse(chart.col(0)) * map_of(m, p, l);
    }
    for (std::size_t e = 0; e < m.ends.size() && k > 0; ++e) {
      const Columns chart = chart_of(m, p, m.ends[e]);
      p.curve += bend_of(chart.col(0), chart.rightCols(columns), p.wrench.segment<6>(6 * e));
    }
  }
}

Blend::Blend(const Mechanism& m)
    : at(VecX::Zero(m.columns())),
      weight(m.points.size()),
      u(m.points.size(), VecX::Zero(m.columns())),
      y(u),
      change(MatX::Zero(m.points.size(), m.columns())),
      along(MatX::Identity(m.columns(), m.columns())),
      force(VecX::Zero(m.coordinates())),
      curve(MatX::Zero(m.coordinates(), m.coordinates())),
      M(curve),
      D(curve),
      value(m.points.size()),
      nearness(m.points.size()),
      slope(u),
      mean(VecX::Zero(m.columns())),
      mean_slope(mean),
      momentum(force) {}

namespace {

constexpr double least_distance = 1e-9;  // squared below: at a point itself the others do not count

// Inputs count by half turns.
double measure(const Mechanism& m, int column) { return column < m.coordinates() ? 1 : 1 / (pi * pi); }

void weigh(const Mechanism& m, Blend& b) {
  const int count = static_cast<int>(m.points.size()), n = m.coordinates(), columns = m.columns();
  double nearest = std::numeric_limits<double>::infinity();
  for (int k = 0; k < count; ++k) {
    const Point& p = m.points[k];
    double d2 = 0;
    for (int c = 0; c < columns; ++c) {
      const double off = b.at[c] - (c < n ? p.at[c] : p.input[c - n]);
      b.u[k][c] = off;
      d2 += measure(m, c) * off * off;
    }
    b.nearness[k] = std::max(d2, least_distance * least_distance);
    nearest = std::min(nearest, b.nearness[k]);
  }
  b.distance = std::sqrt(nearest);
  double sum = 0;
  for (int k = 0; k < count; ++k) {
    const double w = nearest / b.nearness[k];
    b.weight[k] = w * w;
    sum += b.weight[k];
  }
  for (int k = 0; k < count; ++k) b.weight[k] /= sum;
  // ∂ ln w_k = −4 u_k/|u_k|².
  b.mean_slope.setZero();
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < columns; ++c) {
      b.change(k, c) = -4 * measure(m, c) * b.u[k][c] / b.nearness[k];
      b.mean_slope[c] += b.weight[k] * b.change(k, c);
    }
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < columns; ++c) b.change(k, c) = b.weight[k] * (b.change(k, c) - b.mean_slope[c]);
}

}  // namespace

void blend_at(const Mechanism& m, Blend& b, bool with_curve) {
  const int count = static_cast<int>(m.points.size()), n = m.coordinates(), columns = m.columns();
  weigh(m, b);
  b.mean.setZero();
  for (int k = 0; k < count; ++k) b.mean += b.weight[k] * b.u[k];
  for (int c = 0; c < columns; ++c)
    for (int r = 0; r < columns; ++r) {
      double sum = r == c ? 1 : 0;
      for (int k = 0; k < count; ++k) sum += 0.5 * b.change(k, c) * b.u[k][r];
      b.along(r, c) = sum;
    }
  b.energy = 0;
  b.force.setZero();
  for (int k = 0; k < count; ++k) {
    const Point& p = m.points[k];
    b.y[k] = 0.5 * (b.u[k] + b.mean);
    b.slope[k].noalias() = p.curve * b.u[k];
    b.value[k] = p.energy + b.u[k].dot(p.slope) + 0.5 * b.u[k].dot(b.slope[k]);
    b.slope[k] += p.slope;
    b.energy += b.weight[k] * b.value[k];
  }
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < n; ++c)
      b.force[c] += b.weight[k] * b.slope[k][c] + b.change(k, c) * (b.value[k] - b.energy);
  if (!with_curve) return;
  // Σ α_i H_i + ∂α_i ∂V_iᵀ + … + (V_i − V) ∂²α_i, where of ∂²α_i only what differs from point to point
  // counts.
  b.curve.setZero();
  for (int k = 0; k < count; ++k) {
    const Point& p = m.points[k];
    const double a = b.weight[k], off = b.value[k] - b.energy;
    if (!(a > 0)) continue;
    for (int c = 0; c < n; ++c)
      for (int r = 0; r < n; ++r) {
        b.curve(r, c) += a * p.curve(r, c) + b.change(k, r) * b.slope[k][c] + b.slope[k][r] * b.change(k, c);
        const double turn = 8 * b.u[k][r] * b.u[k][c] / b.nearness[k] - (r == c ? 4 : 0);
        b.curve(r, c) += off * (b.change(k, r) * b.change(k, c) / a + a * turn / b.nearness[k]);
      }
  }
}

void blend_inertia(const Mechanism& m, Blend& b) {
  b.M.setZero(), b.D.setZero();
  for (std::size_t k = 0; k < m.points.size(); ++k) {
    b.M += b.weight[k] * m.points[k].M;
    b.D += b.weight[k] * m.points[k].D;
  }
}

namespace {

Vec6 chart_at(const Mechanism& m, const Blend& b, int link) {
  Vec6 phi = Vec6::Zero();
  for (std::size_t k = 0; k < m.points.size(); ++k) {
    const Columns chart = chart_of(m, m.points[k], link);
    Vec6 own = chart.col(0);
    for (int c = 0; c < m.columns(); ++c) own += b.y[k][c] * chart.col(1 + c);
    phi += b.weight[k] * own;
  }
  return phi;
}

}  // namespace

Pose link_pose(const Mechanism& m, const Blend& b, int link) {
  return m.points[0].X[link] * math::se3_exp(chart_at(m, b, link));
}

const Twists& link_map(const Mechanism& m, Blend& b, int link) {
  const int columns = m.columns();
  Vec6 phi = Vec6::Zero();
  b.map.setZero(6, columns), b.mean_map.setZero(6, columns);
  for (std::size_t k = 0; k < m.points.size(); ++k) {
    const Columns chart = chart_of(m, m.points[k], link);
    Vec6 own = chart.col(0);
    for (int c = 0; c < columns; ++c) own += b.y[k][c] * chart.col(1 + c);
    phi += b.weight[k] * own;
    for (int c = 0; c < columns; ++c) {
      b.mean_map.col(c) += b.weight[k] * chart.col(1 + c);
      b.map.col(c) += b.change(static_cast<int>(k), c) * own;
    }
  }
  b.map.noalias() += b.mean_map.lazyProduct(b.along);
  const Mat6 J = math::se3_jacobian(phi);
  for (int c = 0; c < columns; ++c) b.map.col(c) = (J * b.map.col(c)).eval();
  return b.map;
}

void link_poses(const Mechanism& m, const Blend& b, std::vector<Pose>& X) {
  for (int l = 0; l < static_cast<int>(m.bodies.size()); ++l) X[l] = link_pose(m, b, l);
}

VecX end_wrenches(const Mechanism& m, Blend& b) {
  const int E = static_cast<int>(m.ends.size()), n = m.coordinates();
  MatX U(6 * E, n);
  for (int e = 0; e < E; ++e) {
    U.middleRows<6>(6 * e) = link_map(m, b, m.ends[e]).leftCols(n);
    U.middleRows<3>(6 * e + 3) /= m.radius;
  }
  VecX w = math::solve_least_norm(U.transpose(), b.force);
  for (int e = 0; e < E; ++e) w.segment<3>(6 * e + 3) /= m.radius;
  return w;
}

VecX coordinates_of(const Mechanism& m, const VecX& x) { return m.labels.transpose() * (x - m.rest); }

}  // namespace limber::rom
