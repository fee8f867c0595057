// Building a model: order, renumbering, floating bodies, and every kind of problem by name.
#include "limber/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace limber {
namespace {

Body box(const std::string& name) {
  Body b;
  b.name = name;
  b.inertia = Inertia::about_com(1, {0.1, 0, 0}, math::box_inertia(1, {1, 2, 3}));
  return b;
}

Joint hinge(const std::string& name, BodyId parent, BodyId child) {
  Joint j;
  j.name = name;
  j.kind = JointKind::revolute;
  j.parent = parent;
  j.child = child;
  return j;
}

TEST(Model, OrdersParentFirstAndRenumbers) {
  ModelBuilder b;
  const BodyId tip = b.add(box("tip")), arm = b.add(box("arm")), base = b.add(box("base")),
               free = b.add(box("free"));
  const JointId wrist = b.add(hinge("wrist", arm, tip));
  b.add(hinge("shoulder", base, arm));
  b.add(hinge("root", world, base));
  PointLoad load;
  load.name = "push";
  load.at.body = tip;
  b.add(load);
  Probe probe;
  probe.name = "p";
  probe.quantity = Quantity::joint_position;
  probe.joint = wrist;
  b.add(probe);
  Spring spring;
  spring.name = "s";
  spring.a.body = free;
  b.add(spring);
  const Model m = b.build();
  ASSERT_EQ(m.bodies().size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(m.joints()[i].child.value, i);
    EXPECT_LT(m.joints()[i].parent.value, i);
  }
  EXPECT_EQ(m[m.point_loads()[0].at.body].name, "tip");
  EXPECT_EQ(m[m.probes()[0].joint].name, "wrist");
  EXPECT_EQ(m[m.springs()[0].a.body].name, "free");
  const Joint& floating = m.joints()[m.springs()[0].a.body.value];
  EXPECT_EQ(floating.kind, JointKind::free);
  EXPECT_EQ(floating.X_BM.p, Vec3(0.1, 0, 0));  // at the centre of mass
  EXPECT_LT((m.initial_poses()[floating.child.value].p).norm(), 1e-15);
}

// Each change breaks one thing; the problem must name it.
TEST(Model, NamesEveryProblem) {
  struct Break {
    const char* kind;
    const char* name;
    const char* field;
    void (*apply)(ModelParts&);
  };
  const Break breaks[] = {
      {"body", "a", "mass", [](ModelParts& p) { p.bodies[0].inertia.m = -1; }},
      {"body", "a", "mass",
       [](ModelParts& p) {
         p.bodies[0].inertia = Inertia::about_com(1e-320, {0, 0, 0}, Mat3::Identity());
       }},
      {"body", "a", "inertia",
       [](ModelParts& p) {
         p.bodies[0].inertia = Inertia::about_com(1, {0, 0, 0}, 1e-320 * Mat3::Identity());
       }},
      {"body", "a", "inertia", [](ModelParts& p) { p.bodies[0].inertia.I(0, 1) += 1; }},
      {"body", "a", "inertia", [](ModelParts& p) { p.bodies[0].inertia.I(0, 0) = 100; }},
      {"body", "a", "inertia", [](ModelParts& p) { p.bodies[0].inertia.I(0, 0) = std::nan(""); }},
      {"body", "b", "", [](ModelParts& p) { p.bodies[0].name = "b"; }},
      {"body", "a", "linear_drag", [](ModelParts& p) { p.bodies[0].linear_drag = -1; }},
      {"joint", "j", "child", [](ModelParts& p) { p.joints[0].child = BodyId{7}; }},
      {"joint", "j", "parent", [](ModelParts& p) { p.joints[0].parent = BodyId{7}; }},
      {"joint", "j", "child", [](ModelParts& p) { p.joints[0].parent = p.joints[0].child; }},
      {"joint", "k", "child", [](ModelParts& p) { p.joints[1].child = p.joints[0].child; }},
      {"joint", "j", "stiffness", [](ModelParts& p) { p.joints[0].law.stiffness[0] = -2; }},
      {"joint", "j", "damping", [](ModelParts& p) { p.joints[0].law.damping[0] = std::nan(""); }},
      {"joint", "j", "limits",
       [](ModelParts& p) { p.joints[0].law.lower[0] = 2, p.joints[0].law.upper[0] = 1; }},
      {"joint", "j", "position", [](ModelParts& p) { p.joints[0].law.upper[0] = -1; }},
      {"joint", "j", "restitution", [](ModelParts& p) { p.joints[0].law.restitution = 2; }},
      {"joint", "j", "parent", [](ModelParts& p) { p.joints[0].X_PF.R *= 2; }},
      {"joint", "j", "motion",
       [](ModelParts& p) {
         p.motions = {{JointId{0}, {}}, {JointId{0}, {}}};
       }},
      {"joint", "j", "drive",
       [](ModelParts& p) {
         p.drives.push_back({JointId{0}, Drive::Kind::servo, {}, dofs(-1)});
       }},
      {"spring", "s", "between", [](ModelParts& p) { p.springs[0].a = p.springs[0].b; }},
      {"spring", "s", "stiffness", [](ModelParts& p) { p.springs[0].stiffness = -1; }},
      {"spring", "s", "between", [](ModelParts& p) { p.springs[0].a.body = BodyId{9}; }},
      {"load", "l", "on", [](ModelParts& p) { p.point_loads[0].at.body = world; }},
      {"material", "m", "E", [](ModelParts& p) { p.materials[0].E = 0; }},
      {"beam", "beam", "elements", [](ModelParts& p) { p.beams[0].elements = 0; }},
      {"beam", "beam", "material", [](ModelParts& p) { p.beams[0].material = {}; }},
      {"beam", "beam", "path",
       [](ModelParts& p) {
         p.beams[0].path = PolylinePath{{Vec3(1, 1, 1), Vec3(1, 1, 1)}};
       }},
      {"beam", "beam", "up", [](ModelParts& p) { p.beams[0].up = Vec3::UnitX(); }},
      {"loop", "loop", "", [](ModelParts& p) { p.loops[0].b = p.loops[0].a; }},
      {"probe", "q", "", [](ModelParts& p) { p.probes[0].joint = {}; }},
      {"probe", "q", "", [](ModelParts& p) { p.probes[0].quantity = Quantity::rider_position; }},
      {"rider", "car", "mass", [](ModelParts& p) { p.riders[0].mass = -1; }},
      {"rider", "car", "mass", [](ModelParts& p) { p.riders[0].mass = std::nan(""); }},
      {"rider", "car", "on", [](ModelParts& p) { p.riders[0].bodies = {}; }},
      {"rider", "car", "on", [](ModelParts& p) { p.riders[0].to.pop_back(); }},
      {"rider", "car", "on", [](ModelParts& p) { p.riders[0].bodies[1] = BodyId{9}; }},
      {"rider", "car", "on", [](ModelParts& p) { p.riders[0].from[1].body = BodyId{0}; }},
      {"rider", "car", "on", [](ModelParts& p) { p.riders[0].to[0].p = Vec3::Zero(); }},
  };
  ModelBuilder b;
  const BodyId first = b.add(box("a")), second = b.add(box("b"));
  b.add(hinge("j", world, first));
  b.add(hinge("k", first, second));
  Spring spring;
  spring.name = "s";
  spring.b.body = first;
  b.add(spring);
  PointLoad load;
  load.name = "l";
  load.at.body = second;
  b.add(load);
  Material steel;
  steel.name = "m";
  steel.E = 2e11, steel.G = 8e10, steel.density = 7800;
  Beam beam;
  beam.name = "beam";
  beam.material = b.add(steel);
  beam.section = b.add(Section{"c", Circle{0.01}});
  beam.path = PolylinePath{{Vec3(0, 0, 0), Vec3(1, 0, 0)}};
  b.add(beam);
  Loop loop;
  loop.name = "loop";
  loop.a = first, loop.b = second;
  b.add(loop);
  Rider car;
  car.name = "car";
  for (const BodyId id : {first, second}) {
    car.bodies.push_back(id);
    car.from.push_back({id, {}, 0, Vec3::Zero()});
    car.to.push_back({id, {}, 0, Vec3::UnitX()});
  }
  b.add(car);
  Probe probe;
  probe.name = "q";
  probe.quantity = Quantity::joint_force;
  probe.joint = JointId{0};
  b.add(probe);
  ASSERT_NO_THROW(b.build());
  for (const Break& change : breaks) {
    ModelParts parts = b.parts;
    change.apply(parts);
    try {
      Model m(std::move(parts));
      ADD_FAILURE() << "accepted a bad " << change.kind << "." << change.field;
    } catch (const ModelError& e) {
      const auto& all = e.problems();
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const Problem& p) {
                                return p.kind == change.kind && p.name == change.name &&
                                       p.field == change.field;
                              }))
          << "expected " << change.kind << " " << change.name << "." << change.field << ", got:\n"
          << e.what();
    }
  }
}

