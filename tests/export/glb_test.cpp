#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "limber/export/export.h"
#include "limber/math/so3.h"
#include "tests/export/glb_reader.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

// Values of size 1 in single precision, half an ulp 3e-8, through two or three products with others of
// size 1.
constexpr double single_precision = 3e-7;

// limber's z is glTF's y: (x, y, z) → (x, z, −y).
Vec3 y_up(const Vec3& p) { return {p.x(), p.z(), -p.y()}; }

Glb export_glb(const std::filesystem::path& folder) {
  result::RecordingReader recording(folder / "frames");
  write_glb(recording, folder / "scene.glb");
  return Glb(folder / "scene.glb");
}

class GlbOfTheSample : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    write_sample(folder->path(), sample_frames);
    glb = new Glb(export_glb(folder->path()));
  }
  static void TearDownTestSuite() {
    delete glb;
    delete folder;
  }
  static inline TemporaryFolder* folder = nullptr;
  static inline Glb* glb = nullptr;
  const result::Layout layout = sample_layout();
};

TEST_F(GlbOfTheSample, EveryAccessorIsWithinBoundsAndItsRangeIsTrue) {
  const auto& accessors = glb->json["accessors"];
  std::set<std::size_t> must_have_range;
  for (const auto& mesh : glb->json["meshes"])
    must_have_range.insert(mesh["primitives"][0]["attributes"]["POSITION"].get<std::size_t>());
  for (const auto& sampler : glb->json["animations"][0]["samplers"])
    must_have_range.insert(sampler["input"].get<std::size_t>());
  for (std::size_t a = 0; a < accessors.size(); ++a) {
    const std::vector<double> values = glb->values(a);  // throws if it reaches out of its buffer
    for (const double x : values) ASSERT_TRUE(std::isfinite(x));
    ASSERT_EQ(accessors[a].contains("min"), must_have_range.contains(a)) << a;
    if (!must_have_range.contains(a)) continue;
    const std::size_t width = accessors[a]["min"].size();
    for (std::size_t c = 0; c < width; ++c) {
      double low = values[c], high = values[c];
      for (std::size_t i = c; i < values.size(); i += width) {
        low = std::min(low, values[i]);
        high = std::max(high, values[i]);
      }
      EXPECT_EQ(accessors[a]["min"][c].get<double>(), low);
      EXPECT_EQ(accessors[a]["max"][c].get<double>(), high);
    }
  }
}

TEST_F(GlbOfTheSample, IndicesStayWithinTheirMesh) {
  for (const auto& mesh : glb->json["meshes"]) {
    const auto& primitive = mesh["primitives"][0];
    const std::size_t position = primitive["attributes"]["POSITION"],
                      normal = primitive["attributes"]["NORMAL"];
    const double count = glb->json["accessors"][position]["count"];
    EXPECT_EQ(glb->json["accessors"][normal]["count"], count);
    const auto indices = glb->values(primitive["indices"]);
    EXPECT_EQ(indices.size() % 3, 0u);
    EXPECT_LT(*std::max_element(indices.begin(), indices.end()), count);
    EXPECT_TRUE(primitive.contains("material"));
  }
}

TEST_F(GlbOfTheSample, BodiesAreWhereTheRecordingHasThem) {
  for (const std::size_t f : {0, 1, 2, 3}) {
    const std::size_t node = glb->node(layout.frames[f].name);
    for (std::uint64_t k = 0; k < sample_frames; ++k) {
      const auto s = sample_snapshot(layout, k);
      const Pose X_WB{math::to_matrix(s.rotations[f]), s.positions[f]};
      const Eigen::Affine3d X = glb->world(node, k);
      for (const Vec3& p : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)})
        EXPECT_LT((X * p - y_up(X_WB * p)).norm(), single_precision) << layout.frames[f].name << " " << k;
    }
  }
  EXPECT_THROW(glb->node("marker"), std::runtime_error);  // nothing to draw
}

TEST_F(GlbOfTheSample, ShapesSitInTheirBodies) {
  const auto& children = glb->json["nodes"][glb->node("arm")]["children"];
  ASSERT_EQ(children.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const Pose& X_BG = layout.frames[1].shapes[i].X_BG;
    const Eigen::Affine3d X = glb->local(children[i], 0);
    for (const Vec3& p : {Vec3(0, 0, 0), Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)})
      EXPECT_LT((X * p - X_BG * p).norm(), single_precision);
  }
}

