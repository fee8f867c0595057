// What compile() makes of a model, and the scratch of a step. Internal to thread/.
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "limber/contact/box_tree.h"
#include "limber/contact/solid.h"
#include "limber/contact/sparse_cone.h"
#include "limber/elastic/spring_law.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"
#include "limber/result/hand.h"
#include "limber/thread/block_inverse.h"
#include "limber/thread/stiffness.h"
#include "limber/thread/thread.h"

namespace limber::thread {

// A body whose pose is a function of time.
struct DrivenBody {
  int parent = -1;
  JointKind kind = JointKind::fixed;
  double pitch = 0;  // of a screw [m]
  Pose X_PF, X_MB;
  bool moves = false;
  std::array<TimeFunction, 6> q;
};

struct BodySolid {
  int body = -1;  // −1: the world
  contact::Geometry geometry;
  Pose X_BG;
  double reach = 0;  // [m] of its farthest point from G; of a solid that is driven
};

struct ThreadInfo {
  std::string name;
  Rod rod;
  int elements = 0;                     // of the coarsest mesh
  int fine = 0;                         // elements << levels: places run from 0 to this
  double length = 0;                    // [m] at ease
  double unit = 0;                      // [m] of the finest element, at ease
  std::vector<Pose> start;              // (fine + 1) node axes at t = 0 in the world
  std::vector<Pose> ease;               // (fine + 1) the same at ease, somewhere
  double stretch = 1;                   // at t = 0: of its path over that at ease
  bool straight = false;                // at ease
  std::vector<Vec2> outline;            // of the section in the node's axes, over its extents
  Vec2 extent{0, 0};                    // [m] of the outline along y and z
  std::vector<ElementStiffness> level;  // (levels + 1), the coarsest first
  Vec3 velocity = Vec3::Zero();
};

// Which of a node's vectors are held: bit 0 position, 1 the midline's direction, 2 and 3 the section's.
struct Fix {
  int thread = 0, place = 0;
  unsigned held = 0;
  int body = -1;
  Pose X_BN;                                               // the node's axes in the body
  double stretch = 1;                                      // of the midline, where that is held
  double until = std::numeric_limits<double>::infinity();  // [s]
  int clamp = -1;                                          // of the beam's clamps; −1: its root
};

inline constexpr unsigned carries_body = 0b10000u;
// A free body that a thread carries at a node (carried.cpp).
struct Carried {
  int thread = 0, place = 0;
  int body = 0;
  Pose X_NB;            // the body in the node's axes
  Eigen::Matrix4d mu;   // mass of x, x_,x, x_,y, x_,z
  Vec3 velocity, turn;  // [m/s, rad/s] of the node at t = 0, in the world's axes
};

// A stretch of a thread that begins inside a solid, at a clamp: the two do not touch.
struct Spared {
  int thread = 0, solid = 0;
  double s0 = 0, s1 = 0;  // [m]
};

// From a time on a thread is in two at a place: its node is there twice (State::place), with no element
// between.
struct Cut {
  int thread = 0, place = 0;
  double at = 0;  // [s]
};

// What a thread is drawn as: one line, or several if it is cut in the course of the run.
struct Piece {
  int thread = 0, from = 0, to = 0;  // places
  int samples = 0;                   // points of its line
  int rings = 0;                     // … and of all rings: one a node, at most
};

// On a body that is carried, in its own axes.
struct BodyLoad {
  int body = 0;
  Vec3 p = Vec3::Zero();
  VectorFunction force, moment;
  bool follows = false;
};

struct ThreadLoad {
  int thread = 0;
  double s = 0;
  Vec3 arm = Vec3::Zero();  // in the section's axes
  VectorFunction force, moment;
  bool follows = false;
};

struct LineLoad {
  int thread = 0;
  double s0 = 0, s1 = 1;
  VectorFunction force;
  bool follows = false;
};

// A spring from a thread to the world or a body.
struct Tether {
  int thread = 0;
  double s = 0;
  Vec3 arm = Vec3::Zero();  // from the midline, in the node's axes
  int body = -1;
  Vec3 p = Vec3::Zero();
  elastic::SpringParameters law;
};

// Where a hand holds a thread, or a body that it carries (live.h).
struct Held {
  result::Hand hand;
  int body = -1;  // −1: on the thread
  int thread = 0;
  double s = 0;
};

struct SystemData {
  Model model;
  Options options;
  std::vector<ThreadInfo> threads;
  std::vector<DrivenBody> bodies;
  std::vector<BodySolid> solids;
  std::vector<Fix> fixes;
  std::vector<Carried> carried;
  std::string warning;  // of every step, a line each
  std::vector<Spared> spared;
  std::vector<Cut> cuts;  // by time
  std::vector<ThreadLoad> loads;
  std::vector<LineLoad> line_loads;
  std::vector<BodyLoad> body_loads;
  std::vector<Tether> tethers;
  bool contact = false, self_contact = false;
  bool driven_solids = false;    // some solid moves
  std::vector<double> friction;  // (threads x (solids + threads)) of a thread on each
  bool damps = false;            // some thread has material damping
  double smallest_radius = 0, size = 1;
  double energy0 = 0;  // [J] total of rest()

