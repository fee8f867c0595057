// Validation of a model's parts: numbers in range, references that exist, every body on one joint, no cycle.
#include "limber/model/validate.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "limber/math/dense.h"

namespace limber {
namespace {

class Checker {
 public:
  explicit Checker(const ModelParts& parts) : parts_(parts) {}

  std::vector<Problem> run() {
    check_materials();
    check_names(parts_.sections, "section");
    check_bodies();
    check_joints();
    check_tree();
    check_drives_and_motions();
    check_loops();
    check_springs();
    check_names(parts_.bushings, "bushing");
    for (const Bushing& x : parts_.bushings) find_law_problems(x, int(parts_.bodies.size()), problems_);
    check_couplings();
    check_names(parts_.cables, "cable");
    find_cable_problems(parts_, problems_);
    check_beams();
    check_names(parts_.surfaces, "surface");
    find_contact_problems(parts_, problems_);
    check_ties();
    check_changes();
    check_loads();
    check_riders();
    check_probes();
    if (problems_.empty()) find_control_problems(parts_, problems_);
    return std::move(problems_);
  }

 private:
  void add(const char* kind, const std::string& name, const char* field, std::string message) {
    problems_.push_back({kind, name, field, std::move(message)});
  }

  template <class T>
  void check_names(const std::vector<T>& list, const char* kind) {
    std::unordered_set<std::string_view> seen;
    for (const T& item : list) {
      if (item.name.empty())
        add(kind, item.name, "", "needs a name");
      else if (!seen.insert(item.name).second)
        add(kind, item.name, "", "name is used twice");
    }
  }

  void non_negative(const char* kind, const std::string& name, const char* field, double value) {
    if (!(value >= 0) || !std::isfinite(value))
      add(kind, name, field, fmt::format("must be zero or positive, got {:.6g}", value));
  }
  void positive(const char* kind, const std::string& name, const char* field, double value) {
    if (!(value > 0) || !std::isfinite(value))
      add(kind, name, field, fmt::format("must be positive, got {:.6g}", value));
  }
  void finite(const char* kind, const std::string& name, const char* field, double value) {
    if (!std::isfinite(value)) add(kind, name, field, fmt::format("must be a finite number, got {}", value));
  }
  void rigid(const char* kind, const std::string& name, const char* field, const Pose& X) {
    // 1e-9: a rotation matrix typed with ten digits passes, a scaled or mirrored one does not.
    if (!X.R.allFinite() || !X.p.allFinite())
      add(kind, name, field, "must be finite");
    else if ((X.R.transpose() * X.R - Mat3::Identity()).norm() > 1e-9 || X.R.determinant() < 0)
      add(kind, name, field, "must be a rotation and a shift");
  }

  void check_materials() {
    check_names(parts_.materials, "material");
    for (const Material& m : parts_.materials) {
      positive("material", m.name, "E", m.E);
      positive("material", m.name, "G", m.G);
      non_negative("material", m.name, "density", m.density);
      if (!(m.yield > 0))
        add("material", m.name, "yield", fmt::format("must be positive, got {:.6g}", m.yield));
      if (!(m.strength > 0))
        add("material", m.name, "strength", fmt::format("must be positive, got {:.6g}", m.strength));
      const std::pair<const char*, const Aging*> rules[] = {{"creep", &m.creep}, {"fatigue", &m.fatigue}};
      for (const auto& [field, rule] : rules) {
        non_negative("material", m.name, field, rule->rate);
        non_negative("material", m.name, field, rule->exponent);
        positive("material", m.name, field, rule->stress);
      }
    }
  }

  void check_bodies() {
    check_names(parts_.bodies, "body");
    for (const Body& b : parts_.bodies) {
      non_negative("body", b.name, "mass", b.inertia.m);
      non_negative("body", b.name, "linear_drag", b.linear_drag);
      non_negative("body", b.name, "angular_drag", b.angular_drag);
      if (b.friction) non_negative("body", b.name, "friction", *b.friction);
      for (const PointMass& m : b.point_masses)
        if (!(m.mass > 0) || !std::isfinite(m.mass) || !m.p.allFinite())
          add("body", b.name, "point_masses",
              fmt::format("expected a positive mass at a finite place, got {:.6g}", m.mass));
      check_inertia(b);
      for (const Shape& s : b.shapes) check_shape(b, s.geometry);
    }
  }

