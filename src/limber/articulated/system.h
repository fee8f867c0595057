// What compile() makes of a model, and the scratch of a step. Internal to articulated/.
#pragma once

#include <memory>
#include <vector>

#include "limber/articulated/articulated.h"
#include "limber/elastic/beam_links.h"
#include "limber/elastic/spring_law.h"
#include "limber/multibody/aba.h"
#include "limber/multibody/parallel_walk.h"

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
  int block = -1;  // body block
};

struct CompiledLoad {
  LinkPoint at;
  Mat3 R_MB;  // turns a follower's components into M
  VectorFunction force, moment;
  bool follows = false;
};

struct WindShape {
  int link = -1;
  ShapeGeometry geometry;
  Pose X_MG;
};

struct CompiledDrive {
  int link = -1;
  Drive drive;
};

struct CompiledMotion {
  int link = -1;
  std::array<TimeFunction, 6> position;
};

// One bound of one coordinate; dof 0 of a rotation bounds its angle.
struct Limit {
  int link = -1, dof = 0;
  double bound = 0, restitution = 0;
  bool upper = true;
};

// A scalar column of the layout.
struct Column {
  Quantity quantity = Quantity::position;
  LinkPoint at;
  int link = -1;  // of a joint quantity
  int spring = -1;
  int component = 0;
};

struct SpringEnds {
  LinkPoint a, b;
  elastic::SpringParameters law;
};

struct SystemData {
  SystemData(elastic::LinkedModel linked, const Options& opts);

  Model model;
  std::vector<elastic::BeamTrace> traces;
  Options options;
  multibody::Tree tree;

  std::vector<double> stiffness, damping, rest;  // (v_count) of the joints; rest of plain coordinates
  std::vector<char> has_rotation_law;            // (size) spherical or free with a stiffness
  std::vector<int> body_block_index;             // (size) −1: none
  int body_blocks = 0;
  std::vector<Mat6> drag;  // (body_blocks)
  std::vector<GroundSpring> ground_springs;
  std::vector<CompiledLoad> loads;
  std::vector<WindShape> wind_shapes;
  std::vector<CompiledDrive> drives;
  std::vector<CompiledMotion> motions;
  std::vector<Limit> limits;
  std::vector<SpringEnds> springs;  // all, to observe

  result::Layout layout;
  std::vector<Column> columns;  // of the layout's scalars

  LinkPoint link_point(const Attachment& a) const;
  bool worth_threads() const {
    return options.threads > 1 && tree.size() >= options.parallel_min_bodies && tree.worth_parallel();
  }
};

enum class ServoState : std::int8_t { linear, at_maximum, at_minimum };

struct WorkspaceData {
  explicit WorkspaceData(const SystemData& s);

  std::unique_ptr<multibody::Workers> workers;
  std::vector<LinkMotion> links;    // by evaluate()
  std::vector<double> tau;          // (v_count) by evaluate()
  std::vector<Vec6> wrench;         // (size) by evaluate()
  std::vector<double> joint_block;  // (block_count) by evaluate()
  std::vector<Mat6> body_block;     // (body_blocks) by evaluate()
  multibody::AbaWorkspace aba;
  std::vector<JointLock> locks;    // motions first, then limits
  std::vector<int> lock_index;     // (size)
  std::vector<char> limit_active;  // (limits)
  std::vector<int> limit_changes;  // (limits) in this step
  std::vector<ServoState> servo;   // (6 × drives)
  std::vector<double> q_mid, v_mid, q_end, v_end, a, a_new;
  std::vector<Vec6> a_body;  // of the iterate before
};

// How implicit an evaluation is: the matrix is d·D + k·K, and forces are taken `ahead` seconds along v.
struct Weights {
  double d = 0, k = 0, ahead = 0;
};

// Forces and their implicit blocks at (q, v, t): fills links, tau, wrench, joint_block, body_block.
void evaluate(const SystemData& s, const double* q, const double* v, double t, const Weights& weights,
              WorkspaceData& w);

// The servo's force on dof k without its cut, and the plain elastic + damping + drive force of a joint.
double servo_force(const CompiledDrive& d, const multibody::Link& link, int k, const double* q,
                   const double* v, double t);
Vec6 joint_force(const SystemData& s, int link, const double* q, const double* v, double t);
double elastic_energy(const SystemData& s, const double* q, const std::vector<LinkMotion>& links);

// Coordinates and rates of a prescribed joint at time t.
void prescribed(const CompiledMotion& m, const multibody::Link& link, double t, double* q, double* v);

}  // namespace limber::articulated
