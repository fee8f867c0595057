// What acts on a chain and holds it, and the balance of moments at every joint.
//
// All dead forces on a link enter by their sum F and by S⁰ = Σ f pᵀ, p where they act in the link's axes: the
// 4×3 matrix of Hall 2013, appendix A, per link. Moments about the joints follow in one pass from the leaves
// to the root, S_k = S⁰ Rᵀ + Σ_children (S_c + N_c d_cᵀ), τ_k = axial vector of S_k + Σ moments.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "limber/chain/links.h"
#include "limber/chain/tangent.h"
#include "limber/elastic/spring_law.h"
#include "limber/model/joint.h"
#include "limber/model/load.h"

namespace limber::chain {

struct DeadLoad {
  Vec3 F = Vec3::Zero();  // [N] world
  Mat3 S = Mat3::Zero();  // Σ f pᵀ [N·m]
  Vec3 M = Vec3::Zero();  // [N·m] world
};

struct TurningLoad {  // in the axes of its link
  int link = 0;
  Vec3 F = Vec3::Zero();
  Mat3 S = Mat3::Zero();
  Vec3 M = Vec3::Zero();
};

struct WindShape {
  int link = -1;
  ShapeGeometry geometry;
  Pose X_LG;
};

// Two places held together: the joint kinds of model/joint.h. A place on the world may be moved: from where
// it was at no load to where it is at full load.
struct Closure {
  std::string name;
  JointKind kind = JointKind::spherical;
  int loop = -1;                                   // of the model: after a cut some are missing
  int a = -1, b = -1;                              // links; −1: the world
  Pose X_A, X_B;                                   // frames F and M on them
  Vec3 shift = Vec3::Zero(), turn = Vec3::Zero();  // of F, in its own axes, at full load; turn in radians
  Vec3 shift_before = Vec3::Zero(), turn_before = Vec3::Zero();  // the same at no load
  bool moves() const { return shift != shift_before || turn != turn_before; }
  Pose frame(double factor) const;  // X_A, moved
};

struct SpringTie {
  std::string name;
  int a = -1, b = -1;
  Vec3 p_a = Vec3::Zero(), p_b = Vec3::Zero();  // in the links' axes (the world's)
  elastic::SpringParameters law;
};

struct Structure {
  Links links;
  std::vector<DeadLoad> fixed, ramped;  // a link each; the load factor multiplies the second
  std::vector<std::uint8_t> loaded;     // a link each: either is not zero
  std::vector<TurningLoad> turning_fixed, turning_ramped;
  std::vector<WindShape> wind;
  Vec3 air = Vec3::Zero();         // velocity at full load [m/s]
  Vec3 air_before = Vec3::Zero();  // at no load, where the wind does not grow with the load
  double air_pressure = 0;         // ½ ρ C_d [kg/m³]
  bool wind_ramped = true;
  std::vector<Closure> closures;
  std::vector<SpringTie> springs;
  double size = 1;           // of the structure at rest [m]
  bool conservative = true;  // no moments, followers or wind: set by loads_changed()

  void resize_loads();
  void loads_changed();  // call after any change of loads
};

// A force at a place or a dead director on a link: what a closure or a spring adds.
struct Tug {
  int link = -1;
  Vec3 f = Vec3::Zero(), arm = Vec3::Zero();  // world; arm from the link's joint
  bool director = false;                      // turns the link without pulling it
  int closure = -1;                           // whose it is; −1: a spring's
  bool on_b = false;                          // at the closure's second end
};

struct Balance {
  std::vector<Mat3> R;    // links in the world
  std::vector<Vec3> N;    // force that hangs on the joint [N]
  std::vector<Vec3> tau;  // moment of it about the joint, world axes [N·m]
  std::vector<Vec3> g;    // moment of the joint's spring, world axes [N·m]
  std::vector<Vec3> r;    // g − τ
  TangentInput in;
  // Where links stretch: by how much before each joint, in the world [m]; its compliance there, and the sum
  // of those from the root to the link [m/N].
  std::vector<Vec3> shift;
  std::vector<Mat3> give, reach;
  double elastic = 0, dead = 0;  // [J] stored in joints and stretch; potential of the dead loads
  double scale = 0;              // largest |g| or |τ|
  void resize(int links);
};

// How links are turned: balance.R.
void turn(const Structure& s, const Shape& shape, Balance& balance);
// Where they are, turned and stretched (shift) as they are: balance.in.c.
void place(const Structure& s, Balance& balance);
// Drag of the air on a link's shape that stands still [N].
Vec3 drag_on(const Structure& s, const WindShape& w, double factor, const Balance& balance);
// All of it at a load factor; call stand() first (stretch.h). `tugs` are forces of closures and springs.
// Without `tangent` only moments and forces are there, not what the tangent is made of.
void weigh(const Structure& s, const Shape& shape, double factor, const std::vector<Tug>& tugs, bool tangent,
           Balance& balance);
// −∂r/∂factor: moments of the loads that grow with the factor, as the links stand. `shift`: how links move by
// stretch, as joints do not turn; empty where nothing stretches. Returns the work that the growing loads do
// on that.
double load_rate(const Structure& s, double factor, const Balance& balance, std::vector<Vec3>& t,
                 std::vector<Vec3>& shift);

}  // namespace limber::chain
