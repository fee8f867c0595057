// glTF 2.0: a root node that turns z up into y up, below it a node for each frame with shapes and for each
// polyline. A frame's node moves by translation and rotation; its shapes are its children. A polyline's
// segments are cylinders that move, turn and stretch; where it has a section, that is swept along it, a ring
// of corners to each of a skin's joints. What never changes stands in the node, what changes in the one
// animation.
#include "limber/export/glb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "limber/export/export.h"
#include "limber/export/glb_document.h"
#include "limber/export/glb_motion.h"
#include "limber/math/so3.h"

namespace limber::exporting {
namespace {

using result::Layout;

constexpr int segment_sides = 12;

// Linear RGB. Muted, told apart also without red or green.
constexpr std::array<Color, 8> palette = {{{0.05f, 0.21f, 0.48f},
                                           {0.79f, 0.27f, 0.02f},
                                           {0.02f, 0.33f, 0.20f},
                                           {0.58f, 0.19f, 0.38f},
                                           {0.13f, 0.46f, 0.80f},
                                           {0.72f, 0.44f, 0.04f},
                                           {0.30f, 0.16f, 0.55f},
                                           {0.40f, 0.38f, 0.30f}}};
constexpr Color fixed_color = {0.22f, 0.23f, 0.25f}, line_color = {0.10f, 0.10f, 0.12f};

// Where frames carry a value: from gray (0) to red (1), in nine tones so that meshes are shared.
Color color_of_value(double value) {
  constexpr int tones = 8;
  const float x = static_cast<float>(std::round(std::clamp(value, 0.0, 1.0) * tones)) / tones;
  const Color rest = {0.30f, 0.32f, 0.35f}, most = {0.80f, 0.05f, 0.03f};
  return {rest[0] + x * (most[0] - rest[0]), rest[1] + x * (most[1] - rest[1]),
          rest[2] + x * (most[2] - rest[2])};
}

Color color_of(const Layout& layout, const std::vector<double>& values, std::size_t frame) {
  if (!values.empty()) return color_of_value(values[frame]);
  const result::FrameInfo& info = layout.frames[frame];
  return info.color.value_or(info.fixed ? fixed_color : palette[frame % palette.size()]);
}

// Thin lines are drawn dark, as on paper; beams in the palette's colors.
Color color_of_line(const Layout& layout, std::size_t polyline) {
  const result::PolylineInfo& info = layout.polylines[polyline];
  return info.color.value_or(info.radius > 0 ? palette[(polyline + 4) % palette.size()] : line_color);
}

bool changes(const std::vector<float>& values, std::size_t components) {
  return values.size() > components &&
         !std::equal(values.begin() + static_cast<std::ptrdiff_t>(components), values.end(), values.begin());
}

std::string transform(const Track& track) {
  std::string json = fmt::format(",\"translation\":{},\"rotation\":{}",
                                 json_list(track.translation.data(), 3), json_list(track.rotation.data(), 4));
  if (!track.scale.empty()) json += fmt::format(",\"scale\":{}", json_list(track.scale.data(), 3));
  return json;
}

void animate(GlbDocument& document, std::size_t node, const Track& track) {
  if (changes(track.translation, 3)) document.animate(node, "translation", track.translation);
  if (changes(track.rotation, 4)) document.animate(node, "rotation", track.rotation);
  if (changes(track.scale, 3)) document.animate(node, "scale", track.scale);
}

bool moves(const Motion& motion) {
  const auto any = [](const Track& t) {
    return changes(t.translation, 3) || changes(t.rotation, 4) || changes(t.scale, 3);
  };
  for (const SweptLine& line : motion.swept)
    if (std::any_of(line.tracks.begin(), line.tracks.end(), any)) return true;
  return std::any_of(motion.frames.begin(), motion.frames.end(),
                     [&](const auto& f) { return any(f.track); }) ||
         std::any_of(motion.segments.begin(), motion.segments.end(),
                     [&](const auto& s) { return any(s.track); });
}

void add_frame(GlbDocument& document, const Layout& layout, const std::vector<double>& values,
               const MovingFrame& frame) {
  const result::FrameInfo& info = layout.frames[frame.frame];
  std::vector<std::size_t> children;
  for (const Shape& shape : info.shapes) {
    Track place;
    place.add_pose(shape.X_BG.p, math::to_quat(shape.X_BG.R));
    const std::size_t mesh =
        document.mesh(shape.geometry, default_sides, color_of(layout, values, frame.frame));
    children.push_back(document.add_node(fmt::format("{{\"mesh\":{}{}}}", mesh, transform(place))));
  }
  const std::size_t node =
      document.add_node(fmt::format("{{\"name\":{}{},\"children\":[{}]}}", json_string(info.name),
                                    transform(frame.track), fmt::join(children, ",")));
  document.add_to_root(node);
  animate(document, node, frame.track);
}

// The segments [begin, end) are those of one polyline.
void add_polyline(GlbDocument& document, const Layout& layout, const Segment* begin, const Segment* end) {
  const std::size_t mesh =
      document.mesh(CylinderShape{1, 1}, segment_sides, color_of_line(layout, begin->polyline));
  std::vector<std::size_t> children;
  for (const Segment* segment = begin; segment != end; ++segment) {
    children.push_back(document.add_node(fmt::format("{{\"mesh\":{}{}}}", mesh, transform(segment->track))));
    animate(document, children.back(), segment->track);
  }
  document.add_to_root(document.add_node(fmt::format("{{\"name\":{},\"children\":[{}]}}",
                                                     json_string(layout.polylines[begin->polyline].name),
                                                     fmt::join(children, ","))));
}

// Where a joint's frame is in its first sample: columns scaled axes and the origin.
struct JointFrame {
  Mat3 A;
  Vec3 p;
};
JointFrame first_frame(const Track& t) {
  const Quat q(t.rotation[3], t.rotation[0], t.rotation[1], t.rotation[2]);
  return {math::to_matrix(math::normalized(q)) * Vec3(t.scale[0], t.scale[1], t.scale[2]).asDiagonal(),
          {t.translation[0], t.translation[1], t.translation[2]}};
}

// Rings of corners joined by strips, and a face at either end.
Mesh swept_mesh(const SweptLine& line, const std::vector<JointFrame>& frames,
                std::vector<std::uint16_t>& joint_of) {
  const std::vector<RingCorner> ring = ring_of(line.sweep.outline);
  const auto m = static_cast<std::uint32_t>(ring.size());
  Mesh mesh;
  const auto add = [&](std::size_t joint, const Vec2& at, const Vec3& normal) {
    mesh.positions.push_back(frames[joint].A * Vec3(0, at[0], at[1]) + frames[joint].p);
    mesh.normals.push_back((frames[joint].A * normal).normalized());
    joint_of.push_back(static_cast<std::uint16_t>(joint));
  };
  for (std::size_t i = 0; i < frames.size(); ++i)
    for (const RingCorner& c : ring) add(i, c.at, {0, c.normal[0], c.normal[1]});
  for (std::uint32_t i = 0; i + 1 < frames.size(); ++i)
    for (std::uint32_t k = 0; k < m; ++k) {
      if (!ring[k].joined) continue;
      const std::uint32_t a = m * i + k, b = m * i + (k + 1) % m;
      mesh.triangles.push_back({a, b, b + m});
      mesh.triangles.push_back({a, b + m, a + m});
    }
  for (const bool end : {false, true}) {
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    const auto n = static_cast<std::uint32_t>(line.sweep.outline.size());
    for (const Vec2& corner : line.sweep.outline)
      add(end ? frames.size() - 1 : 0, corner, {end ? 1.0 : -1.0, 0, 0});
    for (std::uint32_t k = 1; k + 1 < n; ++k)
      mesh.triangles.push_back({first, first + (end ? k : k + 1), first + (end ? k + 1 : k)});
  }
  return mesh;
}

void add_swept(GlbDocument& document, const Layout& layout, const SweptLine& line) {
  std::vector<std::size_t> joints;
  std::vector<JointFrame> frames;
  std::vector<float> inverse;  // of each joint's first frame, by columns
  for (const Track& track : line.tracks) {
    joints.push_back(document.add_node(fmt::format("{{{}}}", transform(track).substr(1))));
    document.add_to_root(joints.back());
    animate(document, joints.back(), track);
    frames.push_back(first_frame(track));
    const Mat3 back = frames.back().A.inverse();
    const Vec3 p = -(back * frames.back().p);
    for (int c = 0; c < 4; ++c)
      for (int r = 0; r < 4; ++r)
        inverse.push_back(r == 3 ? (c == 3 ? 1.0f : 0.0f) : to_float(c == 3 ? p[r] : back(r, c)));
  }
  std::vector<std::uint16_t> joint_of;
  const Mesh mesh = swept_mesh(line, frames, joint_of);
  document.add_skinned(layout.polylines[line.sweep.polyline].name, mesh,
                       color_of_line(layout, line.sweep.polyline), joint_of, joints, inverse);
}

std::string extras_of(std::uint64_t recorded, const Motion& motion) {
  std::string notes;
  if (motion.times.size() < recorded)
    notes += fmt::format("{} of {} recorded frames, to keep the file small. ", motion.times.size(), recorded);
  if (motion.point_stride > 1)
    notes += fmt::format("Every {}th point of the lines, to keep the file small. ", motion.point_stride);
  if (!notes.empty()) notes.pop_back();
  return fmt::format("{{\"recordedFrames\":{},\"frames\":{},\"pointStride\":{}{}}}", recorded,
                     motion.times.size(), motion.point_stride,
                     notes.empty() ? "" : ",\"note\":" + json_string(notes));
}

}  // namespace

void write_glb(result::RecordingReader& recording, const std::filesystem::path& file,
               const GlbLimits& limits) {
  const Layout& layout = recording.layout();
  const Motion motion = read_motion(recording, limits);
  GlbDocument document;
  if (moves(motion)) document.set_times(motion.times);
  result::Snapshot last_frame;  // colors are those of the end
  if (!layout.frame_value.empty() && recording.frame_count() > 0)
    recording.read(recording.frame_count() - 1, last_frame);
  for (const MovingFrame& frame : motion.frames) add_frame(document, layout, last_frame.values, frame);
  for (const Segment *begin = motion.segments.data(), *last = begin + motion.segments.size();
       begin != last;) {
    const Segment* end =
        std::find_if(begin, last, [&](const Segment& s) { return s.polyline != begin->polyline; });
    add_polyline(document, layout, begin, end);
    begin = end;
  }
  for (const SweptLine& line : motion.swept) add_swept(document, layout, line);
  document.write(file, layout.title, extras_of(recording.frame_count(), motion));
}

void write_glb(result::RecordingReader& recording, const std::filesystem::path& file) {
  write_glb(recording, file, GlbLimits{});
}

}  // namespace limber::exporting
