// A model written out in full: no short forms, no parameters, every double to its last bit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/scene/expression.h"
#include "limber/scene/flow.h"
#include "limber/scene/scene.h"
#include "limber/scene/write_cables.h"
#include "limber/scene/write_contact.h"
#include "limber/scene/write_controls.h"
#include "limber/scene/write_laws.h"
#include "limber/scene/write_run.h"
#include "limber/scene/write_text.h"

namespace limber::scene {

namespace {

std::string vector(const Vec3& v) { return list(v, 3); }

std::string color(const Color& c) { return fmt::format("[{}, {}, {}]", c[0], c[1], c[2]); }

// -0 equals 0, and leads to other bits.
bool has_negative_zero(const auto& A) {
  return std::any_of(A.data(), A.data() + A.size(), [](double x) { return x == 0 && std::signbit(x); });
}

void add_pose(Flow& flow, const Pose& X) {
  flow.add_if(X.p != Vec3::Zero() || has_negative_zero(X.p), "at", vector(X.p));
  if (X.R == Mat3::Identity() && !has_negative_zero(X.R)) return;
  flow.add("rotate", fmt::format("[{}, {}, {}]", vector(X.R.row(0)), vector(X.R.row(1)), vector(X.R.row(2))));
}

std::string vectors(const std::vector<Vec3>& list) {
  std::string out;
  for (const Vec3& v : list) out += (out.empty() ? "" : ", ") + vector(v);
  return "[" + out + "]";
}

std::string mesh_text(const TriangleMesh& mesh) {
  std::string triangles;
  for (const auto& t : mesh.triangles)
    triangles += fmt::format("{}[{}, {}, {}]", triangles.empty() ? "" : ", ", t[0], t[1], t[2]);
  return Flow().add("vertices", vectors(mesh.vertices)).add("triangles", "[" + triangles + "]").str();
}

std::string field_text(const HeightFieldShape& field) {
  std::string rows;
  for (int j = 0; j < field.rows; ++j) {
    std::string row;
    for (int i = 0; i < field.columns; ++i)
      row += (row.empty() ? "" : ", ") + number(field.heights[j * field.columns + i]);
    rows += (rows.empty() ? "[" : ", [") + row + "]";
  }
  return Flow()
      .add("size", fmt::format("[{}, {}]", number(field.size_x), number(field.size_y)))
      .add("rows", "[" + rows + "]")
      .str();
}

std::string shape_text(const Shape& shape) {
  Flow flow;
  std::visit(
      [&](const auto& g) {
        using G = std::decay_t<decltype(g)>;
        if constexpr (std::is_same_v<G, BoxShape>)
          flow.add("box", vector(g.size));
        else if constexpr (std::is_same_v<G, SphereShape>)
          flow.add("sphere", number(g.radius));
        else if constexpr (std::is_same_v<G, HullShape>)
          flow.add("hull", Flow().add("points", vectors(g.hull->vertices)).str());
        else if constexpr (std::is_same_v<G, MeshShape>)
          flow.add("mesh", mesh_text(*g.mesh));
        else if constexpr (std::is_same_v<G, HeightFieldShape>)
          flow.add("height_field", field_text(g));
        else
          flow.add(std::is_same_v<G, CylinderShape> ? "cylinder" : "capsule",
                   Flow().add("radius", number(g.radius)).add("length", number(g.length)).str());
      },
      shape.geometry);
  add_pose(flow, shape.X_BG);
  return flow.str();
}

// The number next to `guess` that is read as `wanted`, if one is.
double unrounded(double guess, double wanted, const auto& read) {
  double above = guess, below = guess;
  for (int i = 0; i < 4; ++i) {
    if (read(above) == wanted) return above;
    if (read(below) == wanted) return below;
    above = std::nextafter(above, HUGE_VAL), below = std::nextafter(below, -HUGE_VAL);
  }
  return guess;
}

// Entries of a tensor as the key `inertia` has them.
std::string tensor_text(const Mat3& I) {
  const double entries[] = {I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)};
  return list(entries, 6);
}

// Centre of mass and moments about it where Inertia::about_com gives back the same bits; else, as no product
// is every number, the first moment and moments about the origin.
void add_inertia(Flow& flow, const Inertia& inertia) {
  const double m = inertia.m;
  Vec3 com = inertia.com();
  for (int i = 0; i < 3; ++i) com[i] = unrounded(com[i], inertia.h[i], [&](double x) { return m * x; });
  const Mat3 c = math::skew(com), shift = m * c * c;
  const auto moment = [&](int i, int j) {
    return unrounded(inertia.I(i, j) + shift(i, j), inertia.I(i, j),
                     [&](double x) { return x - shift(i, j); });
  };
  Mat3 I_com;
  for (int i = 0; i < 3; ++i)
    for (int j = i; j < 3; ++j) I_com(i, j) = I_com(j, i) = moment(i, j);
  flow.add("mass", number(m));
  if (const Inertia read = Inertia::about_com(m, com, I_com); read.h != inertia.h || read.I != inertia.I) {
    flow.add("first_moment", vector(inertia.h)).add("inertia", tensor_text(inertia.I));
    return;
  }
  flow.add_if(com != Vec3::Zero() || has_negative_zero(com), "com", vector(com));
  flow.add("inertia", tensor_text(I_com));
}

class Writer {
 public:
  Writer(const Model& model, const sim::RunOptions& run) : model_(model), run_(run) {}

