// The tree of links that the O(n) passes walk, compiled from a Model.
//
// Link i is body i of the model, with its frame M at its joint: X_PM(q) = X_PF · X_FM(q), where P is the
// parent link's own M. Motion subspaces are then unit vectors or nearly so (Featherstone 2008, table 4.1).
// Links stand depth first, so the subtree of i is the range [i, subtree_end(i)).
#pragma once

#include <span>
#include <vector>

#include "limber/model/model.h"

namespace limber::multibody {

struct Link {
  JointKind kind = JointKind::fixed;
  int parent = -1;   // −1: the world
  int q = 0, v = 0;  // first coordinate, first rate
  int dofs = 0;
  int block = 0;    // first entry of the joint's dofs × dofs block in arrays of joint matrices
  double lead = 0;  // of a screw: shift a radian [m]
  Pose X_PF;        // in the parent link's M (the world: in world coordinates)
  Pose X_MB;        // the body's own frame
  Inertia inertia;  // about M's origin, M's axes
};

struct Range {
  int begin = 0, end = 0;
};

class Tree {
 public:
  Tree() = default;
  explicit Tree(const Model& model);

  int size() const { return static_cast<int>(links_.size()); }
  int q_count() const { return q_count_; }
  int v_count() const { return v_count_; }
  int block_count() const { return block_count_; }
  const Link& operator[](int i) const { return links_[i]; }
  std::span<const Link> links() const { return links_; }
  int subtree_end(int i) const { return subtree_end_[i]; }

  // Disjoint subtrees that may be walked at the same time, and the links above them (ascending). The roots of
  // the subtrees hang on links of `top` or on the world. The cut does not depend on the number of threads.
  std::span<const Range> subtrees() const { return subtrees_; }
  std::span<const int> top() const { return top_; }
  std::span<const int> top_and_roots() const {
    return top_and_roots_;
  }  // ascending; −1−k for the root of subtree k
  bool worth_parallel() const { return worth_parallel_; }

 private:
  void cut_subtrees();
  std::vector<Link> links_;
  std::vector<int> subtree_end_;
  std::vector<Range> subtrees_;
  std::vector<int> top_, top_and_roots_;
  bool worth_parallel_ = false;
  int q_count_ = 0, v_count_ = 0, block_count_ = 0;
};

constexpr int coordinate_count(JointKind kind) {  // quaternions for rotations
  return dof_count(kind) + (has_rotation_vector(kind) ? 1 : 0);
}

// Coordinates of a tree from the dof arrays of the model's joints (rotation vectors become quaternions).
void set_coordinates(const Link& link, const DofArray& dofs, double* q);
DofArray get_coordinates(const Link& link, const double* q);

}  // namespace limber::multibody
