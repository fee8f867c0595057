// The tangent of a chain with what holds it beyond its root.
//
// Rows of ties are few beside the joints: the tangent K of the bare tree is factored as if they were not
// there, and they enter by a small dense matrix, W = G K⁻¹ Gᵀ + diag(1/κ), κ = ∞ for a closure. A row is a
// force and a moment at its two ends. Down the tree each joint keeps what K's elimination leaves there, six
// numbers a row (tangent.h), so that
//
//   (G K⁻¹ Gᵀ)_ij = Σ_k w_ikᵀ Π_k w_jk + f_ikᵀ B_k f_jk
//
// over the joints on the ways of both to the root; B is the stretch before the joint. Between two places
// where rows act or ways meet lies a piece of the way on which w is linear in the six numbers at its far end:
// its sum is one 6×6 matrix for all rows, and W costs O(n) beside what is dense in the rows alone.
#pragma once

#include <vector>

#include "limber/chain/ties.h"
#include "limber/math/types.h"

namespace limber::chain {

class TiedTangent {
 public:
  void factor(const Structure& s, const Balance& b, const Ties& ties);
  // K δ + Gᵀ dλ = t, G δ = −gap; gap of closures' rows, or of all.
  void solve(const Structure& s, const std::vector<Vec3>& t, const std::vector<double>& gap,
             std::vector<Vec3>& delta, std::vector<double>& dlambda);
  int negative() const { return negative_; }     // directions of instability within the closures
  bool symmetric() const { return symmetric_; }  // else negative() says nothing
  int redundant() const { return redundant_; }   // rows that hang on others

 private:
  using Wrenches = Eigen::Matrix<double, 6, Eigen::Dynamic>;  // forces, moments about the link's joint
  struct Entry {                                              // what a row does at a link
    int link = 0, row = 0;
    Vec6 wrench = Vec6::Zero();
  };
  // Of the ways to the root: from a link down to where the next piece begins.
  struct Piece {
    int link = 0;                // where it begins
    int next = -1;               // piece; −1: it ends at the root
    std::vector<int> from;       // pieces that end where it begins
    std::vector<int> rows;       // that come by
    Wrenches left, right;        // of each, where it begins; right: where the matrix is not symmetric
    Mat6 down_left, down_right;  // from there to where it ends
    Mat6 kept;                   // Σ of the joints' parts
  };
  void enter(const Structure& s, const Balance& b);
  void find_pieces(const Structure& s);
  void go_down(const Structure& s, const Balance& b, Piece& piece) const;
  void gather(Piece& piece, const Entry* first, const Entry* end);
  MatX tied_compliance(const Structure& s, const Balance& b);
  void invert(MatX W, bool stretch);
  void open(const Structure& s, VecX& out);
  void pull(const Structure& s, const VecX& y, std::vector<Vec3>& t);

  Tangent tangent_;
  std::vector<Row> rows_;
  int held_ = 0, negative_ = 0, redundant_ = 0;
  bool symmetric_ = true;
  std::vector<Entry> entries_;     // the last links first
  std::vector<Piece> pieces_;      // the same
  std::vector<int> begins_, met_;  // (links) piece that begins there, −1: none; ways that meet there
  std::vector<Mat3> lever_;        // (links) moment about the parent's joint of a force at the own one
  MatX W_inverse_;
  std::vector<int> column_;  // (rows) of the piece at hand
  std::vector<Vec3> go_, moment_, tied_;
};

}  // namespace limber::chain
