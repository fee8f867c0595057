// The search for an equilibrium, taken apart: load steps, limits and servos (statics.cpp), Newton
// (static_search.cpp), loads without a potential (static_circulatory.cpp), what leans on things
// (static_contact.cpp), modes and reactions (static_modes.cpp). Internal to articulated/.
#pragma once

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"

namespace limber::articulated {

struct StaticPart;

class Equilibrium {
 public:
  Equilibrium(const SystemData& s, const State& state, WorkspaceData& w, const StaticOptions& options);

  bool solve(StaticResult& out);
  bool stand(StaticResult& out);  // of a rest that was found elsewhere: what is left over there
  void finish(StaticResult& out);
  std::unique_ptr<multibody::SmallMotion> small_motion(const std::vector<int>& ends);
  const std::vector<double>& q() const { return q_; }

 private:
  friend class StaticSensitivity;  // static_sensitivity.h
  friend class PathWalker;         // static_walker.h
  void set_shares(double part);
  bool search(StaticResult& out);
  bool search(const StaticPart& part, StaticResult& out);
  // Newton at one load level. `last` iterates until rounding stops it.
  bool find(StaticResult& out, bool last);
  bool find_within_limits(StaticResult& out, bool last);
  void assemble(double sigma);
  double gap() const;  // of loops and of limits that are touched, of the structure's size
  // Forces left over at q for the multipliers at hand, and what acts in all.
  double leftover(double& acting);
  double measure_at();  // the same, relative

  // Newton's parts (static_search.cpp).
  struct Potential {
    double value = 0, scale = 0;  // [J]; scale: sum of the sizes of its terms
  };
  bool shifted_step(StaticResult& out, double& sigma);
  bool factor_metric();
  bool pushes_only_where_stable(double sigma);
  void add_metric(double sigma);
  double inertia_share() const;
  double step_size() const;
  double rounding_of_forces() const;
  bool advance(double share, double sigma, double before);
  bool stop_at_limits(double& share);
  std::vector<double> limit_values(const std::vector<double>& q);
  bool close(std::vector<double>& q);
  bool close_start(StaticResult& out);
  Potential potential(const std::vector<double>& q);
  double drive_potential(std::size_t d, const std::vector<double>& q) const;
  void set_augment();
  double lowest_sigma() const;
  double largest_stiffness() const;
  double way(int coordinate) const;
  bool report_done(StaticResult& out);
  bool failed(StaticResult& out, std::string what);

  // Limits that are touched hold a row each; servos that would push too hard push as hard as they can.
  void set_locks();
  bool keeps_limits();
  void find_limit_forces();
  bool let_go();  // true: the one that pulls most was let go
  bool update_servos();

  // Turns x_ = P⁻¹ r into K⁻¹ r for loads whose stiffness is not symmetric.
  void complete_step(double sigma);
  void forces_at(const std::vector<double>& q, std::vector<double>& out);
  void without_locked(std::vector<double>& y) const;

  void find_modes(StaticResult& out);
  double factor_for_modes();
  bool lanczos_modes(StaticResult& out, int wanted);
  void dense_modes(StaticResult& out, int wanted);
  Mat6 world_inertia(int i) const;
  void stiffness_times(const multibody::BlockSystem& A, const double* x, double* y);
  void add_mode(StaticResult& out, double eigenvalue, const VecX& shape) const;
  void reactions(StaticResult& out);
  double work_of_motions() const;

  const SystemData& s_;
  WorkspaceData& w_;
  StaticOptions options_;
  double t_;
  multibody::Pattern pattern_;
  multibody::BlockSystem K_, D_, moved_;  // D_: the metric of steps; moved_: geometry alone, at another q
  multibody::BlockRhs rhs_;
  multibody::BlockSolution x_;
  multibody::Gaba gaba_, metric_;  // of K + σD; of D
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
  double augment_ = 1, measure_ = 1;
  double acting_ = 0, left_ = 0;  // forces that act, and that are left over at q_ with λ
  static constexpr std::size_t memory = 8;
  std::vector<std::size_t> met_;  // limits that end the step at hand
  std::vector<double> highest_;   // Π of the last steps
  int iterations_ = 0, halvings_ = 0;
};

// Steps from rest to rest until nothing moves any more, with what touches (static_contact.cpp): the state is
// left there. False: no rest, as the report says.
bool settle_touching(const SystemData& s, State& state, const StaticOptions& options, StaticResult& out);

}  // namespace limber::articulated
