// Threads for tests: one rod along a path, and what is asked of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limber/thread/thread.h"

namespace limber::thread {

inline nlohmann::json reference(const std::string& name) {
  std::ifstream in(std::string(LIMBER_TEST_DATA) + "/" + name + ".json");
  EXPECT_TRUE(in.good()) << name;
  return nlohmann::json::parse(in);
}
inline Vec3 vector3(const nlohmann::json& j) {
  return Vec3(j[0].get<double>(), j[1].get<double>(), j[2].get<double>());
}

inline Material material_of(double E, double nu, double density) {
  Material m;
  m.name = "m", m.E = E, m.nu = nu, m.G = E / (2 * (1 + nu)), m.density = density;
  return m;
}

struct Rope {
  double E = 1e6, nu = 0.3, density = 1100;
  SectionShape section = Circle{5e-3};
  Path path = PolylinePath{{Vec3::Zero(), Vec3::UnitX()}};
  int elements = 32;
  Vec3 gravity = Vec3::Zero(), up = Vec3::UnitZ();
  Vec3 tip_force = Vec3::Zero(), tip_moment = Vec3::Zero();
  Options options;
  ModelBuilder builder{"rope"};

  double I() const {
    const double r = std::get<Circle>(section).radius;
    return pi * r * r * r * r / 4;
  }
  double A() const {
    const double r = std::get<Circle>(section).radius;
    return pi * r * r;
  }

  Beam beam() {
    Beam b;
    b.name = "rope";
    b.path = path;
    b.up = up;
    b.elements = elements;
    b.material = builder.add(material_of(E, nu, density));
    b.section = builder.add(Section{"s", section});
    return b;
  }
  System build(const Beam& b) {
    const BeamId id = builder.add(b);
    builder.parts.gravity = VectorFunction::constant(gravity);
    if (!tip_force.isZero(0) || !tip_moment.isZero(0)) {
      PointLoad load;
      load.name = "load";
      load.at.beam = id;
      load.at.s = 1;
      load.force = VectorFunction::constant(tip_force);
      load.moment = VectorFunction::constant(tip_moment);
      builder.add(load);
    }
    return compile(std::move(builder).build(), options);
  }
  System build() { return build(beam()); }
};

inline Vec3 node_of(const State& s, int j) { return Vec3(s.e[12 * j], s.e[12 * j + 1], s.e[12 * j + 2]); }

// Where the tip comes to rest.
inline Vec3 rest_tip(Rope rope, int load_steps = 1) {
  const System system = rope.build();
  State state = system.rest();
  Workspace w(system);
  StaticOptions options;
  options.load_steps = load_steps;
  const StaticResult r = solve_static(system, state, w, options);
  EXPECT_TRUE(r.report.ok()) << r.report.message;
  return node_of(state, state.node_count() - 1);
}

// What a motion from rest gained of its energy at most, and its largest kinetic energy.
struct Gained {
  double most = 0, kinetic = 0;  // [J]
};

inline Gained gained_in(const System& system, double h, double seconds) {
  State state = system.rest();
  Workspace w(system);
  const double start = energy(system, state, w).total();
  Gained out;
  for (int k = 0; k * h < seconds; ++k) {
    const result::SolveReport report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << report.message;
    if (!report.ok()) break;
    const result::Energy e = energy(system, state, w);
    out.most = std::max(out.most, e.total() - start);
    out.kinetic = std::max(out.kinetic, e.kinetic);
  }
  return out;
}

}  // namespace limber::thread
