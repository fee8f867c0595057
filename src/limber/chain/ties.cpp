#include "limber/chain/ties.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/math/dense.h"
#include "limber/math/so3.h"

namespace limber::chain {
namespace {

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

}  // namespace limber::chain
