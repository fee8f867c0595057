#include "limber/thread/static_motion.h"

#include <algorithm>
#include <cmath>

#include "limber/math/so3.h"
#include "limber/thread/element_geometry.h"

namespace limber::thread {
namespace {

constexpr int most_closings = 40;
constexpr double closed_enough = 1e-12, nearly_closed = 1e-9;  // of the size

Mat3 matrix_of(const double* row) { return Eigen::Map<const Mat3>(row); }

// What a motion A of a node's gradient U turns it by: θ = G⁻¹ axial(A − Aᵀ), G = tr U − U.
Vec3 turn_of(const Mat3& U, const double* delta) {
  const Mat3 A = matrix_of(delta + 3);
  const Vec3 w(A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1));
  return (U.trace() * Mat3::Identity() - U).inverse() * w;
}

// … and strains it by: V = sym(A − [θ]U).
Mat3 strain_of(const Mat3& U, const double* delta, const Vec3& turn) {
  const Mat3 V = matrix_of(delta + 3) - math::skew(turn) * U;
  return 0.5 * (V + V.transpose());
}

// q of |q| and its two slopes.
Vec3 whole(const Vec3& z) {
  return {std::sqrt(std::max(z[0] * z[0] - z[1] * z[1] - z[2] * z[2], 0.0)), z[1], z[2]};
}

}  // namespace

StaticMotion::StaticMotion(const SystemData& s, const State& state, WorkspaceData& w)
    : s_(s), state_(state), w_(w) {
  const auto n = static_cast<std::size_t>(state.node_count());
  for (Shape* shape : {&at_, &next_}) {
    shape->P.resize(n), shape->U.resize(n);
    shape->x.resize(n), shape->z.resize(n);
  }
  closing_.resize(12 * n), step_.resize(12 * n);
  turn_.resize(n), stretch_.resize(n);
  for (int first = 0, j = 0; j < state.node_count(); ++j)
    if (w.length[j] == 0) {
      add_piece(first, j);
      first = j + 1;
    }
}

void StaticMotion::add_piece(int first, int last) {
  pieces_.push_back({first, last, base_of(first, last)});
  for (int j = first; j <= last; ++j)
    if (position_held(j) && j != pieces_.back().base) anchors_.emplace_back().node = j;
}

// The first node that is held; else where the stiffest spring holds; else the middle.
int StaticMotion::base_of(int first, int last) const {
  for (int j = first; j <= last; ++j)
    if (position_held(j)) return j;
  int base = (first + last) / 2;
  double stiffest = 0;
  for (const Tether& k : s_.tethers) {
    const Spot at = spot_at(s_, state_, k.thread, k.s);
    const int node = at.slot + (at.xi > 0.5 ? 1 : 0);
    if (node < first || node > last || k.law.stiffness <= stiffest) continue;
    stiffest = k.law.stiffness;
    base = node;
  }
  return base;
}

void StaticMotion::take_shape() {
  const ElementArrays& a = w_.elements;
  for (int j = 0; j < state_.node_count(); ++j) {
    Mat3& U = at_.U[j];
    U << a.strain[0][j], a.strain[3][j], a.strain[4][j], a.strain[3][j], a.strain[1][j], a.strain[5][j],
        a.strain[4][j], a.strain[5][j], a.strain[2][j];
    U += Mat3::Identity();
    for (int k = 0; k < 9; ++k) at_.P[j](k / 3, k % 3) = a.P[k][j];
    for (int i = 0; i < 3; ++i) at_.x[j][i] = a.x[i][j], at_.z[j][i] = a.z[i][j];
  }
}

void StaticMotion::take_columns() {
  using Rows = Eigen::Map<const Eigen::Matrix<double, 12, 12, Eigen::RowMajor>>;
  for (Anchor& k : anchors_) {
    const double* O = w_.elements.O.data() + 144 * static_cast<std::ptrdiff_t>(k.node);
    const Rows D(w_.elements.D.data() + 144 * static_cast<std::ptrdiff_t>(k.node));
    k.own = D.topRows<3>().transpose();  // of D the upper triangle counts
    k.before.setZero(), k.after.setZero();
    if (k.node > 0) k.before = Rows(O - 144).leftCols<3>();
    if (k.node + 1 < state_.node_count()) k.after = Rows(O).topRows<3>().transpose();
  }
}

