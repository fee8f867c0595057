// The published chain algorithm (Hall 2013), kept as it was printed: elements are visited from the root to
// the tips, each bent by the load it feels where everything stands, all that hangs on it carried along, and
// the whole repeated until nothing moves. Three ways to find the moment on an element:
//
//   quadratic    algorithm 3.1: by a sum over all descendants, O(n²) a sweep
//   linear_16    algorithm 4.1: by sixteen basis matrices, O(n)
//   linear_12    appendix A: by the 4×3 matrix S = Σ P Fᵀ, O(n)
//
// Two ways to turn a joint: `differences` (algorithms 3.2, 4.2) turns by the change of the angle about each
// current axis in turn, so that the pose depends on the way it was reached; `coordinates` makes the pose a
// function of the joint's rotation vector alone, with the same rest as the potential ½θᵀKθ: what statics.h
// solves. Tips and root only: loads are dead forces and moments at the elements' tips.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "limber/math/spatial.h"
#include "limber/model/beam.h"

namespace limber::chain {

struct Element {
  int parent = -1;                          // before this one; −1: the ground
  Pose X;                                   // base frame on the parent's tip frame (on the world), x along
  double length = 1;                        // [m]
  Vec3 stiffness = Vec3::Ones();            // GJ, EI_y, EI_z [N·m²]
  Vec3 F = Vec3::Zero(), M = Vec3::Zero();  // on the tip, world axes [N, N·m]
  Recipe recipe = Recipe::published_3r;
  bool planar = false;  // bends about z only
};

enum class SweepAlgorithm : std::uint8_t { quadratic, linear_16, linear_12 };
enum class JointUpdate : std::uint8_t { differences, coordinates };
const char* to_string(SweepAlgorithm algorithm);
const char* to_string(JointUpdate update);

struct SweepOptions {
  SweepAlgorithm algorithm = SweepAlgorithm::linear_12;
  JointUpdate update = JointUpdate::differences;
  int load_increments = 1;
  int end_iterations = 100000;  // sweeps at most in an increment
  double tolerance = 1e-8;      // moments left over, relative to the largest
};

struct SweepReport {
  bool converged = false;
  long sweeps = 0;
  double residual = 0;
  int worst = -1;       // element
  std::string message;  // why not
};

class Sweeper {
 public:
  // Elements in any order with parents first.
  explicit Sweeper(const std::vector<Element>& elements);

  SweepReport solve(const SweepOptions& options);
  void sweep(const SweepOptions& options, double factor);  // one pass
  double residual(double factor);                          // of the joints' moments, as all stands

  // By the order the elements were given in.
  Vec3 tip(int element) const;
  Mat3 tip_frame(int element) const;
  Vec3 joint_angle(int element, int joint) const;
  int joint_count(int element) const;

 private:
  struct Pieces {
    std::array<Vec3, 5> P;      // base, joints, tip
    std::array<Mat3, 5> U;      // base frame, one a joint, then (published 1R) the tip's
    std::array<Vec3, 3> theta;  // of the joints
    std::array<Vec3, 3> k;      // [N·m/rad]
    int joints = 3;
  };
  struct Turn {  // x → R x + t
    Mat3 R = Mat3::Identity();
    Vec3 t = Vec3::Zero();
  };
  static Turn about(const Mat3& R, const Vec3& center) { return {R, center - R * center}; }
  static Turn then(const Turn& first, const Turn& second) {
    return {second.R * first.R, second.R * first.t + second.t};
  }
  Pose tip_pose(int i) const;  // by the own order
  void carry(Pieces& e, const Turn& turn) const;
  Turn bend_1r(Pieces& e, const Vec3& M, JointUpdate update, bool planar) const;
  Turn bend(Pieces& e, const Vec3& F, const Vec3& M, JointUpdate update, bool planar) const;
  Turn bend(int i, const Vec3& F, const Vec3& M, JointUpdate update);
  void sweep_quadratic(JointUpdate update, double factor);
  void sweep_linear(bool basis_16, JointUpdate update, double factor);

  std::vector<Element> elements_;  // depth first
  std::vector<int> place_;         // of the given order
  std::vector<int> end_;           // one past the last descendant
  std::vector<Pieces> pieces_;
  std::vector<Turn> turns_;
  std::vector<Vec3> F_, M_;
  std::vector<Eigen::Matrix<double, 4, 3>> S_;
  std::vector<std::array<Vec3, 16>> sigma_;
  int worst_ = -1;
};

}  // namespace limber::chain
