// A reduced compliant model (FORK-1S, Andrews, Teichmann, Kry): what a mechanism of sprung links looks like
// from its end effectors. See docs/theory/rom.md.
//
// Coordinates u = (ξ of every end, z of internal modes); ξ moves an end from where a point was taken,
// X_e = X_e⁰ exp(ξ), in its own axes. At a point the mechanism is K u, M u̇, D u̇, and every link moves by
// exp(B_l (u; s)): static condensation of the whole, with s the inputs (targets of servos). Several points
// are blended (blend.h).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "limber/math/spatial.h"
#include "limber/multibody/small_motion.h"

namespace limber::rom {

// How the links' inertia (and dampers) are seen from the ends.
//   condensed: Bᵀ M B, the links move as the static maps move them
//   operational: (J M⁻¹ Jᵀ)⁻¹, what moves in the first instant
//   published: inverse inertias of single links added up along the chain (the paper's eq. 7)
enum class InertiaKind : std::uint8_t { condensed, operational, published };
inline constexpr InertiaKind all_inertia_kinds[] = {InertiaKind::condensed, InertiaKind::operational,
                                                    InertiaKind::published};
const char* to_string(InertiaKind kind);

// exact: one solve of the linearised, constrained structure; walk: chain, split and merge from the base on,
// as published.
enum class Construction : std::uint8_t { exact, walk };
inline constexpr Construction all_constructions[] = {Construction::exact, Construction::walk};
const char* to_string(Construction construction);

struct BuildOptions {
  InertiaKind inertia = InertiaKind::condensed;
  Construction construction = Construction::exact;
  int modes = 0;  // internal vibrations beside the ends
};

// A servo's target, or a drive's force, that changes with time.
struct Input {
  int joint = 0, dof = 0;  // of the mechanism's own joints
  double gain = 1;         // [force on the coordinate per unit of input]
};

// One bound of a joint's coordinate.
struct JointLimit {
  int joint = 0, dof = 0;
  bool upper = true;
  double bound = 0;  // [rad or m]
};

// A servo whose force is cut at ±most.
struct CappedServo {
  int joint = 0, dof = 0;
  double kp = 0, kd = 0, most = 0;
};

// Where the two halves of a joint meet, in the bodies' frames; −1: the base.
struct JointSite {
  int a = -1, b = -1;
  Vec3 on_a, on_b;
};

struct Point {
  std::vector<Pose> X;      // (links) bodies in the base's frame (the world, where the base does not move)
  VecX input;               // (inputs)
  double time = 0;          // [s] whose loads act at this point
  VecX wrench;              // (6 ends) on the ends, own axes, that holds it there
  double energy = 0;        // [J] of springs and, where the base does not fly, weight
  MatX C, K, M, D;          // (n × n); K is the inverse of C within its range
  MatX input_force;         // (n × inputs) ∂(force on the coordinates)/∂s, ends held
  MatX momentum;            // (6 × n) of the links about the base's origin, per unit of u̇
  Inertia inertia;          // of all links, in the base's frame
  int rank = 0;             // of C
  std::vector<double> map;  // (links) B_l: 6 × (n + inputs), column-major
  // Coordinates that are watched: of every limit, then of every capped servo.
  std::vector<double> watched_at;  // (watched) there
  MatX watched_rows;               // (watched × (n + inputs)) its change
  MatX watched_compliance;         // (watched × watched) what a force on it moves it with the ends held
  // For blending (blend.cpp): a basis U of the range of C, turned to fit its neighbours', and the matrices in
  // it.
  MatX U, C_U, M_U, D_U, K_U;
};

// How well blended points stand for the whole: filled where points were chosen by error.
struct Quality {
  int tested = 0;                // poses that were compared with the whole mechanism
  double gap_bound = 0;          // asked for: joint gaps summed, of the radius
  double end_bound = 0;          // asked for: pose of an end, of the radius
  double gap = 0, end = 0;       // found
  double force = 0, moment = 0;  // [N], [N·m] range of loads on each end that was covered
};

struct Mechanism {
  std::string name;
  std::vector<int> bodies;         // of the model, in its order
  std::vector<std::string> names;  // of the bodies
  std::vector<int> ends;           // positions in `bodies`
  bool free_base = false;          // bodies[0] is free to fly
  double radius = 1;               // [m] of a sphere around it
  int modes = 0;
  std::vector<Input> inputs;
  std::vector<JointLimit> limits;
  std::vector<CappedServo> servos;
  std::vector<JointSite> sites;   // of joints that hold their two halves together, loops too
  std::vector<Inertia> inertias;  // (bodies) in their own frames
  std::vector<Point> points;      // the first: at rest
  Quality quality;

  int coordinates() const { return 6 * static_cast<int>(ends.size()) + modes; }
  int columns() const { return coordinates() + static_cast<int>(inputs.size()); }
  int watched() const { return static_cast<int>(limits.size() + servos.size()); }
  // Joint and freedom of a watched coordinate.
  std::pair<int, int> watched_joint(int k) const {
    const int n = static_cast<int>(limits.size());
    return k < n ? std::pair(limits[k].joint, limits[k].dof)
                 : std::pair(servos[k - n].joint, servos[k - n].dof);
  }
};

struct ReducedModel {
  std::vector<Mechanism> mechanisms;
};

// A point from the small motions about it. `ends`, inputs and limits as in the mechanism; fills everything
// but input, time and wrench. Throws std::invalid_argument if the mechanism cannot be reduced, with the
// reason.
Point make_point(const Mechanism& mechanism, multibody::SmallMotion& motion, const BuildOptions& options);

// The compliance of the ends by the paper's walk over links and joints (walk.cpp): (6 ends)².
MatX walk_compliance(multibody::SmallMotion& motion, const std::vector<int>& ends);

// Inverse inertias (dampers) of single joints added up in the same way.
MatX walk_accelerability(multibody::SmallMotion& motion, const std::vector<int>& ends);

// Inverse of a symmetric matrix within its range. Coordinates are scaled by `scale` before eigenvalues are
// compared; at most `most` of them are kept.
struct RangeInverse {
  MatX inverse;
  MatX projector;  // onto the range
  int rank = 0;
};
RangeInverse invert_in_range(const MatX& A, const VecX& scale, int most);

}  // namespace limber::rom
