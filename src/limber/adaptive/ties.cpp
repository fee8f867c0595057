#include "limber/adaptive/ties.h"

#include <algorithm>
#include <cmath>

#include "limber/adaptive/system.h"
#include "limber/multibody/closing_joint.h"

namespace limber::adaptive {
namespace {

constexpr double hangs_on_others = 1e-11;  // of a row's own size, when those before it are eliminated

struct Placed {
  const SystemData& s;
  const WorkspaceData& w;
  Pose operator()(int loaded) const {  // the link's M in the world
    return loaded < 0 ? Pose::identity() : w.path_pose[s.path_end[loaded]];
  }
};

Vec6 wrench_at(const Pose& X, const Vec3& p, const Vec3& force_W) {
  const Vec3 f = X.R.transpose() * force_W;
  Vec6 out;
  out << p.cross(f), f;
  return out;
}

// P with Q = P Pᵀ of a symmetric positive semidefinite 3×3 matrix; returns its rank.
int factor3(Mat3 Q, Mat3& P) {
  const double size = Q.trace();
  for (int k = 0; k < 3; ++k) {
    int best = 0;
    for (int i = 1; i < 3; ++i)
      if (Q(i, i) > Q(best, best)) best = i;
    if (!(Q(best, best) > 1e-14 * size)) return k;
    P.col(k) = Q.col(best) / std::sqrt(Q(best, best));
    Q -= P.col(k) * P.col(k).transpose();
  }
  return 3;
}

void add_spring(const TiedSpring& spring, int tie, const Placed& at, double h, TieWorkspace& w) {
  const Pose A = at(spring.a), B = at(spring.b);
  const auto line = elastic::spring_line(spring.law, B * spring.p_b - A * spring.p_a, Vec3::Zero(), true);
  if (spring.a >= 0) w.base[spring.a] += wrench_at(A, spring.p_a, line.pull);
  if (spring.b >= 0) w.base[spring.b] -= wrench_at(B, spring.p_b, line.pull);
  Mat3 P;
  const int rank = factor3(line.blend(h * h, h), P);
  for (int k = 0; k < rank; ++k)
    w.rows.push_back({tie, spring.a, spring.b, -wrench_at(A, spring.p_a, P.col(k)),
                      wrench_at(B, spring.p_b, P.col(k)), 1, 0, 0});
}

// A hand pulls in every direction alike, and is damped so.
void add_hand(const TiedSpring& hand, int tie, const Vec3& target, const Placed& at, double h,
              TieWorkspace& w) {
  const Pose B = at(hand.b);
  w.base[hand.b] += wrench_at(B, hand.p_b, hand.law.stiffness * (target - B * hand.p_b));
  const double root = std::sqrt(h * h * hand.law.stiffness + h * hand.law.damping);
  for (int k = 0; k < 3; ++k)
    w.rows.push_back({tie, -1, hand.b, Vec6::Zero(), wrench_at(B, hand.p_b, root * Vec3::Unit(k)), 1, 0, 0});
}

void add_loop(const TiedLoop& loop, int tie, const Placed& at, double h, double size, TieWorkspace& w) {
  const Pose X_WA = at(loop.a), X_WM = at(loop.b) * loop.X_BM;
  const Pose X_FM = (X_WA * loop.X_AF).inverse() * X_WM, X_AM = X_WA.inverse() * X_WM;
  const auto add = [&](const Vec6& row, double own, double right, double unit) {
    w.rows.push_back({tie, loop.a, loop.b, -X_AM.force(row), loop.X_BM.force(row), own, right, unit});
  };
  Mat6 T;
  Vec6 gap;
  const int n = multibody::closing_rows({loop.kind}, X_FM, T, gap);
  for (int k = 0; k < n; ++k) {
    const bool turn = T.row(k).head<3>().cwiseAbs().maxCoeff() > 0;
    add(T.row(k).transpose(), 0, gap[k] / (h * h), turn ? size * size : 1);
    w.gap = std::max(w.gap, std::abs(gap[k]) * (turn ? size : 1));
  }
  if (!loop.has_law) return;
  // The closing joint's own springs and dampers.
  double q[7];
  DofArray x;
  multibody::closing_coordinates({loop.kind}, X_FM, q, x);
  const multibody::Subspace S = multibody::motion_subspace(loop.kind, 0, q);
  for (int k = 0; k < dof_count(loop.kind); ++k) {
    const double force = -loop.law.stiffness[k] * (x[k] - loop.law.rest[k]);
    const double kappa = h * h * loop.law.stiffness[k] + h * loop.law.damping[k];
    if (!(kappa > 0)) continue;
    const Vec6 row = S.col(k);
    if (loop.a >= 0) w.base[loop.a] -= X_AM.force(row) * force;
    if (loop.b >= 0) w.base[loop.b] += loop.X_BM.force(row) * force;
    add(std::sqrt(kappa) * row, 1, 0, 0);
  }
}

// Up from a tie's bodies: what a row's forces do to the parts they are in; everything else feels nothing.
void answer_upwards(const SystemData& s, const Coefficients& c, const double* q, int index, TieWorkspace& w) {
  static constexpr double nothing[6] = {};
  const TieWorkspace::Row& row = w.rows[index];
  const auto of = [&](int child) {  // null: this row does not act there
    return child >= 0 && w.answers[child].row == index ? &w.answers[child] : nullptr;
  };
  for (const int k : w.way[row.tie]) {
    TieWorkspace::Answer& out = w.answers[k];
    out.row = index;
    const AssemblyNode& n = c.node(s.paths[k].node);
    if (n.is_leaf()) {
      Vec6 force = Vec6::Zero();
      if (row.a >= 0 && s.path_end[row.a] == k) force += row.on_a;
      if (row.b >= 0 && s.path_end[row.b] == k) force += row.on_b;
      for (int l = 0; l < 6; ++l) out.zeta[l] = -force[l];
      continue;
    }
    const TieWorkspace::Answer *a = of(s.paths[k].a), *b = of(s.paths[k].b);
    BiasOfHalves half;
    half.zeta_a = a ? a->zeta : nothing;
    half.alpha_a = a ? a->alpha : nothing;
    half.zeta_b = b ? b->zeta : nothing;
    half.alpha_b = b ? b->alpha : nothing;
    c.join_bias(s.paths[k].node, q, nullptr, Vec3::Zero(), half, {out.zeta, out.alpha, out.m, out.c, out.r});
  }
}

// Down again: accelerations of all tied bodies. index < 0: under all that acts, as the coefficients know it.
void answer_downwards(const SystemData& s, const Coefficients& c, int index, TieWorkspace& w) {
  static constexpr double nothing[6] = {};
  double none[6];
  for (std::size_t k = 0; k < s.paths.size(); ++k) {
    const PathNode& path = s.paths[k];
    TieWorkspace::Answer& out = w.answers[k];
    if (c.node(path.node).is_leaf()) continue;
    Inputs in;
    if (path.parent >= 0) in = path.in_b ? w.answers[path.parent].B : w.answers[path.parent].A;
    out.A = out.B = Inputs{};
    if (index < 0)
      split(c, path.node, in, none, out.A, out.B);
    else if (out.row == index)
      split(c, path.node, out.m, out.c, out.r, in, none, out.A, out.B);
    else
      split(c, path.node, nothing, nothing, nothing, in, none, out.A, out.B);
  }
  for (std::size_t k = 0; k < s.loaded.size(); ++k) {
    const PathNode& leaf = s.paths[s.path_end[k]];
    const Inputs& in = leaf.in_b ? w.answers[leaf.parent].B : w.answers[leaf.parent].A;
    w.acceleration[k] = Eigen::Map<const Vec6>(in.a);
  }
}

double row_times(const TieWorkspace::Row& row, const std::vector<Vec6>& a) {
  return (row.a >= 0 ? row.on_a.dot(a[row.a]) : 0.0) + (row.b >= 0 ? row.on_b.dot(a[row.b]) : 0.0);
}

// Cholesky with the largest diagonal first, of the matrix scaled to a unit diagonal; stops where only rows
// are left that hang on those before. A row along which nothing can move (out of the plane of a planar loop)
// has a diagonal of rounding errors: it is told by those of the other rows, before it is scaled to one.
void solve_rows(TieWorkspace& w) {
  const int n = static_cast<int>(w.rows.size());
  std::vector<double>& A = w.matrix;
  const auto mobility = [&](int i) { return A[static_cast<std::size_t>(i) * n + i] * w.rows[i].unit; };
  double most = 0;
  for (int i = 0; i < n; ++i) most = std::max(most, mobility(i));
  for (int i = 0; i < n; ++i) {
    const double d = A[static_cast<std::size_t>(i) * n + i];
    const bool stands = w.rows[i].unit > 0 && !(mobility(i) > hangs_on_others * most);
    w.scale[i] = d > 0 && !stands ? 1 / std::sqrt(d) : 0;
    w.order[i] = i;
    w.x[i] = 0;
    w.right[i] *= w.scale[i];
  }
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) A[static_cast<std::size_t>(j) * n + i] *= w.scale[i] * w.scale[j];
  const auto at = [&](int i, int j) -> double& { return A[static_cast<std::size_t>(j) * n + i]; };
  int rank = 0;
  for (; rank < n; ++rank) {
    int best = rank;
    for (int k = rank + 1; k < n; ++k)
      if (at(w.order[k], w.order[k]) > at(w.order[best], w.order[best])) best = k;
    std::swap(w.order[rank], w.order[best]);
    const int p = w.order[rank];
    if (!(at(p, p) > hangs_on_others)) break;
    const double inverse = 1 / std::sqrt(at(p, p));
    for (int k = rank; k < n; ++k) at(w.order[k], p) *= inverse;
    for (int k = rank + 1; k < n; ++k) {
      const int j = w.order[k];
      for (int l = rank + 1; l < n; ++l) at(w.order[l], j) -= at(w.order[l], p) * at(j, p);
    }
  }
  w.redundant = n - rank;
  for (int k = 0; k < rank; ++k) {
    const int p = w.order[k];
    w.x[p] = w.right[p] / at(p, p);
    for (int l = k + 1; l < rank; ++l) w.right[w.order[l]] -= at(w.order[l], p) * w.x[p];
  }
  for (int k = rank - 1; k >= 0; --k) {
    const int p = w.order[k];
    for (int l = k + 1; l < rank; ++l) w.x[p] -= at(w.order[l], p) * w.x[w.order[l]];
    w.x[p] /= at(p, p);
  }
  for (int i = 0; i < n; ++i) w.x[i] *= w.scale[i];
}

void update_paths(const SystemData& s, const JointInput& in, WorkspaceData& w) {
  for (std::size_t k = s.paths.size(); k-- > 0;) w.coefficients.update_bias(s.paths[k].node, in, true);
}

}  // namespace

