#include "limber/contact/envelope.h"

#include <algorithm>
#include <cmath>

#include "limber/contact/cone_solver.h"
#include "limber/math/pack.h"

namespace limber::contact {
namespace {

using math::load;
using math::Pack;
using math::pack;

constexpr double singular = 1e-14;  // of the product of a block's largest entries: its determinant

// S −= P Qᵀ over `blocks` blocks; lines of P and Q are p_line and q_line apart, those of S four.
LIMBER_INLINE void subtract_lines(const double* p, std::ptrdiff_t p_line, const double* q,
                                  std::ptrdiff_t q_line, int blocks, double* S) {
  Pack a[3][3];
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) a[i][k] = pack(0);
  for (int n = 0; n < 4 * blocks; n += 4) {
    const Pack q0 = load(q + n), q1 = load(q + q_line + n), q2 = load(q + 2 * q_line + n);
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      const Pack x = load(p + i * p_line + n);
      a[i][0] += x * q0, a[i][1] += x * q1, a[i][2] += x * q2;
    }
  }
#pragma GCC unroll 3
  for (int i = 0; i < 3; ++i)
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      const Pack& v = a[i][k];
      S[4 * i + k] -= (v[0] + v[1]) + (v[2] + v[3]);
    }
}

bool invert(const double* S, Mat3& out) {
  Mat3 D;
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) D(i, k) = S[4 * i + k];
  double size = 1;
  for (int i = 0; i < 3; ++i) size *= D.row(i).cwiseAbs().maxCoeff();
  const Vec3 a = D.row(0), b = D.row(1), c = D.row(2);
  const Vec3 bc = b.cross(c);
  const double det = a.dot(bc);
  if (!(std::abs(det) > singular * size)) return false;
  out.col(0) = bc / det, out.col(1) = c.cross(a) / det, out.col(2) = a.cross(b) / det;
  return true;
}

// What row p needs of the rows before it, in place: L and V up to the diagonal, whose block goes to S.
LIMBER_KERNEL void eliminate_row(int p, const int* first, const std::ptrdiff_t* start, const double* inverse,
                                 double* L, double* V, double* S) {
  const std::ptrdiff_t line = 4 * static_cast<std::ptrdiff_t>(p - first[p]);
  double *l = L + start[p], *v = V + start[p];
  double T[12];
  for (int q = first[p]; q < p; ++q) {
    const std::ptrdiff_t other = 4 * static_cast<std::ptrdiff_t>(q - first[q]);
    const int from = std::max(first[p], first[q]);
    const std::ptrdiff_t here = 4 * (q - first[p]), mine = 4 * (from - first[p]),
                         theirs = start[q] + 4 * (from - first[q]);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) T[4 * i + k] = l[i * line + here + k];
    subtract_lines(l + mine, line, V + theirs, other, q - from, T);
    const double* d = inverse + 9 * static_cast<std::ptrdiff_t>(q);  // by columns
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k)
        l[i * line + here + k] =
            T[4 * i] * d[3 * k] + (T[4 * i + 1] * d[3 * k + 1] + T[4 * i + 2] * d[3 * k + 2]);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) T[4 * i + k] = v[i * line + here + k];
    subtract_lines(v + mine, line, L + theirs, other, q - from, T);
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) v[i * line + here + k] = T[4 * i + k];
  }
  subtract_lines(l, line, v, line, p - first[p], S);
}

