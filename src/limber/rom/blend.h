// Several linearisation points as one model (Andrews et al., section 7), without a point that is called
// first.
//
//   weights   α_i ∝ ((R − d_i)₊ / (R d_i))⁴, d_i the distance of the ends from point i (radians over π,
//             metres over the radius), R the distance of the first point that is left out: a point that
//             enters or leaves has weight zero (∞ where all are in).
//   force     w = Σ α_i J_r(ξ_i)⁻ᵀ (b_i + K_i ξ_i + …): every point sees the ends from where it was taken, so
//             value and slope are its own at every point.
//   matrices  every point's matrices in a basis U_i of its admissible directions: eigenvectors of its
//             compliance, matched to its neighbour's by |dot|, signs turned, eigenvalues that repeat turned
//             as one space. Then U = Σ α_i U_i, C = Σ α_i C_i in it. The matching is done once (align), so
//             nothing jumps.
//   poses     the trapezoidal rule along the way from every point, X_l⁰ exp(½ (B_i + B) u_i) with the map of
//             where the ends are, B = Σ α_i B_i: as mean(X_l⁰ exp(B_i u_i)) exp(½ Σ α_i B_i (Σ α_j u_j −
//             u_i)), the same to the third order in u.
#pragma once

#include "limber/math/dense.h"
#include "limber/rom/pose_batch.h"
#include "limber/rom/reduced_model.h"

namespace limber::rom {

// Bases of all points turned to fit each other; fills U, C_U, M_U, D_U, K_U. Call it whenever a point was
// added.
void align(Mechanism& mechanism);

inline constexpr int most_blended = 8;

// Where the ends of one mechanism are, seen from its base.
struct Ends {
  std::vector<Pose> X;  // (ends)
  VecX z;               // (modes)
  VecX input;           // (inputs)
};

// What the points that count say about the ends where they are.
struct Blend {
  explicit Blend(const Mechanism& mechanism);

  int count = 0;           // points that count
  std::vector<int> point;  // (count)
  std::vector<double> weight;
  std::vector<VecX> u;     // (count) coordinates and inputs, from that point: (columns)
  std::vector<VecX> bend;  // (count) α (Σ α u − u)/2, for the poses of links
  VecX force;              // (n) that holds the ends there, own axes; what the modes push back with
  double energy = 0;       // [J] stored, above the rest
  double distance = 0;     // of the nearest point

  // Scratch.
  std::vector<double> distances, sorted;
  std::vector<VecX> all_u;
  VecX part, mean;
  std::vector<BlendPart> parts;
};

void blend_at(const Mechanism& mechanism, const Ends& ends, Blend& blend);

// Blended matrices in the blended basis; needed where more than one point counts.
struct BlendedMatrices {
  MatX U, C_U, M_U, D_U, K_U;
  // Scratch of return_ends.
  MatX scaled, gram;
  VecX off, along;
  math::Cholesky llt;
};
void blend_matrices(const Mechanism& mechanism, const Blend& blend, BlendedMatrices& out);

// Poses of links in the base's frame: all of them, or only link `link`.
void link_poses(const Mechanism& mechanism, const Blend& blend, std::vector<Pose>& X);
Pose link_pose(const Mechanism& mechanism, const Blend& blend, int link);

// An end that cannot move in all directions is brought back to where the points allow it to be: only across
// the blended directions, so that nothing creeps along them. Uses `matrices` as scratch.
void return_ends(const Mechanism& mechanism, const Blend& blend, BlendedMatrices& matrices, Ends& ends);

// Twists of a link per unit of (u̇; ṡ), blended: 6 × columns.
MatX link_map(const Mechanism& mechanism, const Blend& blend, int link);

}  // namespace limber::rom
