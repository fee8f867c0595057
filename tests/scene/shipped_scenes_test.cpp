// The shipped scenes: they load, also with other parameters, and their loops are closed at the start.
#include <gtest/gtest.h>

#include "limber/multibody/closing_joint.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

Scene load_scene(const std::string& file, const LoadOptions& options = {}) {
  return load(std::filesystem::path(LIMBER_SCENES) / file, options);
}

// How far the frames of a loop are from where its kind allows them.
double gap(const Loop& loop, const std::vector<Pose>& poses) {
  const auto pose = [&](BodyId id) { return id.valid() ? poses[id.value] : Pose::identity(); };
  const Pose X = (pose(loop.a) * loop.X_AF).inverse() * (pose(loop.b) * loop.X_BM);
  Mat6 T;
  Vec6 gap;
  multibody::closing_rows({loop.kind, loop.pitch / (2 * pi), loop.length}, X, T, gap);
  return gap.norm();
}

void expect_closed(const Model& model, const std::string& what) {
  const std::vector<Pose> poses = model.initial_poses();
  double size = 0;
  for (const Pose& X : poses) size = std::max(size, X.p.norm());
  for (const Loop& loop : model.loops())
    EXPECT_LT(gap(loop, poses), 1e-9 * std::max(size, 1.0)) << what << ": " << loop.name;
}

TEST(ShippedScenes, CloseTheirLoops) {
  for (const auto& path : shipped_scenes()) expect_closed(load(path).model, path.filename());
}

// Places that are built to meet, so that a loop joins what it should: the frames above would follow any body.
struct Meeting {
  const char* file;
  const char *a, *b;
};
Vec3 place(const Model& model, std::string_view name) {
  const std::vector<Pose> poses = model.initial_poses();
  for (std::size_t i = 0; i < poses.size(); ++i) {
    const Body& body = model.bodies()[i];
    if (body.name == name) return poses[i].p;
    for (const NamedPoint& point : body.points)
      if (body.name + "." + point.name == name) return poses[i] * point.p;
  }
  ADD_FAILURE() << "no place " << name;
  return Vec3::Zero();
}

TEST(ShippedScenes, MeetWhereTheyAreJoined) {
  const Meeting meetings[] = {
      {"four-bar.yaml", "coupler.end", "rocker.end"},
      {"n-four-bar.yaml", "coupler.0.end", "crank.1.top"},
      {"n-four-bar.yaml", "coupler.1.end", "crank.2.top"},
      {"squeezer.yaml", "K2.E", "K3.E"},
      {"squeezer.yaml", "K2.E", "K4.E"},
      {"squeezer.yaml", "K2.E", "K6.E"},
      {"umbrella.yaml", "rib.0.4", "stretcher.0.3.tip"},
      {"umbrella.yaml", "rib.5.4", "stretcher.5.3.tip"},
  };
  for (const Meeting& m : meetings) {
    const Scene s = load_scene(m.file);
    const Vec3 at = place(s.model, m.a);
    // Rounding of the sums along a chain of links.
    EXPECT_LT((at - place(s.model, m.b)).norm(), 1e-14 * std::max(1.0, at.norm())) << m.file << ": " << m.a;
  }
  for (const char* file : {"bridge.yaml", "bridge-flexible.yaml", "bridge-car.yaml", "bridge-many.yaml"}) {
    const Scene s = load_scene(file);
    int links = 0;
    for (const Body& b : s.model.bodies()) links += b.name.starts_with("deck.");
    EXPECT_LT((place(s.model, "deck." + std::to_string(links - 1) + ".tip") - Vec3(12, 0, 3)).norm(), 1e-12);
  }
}

TEST(ShippedScenes, TheFourBarStartsOnItsOpenBranch) {
  // Intersection of the circles about the crank's end and the ground, to 16 digits.
  const Scene s = load_scene("four-bar.yaml");
  EXPECT_LT((place(s.model, "coupler") - Vec3(0.17500000000000002, 0, 0.3031088913245535)).norm(), 1e-15);
  EXPECT_LT((place(s.model, "rocker.end") - Vec3(1.04057075500495, 0, 0.5496596327149632)).norm(), 1e-14);
}

TEST(ShippedScenes, LoadWithOtherSizes) {
  struct Case {
    const char *file, *name, *value;
    std::size_t bodies;
  };
  const Case cases[] = {
      {"bridge.yaml", "links", "12", 14},          {"bridge.yaml", "links", "1000", 1002},
      {"bridge-flexible.yaml", "links", "12", 36}, {"bridge-flexible.yaml", "links", "1000", 3000},
      {"bridge-many.yaml", "links", "1000", 3000}, {"bridge-car.yaml", "links", "101", 303},
      {"umbrella.yaml", "n", "2", 2 + 8 * 3},      {"umbrella.yaml", "n", "7", 2 + 8 * 10},
      {"umbrella.yaml", "n", "40", 2 + 8 * 60},    {"tree.yaml", "levels", "1", 1 + 3},
      {"tree.yaml", "levels", "8", 1 + 3 * 255},   {"tree-leaves.yaml", "levels", "7", 1 + 3 * 127},
      {"n-four-bar.yaml", "N", "40", 81},          {"flyball-governor.yaml", "balls", "5", 12},
      {"four-bar.yaml", "theta", "100 deg", 3},
  };
  for (const Case& c : cases) {
    LoadOptions options;
    options.set = {{c.name, c.value}};
    const Scene s = load_scene(c.file, options);
    EXPECT_EQ(s.model.bodies().size(), c.bodies) << c.file;
    expect_closed(s.model, c.file);
  }
}

TEST(ShippedScenes, CablesHaveTheStiffnessOfTheirLength) {
  const Scene s = load_scene("bridge-flexible.yaml");
  const auto poses = s.model.initial_poses();
  ASSERT_EQ(s.model.springs().size(), 30u);
  for (const Spring& spring : s.model.springs()) {
    const double length =
        (poses[spring.a.body.value] * spring.a.p - poses[spring.b.body.value] * spring.b.p).norm();
    EXPECT_NEAR(spring.stiffness * length, 25e6, 1e-6);
    EXPECT_FALSE(spring.tension_only);
  }
}

TEST(ShippedScenes, TheTreeHasTheMassThatItsLoadsSay) {
  for (const char* file : {"tree.yaml", "tree-leaves.yaml"}) {
    const Scene s = load_scene(file);
    double mass = 0;
    for (const Body& b : s.model.bodies()) mass += b.inertia.m;
    for (const Parameter& p : s.parameters)
      if (p.name == "total") {
        EXPECT_NEAR(p.value, mass, 1e-9 * mass);
      }
    ASSERT_EQ(s.model.point_loads().size(), 4u);
    // The corners are the outermost leaves in both directions.
    const auto poses = s.model.initial_poses();
    Vec3 farthest = Vec3::Zero();
    for (const Pose& X : poses) farthest = farthest.cwiseMax(X.p.cwiseAbs());
    for (const PointLoad& load : s.model.point_loads()) {
      const Vec3 at = poses[load.at.body.value].p, pull = load.force.value(0);
      EXPECT_NEAR(std::abs(at.x()), farthest.x(), 1e-9);
      EXPECT_NEAR(std::abs(at.y()), farthest.y(), 1e-9);
      EXPECT_GT(at.x() * pull.x(), 0);
      EXPECT_GT(at.y() * pull.y(), 0);
    }
  }
}

}  // namespace
}  // namespace limber::scene
