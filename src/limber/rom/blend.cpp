#include "limber/rom/blend.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense.h"

namespace limber::rom {
namespace {

VecX scale_of(const Mechanism& m) {
  VecX out = VecX::Ones(m.coordinates());
  for (std::size_t e = 0; e < m.ends.size(); ++e) out.segment<3>(6 * e + 3).setConstant(m.radius);
  return out;
}

// d of ends, in the paper's measure: angular over π, linear over the radius.
double twist_distance(const Mechanism& m, const double* u) {
  double sum = 0;
  for (std::size_t e = 0; e < m.ends.size(); ++e) {
    const Eigen::Map<const Vec6> xi(u + 6 * e);
    sum += std::sqrt(xi.head<3>().squaredNorm() / (pi * pi) +
                     xi.tail<3>().squaredNorm() / (m.radius * m.radius));
  }
  return sum;
}

double point_distance(const Mechanism& m, const Point& a, const Point& b) {
  VecX u(m.coordinates());
  u.setZero();
  for (std::size_t e = 0; e < m.ends.size(); ++e)
    u.segment<6>(6 * e) = math::se3_log(a.X[m.ends[e]].inverse() * b.X[m.ends[e]]);
  return twist_distance(m, u.data()) + (a.input - b.input).norm() / pi;
}

// Columns of `own` (orthonormal, with values) turned and ordered to fit those of `model`: greedy matching by
// |dot|; columns whose values are within a tenth turn as one space (Procrustes).
void fit_columns(const MatX& model, MatX& own, MatX& values) {
  const int r = static_cast<int>(own.cols()), wanted = static_cast<int>(model.cols());
  MatX padded = own;
  MatX all = MatX::Zero(std::max(r, wanted), std::max(r, wanted));
  all.topLeftCorner(r, r) = values;
  if (wanted > r) {  // directions that this point does not have: its neighbour's, made orthogonal to its own
    padded.conservativeResize(Eigen::NoChange, wanted);
    MatX rest = model - own * (own.transpose() * model);
    padded.rightCols(wanted - r) = math::orthonormal_columns(rest, wanted - r);
  }
  const int n = static_cast<int>(padded.cols());
  std::vector<int> order(n, -1);
  std::vector<char> used(n, 0);
  const MatX dots = (model.transpose() * padded).cwiseAbs();
  for (int k = 0; k < std::min(n, wanted); ++k) {
    int best_m = -1, best_o = -1;
    double best = -1;
    for (int i = 0; i < wanted; ++i)
      for (int j = 0; j < n && order[i] < 0; ++j)
        if (!used[j] && dots(i, j) > best) best = dots(i, j), best_m = i, best_o = j;
    order[best_m] = best_o;
    used[best_o] = 1;
  }
  for (int i = wanted; i < n; ++i)
    for (int j = 0; j < n && order[i] < 0; ++j)
      if (!used[j]) order[i] = j, used[j] = 1;
  MatX Q(padded.rows(), n), L(n, n);
  for (int i = 0; i < n; ++i) {
    Q.col(i) = padded.col(order[i]);
    for (int j = 0; j < n; ++j) L(i, j) = all(order[i], order[j]);
    if (i < wanted && model.col(i).dot(Q.col(i)) < 0) {
      Q.col(i) *= -1;
      L.row(i) *= -1, L.col(i) *= -1;
    }
  }
  // Turn spaces of equal values as one.
  std::vector<char> done(n, 0);
  for (int i = 0; i < std::min(n, wanted); ++i) {
    if (done[i]) continue;
    std::vector<int> space{i};
    for (int j = i + 1; j < std::min(n, wanted); ++j)
      if (!done[j] && std::abs(L(j, j) - L(i, i)) <= 0.1 * std::max(L(i, i), L(j, j))) space.push_back(j);
    for (const int j : space) done[j] = 1;
    const int s = static_cast<int>(space.size());
    if (s < 2) continue;
    MatX A(Q.rows(), s), B(Q.rows(), s);
    for (int k = 0; k < s; ++k) A.col(k) = Q.col(space[k]), B.col(k) = model.col(space[k]);
    const MatX G = math::nearest_rotation(A.transpose() * B);
    MatX turn = MatX::Identity(n, n);
    for (int a = 0; a < s; ++a)
      for (int b = 0; b < s; ++b) turn(space[a], space[b]) = G(a, b);
    Q = (Q * turn).eval();
    L = (turn.transpose() * L * turn).eval();
  }
  own = Q;
  values = L;
}

}  // namespace

void align(Mechanism& m) {
  const VecX scale = scale_of(m);
  const int count = static_cast<int>(m.points.size());
  std::vector<MatX> Q(count), L(count);
  for (int k = 0; k < count; ++k) {
    const Point& p = m.points[k];
    const MatX C = scale.cwiseInverse().asDiagonal() * p.C * scale.cwiseInverse().asDiagonal();
    const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (C + C.transpose()));
    const int r = p.rank;
    Q[k] = eigen.vectors.rightCols(r).rowwise().reverse();
    L[k] = MatX(eigen.values.tail(r).reverse().asDiagonal());
  }
  // From the point of largest rank at the first one on, each to its nearest that is done.
  std::vector<char> done(count, 0);
  int root = 0;
  for (int k = 1; k < count; ++k)
    if (m.points[k].rank > m.points[root].rank) root = k;
  done[root] = 1;
  for (int step = 1; step < count; ++step) {
    int from = -1, to = -1;
    double best = std::numeric_limits<double>::infinity();
    for (int a = 0; a < count; ++a)
      for (int b = 0; b < count && done[a]; ++b)
        if (!done[b])
          if (const double d = point_distance(m, m.points[a], m.points[b]); d < best)
            best = d, from = a, to = b;
    fit_columns(Q[from], Q[to], L[to]);
    done[to] = 1;
  }
  for (int k = 0; k < count; ++k) {
    Point& p = m.points[k];
    // A direction that only other points have is a hundred times stiffer here than any that it has.
    const int own = p.rank, all = static_cast<int>(Q[k].cols()), ends = 6 * static_cast<int>(m.ends.size());
    double least = std::numeric_limits<double>::infinity();
    for (int c = 0; c < all; ++c)
      if (L[k](c, c) > 0) least = std::min(least, L[k](c, c));
    p.U = scale.asDiagonal() * Q[k];
    p.K.topLeftCorner(ends, ends) =
        invert_in_range(p.C.topLeftCorner(ends, ends), scale.head(ends), p.rank - m.modes).inverse;
    for (int c = 0; own < all && c < all; ++c) {
      if (L[k].col(c).norm() > 0) continue;
      L[k](c, c) = 1e-2 * least;
      const VecX dual = Q[k].col(c).cwiseQuotient(scale);
      p.K += dual * dual.transpose() / L[k](c, c);
    }
    p.C_U = L[k];
    p.M_U = p.U.transpose() * p.M * p.U;
    p.D_U = p.U.transpose() * p.D * p.U;
    p.K_U = p.U.transpose() * p.K * p.U;
  }
}

