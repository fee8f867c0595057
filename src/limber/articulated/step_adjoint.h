// Derivatives of what a run ends with by where it starts and by what its system is made of: the adjoint of
// the time step, part by part backwards.
//
// A part is a Runge–Kutta step on the group, with stages i and what the stage asks for,
//
//   v_i = v₀ + h Σ a_ij a_j,   q_i = q₀ ⊕ u_i,   u_i = h Σ a_ij k_j,   k_j = κ(u_j, v_j),
//   r_i = M(q_i) a_i + bias(q_i, v_i) − f(q_i, v_i, t_i) = 0,
//   v₁ = v₀ + h Σ b_j a_j,     q₁ = q₀ ⊕ u_e,   u_e = h Σ b_j k_j.
//
// With multipliers λ_i of r_i, bars for derivatives of the result, and δ(q ⊕ u) = J_r(u) δu + exp(−u) δq:
//
//   q̄_i = (∂r_i/∂q)ᵀ λ_i,   ū_i = J_rᵀ q̄_i + κ_uᵀ k̄_i,   k̄_j = h b_j ū_e + h Σ_i a_ij ū_i,
//   v̄_i = (∂r_i/∂v)ᵀ λ_i + κ_vᵀ k̄_i,   0 = Mᵀλ_j + h b_j v̄₁ + h Σ_i a_ij v̄_i      for every stage j,
//
// stages that depend on each other together. That is a linear system in λ whose matrix is what a step's
// iteration has as M + γhD + γ²h²K, and what that lacks, transposed: GMRES with the step's own factor, a few
// iterations. Then q̄₀ = exp(−u_e)ᵀ q̄₁ + Σ exp(−u_i)ᵀ q̄_i, v̄₀ = v̄₁ + Σ v̄_i, and a parameter p has
// dJ/dp = Σ λ_i · ∂r_i/∂p over all stages of all steps: one difference of virtual powers each, no solve.
// The derivative is that of the discrete step, not of the motion that it stands for.
#pragma once

#include <memory>
#include <vector>

#include "limber/articulated/linear_dynamics.h"

namespace limber::articulated {

class StepAdjoint {
 public:
  explicit StepAdjoint(const System& system);
  ~StepAdjoint();

  // (v_count) of what follows by the coordinates (their rates) and by the rates where the part ends; become
  // those where it starts. Throws std::invalid_argument where the part is not smooth, std::runtime_error
  // where the equations of the adjoint have no solution.
  void back(const StepPart& part, std::vector<double>& q_bar, std::vector<double>& v_bar);

  // Of the last part: multipliers of its stages, which are also what follows by a force on each rate, less
  // its sign.
  const std::vector<std::vector<double>>& multipliers() const { return lambda_; }
  // Σ λ·r of the last part, its stages' motions given to another system; wholly, or of what NumberGradient
  // lacks.
  double power(LinearDynamics& of) const;
  double power_of_elements(LinearDynamics& of) const;
  double power_of_springs(const std::vector<int>& links, const SystemData& of) const;
  void add_to(NumberGradient& out) const;

 private:
  struct Scheme;
  struct Stage;
  static const Scheme& scheme_of(Integrator by);
  void place(const StepPart& part, const Scheme& m);
  void place_euler(const StepPart& part);
  void back_stages(const StepPart& part, const Scheme& m, std::vector<double>& q_bar,
                   std::vector<double>& v_bar);
  void back_euler(const StepPart& part, std::vector<double>& q_bar, std::vector<double>& v_bar);
  void apply(const StepPart& part, const Scheme& m, int first, int last, bool known);
  void find_multipliers(const StepPart& part, const Scheme& m, int first, int last);
  void mask(std::vector<double>& x) const;

  System system_;
  const SystemData& s_;
  const StepPart* part_ = nullptr;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::vector<double>> lambda_;
  std::vector<double> u_end_;
  bool without_multipliers_ = false;  // apply() is asked for what is known alone
};

}  // namespace limber::articulated