  std::string write() {
    line("# yaml-language-server: $schema=limber.schema.json");
    line("limber: 1");
    if (!model_.title().empty()) line("title: " + text_scalar(model_.title()));
    line("gravity: " + vector_function(model_.gravity()));
    materials();
    sections();
    surfaces();
    bodies();
    joints();
    beams();
    if (model_.contact()) line("contact: " + contact_text(model_));
    springs();
    bushings();
    couplings();
    cables();
    loops();
    ties();
    changes();
    loads();
    riders();
    drives();
    probes();
    for (const std::string& text : control_lines(model_)) line(text);
    line("run: " + run_text(run_));
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }
  void entry(const std::string& name, const std::string& value) {
    line(fmt::format("  {}: {}", name, value));
  }

  std::string body_name(BodyId id) const { return id.valid() ? model_[id].name : "world"; }

  std::string place(const Attachment& a) const {
    std::string on = body_name(a.body);
    if (a.beam.valid()) on = fmt::format("{}@{}", model_[a.beam].name, number(a.s));
    if (a.p == Vec3::Zero()) return on;
    return Flow().add("on", on).add("at", vector(a.p)).str();
  }

  static std::string aging(const Aging& a) {
    return Flow()
        .add("rate", number(a.rate))
        .add("stress", number(a.stress))
        .add("exponent", number(a.exponent))
        .str();
  }

  void materials() {
    if (!model_.materials().empty()) line("materials:");
    for (const Material& m : model_.materials())
      entry(m.name, Flow()
                        .add("E", number(m.E))
                        .add("nu", number(m.nu))
                        .add("G", number(m.G))
                        .add("density", number(m.density))
                        .add_if(std::isfinite(m.yield), "yield", number(m.yield))
                        .add_if(std::isfinite(m.strength), "strength", number(m.strength))
                        .add_if(m.creep.rate > 0, "creep", aging(m.creep))
                        .add_if(m.fatigue.rate > 0, "fatigue", aging(m.fatigue))
                        .str());
  }

  static std::string outline(const std::vector<Vec2>& points) {
    std::string text;
    for (const Vec2& p : points) text += fmt::format("{}{}", text.empty() ? "" : ", ", list(p, 2));
    return "[" + text + "]";
  }

