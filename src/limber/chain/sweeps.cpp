#include "limber/chain/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/math/so3.h"
#include "limber/math/stop.h"

namespace limber::chain {
namespace {

constexpr double c_theta = 1.5164;  // parametric angle coefficient, eq. 3.3

bool is_published_1r(const Element& e) { return e.recipe == Recipe::published_1r; }

Mat3 axis_turn(const Vec3& axis, double angle) { return math::so3_exp(angle * axis); }

// From exp(old) to exp(now) on the base frame U, in the world. A product of frames would do the same but hand
// their rounding on to all that follows, doubled with every element; exp always is a rotation.
Mat3 turn_between(const Mat3& U, const Vec3& old, const Vec3& now) {
  return math::so3_exp(U * math::so3_log(math::so3_exp(now) * math::so3_exp(old).transpose()));
}

}  // namespace

const char* to_string(SweepAlgorithm a) {
  constexpr const char* names[] = {"quadratic", "linear_16", "linear_12"};
  return names[static_cast<int>(a)];
}

const char* to_string(JointUpdate u) { return u == JointUpdate::differences ? "differences" : "coordinates"; }

Sweeper::Sweeper(const std::vector<Element>& elements) {
  const int n = static_cast<int>(elements.size());
  std::vector<std::vector<int>> children(elements.size());
  std::vector<int> stack;
  for (int i = n - 1; i >= 0; --i)
    if (elements[i].parent >= 0)
      children[elements[i].parent].push_back(i);
    else
      stack.push_back(i);
  place_.assign(elements.size(), -1);
  while (!stack.empty()) {  // depth first: descendants lie together
    const int i = stack.back();
    stack.pop_back();
    place_[i] = static_cast<int>(elements_.size());
    elements_.push_back(elements[i]);
    if (elements[i].parent >= 0) elements_.back().parent = place_[elements[i].parent];
    stack.insert(stack.end(), children[i].begin(), children[i].end());
  }
  end_.resize(elements.size());
  for (int i = n - 1; i >= 0; --i) {
    end_[i] = std::max(end_[i], i + 1);
    const int p = elements_[i].parent;
    if (p >= 0) end_[p] = std::max(end_[p], end_[i]);
  }

  pieces_.resize(elements.size());
  turns_.resize(elements.size());
  for (int i = 0; i < n; ++i) {
    const Element& e = elements_[i];
    Pieces& out = pieces_[i];
    const int p = e.parent;
    const Pose base = p < 0 ? e.X : tip_pose(p) * e.X;
    const auto recipe = elastic::recipe_joints(e.recipe);
    out.joints = static_cast<int>(recipe.size());
    out.P[0] = base.p;
    for (int m = 0; m < out.joints; ++m) {
      out.P[m + 1] = base * Vec3(recipe[m].x * e.length, 0, 0);
      out.theta[m].setZero();
      out.k[m] = {e.stiffness.x() / (e.length * recipe[m].twist_compliance),
                  e.stiffness.y() / (e.length * recipe[m].bend_compliance),
                  e.stiffness.z() / (e.length * recipe[m].bend_compliance)};
      // eq. 3.9: the joint is c_θ times as stiff as the element, the tip turns c_θ times as far.
      if (is_published_1r(e))
        out.k[m] = {e.stiffness.x() / e.length, c_theta * e.stiffness.y() / e.length,
                    c_theta * e.stiffness.z() / e.length};
    }
    out.P[out.joints + 1] = base * Vec3(e.length, 0, 0);
    out.U.fill(base.R);
  }
}

Pose Sweeper::tip_pose(int i) const {
  const Pieces& e = pieces_[i];
  return {e.U[is_published_1r(elements_[i]) ? 2 : e.joints], e.P[e.joints + 1]};
}

Vec3 Sweeper::tip(int element) const { return tip_pose(place_[element]).p; }
Mat3 Sweeper::tip_frame(int element) const { return tip_pose(place_[element]).R; }
Vec3 Sweeper::joint_angle(int element, int joint) const { return pieces_[place_[element]].theta[joint]; }
int Sweeper::joint_count(int element) const { return pieces_[place_[element]].joints; }

void Sweeper::carry(Pieces& e, const Turn& turn) const {
  for (int m = 0; m < e.joints + 2; ++m) e.P[m] = turn.R * e.P[m] + turn.t;
  for (int m = 0; m < e.joints + 2; ++m) e.U[m] = turn.R * e.U[m];
}

// Algorithm 3.2. The moment is that at the tip: elements are taken to have no length.
Sweeper::Turn Sweeper::bend_1r(Pieces& e, const Vec3& M, JointUpdate update, bool planar) const {
  Turn all;
  if (update == JointUpdate::coordinates) {
    const Vec3 m = e.U[1].transpose() * M;
    Vec3 theta = (math::so3_jacobian(e.theta[0]).transpose() * m).cwiseQuotient(e.k[0]);
    if (planar) theta.x() = theta.y() = 0;
    const auto tip_angle = [](const Vec3& t) { return Vec3(t.x(), c_theta * t.y(), c_theta * t.z()); };
    const Mat3 link = turn_between(e.U[0], e.theta[0], theta);
    all.R = turn_between(e.U[0], tip_angle(e.theta[0]), tip_angle(theta));
    const Vec3 old_P = e.P[2];
    e.theta[0] = theta;
    e.U[1] = link * e.U[1];
    e.P[2] = e.P[1] + link * (e.P[2] - e.P[1]);
    e.U[2] = all.R * e.U[2];
    all.t = e.P[2] - all.R * old_P;
    return all;
  }
  for (int u = planar ? 2 : 0; u < 3; ++u) {
    const Vec3 axis = e.U[1].col(u);
    const double angle = M.dot(axis) / e.k[0][u], change = angle - e.theta[0][u];
    e.theta[0][u] = angle;
    const Turn link = about(axis_turn(axis, change), e.P[1]);
    Turn tip;
    if (u != 0) tip = about(axis_turn(axis, (c_theta - 1) * change), e.P[2]);
    const Turn both = then(tip, link);
    e.P[2] = link.R * e.P[2] + link.t;
    e.U[1] = link.R * e.U[1];
    e.U[2] = both.R * e.U[2];
    all = then(all, both);
  }
  return all;
}

// Algorithm 4.2, for one joint or three.
Sweeper::Turn Sweeper::bend(Pieces& e, const Vec3& F, const Vec3& M, JointUpdate update, bool planar) const {
  Turn all;
  const int tip = e.joints + 1;
  const auto turn_rest = [&](int m, const Turn& turn) {
    for (int s = m; s <= e.joints; ++s) {
      e.P[s + 1] = turn.R * e.P[s + 1] + turn.t;
      e.U[s] = turn.R * e.U[s];
    }
    all = then(all, turn);
  };
  for (int m = 1; m <= e.joints; ++m) {
    if (update == JointUpdate::coordinates) {
      const Vec3 moment = M + (e.P[tip] - e.P[m]).cross(F);
      const Vec3 own = e.U[m].transpose() * moment;
      Vec3 theta = (math::so3_jacobian(e.theta[m - 1]).transpose() * own).cwiseQuotient(e.k[m - 1]);
      if (planar) theta.x() = theta.y() = 0;
      turn_rest(m, about(turn_between(e.U[m - 1], e.theta[m - 1], theta), e.P[m]));
      e.theta[m - 1] = theta;
      continue;
    }
    for (int u = planar ? 2 : 0; u < 3; ++u) {
      const Vec3 moment = M + (e.P[tip] - e.P[m]).cross(F), axis = e.U[m].col(u);
      const double angle = moment.dot(axis) / e.k[m - 1][u], change = angle - e.theta[m - 1][u];
      e.theta[m - 1][u] = angle;
      turn_rest(m, about(axis_turn(axis, change), e.P[m]));
    }
  }
  return all;
}

Sweeper::Turn Sweeper::bend(int i, const Vec3& F, const Vec3& M, JointUpdate update) {
  return is_published_1r(elements_[i]) ? bend_1r(pieces_[i], M, update, elements_[i].planar)
                                       : bend(pieces_[i], F, M, update, elements_[i].planar);
}

// Algorithm 3.1.
void Sweeper::sweep_quadratic(JointUpdate update, double factor) {
  const int n = static_cast<int>(elements_.size());
  for (int i = 0; i < n; ++i) {
    const Vec3 at = pieces_[i].P[pieces_[i].joints + 1];
    Vec3 F = Vec3::Zero(), M = Vec3::Zero();
    for (int j = i; j < end_[i]; ++j) {
      F += elements_[j].F;
      M += elements_[j].M + (pieces_[j].P[pieces_[j].joints + 1] - at).cross(elements_[j].F);
    }
    const Turn turn = bend(i, factor * F, factor * M, update);
    for (int j = i + 1; j < end_[i]; ++j) carry(pieces_[j], turn);
  }
}

// Algorithm 4.1, or appendix A: what the turns so far do to Σ P × F is known from sums taken before them.
void Sweeper::sweep_linear(bool basis_16, JointUpdate update, double factor) {
  const int n = static_cast<int>(elements_.size());
  const auto size = static_cast<std::size_t>(n);
  F_.assign(size, Vec3::Zero());
  M_.assign(size, Vec3::Zero());
  if (basis_16)
    sigma_.resize(size);
  else
    S_.resize(size);
  for (int i = 0; i < n; ++i) {
    const Vec3& F = elements_[i].F;
    const Vec3 P = pieces_[i].P[pieces_[i].joints + 1];
    const Eigen::Vector4d P4(P.x(), P.y(), P.z(), 1);
    F_[i] = F, M_[i] = elements_[i].M;
    if (!basis_16) {
      S_[i] = P4 * F.transpose();
      continue;
    }
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < 4; ++b)  // [F]ᵀ E_ab P: row a of E P is P_b; its last row turns nothing
        sigma_[i][4 * a + b] = a < 3 ? Vec3((P4[b] * Vec3::Unit(a)).cross(F)) : Vec3::Zero();
  }
  for (int i = n - 1; i >= 0; --i) {
    const int p = elements_[i].parent;
    if (p < 0) continue;
    F_[p] += F_[i], M_[p] += M_[i];
    if (basis_16)
      for (int s = 0; s < 16; ++s) sigma_[p][s] += sigma_[i][s];
    else
      S_[p] += S_[i];
  }
  for (int i = 0; i < n; ++i) {
    const int p = elements_[i].parent;
    const Turn so_far = p < 0 ? Turn{} : turns_[p];
    carry(pieces_[i], so_far);
    Vec3 a = Vec3::Zero();
    if (basis_16) {
      for (int row = 0; row < 3; ++row) {
        for (int col = 0; col < 3; ++col) a += so_far.R(row, col) * sigma_[i][4 * row + col];
        a += so_far.t[row] * sigma_[i][4 * row + 3];
      }
    } else {
      const Mat3 Q = so_far.R * S_[i].topRows<3>() + so_far.t * S_[i].row(3);
      a = {Q(1, 2) - Q(2, 1), Q(2, 0) - Q(0, 2), Q(0, 1) - Q(1, 0)};
    }
    const Vec3 at = pieces_[i].P[pieces_[i].joints + 1];
    const Vec3 moment = a - at.cross(F_[i]) + M_[i];
    turns_[i] = then(so_far, bend(i, factor * F_[i], factor * moment, update));
  }
}

