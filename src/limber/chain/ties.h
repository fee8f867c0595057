// What holds a chain beyond its root: supports, branches joined to each other, springs between points.
//
// A closure is a set of rows φ = 0 with multipliers λ (forces); a spring is a set of rows with a stiffness.
// Both are few, so the tangent of the bare tree is factored as if they were not there and they enter by a
// small dense matrix, W = G K⁻¹ Gᵀ + diag(1/κ), κ = ∞ for a closure. The rows of a closure are either
// positions, φ = u·(x_b − x_a), or directors, φ = Σ w u_a·v_b: both linear in what a dead load would be, so
// that their second derivative is that of a dead load, −λu at x_b, and needs nothing new in the tangent.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "limber/chain/structure.h"

namespace limber::chain {

struct RowEnd {
  int link = -1;
  Vec3 f = Vec3::Zero(), x = Vec3::Zero();  // a unit force at x …
  Vec3 m = Vec3::Zero();                    // … and a moment, world axes
};
struct Row {
  RowEnd a, b;
  int joint = -1;         // instead of ends: this joint's own rotation along b.m
  double compliance = 0;  // 1/κ
  int closure = -1;
};

// Rows each kind of closure has.
int row_count(JointKind kind);
// Adds the forces of closures on their links; with the links turned, wherever they are.
void add_closure_forces(const Structure& s, const Balance& b, double factor,
                        const std::vector<double>& lambda, std::vector<Vec3>& N);

class Ties {
 public:
  // As the links stand (place() done): rows, gaps [m, rotations times the size], tugs of multipliers and
  // springs.
  void build(const Structure& s, const Balance& b, double factor, const std::vector<double>& lambda);
  int held() const { return held_; }  // rows of closures; they come first
  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<double>& gap() const { return gap_; }
  // ∂φ/∂factor as the joints stand, with links that move by `shift` (empty: none does); of all rows.
  std::vector<double> gap_rate(const std::vector<Vec3>& shift) const;
  // [J] of the forces that moved supports take, along their whole way.
  double work_of_supports(const std::vector<double>& lambda) const;
  const std::vector<Tug>& tugs() const { return tugs_; }
  double spring_energy() const { return spring_energy_; }
  double worst_gap() const;

 private:
  void close(const Structure& s, const Balance& b, int closure, double factor, const double* lambda);
  void stretch(const Structure& s, const Balance& b, const SpringTie& spring);
  int held_ = 0;
  double spring_energy_ = 0;
  std::vector<Row> rows_, elastic_;
  std::vector<double> gap_, gap_rate_;
  std::vector<Tug> tugs_;
};

// Tangent and ties together.
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
  // What a row asks of each joint that turns one of its ends.
  struct Lever {
    int link;
    Vec3 m;
  };
  void spread(const Structure& s, const Balance& b, const Row& row, std::vector<Lever>& out) const;
  static double gather(const std::vector<Lever>& row, const std::vector<Vec3>& delta);
  double give(const Balance& b, const Row& i, const Row& j) const;
  void find_meetings(const Structure& s);
  int meeting(int a, int b) const;  // Links::common() of ends of rows

  Tangent tangent_;
  std::vector<Row> rows_;
  int held_ = 0, negative_ = 0, redundant_ = 0;
  bool symmetric_ = true;
  std::vector<std::vector<Lever>> G_;
  std::vector<std::vector<Vec3>> Z_;
  std::vector<int> ends_, meetings_;  // links that rows end on; (ends × ends) where they meet
  Eigen::MatrixXd W_inverse_;
  std::vector<Vec3> scratch_;
};

}  // namespace limber::chain
