// What compile() makes of a model, and the scratch of a step. Internal to articulated/.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "limber/articulated/articulated.h"
#include "limber/articulated/cables.h"
#include "limber/articulated/contacts.h"
#include "limber/articulated/step_trace.h"
#include "limber/elastic/beam_links.h"
#include "limber/elastic/joint_law.h"
#include "limber/elastic/spring_law.h"
#include "limber/math/anderson.h"
#include "limber/multibody/aba.h"
#include "limber/multibody/closing_joint.h"
#include "limber/multibody/gaba.h"
#include "limber/multibody/many_loops.h"
#include "limber/multibody/parallel_walk.h"
#include "limber/multibody/pcg.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"
#include "limber/result/hand.h"

namespace limber::articulated {

using multibody::JointLock;
using multibody::LinkMotion;

struct LinkPoint {
  int link = -1;          // −1: the world
  Vec3 p = Vec3::Zero();  // in M (the world's frame)
};

// A spring from a link to the ground: its blocks are the link's own, so the tree stays a tree.
struct GroundSpring {
  LinkPoint at;
  Vec3 anchor_W;
  elastic::SpringParameters law;
  int block = -1;   // body block
  int spring = -1;  // of the model
};

// Where a hand holds a link (live.h).
struct Held {
  result::Hand hand;
  LinkPoint at;
  int block = -1;  // body block
};

// What a beam's section does with a moment about its principal axes.
struct BeamFibres {
  double I_y = 0, I_z = 0;      // [m⁴]
  double y_max = 0, z_max = 0;  // [m]
  bool round = false;
};

// A spring between two links: ties them beyond the tree.
struct PairSpring {
  LinkPoint a, b;
  elastic::SpringParameters law;
  int pair = -1;    // in the pattern
  int spring = -1;  // of the model
};

// A joint that closes a loop: frame M of link b against frame F of link a, as a joint's child and parent.
struct CompiledLoop {
  std::string name;
  JointKind kind = JointKind::spherical;
  double lead = 0, length = 0;  // of a screw, a shift a radian; of a distance [m]
  int a = -1, b = -1;           // links; −1: the world
  Pose X_AF, X_BM;              // in the links' own M (the world's frame)
  JointLaw law;
  bool has_law = false;
  int pair = -1;                             // in the pattern, where its law ties two links
  int coupling = -1;                         // it is the row of that one: of no joint
  JointKind written = JointKind::spherical;  // as the model says: one that an event released is free
  multibody::ClosingJoint joint() const { return {kind, lead, length}; }
};

// gap = Σ factor q − offset, of coordinates of joints; of a cam q_b − f(q_a) − offset (couplings.cpp).
struct CompiledCoupling {
  struct Term {
    int link = -1, q = 0, v = 0, dof = 0;  // places in State::q and ::v
    double factor = 1;
  };
  std::vector<Term> terms;
  Law profile;  // f; none: no cam
  double offset = 0;
  bool rigid = true, turns = true;  // turns: the gap is an angle, else a length
  bool released = false;            // rigid: its row holds nothing
  double stiffness = 0, damping = 0, backlash = 0;
  int row = -1;                           // rigid: among the loops
  std::vector<int> links;                 // of the joints and their parents, in order
  std::vector<std::array<int, 3>> pairs;  // elastic: two of them and their pair in the pattern
};

// A coordinate of a joint with extras (laws.cpp). Springs of kinds with a rotation vector are in the joint's
// own law: q −1.
struct ExtraLaw {
  int link = -1, dof = 0, v = 0, q = -1;  // places in State::v and ::q
};

// A coordinate with dry friction (friction.cpp).
struct Rub {
  int link = -1, dof = 0, v = 0;                   // place in State::v
  int loop = -1;                                   // of a closing joint instead of link's
  double sticking = 0, sliding = 0, velocity = 0;  // [N·m or N], [rad/s or m/s]
  bool given = false;                              // its motion is: it never sticks
  double level(double speed) const;                // while it slides
};

// Between frame F on link a and frame M on link b (bushings.cpp).
struct CompiledBushing {
  int a = -1, b = -1;  // links; −1: the world
  Pose X_AF, X_BM;     // in the links' own M (the world's frame)
  Mat6 K, C;
  int block = -1;  // body block, where one of them is the world; else …
  int pair = -1;   // … in the pattern
};

// Where a loop's frames stand: computed from the links' poses.
struct LoopState {
  Pose X_FM;
  Mat3 R_WM;          // axes of M
  Vec3 p_W;           // origin of M
  double q[7] = {};   // coordinates of the closing joint, as a tree joint's
  DofArray x{};       // the same with rotation vectors
  Vec6 gap;           // closing_row_count rows
  math::Jet profile;  // of a cam, with its slope
};

struct CompiledRider {
  struct Stretch {
    int link = -1;
    Vec3 from, to;              // in M
    double begin = 0, end = 0;  // along the road [m]
  };
  std::vector<Stretch> road;
  double mass = 0;
  TimeFunction position;
};

struct CompiledLoad {
  LinkPoint at;
  Mat3 R_MB;  // turns a follower's components into M
  VectorFunction force, moment;
  bool follows = false;
  int of = -1;  // the load as written
};

struct WindShape {
  int link = -1;
  ShapeGeometry geometry;
  Pose X_MG;
};

// A drive, or a controller, whose place in State::control is `control`.
struct CompiledDrive {
  int link = -1;
  Drive drive;
  int control = -1;
  ControllerReads reads = ControllerReads::samples;
  Controller law{};
};

struct CompiledMotion {
  int link = -1;
  std::array<TimeFunction, 6> position;
};

// One bound of one coordinate; dof 0 of a rotation bounds its angle.
struct Limit {
  int link = -1, dof = 0;
  int loop = -1;  // of a closing joint instead of link's
  double bound = 0, restitution = 0;
  bool upper = true;
};

struct SpringEnds {
  LinkPoint a, b;
  elastic::SpringParameters law;
};

struct SystemData {
  SystemData(elastic::LinkedModel linked, const Options& opts);

