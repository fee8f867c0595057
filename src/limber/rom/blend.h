// Several linearisation points as one model: one energy V(a, s) and one place of every link X_l(a, s), each a
// blend of what the points say, and their derivatives. With u = (a, s) and u_i = u − (a_i, s_i)
//
//   weights   α_i ∝ |u_i|⁻⁴
//   energy    V = Σ α_i (V_i + g_i·u_i + ½ u_i·H_i u_i): at every point value, slope and curvature are its
//   own.
//             The force is the gradient, weights included, so that no closed way makes or takes work.
//   links     X_l = X_l⁰ exp(Σ α_i (ψ_i + Ψ_i y_i)), all in the chart of the first point, y_i = ½ (u_i + Σ
//   α_j
//             u_j): the trapezoidal rule, ½ (Ψ_i + Σ α_j Ψ_j) u_i, along the way from every point.
#pragma once

#include "limber/rom/pose_batch.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {

using Twists = Eigen::Matrix<double, 6, Eigen::Dynamic>;

// Puts all points into one chart: fills their `curve` and `chart`. Call it whenever a point was added.
void join_points(Mechanism& mechanism);

// What the points say where the coordinates are.
struct Blend {
  explicit Blend(const Mechanism& mechanism);

  VecX at;                          // (n + inputs) a, s
  std::vector<double> weight;       // (points)
  std::vector<VecX> u, y;           // (points) (n + inputs) each
  MatX change;                      // (points × (n + inputs)) ∂α
  MatX along;                       // (n + inputs)² ∂y, the same for every point
  double energy = 0, distance = 0;  // [J]; of the nearest point
  VecX force;                       // (n) ∂V/∂a
  MatX curve;                       // (n × n) ∂²V/∂a², if asked for
  MatX M, D;                        // (n × n) Σ α_i M_i, …
  // Scratch.
  std::vector<double> value, nearness;
  std::vector<VecX> slope;
  VecX mean, mean_slope, momentum;
  Twists map, mean_map;
};

// At blend.at; the curvature only if asked for.
void blend_at(const Mechanism& mechanism, Blend& blend, bool with_curve = false);
void blend_inertia(const Mechanism& mechanism, Blend& blend);

// Of a link in the base's frame: its pose, and its twist (own axes) per unit of (ȧ; ṡ), 6 × (n + inputs),
// valid until the next one is asked for.
Pose link_pose(const Mechanism& mechanism, const Blend& blend, int link);
const Twists& link_map(const Mechanism& mechanism, Blend& blend, int link);
void link_poses(const Mechanism& mechanism, const Blend& blend, std::vector<Pose>& X);

// Wrenches on the ends, own axes, that hold it there: of all that do, the smallest (metres by the radius).
VecX end_wrenches(const Mechanism& mechanism, Blend& blend);

// Coordinates of the mechanism whose joints stand at x.
VecX coordinates_of(const Mechanism& mechanism, const VecX& x);

}  // namespace limber::rom