  static std::string section_text(const SectionShape& shape) {
    return std::visit(
        [](const auto& s) {
          using S = std::decay_t<decltype(s)>;
          Flow f;
          if constexpr (std::is_same_v<S, Circle>) {
            return Flow().add("circle", number(s.radius)).str();
          } else if constexpr (std::is_same_v<S, Tube>) {
            f.add("outer", number(s.outer_radius)).add("inner", number(s.inner_radius));
            return Flow().add("tube", f.str()).str();
          } else if constexpr (std::is_same_v<S, Rectangle>) {
            f.add("width", number(s.width)).add("height", number(s.height));
            return Flow().add("rectangle", f.str()).str();
          } else if constexpr (std::is_same_v<S, Ellipse>) {
            f.add("a", number(s.a)).add("b", number(s.b));
            return Flow().add("ellipse", f.str()).str();
          } else {
            std::string holes;
            for (const auto& hole : s.holes) holes += (holes.empty() ? "" : ", ") + outline(hole);
            f.add("outline", outline(s.outline)).add_if(!holes.empty(), "holes", "[" + holes + "]");
            return Flow().add("polygon", f.str()).str();
          }
        },
        shape);
  }
  void sections() {
    if (!model_.sections().empty()) line("sections:");
    for (const Section& s : model_.sections()) entry(s.name, section_text(s.shape));
  }

  void surfaces() {
    if (!model_.surfaces().empty()) line("surfaces:");
    for (const SurfaceKind& s : model_.surfaces()) {
      Flow flow;
      add_terms(flow, s.terms);
      entry(s.name, flow.str());
    }
  }

  void bodies() {
    if (!model_.bodies().empty()) line("bodies:");
    for (const Body& b : model_.bodies()) {
      Flow flow;
      add_inertia(flow, b.without_points.value_or(b.inertia));
      std::string shapes, points;
      flow.add_if(!b.point_masses.empty(), "point_masses", point_masses_text(b));
      for (const Shape& s : b.shapes) shapes += (shapes.empty() ? "" : ", ") + shape_text(s);
      for (const NamedPoint& p : b.points)
        points += fmt::format("{}{}: {}", points.empty() ? "" : ", ", p.name, vector(p.p));
      flow.add_if(!shapes.empty(), "shapes", "[" + shapes + "]")
          .add_if(!points.empty(), "points", "{" + points + "}");
      if (b.color) flow.add("color", color(*b.color));
      flow.add_if(b.linear_drag != 0, "linear_drag", number(b.linear_drag));
      flow.add_if(b.angular_drag != 0, "angular_drag", number(b.angular_drag));
      if (b.friction) flow.add("friction", number(*b.friction));
      if (b.restitution) flow.add("restitution", number(*b.restitution));
      flow.add_if(!b.surfaces.empty(), "surfaces", surface_names(model_, b.surfaces));
      flow.add_if(!b.collide, "collide", "false");
      entry(b.name, flow.str());
    }
  }

  static void add_law(Flow& flow, JointKind kind, const JointLaw& law) {
    const int n = dof_count(kind);
    const auto add_values = [&](const char* key, const DofArray& x) {
      for (int i = 0; i < n; ++i)
        if (x[i] != 0) {
          flow.add(key, list(x, n));
          return;
        }
    };
    add_values("stiffness", law.stiffness);
    add_values("damping", law.damping);
    add_values("rest", law.rest);
    const bool ball = has_rotation_vector(kind);
    bool limited = false;
    std::string text = ball ? number(law.upper[0]) : "";
    if (ball) limited = std::isfinite(law.upper[0]);
    for (int i = ball ? 3 : 0; i < n; ++i) {
      limited = limited || std::isfinite(law.lower[i]) || std::isfinite(law.upper[i]);
      text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", number(law.lower[i]), number(law.upper[i]));
    }
    if (limited) flow.add("limits", n == 1 ? text : "[" + text + "]");
    flow.add_if(law.restitution != 0, "restitution", number(law.restitution));
    if (law.extras) add_extras(flow, n, *law.extras);
  }

  static std::string frame(const Pose& X) {
    Flow flow;
    add_pose(flow, X);
    return flow.str();
  }

  void joints() {
    if (!model_.joints().empty()) line("joints:");
    for (const Joint& j : model_.joints()) {
      Flow flow;
      const int n = dof_count(j.kind);
      flow.add("type", to_string(j.kind))
          .add("parent",
               j.beam.valid() ? fmt::format("{}@{}", model_[j.beam].name, number(j.s)) : body_name(j.parent))
          .add("child", body_name(j.child));
      flow.add("parent_frame", frame(j.X_PF)).add("child_frame", frame(j.X_BM));
      flow.add_if(j.kind == JointKind::screw, "pitch", number(j.pitch));
      add_law(flow, j.kind, j.law);
      flow.add_if(n > 0, "position", list(j.position, n)).add_if(n > 0, "velocity", list(j.velocity, n));
      entry(j.name, flow.str());
    }
  }