void Sweeper::sweep(const SweepOptions& o, double factor) {
  if (o.algorithm == SweepAlgorithm::quadratic)
    sweep_quadratic(o.update, factor);
  else
    sweep_linear(o.algorithm == SweepAlgorithm::linear_16, o.update, factor);
}

double Sweeper::residual(double factor) {
  const int n = static_cast<int>(elements_.size());
  F_.assign(elements_.size(), Vec3::Zero());
  M_.assign(elements_.size(), Vec3::Zero());  // about the world's origin
  double largest = 0, worst = 0;
  worst_ = -1;
  for (int i = n - 1; i >= 0; --i) {
    const Pieces& e = pieces_[i];
    const Vec3 at = e.P[e.joints + 1];
    F_[i] += factor * elements_[i].F;
    M_[i] += factor * (elements_[i].M + at.cross(elements_[i].F));
    const int p = elements_[i].parent;
    if (p >= 0) F_[p] += F_[i], M_[p] += M_[i];
    for (int m = 1; m <= e.joints; ++m) {
      const Vec3 about_point = is_published_1r(elements_[i]) ? at : e.P[m];
      const Vec3 own = e.U[m].transpose() * (M_[i] - about_point.cross(F_[i]));
      Vec3 needed = e.k[m - 1].cwiseProduct(e.theta[m - 1]);
      // Either rule's own balance: per-axis angles by the moment about the axes as they are, or the gradient
      // of the potential.
      Vec3 rest = needed - own;
      const Vec3 gradient = math::so3_jacobian_inverse(e.theta[m - 1]).transpose() * needed - own;
      if (gradient.norm() < rest.norm()) rest = gradient;
      if (elements_[i].planar) rest.x() = rest.y() = 0;
      largest = std::max({largest, needed.norm(), own.norm()});
      if (!(rest.norm() <= worst)) worst = rest.norm(), worst_ = i;
    }
  }
  return largest > 0 ? worst / largest : 0;
}

SweepReport Sweeper::solve(const SweepOptions& o) {
  SweepReport r;
  double best = 1e300;
  for (int increment = 1; increment <= o.load_increments; ++increment) {
    const double factor = static_cast<double>(increment) / o.load_increments;
    const bool last = increment == o.load_increments;
    r.converged = false;
    best = 1e300;
    for (int i = 0; i < o.end_iterations && !r.converged; ++i) {
      stop_if_requested();
      sweep(o, factor);
      ++r.sweeps;
      r.residual = residual(factor);
      r.worst = worst_;
      best = std::min(best, r.residual);
      if (!std::isfinite(r.residual)) {
        r.message =
            "the sweeps diverge: the numbers are lost; the load is more than the springs can bear a "
            "sweep (as when tension dominates)";
        return r;
      }
      r.converged = r.residual <= (last ? o.tolerance : 1e-3);
    }
    if (!r.converged) {
      r.message = fmt::format(
          "the sweeps do not settle: {:.1e} of the moments are left over after {} sweeps at "
          "{:.3g} of the load (least so far {:.1e})",
          r.residual, r.sweeps, factor, best);
      return r;
    }
  }
  return r;
}

}  // namespace limber::chain