Blend::Blend(const Mechanism& m)
    : point(most_blended),
      weight(most_blended),
      u(most_blended, VecX::Zero(m.columns())),
      bend(most_blended, VecX::Zero(m.columns())),
      force(VecX::Zero(m.coordinates())),
      distances(m.points.size()),
      sorted(m.points.size()),
      all_u(m.points.size(), VecX::Zero(m.columns())),
      part(VecX::Zero(m.coordinates())),
      mean(VecX::Zero(m.columns())) {}

void blend_at(const Mechanism& m, const Ends& ends, Blend& out) {
  const int count = static_cast<int>(m.points.size()), n = m.coordinates(),
            E = static_cast<int>(m.ends.size());
  const int inputs = static_cast<int>(m.inputs.size());
  for (int k = 0; k < count; ++k) {
    const Point& p = m.points[k];
    VecX& u = out.all_u[k];
    for (int e = 0; e < E; ++e)
      Eigen::Map<Vec6>{u.data() + 6 * e} = math::se3_log(p.X[m.ends[e]].inverse() * ends.X[e]);
    for (int k2 = 0; k2 < m.modes; ++k2) u[6 * E + k2] = ends.z[k2];
    double turned = 0;
    for (int i = 0; i < inputs; ++i) {
      u[n + i] = ends.input[i] - p.input[i];
      turned += u[n + i] * u[n + i];
    }
    out.distances[k] = twist_distance(m, u.data()) + std::sqrt(turned) / pi;
  }
  // Weights.
  double reach = std::numeric_limits<double>::infinity();
  if (count > most_blended) {
    std::copy(out.distances.begin(), out.distances.end(), out.sorted.begin());
    std::nth_element(out.sorted.begin(), out.sorted.begin() + most_blended, out.sorted.end());
    reach = out.sorted[most_blended];
  }
  out.count = 0;
  double sum = 0;
  out.distance = std::numeric_limits<double>::infinity();
  for (int k = 0; k < count; ++k) {
    const double d = std::max(out.distances[k], 1e-9);  // at the point itself the others do not count
    out.distance = std::min(out.distance, out.distances[k]);
    if (!(d < reach) || out.count == most_blended) continue;
    const double w = std::isfinite(reach) ? (reach - d) / (reach * d) : 1 / d;
    out.point[out.count] = k;
    out.weight[out.count++] = w * w * w * w;
    sum += w * w * w * w;
  }
  if (out.count == 0) {  // nothing is near what is lost: its poses are no numbers, and the run says so
    out.point[0] = 0;
    out.weight[0] = sum = out.count = 1;
  }
  for (int k = 0; k < out.count; ++k) {
    out.weight[k] /= sum;
    out.u[k] = out.all_u[out.point[k]];
  }
  out.mean.setZero();
  for (int k = 0; k < out.count; ++k) out.mean += out.weight[k] * out.u[k];
  for (int k = 0; k < out.count; ++k) out.bend[k] = 0.5 * out.weight[k] * (out.mean - out.u[k]);
  // Force.
  out.force.setZero();
  out.energy = -m.points[0].energy;
  for (int k = 0; k < out.count; ++k) {
    const Point& p = m.points[out.point[k]];
    const VecX& u = out.u[k];
    out.energy += out.weight[k] * p.energy;
    for (int i = 0; i < n; ++i) {
      double f = i < 6 * E ? p.wrench[i] : 0, elastic = 0;
      for (int j = 0; j < n; ++j) elastic += p.K(i, j) * u[j];
      out.energy += out.weight[k] * u[i] * (f + 0.5 * elastic);
      f += elastic;
      for (int j = 0; j < inputs; ++j) f += p.input_force(i, j) * u[n + j];
      out.part[i] = f;
    }
    for (int e = 0; e < E; ++e) {
      const Eigen::Map<const Vec6> xi(u.data() + 6 * e);
      Eigen::Map<Vec6> f(out.part.data() + 6 * e);
      const Vec6 own = math::se3_jacobian_inverse(xi).transpose() * f;
      Eigen::Map<Vec6>{out.force.data() + 6 * e} += out.weight[k] * own;
    }
    for (int i = 6 * E; i < n; ++i) out.force[i] += out.weight[k] * out.part[i];
  }
}