  Model model;
  std::vector<elastic::BeamTrace> traces;
  std::vector<BeamFibres> fibres;  // one a beam
  Options options;
  multibody::Tree tree;

  std::vector<double> stiffness, damping, rest;  // (v_count) of the joints; rest of plain coordinates
  std::vector<double> rate_unit;                 // (v_count) 1 of turns, 1/size of slides: what compares them
  std::vector<char> has_rotation_law;            // (size) spherical or free with a stiffness
  std::vector<int> body_block_index;             // (size) −1: none
  int body_blocks = 0;
  std::vector<Inertia> drag;      // (body_blocks) acts on velocities as an inertia does on accelerations
  std::vector<char> beyond_drag;  // (body_blocks) there is more than drag
  double drag_rate = 0;           // [1/s] at which drag slows a body that floats, the fastest
  std::vector<GroundSpring> ground_springs;
  std::vector<CompiledLoad> loads;
  std::vector<WindShape> wind_shapes;
  std::vector<CompiledDrive> drives;  // then controllers
  std::vector<CompiledMotion> motions;
  std::vector<Limit> limits;
  std::vector<SpringEnds> springs;  // all, to observe
  std::vector<PairSpring> pair_springs;
  std::vector<CompiledLoop> loops;  // closing joints, then rigid couplings
  std::vector<CompiledCoupling> couplings;
  std::vector<CompiledRider> riders;
  std::vector<ExtraLaw> extra_laws;
  std::vector<Rub> rubs;
  std::vector<CompiledBushing> bushings;
  std::vector<CompiledCable> cables;
  std::vector<double> cable_start;  // State::cables as the model stands

  contact::SceneContacts contacts;  // empty: nothing touches
  bool bounces = false;             // what touches, if it has a restitution
  std::vector<int> part_of;         // (size) parts that nothing ties to each other; −1: stands
  int part_count = 0;