  result::Layout layout;
  std::vector<Probe> columns;  // of the layout's scalars
  std::vector<Piece> pieces;
  std::size_t point_count(const Piece& p) const;  // of its line, two stripes and the rings

  int capacity() const;  // nodes of the finest mesh
  void poses(double t, std::vector<Pose>& X_WB) const;

  // --- step_ledger.cpp
  bool has_loads() const;
  double friction_on(int thread, int other) const {  // other: a thread, or −1 − a solid
    const std::size_t place = other < 0 ? static_cast<std::size_t>(-1 - other) : solids.size() + other;
    return friction[thread * (solids.size() + threads.size()) + place];
  }
  bool moving_fixes() const;
  bool changing_fields() const;
  bool energy_enters() const;  // from outside, in ways that a step's books do not know exactly

  explicit SystemData(Model m) : model(std::move(m)) {}
};

// One side of a contact: a place of a thread's midline, and what its surface point follows.
struct TouchSide {
  int slot = -1;  // −1: a solid
  double xi = 0;
  double line[4] = {};     // weights of x, x_,x at the slot's two nodes in the midline's point
  double section[4] = {};  // weights of x_,y, x_,z at the two nodes in the surface's point
};
struct Touch {
  TouchSide a, b;
  Vec3 n = Vec3::Zero(), t1 = Vec3::Zero(), t2 = Vec3::Zero();  // n from b to a
  double free_gap = 0;                                          // gap less n·(motion of the step so far)
  Vec3 slip0 = Vec3::Zero();    // slip of a step that moves nothing: given motions of nodes and solids
  Vec3 carried = Vec3::Zero();  // motion of the solid's surface in the step
  int other = 0;                // −1 − the solid
};

// Where a contact was and its force, at the end of the last step or iteration.
struct LastTouch {
  int a = 0, b = 0;  // slots; b < 0: the solid −1 − b
  double xi_a = 0, xi_b = 0;
  Vec3 force = Vec3::Zero();      // on a
  static constexpr int size = 7;  // doubles of State::touch
};

// A contact's rows of J: two or four nodes; d: normal and tangents in node axes, with the side's sign.
struct TouchRows {
  int count = 0, first = 0, last = 0;
  int node[4];
  double weight[4][4];  // of x, x_,x, x_,y, x_,z; 0 where they are held
  double d[4][3][3];
};
// What W needs of them: J and J G at each node, three rows of twelve.
struct alignas(32) TouchBlocks {
  double own[4][36], moved[4][36];
  double both[2][36];  // J G at the farther node of each side with what follows from the nearer one
  int far[2];  // of each side, the node that is farther from the factor's top; −1: it is between them
  int count = 0, first = 0, last = 0;
  int node[4];
};
// A contact's forces as nodes on the way to the factor's top feel them (contact_rows.cpp), in the pool, 36 a
// node: over nodes up_first … up_last up to the top and down_last … down_first beyond it; root: what arrives
// at the top from beyond, times G.
struct TouchField {
  int low = 0, high = 0;  // all nodes of it
  int up_first = 0, up_last = -1, down_first = 0, down_last = -1;
  std::ptrdiff_t up = 0, down = 0, root = -1;
};

enum class TouchHold : std::uint8_t { open, sticks, slides };

struct Capsule {
  int slot = 0, part = 0, thread = 0;
  double xi0 = 0, xi1 = 0;
  double s0 = 0, s1 = 0;  // [m] along the thread at ease
  double a0 = 0, a1 = 0;  // [m] along the threads as they are, stretched or compressed
  double off = 0;         // [m] of the midline from it, at most
  bool last = false;      // of its thread
};

struct ContactWork {
  std::vector<Capsule> capsules;
  std::vector<double> sag;           // (nodes) [m] of the slot's midline from its chord, about
  std::vector<Vec3> p0, q0, p1, q1;  // (capsules) ends, at the beginning of the step and now
  contact::BoxTree tree;
  std::vector<std::pair<int, int>> pairs;  // capsules that may touch; second < 0: solid −1 − second
  std::vector<contact::Solid> solids0, solids1;
  double bound = 0;        // [m] how far anything may move for `pairs` to hold
  int low = 0, high = -1;  // nodes that a pair may touch
  std::vector<Touch> touches;
  std::vector<LastTouch> last;
  std::vector<Touch> last_touches;  // (last) where they are at the beginning
  std::vector<TouchRows> rows;      // (touches)
  int coupled = 0;                  // touches that W has
  // Of solids alone (solid_contacts.cpp): the step's matrix, how contacts are taken, and forces to begin
  // with.
  Numbers D, O;
  bool kept = false;
  std::vector<TouchHold> held;    // (touches)
  std::vector<double> stiffness;  // (touches) [N/m]
  std::vector<double> first_forces;
  std::vector<double> pushed;       // (touches x 4) forces that the springs add to
  std::vector<TouchBlocks> around;  // (touches)
  std::vector<TouchField> fields;   // (touches)
  Numbers pool;                     // (nodes x 36 each) of the fields
  std::size_t used = 0;             // of the pool
  TouchRows scratch_rows;
  contact::ContactMatrix W;
  contact::SparseCone solver;
  std::vector<double> block;  // (pairs of touches x 16), and which they are
  std::vector<std::pair<int, int>> blocks;
  std::size_t known = 0;  // of them
  std::vector<int> order, near, degree;
  int widest = 0;  // most nodes of a field
  std::vector<std::pair<double, int>> by_place;
  std::vector<double> free, friction, lambda;
  std::vector<double> shift;                // (nodes x 12) A⁻¹Jᵀλ
  std::vector<double> free_motion;          // (nodes x 12) of the step without contact, in node axes
  std::vector<Pose> X0, X1;                 // bodies at the beginning and the end of the step
  long passes = 0, sweeps = 0, solves = 0;  // of the forces' iteration, in all
  // Of the last forces: how far they are from the law, of the largest motion without any; outside of their
  // cones, of the largest force; and what they left to overlap, of the thinner one's thickness.
  double residual = 0, cone_violation = 0, overlap = 0;
  double worst_taken = 1e-3;  // residual; a step that leaves more is divided
  int active = 0;             // contacts with a force in the last step
  double friction_work = 0;   // [J] taken by friction in the step at hand
  double solid_work = 0;      // [J] done in it by solids that move
};

struct CarriedNode {
  int node = 0;
  Eigen::Matrix4d mu;
};

// Of a slot's element [m]: what it moves beyond itself, and its midline between its nodes.
struct ElementError {
  double beyond = 0, within = 0;
};

struct WorkspaceData {
  explicit WorkspaceData(const SystemData& s);

