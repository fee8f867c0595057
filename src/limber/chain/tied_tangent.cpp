#include "limber/chain/tied_tangent.h"

#include <algorithm>
#include <cmath>

#include "limber/math/dense.h"
#include "limber/math/so3.h"

namespace limber::chain {
namespace {

constexpr double dependent = 1e-11;  // of the largest eigenvalue of W: the row adds nothing

}  // namespace

void TiedTangent::enter(const Structure& s, const Balance& b) {
  entries_.clear();
  for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
    const Row& row = rows_[i];
    Vec6 wrench = Vec6::Zero();
    if (row.joint >= 0) {  // turns the link against its parent
      wrench.tail<3>() = row.b.m;
      entries_.push_back({row.joint, i, wrench});
      if (const int p = s.links.parent[row.joint]; p >= 0) entries_.push_back({p, i, -wrench});
      continue;
    }
    for (const RowEnd* e : {&row.a, &row.b}) {
      if (e->link < 0) continue;
      wrench << e->f, (e->x - b.in.c[e->link]).cross(e->f) + e->m;
      entries_.push_back({e->link, i, wrench});
    }
  }
  std::ranges::stable_sort(entries_, std::greater<>(), &Entry::link);
}

void TiedTangent::find_pieces(const Structure& s) {
  const auto n = static_cast<std::size_t>(s.links.count());
  begins_.assign(n, -1);
  met_.assign(n, 0);
  for (const Entry& e : entries_) {
    begins_[e.link] = 0;
    for (int k = e.link; k >= 0 && met_[k]++ == 0;) k = s.links.parent[k];
  }
  std::size_t count = 0;
  for (int k = s.links.count() - 1; k >= 0; --k) {
    if (met_[k] < 2 && begins_[k] < 0) continue;
    begins_[k] = static_cast<int>(count++);
    if (pieces_.size() < count) pieces_.emplace_back();
    pieces_[count - 1].link = k;
    pieces_[count - 1].from.clear();
  }
  pieces_.resize(count);
}

void TiedTangent::go_down(const Structure& s, const Balance& b, Piece& piece) const {
  using Map = Eigen::Matrix<double, 3, 6>;
  Map w = Map::Zero(), z;  // moments, left and right, by the wrench where the piece begins
  w.rightCols<3>().setIdentity();
  z = w;
  Map f = Map::Zero();  // force on the right; on the left it stays
  f.leftCols<3>().setIdentity();
  piece.kept.setZero();
  int k = piece.link;
  do {
    const int p = s.links.parent[k];
    if (s.links.active[k]) {
      piece.kept.noalias() += w.transpose() * (tangent_.kept(k) * (symmetric_ ? w : z));
      if (s.links.stretch) piece.kept.topLeftCorner<3, 3>() += b.give[k];
      w -= (tangent_.G(k).transpose() * w).eval();
      w.leftCols<3>() += lever_[k];
      if (!symmetric_) {
        const Map eliminated = lever_[k] * f - tangent_.H(k) * z;
        f += tangent_.J(k) * z;
        z += eliminated;
      }
    }
    k = p;
  } while (k >= 0 && begins_[k] < 0);
  piece.next = k >= 0 ? begins_[k] : -1;
  piece.down_left << Mat3::Identity(), Mat3::Zero(), w;
  if (!symmetric_) piece.down_right << f, z;
}

// Rows that come by a piece, and with what: of its own link's and of the pieces that end there.
void TiedTangent::gather(Piece& piece, const Entry* first, const Entry* end) {
  piece.rows.clear();
  for (const Entry* e = first; e != end; ++e) piece.rows.push_back(e->row);
  for (const int i : piece.from)
    piece.rows.insert(piece.rows.end(), pieces_[i].rows.begin(), pieces_[i].rows.end());
  std::ranges::sort(piece.rows);
  piece.rows.erase(std::unique(piece.rows.begin(), piece.rows.end()), piece.rows.end());
  const auto count = static_cast<int>(piece.rows.size());
  column_.resize(rows_.size());
  for (int c = 0; c < count; ++c) column_[piece.rows[c]] = c;

  const auto add = [&](Wrenches Piece::*side, Mat6 Piece::*down) {
    (piece.*side).setZero(6, count);
    for (const Entry* e = first; e != end; ++e) (piece.*side).col(column_[e->row]) += e->wrench;
    for (const int i : piece.from) {
      const Piece& from = pieces_[i];
      for (std::size_t c = 0; c < from.rows.size(); ++c)
        (piece.*side).col(column_[from.rows[c]]) += from.*down * (from.*side).col(static_cast<int>(c));
    }
  };
  add(&Piece::left, &Piece::down_left);
  if (!symmetric_) add(&Piece::right, &Piece::down_right);
}

MatX TiedTangent::tied_compliance(const Structure& s, const Balance& b) {
  lever_.resize(static_cast<std::size_t>(s.links.count()), Mat3::Zero());
  for (int k = 0; k < s.links.count(); ++k)
    if (const int p = s.links.parent[k]; p >= 0)
      lever_[k] = math::skew(b.in.c[k] - b.in.c[p]) - b.in.lever[k];
  enter(s, b);
  find_pieces(s);
  for (int i = 0; i < static_cast<int>(pieces_.size()); ++i) {
    go_down(s, b, pieces_[i]);
    if (pieces_[i].next >= 0) pieces_[pieces_[i].next].from.push_back(i);
  }
  const auto n = static_cast<int>(rows_.size());
  MatX W = MatX::Zero(n, n);
  const Entry *entry = entries_.data(), *end = entry + entries_.size();
  for (Piece& piece : pieces_) {
    const Entry* first = entry;
    while (entry != end && entry->link == piece.link) ++entry;
    gather(piece, first, entry);
    const auto m = static_cast<int>(piece.rows.size());
    const MatX part = piece.left.transpose() * (piece.kept * (symmetric_ ? piece.left : piece.right));
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) W(piece.rows[i], piece.rows[j]) += part(i, j);
  }
  for (int j = 0; j < n; ++j) W(j, j) += rows_[j].compliance;
  return W;
}