  multibody::Pattern pattern;
  bool tree_only = true;  // no springs between links, no loops: plain ABA
  Solver solver = Solver::gaba;
  multibody::EliminationOrder order;                     // unless tree_only
  std::shared_ptr<const multibody::LoopPlan> loop_plan;  // of hundreds of loop rows; else null
  double size = 1;                                       // [m] of the structure at the start
  double moving_mass = 0;                                // [kg] of what can move
  bool rows_contradict = false;                          // of loops that are not closed
  std::string warning;                                   // of the first step
  double energy0 = 0;                                    // [J] total of rest()
  std::vector<double> q0, v0;                            // where it starts: as the model says, loops closed

  result::Layout layout;
  std::vector<Probe> columns;     // of the layout's scalars
  bool asks_forces = false;       // a column needs accelerations or reactions
  bool asks_works = false;        // … or works one by one
  std::vector<char> asked_loops;  // (loops) a column tells its reaction
  int written_loads = 0;
  std::vector<std::string> load_names;  // as written: point loads, then those along beams
  // Of State::works.
  int work_of_drive(std::size_t d) const { return written_loads + static_cast<int>(d); }
  int work_of_motion(std::size_t m) const { return work_of_drive(drives.size()) + static_cast<int>(m); }

  LinkPoint link_point(const Attachment& a) const;
  bool worth_threads() const {
    return options.cpu_threads > 1 && tree.size() >= options.parallel_min_bodies && tree.worth_parallel();
  }
};

// Everything of a step's linear system that is not a plain tree.
struct Blocks {
  explicit Blocks(const SystemData& s);
  multibody::BlockSystem system;
  multibody::BlockSystem end;     // geometry at the end of the step, for its loops
  multibody::BlockRhs rhs, left;  // left: what a solution leaves over
  multibody::BlockSolution x, correction;
  std::unique_ptr<multibody::Gaba> gaba;
  std::unique_ptr<multibody::Gaba::Scratch> scratch;
  std::unique_ptr<multibody::ManyLoops> many;
  std::unique_ptr<multibody::Pcg> pcg;
  std::vector<LoopState> loops, loops_end;
  std::vector<LinkMotion> links_end;
  std::vector<Vec6> twist, scratch_twist;
  std::vector<Vec6> coupling_row;  // scratch
  std::vector<double> residual;
  std::vector<double> limit_force;  // (limits) on the coordinate, of the active ones
  std::vector<int> limit_row;       // (limits) of a closing joint: its row
  std::vector<double> limit_start;  // (limits) of a closing joint: its coordinate at the step's start
  // (rubs) of closing joints, while they stick: their row, and where the step takes the coordinate.
  std::vector<int> rub_row;
  std::vector<double> rub_place;
};

enum class ServoState : std::int8_t { linear, at_maximum, at_minimum };

// Energies of a state, with what they are of: known from the end of one step at the start of the next.
struct KnownEnergy {
  bool measured = false;  // of no freedoms at all q is as empty before as after
  std::vector<double> q, v;
  std::vector<LinkMotion> links;  // there, until a step takes them
  bool has_links = false;
  double t = 0;                                // [s]
  double kinetic = 0, elastic = 0, total = 0;  // [J]
  double rounding = 0;                         // [J] what sums of such energies leave

  bool is_of(const double* at_q, const double* at_v) const {  // bit for bit
    const auto same = [](const double* x, const std::vector<double>& y) {
      return y.empty() || std::memcmp(x, y.data(), y.size() * sizeof(double)) == 0;
    };
    return measured && same(at_q, q) && same(at_v, v);
  }
};

// Accelerations and powers at a state: known at the end of one part of a step by error at the start of the
// next.
struct Node {
  bool known = false;
  double t = 0;  // [s]
  std::vector<double> q, v, a;
  double taken = 0, given = 0;  // [W] by dampers; by loads, drives and motions
  double field = 0;             // [W] by gravity that changes
  std::vector<double> powers;   // [W] as State::works