TEST_F(GlbOfTheSample, SegmentsJoinThePointsOfTheirPolyline) {
  // 0.3 % of the diagonal of all that is there at the start: shapes within balls about their bodies' origins,
  // and points.
  Eigen::AlignedBox3d box;
  const auto start = sample_snapshot(layout, 0);
  const double reach[] = {0.05 + std::sqrt(0.04 + 0.0225 + 0.0025), 0.6, 0.06, 0.06, 0};
  for (std::size_t f = 0; f < 5; ++f) {
    box.extend(start.positions[f] + Vec3::Constant(reach[f]));
    box.extend(start.positions[f] - Vec3::Constant(reach[f]));
  }
  for (const Vec3& p : start.points) box.extend(p);
  const double thin = 0.003 * box.diagonal().norm();
  std::size_t first = 0;
  for (const auto& line : layout.polylines) {
    if (line.points < 2) continue;
    const auto& children = glb->json["nodes"][glb->node(line.name)]["children"];
    ASSERT_EQ(children.size(), static_cast<std::size_t>(line.points - 1));
    for (std::size_t i = 0; i < children.size(); ++i)
      for (std::uint64_t k = 0; k < sample_frames; ++k) {
        const auto s = sample_snapshot(layout, k);
        const Eigen::Affine3d X = glb->world(children[i], k);
        // A segment of no length is drawn 1e-4 of its radius long.
        EXPECT_LT((X * Vec3(0, 0, -0.5) - y_up(s.points[first + i])).norm(), 2 * single_precision);
        EXPECT_LT((X * Vec3(0, 0, 0.5) - y_up(s.points[first + i + 1])).norm(), 2 * single_precision);
        const double radius = (X * Vec3(1, 0, 0) - X * Vec3(0, 0, 0)).norm();
        EXPECT_NEAR(radius, line.radius > 0 ? line.radius : thin, single_precision);
      }
    first += static_cast<std::size_t>(line.points);
  }
}

