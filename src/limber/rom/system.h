// What compile() makes of a model and its reduced mechanisms, and the scratch of a step. Internal to rom/.
#pragma once

#include <optional>

#include "limber/contact/broad_phase.h"
#include "limber/contact/collide.h"
#include "limber/contact/contact_cache.h"
#include "limber/contact/friction.h"
#include "limber/contact/scene_contacts.h"
#include "limber/elastic/beam_links.h"
#include "limber/elastic/spring_law.h"
#include "limber/math/dense.h"
#include "limber/multibody/parallel_walk.h"
#include "limber/observe/columns.h"
#include "limber/observe/layout.h"
#include "limber/result/hand.h"
#include "limber/rom/blend.h"
#include "limber/rom/pose_batch.h"
#include "limber/rom/rom.h"

namespace limber::rom {

// Where a body of the model is simulated.
struct BodyPlace {
  enum class On : std::uint8_t { ground, mechanism, prop } on = On::ground;
  int mechanism = -1, link = -1;  // of a mechanism
  int end = -1;                   // which of its ends; −1: an inner link
  int prop = -1;
};

// Offsets of a mechanism in the state.
struct MechanismPlace {
  int q = 0, v = 0;
  int base = 0;  // 6: the base flies, 0: it does not
  // Of the coordinates, after those of the base: pose 7, centre of mass 3; twist 6, speed of the centre of
  // mass 3, angular momentum about it 3, world axes.
  int a() const { return q + (base > 0 ? 10 : 0); }
  int rate() const { return v + (base > 0 ? 12 : 0); }
};

struct PropPlace {
  int body = 0, q = 0, v = 0;  // v: ω, v of the centre of mass, world axes
  Inertia inertia;             // about the centre of mass, own axes
  Vec3 com;
};

struct PlacedLoad {
  int load = 0;  // of the model
  BodyPlace at;
};

// Input k of a mechanism: its time function. A servo's damper follows the target's rate: kp (s + lead ṡ − q)
// − kd q̇.
struct PlacedInput {
  TimeFunction value;
  double lead = 0;  // [s] kd/kp
  double at(double t) const { return lead > 0 ? value.value(t) + lead * value.rate(t) : value.value(t); }
  double rate(double t) const { return value.rate(t); }
};

struct SystemData {
  SystemData(elastic::LinkedModel linked, const ReducedModel& r, const Options& o);