TEST(Model, RenumbersTheBodiesOfARider) {
  ModelBuilder b;
  const BodyId last = b.add(box("last")), first = b.add(box("first"));
  b.add(hinge("k", first, last));
  b.add(hinge("j", world, first));
  Rider car;
  car.name = "car";
  car.bodies = {first, last};
  car.from = {{first, {}, 0, Vec3::Zero()}, {last, {}, 0, Vec3::Zero()}};
  car.to = {{first, {}, 0, Vec3::UnitX()}, {last, {}, 0, Vec3::UnitX()}};
  b.add(car);
  const Model m = std::move(b).build();
  const Rider& r = m.riders()[0];
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(m[r.bodies[i]].name, i == 0 ? "first" : "last");
    EXPECT_EQ(r.from[i].body, r.bodies[i]);
    EXPECT_EQ(r.to[i].body, r.bodies[i]);
  }
}

TEST(Model, FindsARingOfJoints) {
  ModelBuilder b;
  const BodyId a = b.add(box("a")), c = b.add(box("c"));
  b.add(hinge("j", c, a));
  b.add(hinge("k", a, c));
  EXPECT_THROW(b.build(), ModelError);
}

TEST(Model, ALongChainIsOrderedWithoutRecursion) {
  ModelBuilder b;
  for (int i = 0; i < 200'000; ++i) {
    b.add(box("b" + std::to_string(i)));
    b.add(hinge("j" + std::to_string(i), BodyId{i - 1}, BodyId{i}));
  }
  const Model m = std::move(b).build();
  EXPECT_EQ(m.joints()[199'999].parent.value, 199'998);
}

TEST(Shape, AreasAndVolumes) {
  EXPECT_DOUBLE_EQ(projected_area(BoxShape{{1, 2, 3}}, Vec3::UnitZ()), 2);
  EXPECT_DOUBLE_EQ(projected_area(CylinderShape{0.5, 3}, Vec3::UnitX()), 3);
  EXPECT_DOUBLE_EQ(projected_area(CylinderShape{0.5, 3}, Vec3::UnitZ()), pi * 0.25);
  EXPECT_DOUBLE_EQ(projected_area(CapsuleShape{0.5, 3}, Vec3::UnitX()), pi * 0.25 + 3);
  EXPECT_DOUBLE_EQ(volume(CapsuleShape{1, 2}), pi * (2 + 4.0 / 3));
  const Inertia I = solid_inertia({BoxShape{{1, 2, 3}}, Pose::translation({5, 0, 0})}, 2);
  EXPECT_DOUBLE_EQ(I.m, 12);
  EXPECT_DOUBLE_EQ(I.com().x(), 5);
  EXPECT_NEAR(I.about_com()(0, 0), 12 * (4 + 9) / 12.0, 1e-12);
}

// A box given by its corners, as a hull and as a mesh, moved off the origin: the box's own figures.
TEST(Shape, HullsAndMeshesOfBoxesAreBoxes) {
  const Vec3 size(1, 2, 3), at(0.3, -0.2, 0.5);
  std::vector<Vec3> corners;
  for (int i = 0; i < 8; ++i)
    corners.push_back(at + 0.5 * size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  const auto hull = std::make_shared<const math::ConvexHull>(math::convex_hull(corners));
  const auto mesh = std::make_shared<const TriangleMesh>(triangles_of(*hull));
  EXPECT_TRUE(is_closed(*mesh));
  TriangleMesh open = *mesh;
  open.triangles.pop_back();
  EXPECT_FALSE(is_closed(open));
  const Pose X{math::rotation_x(0.7), {1, 2, 3}};
  const Inertia box = solid_inertia({BoxShape{size}, X * Pose::translation(at)}, 5);
  for (const ShapeGeometry& g : {ShapeGeometry(HullShape{hull}), ShapeGeometry(MeshShape{mesh})}) {
    EXPECT_NEAR(volume(g), 6, 1e-14);
    const Inertia I = solid_inertia({g, X}, 5);
    // Sums of a dozen tetrahedra around an origin that is not the centre.
    EXPECT_NEAR(I.m, box.m, 1e-12);
    EXPECT_LT((I.h - box.h).norm(), 1e-12);
    EXPECT_LT((I.I - box.I).norm(), 1e-11);
    const Vec3 u = Vec3(1, -2, 0.5).normalized();
    EXPECT_NEAR(projected_area(g, u), projected_area(BoxShape{size}, u), 1e-13);
  }
}

TEST(Shape, GroundStandsStill) {
  ModelBuilder b;
  Body ground = box("ground");
  ground.shapes = {{HeightFieldShape{1, 1, 2, 2, {0, 0, 0, 0}}, {}}};
  b.add(ground);
  EXPECT_THROW(b.build(), ModelError);  // floats
  Joint j;
  j.name = "stand";
  j.kind = JointKind::fixed;
  j.child = BodyId{0};
  b.add(j);
  EXPECT_NO_THROW(b.build());
  b.parts.bodies[0].shapes = {{HeightFieldShape{1, 1, 2, 2, {0, 0, 0}}, {}}};
  EXPECT_THROW(b.build(), ModelError);
  b.parts.bodies[0].shapes = {
      {MeshShape{std::make_shared<const TriangleMesh>(TriangleMesh{{{0, 0, 0}}, {{0, 1, 2}}})}, {}}};
  EXPECT_THROW(b.build(), ModelError);
}

}  // namespace
}  // namespace limber