  void check_shape(const Body& b, const ShapeGeometry& geometry) {
    if (const auto* hull = std::get_if<HullShape>(&geometry); hull && !hull->hull)
      add("body", b.name, "shapes", "a hull needs points");
    if (const auto* mesh = std::get_if<MeshShape>(&geometry)) check_mesh(b, mesh->mesh.get());
    const auto* field = std::get_if<HeightFieldShape>(&geometry);
    if (!field) return;
    if (!(field->size_x > 0) || !(field->size_y > 0) || field->rows < 2 || field->columns < 2 ||
        field->heights.size() != static_cast<std::size_t>(field->rows) * field->columns)
      add("body", b.name, "shapes", "a height field needs a size and at least two rows of two heights");
    for (const Joint& j : parts_.joints)
      if (j.child.valid() && &parts_.bodies[j.child.value] == &b && j.kind == JointKind::fixed &&
          !j.parent.valid())
        return;
    add("body", b.name, "shapes", "a height field stands still: its body must be fixed");
  }

  void check_mesh(const Body& b, const TriangleMesh* mesh) {
    if (!mesh || mesh->triangles.empty()) return add("body", b.name, "shapes", "a mesh needs triangles");
    for (const auto& t : mesh->triangles)
      for (const int v : t)
        if (v < 0 || v >= int(mesh->vertices.size()))
          return add("body", b.name, "shapes", fmt::format("a mesh has no vertex {}", v));
  }

  // Zero, or a number whose square neither overflows nor loses digits: what norms and inverses need.
  static bool has_square(double x) { return x == 0 || (x >= 1e-150 && x <= 1e150); }

  void check_inertia(const Body& b) {
    if (!b.inertia.h.allFinite() || !b.inertia.I.allFinite())
      return add("body", b.name, "inertia", "must be finite");
    if (!(b.inertia.m >= 0)) return;
    if (b.inertia.m == 0 && b.inertia.h.norm() > 0)
      return add("body", b.name, "inertia", "a centre of mass needs a mass");
    if (!has_square(b.inertia.m))
      return add("body", b.name, "mass",
                 fmt::format("must be zero or within 1e-150…1e150 kg, got {:.6g}", b.inertia.m));
    if (const double largest = b.inertia.I.cwiseAbs().maxCoeff(); !has_square(largest))
      return add("body", b.name, "inertia",
                 fmt::format("must be zero or within 1e-150…1e150 kg m2, got {:.6g}", largest));
    const Mat3 I = b.inertia.about_com();
    // Rounding of the shift between origin and centre of mass is far below 1e-8 of the moments about the
    // origin.
    const double tolerance = 1e-8 * (b.inertia.I.norm() + I.norm());
    if ((I - I.transpose()).norm() > tolerance) return add("body", b.name, "inertia", "must be symmetric");
    const Vec3 moments = math::small_eigenvalues(I);
    if (moments[0] < -tolerance)
      return add("body", b.name, "inertia",
                 fmt::format("has a negative principal moment, {:.6g}", moments[0]));
    if (moments[0] + moments[1] < moments[2] - tolerance)
      add("body", b.name, "inertia",
          fmt::format("no mass has these principal moments ({:.6g} + {:.6g} < {:.6g})", moments[0],
                      moments[1], moments[2]));
  }

  bool body_exists(BodyId id) const { return id.value >= -1 && id.value < int(parts_.bodies.size()); }
  bool joint_exists(JointId id) const { return id.valid() && id.value < int(parts_.joints.size()); }