  static std::string path_text(const limber::Path& path) {
    return std::visit(
        [](const auto& p) {
          using P = std::decay_t<decltype(p)>;
          Flow f;
          if constexpr (std::is_same_v<P, PolylinePath>) {
            std::string text;
            for (const Vec3& x : p.points) text += fmt::format("{}{}", text.empty() ? "" : ", ", vector(x));
            return "[" + text + "]";
          } else if constexpr (std::is_same_v<P, ArcPath>) {
            f.add("start", vector(p.start))
                .add("direction", vector(p.direction))
                .add("towards", vector(p.towards));
            f.add("radius", number(p.radius)).add("angle", number(p.angle));
            return Flow().add("arc", f.str()).str();
          } else {
            f.add("center", vector(p.center))
                .add("axis", vector(p.axis))
                .add("start_direction", vector(p.start_direction));
            f.add("radius", number(p.radius)).add("pitch", number(p.pitch)).add("turns", number(p.turns));
            return Flow().add("helix", f.str()).str();
          }
        },
        path);
  }

  std::string clamps_text(const Beam& b) {
    std::string list;
    for (const BeamClamp& c : b.clamps)
      list += (list.empty() ? "" : ", ") + Flow()
                                               .add("at", number(c.s))
                                               .add("to", body_name(c.body))
                                               .add("hold", to_string(c.hold))
                                               .add_if(std::isfinite(c.until), "until", number(c.until))
                                               .str();
    return "[" + list + "]";
  }

  static std::string rest_text(const BeamEase& rest) {
    if (!rest.path) return Flow().add("length", number(rest.length)).str();
    return Flow().add("path", path_text(*rest.path)).add("up", vector(rest.up)).str();
  }

  void beams() {
    static const char* const recipes[] = {"consistent_3r", "consistent_1r", "published_3r", "published_1r"};
    if (!model_.beams().empty()) line("beams:");
    for (const Beam& b : model_.beams())
      entry(b.name,
            Flow()
                .add("from", place(b.from))
                .add("path", path_text(b.path))
                .add("material", model_[b.material].name)
                .add("section", model_[b.section].name)
                .add("up", vector(b.up))
                .add("elements", fmt::format("{}", b.elements))
                .add("recipe", recipes[static_cast<int>(b.recipe)])
                .add("damping", number(b.damping))
                .add_if(b.planar, "planar", "true")
                .add_if(b.stretch.has_value(), "stretch", b.stretch.value_or(false) ? "true" : "false")
                .add_if(b.rest.has_value(), "rest", b.rest ? rest_text(*b.rest) : "")
                .add_if(!b.surfaces.empty(), "surfaces", surface_names(model_, b.surfaces))
                .add_if(b.root != Hold::clamped, "root", to_string(b.root))
                .add_if(!b.clamps.empty(), "clamps", clamps_text(b))
                .add_if(b.straight, "straight", "true")
                .add_if(b.air_damping != 0, "air_damping", number(b.air_damping))
                .add_if(!b.velocity.isZero(0), "velocity", vector(b.velocity))
                .str());
  }

  void springs() {
    if (!model_.springs().empty()) line("springs:");
    for (const Spring& s : model_.springs())
      entry(s.name, Flow()
                        .add("between", fmt::format("[{}, {}]", place(s.a), place(s.b)))
                        .add_if(!s.force, "stiffness", number(s.stiffness))
                        .add_if(s.force && true, "spring_force", law_text(s.force, "x"))
                        .add_if(!s.damper, "damping", number(s.damping))
                        .add_if(s.damper && true, "damping_force", law_text(s.damper, "v"))
                        .add_if(s.preload != 0, "preload", number(s.preload))
                        .add_if(s.rest_length >= 0, "rest_length", number(s.rest_length))
                        .add_if(s.tension_only, "tension_only", "true")
                        .str());
  }