void blend_matrices(const Mechanism& m, const Blend& blend, BlendedMatrices& out) {
  const Point& first = m.points[blend.point[0]];
  out.U.setZero(first.U.rows(), first.U.cols());
  out.C_U.setZero(first.C_U.rows(), first.C_U.cols());
  out.M_U = out.C_U, out.D_U = out.C_U, out.K_U = out.C_U;
  for (int k = 0; k < blend.count; ++k) {
    const Point& p = m.points[blend.point[k]];
    const double a = blend.weight[k];
    out.U += a * p.U;
    out.C_U += a * p.C_U;
    out.M_U += a * p.M_U;
    out.D_U += a * p.D_U;
    out.K_U += a * p.K_U;
  }
  // Columns of unit length again, metres over the radius.
  const int E = static_cast<int>(m.ends.size());
  for (int c = 0; c < out.U.cols(); ++c) {
    double length = 0;
    for (int e = 0; e < E; ++e)
      length += out.U.col(c).segment<3>(6 * e).squaredNorm() +
                out.U.col(c).segment<3>(6 * e + 3).squaredNorm() / (m.radius * m.radius);
    length += out.U.col(c).tail(m.modes).squaredNorm();
    if (length > 0) out.U.col(c) /= std::sqrt(length);
  }
}

