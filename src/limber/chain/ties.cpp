#include "limber/chain/ties.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/math/dense.h"
#include "limber/math/so3.h"

namespace limber::chain {
namespace {

constexpr double dependent = 1e-11;  // of the largest eigenvalue of W: the row adds nothing

struct Dyad {
  int u, v;  // axes of F and M
  double w;
};
struct Directors {
  int count;
  std::array<Dyad, 2> of;
};

// φ = Σ w F_u·M_v: the sine of a small angle, zero when the frames agree.
constexpr Directors about_x{2, {{{1, 2, 0.5}, {2, 1, -0.5}}}};
constexpr Directors about_y{2, {{{2, 0, 0.5}, {0, 2, -0.5}}}};
constexpr Directors about_z{2, {{{0, 1, 0.5}, {1, 0, -0.5}}}};
constexpr Directors x_on_z{1, {{{0, 2, 1.0}, {0, 0, 0}}}};
constexpr Directors y_on_z{1, {{{1, 2, 1.0}, {0, 0, 0}}}};
constexpr Directors x_on_y{1, {{{0, 1, 1.0}, {0, 0, 0}}}};

struct ClosureRows {
  int positions;  // along F's axes from `first`
  int first;
  bool world_axes;  // all three: axes of the world serve
  int directors;
  std::array<Directors, 3> of;
};

ClosureRows rows_of(JointKind kind) {
  switch (kind) {
    case JointKind::fixed:
      return {3, 0, true, 3, {about_x, about_y, about_z}};
    case JointKind::revolute:
      return {3, 0, true, 2, {x_on_z, y_on_z, about_z}};
    case JointKind::universal:
      return {3, 0, true, 1, {x_on_y, about_y, about_z}};
    case JointKind::spherical:
      return {3, 0, true, 0, {about_x, about_y, about_z}};
    case JointKind::prismatic:
      return {2, 0, false, 3, {about_x, about_y, about_z}};
    case JointKind::planar:
      return {1, 2, false, 2, {x_on_z, y_on_z, about_z}};
    case JointKind::free:
    case JointKind::cylindrical:  // from here on refused by the table of features
    case JointKind::screw:
    case JointKind::point_on_line:
    case JointKind::point_on_plane:
    case JointKind::constant_velocity:
    case JointKind::distance:
      break;
  }
  return {0, 0, true, 0, {about_x, about_y, about_z}};
}

Pose end_pose(const Balance& b, int link, const Pose& X) {
  return link < 0 ? X : Pose{b.R[link], b.in.c[link]} * X;
}

Vec3 arm_of(const Balance& b, int link, const Vec3& x) { return link < 0 ? x : Vec3(x - b.in.c[link]); }

}  // namespace

int row_count(JointKind kind) {
  const ClosureRows r = rows_of(kind);
  return r.positions + r.directors;
}

void add_closure_forces(const Structure& s, const Balance& b, double factor,
                        const std::vector<double>& lambda, std::vector<Vec3>& N) {
  const double* next = lambda.data();
  for (const Closure& c : s.closures) {
    const ClosureRows list = rows_of(c.kind);
    const Mat3 F = end_pose(b, c.a, c.frame(factor)).R;
    for (int i = 0; i < list.positions; ++i) {
      const int axis = list.first + i;
      const Vec3 pull = next[i] * (list.world_axes ? Vec3(Vec3::Unit(axis)) : Vec3(F.col(axis)));
      if (c.a >= 0 && s.links.active[c.a]) N[c.a] += pull;
      if (c.b >= 0 && s.links.active[c.b]) N[c.b] -= pull;
    }
    next += list.positions + list.directors;
  }
}

std::vector<double> Ties::gap_rate(const std::vector<Vec3>& shift) const {
  std::vector<double> out = gap_rate_;
  if (shift.empty()) return out;
  out.resize(rows_.size(), 0.0);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    for (const RowEnd* e : {&rows_[i].a, &rows_[i].b})
      if (e->link >= 0) out[i] += e->f.dot(shift[e->link]);
  return out;
}

double Ties::work_of_supports(const std::vector<double>& lambda) const {
  double sum = 0;
  for (std::size_t i = 0; i < lambda.size() && i < gap_rate_.size(); ++i) sum += lambda[i] * gap_rate_[i];
  return sum;
}

double Ties::worst_gap() const {
  double worst = 0;
  for (const double g : gap_) worst = std::max(worst, std::abs(g));
  return worst;
}

void Ties::build(const Structure& s, const Balance& b, double factor, const std::vector<double>& lambda) {
  rows_.clear(), elastic_.clear(), gap_.clear(), gap_rate_.clear(), tugs_.clear();
  spring_energy_ = 0;
  for (int i = 0; i < static_cast<int>(s.closures.size()); ++i)
    close(s, b, i, factor, lambda.data() + rows_.size());
  held_ = static_cast<int>(rows_.size());
  for (const SpringTie& spring : s.springs) stretch(s, b, spring);
  rows_.insert(rows_.end(), elastic_.begin(), elastic_.end());
}

void Ties::close(const Structure& s, const Balance& b, int index, double factor, const double* lambda) {
  const Closure& c = s.closures[index];
  const bool moved = c.moves();
  const auto frame = [&](double at) { return end_pose(b, c.a, c.frame(at)); };
  const Pose F = frame(factor), M = end_pose(b, c.b, c.X_B);
  constexpr double h = 1e-6;
  const Pose F_up = moved ? frame(factor + h) : F, F_down = moved ? frame(factor - h) : F;
  const ClosureRows list = rows_of(c.kind);

  for (int i = 0; i < list.positions; ++i) {
    const int axis = list.first + i;
    const auto direction = [&](const Pose& X) -> Vec3 {
      return list.world_axes ? Vec3::Unit(axis) : Vec3(X.R.col(axis));
    };
    const auto phi = [&](const Pose& X) { return direction(X).dot(M.p - X.p); };
    const Vec3 u = direction(F);
    Row row;
    row.closure = index;
    row.a = {c.a, -u, F.p, Vec3::Zero()};
    row.b = {c.b, u, M.p, Vec3::Zero()};
    const double l = *lambda++;
    tugs_.push_back({c.a, l * u, arm_of(b, c.a, F.p), false, index, false});
    tugs_.push_back({c.b, -l * u, arm_of(b, c.b, M.p), false, index, true});
    rows_.push_back(row);
    gap_.push_back(phi(F));
    gap_rate_.push_back(moved ? (phi(F_up) - phi(F_down)) / (2 * h) : 0);
  }

  Mat3 X = Mat3::Zero();  // Ω_aᵀ X Ω_b, only where both ends turn
  for (int i = 0; i < list.directors; ++i) {
    Row row;
    row.closure = index;
    row.a.link = c.a, row.b.link = c.b;
    double value = 0, up = 0, down = 0;
    const double l = *lambda++;
    for (int d = 0; d < list.of[i].count; ++d) {
      const Dyad& dyad = list.of[i].of[d];
      const double w = dyad.w * s.size;
      const Vec3 u = F.R.col(dyad.u), v = M.R.col(dyad.v);
      value += w * u.dot(v);
      up += w * F_up.R.col(dyad.u).dot(v);
      down += w * F_down.R.col(dyad.u).dot(v);
      row.b.m += w * v.cross(u);
      row.a.m += w * u.cross(v);
      tugs_.push_back({c.b, -l * w * u, v, true, index, true});
      tugs_.push_back({c.a, -l * w * v, u, true, index, false});
      X += l * w * (u.dot(v) * Mat3::Identity() - v * u.transpose());
    }
    rows_.push_back(row);
    gap_.push_back(value);
    gap_rate_.push_back(moved ? (up - down) / (2 * h) : 0);
  }

  if (c.a < 0 || c.b < 0 || X.isZero(0)) return;
  Mat6 both = Mat6::Zero();
  both.topRightCorner<3, 3>() = X;
  both.bottomLeftCorner<3, 3>() = X.transpose();
  const math::SmallEigen<6> eigen = math::small_eigen<6>(both);
  for (int i = 0; i < 6; ++i) {
    const double kappa = eigen.values[i];
    if (std::abs(kappa) < 1e-14 * eigen.values.cwiseAbs().maxCoeff()) continue;
    Row row;
    row.a.link = c.a, row.b.link = c.b;
    row.a.m = eigen.vectors.col(i).head<3>();
    row.b.m = eigen.vectors.col(i).tail<3>();
    row.compliance = 1 / kappa;
    elastic_.push_back(row);
  }
}

void Ties::stretch(const Structure& s, const Balance& b, const SpringTie& spring) {
  const auto at = [&](int link, const Vec3& p) -> Vec3 {
    return link < 0 ? p : Vec3(b.in.c[link] + b.R[link] * p);
  };
  const bool gone =
      (spring.a >= 0 && !s.links.active[spring.a]) || (spring.b >= 0 && !s.links.active[spring.b]);
  if (gone) return;
  const Vec3 x_a = at(spring.a, spring.p_a), x_b = at(spring.b, spring.p_b), d = x_b - x_a;
  const elastic::SpringLine line = elastic::spring_line(spring.law, d, Vec3::Zero(), false);
  spring_energy_ += elastic::spring_energy(spring.law, d.norm());
  tugs_.push_back({spring.a, line.pull, arm_of(b, spring.a, x_a)});
  tugs_.push_back({spring.b, -line.pull, arm_of(b, spring.b, x_b)});
  if (line.along == 0 && line.across == 0) return;
  const math::SmallEigen<3> eigen = math::small_eigen<3>(line.K());
  for (int i = 0; i < 3; ++i) {
    const double kappa = eigen.values[i];
    if (std::abs(kappa) < 1e-13 * spring.law.stiffness) continue;
    const Vec3 e = eigen.vectors.col(i);
    Row row;
    row.a = {spring.a, -e, x_a, Vec3::Zero()};
    row.b = {spring.b, e, x_b, Vec3::Zero()};
    row.compliance = 1 / kappa;
    elastic_.push_back(row);
  }
}

void TiedTangent::spread(const Structure& s, const Balance& b, const Row& row,
                         std::vector<Lever>& out) const {
  out.clear();
  if (row.joint >= 0) {
    out.push_back({row.joint, row.b.m});
    return;
  }
  for (const RowEnd* e : {&row.a, &row.b}) {
    Vec3 m = e->m;
    for (int k = e->link; k >= 0; k = s.links.parent[k]) {
      const Vec3 lever = (e->x - b.in.c[k]).cross(e->f) + m;
      // A hinge is asked along its axis alone.
      out.push_back({k, s.links.hinge[k] ? Vec3(b.in.axis[k] * b.in.axis[k].dot(lever)) : lever});
      if (s.links.stretch) m += (b.give[k] * e->f).cross(b.N[k]);
    }
  }
}

double TiedTangent::gather(const std::vector<Lever>& row, const std::vector<Vec3>& delta) {
  double sum = 0;
  for (const Lever& l : row) sum += l.m.dot(delta[l.link]);
  return sum;
}

// Many rows end on few links: where their ways to the root meet, once for each pair.
void TiedTangent::find_meetings(const Structure& s) {
  ends_.clear();
  for (const Row& row : rows_)
    if (row.joint < 0)
      for (const RowEnd* e : {&row.a, &row.b})
        if (e->link >= 0) ends_.push_back(e->link);
  std::sort(ends_.begin(), ends_.end());
  ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
  meetings_.clear();
  for (const int a : ends_)
    for (const int b : ends_) meetings_.push_back(s.links.common(a, b));
}

int TiedTangent::meeting(int a, int b) const {
  if (a < 0 || b < 0) return -1;
  const auto place = [&](int link) {
    return std::lower_bound(ends_.begin(), ends_.end(), link) - ends_.begin();
  };
  return meetings_[static_cast<std::size_t>(place(a)) * ends_.size() + static_cast<std::size_t>(place(b))];
}

// What a force of row j's opens row i by, stretching the links that carry both.
double TiedTangent::give(const Balance& b, const Row& i, const Row& j) const {
  if (i.joint >= 0 || j.joint >= 0) return 0;
  double sum = 0;
  for (const RowEnd* e : {&i.a, &i.b})
    for (const RowEnd* f : {&j.a, &j.b})
      if (const int k = meeting(e->link, f->link); k >= 0) sum += e->f.dot(b.reach[k] * f->f);
  return sum;
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
  const int n = static_cast<int>(rows_.size());
  if (n == 0) return;

  Z_.resize(static_cast<std::size_t>(n)), G_.resize(static_cast<std::size_t>(n));
  for (int j = 0; j < n; ++j) spread(s, b, rows_[j], G_[j]);
  if (s.links.stretch) find_meetings(s);
  Eigen::MatrixXd W(n, n);
  for (int j = 0; j < n; ++j) {
    scratch_.assign(static_cast<std::size_t>(s.links.count()), Vec3::Zero());
    for (const Lever& l : G_[j]) scratch_[l.link] += l.m;
    tangent_.solve(s.links, scratch_, Z_[j]);
    for (int i = 0; i < n; ++i)
      W(i, j) = gather(G_[i], Z_[j]) + (s.links.stretch ? give(b, rows_[i], rows_[j]) : 0);
    W(j, j) += rows_[j].compliance;
  }
  // Rows of very different size (metres, springs, borders): to unit diagonal first. A closure's row that
  // nothing can move (a planar beam held across its plane) has a diagonal of mere rounding: it stays small
  // and is dropped.
  Eigen::VectorXd scale = W.diagonal().cwiseAbs();
  double most_held = 0;
  // A slender beam gives L/EA along itself where it gives L³/EI across: far less, and not by rounding.
  const double noise = s.links.stretch ? 1e-14 : 1e-10;
  for (int i = 0; i < held_; ++i) most_held = std::max(most_held, scale[i]);
  for (int i = 0; i < n; ++i)
    scale[i] = 1 / std::sqrt(std::max({scale[i], i < held_ ? noise * most_held : 0.0, 1e-300}));
  W = scale.asDiagonal() * W * scale.asDiagonal();
  if (symmetric_) {
    const math::SymmetricEigen eigen = math::symmetric_eigen(0.5 * (W + W.transpose()));
    const Eigen::VectorXd& e = eigen.values;
    const double largest = e.cwiseAbs().maxCoeff();
    Eigen::VectorXd inverse = Eigen::VectorXd::Zero(n);
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

void TiedTangent::solve(const Structure& s, const std::vector<Vec3>& t, const std::vector<double>& gap,
                        std::vector<Vec3>& delta, std::vector<double>& dlambda) {
  tangent_.solve(s.links, t, delta);
  dlambda.assign(static_cast<std::size_t>(held_), 0.0);
  const int n = static_cast<int>(rows_.size());
  if (n == 0) return;
  Eigen::VectorXd v(n);
  for (int i = 0; i < n; ++i) v[i] = gather(G_[i], delta) + (i < static_cast<int>(gap.size()) ? gap[i] : 0);
  const Eigen::VectorXd y = W_inverse_ * v;
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < s.links.count(); ++k) delta[k] -= y[j] * Z_[j][k];
  for (int i = 0; i < held_; ++i) dlambda[i] = y[i];
}

}  // namespace limber::chain
