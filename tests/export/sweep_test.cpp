// Sections swept along lines: in both formats every corner stands where the three lines put it.
#include "limber/export/sweep.h"

#include <gtest/gtest.h>

#include <cstring>

#include "limber/export/export.h"
#include "tests/export/glb_reader.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

TEST(Sweep, RoundRingsAreSmoothAndSharpOnesAreDoubled) {
  const auto square = ring_of({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}});
  ASSERT_EQ(square.size(), 8u);
  int strips = 0;
  for (std::size_t i = 0; i < square.size(); ++i) {
    if (!square[i].joined) continue;
    ++strips;
    EXPECT_EQ(square[i].normal, square[(i + 1) % 8].normal);  // flat faces
    EXPECT_GT(square[i].normal.dot(square[i].at), 0);         // outwards
  }
  EXPECT_EQ(strips, 4);
  std::vector<Vec2> round;
  for (int i = 0; i < 16; ++i) round.emplace_back(std::cos(i * pi / 8), std::sin(i * pi / 8));
  const auto circle = ring_of(round);
  ASSERT_EQ(circle.size(), 16u);
  for (const RingCorner& c : circle) EXPECT_LT((c.normal - c.at).norm(), 1e-12);
}

TEST(Sweep, GlbMovesEveryCornerWithItsSection) {
  const TemporaryFolder folder;
  const result::Layout layout = swept_layout();
  const std::vector<result::Snapshot> snapshots = swept_snapshots(4);
  write_recording(folder.path(), layout, snapshots);
  result::RecordingReader recording(folder / "frames");
  write_glb(recording, folder / "scene.glb");
  const Glb glb(folder / "scene.glb");
  ASSERT_EQ(glb.json["skins"].size(), 1u);
  const auto joints = glb.json["skins"][0]["joints"].get<std::vector<std::size_t>>();
  ASSERT_EQ(joints.size(), 5u);
  const auto inverse = glb.values(glb.json["skins"][0]["inverseBindMatrices"]);
  const auto& shown = glb.json["nodes"].at(glb.node("ribbon"));
  const auto& attributes =
      glb.json["meshes"].at(shown["mesh"].get<std::size_t>())["primitives"][0]["attributes"];
  const auto position = glb.values(attributes["POSITION"]), joint = glb.values(attributes["JOINTS_0"]),
             weight = glb.values(attributes["WEIGHTS_0"]);
  const Sweep sweep = sweeps_of(layout)[0];
  for (std::size_t frame = 0; frame < snapshots.size(); ++frame) {
    std::vector<Vec3> corners;
    for (std::size_t i = 0; i < 5; ++i)
      for (const Vec2& c : sweep.outline) {
        const Vec3 p = sweep.at(snapshots[frame], i, c);
        corners.emplace_back(p.x(), p.z(), -p.y());  // y up
      }
    std::vector<bool> met(corners.size(), false);
    for (std::size_t v = 0; 3 * v < position.size(); ++v) {
      ASSERT_EQ(weight[4 * v], 255);
      const auto j = static_cast<std::size_t>(joint[4 * v]);
      const Eigen::Map<const Eigen::Matrix4d> B(inverse.data() + 16 * j);
      const Eigen::Vector4d p(position[3 * v], position[3 * v + 1], position[3 * v + 2], 1);
      const Vec3 at = (glb.world(joints[j], frame).matrix() * (B * p)).head<3>();
      std::size_t best = 0;
      for (std::size_t i = 0; i < corners.size(); ++i)
        if ((corners[i] - at).norm() < (corners[best] - at).norm()) best = i;
      ASSERT_LT((corners[best] - at).norm(), 1e-5);  // single precision, scene of 1 m
      EXPECT_EQ(best / sweep.outline.size(), j);
      met[best] = true;
    }
    for (const bool m : met) EXPECT_TRUE(m);
  }
  for (const auto& node : glb.json["nodes"])
    EXPECT_FALSE(node.value("name", "") == "ribbon" && node.contains("children"));
}

TEST(Sweep, VtkHasItsFacesAndEnds) {
  const TemporaryFolder folder;
  write_recording(folder.path(), swept_layout(), swept_snapshots(2));
  result::RecordingReader recording(folder / "frames");
  write_vtk(recording, folder.path());
  const std::string file = result::read_file(folder.path() / "vtk" / "frame_000001.vtp");
  // Three lines of 5 points; 4 x 4 faces along and one at either end; 15 + 5 x 4 points.
  EXPECT_NE(file.find("NumberOfPoints=\"35\""), std::string::npos);
  EXPECT_NE(file.find("NumberOfLines=\"3\""), std::string::npos);
  EXPECT_NE(file.find("NumberOfPolys=\"18\""), std::string::npos);
  const auto corner = swept_snapshots(2)[1];
  const Vec3 last = sweeps_of(swept_layout())[0].at(corner, 4, Vec2(-1, 1));
  char bytes[sizeof last];
  std::memcpy(bytes, &last, sizeof last);
  EXPECT_NE(file.find(std::string(bytes, sizeof bytes)), std::string::npos);
}

}  // namespace
}  // namespace limber::exporting::testing