TEST_F(GlbOfTheSample, QuaternionsAreUnitAndNeverJump) {
  for (const auto& channel : glb->json["animations"][0]["channels"]) {
    if (channel["target"]["path"] != "rotation") continue;
    const auto& sampler = glb->json["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
    const auto q = glb->values(sampler["output"]);
    ASSERT_EQ(q.size(), 4 * sample_frames);
    for (std::size_t k = 0; k < sample_frames; ++k) {
      const Eigen::Map<const Eigen::Vector4d> now(&q[4 * k]);
      EXPECT_NEAR(now.norm(), 1, 1e-7);  // four coordinates rounded by 3e-8 each
      // Of the two signs the nearer one.
      const std::size_t before = k > 0 ? k - 1 : 0;
      EXPECT_GE(now.dot(Eigen::Map<const Eigen::Vector4d>(&q[4 * before])), 0);
    }
  }
}

TEST_F(GlbOfTheSample, OnlyWhatMovesIsAnimated) {
  std::set<std::pair<std::size_t, std::string>> targets;
  for (const auto& channel : glb->json["animations"][0]["channels"]) {
    const auto& sampler = glb->json["animations"][0]["samplers"][channel["sampler"].get<std::size_t>()];
    EXPECT_EQ(sampler["interpolation"], "LINEAR");
    EXPECT_TRUE(targets.emplace(channel["target"]["node"], channel["target"]["path"]).second);
  }
  const auto animated = [&](const char* name, const char* path) {
    return targets.contains({glb->node(name), path});
  };
  EXPECT_TRUE(animated("arm", "rotation"));
  EXPECT_FALSE(animated("arm", "translation"));
  EXPECT_TRUE(animated("ball", "translation"));
  EXPECT_FALSE(animated("ball", "rotation"));
  for (const char* path : {"translation", "rotation", "scale"}) {
    EXPECT_FALSE(animated("base", path));
    EXPECT_FALSE(animated("twin", path));
  }
}

TEST_F(GlbOfTheSample, EqualShapesOfOneColorShareAMesh) {
  const auto mesh_of_child = [&](const char* name) {
    return glb->json["nodes"][glb->node(name)]["children"][0].get<std::size_t>();
  };
  const auto& nodes = glb->json["nodes"];
  EXPECT_EQ(nodes[mesh_of_child("ball")]["mesh"], nodes[mesh_of_child("twin")]["mesh"]);
  // The two lines differ in color: two meshes on the same vertices.
  const auto& meshes = glb->json["meshes"];
  const std::size_t beam = nodes[mesh_of_child("beam")]["mesh"],
                    cable = nodes[mesh_of_child("cable")]["mesh"];
  EXPECT_NE(beam, cable);
  EXPECT_EQ(meshes[beam]["primitives"][0]["attributes"], meshes[cable]["primitives"][0]["attributes"]);
  EXPECT_EQ(meshes.size(), 6u);  // box, cylinder, capsule, sphere, and the two
}

TEST_F(GlbOfTheSample, SaysWhoMadeItAndHowMuch) {
  EXPECT_EQ(glb->json["asset"]["generator"], "limber");
  EXPECT_EQ(glb->json["asset"]["version"], "2.0");
  EXPECT_EQ(glb->json["scenes"][0]["name"], layout.title);
  EXPECT_EQ(glb->json["asset"]["extras"]["recordedFrames"], sample_frames);
  EXPECT_FALSE(glb->json["asset"]["extras"].contains("note"));
}

TEST_F(GlbOfTheSample, IsTheSameEveryTime) {
  result::RecordingReader recording(*folder / "frames");
  write_glb(recording, *folder / "again.glb");
  EXPECT_EQ(result::read_file(*folder / "again.glb"), result::read_file(*folder / "scene.glb"));
}

TEST_F(GlbOfTheSample, TimesAreTheRecordings) {
  const std::size_t input = glb->json["animations"][0]["samplers"][0]["input"];
  const auto times = glb->values(input);
  ASSERT_EQ(times.size(), sample_frames);
  for (std::size_t k = 0; k < times.size(); ++k)
    EXPECT_EQ(times[k], static_cast<double>(static_cast<float>(sample_snapshot(layout, k).time)));
}

// Bodies that carry a number are colored by its last value: gray, halfway and red. Equal ones share a mesh.
TEST(Glb, ColorsBodiesByTheirValueAtTheEnd) {
  TemporaryFolder folder;
  result::Layout layout;
  for (const char* name : {"rest", "half", "most", "beyond"})
    layout.frames.push_back({name, {{SphereShape{0.1}, {}}}, Color{0, 0, 1}, false});
  layout.frame_value = "activity";
  std::vector<result::Snapshot> snapshots(2);
  for (auto& s : snapshots) s.resize(layout);
  snapshots[0].values = {1, 1, 1, 1};
  snapshots[1].values = {0, 0.5, 1, 7};
  snapshots[1].time = 1;
  write_recording(folder.path(), layout, snapshots);
  const Glb glb = export_glb(folder.path());
  const auto color_of = [&](const std::string& name) {
    for (const auto& node : glb.json["nodes"])
      if (node.value("name", "") == name) {
        const auto& mesh =
            glb.json["meshes"][glb.json["nodes"][node["children"][0].get<int>()]["mesh"].get<int>()];
        const auto& material = glb.json["materials"][mesh["primitives"][0]["material"].get<int>()];
        const auto& c = material["pbrMetallicRoughness"]["baseColorFactor"];
        return Vec3(c[0].get<double>(), c[1].get<double>(), c[2].get<double>());
      }
    return Vec3(-1, -1, -1);
  };
  const Vec3 rest(0.30, 0.32, 0.35), most(0.80, 0.05, 0.03);
  EXPECT_LE((color_of("rest") - rest).norm(), 1e-6);
  EXPECT_LE((color_of("half") - (rest + most) / 2).norm(), 1e-6);
  EXPECT_LE((color_of("most") - most).norm(), 1e-6);
  EXPECT_EQ(color_of("beyond"), color_of("most"));
  EXPECT_EQ(glb.json["meshes"].size(), 3u);
}

}  // namespace
}  // namespace limber::exporting::testing
