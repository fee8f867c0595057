// What is drawn, and what carries a point of it.
#include "limber/observe/layout.h"

#include <gtest/gtest.h>

namespace limber::observe {
namespace {

// A beam on a welded post, a hinged arm, a spring from the arm to the world.
elastic::LinkedModel structure() {
  ModelBuilder b("s");
  const auto body = [&](const char* name) {
    Body out;
    out.name = name;
    out.inertia = Inertia::about_com(1, Vec3::Zero(), Mat3::Identity());
    return b.add(out);
  };
  const auto joint = [&](const char* name, JointKind kind, BodyId child) {
    Joint j;
    j.name = name, j.kind = kind, j.child = child;
    b.add(j);
  };
  const BodyId post = body("post"), arm = body("arm");
  joint("weld", JointKind::fixed, post);
  joint("hinge", JointKind::revolute, arm);
  Material m;
  m.name = "m", m.E = 1e9, m.G = 4e8, m.density = 1000;
  Beam beam;
  beam.name = "beam", beam.from.body = post, beam.material = b.add(m);
  beam.section = b.add(Section{"c", Circle{0.01}});
  beam.path = PolylinePath{{Vec3::Zero(), Vec3(1, 0, 0)}};
  beam.elements = 2;
  b.add(beam);
  Spring spring;
  spring.name = "k", spring.a.body = arm, spring.a.p = Vec3(0, 1, 0), spring.b.p = Vec3(0, 5, 0);
  spring.stiffness = 1;
  b.add(spring);
  return elastic::beams_to_links(std::move(b).build());
}

TEST(Layout, FramesAndLines) {
  const elastic::LinkedModel s = structure();
  result::Layout layout;
  add_bodies(s.model, layout);
  add_beams(s.traces, layout);
  add_springs(s.model, layout);
  for (const result::FrameInfo& f : layout.frames)
    EXPECT_EQ(f.fixed, f.name == "post" || f.name == "beam.root") << f.name;
  ASSERT_EQ(layout.polylines.size(), 2u);
  EXPECT_EQ(layout.polylines[0].name, "beam");
  EXPECT_EQ(layout.polylines[1].name, "k");
  EXPECT_EQ(layout.polylines[1].points, 2);
}

TEST(Layout, WhatCarriesAPoint) {
  const elastic::LinkedModel s = structure();
  const elastic::BeamTrace& trace = s.traces[0];
  const int n = static_cast<int>(trace.points.size());
  for (int k = 0; k < n; ++k) {
    const auto at = carrier_of(s.traces, s.model, k);
    ASSERT_TRUE(at);
    EXPECT_EQ(at->body, trace.bodies[k]);
    EXPECT_EQ(at->p, trace.points[k]);
  }
  EXPECT_EQ(carrier_of(s.traces, s.model, n)->p, Vec3(0, 1, 0));
  EXPECT_TRUE(carrier_of(s.traces, s.model, n + 1)->on_world());
  EXPECT_FALSE(carrier_of(s.traces, s.model, n + 2));
  EXPECT_FALSE(carrier_of(s.traces, s.model, -1));

  result::Hand hand;
  hand.index = 1, hand.p = Vec3(1, 2, 3);
  EXPECT_EQ(held_place(s.traces, s.model, hand)->body, BodyId{1});
  EXPECT_EQ(held_place(s.traces, s.model, hand)->p, hand.p);
  hand.index = 1000;
  EXPECT_FALSE(held_place(s.traces, s.model, hand));
  hand.on = result::Hand::On::point, hand.index = n - 1;
  EXPECT_EQ(held_place(s.traces, s.model, hand)->body, trace.bodies.back());
}

}  // namespace
}  // namespace limber::observe
