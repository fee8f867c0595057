#include "limber/sim/closing.h"

#include <fmt/format.h>

#include <algorithm>

#include "limber/elastic/beam_links.h"
#include "limber/math/enclosing_ball.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::sim {
namespace {

constexpr double noted_gap = 0.01;  // of the structure's size
constexpr double noted_turn = 1.0;  // [deg]

struct Apart {
  double gap = 0, turn = 0;  // [m], [deg]: along and about what the joint holds
};

double in_degrees(double angle) { return angle * 180 / pi; }
double angle_of(const Vec3& a, const Vec3& b) { return in_degrees(math::atan2(a.cross(b).norm(), a.dot(b))); }

// F on the one end, M on the other; z is a hinge's axis, a slide's direction and a plane's normal.
Apart apart(const Loop& loop, const Pose& F, const Pose& M) {
  Vec3 d = F.R.transpose() * (M.p - F.p);
  const Mat3 turn = F.R.transpose() * M.R;
  switch (loop.kind) {
    case JointKind::fixed:
      return {d.norm(), in_degrees(math::so3_log(turn).norm())};
    case JointKind::prismatic:
      return {d.head<2>().norm(), in_degrees(math::so3_log(turn).norm())};
    case JointKind::planar:
      return {std::abs(d.z()), angle_of(F.R.col(2), M.R.col(2))};
    case JointKind::revolute:
      return {d.norm(), angle_of(F.R.col(2), M.R.col(2))};
    case JointKind::universal:
      return {d.norm(), std::abs(90 - angle_of(F.R.col(0), M.R.col(1)))};
    case JointKind::spherical:
      return {d.norm(), 0};
    case JointKind::cylindrical:
    case JointKind::screw:
      return {d.head<2>().norm(), angle_of(F.R.col(2), M.R.col(2))};
    case JointKind::point_on_line:
      return {d.head<2>().norm(), 0};
    case JointKind::point_on_plane:
      return {std::abs(d.z()), 0};
    case JointKind::constant_velocity:
      return {d.norm(), in_degrees(std::abs(math::so3_log(turn).z()))};
    case JointKind::distance:
      return {std::abs(d.norm() - loop.length), 0};
    case JointKind::free:
      break;
  }
  return {};
}

double span_of(const std::vector<Pose>& bodies, const std::vector<Vec3>& ends) {
  std::vector<Vec3> points = ends;
  for (const Pose& X : bodies) points.push_back(X.p);
  return 2 * math::enclosing_ball(points).radius;
}

}  // namespace

std::vector<std::string> closing_notes(const Model& model) {
  std::vector<std::string> out;
  if (model.loops().empty() && model.ties().empty()) return out;
  const Model linked = elastic::beams_to_links(model).model;
  const std::vector<Pose> X = linked.initial_poses();
  const auto at = [&](BodyId body, const Pose& frame) {
    return body.valid() ? X[body.value] * frame : frame;
  };
  std::vector<Apart> all;
  std::vector<Vec3> ends;
  for (const Loop& l : linked.loops()) {
    const Pose F = at(l.a, l.X_AF), M = at(l.b, l.X_BM);
    all.push_back(apart(l, F, M));
    ends.push_back(F.p), ends.push_back(M.p);
  }
  const double size = span_of(X, ends);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!(all[i].gap > noted_gap * size) && !(all[i].turn > noted_turn)) continue;
    const std::string& name = linked.loops()[i].name;
    const bool tie = std::ranges::any_of(model.ties(), [&](const Tie& t) { return t.name == name; });
    std::string how = all[i].gap > noted_gap * size ? fmt::format("{:.3g} m", all[i].gap) : "";
    if (all[i].turn > noted_turn)
      how += fmt::format("{}{:.3g} degrees", how.empty() ? "" : " and ", all[i].turn);
    out.push_back(
        fmt::format("{} \"{}\": its ends stand {} apart as written; closing it moves what they are on",
                    tie ? "tie" : "loop", name, how));
  }
  return out;
}

}  // namespace limber::sim
