// The coefficients of every part of an assembly tree, and the passes that fill them.
//
// A part answers two inputs, the acceleration a of its top body and the force f on its bottom body, each seen
// in the body's frame M, with the force its top needs and the acceleration of its bottom:
//   F = Λ a − Kᵀ f + ζ,      a' = K a + Ω f + α
// and its total acceleration Σ ‖w q̈‖² is a quadratic of the same inputs:
//   aᵀΨ₀a + 2 aᵀΨ₀₁f + fᵀΨ₁f + aᵀp₀ + fᵀp₁ + η
// These are the articulated-body and total-acceleration equations of Redon and Lin 2005 (eq. 1 and 8) with
// the top's input exchanged. The paper feeds in forces at every handle, and subtracts inverse inertias as
// parts grow (eq. 2): that loses the digits of the ratio of masses, and parts of thousands of bodies joined
// to one have large ratios whatever their bodies weigh. In this form every sum is of positive semidefinite
// terms, as in the articulated-body algorithm, of which it is the divide-and-conquer shape.
//
// Joining A (top u, and p where the joint sits) and B (top c, bottom v), all seen in c's M; X = X_pc, F the
// matrix of X.force; S, τ, κ = hc + h²k of the joint (springs and dampers enter implicitly):
//   H = Λ_B S,  D = (SᵀH + κ)⁻¹,  U = H D,  Λ' = Λ_B − U Hᵀ,  s = τ − Sᵀζ_B,  ζ' = ζ_B + U s
//   N = K_B S,  K' = K_B − N Uᵀ,  Ω' = Ω_B + N D Nᵀ                  (v = c: K_B = 1, Ω_B = 0, α_B = 0)
// the acceleration of p in c's frame, ã = J₀ a + J₁ f + j, with K̂ = FᵀK_A, Ω̃ = FᵀΩ_AF, R = (1 + Ω̃Λ')⁻¹:
//   p below u:  J₀ = R K̂,  J₁ = RΩ̃K'ᵀ,  j = R(Fᵀα_A − Ω̃ζ')             p = u:  J₀ = Fᵀ,  J₁ = 0,  j = 0
//   joint       q̈ = r − y₀ᵀa + y₁ᵀf,    r = D s − Uᵀj,  y₀ = J₀ᵀU,  y₁ = N D − J₁ᵀU
//   into B      a_c = M₀ a + M₁ f + m,  M₀ = J₀ − S y₀ᵀ,  M₁ = J₁ + S y₁ᵀ,  m = j + S r
//   into A      f_p = −F f_c,  f_c = C₀ a − C₁ f + c,  C₀ = Λ'J₀,  C₁ = (K'R)ᵀ,  c = Λ'j + ζ'
//   the whole   Λ = Λ_A + K̂ᵀC₀,  K = K'J₀,  Ω = Ω' + K'J₁,  ζ = ζ_A + K̂ᵀc,  α = α_B + K_B m
//               (p = u: Λ = Λ_A + FΛ'Fᵀ,  ζ = ζ_A + Fζ')
//
// A node's numbers are a function of its children's, its joint's coordinates, τ and κ, and nothing else:
// updating only what changed gives the bits of a full rebuild.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "limber/adaptive/assembly_tree.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::adaptive {

// Doubles from a node's first one on; all even, so that blocks stay aligned. A joined node has the first row;
// then, if p lies below u, the second; if it has a bottom, the third (and C1); at the end U, y0, y1, D, r.
namespace at {
inline constexpr int leaf_size = 42;
inline constexpr int lambda = 0, zeta = 36;  // the same in leaves
inline constexpr int psi0 = 42, p0 = 78, eta = 84, X = 86, M0 = 98, m = 134, first_size = 140;
inline constexpr int C0 = 140, c = 176, R = 182, second_size = 78;
// third: from Coefficients::bottom()
inline constexpr int K = 0, omega = 36, alpha = 72, X01 = 78, psi01 = 90, psi1 = 126, p1 = 162, M1 = 168,
                     third_size = 204, C1 = 204;
}  // namespace at

// What enters from outside, by link: read by the passes.
struct JointInput {
  const double* q = nullptr;       // (q_count)
  const double* tau = nullptr;     // (v_count) force on the rates
  const double* kappa = nullptr;   // (block_count) column-major blocks; null: all zero
  const double* weight = nullptr;  // (v_count)
  Vec3 gravity = Vec3::Zero();     // [m/s²] through the root, as in the paper
};

