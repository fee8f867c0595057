// A double pendulum, let go from the horizontal and stepped for five seconds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "limber/articulated/articulated.h"
#include "limber/model/model.h"

using namespace limber;

// A rod of 1 kg and 0.5 m whose frame sits at its upper end, x along it, hanging on a hinge about y.
BodyId add_rod(ModelBuilder& builder, const char* name, BodyId parent, const Vec3& hinge, double angle) {
  const double mass = 1, length = 0.5, radius = 0.01;
  const Pose X_BG{math::rotation_y(pi / 2), {length / 2, 0, 0}};  // a cylinder lies along z
  Body rod;
  rod.name = name;
  rod.inertia =
      Inertia::about_com(mass, {0, 0, 0}, math::cylinder_inertia(mass, radius, length)).in_frame(X_BG);
  rod.shapes = {{CylinderShape{radius, length}, X_BG}};
  const BodyId body = builder.add(rod);

  const Mat3 z_to_y = math::rotation_x(-pi / 2);  // a revolute joint turns about z
  Joint joint;
  joint.name = std::string(name) + ".hinge";
  joint.kind = JointKind::revolute;
  joint.parent = parent;
  joint.child = body;
  joint.X_PF = {z_to_y, hinge};
  joint.X_BM = {z_to_y, {0, 0, 0}};
  joint.position[0] = angle;
  builder.add(joint);
  return body;
}

int main(int argc, char** argv) {
  const double h = argc > 1 ? std::atof(argv[1]) : 0.001;

  ModelBuilder builder("double pendulum");
  const BodyId upper = add_rod(builder, "upper", world, {0, 0, 0}, 0);
  add_rod(builder, "lower", upper, {0.5, 0, 0}, pi / 2);
  const Model model = std::move(builder).build();

  const articulated::System system = articulated::compile(model);
  articulated::State state = system.rest();
  articulated::Workspace workspace(system);

  const double start = articulated::energy(system, state, workspace).total();
  double error = 0;
  while (state.t < 5 - h / 2) {
    const result::SolveReport report = articulated::step(system, state, workspace, h);
    if (!report.ok()) {
      std::fprintf(stderr, "%s\n", report.message.c_str());
      return 3;
    }
    error = std::max(error, std::abs(articulated::energy(system, state, workspace).total() - start));
  }
  std::printf("t = %.3f s, energy %.6f J, at most %.3e J off\n", state.t, start, error);
  return 0;
}
