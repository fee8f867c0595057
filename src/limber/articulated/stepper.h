// One time step, taken apart: the integrators (step.cpp, step_high_order.cpp), loops (step_loops.cpp), locks
// and limits (step_limits.cpp). Internal to articulated/.
#pragma once

#include <span>

#include "limber/articulated/system.h"

namespace limber::articulated {

class Stepper {
 public:
  Stepper(const SystemData& s, State& state, WorkspaceData& w, result::SolveReport& report)
      : s_(s), tree_(s.tree), state_(state), w_(w), report_(report), now_(s.options.integrator) {
    w_.links_of_start = false;
  }

  // One step, split in halves where the iteration does not converge.
  bool advance(double t, double h, int depth);

  // Of the last step, by its own stages [m]; negative: they do not tell.
  double estimate() const { return estimate_; }

  // For the start: loops closed from where the coordinates stand, velocities made to obey them. False if a
  // loop cannot close; the report names it.
  bool assemble();

  // Accelerations at the state itself into w_.a, bounds that are touched held; what loops carry is in
  // blocks->x.
  bool solve_at_frame();

 private:
  using AbaInput = multibody::AbaInput;
  using Link = multibody::Link;

  // What loops hold in a stage: the position where the step ends, or the stage's velocity or acceleration.
  enum class Rows : std::uint8_t { position, velocity, acceleration };

  // A stage: v = v_base + γh a, q = q₀ ⊕ (u_base + γh v), forces at (q, v, t).
  struct Stage {
    double t = 0, h = 0, gamma = 1;
    bool ends_there = true;  // the step ends at the stage (else, midpoint: at q₀ ⊕ h v)
    double to_end = 0;       // [s] of the step, seen from u_base: limits are reached at its end
    Rows rows = Rows::position;
  };

  bool sdirk() const { return now_ == Integrator::sdirk; }
  bool midpoint() const { return now_ == Integrator::midpoint; }
  bool euler() const { return now_ == Integrator::euler; }
  bool high_order() const {
    return now_ == Integrator::rk4 || now_ == Integrator::gauss || now_ == Integrator::sdirk4;
  }
  bool advance_or_halve(double t, double h, int depth);
  bool advance_touching(double t, double h, int depth);
  bool attempt(double t, double h);
  bool solve(double t, double h);
  bool solve_by_integrator(double t, double h);
  bool solve_euler(double t, double h);
  int too_much_at_once(double h);
  void guess_accelerations();
  bool solve_midpoint(double t, double h);
  bool solve_implicit_euler(double t, double h);
  bool solve_sdirk(double t, double h);
  bool solve_stage(const Stage& stage);
  void place_stage(const Stage& stage);
  void put_stage(double t);
  double tolerance_of(double first) const;
  bool stands_still(int iteration, double change, double previous, double scale, double h) const;
  bool fail_iteration(double t);
  bool solve_accelerations(const Stage& stage, bool euler, bool factor = true);
  bool can_keep_factor() const;
  void add_implicit_forces();
  void place_accelerations(const double* q);
  void set_tension(const double* q, double k);
  void add_tension_to_blocks();
  bool takes_tension() const { return !has_loops(); }
  AbaInput make_input() const;
  double largest_change() const;
  double velocity_scale(double t, double h) const;
  void follow_motions(double t);

  // Fourth order (step_high_order.cpp).
  bool rates_along(const std::vector<double>& u, const std::vector<double>& v, std::vector<double>& k) const;
  bool smooth_in_time(double t, double h) const;
  Vec6 prescribed_acceleration(const CompiledMotion& m, double t, double h) const;
  void book_field_rate(double t, double share);
  bool solve_explicitly(double t, double h);
  bool solve_by_stages(double t, double h);
  bool solve_gauss(double t, double h);
  void place_pair(double h);
  double first_change(double change, double h) const;
  bool improve_one_of_pair(int i, double t, double h, double& change, double& scale);
  bool end_step(double t, double h);