TieWorkspace::TieWorkspace(const SystemData& s)
    : answers(s.paths.size()), base(s.loaded.size()), acceleration(s.loaded.size()) {
  std::size_t most = 3 * s.tied_springs.size();
  const auto climb = [&](int a, int b) {
    std::vector<int> nodes;
    for (const int body : {a, b})
      for (int k = body < 0 ? -1 : s.path_end[body]; k >= 0; k = s.paths[k].parent) nodes.push_back(k);
    std::sort(nodes.rbegin(), nodes.rend());  // children stand after their parents
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    way.push_back(std::move(nodes));
  };
  for (const TiedSpring& spring : s.tied_springs) climb(spring.a, spring.b);
  for (const TiedLoop& loop : s.tied_loops) {
    climb(loop.a, loop.b);
    most += 6;
  }
  rows.reserve(most);
  matrix.resize(most * most);
  for (auto* list : {&right, &x, &scale}) list->resize(most);
  order.resize(most);
}

elastic::SpringState spring_state(const TiedSpring& spring, const std::vector<multibody::LinkMotion>& links) {
  const auto pose = [&](int link) { return link < 0 ? Pose::identity() : links[link].X_WM; };
  return elastic::spring_state(spring.law, pose(spring.link_a), spring.p_a, Vec6::Zero(), pose(spring.link_b),
                               spring.p_b, Vec6::Zero());
}