  void check_attachment(const char* kind, const std::string& name, const char* field, const Attachment& a) {
    if (a.beam.valid()) {
      if (a.beam.value >= int(parts_.beams.size()))
        add(kind, name, field, "refers to a beam that does not exist");
      if (!(a.s >= 0 && a.s <= 1))
        add(kind, name, field, fmt::format("must lie on the beam, 0…1, got {:.6g}", a.s));
    } else if (!body_exists(a.body)) {
      add(kind, name, field, "refers to a body that does not exist");
    }
    if (!a.p.allFinite()) add(kind, name, field, "must be a finite point");
  }

  void check_law(const char* kind, const std::string& name, JointKind joint_kind, const JointLaw& law) {
    for (int i = 0; i < dof_count(joint_kind); ++i) {
      non_negative(kind, name, "stiffness", law.stiffness[i]);
      non_negative(kind, name, "damping", law.damping[i]);
      finite(kind, name, "rest", law.rest[i]);
      if (!(law.lower[i] <= law.upper[i]))
        add(kind, name, "limits",
            fmt::format("lower {:.6g} is above upper {:.6g}", law.lower[i], law.upper[i]));
    }
    if (!(law.restitution >= 0 && law.restitution <= 1))
      add(kind, name, "restitution", fmt::format("must be within 0…1, got {:.6g}", law.restitution));
    find_law_problems(kind, name, joint_kind, law, problems_);
  }

  void check_pitch(const char* kind, const std::string& name, JointKind joint_kind, double pitch) {
    if (joint_kind == JointKind::screw && (pitch == 0 || !std::isfinite(pitch)))
      add(kind, name, "pitch", fmt::format("must be finite and not zero, got {:.6g}", pitch));
    if (joint_kind != JointKind::screw && pitch != 0) add(kind, name, "pitch", "only a screw has a pitch");
  }

  void check_joints() {
    check_names(parts_.joints, "joint");
    std::vector<const Joint*> owner(parts_.bodies.size(), nullptr);
    for (const Joint& j : parts_.joints) {
      if (!j.child.valid() || !body_exists(j.child)) {
        add("joint", j.name, "child", "refers to a body that does not exist");
        continue;
      }
      if (!body_exists(j.parent)) add("joint", j.name, "parent", "refers to a body that does not exist");
      const std::string& child = parts_.bodies[j.child.value].name;
      if (j.parent == j.child)
        add("joint", j.name, "child", fmt::format("\"{}\" cannot hang on itself", child));
      if (const Joint* other = owner[j.child.value])
        add("joint", j.name, "child",
            fmt::format(
                "\"{}\" already hangs on joint \"{}\"; a second joint closes a loop: put it under loops",
                child, other->name));
      owner[j.child.value] = &j;
      check_joint_values(j);
    }
  }

  void check_joint_values(const Joint& j) {
    rigid("joint", j.name, "parent", j.X_PF);
    rigid("joint", j.name, "child", j.X_BM);
    check_law("joint", j.name, j.kind, j.law);
    check_pitch("joint", j.name, j.kind, j.pitch);
    if (j.kind == JointKind::distance)
      add("joint", j.name, "type", "a distance carries no body: it closes a loop");
    const bool by_angle = has_rotation_vector(j.kind);
    for (int i = 0; i < dof_count(j.kind); ++i) {
      finite("joint", j.name, "position", j.position[i]);
      finite("joint", j.name, "velocity", j.velocity[i]);
      if ((by_angle && i < 3) || j.law.stops_softly(i)) continue;
      if (j.position[i] < j.law.lower[i] || j.position[i] > j.law.upper[i])
        add("joint", j.name, "position",
            fmt::format("{:.6g} is outside the limits {:.6g} … {:.6g}", j.position[i], j.law.lower[i],
                        j.law.upper[i]));
    }
    if (by_angle && Vec3(j.position[0], j.position[1], j.position[2]).norm() > j.law.upper[0])
      add("joint", j.name, "position", "turns further than its limit");
  }

