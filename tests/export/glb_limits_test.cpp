// Recordings at the edges: short, still, huge, broken.
#include <gtest/gtest.h>

#include <limits>

#include "limber/export/export.h"
#include "limber/export/glb.h"
#include "limber/math/so3.h"
#include "tests/export/glb_reader.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

using result::Layout;
using result::Snapshot;

Glb export_glb(const std::filesystem::path& folder, const GlbLimits& limits = {}) {
  result::RecordingReader recording(folder / "frames");
  write_glb(recording, folder / "scene.glb", limits);
  return Glb(folder / "scene.glb");
}

Glb glb_of(const Layout& layout, const std::vector<Snapshot>& snapshots, const GlbLimits& limits = {}) {
  const TemporaryFolder folder;
  write_recording(folder.path(), layout, snapshots);
  return export_glb(folder.path(), limits);
}

void expect_finite(const Glb& glb) {
  for (std::size_t a = 0; a < glb.json["accessors"].size(); ++a)
    for (const double x : glb.values(a)) ASSERT_TRUE(std::isfinite(x));
}

TEST(GlbLimits, OneFrameHasNoAnimation) {
  const Layout layout = sample_layout();
  const Glb glb = glb_of(layout, {sample_snapshot(layout, 5)});
  EXPECT_FALSE(glb.json.contains("animations"));
  EXPECT_EQ(glb.json["bufferViews"].size(), 2u);
  const Vec3 ball = glb.world(glb.node("ball"), 0).translation();
  const Vec3 p = sample_snapshot(layout, 5).positions[2];
  EXPECT_LT((ball - Vec3(p.x(), p.z(), -p.y())).norm(), 3e-7);  // single precision, as in glb_test
}

TEST(GlbLimits, NothingMovingHasNoAnimation) {
  const Layout layout = sample_layout();
  Snapshot a = sample_snapshot(layout, 2), b = a;
  b.time += 1;
  EXPECT_FALSE(glb_of(layout, {a, b}).json.contains("animations"));
}

TEST(GlbLimits, NothingToDrawIsAnEmptyScene) {
  for (const Glb& glb : {glb_of(sample_layout(), {}), glb_of(Layout{}, {Snapshot{}})}) {
    EXPECT_EQ(glb.json["nodes"].size(), 1u);
    EXPECT_FALSE(glb.json.contains("meshes"));
    EXPECT_FALSE(glb.json.contains("buffers"));
    EXPECT_TRUE(glb.bin.empty());
  }
}

TEST(GlbLimits, TooMuchMotionLeavesOutFramesEvenlyAndSaysSo) {
  const Layout layout = sample_layout();
  std::vector<Snapshot> snapshots;
  for (std::uint64_t i = 0; i < 100; ++i) snapshots.push_back(sample_snapshot(layout, i));
  // Three moving bodies of 28 bytes and seven segments of 40 bytes a frame: room for 10.
  const Glb glb = glb_of(layout, snapshots, {.animation_bytes = 10 * (3 * 28 + 7 * 40), .segments = 1000});
  const auto times = glb.values(glb.json["animations"][0]["samplers"][0]["input"]);
  ASSERT_EQ(times.size(), 10u);
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_EQ(times[k], static_cast<double>(static_cast<float>(snapshots[11 * k].time)));
  // The pose of each kept time is that frame's.
  for (std::size_t k = 0; k < 10; ++k)
    EXPECT_NEAR(glb.world(glb.node("ball"), k).translation().y(), snapshots[11 * k].positions[2].z(), 3e-6);
  const auto& extras = glb.json["asset"]["extras"];
  EXPECT_EQ(extras["recordedFrames"], 100);
  EXPECT_EQ(extras["frames"], 10);
  EXPECT_NE(extras["note"].get<std::string>().find("10 of 100"), std::string::npos);
}

TEST(GlbLimits, TheLastFrameIsAlwaysThere) {
  const Layout layout = sample_layout();
  for (std::uint64_t count = 1; count <= 40; ++count) {
    std::vector<Snapshot> snapshots;
    for (std::uint64_t i = 0; i < count; ++i) snapshots.push_back(sample_snapshot(layout, i));
    const Glb glb = glb_of(layout, snapshots, {.animation_bytes = 7 * 364, .segments = 1000});
    if (count == 1) continue;
    const auto times = glb.values(glb.json["animations"][0]["samplers"][0]["input"]);
    EXPECT_LE(times.size(), 7u);
    EXPECT_EQ(times.back(), static_cast<double>(static_cast<float>(snapshots.back().time))) << count;
    for (std::size_t k = 1; k < times.size(); ++k) EXPECT_GT(times[k], times[k - 1]);
  }
}

TEST(GlbLimits, TooManySegmentsLeaveOutPointsButNoEnds) {
  const Layout layout = sample_layout();  // lines of 6 and 3 points
  const Snapshot snapshot = sample_snapshot(layout, 5);
  const Glb glb = glb_of(layout, {snapshot}, {.animation_bytes = 1 << 20, .segments = 3});
  const auto& beam = glb.json["nodes"][glb.node("beam")]["children"];
  ASSERT_EQ(beam.size(), 2u);  // points 0, 3, 5
  const auto end = glb.world(beam[1], 0) * Vec3(0, 0, 0.5);
  EXPECT_LT((Vec3(end.x(), -end.z(), end.y()) - snapshot.points[5]).norm(), 6e-7);
  EXPECT_EQ(glb.json["asset"]["extras"]["pointStride"], 3);
}