double tie_energy(const SystemData& s, const std::vector<multibody::LinkMotion>& links) {
  double sum = 0;
  for (std::size_t k = 0; k < s.model.springs().size(); ++k)
    sum += spring_state(s.tied_springs[k], links).energy;
  for (const TiedLoop& loop : s.tied_loops) {
    if (!loop.has_law) continue;
    const Pose X_WA = loop.link_a < 0 ? Pose::identity() : links[loop.link_a].X_WM;
    const Pose X_WB = loop.link_b < 0 ? Pose::identity() : links[loop.link_b].X_WM;
    double q[7];
    elastic::JointConfiguration c;
    multibody::closing_coordinates({loop.kind}, (X_WA * loop.X_AF).inverse() * (X_WB * loop.X_BM), q, c.q);
    sum += elastic::joint_energy(loop.kind, loop.law, c);
  }
  return sum;
}

void solve_ties(const SystemData& s, const State& state, WorkspaceData& w, double t, double h) {
  TieWorkspace& ties = *w.ties;
  const Placed placed{s, w};
  ties.rows.clear();
  ties.gap = 0;
  for (std::size_t k = 0; k < s.loaded.size(); ++k)
    ties.base[k] = load_on(s, static_cast<int>(k), placed(static_cast<int>(k)), t);
  int tie = 0;
  for (const TiedSpring& spring : s.tied_springs) {
    if (tie == s.hand)
      add_hand(spring, tie, w.hand_target, placed, h, ties);
    else if (spring.acts)
      add_spring(spring, tie, placed, h, ties);
    ++tie;
  }
  for (const TiedLoop& loop : s.tied_loops) add_loop(loop, tie++, placed, h, s.size, ties);

  const JointInput in = joint_input(s, state, w, t);
  for (std::size_t k = 0; k < s.loaded.size(); ++k) w.coefficients.set_wrench(s.loaded[k], ties.base[k]);
  update_paths(s, in, w);
  const int n = static_cast<int>(ties.rows.size());
  for (TieWorkspace::Answer& a : ties.answers) a.row = -1;
  answer_downwards(s, w.coefficients, -1, ties);
  for (std::size_t k = 0; k < s.loaded.size(); ++k)  // the world accelerates with −g
    ties.acceleration[k].tail<3>() += placed(static_cast<int>(k)).R.transpose() * in.gravity;
  for (int i = 0; i < n; ++i) ties.right[i] = row_times(ties.rows[i], ties.acceleration) + ties.rows[i].right;
  for (int j = 0; j < n; ++j) {
    answer_upwards(s, w.coefficients, in.q, j, ties);
    answer_downwards(s, w.coefficients, j, ties);
    for (int i = 0; i < n; ++i)
      ties.matrix[static_cast<std::size_t>(j) * n + i] =
          row_times(ties.rows[i], ties.acceleration) + (i == j ? ties.rows[i].own : 0.0);
  }
  solve_rows(ties);
  w.load_wrench = ties.base;
  for (int i = 0; i < n; ++i) {
    const TieWorkspace::Row& row = ties.rows[i];
    if (row.a >= 0) w.load_wrench[row.a] -= row.on_a * ties.x[i];
    if (row.b >= 0) w.load_wrench[row.b] -= row.on_b * ties.x[i];
  }
  for (std::size_t k = 0; k < s.loaded.size(); ++k) w.coefficients.set_wrench(s.loaded[k], w.load_wrench[k]);
  update_paths(s, in, w);
}

}  // namespace limber::adaptive
