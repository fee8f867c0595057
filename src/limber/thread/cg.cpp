// The paper's kind of linear solver, kept as a baseline: conjugate gradients on the same matrix, here with
// the Cholesky factors of the diagonal blocks as preconditioner.
#include <algorithm>
#include <cmath>

#include "limber/thread/system.h"

namespace limber::thread {
namespace {

void factor_diagonal(int nodes, WorkspaceData& w) {
  using Block = Eigen::Matrix<double, 12, 12, Eigen::RowMajor>;
  for (int j = 0; j < nodes; ++j) {
    Eigen::Map<Block> L(w.cg_block.data() + 144 * j);
    const Eigen::Map<const Block> D(w.elements.D.data() + 144 * j);
    for (int k = 0; k < 12; ++k)
      for (int i = k; i < 12; ++i) {
        double sum = D(k, i);
        for (int m = 0; m < k; ++m) sum -= L(i, m) * L(k, m);
        L(i, k) = i == k ? std::sqrt(std::max(sum, 1e-300)) : sum / L(k, k);
      }
  }
}

void precondition(int nodes, const WorkspaceData& w, const double* r, double* z) {
  for (int j = 0; j < nodes; ++j) {
    const double* L = w.cg_block.data() + 144 * j;
    double* x = z + 12 * j;
    for (int i = 0; i < 12; ++i) {
      double sum = r[12 * j + i];
      for (int k = 0; k < i; ++k) sum -= L[12 * i + k] * x[k];
      x[i] = sum / L[13 * i];
    }
    for (int i = 11; i >= 0; --i) {
      for (int k = i + 1; k < 12; ++k) x[i] -= L[12 * k + i] * x[k];
      x[i] /= L[13 * i];
    }
  }
}

double dot(const std::vector<double>& a, const std::vector<double>& b, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

int conjugate_gradients(int nodes, double tolerance, double* x, WorkspaceData& w) {
  const int n = 12 * nodes;
  factor_diagonal(nodes, w);
  std::copy_n(x, n, w.cg_r.begin());
  std::fill_n(x, n, 0.0);
  precondition(nodes, w, w.cg_r.data(), w.cg_z.data());
  std::copy_n(w.cg_z.begin(), n, w.cg_p.begin());
  double rz = dot(w.cg_r, w.cg_z, n);
  const double stop = tolerance * tolerance * dot(w.cg_r, w.cg_r, n);
  int iteration = 0;
  while (iteration < 20 * n && dot(w.cg_r, w.cg_r, n) > stop) {
    ++iteration;
    std::fill_n(w.cg_q.begin(), n, 0.0);
    block_multiply(nodes, w.elements.D.data(), w.elements.O.data(), w.cg_p.data(), w.cg_q.data());
    const double pq = dot(w.cg_p, w.cg_q, n);
    if (!(pq > 0)) break;  // not positive definite: the caller's iteration goes on from here
    const double alpha = rz / pq;
    for (int i = 0; i < n; ++i) {
      x[i] += alpha * w.cg_p[i];
      w.cg_r[i] -= alpha * w.cg_q[i];
    }
    precondition(nodes, w, w.cg_r.data(), w.cg_z.data());
    const double next = dot(w.cg_r, w.cg_z, n), beta = next / rz;
    rz = next;
    for (int i = 0; i < n; ++i) w.cg_p[i] = w.cg_z[i] + beta * w.cg_p[i];
  }
  return iteration;
}

}  // namespace limber::thread