// Change of (|q|, q_y, q_z): the linear map that element.cpp derives, where the matrix was made. (Where a
// motion has led to, the matrix's own solution would stretch.)
Vec3 StaticMotion::stretch_of(int slot, const double* delta) const {
  const Mat3 &P1 = at_.P[slot], &P2 = at_.P[slot + 1];
  const Vec3 phi = math::so3_log(P1.transpose() * P2), q = whole(at_.z[slot]);
  const Mat3 M = math::so3_exp(0.5 * phi);
  const Coefficients k = coefficients(pack(phi.squaredNorm()));
  const double beta = k.beta[0], gamma = k.gamma[0];
  const Mat3 B = beta * Mat3::Identity() + gamma * phi * phi.transpose();
  const Vec3 p = B.inverse() * q;
  const double d = phi.dot(p);
  const Mat3 Y = (2 * k.beta_s[0] * p + 2 * k.gamma_s[0] * d * phi) * phi.transpose() +
                 gamma * d * Mat3::Identity() + gamma * phi * p.transpose();
  const Vec3 a1 = M.transpose() * turn_[slot], a2 = M * turn_[slot + 1], sigma = a2 - a1;
  const Vec3 rho = 0.5 * (a1 + a2) - k.kappa[0] * phi.cross(sigma);
  const Eigen::Map<const Vec3> x1(delta + 12 * slot), x2(delta + 12 * (slot + 1));
  const Vec3 change = B * (M * x2 - M.transpose() * x1 + p.cross(rho)) + Y * (B * sigma);
  return {q.dot(change) / at_.z[slot][0], change[1], change[2]};
}

Turns StaticMotion::turns(const double* delta) const {
  Turns out;
  Vec3 last = Vec3::Zero();
  for (int j = 0; j < state_.node_count(); ++j) {
    const double* d = delta + 12 * static_cast<std::ptrdiff_t>(j);
    const Vec3 turn = turn_of(at_.U[j], d);
    if (!std::isfinite(turn.sum())) return {turn.sum(), turn.sum(), turn.sum()};
    out.node = std::max(out.node, turn.norm());
    out.strain = std::max(out.strain, strain_of(at_.U[j], d, turn).norm());
    if (j > 0 && w_.length[j - 1] > 0)
      out.element = std::max(out.element, (turn - at_.P[j].transpose() * last).norm());
    last = at_.P[j] * turn;
  }
  return out;
}

void StaticMotion::take_step(const double* delta, const double* push) {
  slope_ = 0;
  for (std::size_t i = 0; i < step_.size(); ++i) {
    step_[i] = delta[i];
    slope_ += push[i] * delta[i];
  }
}

void StaticMotion::solve_across(double* x) const {
  double along = 0;
  for (std::size_t i = 0; i < step_.size(); ++i) along += x[i] * step_[i];
  solve(s_, state_.node_count(), x, w_);
  for (std::size_t i = 0; i < step_.size() && slope_ > 0; ++i) x[i] -= along / slope_ * step_[i];
}

// Turns and changes of stretch of all nodes and slots by a motion.
void StaticMotion::take_motion(const double* delta) {
  for (int j = 0; j < state_.node_count(); ++j) turn_[j] = turn_of(at_.U[j], delta + 12 * j);
  for (int j = 0; j < state_.node_count(); ++j)
    stretch_[j] = w_.length[j] > 0 ? stretch_of(j, delta) : Vec3(Vec3::Zero());
}

void StaticMotion::foresee(const double* delta) {
  take_motion(delta);
  ElementArrays& a = w_.elements;
  const auto k = [&](int row, int j) { return a.constants[row][j]; };
  for (int j = 0; j < state_.node_count(); ++j) {
    for (int i = 0; i < 3; ++i) a.foreseen[i][j] = a.stress[i][j];
    if (w_.length[j] == 0) continue;
    a.foreseen[0][j] += k(slot::axial, j) * stretch_[j][0];
    for (int i = 1; i < 3; ++i)
      a.foreseen[i][j] += k(i == 1 ? slot::shear_y : slot::shear_z, j) * stretch_[j][i];
    for (int side = 0; side < 2; ++side) {
      const double* d = delta + 12 * (j + side);
      const Mat3 V = strain_of(at_.U[j + side], d, turn_[j + side]);
      for (int i = 0; i < 3; ++i) a.foreseen[0][j] += k(slot::axial + 1 + 3 * side + i, j) * V(i, i);
      // The off-diagonal strains stand in the constants as they stand in U.
      a.foreseen[1][j] += k(slot::shear_y + 1 + side, j) * V(0, 1);
      a.foreseen[2][j] += k(slot::shear_z + 1 + side, j) * V(0, 2);
    }
  }
}

