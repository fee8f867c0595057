// The search for an equilibrium, taken apart: Newton, limits and servos (statics.cpp), loads without a
// potential (static_circulatory.cpp), modes and reactions (static_modes.cpp). Internal to articulated/.
#pragma once

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"

namespace limber::articulated {

class Equilibrium {
 public:
  Equilibrium(const SystemData& s, const State& state, WorkspaceData& w, const StaticOptions& options);

  bool solve(StaticResult& out);
  void finish(StaticResult& out);
  std::unique_ptr<multibody::SmallMotion> small_motion(const std::vector<int>& ends);
  const std::vector<double>& q() const { return q_; }

 private:
  // Newton at one load level. `last` iterates until rounding stops it.
  bool find(StaticResult& out, bool last);
  bool find_within_limits(StaticResult& out, bool last);
  void assemble(double sigma);
  double gap() const;  // of loops and of limits that are touched, of the structure's size
  // Forces left over at q for the multipliers at hand, and what acts in all.
  double leftover(double& acting);
  double measure_at();  // the same, relative
  bool move(double share, double sigma, double before);
  void close(std::vector<double>& q);
  double potential(const std::vector<double>& q);
  void set_augment();
  double lowest_sigma() const;
  bool report_done(StaticResult& out);
  bool failed(StaticResult& out, std::string what);

  // Limits that are touched hold a row each; servos that would push too hard push as hard as they can.
  void set_locks();
  bool touch_limits();  // true: one more is touched
  bool let_go();        // true: the one that pulls most was let go
  bool update_servos();

  // Turns x_ = P⁻¹ r into K⁻¹ r for loads whose stiffness is not symmetric.
  void complete_step(double sigma);
  void forces_at(const std::vector<double>& q, std::vector<double>& out);
  void without_locked(std::vector<double>& y) const;

  void find_modes(StaticResult& out);
  void dense_modes(StaticResult& out, int wanted);
  Mat6 world_inertia(int i) const;
  void mass_times(const double* x, double* y);
  void stiffness_times(const double* x, double* y);
  void add_mode(StaticResult& out, double eigenvalue, const VecX& shape) const;
  void reactions(StaticResult& out);

  const SystemData& s_;
  WorkspaceData& w_;
  StaticOptions options_;
  double t_;
  multibody::Pattern pattern_;
  multibody::BlockSystem K_, moved_;  // moved_: geometry alone, at another q
  multibody::BlockRhs rhs_;
  multibody::BlockSolution x_;
  multibody::Gaba gaba_;
  multibody::Gaba::Scratch scratch_;
  std::vector<LoopState> loops_, loops_moved_;
  std::vector<double> q_, trial_;
  std::vector<Vec6> lambda_;
  std::vector<double> residual_;
  std::vector<Vec6> twist_;
  std::vector<JointLock> locks_;
  std::vector<int> lock_index_;
  std::vector<char> touched_;        // (limits)
  std::vector<int> limit_rows_;      // (limits) of a closing joint: its row; −1
  std::vector<int> changes_;         // (limits) how often it was let go
  std::vector<double> limit_force_;  // (limits) on the coordinate
  bool circulatory_ = false;         // some loads have no potential
  double augment_ = 1, acting_ = 0;
  int iterations_ = 0;
};

}  // namespace limber::articulated
