// The thread's element: strains, energy, forces and exact tangent of four elements at a time.
//
// A node carries x and the deformation gradient F = [x_,x x_,y x_,z] (Larsson, Wallgren, Larson 2010, eq. 1).
// Polar decomposition F = P U at each node splits it into a rotation and a stretch. With a node at either
// end,
//
//   φ = log(P₁ᵀ P₂)             turn of the second node against the first
//   R = P₁ exp(φ/2)             the element's frame, half way: Q_j = RᵀP_j = exp(∓φ/2), so log Q_j = ∓φ/2
//   q = B(φ) Rᵀ(x₂ − x₁)        B = (φ/2)/sin(φ/2) across φ, 1 along it: a circle or helix has q = (l, 0, 0)
//   Λ = |q| − l,  q_y, q_z      stretch, and the midline's slope against the mean section
//   ε_j = U_j − 1               strain of the section and the midline at the nodes
//
// and the energy is ½ zᵀK z with z = (Λ, q_y, q_z, φ, ε₁, ε₂) − rest and a constant K: the paper's constant
// element matrix applied to log(Q_j) + U_j − 1 in place of RᵀF_j − 1, which takes the spurious strain of a
// rotated gradient away. K is the paper's field (eq. 4) with the elasticity matrix split as in stiffness.cpp.
// Taking |q| for the stretch instead of q_x keeps a taut element stable however slender it is.
//
// φ has no meaning beyond π. Where a mesh is too coarse for what happens to it, a wall keeps an element from
// folding: Ψ = fold · (S − S₀)³/(S₁ − S), S = φ², beyond 2 rad, infinite at 2.9 rad. Nor do q_y, q_z and |q|
// see a chord that runs backwards: at each node a second wall, 4 fold · (c₀ − c)³/(c − c₁) with c the cosine
// between the section's normal and the chord, begins at 53 degrees and is infinite at 78.
//
// A slot j holds the element between nodes j and j + 1; the slot after a thread's last node is empty (K = 0).
// Arrays are (quantity x slot): four neighbouring slots make a pack.
#pragma once

#include <vector>

#include "limber/thread/pack.h"

namespace limber::thread {

// Rows of equal length, one a quantity; rows are padded so that packs may start at any slot.
class Table {
 public:
  Table() = default;
  Table(int rows, int columns) { resize(rows, columns); }
  void resize(int rows, int columns) {
    stride_ = (columns + 2 * lanes - 1) / lanes * lanes + lanes;
    data_.assign(static_cast<std::size_t>(rows) * stride_, 0.0);
  }
  double* operator[](int row) { return data_.data() + static_cast<std::size_t>(row) * stride_; }
  const double* operator[](int row) const { return data_.data() + static_cast<std::size_t>(row) * stride_; }
  void fill(double value) { data_.assign(data_.size(), value); }

 private:
  Numbers data_;
  int stride_ = 0;
};

inline constexpr double fold_begins = 2.0 * 2.0, fold_ends = 2.9 * 2.9;  // [rad²] of φ²
inline constexpr double least_gap = 0.1205;                              // cos(2.9/2)
inline constexpr double slope_begins = 0.6, slope_ends = 0.2;            // cosines of the slope at a node

// Rows of the slots' constants.
namespace slot {
enum Row : int {
  axial = 0,           // 28: upper triangle of (Λ, ε₁xx, ε₁yy, ε₁zz, ε₂xx, ε₂yy, ε₂zz)
  shear_y = 28,        // 6: upper triangle of (q_y, ε₁xy, ε₂xy)
  shear_z = 34,        // 6: (q_z, ε₁xz, ε₂xz)
  bend_z = 40,         // EI_z/l, on φ_z − ε₂xy + ε₁xy
  bend_y = 41,         // EI_y/l, on φ_y + ε₂xz − ε₁xz
  torsion = 42,        // GJ/l, on φ_x
  skew_yz = 43,        // 3: upper triangle of (ε₁yz, ε₂yz)
  rest = 46,           // Λ + l, q_y, q_z, φ (6) at rest
  rest_strain_1 = 52,  // 6: ε₁ at rest
  rest_strain_2 = 58,  // 6
  mass = 64,           // 6: coefficients of the off-diagonal mass block: xx, xs, sx, ss, yy, zz
  scale = 70,          // of the stiffness (1 + damping/step)
  fold = 71,           // of the walls that keep an element from folding (fold_begins, slope_begins)
  rows = 72
};
}
// Rows of the nodes' constants: of the diagonal mass block.
namespace node {
enum Row : int { mass_xx = 0, mass_xs, mass_ss, mass_yy, mass_zz, rows };
}

// What a pass over the elements needs and leaves.
struct ElementArrays {
  explicit ElementArrays(int capacity = 0) { resize(capacity); }
  void resize(int capacity);  // nodes

  Table constants;       // (slot::rows x slots)
  Table node_constants;  // (node::rows x nodes)
  Table x;               // (3 x nodes) positions, by gather()
  Table F;               // (9 x nodes) gradients by columns, by gather()
  Table P;               // (9 x nodes) rotations, row by row, by polar()
  Table strain;          // (6 x nodes) U − 1: xx yy zz xy xz yz, by polar()
  Table z;               // (6 x slots) |q|, q_y, q_z, φ, by elements()
  Table stress;          // (6 x slots) conjugate to z: tension, shears, torque, bending moments
  Table energy;          // (1 x slots) elastic
  Table gap;             // (1 x slots) distance from the walls, in cosines; negative: beyond one
  Table half;            // (114 x slots) both nodes' share of the tangent, in node axes, by elements()
  Table force;           // (24 x slots) both nodes' share of the gradient, in (ξ, θ, V), by elements()
  Numbers D;             // (nodes x 12 x 12) diagonal blocks, rows of 12; the upper triangle
  Numbers O;             // (nodes x 12 x 12) block (j, j + 1)
  Table weight;          // (1 x nodes) of the mass in D and O, of a node and of the slot after it
  Numbers g;             // (nodes x 12) elastic gradient in node axes: along x, x_,x x_,y x_,z
  double geometric = 1;  // share of the stresses' own stiffness in the tangent
  // Stresses to take for it instead: tension and shears of the slots are `foreseen`, the nodes have none.
  bool foresees = false;
  Table foreseen;  // (3 x slots)
};

// Copies coordinates (nodes x 12: x, x_,x, x_,y, x_,z) into x and F.
void gather(const double* e, int nodes, ElementArrays& a);
// P and U of every node; false if a gradient is singular or turned inside out.
bool polar(int nodes, ElementArrays& a);
// Strains, energies and gradients of all slots; with `tangent` also D and O = weight · M + K, in node axes.
void elements(int nodes, bool tangent, ElementArrays& a);
// Its second half: from the elements' shares to g and D (upper triangles).
void assemble_nodes(int nodes, bool tangent, ElementArrays& a);

}  // namespace limber::thread
