// A reduced compliant model (FORK-1S, Andrews, Teichmann, Kry): what a mechanism of sprung links looks like
// from its end effectors. See docs/theory/rom.md.
//
// Coordinates a are linear in the joints' coordinates: as many as directions in which the ends can move,
// chosen so that one unit moves an end by the mechanism's radius or by half a turn. With the inputs s
// (targets of servos) they say everything: energy, inertia and where every link is. At a point where the
// mechanism rests value, slope and curvature are the whole's, by static condensation; between points they are
// blended (blend.h).
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
  std::vector<Pose> X;  // (links) bodies in the base's frame (the world, where the base does not move)
  VecX at;              // (n) coordinates a
  VecX input;           // (inputs)
  double time = 0;      // [s] whose loads act at this point
  VecX wrench;          // (6 ends) on the ends, own axes, that holds it there
  MatX C, K;            // (6 ends)², of the ends in exp(ξ); K is the inverse of C within its range
  double energy = 0;    // [J] of springs, servos and, where the base does not fly, weight and inner loads
  VecX slope;           // (n + inputs) of the energy
  MatX response;    // (n + inputs)² its curvature as loads see it that stay the same in exp(ξ) of the ends
  MatX M, D;        // (n × n)
  MatX momentum;    // (6 × n) of the links about the base's origin, per unit of ȧ
  Inertia inertia;  // of all links, in the base's frame
  int rank = 0;     // of C
  std::vector<double> map;  // (links) B_l: 6 × (n + inputs), column-major: twists in the body's axes
  // Coordinates that are watched: of every limit, then of every capped servo.
  std::vector<double> watched_at;  // (watched) there
  MatX watched_rows;               // (watched × (n + inputs)) its change
  MatX watched_compliance;         // (watched × watched) what a force on it moves it beside that
  // Made from these by join_points(): all points in one chart, that of the first one.
  MatX curve;                 // (n + inputs)² of the energy
  std::vector<double> chart;  // (links) ψ_l, Ψ_l: 6 × (1 + n + inputs), X_l = X_l⁰ exp(ψ_l + Ψ_l u)
};

// How well blended points stand for the whole, where they were chosen by error: found on loads that were
// drawn from the range afterwards and had no part in choosing them.
struct Quality {
  int tested = 0;                // held-out loads; 0: points were not chosen by error
  int beyond = 0;                // of them beyond a bound
  double gap_bound = 0;          // asked for: joint gaps summed, of the radius
  double end_bound = 0;          // asked for: pose of an end, of the radius
  double gap = 0, end = 0;       // the worst of all held-out loads
  double force = 0, moment = 0;  // [N], [N·m] range of loads on each end
  double reached = 1;            // share of that range below which no held-out load is beyond
  double share = 0;  // at least so many of all loads are within `gap` and `end`, at 95 % confidence
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
  MatX directions;                // (rates of the joints × n) motions at rest that span the coordinates
  MatX labels;                    // (rates × n) a = labelsᵀ (x − x_rest), x the joints' coordinates
  VecX rest;                      // (rates) x at rest
  std::vector<Point> points;      // the first: at rest
  Quality quality;

  int coordinates() const { return static_cast<int>(labels.cols()); }
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

// The small motions about a rest, and where its joints are: x, and how their rates change x.
struct Rest {
  multibody::SmallMotion& motion;
  VecX x;               // (rates)
  MatX rate_to_change;  // (rates × rates) block-diagonal: one for hinges and slides
};

// The directions of a point's motions that the mechanism's coordinates do not span yet are added to them, and
// x is taken as its rest if there were none. False if there was nothing to add.
bool extend_coordinates(Mechanism& mechanism, const Rest& rest, const BuildOptions& options);

// A point from the small motions about it. `ends`, inputs, limits and coordinates as in the mechanism; fills
// everything but input, time, wrench and energy. Throws std::invalid_argument if the mechanism cannot be
// reduced, with the reason.
Point make_point(const Mechanism& mechanism, const Rest& rest, const BuildOptions& options);

// The compliance of the ends by the paper's walk over links and joints (walk.cpp): (6 ends)².
MatX walk_compliance(multibody::SmallMotion& motion, const std::vector<int>& ends);

// Inverse inertias (dampers) of single joints added up in the same way.
MatX walk_accelerability(multibody::SmallMotion& motion, const std::vector<int>& ends);

// Inverse of a symmetric matrix within its range. Coordinates are scaled by `scale` before eigenvalues are
// compared; at most `most` of them are kept.
struct RangeInverse {
  MatX inverse;
  MatX basis;  // (n × rank) of the range, orthonormal where scaled
  int rank = 0;
};
RangeInverse invert_in_range(const MatX& A, const VecX& scale, int most);

}  // namespace limber::rom