  // Estimates and nodes (step_estimate.cpp).
  bool by_own_estimate() const { return w_.own_estimate && now_ == s_.options.integrator; }
  bool wants_nodes() const { return by_own_estimate() && w_.wants_nodes && now_ == Integrator::sdirk4; }
  bool look_at_node(double t, double h, const std::vector<double>& q, const std::vector<double>& v,
                    Node& out);
  void keep_node(double t, const std::vector<double>& q, const std::vector<double>& v, Node& out);
  bool know_start(double t, double h);
  void estimate_by_weights(double h);
  bool estimate_at_end(double t, double h);
  void differences(const std::vector<std::vector<double>>& k, const std::vector<double>& last, double h);
  double combined_motion();
  double largest_motion();
  bool take_companion(double t, double h);
  void estimate_by_companion(double h);

  // Energy (step_energy.cpp).
  static constexpr int max_split_depth = 10;  // a step is halved this often at most
  bool makes_energy(double t, double h, int depth);
  double gain_of(double t, double h);
  double rightly_lost() const;
  const KnownEnergy& energy_at_start(double t);
  void measure(const std::vector<double>& q, const std::vector<double>& v, double t, KnownEnergy& out);
  void clear_books();
  double given_power();
  void book_energy(double h);
  void book_node(const Node& node, double h);
  bool field_changes() const { return !s_.model.gravity().is_constant(); }
  bool has_winch() const {
    return std::ranges::any_of(s_.cables, [](const CompiledCable& c) { return !c.winch.is_constant(); });
  }
  Vec3 moved_mass(const std::vector<double>& q);
  void book_field(double from, double to, const Vec3& mass_at);

  // Loops.
  bool has_loops() const { return !s_.loops.empty(); }
  double gap_tolerance() const { return 1e-12 * s_.size; }
  double place_end();  // loops at q_end: the largest gap
  void set_block_rhs(bool euler, bool same_pose = true);
  bool close_positions(double h, double velocity_share);
  bool project_velocities();
  bool find_velocities();
  bool factor_at_end();
  void note_redundant_rows();
  bool leave_contradicting_rows_out(double t, double h);

  // Locks and limits.
  void set_locks(double t, double h, double gamma, double to_end);
  JointLock& lock_of(int link);
  void lock_motion(const CompiledMotion& m, double t, double h, double gamma);
  void lock_limit(const Limit& limit, double h, double gamma, double to_end);
  void add_loop_limits(const Stage& stage, bool euler);
  void place_loops_at_start();
  void keep_limit_forces();
  bool impact_in_blocks();
  bool update_active_set(double t, double h);
  bool update_limit(std::size_t l);
  bool keep_first_limit();
  bool update_servo(std::size_t d, double t, double h);
  void apply_impacts();
  void hold_motions();
  void hold_for_impacts();

  // Contacts (step_contacts.cpp, step_impacts.cpp).
  double bounce_threshold() const;
  void place_solids(const std::vector<LinkMotion>& links, std::vector<contact::Solid>& solids);
  void find_touches(const CandidatePair& pair, const std::vector<LinkMotion>& links, std::vector<Touch>& out);
  void remember(const std::vector<Touch>& touches, double scale);
  void recall();
  void look_around(double h);
  std::string overlap_at_start() const;
  void begin_with_overlaps();
  int turns_too_far(double h) const;
  double time_of_impact(double h);
  bool begin_touches(double t, double h);
  void find_gaps_at_end(const CandidatePair& pair, std::size_t from);
  const Touch* place_at_start(const Touch& t) const;
  void put_where_the_gap_goes(Touch& t) const;
  void touch_at_stage(int iteration);
  void add_touch_wrenches();
  void push_rhs(const std::vector<Touch>& touches, const std::vector<Vec3>& x);
  struct SoftLaw {
    double end = 0, start = 0;  // [N/m] of the gaps there
  };
  SoftLaw soft_law(const Touch& t, double h) const;
  Vec3 closing_velocity(const Touch& t, const Stage& stage) const;
  bool solve_touches(const Stage& stage);
  bool solve_chosen(const Stage& stage);
  bool accept(const ContactReport& found);
  void book_touches(double h);
  bool close_touch_books(double t);
  bool strike(const std::vector<Touch>& touches, const std::vector<Vec3>& x);
  void book_struck_motions();
  bool bounce(double threshold);
  bool settle(double threshold);
  bool find_settling();
  double velocity_at_start(const Touch& t) const;
  bool finish_touches(double t, double h);
  bool went_in(const Touch& t) const;
  double deepest_at_start(const Touch& t) const;
  int went_through() const;
  int lost_touch() const;
  bool look_again(double t, double h);
  void set_soft_aside();
  void take_soft_back();
  void keep_touches(double h);
  bool touches() const { return w_.contacts && !w_.contacts->now.empty(); }