  // Every body must reach the world through its joints.
  void check_tree() {
    std::vector<int> parent(parts_.bodies.size(), -1);
    std::vector<const Joint*> joint(parts_.bodies.size(), nullptr);
    for (const Joint& j : parts_.joints)
      if (j.child.valid() && body_exists(j.child) && body_exists(j.parent)) {
        parent[j.child.value] = j.parent.value;
        joint[j.child.value] = &j;
      }
    std::vector<int> state(parent.size(), 0);  // 0 new, k > 0 seen in walk k
    for (int i = 0; i < int(parent.size()); ++i) {
      int b = i;
      while (b >= 0 && state[b] == 0) {
        state[b] = i + 1;
        b = parent[b];
      }
      if (b >= 0 && state[b] == i + 1 && joint[b])
        add("joint", joint[b]->name, "parent",
            fmt::format("body \"{}\" hangs on itself through a ring of joints; close rings under loops",
                        parts_.bodies[b].name));
    }
  }

  void check_drives_and_motions() {
    std::unordered_set<int> moved;
    for (const PrescribedMotion& m : parts_.motions) {
      if (!joint_exists(m.joint)) {
        add("motion", "", "joint", "refers to a joint that does not exist");
        continue;
      }
      const Joint& j = parts_.joints[m.joint.value];
      if (j.kind == JointKind::fixed) add("joint", j.name, "motion", "a fixed joint cannot move");
      if (!moved.insert(m.joint.value).second) add("joint", j.name, "motion", "is prescribed twice");
    }
    for (const Drive& d : parts_.drives) {
      if (!joint_exists(d.joint)) {
        add("drive", "", "joint", "refers to a joint that does not exist");
        continue;
      }
      const Joint& j = parts_.joints[d.joint.value];
      if (j.kind == JointKind::fixed) add("joint", j.name, "drive", "a fixed joint cannot be driven");
      if (moved.count(d.joint.value))
        add("joint", j.name, "drive", "the joint's motion is prescribed already");
      for (int i = 0; i < dof_count(j.kind); ++i) {
        non_negative("joint", j.name, "drive", d.kp[i]);
        non_negative("joint", j.name, "drive", d.kd[i]);
        if (!(d.max_force[i] > 0)) add("joint", j.name, "drive", "the largest force must be positive");
      }
    }
  }

  void check_loops() {
    check_names(parts_.loops, "loop");
    for (const Loop& l : parts_.loops) {
      if (!body_exists(l.a) || !body_exists(l.b))
        add("loop", l.name, "", "refers to a body that does not exist");
      if (l.a == l.b) add("loop", l.name, "", "joins a body to itself");
      if (l.kind == JointKind::free) add("loop", l.name, "type", "a free joint closes nothing");
      rigid("loop", l.name, "", l.X_AF);
      rigid("loop", l.name, "", l.X_BM);
      check_law("loop", l.name, l.kind, l.law);
      check_pitch("loop", l.name, l.kind, l.pitch);
      if (l.kind == JointKind::distance) positive("loop", l.name, "length", l.length);
    }
  }

  void check_ties() {
    check_names(parts_.ties, "tie");
    for (const Tie& t : parts_.ties) {
      check_attachment("tie", t.name, "on", t.on);
      check_attachment("tie", t.name, "to", t.to);
      if (t.on.on_world()) add("tie", t.name, "on", "holds the world, which does not move");
      if (t.kind == JointKind::free) add("tie", t.name, "type", "a free joint holds nothing");
      if (t.kind == JointKind::screw || t.kind == JointKind::distance)
        add("tie", t.name, "type",
            fmt::format("a tie has no {}: put it under loops",
                        t.kind == JointKind::screw ? "pitch" : "length"));
      if (!(t.axis.norm() > 0) || !t.axis.allFinite()) add("tie", t.name, "axis", "must be a direction");
      if (!t.to.on_world() && (!t.shift.is_zero() || !t.turn.is_zero()))
        add("tie", t.name, "shift", "only a tie to the world can be moved");
      const bool same_beam =
          t.on.beam.valid() && t.to.beam.valid() && t.on.beam == t.to.beam && t.on.s == t.to.s;
      const bool same_body = !t.on.beam.valid() && !t.to.beam.valid() && t.on.body == t.to.body;
      if (!t.on.on_world() && (same_beam || same_body)) add("tie", t.name, "to", "ties a place to itself");
    }
  }

