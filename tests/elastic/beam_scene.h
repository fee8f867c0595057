// One beam scene for the tests of beams as links.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "limber/elastic/beam_links.h"

namespace limber::testing {

inline constexpr double E = 2e9, G = 7e8, density = 1200;

// One beam from the world, or from `from`.
struct Scene {
  ModelBuilder b;
  MaterialId material;
  SectionId section;

  explicit Scene(const SectionShape& shape = Rectangle{0.02, 0.01})
      : material(b.add(stuff())), section(b.add(Section{"section", shape})) {}
  static Material stuff() {
    Material m;
    m.name = "stuff", m.E = E, m.G = G, m.density = density;
    return m;
  }

  BeamId beam(const std::string& name, const Path& path, int elements, Recipe recipe = Recipe::consistent_3r,
              const Attachment& from = {}) {
    Beam beam;
    beam.name = name;
    beam.from = from;
    beam.path = path;
    beam.material = material;
    beam.section = section;
    beam.elements = elements;
    beam.recipe = recipe;
    return b.add(std::move(beam));
  }
  elastic::LinkedModel links() const { return elastic::beams_to_links(b.build()); }
};

inline const PolylinePath straight{{{0, 0, 0}, {1.5, 0, 0}}};
inline const ArcPath quarter{{0.1, 0, 0}, {1, 0, 0}, {0, 1, 0}, 0.8, pi / 2};

inline BodyId find(const Model& m, const std::string& name) {
  for (std::size_t i = 0; i < m.bodies().size(); ++i)
    if (m.bodies()[i].name == name) return BodyId{static_cast<std::int32_t>(i)};
  ADD_FAILURE() << "no body " << name;
  return {};
}

inline Vec3 in_world(const std::vector<Pose>& X_WB, BodyId body, const Vec3& p) {
  return body.valid() ? X_WB[body.value] * p : p;
}

}  // namespace limber::testing