  void bushings() {
    if (!model_.bushings().empty()) line("bushings:");
    for (const Bushing& x : model_.bushings())
      entry(x.name, Flow()
                        .add("a", body_name(x.a))
                        .add("b", body_name(x.b))
                        .add("a_frame", frame(x.X_AF))
                        .add("b_frame", frame(x.X_BM))
                        .add("stiffness", matrix_text(x.stiffness))
                        .add_if(!x.damping.isZero(0), "damping", matrix_text(x.damping))
                        .str());
  }

  void couplings() {
    if (!model_.couplings().empty()) line("couplings:");
    for (const Coupling& c : model_.couplings()) {
      const auto coordinate = [&](const Coupling::Term& t) {
        const Joint& j = model_[t.joint];
        return text_scalar(dof_count(j.kind) > 1 ? fmt::format("{}.{}", j.name, t.dof) : j.name);
      };
      Flow flow, sum;
      if (c.profile) {
        flow.add("cam", fmt::format("[{}, {}]", coordinate(c.terms[1]), coordinate(c.terms[0])));
        flow.add("profile", law_text(c.profile, "x"));
      } else {
        for (const Coupling::Term& t : c.terms) sum.add(coordinate(t).c_str(), number(t.factor));
        flow.add("sum", sum.str());
      }
      if (c.offset) flow.add("offset", number(*c.offset));
      if (c.stiffness) flow.add("stiffness", number(*c.stiffness));
      flow.add_if(c.damping > 0, "damping", number(c.damping));
      flow.add_if(c.backlash > 0, "backlash", number(c.backlash));
      entry(c.name, flow.str());
    }
  }

  void cables() {
    if (!model_.cables().empty()) line("cables:");
    for (const Cable& c : model_.cables()) entry(c.name, cable_text(model_, c));
  }

  void loops() {
    if (!model_.loops().empty()) line("loops:");
    for (const Loop& l : model_.loops()) {
      Flow flow;
      flow.add("type", to_string(l.kind)).add("a", body_name(l.a)).add("b", body_name(l.b));
      flow.add("a_frame", frame(l.X_AF)).add("b_frame", frame(l.X_BM));
      flow.add_if(l.kind == JointKind::screw, "pitch", number(l.pitch));
      flow.add_if(l.kind == JointKind::distance, "length", number(l.length));
      add_law(flow, l.kind, l.law);
      entry(l.name, flow.str());
    }
  }

  void ties() {
    if (!model_.ties().empty()) line("ties:");
    for (const Tie& t : model_.ties())
      entry(t.name, Flow()
                        .add("on", place(t.on))
                        .add("to", place(t.to))
                        .add("type", to_string(t.kind))
                        .add("axis", list(t.axis, 3))
                        .add_if(!t.shift.is_zero(), "shift", vector_function(t.shift))
                        .add_if(!t.turn.is_zero(), "turn", vector_function(t.turn))
                        .str());
  }

  void changes() {
    if (!model_.changes().empty()) line("changes:");
    for (const Change& c : model_.changes()) {
      Flow flow;
      flow.add("at", number(c.at)).add("beam", model_[c.beam].name);
      flow.add_if(c.kind == Change::Kind::material, "material",
                  c.material.valid() ? model_[c.material].name : "");
      flow.add_if(c.kind == Change::Kind::section, "section",
                  c.section.valid() ? model_[c.section].name : "");
      flow.add_if(c.kind == Change::Kind::grow, "grow", "true");
      flow.add_if(c.kind == Change::Kind::cut, "cut", number(c.s));
      line("  - " + flow.str());
    }
  }

  void loads() {
    if (!model_.point_loads().empty() || !model_.distributed_loads().empty()) line("loads:");
    for (const PointLoad& l : model_.point_loads())
      entry(l.name, Flow()
                        .add("on", place(l.at))
                        .add("force", vector_function(l.force))
                        .add("moment", vector_function(l.moment))
                        .add_if(l.follows, "follows", "true")
                        .str());
    for (const DistributedLoad& l : model_.distributed_loads())
      entry(l.name, Flow()
                        .add("along", model_[l.beam].name)
                        .add("force_per_length", vector_function(l.force_per_length))
                        .add("between", fmt::format("[{}, {}]", number(l.s0), number(l.s1)))
                        .add_if(l.follows, "follows", "true")
                        .str());
    if (const auto& w = model_.wind())
      line("wind: " + Flow()
                          .add("velocity", vector_function(w->velocity))
                          .add("air_density", number(w->air_density))
                          .add("drag_coefficient", number(w->drag_coefficient))
                          .str());
  }

