#include "limber/math/anderson.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace limber::math {
namespace {

constexpr double dependent = 1e-7;  // a column that keeps less of itself tells nothing new

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add(double s, const std::vector<double>& from, std::vector<double>& to) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += s * from[i];
}

}  // namespace

Anderson::Anderson(std::vector<double> weight, int depth)
    : depth_(std::min(depth, most_depth)), weight_(std::move(weight)) {
  const std::size_t n = weight_.size();
  f_.resize(n), g_.resize(n), left_.resize(n);
  for (auto* columns : {&dF_, &dG_, &Q_}) columns->assign(depth_, std::vector<double>(n));
}

void Anderson::next(const std::vector<double>& x, std::vector<double>& g) {
  const std::size_t n = g.size();
  for (std::size_t i = 0; i < n; ++i) left_[i] = weight_[i] * (g[i] - x[i]);
  if (any_) {
    newest_ = (newest_ + 1) % depth_;
    columns_ = std::min(columns_ + 1, depth_);
    for (std::size_t i = 0; i < n; ++i) {
      dF_[newest_][i] = left_[i] - f_[i];
      dG_[newest_][i] = g[i] - g_[i];
    }
  }
  any_ = true;
  f_ = left_, g_ = g;

  // Q R of the columns, newest first; R θ = Qᵀf.
  double R[most_depth][most_depth], c[most_depth];
  int used = 0, column[most_depth];
  for (int k = 0; k < columns_; ++k) {
    const int at = (newest_ - k + depth_) % depth_;
    std::vector<double>& q = Q_[used];
    q = dF_[at];
    const double before = std::sqrt(dot(q, q));
    for (int j = 0; j < used; ++j) add(-(R[j][used] = dot(Q_[j], q)), Q_[j], q);
    const double after = std::sqrt(dot(q, q));
    if (!(after > dependent * before)) continue;
    for (double& e : q) e /= after;
    R[used][used] = after;
    c[used] = dot(q, left_);
    add(-c[used], q, left_);
    column[used++] = at;
  }
  double theta[most_depth];
  for (int k = used - 1; k >= 0; --k) {
    theta[k] = c[k];
    for (int j = k + 1; j < used; ++j) theta[k] -= R[k][j] * theta[j];
    theta[k] /= R[k][k];
  }
  for (int k = 0; k < used; ++k) add(-theta[k], dG_[column[k]], g);
}

}  // namespace limber::math
