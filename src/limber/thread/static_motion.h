// How threads move in search of a rest: along their own arcs, not straight on. Internal to thread/.
//
// A step turns the nodes by θ_j, strains them by V_j and changes the stretch and slope (|q|, q_y, q_z) of
// each element, all linear in the solution of Newton's equations. Nodes turn by exp(θ_j), and positions
// follow from the elements, one after the other:
//
//   P⁺ = P exp(αθ),  U⁺ = U + αV,  z⁺ = z + α δz,   x_{j+1} = x_j + P_j⁺ exp(φ⁺) J_r(φ⁺) q⁺
//
// (the inverse of q = B(φ) Rᵀ(x_{j+1} − x_j)). So a step strains a thread by what its equations say and no
// more, however far it turns. Straight on, nodes that turn by θ would stretch the elements by θ²/2, against a
// stiffness that is (length/radius)² times that of bending.
//
// A thread whose position is held at several nodes misses all but the first of them by some d, of second
// order. The same matrix says how it moves if those nodes are moved by d, which closes the gap to higher
// order; a few rounds, and what is left is spread along the thread.
#pragma once

#include "limber/thread/system.h"

namespace limber::thread {

// A shape of all threads by what strains them.
struct Shape {
  std::vector<Mat3> P, U;  // (nodes)
  std::vector<Vec3> x;     // (nodes)
  std::vector<Vec3> z;     // (slots) |q|, q_y, q_z
};

struct Turns {
  double node = 0;     // [rad] largest turn of a node
  double element = 0;  // … of an element's nodes against each other
  double strain = 0;   // … strain
};

class StaticMotion {
 public:
  StaticMotion(const SystemData& s, const State& state, WorkspaceData& w);
  void take_shape();    // from the arrays of the last evaluate()
  void take_columns();  // of the tangent at hand, before it is held and factored
  // x = A⁻¹x by the matrix at hand, without a component along the step δ (in A, whose product with it is
  // `push`): closing a gap must not lead along a direction that hardly anything holds.
  void solve_across(double* x) const;
  void take_step(const double* delta, const double* push);
  // Tension and shears of all slots after a motion, as its equations have them, into elements.foreseen.
  void foresee(const double* delta);
  Turns turns(const double* delta) const;  // of a motion in node axes
  // The shape moved by `share` of the motion, closed, into e; false if it cannot be closed.
  bool moved(const double* delta, double share, double* e);
  bool moved_on(const double* delta, double* e);  // from there, by a motion in its axes

 private:
  struct Anchor {  // a node whose position is held, beyond the first of its piece
    int node = 0;
    Vec3 off = Vec3::Zero();                          // from where it is held, in its axes
    Eigen::Matrix<double, 12, 3> before, own, after;  // columns of the tangent
  };
  struct Piece {
    int first = 0, last = 0, base = 0;  // nodes; base: the one whose position is known
  };
  void add_piece(int first, int last);
  int base_of(int first, int last) const;
  void take_motion(const double* delta);
  void advance(const double* delta, double share);
  Vec3 stretch_of(int slot, const double* delta) const;
  void sweep();
  Vec3 chord(int slot) const;
  double gap();
  bool close();
  void spread();
  void write(double* e) const;
  bool position_held(int node) const { return (w_.held[node] & 1u) != 0; }

  const SystemData& s_;
  const State& state_;
  WorkspaceData& w_;
  std::vector<Piece> pieces_;
  std::vector<Anchor> anchors_;
  Shape at_, next_;
  std::vector<double> closing_;  // (nodes x 12)
  std::vector<double> step_;     // (nodes x 12) δ
  double slope_ = 0;             // δᵀAδ
  std::vector<Vec3> turn_, stretch_;
};

}  // namespace limber::thread