TEST(GlbLimits, NumbersThatAreNoneRepeatTheFrameBefore) {
  const Layout layout = sample_layout();
  std::vector<Snapshot> snapshots;
  for (std::uint64_t i = 0; i < 4; ++i) snapshots.push_back(sample_snapshot(layout, i));
  snapshots[2].positions[2].setConstant(std::numeric_limits<double>::quiet_NaN());
  snapshots[2].rotations[1].coeffs().setConstant(std::numeric_limits<double>::infinity());
  snapshots[3].points[2].setConstant(1e300);
  const Glb glb = glb_of(layout, snapshots);
  expect_finite(glb);
  for (const char* name : {"ball", "arm"})
    EXPECT_EQ(glb.world(glb.node(name), 2).matrix(), glb.world(glb.node(name), 1).matrix());
  // Also when the first frame is broken.
  expect_finite(glb_of(layout, {snapshots[2], snapshots[3], snapshots[0]}));
}

TEST(GlbLimits, TimesThatDoNotIncreaseAreLeftOut) {
  const Layout layout = sample_layout();
  std::vector<Snapshot> snapshots;
  for (const double t : {100.0, 100.1, 100.1, 100.0, std::numeric_limits<double>::quiet_NaN(), 100.3}) {
    snapshots.push_back(sample_snapshot(layout, snapshots.size()));
    snapshots.back().time = t;
  }
  const Glb glb = glb_of(layout, snapshots);
  const auto times = glb.values(glb.json["animations"][0]["samplers"][0]["input"]);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0], 0);            // counted from the first frame
  EXPECT_NEAR(times[2], 0.3, 1e-7);  // single precision; 100.3 − 100 itself is exact to 1e-14
}

// A body passing q → −q in the recording (w ≥ 0 there) keeps turning the short way.
TEST(GlbLimits, AFullTurnHasNoJump) {
  Layout layout;
  layout.frames.push_back({"wheel", {{SphereShape{1}, {}}}, {}, false});
  std::vector<Snapshot> snapshots;
  for (int i = 0; i <= 40; ++i) {
    Snapshot s;
    s.resize(layout);
    s.time = i;
    s.rotations[0] = math::to_quat(math::rotation_z(2 * pi * i / 20));
    snapshots.push_back(s);
  }
  const Glb glb = glb_of(layout, snapshots);
  const auto q = glb.values(glb.json["animations"][0]["samplers"][0]["output"]);
  for (std::size_t k = 1; k <= 40; ++k)
    EXPECT_NEAR(
        Eigen::Map<const Eigen::Vector4d>(&q[4 * k]).dot(Eigen::Map<const Eigen::Vector4d>(&q[4 * k - 4])),
        std::cos(pi / 20), 1e-6);  // products of single-precision numbers
}

// A straight line that turns in the vertical plane through −z: its cylinders do not spin about their axes.
TEST(GlbLimits, SegmentsDoNotSpin) {
  Layout layout;
  layout.polylines.push_back({"line", 2, 0.1, {}});
  std::vector<Snapshot> snapshots;
  const double step = 2 * pi / 40;
  for (int i = 0; i <= 80; ++i) {
    Snapshot s;
    s.resize(layout);
    s.time = i;
    s.points[1] = {std::sin(i * step + 0.001), 0, std::cos(i * step + 0.001)};
    snapshots.push_back(s);
  }
  const Glb glb = glb_of(layout, snapshots);
  const std::size_t segment = glb.json["nodes"][glb.node("line")]["children"][0];
  for (std::size_t k = 1; k <= 80; ++k) {
    // Relative turn from frame to frame: only about y, by `step`.
    const Mat3 a = glb.local(segment, k - 1).rotation(), b = glb.local(segment, k).rotation();
    EXPECT_LT((math::so3_log(b * a.transpose()) - Vec3(0, step, 0)).norm(), 1e-6) << k;
  }
}

TEST(GlbLimits, NamesAreEscaped) {
  Layout layout;
  layout.title = "a\"\\\n\x01\xff b";  // the last but two is no UTF-8
  layout.frames.push_back({"b\"od\\y\t", {{SphereShape{1}, {}}}, {}, false});
  Snapshot s;
  s.resize(layout);
  const Glb glb = glb_of(layout, {s});
  EXPECT_NO_THROW(glb.node("b\"od\\y\t"));
}

TEST(GlbLimits, FailsWithThePathAndLeavesNothing) {
  const TemporaryFolder folder;
  write_sample(folder.path(), 2);
  result::RecordingReader recording(folder / "frames");
  EXPECT_THROW(write_glb(recording, folder / "no" / "scene.glb"), result::IoError);
  EXPECT_THROW(write_csv(recording, folder / "no" / "probes.csv"), result::IoError);
  EXPECT_THROW(write_vtk(recording, folder / "frames"), result::IoError);  // not a folder
}

}  // namespace
}  // namespace limber::exporting::testing