// next_ moved by a share of a motion in its axes; positions of the bases, and then of all.
void StaticMotion::advance(const double* delta, double share) {
  take_motion(delta);
  for (const Piece& k : pieces_) {
    const Eigen::Map<const Vec3> step(delta + 12 * k.base);
    next_.x[k.base] += share * (next_.P[k.base] * step);
  }
  for (int j = 0; j < state_.node_count(); ++j) {
    next_.z[j] += share * stretch_[j];
    if ((w_.held[j] & 0b1100u) != 0) {  // directions are given: what is left of them goes straight
      const Mat3 F = next_.P[j] * (next_.U[j] + share * matrix_of(delta + 12 * j + 3));
      next_.P[j] = rotation_of(F.data());
      next_.U[j] = next_.P[j].transpose() * F;
      continue;
    }
    next_.U[j] += share * strain_of(next_.U[j], delta + 12 * j, turn_[j]);
    next_.P[j] = next_.P[j] * math::so3_exp(share * turn_[j]);
  }
  sweep();
}

// x_{j+1} − x_j of a slot from its strains.
Vec3 StaticMotion::chord(int slot) const {
  const Mat3 Q = next_.P[slot].transpose() * next_.P[slot + 1];
  return next_.P[slot] * (Q * (math::so3_jacobian(math::so3_log(Q)) * whole(next_.z[slot])));
}

void StaticMotion::sweep() {
  for (const Piece& k : pieces_) {
    for (int j = k.base; j < k.last; ++j) next_.x[j + 1] = next_.x[j] + chord(j);
    for (int j = k.base; j > k.first; --j) next_.x[j - 1] = next_.x[j] - chord(j - 1);
  }
}

// The largest distance of an anchor from where it is held.
double StaticMotion::gap() {
  double most = 0;
  for (Anchor& k : anchors_) {
    const Vec3 d = at_.x[k.node] - next_.x[k.node];
    k.off = next_.P[k.node].transpose() * d;
    most = std::max(most, d.norm());
  }
  return most / s_.size;
}

bool StaticMotion::close() {
  if (anchors_.empty()) return true;
  double last = gap();
  for (int round = 0; round < most_closings && last > closed_enough; ++round) {
    std::fill(closing_.begin(), closing_.end(), 0.0);
    const auto rows = [&](int node) {
      return Eigen::Map<Eigen::Matrix<double, 12, 1>>(closing_.data() + 12 * node);
    };
    for (const Anchor& k : anchors_) {
      rows(k.node) -= k.own * k.off;
      if (k.node > 0) rows(k.node - 1) -= k.before * k.off;
      if (k.node + 1 < state_.node_count()) rows(k.node + 1) -= k.after * k.off;
    }
    hold(w_, state_.node_count(), closing_.data(), false, w_.elements);
    solve_across(closing_.data());
    for (const Anchor& k : anchors_) rows(k.node).head<3>() = k.off;
    advance(closing_.data(), 1);
    const double now = gap();
    if (!(now < 0.8 * last)) {
      last = std::isfinite(now) ? std::min(now, last) : 1;
      break;
    }
    last = now;
  }
  if (!(last < nearly_closed)) return false;
  spread();
  return true;
}

// What is left of the gaps, evenly between the nodes that are held.
void StaticMotion::spread() {
  for (const Piece& k : pieces_) {
    int from = k.base;
    Vec3 off = Vec3::Zero();
    for (int to = k.base + 1; to <= k.last; ++to) {
      if (!position_held(to)) continue;
      const Vec3 next = at_.x[to] - next_.x[to];
      for (int j = from + 1; j <= to; ++j)
        next_.x[j] += off + static_cast<double>(j - from) / (to - from) * (next - off);
      from = to, off = next;
    }
    for (int j = from + 1; j <= k.last; ++j) next_.x[j] += off;
  }
}

void StaticMotion::write(double* e) const {
  for (int j = 0; j < state_.node_count(); ++j) {
    double* q = e + 12 * j;
    const bool given = (w_.held[j] & 0b1100u) != 0;
    const Mat3 F = next_.P[j] * next_.U[j];
    for (int i = 0; i < 3; ++i) {
      if (!position_held(j)) q[i] = next_.x[j][i];
      if ((w_.held[j] & 2u) == 0) q[3 + i] = F(i, 0);
      if (!given) q[6 + i] = F(i, 1), q[9 + i] = F(i, 2);
    }
  }
}

bool StaticMotion::moved(const double* delta, double share, double* e) {
  next_ = at_;
  advance(delta, share);
  if (!close()) return false;
  write(e);
  return true;
}

bool StaticMotion::moved_on(const double* delta, double* e) {
  advance(delta, 1);
  if (!close()) return false;
  write(e);
  return true;
}

}  // namespace limber::thread
