// The sprung mechanisms of tests/data/C_*.json as models.
#pragma once

#include <algorithm>
#include <string>

#include "limber/model/model.h"
#include "tests/support/reference.h"

namespace limber::testing {

using Json = nlohmann::json;

inline Vec3 vec3(const Json& j) { return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()}; }

// Frame with z along the axis.
inline Pose hinge_frame(const Json& joint) {
  const Vec3 z = vec3(joint["axis"]).normalized(), x = z.unitOrthogonal();
  Pose X;
  X.R << x, z.cross(x), z;
  X.p = vec3(joint["point"]);
  return X;
}

// Bodies 1…n of the file with their frames at the world's; the first joint that reaches a body carries it,
// the others close loops.
inline Model mechanism_of(const Json& file) {
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, 0});
  int bodies = 0;
  for (const Json& j : file["joints"]) bodies = std::max({bodies, j["a"].get<int>(), j["b"].get<int>()});
  for (int i = 0; i < bodies; ++i) {
    Body body;
    body.name = "b" + std::to_string(i + 1);
    body.inertia = Inertia::about_com(1, Vec3(0.3, 0.2, 0), 0.01 * Mat3::Identity());
    b.add(body);
  }
  std::vector<char> hangs(bodies + 1, 0);
  hangs[0] = 1;
  int k = 0;
  for (const Json& j : file["joints"]) {
    const int from = j["a"].get<int>(), to = j["b"].get<int>();
    const std::string name = "j" + std::to_string(k++);
    const bool turned = hangs[to] && !hangs[from];
    if (!hangs[to] || turned) {
      Joint joint;
      joint.name = name;
      joint.kind = JointKind::revolute;
      joint.parent = BodyId{(turned ? to : from) - 1};
      joint.child = BodyId{(turned ? from : to) - 1};
      joint.X_PF = joint.X_BM = hinge_frame(j);
      joint.law.stiffness[0] = j["k"].get<double>();
      b.add(joint);
      hangs[turned ? from : to] = 1;
    } else {
      Loop loop;
      loop.name = name;
      loop.kind = JointKind::revolute;
      loop.a = BodyId{from - 1};
      loop.b = BodyId{to - 1};
      loop.X_AF = loop.X_BM = hinge_frame(j);
      loop.law.stiffness[0] = j["k"].get<double>();
      b.add(loop);
    }
  }
  PointLoad load;
  load.name = "load";
  load.at = Attachment{
      BodyId{file["end_effector"]["body"].get<int>() - 1}, {}, 0, vec3(file["end_effector"]["point"])};
  load.force = VectorFunction::constant(vec3(file["static_case"]["load"]["F"]));
  load.moment = VectorFunction::constant(vec3(file["static_case"]["load"]["M"]));
  b.add(load);
  Probe probe;
  probe.name = "end";
  probe.at = load.at;
  b.add(probe);
  return std::move(b).build();
}

}  // namespace limber::testing
