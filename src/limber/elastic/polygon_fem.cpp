#include "limber/elastic/polygon_fem.h"

#include <Eigen/SparseCholesky>
#include <array>
#include <stdexcept>

namespace limber::elastic {
namespace {

using Mat2x6 = Eigen::Matrix<double, 2, 6>;
using Sparse = Eigen::SparseMatrix<double>;

// Nodes of each triangle: its corners, then the middle of the edge opposite each corner.
struct Nodes {
  int count = 0;
  std::vector<std::array<int, 6>> of;  // (triangles x 6)
  std::vector<int> ring;               // of each node; −1 inside

  explicit Nodes(const TriangleMesh& mesh)
      : count(static_cast<int>(mesh.points.size())), of(mesh.triangles.size()) {
    ring.assign(mesh.points.size(), -1);
    for (int t = 0; t < static_cast<int>(of.size()); ++t) {
      const Triangle& T = mesh.triangles[t];
      for (int i = 0; i < 3; ++i) {
        of[t][i] = T.v[i];
        const int u = T.neighbor[i];
        if (u >= 0 && u < t) {
          of[t][3 + i] = of[u][3 + mesh.edge_towards(u, t)];
          continue;
        }
        of[t][3 + i] = count++;
        ring.push_back(T.ring[i]);
        if (T.ring[i] >= 0) ring[T.v[next3(i)]] = ring[T.v[previous3(i)]] = T.ring[i];
      }
    }
  }
};

// One element. The three edge middles integrate quadratics exactly: all products of two gradients.
struct Element {
  double area = 0;
  std::array<Vec2, 6> x;            // nodes
  std::array<Vec2, 3> grad_lambda;  // of the area coordinates
  std::array<Mat2x6, 3> grad;       // of the shape functions, at the edge middles

  Element(const TriangleMesh& mesh, int t) : area(mesh.area(t)) {
    const auto& v = mesh.triangles[t].v;
    for (int i = 0; i < 3; ++i) x[i] = mesh.points[v[i]];
    for (int i = 0; i < 3; ++i) x[3 + i] = 0.5 * (x[next3(i)] + x[previous3(i)]);
    std::array<Vec2, 3>& g = grad_lambda;
    for (int i = 0; i < 3; ++i) {
      const Vec2 e = x[previous3(i)] - x[next3(i)];
      g[i] = Vec2(-e[1], e[0]) / (2 * area);
    }
    for (int q = 0; q < 3; ++q) {
      std::array<double, 3> lambda{0.5, 0.5, 0.5};
      lambda[q] = 0;
      for (int i = 0; i < 3; ++i) {
        const int j = next3(i), k = previous3(i);
        grad[q].col(i) = (4 * lambda[i] - 1) * g[i];
        grad[q].col(3 + i) = 4 * (lambda[j] * g[k] + lambda[k] * g[j]);
      }
    }
  }

  Eigen::Matrix<double, 6, 6> stiffness() const {
    Eigen::Matrix<double, 6, 6> K = Eigen::Matrix<double, 6, 6>::Zero();
    for (const Mat2x6& B : grad) K += area / 3 * B.transpose() * B;
    return K;
  }
};

// Node → unknown, −1 for a value that is zero.
Sparse assemble(const TriangleMesh& mesh, const Nodes& nodes, const std::vector<int>& unknown, int n) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(21 * nodes.of.size());
  for (std::size_t t = 0; t < nodes.of.size(); ++t) {
    const auto K = Element(mesh, static_cast<int>(t)).stiffness();
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) {
        const int r = unknown[nodes.of[t][i]], c = unknown[nodes.of[t][j]];
        if (r >= 0 && c >= 0 && r >= c) entries.emplace_back(r, c, K(i, j));
      }
  }
  Sparse K(n, n);
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

MatX solve(const Sparse& K, const MatX& rhs) {
  const Eigen::SimplicialLDLT<Sparse, Eigen::Lower> factor(K);
  if (factor.info() != Eigen::Success)
    throw std::invalid_argument("polygon: its torsion could not be computed (degenerate triangles)");
  return factor.solve(rhs);
}

// Values at all nodes.
VecX spread(const VecX& x, const std::vector<int>& unknown) {
  VecX out = VecX::Zero(static_cast<Eigen::Index>(unknown.size()));
  for (std::size_t i = 0; i < unknown.size(); ++i)
    if (unknown[i] >= 0) out[i] = x[unknown[i]];
  return out;
}

// All nodes but the first, whose value stands for the free constant.
std::vector<int> free_nodes(const Nodes& nodes) {
  std::vector<int> unknown(nodes.count);
  for (int i = 0; i < nodes.count; ++i) unknown[i] = i - 1;
  return unknown;
}

Eigen::Matrix<double, 6, 1> gather(const VecX& x, const std::array<int, 6>& nodes) {
  Eigen::Matrix<double, 6, 1> out;
  for (int i = 0; i < 6; ++i) out[i] = x[nodes[i]];
  return out;
}

// ∫∇N·∇ω = ∫∇N·(z, −y).
VecX solve_warping(const TriangleMesh& mesh, const Nodes& nodes) {
  const std::vector<int> unknown = free_nodes(nodes);
  VecX rhs = VecX::Zero(nodes.count);
  for (std::size_t t = 0; t < nodes.of.size(); ++t) {
    const Element e(mesh, static_cast<int>(t));
    for (int q = 0; q < 3; ++q) {
      const Vec2 turned(e.x[3 + q][1], -e.x[3 + q][0]);
      const Eigen::Matrix<double, 6, 1> f = e.area / 3 * e.grad[q].transpose() * turned;
      for (int i = 0; i < 6; ++i) rhs[nodes.of[t][i]] += f[i];
    }
  }
  const int n = nodes.count - 1;
  return spread(solve(assemble(mesh, nodes, unknown, n), rhs.tail(n)), unknown);
}

struct StressFunction {
  VecX phi;             // at the nodes
  double integral = 0;  // ∫φ, holes included
};

// ∫∇N·∇φ = 2∫N; one unknown for each hole's edge, loaded by twice the hole's area.
StressFunction solve_stress(const TriangleMesh& mesh, const Nodes& nodes,
                            const std::vector<double>& hole_areas) {
  int n = static_cast<int>(hole_areas.size());
  std::vector<int> unknown(nodes.count);
  for (int i = 0; i < nodes.count; ++i) unknown[i] = nodes.ring[i] < 0 ? n++ : nodes.ring[i] - 1;
  VecX weight = VecX::Zero(n);  // ∫φ = weight·x
  for (std::size_t k = 0; k < hole_areas.size(); ++k) weight[k] = hole_areas[k];
  for (std::size_t t = 0; t < nodes.of.size(); ++t) {
    const double third = mesh.area(static_cast<int>(t)) / 3;
    for (int i = 3; i < 6; ++i)
      if (const int u = unknown[nodes.of[t][i]]; u >= 0) weight[u] += third;
  }
  const VecX x = n > 0 ? VecX(solve(assemble(mesh, nodes, unknown, n), 2 * weight)) : VecX();
  return {spread(x, unknown), weight.dot(x)};
}

}  // namespace