// Counts the signs of a symmetric one.
void TiedTangent::invert(MatX W, bool stretch) {
  const auto n = static_cast<int>(rows_.size());
  // Rows of very different size (metres, springs, borders): to unit diagonal first. A closure's row that
  // nothing can move (a planar beam held across its plane) has a diagonal of mere rounding: it stays small
  // and is dropped.
  VecX scale = W.diagonal().cwiseAbs();
  double most_held = 0;
  // A slender beam gives L/EA along itself where it gives L³/EI across: far less, and not by rounding.
  const double noise = stretch ? 1e-14 : 1e-10;
  for (int i = 0; i < held_; ++i) most_held = std::max(most_held, scale[i]);
  for (int i = 0; i < n; ++i)
    scale[i] = 1 / std::sqrt(std::max({scale[i], i < held_ ? noise * most_held : 0.0, 1e-300}));
  W = scale.asDiagonal() * W * scale.asDiagonal();
  if (symmetric_) {
    const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (W + W.transpose()));
    const VecX& e = eigen.values;
    const double largest = e.cwiseAbs().maxCoeff();
    VecX inverse = VecX::Zero(n);
    for (int i = 0; i < n; ++i) {
      if (std::abs(e[i]) <= dependent * largest) {
        ++redundant_;
        continue;
      }
      inverse[i] = 1 / e[i];
      // One more negative direction of the bordered matrix for a positive eigenvalue of W …
      if (e[i] > 0) ++negative_;
    }
    // … of which closures and stiff rows account for one each.
    negative_ += redundant_;
    for (const Row& row : rows_)
      if (row.closure >= 0 || row.compliance > 0) --negative_;
    W_inverse_ = eigen.vectors * inverse.asDiagonal() * eigen.vectors.transpose();
  } else {
    math::PseudoInverse pseudo = math::pseudo_inverse(W);
    redundant_ = n - pseudo.rank;
    W_inverse_ = std::move(pseudo.inverse);
  }
  W_inverse_ = scale.asDiagonal() * W_inverse_ * scale.asDiagonal();
}

void TiedTangent::factor(const Structure& s, const Balance& b, const Ties& ties) {
  tangent_.factor(s.links, b.in);
  symmetric_ = !b.in.general;
  negative_ = tangent_.negative();
  rows_ = ties.rows();
  held_ = ties.held();
  redundant_ = 0;
  for (const MovedPivot& m : tangent_.moved()) {
    Row row;
    row.joint = m.link;
    row.b.m = m.along;
    row.compliance = -1 / m.by;
    rows_.push_back(row);
  }
  if (!rows_.empty()) invert(tied_compliance(s, b), s.links.stretch);
}

// G δ, as the links turn and go with them.
void TiedTangent::open(const Structure& s, VecX& out) {
  const std::vector<Vec3>& turns = tangent_.turns();
  go_.resize(turns.size());
  for (int k = 0; k < s.links.count(); ++k) {
    const int p = s.links.parent[k];
    go_[k] = p < 0 ? Vec3(Vec3::Zero()) : Vec3(go_[p] + lever_[k].transpose() * turns[p]);
  }
  out.setZero(static_cast<int>(rows_.size()));
  for (const Entry& e : entries_)
    out[e.row] += e.wrench.head<3>().dot(go_[e.link]) + e.wrench.tail<3>().dot(turns[e.link]);
}

// Gᵀ y, taken from t.
void TiedTangent::pull(const Structure& s, const VecX& y, std::vector<Vec3>& t) {
  go_.assign(t.size(), Vec3::Zero()), moment_.assign(t.size(), Vec3::Zero());
  for (const Entry& e : entries_) {
    go_[e.link] += y[e.row] * e.wrench.head<3>();
    moment_[e.link] += y[e.row] * e.wrench.tail<3>();
  }
  for (int k = s.links.count() - 1; k >= 0; --k) {
    t[k] -= moment_[k];
    if (const int p = s.links.parent[k]; p >= 0) {
      go_[p] += go_[k];
      moment_[p] += moment_[k] + lever_[k] * go_[k];
    }
  }
}

void TiedTangent::solve(const Structure& s, const std::vector<Vec3>& t, const std::vector<double>& gap,
                        std::vector<Vec3>& delta, std::vector<double>& dlambda) {
  tangent_.solve(s.links, t, delta);
  dlambda.assign(static_cast<std::size_t>(held_), 0.0);
  if (rows_.empty()) return;
  VecX v;
  open(s, v);
  for (std::size_t i = 0; i < gap.size(); ++i) v[static_cast<int>(i)] += gap[i];
  const VecX y = W_inverse_ * v;
  tied_ = t;
  pull(s, y, tied_);
  tangent_.solve(s.links, tied_, delta);
  for (int i = 0; i < held_; ++i) dlambda[i] = y[i];
}

}  // namespace limber::chain