Pose link_pose(const Mechanism& m, const Blend& blend, int link) {
  PoseMean mean;
  Vec6 bend = Vec6::Zero();
  for (int k = 0; k < blend.count; ++k) {
    const Point& point = m.points[blend.point[k]];
    const double* map = point.map.data() + static_cast<std::size_t>(link) * 6 * m.columns();
    Vec6 xi = Vec6::Zero();
    for (int c = 0; c < m.columns(); ++c) xi += blend.u[k][c] * Eigen::Map<const Vec6>(map + 6 * c);
    const Pose X = point.X[link] * math::se3_exp(xi);
    if (blend.count == 1) return X;
    mean.add(blend.weight[k], X);
    for (int c = 0; c < m.columns(); ++c) bend += blend.bend[k][c] * Eigen::Map<const Vec6>(map + 6 * c);
  }
  return mean.pose() * math::se3_exp(bend);
}

void return_ends(const Mechanism& m, const Blend& blend, BlendedMatrices& matrices, Ends& ends) {
  const int E = static_cast<int>(m.ends.size());
  if (m.points[0].U.cols() == m.coordinates()) return;
  blend_matrices(m, blend, matrices);
  VecX& off = matrices.off;  // metres over the radius, to be orthogonal to U
  off.setZero(m.coordinates());
  for (int e = 0; e < E; ++e) {
    off.segment<6>(6 * e) = math::se3_log(ends.X[e].inverse() * link_pose(m, blend, m.ends[e]));
    off.segment<3>(6 * e + 3) /= m.radius;
  }
  MatX& U = matrices.scaled;
  U = matrices.U;
  for (int e = 0; e < E; ++e) U.middleRows<3>(6 * e + 3) /= m.radius;
  matrices.gram.noalias() = U.transpose() * U;
  matrices.along.noalias() = U.transpose() * off;
  matrices.llt.compute(matrices.gram);
  matrices.llt.solve(matrices.along);
  off.noalias() -= U * matrices.along;
  for (int e = 0; e < E; ++e) {
    Vec6 back = off.segment<6>(6 * e);
    back.tail<3>() *= m.radius;
    ends.X[e] = ends.X[e] * math::se3_exp(back);
  }
}

MatX link_map(const Mechanism& m, const Blend& blend, int link) {
  const int columns = m.columns();
  MatX out = MatX::Zero(6, columns);
  for (int k = 0; k < blend.count; ++k) {
    const Point& point = m.points[blend.point[k]];
    const Eigen::Map<const MatX> map(point.map.data() + static_cast<std::size_t>(link) * 6 * columns, 6,
                                     columns);
    const Vec6 xi = map * blend.u[k];
    out += blend.weight[k] * math::se3_jacobian(xi) * map;
  }
  return out;
}

void link_poses(const Mechanism& m, const Blend& blend, std::vector<Pose>& X) {
  for (int l = 0; l < static_cast<int>(m.bodies.size()); ++l) X[l] = link_pose(m, blend, l);
}

}  // namespace limber::rom
