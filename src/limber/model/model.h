// Model: what exists. Immutable once built, validated, bodies ordered parent first. No solver options, no
// scratch.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "limber/model/beam.h"
#include "limber/model/body.h"
#include "limber/model/cable.h"
#include "limber/model/control.h"
#include "limber/model/coupling.h"
#include "limber/model/joint.h"
#include "limber/model/load.h"
#include "limber/model/material.h"
#include "limber/model/quantity.h"

namespace limber {

// What touches: a body, a beam, the world with its planes or one of them, or all that have a kind of surface.
struct Surface {
  BodyId body = world;
  BeamId beam{};
  int plane = -1;  // of Contact::planes; −1: of the world all
  int kind = -1;   // of ModelParts::surfaces; then nothing else counts
  bool operator==(const Surface&) const = default;
};

// What to write down at every frame: probe "finger.tip.position" and its like.
struct Probe {
  std::string name;  // column name without the component
  Quantity quantity = Quantity::position;
  Attachment at;  // for point quantities
  JointId joint;
  LoopId loop;  // joint quantities of a joint that closes a loop
  SpringId spring;
  RiderId rider;
  TieId tie;
  CouplingId coupling;
  CableId cable;
  int guide = -1;                  // of its route: behind it; −1: where it begins
  BeamId touching;                 // what touches: of this beam, as written, instead of the body of `at`, …
  std::optional<Surface> against;  // … and only by this body or beam; the world: what stands still of planes
  BeamId beam;   // whose root is meant; of links also the beam that was cut into them, as written, …
  double s = 0;  // … and where along it, for its sections
  LoadId load;
  Told told() const;  // what a method must know to tell it
};

// What happens where things touch: threads with themselves, with each other, with the bodies' shapes and with
// planes; bodies with each other and with planes.
struct Plane {
  std::string name;
  Vec3 at = Vec3::Zero(),
       normal = Vec3::UnitZ();  // the solid lies on the side that the normal points away from
  std::vector<int> surfaces{};  // of ModelParts::surfaces
};

// How the coefficients of two surfaces that differ make one; two equal ones keep theirs. geometric: the root
// of the product.
enum class Combine : std::uint8_t { geometric, minimum, maximum, average };
inline constexpr Combine all_combines[] = {Combine::geometric, Combine::minimum, Combine::maximum,
                                           Combine::average};
const char* to_string(Combine combine);
double combined(double a, double b, Combine combine = Combine::geometric);

// How something touches, as far as it is said.
struct TouchTerms {
  std::optional<double> friction;     // Coulomb's coefficient
  std::optional<double> restitution;  // speed of parting over speed of approach, 0 … 1
  std::optional<double> stiffness;    // [N/m] of every place that touches; none: it is hard
  std::optional<double> damping;      // [N·s/m] beside a stiffness
};
// Terms under a name: bodies, beams and planes have them as `surfaces`, the first that says something counts.
struct SurfaceKind {
  std::string name;
  TouchTerms terms;
};
// Two that touch on terms of their own, or not at all. One pair after the other is asked.
struct SurfacePair {
  Surface a, b;
  TouchTerms terms;
  std::optional<bool> collide;  // true: although a joint is between them
};
// What two have on each other.
struct TouchLaw {
  double friction = 0, restitution = 0;
  double stiffness = 0, damping = 0;  // stiffness 0: hard
  std::optional<bool> collide;
};

struct Contact {
  double friction = 0.3;  // Coulomb's coefficient
  bool self = true;       // threads touch themselves and each other
  std::vector<Plane> planes;
  double restitution = 0;  // of bodies: speed of parting over speed of approach, 0 … 1
  Combine combine = Combine::geometric;
  std::vector<SurfacePair> pairs{};
};

struct ModelParts {
  std::string title;
  std::vector<Material> materials;
  std::vector<Section> sections;
  std::vector<SurfaceKind> surfaces;
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Drive> drives;
  std::vector<PrescribedMotion> motions;
  std::vector<Loop> loops;
  std::vector<Tie> ties;
  std::vector<Coupling> couplings;
  std::vector<Cable> cables;
  std::vector<Spring> springs;
  std::vector<Bushing> bushings;
  std::vector<Beam> beams;
  std::vector<PointLoad> point_loads;
  std::vector<DistributedLoad> distributed_loads;
  std::vector<Rider> riders;
  std::vector<Change> changes;
  std::optional<Wind> wind;
  std::optional<Contact> contact;
  VectorFunction gravity = VectorFunction::constant({0, 0, -9.81});
  std::vector<Probe> probes;
  std::vector<Controller> controllers;
  std::vector<Event> events;

  // Written once in model.cpp, not again in every file that makes, copies or moves a model.
  ModelParts();
  ~ModelParts();
  ModelParts(const ModelParts& other);
  ModelParts(ModelParts&& other) noexcept;
  ModelParts& operator=(const ModelParts& other);
  ModelParts& operator=(ModelParts&& other) noexcept;
};

// One thing wrong with a model: `kind` is "body", "joint", "beam", …; `field` may be empty.
struct Problem {
  std::string kind, name, field, message;
};
std::string to_string(const Problem& problem);  // joint "knee".stiffness: must not be negative, got -3

class ModelError : public std::invalid_argument {
 public:
  explicit ModelError(std::vector<Problem> problems);
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

class Model {
 public:
  // Validates and orders: after it, body i hangs on joint i, and a parent comes before its children; ids in
  // the parts are renumbered to match. A body without a joint floats (a free joint at its centre of mass is
  // added). Throws ModelError with everything that is wrong.
  explicit Model(ModelParts parts);