  void check_changes() {
    for (const Change& c : parts_.changes) {
      if (!c.beam.valid() || c.beam.value >= int(parts_.beams.size())) {
        add("change", "", "beam", "refers to a beam that does not exist");
        continue;
      }
      const std::string& name = parts_.beams[c.beam.value].name;
      finite("change", name, "at", c.at);
      if (c.kind == Change::Kind::material &&
          (!c.material.valid() || c.material.value >= int(parts_.materials.size())))
        add("change", name, "material", "refers to a material that does not exist");
      if (c.kind == Change::Kind::section &&
          (!c.section.valid() || c.section.value >= int(parts_.sections.size())))
        add("change", name, "section", "refers to a section that does not exist");
      if (c.kind == Change::Kind::cut && !(c.s >= 0 && c.s < 1))
        add("change", name, "cut", fmt::format("must lie on the beam before its tip, 0…1, got {:.6g}", c.s));
    }
  }

  void check_couplings() {
    check_names(parts_.couplings, "coupling");
    for (const Coupling& c : parts_.couplings) {
      if (c.terms.size() < 2) add("coupling", c.name, "", "couples two coordinates or more");
      for (const Coupling::Term& t : c.terms) {
        if (!is_in(t.joint, parts_.joints)) {
          add("coupling", c.name, "", "refers to a joint that does not exist");
          continue;
        }
        const Joint& j = parts_.joints[t.joint.value];
        if (t.dof < 0 || t.dof >= dof_count(j.kind))
          add("coupling", c.name, "",
              fmt::format("joint \"{}\" has no coordinate {}: it has {}", j.name, t.dof, dof_count(j.kind)));
        else if (has_rotation_vector(j.kind) && t.dof < 3)
          add("coupling", c.name, "",
              fmt::format("a coordinate of joint \"{}\", which turns freely, cannot be coupled", j.name));
        if (!std::isfinite(t.factor) || t.factor == 0)
          add("coupling", c.name, "", fmt::format("expected a factor that is not zero, got {}", t.factor));
      }
      find_law_problems(c, problems_);
      if (c.offset) finite("coupling", c.name, "offset", *c.offset);
      if (c.stiffness && !(*c.stiffness > 0 && std::isfinite(*c.stiffness)))
        add("coupling", c.name, "stiffness", fmt::format("must be positive, got {}", *c.stiffness));
      non_negative("coupling", c.name, "damping", c.damping);
      non_negative("coupling", c.name, "backlash", c.backlash);
      if (c.rigid() && c.backlash > 0)
        add("coupling", c.name, "backlash", "needs a stiffness: teeth that come to rest at once have none");
      if (c.rigid() && c.damping > 0)
        add("coupling", c.name, "damping", "needs a stiffness: a rigid coupling has no rate to damp");
    }
  }

  void check_springs() {
    check_names(parts_.springs, "spring");
    for (const Spring& s : parts_.springs) {
      check_attachment("spring", s.name, "between", s.a);
      check_attachment("spring", s.name, "between", s.b);
      non_negative("spring", s.name, "stiffness", s.stiffness);
      non_negative("spring", s.name, "damping", s.damping);
      finite("spring", s.name, "rest_length", s.rest_length);
      find_law_problems(s, problems_);
      if (!s.a.beam.valid() && !s.b.beam.valid() && s.a.body == s.b.body)
        add("spring", s.name, "between", "both ends are on the same body");
    }
  }

