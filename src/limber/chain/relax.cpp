// Slow motion to a stable rest. In a fluid so thick that inertia does not matter a structure goes down its
// potential: each step of implicit Euler minimises V(x) + ½ c ‖x − x_before‖², c the thickness over the step.
// As the norm serves the elastic energy of the turns since the step began, joint by joint: what the fluid
// adds is one more spring at every joint, unloaded where the step began. c falls as the motion dies out; a
// step in whose tangent a direction is unstable is too long. What comes to rest so is where a structure that
// snaps goes that is well damped.
#include <algorithm>
#include <cmath>

#include "limber/chain/path.h"
#include "limber/chain/statics.h"
#include "limber/math/so3.h"
#include "limber/math/stop.h"

namespace limber::chain {
namespace {

constexpr int most_slow_steps = 2000;
constexpr double first_thickness = 1, most_thickness = 1e9;

double largest_turn_between(const Links& links, const Shape& a, const Shape& b) {
  double most = 0;
  for (int k = 0; k < links.count(); ++k)
    most = std::max(most, links.hinge[k] ? std::abs(a.theta[k].z() - b.theta[k].z())
                                         : 2 * math::multiply(a.q[k].conjugate(), b.q[k]).vec().norm());
  return most;
}

}  // namespace

void Solver::resist(const Rest& rest, bool tangent, Balance& b) const {
  const Links& l = s_->links;
  for (int k = 0; k < l.count(); ++k) {
    if (!l.active[k]) continue;
    const bool hinge = l.hinge[k] != 0;
    const Vec3 turned = hinge ? Vec3(0, 0, rest.shape.theta[k].z() - slow_.theta[k].z())
                              : math::quat_log(math::multiply(slow_.q[k].conjugate(), rest.shape.q[k]));
    const JointMoment j = joint_moment(thick_ * l.stiffness[k], turned, hinge, tangent);
    const Vec3 moment = b.R[k] * j.moment;
    b.r[k] += hinge ? Vec3(b.in.axis[k] * b.in.axis[k].dot(moment)) : moment;
    if (tangent) b.in.E[k] += b.R[k] * j.K * b.R[k].transpose();
  }
}

StaticReport Solver::relax(Rest& rest, bool push, const StaticOptions& options) {
  StaticReport report;
  iterations_ = 0;
  StaticOptions own = options;
  own.max_iterations = 20 * options.max_iterations;
  const auto settled = [&](const Rest& at) {
    evaluate(at, true);
    report.residual = residual_, report.gap = gap_size_;
    report.symmetric = tangent_.symmetric();
    report.negative = report.symmetric ? tangent_.negative() : 0;
    report.redundant_rows = tangent_.redundant();
    report.report.residual = residual_, report.report.loop_gap = gap_size_;
    report.report.iterations = iterations_;
    report.report.total_iterations = iterations_;
    report.report.redundant_rows = report.redundant_rows;
    return report.negative == 0;
  };
  Rest at = rest;
  if (push) {
    constexpr double little = 1e-3;  // [rad] in all
    advance(s_->links, at.shape, weakest_direction(*this, at), little);
  }
  double c = first_thickness;
  for (int step = 0; step < most_slow_steps; ++step) {
    stop_if_requested();
    slow_ = at.shape;
    thick_ = c;
    Rest next = at;
    const bool ok = newton(next, own, report, 0);
    thick_ = 0;
    if (!ok) {
      c *= 4;
      if (c > most_thickness || iterations_ >= own.max_iterations) break;
      continue;
    }
    const double turned = largest_turn_between(s_->links, at.shape, next.shape);
    at = std::move(next);
    evaluate(at, true);
    if (!tangent_.symmetric() || tangent_.negative() == 0) {
      Rest end = at;
      // Not farther than the fluid would let it go in a few more steps.
      if (newton(end, own, report, tangent_.symmetric() ? 0 : -1) &&
          largest_turn_between(s_->links, at.shape, end.shape) < 10 * turned + 1e-3 && settled(end)) {
        rest = std::move(end);
        return report;
      }
    }
    c = std::max(0.5 * c, 1e-12);
  }
  settled(rest);
  report.report.status = result::Status::not_converged;
  report.report.message = "no stable rest was found by moving on slowly";
  return report;
}

}  // namespace limber::chain
