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

// Newton for blended force = load, along the blended directions U. The slope has the change of the weights in
// it, so it is taken by differences.
class Search {
 public:
  Search(const Mechanism& m, const std::vector<Vec6>& wrenches)
      : m_(m), wrenches_(wrenches), E_(static_cast<int>(m.ends.size())), blend_(m) {}

  bool run(Ends& ends) {
    VecX b;  // left over along what can move
    double size = measure(ends, b);
    for (int k = 0; k < 200; ++k) {
      blend_at(m_, ends, blend_);
      blend_matrices(m_, blend_, matrices_);
      const MatX U = matrices_.U, C = matrices_.C_U;
      VecX step = newton_step(ends, U, b);
      if (!step.allFinite() || b.dot(step) <= 0) step = C * b;
      double length = length_of(U * step);
      if (length < 1e-12) return true;
      if (length > 0.1) step *= 0.1 / length, length = 0.1;
      bool better = false;
      for (double share = 1; share > 1e-4 && !better; share /= 2) {
        Ends trial = moved(ends, share * (U * step));
        VecX left;
        const double now = measure(trial, left);
        if (now < size || share * length < 1e-10) {
          ends = std::move(trial), size = now, b = left;
          better = true;
        }
      }
      if (better) continue;
      if (length < 1e-9) return true;
      // Weights bend the force between points: roll on as a heavily damped mechanism would.
      step = 0.3 * (C * b);
      if (const double roll = length_of(U * step); roll > 0.03) step *= 0.03 / roll;
      ends = moved(ends, U * step);
      size = measure(ends, b);
    }
    return false;
  }

 private:
  // What is left over along U where the ends are, and its size: twice the work it would do.
  double measure(const Ends& ends, VecX& along) {
    blend_at(m_, ends, blend_);
    blend_matrices(m_, blend_, matrices_);
    VecX left = -blend_.force;
    for (int e = 0; e < E_; ++e) {
      const Mat3 Rt = ends.X[e].R.transpose();
      left.segment<3>(6 * e) += Rt * wrenches_[e].head<3>();
      left.segment<3>(6 * e + 3) += Rt * wrenches_[e].tail<3>();
    }
    along = matrices_.U.transpose() * left;
    return along.dot(matrices_.C_U * along);
  }

  // U turns with the ends too: what it does not let through pushes along it where it turns.
  VecX newton_step(const Ends& ends, const MatX& U, const VecX& b) {
    const int r = static_cast<int>(U.cols());
    MatX slope(r, r);
    VecX ahead, behind;
    for (int j = 0; j < r; ++j) {
      constexpr double h = 1e-6;
      measure(moved(ends, h * U.col(j)), ahead);
      measure(moved(ends, -h * U.col(j)), behind);
      slope.col(j) = (behind - ahead) / (2 * h);
    }
    return math::solve_square(slope, b);
  }

  double length_of(const VecX& step) const {
    double out = 0;
    for (int e = 0; e < E_; ++e)
      out = std::max({out, step.segment<3>(6 * e).norm(), step.segment<3>(6 * e + 3).norm() / m_.radius});
    return out;
  }

  // Along the step, and back to where the points allow an end to be.
  Ends moved(Ends ends, const VecX& step) {
    for (int e = 0; e < E_; ++e) ends.X[e] = ends.X[e] * math::se3_exp(step.segment<6>(6 * e));
    ends.z += step.tail(m_.modes);
    blend_at(m_, ends, blend_);
    return_ends(m_, blend_, matrices_, ends);
    return ends;
  }

  const Mechanism& m_;
  const std::vector<Vec6>& wrenches_;
  int E_;
  Blend blend_;
  BlendedMatrices matrices_;
};

}  // namespace

ReducedRest rest_under(const Mechanism& m, const std::vector<Vec6>& wrenches, const VecX& input) {
  const int E = static_cast<int>(m.ends.size());
  ReducedRest out;
  out.X.resize(m.bodies.size());
  out.ends.z = VecX::Zero(m.modes);
  out.ends.input = input;
  // From the point whose own load is nearest.
  const Point* start = &m.points[0];
  double least = std::numeric_limits<double>::infinity();
  for (const Point& p : m.points) {
    VecX rest = p.wrench;
    for (int e = 0; e < E; ++e) {
      const Mat3 Rt = p.X[m.ends[e]].R.transpose();
      rest.segment<3>(6 * e) -= Rt * wrenches[e].head<3>();
      rest.segment<3>(6 * e + 3) -= Rt * wrenches[e].tail<3>();
    }
    const double away = rest.dot(p.C.topLeftCorner(6 * E, 6 * E) * rest) + (input - p.input).squaredNorm();
    if (away < least) least = away, start = &p;
  }
  for (const int end : m.ends) out.ends.X.push_back(start->X[end]);
  out.ok = Search(m, wrenches).run(out.ends);
  Blend blend(m);
  blend_at(m, out.ends, blend);
  link_poses(m, blend, out.X);
  for (int e = 0; e < E; ++e) {
    const Vec6 xi = math::se3_log(m.points[0].X[m.ends[e]].inverse() * out.ends.X[e]);
    out.distance = std::max(out.distance, std::sqrt(xi.head<3>().squaredNorm() / (pi * pi) +
                                                    xi.tail<3>().squaredNorm() / (m.radius * m.radius)));
  }
  return out;
}

}  // namespace limber::rom
