// A chain: a tree of rigid links on sprung joints, as flat arrays, parent before child.
//
// Hall 2013 (The Pseudo-Rigid-Body Model for Fast, Accurate, Non-Linear Elasticity) lays beams end to end and
// replaces each by rigid pieces with torsion springs between them. Here the pieces of neighbouring elements
// that no joint separates are one link. A link's frame L lies at its joint with the joint's axes, x along the
// beam:
//
//   X_WL = X_WP · (R_f, p_f) · exp(θ),   V = ½ θᵀ diag(k) θ       (P: the parent's link frame, or the world)
//
// A link's pose is a function of the θ's alone: results do not depend on how a load was brought up. A hinge
// turns about z only. Where links stretch, p_f grows by e = C Rᵀ N: the joint's compliance, in the axes of
// the parent's link, times the force N that hangs on it (stretch.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "limber/math/spatial.h"

namespace limber::chain {

struct Links {
  std::vector<int> parent;             // −1: the world
  std::vector<Mat3> R_f;               // joint frame on the parent's link
  std::vector<Vec3> p_f;               // [m]
  std::vector<Vec3> stiffness;         // about the joint's axes [N·m/rad]
  std::vector<std::uint8_t> hinge;     // turns about z only
  std::vector<Mat3> compliance;        // of the shift before the joint, in the parent's axes [m/N]
  std::vector<std::uint8_t> straight;  // R_f is the identity
  std::vector<std::uint8_t> active;    // 0: not there (not grown yet, or broken off), nor is what hangs on it
  std::vector<std::string> name;       // of the joint; may be empty
  bool stretch = false;                // any compliance is not zero

  int count() const { return static_cast<int>(parent.size()); }
  // The last link on the way to both; −1: none.
  int common(int a, int b) const {
    while (a != b && a >= 0 && b >= 0) (a > b ? a : b) = parent[a > b ? a : b];
    return a == b ? a : -1;
  }
  void set_rest(int link, const Mat3& R);  // R_f
  void set_compliance(int link, const Mat3& C);
  int add(int parent_link, const Pose& X_PF, const Vec3& k, bool is_hinge = false, std::string label = "");
};

// Where the links are. θ of a hinge is (0, 0, angle), not cut at ±π.
struct Shape {
  std::vector<Vec3> theta;
  std::vector<Quat> q;  // of the joint: exp(θ)
  std::vector<Mat3> R;  // the same
  void resize(int links);
};

// Moves every joint by a small rotation in its own (child's) axes: R ← R exp(δ).
void advance(const Links& links, Shape& shape, const std::vector<Vec3>& delta, double factor);

// The moment that a joint needs to stand at θ, in the link's axes, its energy, and the symmetric second
// derivative of the energy along R exp(δ).
struct JointMoment {
  double energy = 0;
  Vec3 moment = Vec3::Zero();
  Mat3 K = Mat3::Zero();
};
JointMoment joint_moment(const Vec3& k, const Vec3& theta, bool hinge, bool with_K);

// θ at which a ball joint's moment, in the link's own axes, is m.
Vec3 joint_angle(const Vec3& k, const Vec3& m, bool hinge);

}  // namespace limber::chain