  const std::string& title() const { return parts_.title; }
  std::span<const Material> materials() const { return parts_.materials; }
  std::span<const Section> sections() const { return parts_.sections; }
  std::span<const SurfaceKind> surfaces() const { return parts_.surfaces; }
  std::span<const Body> bodies() const { return parts_.bodies; }
  std::span<const Joint> joints() const { return parts_.joints; }  // joints()[i].child is BodyId{i}
  std::span<const Drive> drives() const { return parts_.drives; }
  std::span<const PrescribedMotion> motions() const { return parts_.motions; }
  std::span<const Loop> loops() const { return parts_.loops; }
  std::span<const Tie> ties() const { return parts_.ties; }
  std::span<const Coupling> couplings() const { return parts_.couplings; }
  std::span<const Cable> cables() const { return parts_.cables; }
  std::span<const Spring> springs() const { return parts_.springs; }
  std::span<const Bushing> bushings() const { return parts_.bushings; }
  std::span<const Beam> beams() const { return parts_.beams; }
  std::span<const PointLoad> point_loads() const { return parts_.point_loads; }
  std::span<const DistributedLoad> distributed_loads() const { return parts_.distributed_loads; }
  std::span<const Rider> riders() const { return parts_.riders; }
  std::span<const Change> changes() const { return parts_.changes; }
  const std::optional<Wind>& wind() const { return parts_.wind; }
  const std::optional<Contact>& contact() const { return parts_.contact; }
  const VectorFunction& gravity() const { return parts_.gravity; }
  std::span<const Probe> probes() const { return parts_.probes; }
  std::span<const Controller> controllers() const { return parts_.controllers; }
  std::span<const Event> events() const { return parts_.events; }
  const ModelParts& parts() const { return parts_; }

  const Body& operator[](BodyId id) const { return parts_.bodies[id.value]; }
  const Joint& operator[](JointId id) const { return parts_.joints[id.value]; }
  const Material& operator[](MaterialId id) const { return parts_.materials[id.value]; }
  const Section& operator[](SectionId id) const { return parts_.sections[id.value]; }
  const Spring& operator[](SpringId id) const { return parts_.springs[id.value]; }
  const Loop& operator[](LoopId id) const { return parts_.loops[id.value]; }
  const Coupling& operator[](CouplingId id) const { return parts_.couplings[id.value]; }
  const Cable& operator[](CableId id) const { return parts_.cables[id.value]; }
  const Beam& operator[](BeamId id) const { return parts_.beams[id.value]; }

  // Poses of all bodies in the world at t = 0: where the joints' given motions begin, or their positions say.
  std::vector<Pose> initial_poses() const;
  // Of contact: what two have on each other, by pairs of their own or by the rule. Neither is a kind.
  TouchLaw touch_law(const Surface& a, const Surface& b) const;
  double friction_of(const Surface& a, const Surface& b) const { return touch_law(a, b).friction; }

 private:
  ModelParts parts_;
};

// Collects parts and hands out ids: the way to make a model in C++ without a scene file.
class ModelBuilder {
 public:
  explicit ModelBuilder(std::string title = "") { parts.title = std::move(title); }
  MaterialId add(Material m) { return push<MaterialId>(parts.materials, std::move(m)); }
  SectionId add(Section s) { return push<SectionId>(parts.sections, std::move(s)); }
  BodyId add(Body b) { return push<BodyId>(parts.bodies, std::move(b)); }
  JointId add(Joint j) { return push<JointId>(parts.joints, std::move(j)); }
  BeamId add(Beam b) { return push<BeamId>(parts.beams, std::move(b)); }
  SpringId add(Spring s) { return push<SpringId>(parts.springs, std::move(s)); }
  void add(Bushing x) { parts.bushings.push_back(std::move(x)); }
  LoopId add(Loop l) { return push<LoopId>(parts.loops, std::move(l)); }
  void add(Drive d) { parts.drives.push_back(std::move(d)); }
  void add(PrescribedMotion m) { parts.motions.push_back(std::move(m)); }
  void add(Tie t) { parts.ties.push_back(std::move(t)); }
  void add(Coupling c) { parts.couplings.push_back(std::move(c)); }
  void add(Cable c) { parts.cables.push_back(std::move(c)); }
  void add(Change c) { parts.changes.push_back(c); }
  void add(PointLoad l) { parts.point_loads.push_back(std::move(l)); }
  void add(DistributedLoad l) { parts.distributed_loads.push_back(std::move(l)); }
  RiderId add(Rider r) { return push<RiderId>(parts.riders, std::move(r)); }
  void add(Probe p) { parts.probes.push_back(std::move(p)); }
  void add(Controller c) { parts.controllers.push_back(std::move(c)); }
  void add(Event e) { parts.events.push_back(std::move(e)); }
  Model build() && { return Model(std::move(parts)); }
  Model build() const& { return Model(parts); }

  ModelParts parts;

 private:
  template <class IdType, class T>
  static IdType push(std::vector<T>& list, T item) {
    list.push_back(std::move(item));
    return IdType{static_cast<std::int32_t>(list.size()) - 1};
  }
};

}  // namespace limber