  void check_beams() {
    check_names(parts_.beams, "beam");
    for (const Beam& b : parts_.beams) {
      check_attachment("beam", b.name, "from", b.from);
      if (!b.material.valid() || b.material.value >= int(parts_.materials.size()))
        add("beam", b.name, "material", "refers to a material that does not exist");
      if (!b.section.valid() || b.section.value >= int(parts_.sections.size()))
        add("beam", b.name, "section", "refers to a section that does not exist");
      if (b.elements < 1)
        add("beam", b.name, "elements", fmt::format("must be at least 1, got {}", b.elements));
      non_negative("beam", b.name, "damping", b.damping);
      non_negative("beam", b.name, "air_damping", b.air_damping);
      for (const BeamClamp& c : b.clamps) {
        if (!(c.s >= 0 && c.s <= 1))
          add("beam", b.name, "clamps", fmt::format("must lie on the beam, 0…1, got {:.6g}", c.s));
        if (c.body.valid() && c.body.value >= int(parts_.bodies.size()))
          add("beam", b.name, "clamps", "refers to a body that does not exist");
        if (!(c.until > 0))
          add("beam", b.name, "clamps", fmt::format("must hold until a time after 0, got {:.6g}", c.until));
      }
      check_beam_shape(b);
      check_beam_rest(b);
    }
  }

  void check_beam_rest(const Beam& b) {
    if (b.stretch == true && !can_stretch(b.recipe))
      add("beam", b.name, "stretch", "the published recipes are of rods that do not stretch");
    if (!b.rest) return;
    if (b.straight) add("beam", b.name, "rest", "is straight at ease: `straight` or `rest`, not both");
    const double length = rest_length(b);
    if (!(length > 0) || !std::isfinite(length))
      return add("beam", b.name, "rest", fmt::format("must have a positive length, got {:.6g}", length));
    if (!b.rest->path) return;
    const Vec3 up = b.rest->up.normalized(), tangent = path_tangent(*b.rest->path, 0);
    if (!up.allFinite() || up.cross(tangent).norm() < 1e-6)
      add("beam", b.name, "rest", "its `up` must not point along the path at its root");
  }

  void check_beam_shape(const Beam& b) {
    const double length = path_length(b.path);
    if (!(length > 0) || !std::isfinite(length))
      return add("beam", b.name, "path", fmt::format("must have a positive length, got {:.6g}", length));
    const Vec3 up = b.up.normalized(), tangent = path_tangent(b.path, 0);
    if (!up.allFinite() || up.cross(tangent).norm() < 1e-6)
      add("beam", b.name, "up", "must not point along the beam at its root");
  }

  void check_loads() {
    check_names(parts_.point_loads, "load");
    for (const PointLoad& l : parts_.point_loads) {
      check_attachment("load", l.name, "on", l.at);
      if (l.at.on_world()) add("load", l.name, "on", "pushes on the world, which does not move");
    }
    check_names(parts_.distributed_loads, "load");
    for (const DistributedLoad& l : parts_.distributed_loads) {
      if (!l.beam.valid() || l.beam.value >= int(parts_.beams.size()))
        add("load", l.name, "on", "refers to a beam that does not exist");
      if (!(l.s0 >= 0 && l.s0 < l.s1 && l.s1 <= 1))
        add("load", l.name, "between",
            fmt::format("must be two rising fractions within 0…1, got {:.6g} and {:.6g}", l.s0, l.s1));
    }
    if (parts_.wind) {
      non_negative("wind", "", "air_density", parts_.wind->air_density);
      non_negative("wind", "", "drag_coefficient", parts_.wind->drag_coefficient);
    }
  }

  void check_riders() {
    check_names(parts_.riders, "rider");
    for (const Rider& r : parts_.riders) {
      non_negative("rider", r.name, "mass", r.mass);
      if (r.bodies.empty()) add("rider", r.name, "on", "needs at least one body");
      if (r.from.size() != r.bodies.size() || r.to.size() != r.bodies.size()) {
        add("rider", r.name, "on", "every body needs a beginning and an end of its road");
        continue;
      }
      for (std::size_t i = 0; i < r.bodies.size(); ++i) check_stretch(r, i);
    }
  }