// What does not depend on accelerations and forces at the handles: of a part's halves, and of the part.
struct BiasOfHalves {
  const double *zeta_a = nullptr, *alpha_a = nullptr, *zeta_b = nullptr, *alpha_b = nullptr;
};
struct Bias {
  double *zeta = nullptr, *alpha = nullptr, *m = nullptr, *c = nullptr, *r = nullptr;
};

class Coefficients {
 public:
  Coefficients(const multibody::Tree& tree, const AssemblyTree& assembly);

  const multibody::Tree& tree() const { return *tree_; }
  const AssemblyTree& assembly() const { return *assembly_; }
  const AssemblyNode& node(int i) const { return assembly_->nodes[i]; }
  int dofs(int i) const { return dofs_[i]; }  // of the joint a node makes
  double* data(int i) { return pool_.get() + offset_[i]; }
  const double* data(int i) const { return pool_.get() + offset_[i]; }
  std::size_t bytes() const { return pool_size_ * sizeof(double); }

  const double* bottom(int i) const {  // the third row
    return data(i) + at::first_size + (node(i).a_join ? at::second_size : 0);
  }
  const double* U(int i) const { return data(i) + tail_[i]; }
  const double* y0(int i) const { return U(i) + 6 * dofs(i); }
  const double* y1(int i) const { return U(i) + 12 * dofs(i); }  // with a bottom only
  const double* D(int i) const { return U(i) + (node(i).handles == 2 ? 18 : 12) * dofs(i); }
  const double* r(int i) const { return D(i) + dofs(i) * dofs(i); }

  // Wrench on a body, in M about M's origin; its leaf needs no other update. False: it was the same already.
  bool set_wrench(int link, const Vec6& wrench);

  // One node from its children, in two halves. Shape: what does not depend on forces (Λ, K, Ω, Ψ, …), needed
  // where a joint below moved or κ changed; `moved`: its own joint did. Bias: ζ, α, p, η, m, c, r. `totals`
  // false: the divide-and-conquer algorithm alone, no Ψ, p, η.
  void update_shape(int i, const JointInput& in, bool moved, bool totals);
  void update_bias(int i, const JointInput& in, bool totals);
  // ζ, α, m, c, r of node i as they follow from those of its halves, τ (null: none) and gravity: of the part
  // itself, or of forces of which the coefficients know nothing (ties.h).
  void join_bias(int i, const double* q, const double* tau, const Vec3& gravity, const BiasOfHalves& half,
                 const Bias& out) const;
  // The main pass over all nodes.
  void update_all(const JointInput& in, bool totals, multibody::Workers* workers = nullptr);

  // Asks the memory for what a parent reads of node i (Λ … η and K … p₁), or for all of it.
  void prefetch(int i, bool all) const {
    const auto lines = [](const double* from, int doubles) {
      for (int k = 0; k < doubles; k += 8) __builtin_prefetch(from + k);
    };
    const AssemblyNode& n = node(i);
    if (n.is_leaf()) return lines(data(i), at::leaf_size);
    if (all) return lines(data(i), tail_[i] + 20);
    lines(data(i), at::X);
    if (n.handles == 2) lines(bottom(i), at::M1);
  }

  int bad_node() const { return bad_node_.load(); }  // where D or R does not exist, −1: nowhere

  // The nodes cut for several threads: the same cut for any number of them.
  struct Cut {
    std::vector<multibody::Range> subtrees;  // disjoint ranges of nodes
    std::vector<int> top;                    // the other nodes, ascending
  };
  const Cut& cut() const { return cut_; }

 private:
  void place_joint(int i, const double* q);
  void update_matrices(int i, const JointInput& in);
  void update_totals(int i, const JointInput& in);

  const multibody::Tree* tree_;
  const AssemblyTree* assembly_;
  std::vector<std::size_t> offset_;
  std::vector<std::int16_t> tail_;  // where U begins
  std::vector<std::int8_t> dofs_;
  std::unique_ptr<double[]> pool_;
  std::size_t pool_size_ = 0;
  Cut cut_;
  std::atomic<int> bad_node_{-1};
};

}  // namespace limber::adaptive