LIMBER_KERNEL void substitute(int rows, const int* first, const std::ptrdiff_t* start, const double* inverse,
                              const double* L, const double* V, double* x) {
  for (int p = 0; p < rows; ++p) {
    const std::ptrdiff_t line = 4 * static_cast<std::ptrdiff_t>(p - first[p]);
    const double *l = L + start[p], *from = x + 4 * static_cast<std::ptrdiff_t>(first[p]);
    for (int i = 0; i < 3; ++i) {
      Pack sum = pack(0);
      for (std::ptrdiff_t n = 0; n < line; n += 4) sum += load(l + i * line + n) * load(from + n);
      x[4 * p + i] -= (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }
  for (int p = rows - 1; p >= 0; --p) {
    const std::ptrdiff_t line = 4 * static_cast<std::ptrdiff_t>(p - first[p]);
    const double *v = V + start[p], *d = inverse + 9 * static_cast<std::ptrdiff_t>(p);
    double *y = x + 4 * p, *to = x + 4 * static_cast<std::ptrdiff_t>(first[p]);
    const double b[3] = {y[0], y[1], y[2]};
    for (int i = 0; i < 3; ++i) y[i] = d[i] * b[0] + (d[3 + i] * b[1] + d[6 + i] * b[2]);
    const Pack y0 = pack(y[0]), y1 = pack(y[1]), y2 = pack(y[2]);
    for (std::ptrdiff_t n = 0; n < line; n += 4)
      math::store(to + n, load(to + n) -
                              (load(v + n) * y0 + (load(v + line + n) * y1 + load(v + 2 * line + n) * y2)));
  }
}

}  // namespace

// From a contact that is far from the others outwards, then turned round; one island after the other.
void Envelope::find_order(const ContactMatrix& W) {
  const int n = static_cast<int>(W.diagonal.size());
  const auto degree = [&](int c) { return W.start[c + 1] - W.start[c]; };
  order_.clear();
  seen_.assign(static_cast<std::size_t>(n), 0);
  const auto walk = [&](int root, int mark) {
    std::size_t next = order_.size();
    order_.push_back(root);
    seen_[root] = mark;
    for (; next < order_.size(); ++next) {
      const auto from = static_cast<std::ptrdiff_t>(order_.size());
      for (int e = W.start[order_[next]]; e < W.start[order_[next] + 1]; ++e) {
        const int b = W.columns[e];
        if (seen_[b] == mark) continue;
        seen_[b] = mark;
        order_.push_back(b);
      }
      std::sort(order_.begin() + from, order_.end(),
                [&](int x, int y) { return degree(x) != degree(y) ? degree(x) < degree(y) : x < y; });
    }
  };
  for (int root = 0; root < n; ++root) {
    if (seen_[root] != 0) continue;
    const std::size_t begin = order_.size();
    walk(root, 1);
    const int farthest = order_.back();
    order_.resize(begin);
    walk(farthest, 2);
  }
  std::reverse(order_.begin(), order_.end());
}

void Envelope::start(const ContactMatrix& W, const std::vector<unsigned char>& taken) {
  row_.assign(order_.size(), -1);
  contact_.clear(), first_.clear(), start_.clear();
  for (const int c : order_) {
    if (taken[c] == 0) continue;
    row_[c] = static_cast<int>(contact_.size());
    contact_.push_back(c);
  }
  std::ptrdiff_t size = 0;
  for (int p = 0; p < rows(); ++p) {
    int first = p;
    for (int e = W.start[contact_[p]]; e < W.start[contact_[p] + 1]; ++e)
      if (const int q = row_[W.columns[e]]; q >= 0) first = std::min(first, q);
    first_.push_back(first);
    start_.push_back(size);
    size += 12 * (static_cast<std::ptrdiff_t>(p) - first);
  }
  const auto numbers = static_cast<std::size_t>(size);
  if (L_.size() < numbers) L_.resize(2 * numbers), V_.resize(2 * numbers);
  std::fill_n(L_.begin(), size, 0.0);
  std::fill_n(V_.begin(), size, 0.0);
  if (D_.size() < contact_.size()) D_.resize(2 * contact_.size());
}

void Envelope::set_block(int p, int q, const Mat3& block) {
  if (p == q) {
    D_[p] = block;
    return;
  }
  const bool below = q < p;
  const int row = std::max(p, q), column = std::min(p, q);
  const std::ptrdiff_t line = 4 * static_cast<std::ptrdiff_t>(row - first_[row]);
  double* to = (below ? L_ : V_).data() + start_[row] + 4 * (column - first_[row]);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) to[i * line + k] = below ? block(i, k) : block(k, i);
}

bool Envelope::factor() {
  for (int p = 0; p < rows(); ++p) {
    double S[12];
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) S[4 * i + k] = D_[p](i, k);
    eliminate_row(p, first_.data(), start_.data(), D_.data()->data(), L_.data(), V_.data(), S);
    if (!invert(S, D_[p])) return false;
  }
  return true;
}

void Envelope::solve(double* x) {
  if (rows() > 0)
    substitute(rows(), first_.data(), start_.data(), D_.data()->data(), L_.data(), V_.data(), x);
}

}  // namespace limber::contact