  // Dry friction (friction.cpp).
  void start_rubs();
  bool rubs_close() const;
  bool any_closing_sticks() const;
  void find_rates(const double* q, const double* v, std::vector<double>& rates);
  void add_sticking_rows();
  void hold_sticking(const Stage& stage, bool euler);
  void add_sticking_gaps();
  void add_sticking_rates();
  double sticking_gap(std::size_t r, const LoopState& at) const;
  double force_of_lock(std::size_t r) const;
  JointLock& new_lock_row(const Rub& rub);
  void lock_rubs(double h, double gamma, double to_end);
  void book_rubs();
  bool update_rubs();
  bool update_rub(std::size_t r);
  bool hardly_moves(std::size_t r) const;
  bool turns_round(std::size_t r) const;
  bool stops_within(std::size_t r);
  void rest_what_sticks();
  void rub_at_frame();
  bool let_one_slip();
  bool any_sticks() const;
  bool is_locked(std::size_t r) const;

  // Controllers (control.cpp).
  void start_controls();
  void integrate_controls(const std::vector<double>& from, double h, std::vector<double>& out) const;
  void end_controls_of_euler(double t, double h);
  void combine_controls(double h, std::span<const double> weights, int n, std::vector<double>& out) const;
  void look_at_pair(double t, double h, std::span<const double> at);
  bool update_control(std::size_t index, double t, double h);
  void control_at_frame();

  // At a frame (frame_forces.cpp).
  void touch_limits();
  void lock_at_frame();
  bool solve_frame_blocks();
  void hold_touched_loops();
  bool let_one_go();

  void commit();
  void keep_trace(double t, double h) const;
  void recall_start();
  void give_links_back();
  bool check_finite(double t);
  bool fail_non_finite(double t);
  bool fail_pivot(double t);
  int worst_link() const;
  bool fail(result::Status status, double t, std::string what, int link);

  const SystemData& s_;
  const multibody::Tree& tree_;
  State& state_;
  WorkspaceData& w_;
  result::SolveReport& report_;
  AbaInput input_;
  const double* q_at_ = nullptr;  // where input_ was evaluated
  double h_ = 0;                  // of the attempt
  int depth_ = 0;                 // … how often the step was halved for it
  Integrator now_;                // that the attempt is taken by: sdirk also stands in for others
  double gain_ = 0;               // [J] that the attempt made of nothing
  double moving_ = 0;             // [J] kinetic in the attempt, and what springs took or gave
  double estimate_ = -1;          // [m] of the attempt's error
  bool companion_ = false;        // … is known by that of an explicit step
  bool tension_ = false;          // its stiffness is in the matrix of the iteration
  bool second_look_ = false;      // the attempt is made once more, by the places that it came to

  double longest_ = 0;          // [s] of the attempts: the first is the whole step
  double split_at_ = 0;         // share of the attempt after which something that slides stops; 0: none
  int splits_ = 0;              // of the step, for that reason
  bool closed_stages_ = false;  // sdirk with loops closed at its stages, also for midpoint
};

// Where the links stand for two sets of coordinates: the largest distance of their origins, and turn times
// size. [m]
double distance(const SystemData& s, const std::vector<double>& a, const std::vector<double>& b,
                WorkspaceData& w);

// A step of length h in parts, by the error that the options ask for (step_error.cpp). `between`: as step().
bool advance_adaptively(const SystemData& s, State& state, WorkspaceData& w, result::SolveReport& report,
                        double h, std::span<State> between);

// What stands between the two ends of a smooth part, at a time of its own (step_dense.cpp).
void interpolate(const SystemData& s, const State& start, const Node& at_start, const State& end,
                 const Node& at_end, double t, State& out);

// x₀ + h Σ w_j x_j over the first n stages.
void combine(const std::vector<double>* start, double h, std::span<const double> weights,
             const std::vector<std::vector<double>>& x, int n, std::vector<double>& out);

// [u, v] of the group that a joint's coordinates move on; zero for plain coordinates.
Vec6 bracket(JointKind kind, const Vec6& u, const Vec6& v);

}  // namespace limber::articulated
