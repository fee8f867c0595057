// Beams that the tests of chain/ share.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "limber/chain/chain.h"

namespace limber::chain_test {

inline nlohmann::json reference(const std::string& name) {
  std::ifstream file(std::string(LIMBER_TEST_DATA) + "/" + name);
  return nlohmann::json::parse(file);
}

inline Vec3 to_vec3(const nlohmann::json& j) {
  return {j[0].get<double>(), j[1].get<double>(), j[2].get<double>()};
}

// One beam on the world. E and section are chosen by the caller; weightless unless it has a density.
struct OneBeam {
  ModelBuilder builder;
  BeamId beam;
  OneBeam(const Path& path, double E, double G, const SectionShape& shape, int elements, Recipe recipe,
          const Vec3& up = Vec3::UnitZ(), double density = 0) {
    builder.parts.gravity = VectorFunction::constant(Vec3::Zero());
    Material m;
    m.name = "m", m.E = E, m.G = G, m.nu = 0, m.density = density;
    Section s;
    s.name = "s", s.shape = shape;
    Beam b;
    b.name = "beam", b.path = path, b.material = builder.add(m), b.section = builder.add(s);
    b.elements = elements, b.recipe = recipe, b.up = up;
    b.stretch = false;  // the rods they are held against do not
    beam = builder.add(b);
  }
  Attachment at(double s) const {
    Attachment a;
    a.beam = beam, a.s = s;
    return a;
  }
  OneBeam& load(double s, const Vec3& force, const Vec3& moment = Vec3::Zero(), bool follows = false) {
    PointLoad l;
    l.name = "load" + std::to_string(builder.parts.point_loads.size());
    l.at = at(s), l.force = VectorFunction::constant(force), l.moment = VectorFunction::constant(moment);
    l.follows = follows;
    builder.add(l);
    return *this;
  }
};

// EI = 1 in both directions, along x.
inline OneBeam unit_cantilever(int elements, Recipe recipe) {
  PolylinePath path;
  path.points = {{0, 0, 0}, {1, 0, 0}};
  return OneBeam(path, 12, 6, Rectangle{1, 1}, elements, recipe);
}

struct Solved {
  chain::System system;
  chain::Rest rest;
  chain::StaticReport report;
  result::Snapshot shot;
  Vec3 tip() const { return shot.points.back(); }
  Mat3 tip_frame() const {
    return shot.rotations[static_cast<std::size_t>(system.traces().back().bodies.back().value)]
        .toRotationMatrix();
  }
};

inline Solved solve(const Model& model, const chain::StaticOptions& options = {}) {
  Solved out{chain::compile(model), {}, {}, {}};
  chain::Solver solver(out.system.structure());
  out.rest = out.system.rest();
  out.report = solver.solve(out.rest, 1, options);
  chain::observe(out.system, solver, out.rest, out.shot);
  return out;
}

// The beam of A5 in inches and pounds.
inline Model a5(int elements, Recipe recipe, double down, double aside) {
  PolylinePath path;
  path.points = {{0, 0, 0}, {100, 0, 0}};
  OneBeam b(path, 200e3, 200e3 / 2.8, Rectangle{0.25, 4}, elements, recipe);
  b.load(1, {0, aside, -down});
  return b.builder.build();
}

// A tree of beams: each starts from a random place of an earlier one, in a random direction.
inline Model random_tree(std::mt19937& random, int beams, int elements, Recipe recipe, double load,
                         double gravity = 9.81) {
  std::uniform_real_distribution<double> u(-1, 1);
  ModelBuilder b;
  b.parts.gravity = VectorFunction::constant({0, 0, -gravity});
  Material m;
  m.name = "m", m.E = 1e9, m.G = 0.4e9, m.density = 900;
  Section s;
  s.name = "s", s.shape = Rectangle{0.02, 0.03};
  Section r;
  r.name = "r", r.shape = Circle{0.012};
  const MaterialId material = b.add(m);
  const SectionId sections[] = {b.add(s), b.add(r)};
  std::vector<BeamId> ids;
  for (int i = 0; i < beams; ++i) {
    Beam beam;
    beam.name = "b" + std::to_string(i);
    if (i > 0) {
      beam.from.beam = ids[random() % ids.size()];
      beam.from.s = static_cast<double>(1 + random() % static_cast<unsigned>(elements)) /
                    elements;  // a node: the sweeps need one
    }
    const Vec3 direction = Vec3(1 + 0.5 * u(random), u(random), u(random)).normalized();
    PolylinePath path;
    path.points = {Vec3::Zero(), 0.4 * direction};
    beam.path = path, beam.material = material, beam.section = sections[random() % 2];
    beam.elements = elements, beam.recipe = recipe;
    beam.up = direction.unitOrthogonal();
    ids.push_back(b.add(beam));
    PointLoad l;
    l.name = "l" + std::to_string(i);
    l.at.beam = ids.back(), l.at.s = 1;
    l.force = VectorFunction::constant(load * Vec3(u(random), u(random), u(random)));
    b.add(l);
  }
  return std::move(b).build();
}

}  // namespace limber::chain_test
