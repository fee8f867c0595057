#include "limber/rom/statics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/math/dense.h"

namespace limber::rom {

double joint_gap(const Mechanism& m, const std::vector<Pose>& X) {
  double sum = 0;
  for (const JointSite& site : m.sites)
    sum += ((site.a < 0 ? site.on_a : Vec3(X[site.a] * site.on_a)) -
            (site.b < 0 ? site.on_b : Vec3(X[site.b] * site.on_b)))
               .norm();
  return sum / m.radius;
}

double end_error(const Mechanism& m, const std::vector<Pose>& a, const std::vector<Pose>& b) {
  double worst = 0;
  for (const int end : m.ends) {
    const double turn = math::so3_log(a[end].R.transpose() * b[end].R).norm() / pi;
    const double shift = (a[end].p - b[end].p).norm() / m.radius;
    worst = std::max(worst, std::sqrt(turn * turn + shift * shift));
  }
  return worst;
}

namespace {

// Newton for the energy's gradient = what the loads do along the coordinates, uphill of nothing: where a step
// would not lead down, along the gradient with the curvature's signs taken off.
class Search {
 public:
  Search(const Mechanism& m, const std::vector<Vec6>& wrenches) : m_(m), wrenches_(wrenches), blend_(m) {}

  bool run(VecX& at) {
    const int n = m_.coordinates();
    VecX left = measure(at);
    MatX C = softness(at);
    double size = left.dot(C * left);
    for (int k = 0; k < 300; ++k) {
      VecX step = math::solve_square(slope(at), left);
      if (!step.allFinite() || left.dot(step) <= 0) step = C * left;
      double length = step.norm();
      if (length < 1e-12) return true;
      if (length > 0.1) step *= 0.1 / length, length = 0.1;
      bool better = false;
      for (double share = 1; share > 1e-4 && !better; share /= 2) {
        VecX trial = at;
        trial.head(n) += share * step;
        const VecX then = measure(trial);
        const double now = then.dot(C * then);
        if (!(now < size || share * length < 1e-11)) continue;
        at = trial, left = then, size = now;
        better = true;
      }
      C = softness(at);
      if (!better) {  // weights bend the force between points: roll on as a heavily damped mechanism would
        if (length < 1e-9) return true;
        VecX roll = 0.3 * (C * left);
        if (roll.norm() > 0.03) roll *= 0.03 / roll.norm();
        at.head(n) += roll;
        left = measure(at);
      }
      size = left.dot(C * left);
    }
    return false;
  }

 private:
  // What is left over where the coordinates are.
  VecX measure(const VecX& at) {
    blend_.at = at;
    blend_at(m_, blend_);
    VecX left = -blend_.force;
    for (std::size_t e = 0; e < m_.ends.size(); ++e) {
      const Mat3 Rt = link_pose(m_, blend_, m_.ends[e]).R.transpose();
      Vec6 own;
      own << Rt * wrenches_[e].head<3>(), Rt * wrenches_[e].tail<3>();
      left += link_map(m_, blend_, m_.ends[e]).leftCols(m_.coordinates()).transpose() * own;
    }
    return left;
  }
  // −∂ measure/∂a: the loads turn against the links, so by differences.
  MatX slope(const VecX& at) {
    const int n = m_.coordinates();
    constexpr double h = 1e-6;
    MatX out(n, n);
    for (int c = 0; c < n; ++c) {
      VecX ahead = at, behind = at;
      ahead[c] += h, behind[c] -= h;
      out.col(c) = (measure(behind) - measure(ahead)) / (2 * h);
    }
    return out;
  }
  // Positive definite: the inverse of the energy's curvature without its signs.
  MatX softness(const VecX& at) {
    blend_.at = at;
    blend_at(m_, blend_, true);
    const math::SymmetricEigen e = math::symmetric_eigen(blend_.curve);
    const double largest = e.values.cwiseAbs().maxCoeff();
    return e.vectors * e.values.cwiseAbs().cwiseMax(1e-9 * largest).cwiseInverse().asDiagonal() *
           e.vectors.transpose();
  }

  const Mechanism& m_;
  const std::vector<Vec6>& wrenches_;
  Blend blend_;
};

// The point whose own load is nearest.
const Point& nearest_point(const Mechanism& m, const std::vector<Vec6>& wrenches, const VecX& input) {
  const int E = static_cast<int>(m.ends.size());
  const Point* out = &m.points[0];
  double least = std::numeric_limits<double>::infinity();
  for (const Point& p : m.points) {
    VecX rest = p.wrench;
    for (int e = 0; e < E; ++e) {
      const Mat3 Rt = p.X[m.ends[e]].R.transpose();
      rest.segment<3>(6 * e) -= Rt * wrenches[e].head<3>();
      rest.segment<3>(6 * e + 3) -= Rt * wrenches[e].tail<3>();
    }
    const double away = rest.dot(p.C * rest) + (input - p.input).squaredNorm();
    if (away < least) least = away, out = &p;
  }
  return *out;
}

}  // namespace

ReducedRest rest_under(const Mechanism& m, const std::vector<Vec6>& wrenches, const VecX& input) {
  ReducedRest out;
  VecX at(m.columns());
  at << nearest_point(m, wrenches, input).at, input;
  out.ok = Search(m, wrenches).run(at);
  Blend blend(m);
  blend.at = at;
  blend_at(m, blend);
  out.a = at.head(m.coordinates());
  out.X.resize(m.bodies.size());
  link_poses(m, blend, out.X);
  for (const int end : m.ends) {
    const Vec6 xi = math::se3_log(m.points[0].X[end].inverse() * out.X[end]);
    out.distance = std::max(out.distance, std::sqrt(xi.head<3>().squaredNorm() / (pi * pi) +
                                                    xi.tail<3>().squaredNorm() / (m.radius * m.radius)));
  }
  return out;
}

}  // namespace limber::rom
