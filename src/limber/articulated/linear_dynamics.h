// The equations of motion at a place, r = M(q) a + bias(q, v) − f(q, v, t), and how they change with q, v and
// a: products with the transposed derivatives, O(n).
//
// r·λ is the virtual power Σ ψ·(I A + V ×* I V − F) − λ·τ of the twists ψ = X⁻¹ψ_p + S λ. It is
// differentiated by hand through the recursions of V, A and ψ (Featherstone 2008, table 5.1), backwards. A
// pose that moves by the twist ρ of the joint changes X⁻¹Y by (X⁻¹Y) × ρ, so that with bars for derivatives
//
//   ρ̄ = ε̄ − V' ×* V̄ − A' ×* Ā − ψ' ×* ψ̄,    V' = X⁻¹V_p, A' = X⁻¹A_p, ψ' = X⁻¹ψ_p,    q̄ = Sᵀρ̄ + …
//
// Forces F and τ are a black box (evaluate_placed()): as they depend on the poses and twists of few links
// each, differences by moving links one by one give their blocks, many links at a time where no force sees
// two.
#pragma once

#include <vector>

#include "limber/articulated/system.h"

namespace limber::articulated {

// Where the equations are looked at.
struct MotionPoint {
  const double *q = nullptr, *v = nullptr, *a = nullptr;
  double t = 0;      // [s]
  double ahead = 0;  // [s] of the single solve of Euler's method, which takes hD + h²K for inertia; else 0
};

// Of the numbers that a system is compiled into: Σ λ·∂r/∂number over stages, in the links' order.
struct NumberGradient {
  explicit NumberGradient(const SystemData& s);
  struct Bilinear {  // ψ·I A by I
    double m = 0;
    Vec3 h = Vec3::Zero();
    Mat3 I = Mat3::Zero();
    void add(const Vec6& psi, const Vec6& A);
    double times(const Inertia& up, const Inertia& down) const;
  };
  std::vector<Bilinear> inertia, drag;           // (size)
  std::vector<Vec6> frame;                       // (size) of X_PF, by a twist in F
  std::vector<double> stiffness, damping, rest;  // (v_count)
  // By the numbers in which two systems differ; of the springs of links in `apart` nothing.
  double between(const SystemData& up, const SystemData& down, const std::vector<int>& apart) const;
};
// They differ in numbers that NumberGradient lacks, so that λ·r has to be looked at wholly.
bool differ_beyond_numbers(const SystemData& up, const SystemData& down);
// Links whose joints turn freely on springs that are at ease elsewhere: NumberGradient lacks that, and
// power_of_springs() has it.
std::vector<int> springs_apart(const SystemData& up, const SystemData& down);

// What acts beside the numbers (loads, springs between bodies, drives, …) is not seen to be the same of both.
bool elements_may_differ(const SystemData& up, const SystemData& down);

class LinearDynamics {
 public:
  explicit LinearDynamics(const System& system);

  // Goes there: derivatives are known then.
  void at(const MotionPoint& point, const std::vector<signed char>& servo);
  // λᵀ∂r/∂q, λᵀ∂r/∂v, λᵀ∂r/∂a: (v_count) each; changes of q are rates. Of Euler's method after factor().
  void transpose_times(const double* lambda, double* q, double* v, double* a);
  // λ·r there.
  double power(const MotionPoint& point, const std::vector<signed char>& servo, const double* lambda);

  // After transpose_times(): adds what it says of the system's own numbers.
  void add_to(NumberGradient& out, const double* lambda) const;
  // λ·r of all that NumberGradient lacks: gravity, elements and actuators of this system, with the motion and
  // the virtual twists of another that is at its point.
  double power_of_elements(LinearDynamics& other, const std::vector<signed char>& servo,
                           const double* lambda);

  // λ·r of the springs of these links' joints, as another system has them.
  double power_of_springs(const std::vector<int>& links, const SystemData& of, const double* lambda) const;

  // The matrix M + d D + k K of a step's iteration, which is near to what such products add up to.
  bool factor(double d, double k);
  void solve(double* x);                                                                 // in place
  bool is_given(int rate) const { return given_[static_cast<std::size_t>(rate)] != 0; }  // by a function

 private:
  using Block = Eigen::Matrix<double, 6, 12>;
  struct ForceBlock {
    int on = 0, by = 0;  // links
    Block F;             // ∂F of `on` by pose and twist of `by`
  };
  struct TurningAxes {  // of a joint whose S depends on q
    int link = 0;
    multibody::Subspace S_q[6];  // ∂S/∂q_k
    Mat6 rate_q, rate_v;         // of S̊ v
  };

  void walk(const MotionPoint& p);
  void find_forces(const MotionPoint& p, const std::vector<Vec6>& A, const Acting& acting,
                   std::vector<Vec6>& F, std::vector<double>& tau);
  void find_law_blocks(const MotionPoint& p);
  void place_virtual(const double* lambda);
  void find_axes(const MotionPoint& p);
  void find_link_blocks(const MotionPoint& p);
  void find_joint_blocks(const MotionPoint& p);
  void find_seen_links();
  void color_links();
  void add_block_powers();
  struct SpringSlopes {
    Mat6 by_q, H;
  };
  SpringSlopes spring_slopes(const MotionPoint& p, int link) const;
  SpringSlopes curved_spring_slopes(const MotionPoint& p, int link, const Vec6& y) const;

  System system_;  // kept alive
  const SystemData& s_;
  Workspace workspace_;
  WorkspaceData& w_;
  MotionPoint at_;
  std::vector<LinkMotion> links_;
  std::vector<multibody::Subspace> S_;  // (size)
  std::vector<Vec6> A_, psi_, f_;       // (size) acceleration, virtual twist, force on the body
  std::vector<Vec6> V_bar_, A_bar_, psi_bar_, pose_bar_, rho_bar_;
  std::vector<ForceBlock> blocks_;
  std::vector<TurningAxes> axes_;
  std::vector<int> axes_of_;              // (size) −1: none
  std::vector<double> tau_q_, tau_v_;     // (block_count) ∂τ of a joint by its own coordinates and rates
  std::vector<char> seen_;                // (size) elements act on it
  std::vector<std::vector<int>> colors_;  // seen links that are moved at once
  std::vector<std::vector<int>> neighbours_;  // (size) links whose forces see it, itself first
  std::vector<char> given_;                   // (v_count)
  std::vector<Vec6> F_, F_up_, F_down_;
  std::vector<double> tau_, tau_up_, tau_down_;
  bool actuators_ = false;  // something pushes joints beside their springs and dampers
  bool elements_ = false;   // something acts on links beside weight and drag
  int most_dofs_ = 0;
  std::vector<LinkMotion> still_;  // links_ at rest
  std::vector<double> solved_;
};

// Why a run of the system has no derivatives by this way; empty: it has. Not what only a step can tell.
std::string no_gradient_of(const SystemData& s);

}  // namespace limber::articulated