TorsionBounds torsion_bounds(const TriangleMesh& mesh, const std::vector<double>& hole_areas) {
  const Nodes nodes(mesh);
  const VecX omega = solve_warping(mesh, nodes);
  const StressFunction stress = solve_stress(mesh, nodes, hole_areas);

  TorsionBounds out;
  out.gap.assign(nodes.of.size(), 0);
  double stress_energy = 0;
  for (std::size_t t = 0; t < nodes.of.size(); ++t) {
    const Element e(mesh, static_cast<int>(t));
    const auto w = gather(omega, nodes.of[t]), f = gather(stress.phi, nodes.of[t]);
    for (int q = 0; q < 3; ++q) {
      const Vec2 tau_w = e.grad[q] * w + Vec2(-e.x[3 + q][1], e.x[3 + q][0]);
      const Vec2 grad_f = e.grad[q] * f, tau_f(grad_f[1], -grad_f[0]);
      out.upper += e.area / 3 * tau_w.squaredNorm();
      stress_energy += e.area / 3 * tau_f.squaredNorm();
      out.gap[t] += e.area / 3 * (tau_w - tau_f).squaredNorm();
    }
  }
  out.lower = 4 * stress.integral - stress_energy;
  return out;
}

ShearEnergies shear_energies(const TriangleMesh& mesh, const Eigen::Matrix2d& a) {
  const Nodes nodes(mesh);
  // ∫N y by the mass matrix, A/180 times 6, −1 (corners), 0, −4 (corner and edge beside, opposite), 32, 16
  // (edges).
  MatX rhs = MatX::Zero(nodes.count, 2);
  for (std::size_t t = 0; t < nodes.of.size(); ++t) {
    const Element e(mesh, static_cast<int>(t));
    for (int i = 0; i < 3; ++i) {
      const int j = next3(i), k = previous3(i);
      const Vec2 corner = 6 * e.x[i] - e.x[j] - e.x[k] - 4 * e.x[3 + i];
      const Vec2 edge = 32 * e.x[3 + i] + 16 * (e.x[3 + j] + e.x[3 + k]) - 4 * e.x[i];
      rhs.row(nodes.of[t][i]) += e.area / 180 * corner.transpose() * a;
      rhs.row(nodes.of[t][3 + i]) += e.area / 180 * edge.transpose() * a;
    }
  }
  const std::vector<int> unknown = free_nodes(nodes);
  const int n = nodes.count - 1;
  const MatX x = solve(assemble(mesh, nodes, unknown, n), rhs.bottomRows(n));

  ShearEnergies out;
  out.error.assign(nodes.of.size(), 0);
  for (int k = 0; k < 2; ++k) {
    out.energy[k] = x.col(k).dot(rhs.col(k).tail(n));
    const VecX psi = spread(x.col(k), unknown);
    for (std::size_t t = 0; t < nodes.of.size(); ++t) {
      const Element e(mesh, static_cast<int>(t));
      const auto w = gather(psi, nodes.of[t]);
      // The gradient is linear, with the values at the edge middles as its nodal values.
      double laplacian = 0, residual = 0;
      for (int q = 0; q < 3; ++q) laplacian -= 2 * e.grad_lambda[q].dot(e.grad[q] * w);
      for (int q = 0; q < 3; ++q) {
        const double r = laplacian + a.col(k).dot(e.x[3 + q]);
        residual += e.area / 3 * r * r;
      }
      out.error[t] += e.area * residual / out.energy[k];
    }
  }
  return out;
}

}  // namespace limber::elastic
