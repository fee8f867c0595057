// Poses, velocities and velocity-dependent accelerations of all links, and motion along the rates. O(n).
#pragma once

#include <vector>

#include "limber/multibody/joint_kinematics.h"

namespace limber::multibody {

struct Workers;  // threads to share a walk (parallel_walk.h); null: this thread alone

// What the passes read of a link. Computed by kinematics().
struct LinkMotion {
  Pose X_PM;  // in the parent link (the world)
  Pose X_WM;
  Vec6 V;  // twist of M in the world, seen in M
  Vec6 c;  // acceleration of M against its parent at zero joint acceleration: V × S v + S̊ v
};

void kinematics(const Tree& tree, const double* q, const double* v, std::vector<LinkMotion>& links,
                Workers* workers = nullptr);

// X_PM and X_WM alone.
void poses(const Tree& tree, const double* q, std::vector<LinkMotion>& links, Workers* workers = nullptr);

void integrate(const Tree& tree, const double* q, const double* v, double h, double* q_out);

// With `moved`: moved_mass() too, in the same pass.
double kinetic_energy(const Tree& tree, const std::vector<LinkMotion>& links, Vec3* moved = nullptr);
bool stands(const Tree& tree, int link);  // welded to the world
// Σ m c of what can move: what stands has no energy to give.
Vec3 moved_mass(const Tree& tree, const std::vector<LinkMotion>& links);
double gravity_energy(const Tree& tree, const std::vector<LinkMotion>& links, const Vec3& g);
Vec6 momentum_in_world(const Tree& tree, const std::vector<LinkMotion>& links);  // about the world's origin

}  // namespace limber::multibody