  bool is_of(const State& s, double at) const { return known && t == at && q == s.q && v == s.v; }
};

// [W] at the stages of a step.
struct PowerRange {
  double least = 0, most = 0;
  bool any = false;
  void add(double power) {
    least = any ? std::min(least, power) : power;
    most = any ? std::max(most, power) : power;
    any = true;
  }
};

// At a state, by find_frame_forces().
struct FrameForces {
  std::vector<Vec6> acceleration;  // (size) of the link's M against the world, seen in M
  std::vector<Vec6> joint;         // (size) wrench of the parent on the child, in M about its origin
  std::vector<Vec6> loop;          // (loops) of a on b about the closing joint's M, world axes
};

struct WorkspaceData {
  explicit WorkspaceData(const SystemData& s);

  std::unique_ptr<multibody::Workers> workers;
  std::vector<LinkMotion> links;        // by evaluate()
  std::vector<LinkMotion> links_other;  // of a second state
  bool links_of_start = false;          // links are at_start's, which a Stepper gives back
  State before;                         // of the step at hand
  State whole, halves;                  // of an adaptive step
  std::vector<double> tau;              // (v_count) by evaluate()
  std::vector<Vec6> wrench;             // (size) by evaluate()
  std::vector<double> joint_block;      // (block_count) by evaluate()
  std::vector<Mat6> body_block;         // (body_blocks, and one for what is held) by evaluate()
  std::vector<int> body_block_index;    // (size) as the system's, and of the link that is held
  std::vector<char> block_used;  // (body_blocks + 1) by evaluate(): not where there is only drag in `blocks`
  std::optional<Held> held;
  multibody::AbaWorkspace aba;
  std::vector<JointLock> locks;            // motions first, then limits
  std::vector<int> lock_index;             // (size)
  std::vector<char> limit_active;          // (limits)
  std::vector<int> limit_changes;          // (limits) in this step
  std::vector<double> limit_over;          // (limits) beyond the bound when it was taken up
  std::vector<ServoState> servo;           // (6 × drives)
  std::vector<std::int8_t> rub;            // (rubs) the way it slides, +1 or −1; 0: it sticks
  std::vector<int> rub_changes;            // (rubs) in this step
  std::vector<double> rub_force;           // (rubs) on the coordinate, of those that stick
  std::vector<double> rub_start, rub_end;  // (rubs) rates where the step starts and ends
  std::vector<double> q_mid, v_mid, q_end, v_end, a, a_new;
  std::vector<Vec6> a_body;               // of the iterate before
  std::vector<Vec3> carried;              // (size) force that a link's joint carries
  std::vector<Mat3> tension_block;        // (size) on turning, in M
  std::vector<double> u_base, v_base, u;  // of a stage: q_mid = q₀ ⊕ (u_base + γh v_mid)
  math::Anderson anderson;                // of the stages' iteration on a
  // Fourth order: accelerations, velocities, ways and rates along them of all stages; both of gauss in one
  // vector.
  std::vector<std::vector<double>> stage_a, stage_v, stage_u, stage_k;
  std::vector<double> pair, pair_new;
  math::Anderson anderson_pair;
  std::unique_ptr<Blocks> blocks;               // null: tree_only
  std::unique_ptr<Contacts> contacts;           // null: nothing touches
  std::vector<double> leans_on;                 // of a rest at hand, as State::touching
  double load = 1, weight = 1;                  // shares that act: of loads and wind; of weight and riders
  std::vector<CableShape> cables;               // by evaluate() and for an energy
  std::vector<double> cable_from;               // State::cables of the step at hand
  double dissipated_power = 0, work_power = 0;  // [W] by evaluate()
  // (controllers) of a stage: forces that are held, integrals without the stage's own part; by evaluate()
  // what adds to the integrals; integrals at the step's end.
  std::vector<double> control, control_rate, control_end;
  std::vector<std::vector<double>> stage_control;  // control_rate of all stages
  double dissipated = 0, work = 0;                 // [J] in the step at hand
  std::vector<double> powers, works;               // the same one by one, as State::works; empty: not asked
  FrameForces frame;
  double field_work = 0;                         // [J] of it, by gravity that changes
  PowerRange taken, given;                       // by dampers; by loads, drives and motions
  KnownEnergy at_start, at_end;                  // of the step at hand
  std::vector<StepPart>* trace = nullptr;        // what a step is made of, if it is asked (step_trace.h)
  Node node, node_end;                           // of the part of a step by error; known to no other step
  bool own_estimate = false;                     // the part at hand tells its error by its stages
  bool wants_nodes = false;                      // … and frames stand within the step
  std::vector<double> lower, higher;             // (v_count) differences of the stages, for an estimate
  std::vector<double> motion_of;                 // (size) of the links, by `higher`
  std::vector<double> companion_u, companion_v;  // (v_count) end of the explicit step beside one of gauss
};

// How implicit an evaluation is: the matrix is d·D + k·K, and forces are taken `ahead` seconds along v.
struct Weights {
  double d = 0, k = 0, ahead = 0;
  bool matrix =
      true;  // else forces alone: the blocks of what ties links stay, their geometry goes to blocks->end
};

// Forces of places that touch, as State::touching has them, on the links as they stand.
double stored_in_touches(const SystemData& s, const std::vector<double>& touching);  // [J] where it gives
void add_kept_wrenches(const SystemData& s, const std::vector<double>& touching, WorkspaceData& w);
// Joints that events release become closing joints of bodies that float (switches.cpp); none: no such joint.
std::optional<Model> with_releasable_joints(const Model& model);

void compile_couplings(SystemData& s);
// Offsets that are not given: the gap is zero at q0.
void set_coupling_offsets(SystemData& s);
double coupling_gap(const CompiledCoupling& c, const double* q);
math::Jet profile_at(const CompiledCoupling& c, const double* q);  // of a cam; else nothing
// ∂gap/∂q of a term.
double slope_of(const CompiledCoupling& c, const CompiledCoupling::Term& t, const math::Jet& profile);
// Of velocities, or of accelerations; the second has (∂²gap/∂q²) v² beside it.
double coupling_rate(const CompiledCoupling& c, const math::Jet& profile, const double* v);
double coupling_bias(const CompiledCoupling& c, const math::Jet& profile, const double* v);
void put_coupling_row(const SystemData& s, const CompiledCoupling& c, const math::Jet& profile,
                      const multibody::BlockSystem& m, std::vector<Vec6>& row);
// force ∂²gap/∂q² into the joints' blocks: what a force on the gap turns with its slope.
void add_profile_stiffness(const SystemData& s, const CompiledCoupling& c, const math::Jet& profile,
                           double force, std::vector<double>& joint_blocks);
double coupling_force(const CompiledCoupling& c, const double* q, const double* v);  // elastic: on the gap
// Forces of elastic ones on the joints, and what dampers take; then their blocks.
void add_coupling_forces(const SystemData& s, const double* q, const double* v, const Weights& weights,
                         WorkspaceData& w);
// row: scratch.
void add_coupling_blocks(const SystemData& s, const double* q, double d, double k, multibody::BlockSystem& m,
                         std::vector<Vec6>& row);
double coupling_energy(const SystemData& s, const double* q);

// Springs between two links: on the links, and in the blocks.
void add_pair_springs(const SystemData& s, const Weights& weights, WorkspaceData& w);

// Extras of joints: forces with their blocks and what dampers take; energy; the exact stiffness (`clamp`: its
// positive part) into the joints' blocks.
void compile_extra_laws(SystemData& s);
void add_extra_laws(const SystemData& s, const double* q, const double* v, const Weights& weights,
                    WorkspaceData& w);
double extra_energy(const SystemData& s, const double* q);
void add_extra_stiffness(const SystemData& s, const double* q, bool clamp, std::vector<double>& joint_blocks);
// Against a rate: all dampers of a joint's coordinate at q.
math::Dual damper_force(const JointLaw& law, int dof, double q, double rate);

void compile_friction(SystemData& s);
void add_friction(const SystemData& s, const double* v, WorkspaceData& w);
// … of closing joints, whose places are in blocks.
void add_closing_friction(const SystemData& s, WorkspaceData& w);
double mean_step(const State& state);  // [s] so far; 0 at the start
// Of closing joints, in rad/s or sizes a second: what is no faster stands, in steps of h.
double standing_rate(const SystemData& s, const std::vector<LinkMotion>& links, double h);
// The force of friction on the coordinates of a joint that slides, with its rates. One of link and loop is
// −1.
Vec6 sliding_force(const SystemData& s, int link, int loop, const double* rates);

void compile_bushings(SystemData& s);
void add_ground_bushings(const SystemData& s, const Weights& weights, WorkspaceData& w);
void add_pair_bushings(const SystemData& s, const Weights& weights, WorkspaceData& w);
double bushing_energy(const SystemData& s, const std::vector<LinkMotion>& links);

void compile_cables(SystemData& s);
void add_cables(const SystemData& s, double t, const Weights& weights, WorkspaceData& w);
// Places them too. state: as State::cables, of where they come from.
double cable_energy(const SystemData& s, const std::vector<LinkMotion>& links, double t,
                    const std::vector<double>& state, std::vector<CableShape>& cables);
double slip_loss(const SystemData& s, const std::vector<double>& state,
                 const std::vector<CableShape>& cables);
// The state of where the links stand now.
void carry_cables_over(const SystemData& s, const std::vector<LinkMotion>& links, double t,
                       std::vector<CableShape>& cables, std::vector<double>& state);
// Into the exact stiffness at their places; `material`: without that of their direction.
void add_cable_tangent(const SystemData& s, const std::vector<LinkMotion>& links, bool material,
                       std::vector<CableShape>& cables, multibody::BlockSystem& K);
// Of placed cables.
observe::CableReading read_cable(const SystemData& s, int cable, int guide,
                                 const std::vector<LinkMotion>& links, double t,
                                 std::vector<CableShape>& cables);
// [m] its rest length where it stands: as that of a scene that begins there.
double rest_off_drums(const CompiledCable& c, const CableShape& at);
int cable_points(const CompiledCable& c);
void draw_cable(const CompiledCable& c, const CableShape& at, std::vector<Vec3>& out);

// A block of the link's own; made if there is none.
void add_body_block(SystemData& s, int link, bool beyond_drag);

// Where two links stand in the pattern of pairs; put there if they do not.
int pair_of(SystemData& s, int a, int b);

// Forces and their implicit blocks at (q, v, t): fills links, tau, wrench, joint_block, body_block.
void evaluate(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
              WorkspaceData& w);
// What is looked at: springs and dampers of joints; what else pushes their coordinates; weight and drag; what
// acts on links beside these.
struct Acting {
  bool laws = true, actuators = true, own = true, elements = true;
};
// The same with the links as they stand in w.links.
void evaluate_placed(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
                     WorkspaceData& w, const Acting& acting = {});

// Accelerations and reactions at a state, by one solve of the equations of motion there; leaves links as they
// stand. False: there is no answer, all is NaN.
bool find_frame_forces(const SystemData& s, const State& state, WorkspaceData& w);

// The servo's force on dof k without its cut, and the plain elastic + damping + drive force of a joint.
double servo_force(const CompiledDrive& d, const multibody::Link& link, int k, const double* q,
                   const double* v, double t);
Vec6 joint_force(const SystemData& s, int link, const State& state);
Vec6 drive_force(const CompiledDrive& d, const multibody::Link& link, const State& state);

// Controllers (control.cpp).
void compile_controllers(SystemData& s);
// At a coordinate and its rate: target less reading, and the force without its cut for an integral.
double control_error(const CompiledDrive& d, double q, double v, double t);
double control_force(const CompiledDrive& d, double q, double v, double t, double integral);
void add_control(const CompiledDrive& d, ServoState state, const double* q, const double* v, double t,
                 const Weights& weights, WorkspaceData& w, double* tau, double* block, int dofs);
// At time t, for a winch; cables come from where w.cable_from says.
double elastic_energy(const SystemData& s, const double* q, const std::vector<LinkMotion>& links, double t,
                      WorkspaceData& w, std::vector<LoopState>* scratch = nullptr);

// Loops: where they stand for given poses, their rows, and G J v of one of them.
void place_loops(const SystemData& s, const double* q, const std::vector<LinkMotion>& links,
                 std::vector<LoopState>& loops);
// Rows of all loops; origins and subspaces of m are placed.
void put_loop_rows(const SystemData& s, const std::vector<LoopState>& loops, multibody::BlockSystem& m);

multibody::LoopRows loop_rows(const CompiledLoop& l, const LoopState& at, const Vec3& origin_a,
                              const Vec3& origin_b);
double largest_gap(const SystemData& s, const std::vector<LoopState>& loops, int* worst = nullptr);
// A link's twist at a place of the world, in the axes R.
Vec6 twist_seen_in(const Mat3& R, const Vec3& at, int link, const std::vector<LinkMotion>& links);
// The closing joint's rates from the links' twists in M; `joint`: of the kind that at.q is of.
Vec6 closing_rates(const CompiledLoop& loop, const multibody::ClosingJoint& joint, const LoopState& at,
                   const std::vector<LinkMotion>& links);
Vec6 loop_rates(const SystemData& s, int loop, const LoopState& at, const std::vector<LinkMotion>& links);
// What the loop's rows see of an acceleration without any of the joints: T (V_rel × V_a − S̊ rates), in M.
Vec6 loop_acceleration_bias(const SystemData& s, int loop, const LoopState& at,
                            const std::vector<LinkMotion>& links);
// A force on a coordinate of a closing joint, on both its links.
void push_loop(const SystemData& s, int loop, int dof, double force, const LoopState& at, WorkspaceData& w);
Vec6 loop_force(const SystemData& s, int loop, const LoopState& at, const Vec6& rates);  // spring and damper
// Forces on the coordinates as a wrench on b about M's origin, world axes; those of spring and damper.
Vec6 loop_wrench(const CompiledLoop& loop, const LoopState& at, const Vec6& force);
Vec6 loop_law_wrench(const SystemData& s, int loop, const LoopState& at, const Vec6& rates);
double loop_energy(const SystemData& s, int loop, const LoopState& at);
elastic::JointConfiguration loop_configuration(const CompiledLoop& l, const LoopState& at);

// A limit's coordinate at q (or of its loop) and the row that gives its rate from the joint's rates.
double limit_coordinate(const SystemData& s, const Limit& limit, const double* q,
                        const std::vector<LoopState>* loops);
Vec6 limit_row(const SystemData& s, const Limit& limit, const double* q);
// Adds the row of a closing joint's coordinate; −1 when the loop holds all six already.
int add_limit_row(const SystemData& s, const Limit& limit, const LoopState& at,
                  multibody::BlockSystem& system);

// The lock of a link, made empty if there is none yet.
JointLock& lock_of(int link, std::vector<JointLock>& locks, std::vector<int>& lock_index);
// Whether a servo that would push with `force` can.
ServoState servo_state(double force, double max_force);

// Where a rider's weight stands at time t: up to two links with a share each; 0 if it is not on its road.
struct RiderShare {
  int link = -1;
  Vec3 p;  // in M
  double share = 0;
};
int rider_shares(const CompiledRider& r, double t, RiderShare out[2]);

// The matrix of `blocks` from what evaluate() found. Factors it; false if it is not positive definite.
bool factor_blocks(const SystemData& s, WorkspaceData& w);
// Solves for blocks.rhs into x; false if PCG did not converge.
bool solve_blocks(const SystemData& s, WorkspaceData& w, multibody::BlockSolution& x, bool homogeneous);
Vec6 block_lock_force(const SystemData& s, const WorkspaceData& w, int link);

// Coordinates and rates of a prescribed joint at time t.
void prescribed(const CompiledMotion& m, const multibody::Link& link, double t, double* q, double* v,
                double share = 1);

}  // namespace limber::articulated
