// make_sample DIR: recordings and all their exports in DIR/<name>/, and DIR/<name>/known.json with what was
// recorded, for the checks by other programs.
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "limber/export/export.h"
#include "limber/export/glb.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

using result::Layout;
using result::Snapshot;
using json = nlohmann::ordered_json;

json list(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

json shape_json(const Shape& shape) {
  json out = {{"p", list(shape.X_BG.p)}, {"R", json::array()}};
  for (int row = 0; row < 3; ++row) out["R"].push_back(list(shape.X_BG.R.row(row).transpose()));
  if (const auto* box = std::get_if<BoxShape>(&shape.geometry)) out["box"] = list(box->size);
  if (const auto* ball = std::get_if<SphereShape>(&shape.geometry)) out["sphere"] = {ball->radius};
  if (const auto* rod = std::get_if<CylinderShape>(&shape.geometry))
    out["cylinder"] = {rod->radius, rod->length};
  if (const auto* rod = std::get_if<CapsuleShape>(&shape.geometry))
    out["capsule"] = {rod->radius, rod->length};
  return out;
}

json snapshot_json(const Snapshot& s) {
  json out = {{"time", s.time},
              {"rotations", json::array()},
              {"positions", json::array()},
              {"points", json::array()},
              {"scalars", s.scalars}};
  for (const Quat& q : s.rotations) out["rotations"].push_back({q.w(), q.x(), q.y(), q.z()});
  for (const Vec3& p : s.positions) out["positions"].push_back(list(p));
  for (const Vec3& p : s.points) out["points"].push_back(list(p));
  if (!s.values.empty()) out["values"] = s.values;
  return out;
}

void write_known(const std::filesystem::path& file, const Layout& layout,
                 const std::vector<Snapshot>& snapshots) {
  json out = {{"shapes", json::array()}, {"polylines", json::array()}, {"snapshots", json::array()}};
  for (const auto& frame : layout.frames) {
    out["shapes"].push_back(json::array());
    for (const Shape& shape : frame.shapes) out["shapes"].back().push_back(shape_json(shape));
  }
  for (const auto& line : layout.polylines) out["polylines"].push_back(line.points);
  for (const Snapshot& s : snapshots) out["snapshots"].push_back(snapshot_json(s));
  std::ofstream(file) << out.dump() << "\n";
}

void make(const std::filesystem::path& folder, const Layout& layout, const std::vector<Snapshot>& snapshots,
          const GlbLimits& limits = {}) {
  write_recording(folder, layout, snapshots);
  result::RecordingReader recording(folder / "frames");
  write_csv(recording, folder / "probes.csv");
  write_glb(recording, folder / "scene.glb", limits);
  write_vtk(recording, folder);
  write_known(folder / "known.json", layout, snapshots);
}

std::vector<Snapshot> snapshots_of(const Layout& layout, std::uint64_t count) {
  std::vector<Snapshot> out;
  for (std::uint64_t i = 0; i < count; ++i) out.push_back(sample_snapshot(layout, i));
  return out;
}

void make_all(const std::filesystem::path& folder) {
  const Layout layout = sample_layout();
  make(folder / "many", layout, snapshots_of(layout, sample_frames));
  make(folder / "single", layout, snapshots_of(layout, 1));
  make(folder / "none", layout, {});
  make(folder / "limited", layout, snapshots_of(layout, 40), {.animation_bytes = 2000, .segments = 3});

  // Time passes, nothing moves.
  std::vector<Snapshot> still(5, sample_snapshot(layout, 3));
  for (std::size_t i = 0; i < still.size(); ++i) still[i].time = static_cast<double>(i);
  make(folder / "still", layout, still);

  // Colored by a number that every body carries.
  Layout active = layout;
  active.frame_value = "activity";
  auto moving = snapshots_of(active, 4);
  for (Snapshot& s : moving)
    for (std::size_t i = 0; i < s.values.size(); ++i) s.values[i] = 0.25 * static_cast<double>(i) * s.time;
  make(folder / "active", active, moving);

  make(folder / "swept", swept_layout(), swept_snapshots(5));
  make(folder / "swept_still", swept_layout(), swept_snapshots(1));

  // Nothing to draw.
  Layout bare;
  bare.scalars = layout.scalars;
  Snapshot nothing;
  nothing.resize(bare);
  make(folder / "bare", bare, {nothing});

  // A run that diverged.
  auto diverged = snapshots_of(layout, 4);
  diverged[2].positions[2].setConstant(1e300);
  diverged[2].points[1].setConstant(-1e200);
  diverged[3].rotations[1].coeffs().setConstant(std::numeric_limits<double>::quiet_NaN());
  diverged[3].points[2].setConstant(std::numeric_limits<double>::infinity());
  write_recording(folder / "diverged", layout, diverged);
  result::RecordingReader recording(folder / "diverged" / "frames");
  write_glb(recording, folder / "diverged" / "scene.glb");
}

}  // namespace
}  // namespace limber::exporting::testing

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_sample DIR\n", stderr);
    return 2;
  }
  try {
    limber::exporting::testing::make_all(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