  Model model;  // beams replaced by links
  std::vector<elastic::BeamTrace> traces;
  ReducedModel reduced;
  Options options;
  std::vector<BodyPlace> places;  // (bodies)
  std::vector<Pose> start;        // (bodies) at t = 0
  std::vector<MechanismPlace> mechanisms;
  std::vector<LinkMaps> maps;                    // (mechanisms × points) in blocks
  std::vector<int> first_map;                    // (mechanisms)
  std::vector<std::vector<PlacedInput>> inputs;  // (mechanisms)
  std::vector<std::vector<PlacedInput>> servos;  // (mechanisms) targets of capped servos
  std::vector<PropPlace> props;
  std::vector<PlacedLoad> loads;
  contact::SceneContacts contacts;
  int q_count = 0, v_count = 0;
  double size = 0;  // [m] radius of the largest mechanism
  double restitution = 0;
  result::Layout layout;
  std::vector<Probe> columns;  // of the layout's scalars, before the method's own
};

// The matrices of a step of one mechanism, of its base and its coordinates.
struct StepMatrices {
  double h = -1, theta = 0;  // of `inverse`, where there is one point only
  MatX inverse;              // A⁻¹
  MatX M;                    // 𝓜
  MatX A, half;              // scratch
  MatX uncut;                // A⁻¹ with all servos within their largest force
  bool is_cut = false;       // `inverse` is not that
  math::Cholesky llt;
};

// Of servos at their largest force (servos.cpp).
struct ServoScratch {
  std::vector<signed char> cut;  // (servos) 1, −1: at its largest force in the step at hand
  std::vector<int> which;        // those
  MatX R, Y, D, G, half, core;
  VecX lambda, rhs;
  math::Lu lu;
};

struct MechanismScratch {
  MechanismScratch(const Mechanism& m, int base_freedoms);
  Blend blend;
  StepMatrices matrices;
  VecX rhs, v, v_new;  // (base + n)
  VecX input_rate;     // (inputs)
  ServoScratch servos;
  std::vector<Pose> X;    // (links) in the base's frame
  std::vector<Vec3> way;  // (links) of their origins in the step at hand, as far as their coordinates say
  std::vector<VecX> parts;
  std::vector<BlendPart> blend_parts;
  Pose base;
};

// One contact, limit or hand: three rows on at most two objects.
struct ContactRow {
  struct Side {
    int mechanism = -1, prop = -1;
    int count = 0;             // n; 0: it does not move
    std::vector<double> J, Y;  // (3 × n), A⁻¹ Jᵀ (n × 3), by columns
  } side[2];
  double gap = 0, friction = 0;
  int solid_a = -1, solid_b = -1;
  contact::ContactPoint point;
  Mat3 axes;       // columns: normal, tangents
  int limit = -1;  // of a joint: row of its mechanism
};

// Where a hand holds a body (live.h).
struct Held {
  result::Hand hand;
  int body = -1;
  Vec3 p;
};

struct WorkspaceData {
  explicit WorkspaceData(const SystemData& s);
  std::unique_ptr<multibody::Workers> workers;
  std::vector<MechanismScratch> mechanisms;
  std::vector<Pose> X;  // (bodies) in the world, by place_bodies()
  std::vector<contact::Solid> solids;
  contact::BroadPhase broad;
  contact::Collider collider;
  contact::Manifold manifold;
  contact::ContactCache cache;
  contact::FrictionSolver friction;
  contact::ContactMatrix W;
  std::vector<ContactRow> rows;
  int row_count = 0;
  std::vector<double> lambda, free, mu;
  std::vector<double> prop_v;  // (6 × props) velocities of the step at hand
  std::vector<Vec6> impulse;   // (mechanisms) of contacts in the step at hand, at the world's origin
  std::optional<Held> held;
  Vec3 held_force = Vec3::Zero();
  double load = 1;
  double overlap = 0;  // [m] deepest of the step at hand
  int contact_count = 0;
  double contact_step = 0;  // [s] that the impulses of the state took
  double cone_violation = 0;
  bool warned = false;  // that a mechanism left its range
};

// The coordinates of a mechanism as the state has them, with inputs at time t; its blend.
void read_mechanism(const SystemData& s, const State& state, int mechanism, double t, MechanismScratch& w,
                    bool with_curve = false);
// Poses of all bodies in the world.
void place_bodies(const SystemData& s, const State& state, WorkspaceData& w);
void mechanism_poses(const SystemData& s, int mechanism, MechanismScratch& w, multibody::Workers* workers,
                     std::vector<Pose>& X);

// Momentum of the links about the base's origin, base's axes, as their coordinates and inputs change.
Vec6 inner_momentum(const Mechanism& m, MechanismScratch& w, const double* rates);
// Of all links as they stand, base's axes, about their centre of mass.
struct Whole {
  double mass = 0;
  Vec3 com;
  Mat3 inertia;
};
Whole whole_of(const Mechanism& m, const std::vector<Pose>& X);

// Coordinates of all joints of a mechanism whose bodies stand at X (all bodies of the model, world).
VecX joint_coordinates(const SystemData& s, const Mechanism& m, const std::vector<Pose>& X);

// Force and moment of loads on a body at time t, own axes at its origin.
Vec6 load_wrench(const PointLoad& load, const Pose& X_WB, double t);

// The force that would hold an end where it is, against the range that the points were chosen for.
bool out_of_range(const Mechanism& m, Blend& blend);

// Contacts and limits of the step at hand: rows with J and Y; velocities v_new are improved by their
// impulses.
void solve_contacts(const SystemData& s, State& state, double h, WorkspaceData& w,
                    result::SolveReport& report);

// Servos at their largest force (servos.cpp): A⁻¹ and v_new of a mechanism with those that are cut; finds
// what else is cut at v_new.
void apply_servos(const SystemData& s, int mechanism, double t, double h, double theta, MechanismScratch& w);
bool cut_servos(const SystemData& s, int mechanism, double t, double h, double theta, MechanismScratch& w);

inline Pose pose_at(const double* q) {
  return {math::to_matrix(Quat(q[0], q[1], q[2], q[3])), Vec3(q[4], q[5], q[6])};
}
inline void store_pose(const Pose& X, double* q) {
  const Quat r = math::normalized(math::to_quat(X.R));
  q[0] = r.w(), q[1] = r.x(), q[2] = r.y(), q[3] = r.z();
  for (int k = 0; k < 3; ++k) q[4 + k] = X.p[k];
}

}  // namespace limber::rom
