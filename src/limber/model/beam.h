// Beams: a slender elastic rod along a path, with a material and a section. Methods turn it into what they
// solve.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "limber/model/body.h"

namespace limber {

// Paths in the frame that the beam starts from (world, a body's frame, or a beam's tip frame: x along, y, z
// section).
struct PolylinePath {
  std::vector<Vec3> points;  // at least two
};
struct ArcPath {  // from `start`, along `direction`, bending towards `towards`, with `radius`, through
                  // `angle`
  Vec3 start = Vec3::Zero(), direction = Vec3::UnitX(), towards = Vec3::UnitZ();
  double radius = 1, angle = pi / 2;
};
struct HelixPath {  // about the axis through `center`, first point at center + radius·start_direction
  Vec3 center = Vec3::Zero(), axis = Vec3::UnitZ(), start_direction = Vec3::UnitX();
  double radius = 1, pitch = 0.1, turns = 1;  // pitch [m a turn]; negative turns: left-handed
};
using Path = std::variant<PolylinePath, ArcPath, HelixPath>;

double path_length(const Path& path);
Vec3 path_point(const Path& path, double s);    // s = arc length / length in 0…1
Vec3 path_tangent(const Path& path, double s);  // unit; at a polyline's corner, the segment that follows

// A pseudo-rigid-body recipe: how an element becomes rigid links and sprung joints
// (elastic/pseudo_rigid_body.h).
enum class Recipe : std::uint8_t { consistent_3r, consistent_1r, published_3r, published_1r };

// How a place of a beam is held by a body or the world. clamped: position and the section's directions;
// pinned: position; welded: the midline's direction and stretch too.
enum class Hold : std::uint8_t { clamped, pinned, welded, free };
inline constexpr Hold all_holds[] = {Hold::clamped, Hold::pinned, Hold::welded, Hold::free};
const char* to_string(Hold hold);

// Holds the node at s where it is at t = 0, relative to a body (the world) that may be driven, while t <
// `until`. Threads only.
struct BeamClamp {
  double s = 1;
  BodyId body = world;
  Hold hold = Hold::clamped;
  double until = std::numeric_limits<double>::infinity();  // [s]
};

// What a beam is at ease, where that is not its path: the same path of another length, or another path.
// Places at the same fraction of the length are the same.
struct BeamEase {
  double length = 0;         // [m] 0: of `path`
  std::optional<Path> path;  // only its shape counts
  Vec3 up = Vec3::UnitZ();   // the section's z axis at the root of `path`
};

struct Beam {
  std::string name;
  Attachment from;  // where the root is clamped; the path is given in that frame (see Path)
  Path path;
  MaterialId material;
  SectionId section;
  Vec3 up = Vec3::UnitZ();  // the section's z axis at the root, made orthogonal to the tangent
  int elements = 10;
  Recipe recipe = Recipe::consistent_3r;
  bool planar = false;           // bends about the section's y axis only: the planar recipes
  std::optional<bool> stretch;   // along itself and in shear, as links; none: where it is held
  double damping = 0;            // stiffness-proportional: moment = damping · d(moment)/dt [s]
  std::optional<BeamEase> rest;  // none: at ease on its path
  std::vector<int> surfaces{};   // of ModelParts::surfaces
  // Of threads:
  Hold root = Hold::clamped;  // how `from` holds the root
  std::vector<BeamClamp> clamps;
  bool straight = false;         // at ease it is straight and untwisted, whatever its path at t = 0
  double air_damping = 0;        // force −air_damping · mass · velocity [1/s]
  Vec3 velocity = Vec3::Zero();  // at t = 0 [m/s]
};

bool can_stretch(Recipe recipe);        // the published recipes are of rods that do not
double rest_length(const Beam& beam);   // [m]
bool changes_length(const Beam& beam);  // at ease it is longer or shorter than its path

}  // namespace limber
