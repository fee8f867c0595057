#include "tests/export/sample.h"

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::exporting::testing {

using result::Layout;
using result::Snapshot;

Layout sample_layout() {
  Layout layout;
  layout.title = "Every shape, \"quoted\" — 3 µm";
  const Color blue = {0.1f, 0.2f, 0.7f};
  layout.frames = {
      {"base", {{BoxShape{{0.4, 0.3, 0.1}}, Pose::translation({0, 0, -0.05})}}, std::nullopt, true},
      {"arm",
       {{CylinderShape{0.03, 0.5}, {math::rotation_y(pi / 2), {0.25, 0, 0}}},
        {CapsuleShape{0.05, 0.1}, Pose::translation({0.5, 0, 0})}},
       std::nullopt,
       false},
      {"ball", {{SphereShape{0.06}, Pose::identity()}}, blue, false},
      {"twin", {{SphereShape{0.06}, Pose::identity()}}, blue, false},
      {"marker", {}, std::nullopt, false},
  };
  layout.polylines = {
      {"beam", 6, 0.02, std::nullopt}, {"cable", 3, 0, Color{0.6f, 0.1f, 0.1f}}, {"dot", 1, 0, {}}};
  layout.scalars = {
      {"arm.angle", "rad"}, {"force, \"pulled\"", "N"}, {"arm angle", "rad"}, {"arm/angle", ""}};
  return layout;
}

// The arm turns about y by more than a full turn, the ball falls, the beam bends over the vertical (its first
// segment from +z to −z), one cable end is fixed.
Snapshot sample_snapshot(const Layout& layout, std::uint64_t index) {
  Snapshot s;
  s.resize(layout);
  const double t = static_cast<double>(index) / 30, angle = 20 * t;
  s.time = t;
  s.rotations[1] = math::to_quat(math::rotation_y(angle));
  s.positions[1] = {0, 0, 0.2};
  s.positions[2] = {0.3, 0.1, 1 - 4.905 * t * t};
  s.positions[3] = {-0.3, 0.1, 0.5};
  s.rotations[4] = math::to_quat(math::rotation_z(angle));
  for (std::size_t i = 0; i < 6; ++i) {
    const double bend = 2.7 * t * static_cast<double>(i + 1), length = 0.1 * (1 + t);
    if (i > 0)
      s.points[i] = s.points[i - 1] + length * Vec3(math::sin(10 * bend), 0.01 * t, math::cos(10 * bend));
  }
  s.points[6] = {1, 1, 1};
  s.points[7] = {1, 1, 1 - t};  // of length zero at the start
  s.points[8] = {1.5, 1, 1};
  s.points[9] = {0, 0, 2};
  s.scalars = {angle, 1.0 / 3 + t, -angle, 1e-300 * t};
  return s;
}

Layout swept_layout() {
  Layout layout;
  layout.title = "ribbon";
  layout.polylines = {{"ribbon", 5, 0.02, {}, {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}},
                      {"ribbon.y", 5, 0, {}},
                      {"ribbon.z", 5, 0, {}}};
  return layout;
}

std::vector<Snapshot> swept_snapshots(std::uint64_t count) {
  std::vector<Snapshot> out(count);
  for (std::uint64_t k = 0; k < count; ++k) {
    Snapshot& s = out[k];
    s.resize(swept_layout());
    s.time = static_cast<double>(k) / 10;
    for (std::size_t i = 0; i < 5; ++i) {
      const double along = 0.2 * static_cast<double>(i), turn = along * 2 * s.time;
      const Mat3 R = math::rotation_z(turn) * math::rotation_x(3 * along * s.time);
      s.points[i] = {along, turn * along, 0.1 * s.time};
      s.points[5 + i] = s.points[i] + R * Vec3(0, 0.02 * (1 - 0.1 * s.time), 0);
      s.points[10 + i] = s.points[i] + R * Vec3(0, 0, 0.005);
    }
  }
  return out;
}

void write_recording(const std::filesystem::path& folder, const Layout& layout,
                     const std::vector<Snapshot>& snapshots) {
  std::filesystem::create_directories(folder);
  auto writer = result::RecordingWriter::create(folder / "frames", layout);
  for (std::size_t i = 0; i < snapshots.size(); ++i) writer.append(i, snapshots[i]);
}

void write_sample(const std::filesystem::path& folder, std::uint64_t frames) {
  const Layout layout = sample_layout();
  std::vector<Snapshot> snapshots;
  for (std::uint64_t i = 0; i < frames; ++i) snapshots.push_back(sample_snapshot(layout, i));
  write_recording(folder, layout, snapshots);
}

}  // namespace limber::exporting::testing