  ElementArrays elements;
  BlockTridiagonal solver;
  BlockInverse inverse;  // of contacts
  // Of the mesh that the arrays are set up for.
  std::vector<std::int32_t> first, place;
  int holding = -1;                  // fixes that hold
  double scale_h = -1;               // step that the damping scale belongs to
  std::vector<unsigned> held;        // (nodes) bits of Fix::held, and carries_body
  std::vector<CarriedNode> carried;  // nodes with a body
  std::vector<int> thread_of;        // (nodes)
  std::vector<double> length;        // (nodes) of the slot's element; 0: none
  std::vector<ElementError> errors;  // (nodes) of the slots, by element_errors()
  std::vector<double> weight;        // (nodes x 2) mass a unit of x and of x_,x: gravity's share

  std::vector<double> e, e_hat, v_hat, rhs, delta, external, scratch;  // (nodes x 12)
  std::vector<double> e_start, e_try;
  std::vector<double> stage[2], stage_hat[2], stage_rhs[2];  // of collocation
  std::vector<Pose> X_WB, X_before;
  std::optional<Held> held_by_hand;
  std::vector<char> pulls;  // (tethers) where external_forces() looked last
  ContactWork contact;
  State start;
  // CG
  std::vector<double> cg_r, cg_z, cg_p, cg_q, cg_block;
  std::vector<double> K;  // (24 x 24) scratch of the other elements
  int cg_iterations = 0;
  double work = 0, dissipated = 0;
};

// --- mesh.cpp: slot and node constants of a state's mesh; also what the damping of a step of size h adds.
void set_mesh(const SystemData& s, const State& state, WorkspaceData& w);
void set_damping(const SystemData& s, const State& state, double ch, WorkspaceData& w);
int node_at(const State& state, int thread, int place);  // −1: none
// Whether a fix holds in a step from the state, or at rest in it; how many do; and when the next change (a
// clamp that lets go, a cut) comes after it, or never.
bool holds(const Fix& f, const State& state);
int holding(const SystemData& s, const State& state);
double next_change(const SystemData& s, const State& state);
// Forgets accelerations where a clamp has just let go.
void let_go(const SystemData& s, State& state);
struct Spot {
  int slot = 0;
  double xi = 0;
};
Spot spot_at(const SystemData& s, const State& state, int thread, double fraction);
Spot sample_spot(const State& state, const Piece& piece, int sample);
// Makes the cuts that are due; true if there was one.
bool make_cuts(const SystemData& s, State& state, WorkspaceData& w);
// --- mesh_error.cpp: w.errors of the mesh at the state; false if it has no strains.
bool element_errors(const SystemData& s, const State& state, WorkspaceData& w);
// --- mesh.cpp: splits and joins elements; true if the mesh changed.
bool adapt(const SystemData& s, State& state, WorkspaceData& w);

// --- forces.cpp
// Gradient w.elements.g at the coordinates e; false if a gradient is turned inside out or an element is
// beyond the wall that keeps it from folding.
bool evaluate(const SystemData& s, const double* e, WorkspaceData& w);
bool section_axes_at(const double* e, int nodes, WorkspaceData& w);  // the nodes' axes and strains alone
// Of the mass in a tangent: `all`, and of each thread its own air damping over the scheme's ch.
struct MassWeight {
  double all = 0;
  double ch = 0;  // [s] 0: without air
};
// The same with the blocks of weight · M + K.
bool evaluate_tangent(const SystemData& s, const double* e, const MassWeight& weight, WorkspaceData& w);
// Loads, gravity, tethers at the coordinates e and time t in world axes into w.external; their stiffness
// (tethers) is added to the diagonal blocks if `tangent`. ch > 0: dampers too.
void external_forces(const SystemData& s, const State& state, const double* e, double t, double load,
                     double ch, bool tangent, WorkspaceData& w);
void load_forces(const SystemData& s, const State& state, double t, double load,
                 WorkspaceData& w);  // loads alone, added
void hand_forces(const SystemData& s, const State& state, const double* e,
                 WorkspaceData& w);                                                // a hand at rest, added
void mass_times(const WorkspaceData& w, int nodes, const double* y, double* out);  // out = M y, world axes
double gravity_potential(const SystemData& s, const State& state, const double* e, double t, double load,
                         const WorkspaceData& w);
double tether_energy(const SystemData& s, const State& state, const double* e, const WorkspaceData& w);
double potential(const SystemData& s, const State& state, const double* e, double t, double load,
                 const WorkspaceData& w);  // the sum of both
void to_node_axes(const WorkspaceData& w, int nodes, const double* world, double* local);
void to_world(const WorkspaceData& w, int nodes, const double* local, double* world);
// A motion in node axes whose sections turn along arcs, not chords.
void turn_sections(const WorkspaceData& w, int nodes, double* delta);
void hold(const WorkspaceData& w, int nodes, double* rhs, bool matrix, ElementArrays& a);  // held rows out
void place_fixes(const SystemData& s, const State& state, double t, double* e, WorkspaceData& w);
int factor(const SystemData& s, int nodes, int top, WorkspaceData& w);
void solve(const SystemData& s, int nodes, double* x, WorkspaceData& w);

// --- carried.cpp: bodies at nodes
Eigen::Matrix4d carried_mass(const Inertia& inertia, const Pose& X_NB);
void add_carried_mass(const WorkspaceData& w, ElementArrays& a);
void carried_mass_times(const WorkspaceData& w, const double* y, double* out);  // out += M y, any axes
void hold_carried(const WorkspaceData& w, double* rhs, bool matrix, ElementArrays& a);  // their stretch out
void place_carried(const SystemData& s, const State& state, const double* e, std::vector<Pose>& X_WB);
struct CarriedRate {
  Vec3 velocity, turn;
};
CarriedRate carried_rate(const State& state, const Carried& c, const Vec3& p_B);
const Carried* carried_body(const SystemData& s, int body);  // nullptr: it is not

// --- contacts.cpp
// Capsules and pairs that may touch in a step of size h from the state.
void prepare_contacts(const SystemData& s, const State& state, double h, WorkspaceData& w);
// Changes the motion w.delta (node axes, from w.e) so that nothing overlaps; false if it could not be kept
// apart.
bool resolve_contacts(const SystemData& s, const State& state, WorkspaceData& w);
struct Overlap {
  double depth = 0;             // [m] the deepest; 0: nothing overlaps
  int thread = -1, other = -1;  // other < 0: the solid −1 − other, else a thread
  Vec3 at = Vec3::Zero();       // on the thread's midline
};
// The contacts of the last step, at their places now, into c.last.
void take_last(const SystemData& s, const State& state, const WorkspaceData& w, ContactWork& c);
// out += Jᵀλ of those forces, (nodes x 12) in world axes.
void add_contact_forces(const SystemData& s, const State& state, WorkspaceData& w, double* out);
Overlap deepest_overlap(const SystemData& s, const State& state, const double* e, WorkspaceData& w);
// What overlaps most, for people: '"a" overlaps "b" by 1 mm at (0, 0, 0)'; "" if nothing does by more than a
// little. `crossed`: two threads run through each other, nothing says to which sides.
std::string overlap_text(const SystemData& s, const State& state, WorkspaceData& w, bool* crossed = nullptr);
// Whether nothing can touch within h seconds, so far as the motion at hand says.
bool nothing_near(const SystemData& s, const State& state, double h, WorkspaceData& w);
// Looks for pairs within a motion of `bound`, or as far as a step may go at all where there are some.
void look_within(const SystemData& s, double bound, ContactWork& c);
// --- solid_motion.cpp
double reach_of(const contact::Geometry& geometry);               // its farthest point from its origin
double farthest(const Pose& from, const Pose& to, double reach);  // no point of a solid goes farther
// A step of size h from the state, or shorter: what a driven solid could pass through in it is met.
// `fastest`: of the nodes.
double longest_beside_solids(const SystemData& s, const State& state, double h, double fastest,
                             WorkspaceData& w);
// --- contact_rows.cpp: W and the forces.
void add_rows(const SystemData& s, int from, WorkspaceData& w);       // touches from index `from` on
void solve_forces(const SystemData& s, int nodes, WorkspaceData& w);  // into w.delta
// --- solid_contacts.cpp
void keep_matrix(int nodes, WorkspaceData& w);  // before it is factored, if only solids may be touched
// The motion and the forces where only solids are touched; false if they have to be found by solve_forces().
bool hold_solids(const SystemData& s, int nodes, WorkspaceData& w);
// The motion with the forces c.last at these places, into w.delta.
void apply_last_forces(const std::vector<Touch>& touches, int nodes, WorkspaceData& w);

// Where a spring holds a thread: x + Σ c_j P_j a over the nodes around, with c_j their shares of the place.
Vec3 tether_point(const SystemData& s, const State& state, const double* e, const Tether& k,
                  const WorkspaceData& w);
Vec3 tether_anchor(const Tether& k, const WorkspaceData& w);  // its other end
// How the point moves where the nodes' numbers have the rates v.
Vec3 tether_rate(const SystemData& s, const State& state, const double* v, const Tether& k,
                 const WorkspaceData& w);
// Whether every spring that only pulls still pulls, or still does not, at e: else its forces are of another
// law.
bool tethers_settled(const SystemData& s, const State& state, const double* e, double ch,
                     const WorkspaceData& w);
// What the dampers of springs take [J] in a step from the state to e, by their forces at its end.
double tether_losses(const SystemData& s, const State& state, const double* e, double ch,
                     const WorkspaceData& w);
Mat3 rotation_of(const double* gradient);  // mesh.cpp: polar, of x_,x x_,y x_,z

// Position of the midline and of a director in a slot.
struct Midline {
  Vec3 x, slope;  // slope: dx/ds
};
Midline midline(const double* e, int slot, double l, double xi);
// Weights of x₁, x₁,x, x₂, x₂,x in the midline's position.
inline std::array<double, 4> hermite(double xi, double l) {
  const double x2 = xi * xi, x3 = x2 * xi;
  return {1 - 3 * x2 + 2 * x3, l * (xi - 2 * x2 + x3), 3 * x2 - 2 * x3, l * (x3 - x2)};
}
inline Vec3 midline_point(const double* e, int slot, double l, double xi) {
  const auto n = hermite(xi, l);
  const double* q = e + 12 * static_cast<std::ptrdiff_t>(slot);
  Vec3 x;
  for (int i = 0; i < 3; ++i) x[i] = n[0] * q[i] + n[1] * q[3 + i] + n[2] * q[12 + i] + n[3] * q[15 + i];
  return x;
}

// --- observe.cpp: at the points of a piece's line.
std::vector<Station> stations(const System& system, const State& state, Workspace& workspace,
                              const Piece& piece);

// --- elements_paper.cpp: the paper's and the Green–Lagrange element, in world axes.
void other_elements(const SystemData& s, const double* e, int nodes, bool tangent, WorkspaceData& w);
// --- cg.cpp
int conjugate_gradients(int nodes, double tolerance, double* x, WorkspaceData& w);

}  // namespace limber::thread