  void riders() {
    if (!model_.riders().empty()) line("riders:");
    for (const Rider& r : model_.riders()) {
      std::string road, shapes;
      for (std::size_t i = 0; i < r.bodies.size(); ++i)
        road += (i == 0 ? "" : ", ") + Flow()
                                           .add("body", body_name(r.bodies[i]))
                                           .add("from", vector(r.from[i].p))
                                           .add("to", vector(r.to[i].p))
                                           .str();
      for (const Shape& s : r.shapes) shapes += (shapes.empty() ? "" : ", ") + shape_text(s);
      Flow flow;
      flow.add("on", "[" + road + "]").add("mass", number(r.mass)).add("position", function(r.position));
      flow.add_if(!shapes.empty(), "shapes", "[" + shapes + "]");
      if (r.color) flow.add("color", color(*r.color));
      entry(r.name, flow.str());
    }
  }

  void drives() {
    if (!model_.drives().empty()) line("drives:");
    for (const Drive& d : model_.drives()) {
      const int n = dof_count(model_[d.joint].kind);
      Flow flow, servo;
      flow.add("joint", model_[d.joint].name);
      if (d.kind == Drive::Kind::force) {
        flow.add("force", functions_of_time(d.target, n));
      } else {
        servo.add("target", functions_of_time(d.target, n)).add("kp", list(d.kp, n)).add("kd", list(d.kd, n));
        flow.add("servo", servo.add("max_force", list(d.max_force, n)).str());
      }
      line("  - " + flow.str());
    }
    if (!model_.motions().empty()) line("motions:");
    for (const PrescribedMotion& m : model_.motions())
      line("  - " + Flow()
                        .add("joint", model_[m.joint].name)
                        .add("position", functions_of_time(m.position, dof_count(model_[m.joint].kind)))
                        .str());
  }

  const std::string& load_name(LoadId id) const {
    const auto points = model_.point_loads();
    const auto at = static_cast<std::size_t>(id.value);
    return at < points.size() ? points[at].name : model_.distributed_loads()[at - points.size()].name;
  }

  void probes() {
    if (!model_.probes().empty()) line("probes:");
    for (const Probe& p : model_.probes()) {
      Flow flow;
      flow.add("name", text_scalar(p.name)).add("quantity", info_of(p.quantity).name);
      if (subject_of(p.quantity) == Subject::place && !p.touching.valid()) flow.add("on", place(p.at));
      if (p.touching.valid()) flow.add("on", model_[p.touching].name);
      if (p.against) flow.add("against", surface_name(model_, *p.against));
      if (p.joint.valid()) flow.add("joint", model_[p.joint].name);
      if (p.loop.valid()) flow.add("joint", model_.loops()[p.loop.value].name);
      if (p.spring.valid()) flow.add("spring", model_.springs()[p.spring.value].name);
      if (p.rider.valid()) flow.add("rider", model_.riders()[p.rider.value].name);
      if (p.tie.valid()) flow.add("tie", model_.ties()[p.tie.value].name);
      if (p.beam.valid()) flow.add("beam", model_[p.beam].name);
      if (p.load.valid()) flow.add("load", load_name(p.load));
      if (p.cable.valid()) flow.add("cable", model_[p.cable].name);
      if (p.guide >= 0) flow.add("guide", fmt::format("{}", p.guide));
      if (p.coupling.valid()) flow.add("coupling", model_[p.coupling].name);
      line("  - " + flow.str());
    }
  }

  const Model& model_;
  const sim::RunOptions& run_;
  std::string text_;
};

}  // namespace

std::string write_yaml(const Model& model, const sim::RunOptions& run) { return Writer(model, run).write(); }

}  // namespace limber::scene