  void check_stretch(const Rider& r, std::size_t i) {
    if (!r.bodies[i].valid() || !body_exists(r.bodies[i]))
      return add("rider", r.name, "on", "refers to a body that does not exist");
    for (const Attachment* a : {&r.from[i], &r.to[i]}) {
      if (a->beam.valid() || a->body != r.bodies[i])
        add("rider", r.name, "on", "a stretch of road begins and ends on its body");
      if (!a->p.allFinite()) add("rider", r.name, "on", "must be a finite point");
    }
    if (!((r.to[i].p - r.from[i].p).norm() > 0))
      add("rider", r.name, "on",
          fmt::format("the road on \"{}\" has no length", parts_.bodies[r.bodies[i].value].name));
  }

  template <class IdType, class T>
  static bool is_in(IdType id, const std::vector<T>& list) {
    return id.valid() && id.value < int(list.size());
  }

  // As written, or the one that others are parts of.
  bool is_load(LoadId id) const {
    const auto& points = parts_.point_loads;
    return id.valid() && (id.value < int(points.size() + parts_.distributed_loads.size()) ||
                          std::ranges::any_of(points, [&](const PointLoad& l) { return l.of == id; }));
  }

  void check_probe_of_joint(const Probe& p) {
    if (p.loop.valid() ? !is_in(p.loop, parts_.loops) : !is_in(p.joint, parts_.joints))
      return add("probe", p.name, "", "refers to a joint that does not exist");
    const auto has = [&](const auto& list) {
      return std::ranges::any_of(list, [&](const auto& x) { return x.joint == p.joint; });
    };
    if (p.told() == Told::drive && (p.loop.valid() || !(has(parts_.drives) || has(parts_.controllers))))
      add("probe", p.name, "", "the joint has no drive");
    if (p.told() == Told::given_motion && (p.loop.valid() || !has(parts_.motions)))
      add("probe", p.name, "", "the motion of the joint is not given");
  }

  void check_probes() {
    std::unordered_set<std::string_view> seen;
    for (const Probe& p : parts_.probes) {
      // Beams are those of the model as written, which links are not.
      if (p.against && p.against->body.value >= int(parts_.bodies.size()))
        add("probe", p.name, "", "refers to what does not exist");
      if (!p.name.empty() && !seen.insert(p.name).second) add("probe", p.name, "", "name is used twice");
      switch (subject_of(p.quantity)) {
        case Subject::place:
          check_attachment("probe", p.name, "", p.at);
          if (is_of_section(p.told()) && !p.at.beam.valid() && !p.beam.valid())
            add("probe", p.name, "", "must lie on a beam");
          if ((p.told() == Told::momentum || (p.told() == Told::touch && !p.touching.valid())) &&
              (!p.at.body.valid() || p.at.beam.valid() || !p.at.p.isZero(0)))
            add("probe", p.name, "", "must be of a whole body");
          break;
        case Subject::joint:
          check_probe_of_joint(p);
          break;
        case Subject::support:
          if (p.loop.valid()   ? !is_in(p.loop, parts_.loops)
              : p.tie.valid()  ? !is_in(p.tie, parts_.ties)
              : p.beam.valid() ? !is_in(p.beam, parts_.beams)
                               : !is_in(p.joint, parts_.joints))
            add("probe", p.name, "", "refers to a joint, tie or beam that does not exist");
          break;
        case Subject::load:
          if (!is_load(p.load)) add("probe", p.name, "", "refers to a load that does not exist");
          break;
        case Subject::spring:
          if (!is_in(p.spring, parts_.springs))
            add("probe", p.name, "", "refers to a spring that does not exist");
          break;
        case Subject::cable:
          find_cable_problems(p, parts_, problems_);
          break;
        case Subject::coupling:
          if (!is_in(p.coupling, parts_.couplings))
            add("probe", p.name, "", "refers to a coupling that does not exist");
          break;
        case Subject::rider:
          if (!is_in(p.rider, parts_.riders))
            add("probe", p.name, "", "refers to a rider that does not exist");
          break;
        case Subject::whole:
          break;
      }
    }
  }

  const ModelParts& parts_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> find_problems(const ModelParts& parts) { return Checker(parts).run(); }

}  // namespace limber
