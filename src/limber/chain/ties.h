// What holds a chain beyond its root: supports, branches joined to each other, springs between points.
//
// A closure is a set of rows φ = 0 with multipliers λ (forces); a spring is a set of rows with a stiffness.
// The rows of a closure are either positions, φ = u·(x_b − x_a), or directors, φ = Σ w u_a·v_b: both linear
// in what a dead load would be, so that their second derivative is that of a dead load, −λu at x_b, and needs
// nothing new in the tangent of the tree (tied_tangent.h).
#pragma once

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

}  // namespace limber::chain
