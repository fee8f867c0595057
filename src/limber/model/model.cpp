// Building a model: validate, give floating bodies their free joint, order parent first, renumber.
#include "limber/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/model/validate.h"

namespace limber {

ModelParts::ModelParts() = default;
ModelParts::~ModelParts() = default;
ModelParts::ModelParts(const ModelParts& other) = default;
ModelParts::ModelParts(ModelParts&& other) noexcept = default;
ModelParts& ModelParts::operator=(const ModelParts& other) = default;
ModelParts& ModelParts::operator=(ModelParts&& other) noexcept = default;
namespace {

std::string join(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& p : problems) {
    if (!text.empty()) text += '\n';
    text += to_string(p);
  }
  return text;
}

// A body that hangs on no joint floats: a free joint from the world, at its centre of mass.
void add_free_joints(ModelParts& parts) {
  std::vector<char> has_joint(parts.bodies.size(), 0);
  for (const Joint& j : parts.joints) has_joint[j.child.value] = 1;
  for (std::size_t i = 0; i < parts.bodies.size(); ++i) {
    if (has_joint[i]) continue;
    Joint j;
    j.name = parts.bodies[i].name + ".joint";
    j.kind = JointKind::free;
    j.child = BodyId{static_cast<std::int32_t>(i)};
    j.X_BM = Pose::translation(parts.bodies[i].inertia.com());
    j.X_PF = j.X_BM;
    parts.joints.push_back(std::move(j));
  }
}

// Depth-first order, children in the order given: a parent before its children, a subtree in one piece.
std::vector<int> depth_first_order(const ModelParts& parts) {
  const int n = static_cast<int>(parts.bodies.size());
  std::vector<int> first(n + 1, -1), next(n, -1);  // child lists; the world is entry n
  for (auto j = parts.joints.rbegin(); j != parts.joints.rend(); ++j) {
    const int p = j->parent.valid() ? j->parent.value : n;
    next[j->child.value] = first[p];
    first[p] = j->child.value;
  }
  std::vector<int> order, stack;
  order.reserve(n);
  for (int root = first[n]; root >= 0; root = next[root]) {
    stack.push_back(root);
    while (!stack.empty()) {
      const int b = stack.back();
      stack.pop_back();
      order.push_back(b);
      const auto mark = static_cast<std::ptrdiff_t>(stack.size());
      for (int c = first[b]; c >= 0; c = next[c]) stack.push_back(c);
      std::reverse(stack.begin() + mark, stack.end());
    }
  }
  return order;
}

void reorder(ModelParts& parts) {
  const std::vector<int> order = depth_first_order(parts);
  std::vector<int> new_body(parts.bodies.size()), joint_of(parts.bodies.size()),
      new_joint(parts.joints.size());
  for (std::size_t j = 0; j < parts.joints.size(); ++j)
    joint_of[parts.joints[j].child.value] = static_cast<int>(j);

  std::vector<Body> bodies;
  std::vector<Joint> joints;
  bodies.reserve(order.size());
  joints.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    new_body[order[i]] = static_cast<int>(i);
    new_joint[joint_of[order[i]]] = static_cast<int>(i);
    bodies.push_back(std::move(parts.bodies[order[i]]));
    joints.push_back(std::move(parts.joints[joint_of[order[i]]]));
  }
  parts.bodies = std::move(bodies);
  parts.joints = std::move(joints);

  const auto fix_body = [&](BodyId& id) {
    if (id.valid()) id.value = new_body[id.value];
  };
  const auto fix_joint = [&](JointId& id) {
    if (id.valid()) id.value = new_joint[id.value];
  };
  for (Joint& j : parts.joints) fix_body(j.parent), fix_body(j.child);
  for (Drive& d : parts.drives) fix_joint(d.joint);
  for (PrescribedMotion& m : parts.motions) fix_joint(m.joint);
  for (Coupling& c : parts.couplings)
    for (Coupling::Term& t : c.terms) fix_joint(t.joint);
  for (Loop& l : parts.loops) fix_body(l.a), fix_body(l.b);
  for (Bushing& x : parts.bushings) fix_body(x.a), fix_body(x.b);
  for (Tie& t : parts.ties) fix_body(t.on.body), fix_body(t.to.body);
  for (Spring& s : parts.springs) fix_body(s.a.body), fix_body(s.b.body);
  for (Cable& c : parts.cables)
    for (CableGuide& g : c.route) fix_body(g.at.body);
  for (Beam& b : parts.beams) {
    fix_body(b.from.body);
    for (BeamClamp& c : b.clamps) fix_body(c.body);
  }
  for (PointLoad& l : parts.point_loads) fix_body(l.at.body);
  for (Rider& r : parts.riders) {
    for (BodyId& id : r.bodies) fix_body(id);
    for (Attachment& a : r.from) fix_body(a.body);
    for (Attachment& a : r.to) fix_body(a.body);
  }
  for (Probe& p : parts.probes) {
    fix_body(p.at.body), fix_joint(p.joint);
    if (p.against) fix_body(p.against->body);
  }
  for (Controller& c : parts.controllers) fix_joint(c.joint);
  if (parts.contact)
    for (SurfacePair& p : parts.contact->pairs) fix_body(p.a.body), fix_body(p.b.body);
}

}  // namespace

std::string to_string(const Problem& p) {
  return fmt::format("{}{}{}{}: {}", p.kind, p.name.empty() ? "" : fmt::format(" \"{}\"", p.name),
                     p.field.empty() ? "" : ".", p.field, p.message);
}

ModelError::ModelError(std::vector<Problem> problems)
    : std::invalid_argument(join(problems)), problems_(std::move(problems)) {}

Model::Model(ModelParts parts) : parts_(std::move(parts)) {
  if (auto problems = find_problems(parts_); !problems.empty()) throw ModelError(std::move(problems));
  // Turned inertias are symmetric but for their last bits, which six moments cannot say.
  const auto symmetric = [](Inertia& x) { x.I = 0.5 * (x.I + x.I.transpose()).eval(); };
  for (Body& b : parts_.bodies) {
    symmetric(b.inertia);
    if (!b.without_points) continue;
    // Added anew, so that a body that was written down has the same bits when it is read again.
    symmetric(*b.without_points);
    b.inertia = *b.without_points;
    for (const PointMass& p : b.point_masses) b.inertia += point_inertia(p);
  }
  add_free_joints(parts_);
  reorder(parts_);
}

const char* to_string(Combine combine) {
  constexpr const char* names[] = {"geometric", "minimum", "maximum", "average"};
  return names[static_cast<int>(combine)];
}

double combined(double a, double b, Combine combine) {
  switch (combine) {
    case Combine::minimum:
      return std::min(a, b);
    case Combine::maximum:
      return std::max(a, b);
    case Combine::average:
      return 0.5 * (a + b);
    case Combine::geometric:
      break;
  }
  return std::sqrt(a * b);
}

namespace {

void take(std::optional<double>& into, const std::optional<double>& from) {
  if (!into) into = from;
}
void take(TouchTerms& into, const TouchTerms& from) {
  take(into.friction, from.friction), take(into.restitution, from.restitution);
  take(into.stiffness, from.stiffness), take(into.damping, from.damping);
}

std::span<const int> kinds_of(const ModelParts& parts, const Surface& s) {
  if (s.beam.valid()) return parts.beams[s.beam.value].surfaces;
  if (s.body.valid()) return parts.bodies[s.body.value].surfaces;
  if (s.plane >= 0) return parts.contact->planes[s.plane].surfaces;
  return {};
}

bool means(const ModelParts& parts, const Surface& named, const Surface& s) {
  if (named.kind >= 0) return std::ranges::count(kinds_of(parts, s), named.kind) > 0;
  return named.body == s.body && named.beam == s.beam && (named.plane < 0 || named.plane == s.plane);
}

TouchTerms own_terms(const ModelParts& parts, const Surface& s) {
  TouchTerms out;
  if (s.body.valid() && !s.beam.valid()) {
    const Body& body = parts.bodies[s.body.value];
    out.friction = body.friction, out.restitution = body.restitution;
  }
  for (const int k : kinds_of(parts, s)) take(out, parts.surfaces[k].terms);
  take(out.friction, parts.contact->friction), take(out.restitution, parts.contact->restitution);
  return out;
}

// Two that give: one spring behind the other; the rates of both share as their ways do.
void put_behind(const TouchTerms& a, const TouchTerms& b, TouchTerms& out) {
  if (out.stiffness || !(a.stiffness || b.stiffness)) return;
  if (!a.stiffness || !b.stiffness) return take(out, a.stiffness ? a : b);
  const double sum = *a.stiffness + *b.stiffness;
  out.stiffness = *a.stiffness * *b.stiffness / sum;
  take(out.damping, (*b.stiffness * a.damping.value_or(0) + *a.stiffness * b.damping.value_or(0)) / sum);
}

}  // namespace

TouchLaw Model::touch_law(const Surface& a, const Surface& b) const {
  const Contact& c = *parts_.contact;
  TouchTerms terms;
  TouchLaw out;
  for (const SurfacePair& p : c.pairs) {
    if (!(means(parts_, p.a, a) && means(parts_, p.b, b)) &&
        !(means(parts_, p.a, b) && means(parts_, p.b, a)))
      continue;
    take(terms, p.terms);
    if (!out.collide) out.collide = p.collide;
  }
  const TouchTerms one = own_terms(parts_, a), other = own_terms(parts_, b);
  take(terms.friction, combined(*one.friction, *other.friction, c.combine));
  take(terms.restitution, std::max(*one.restitution, *other.restitution));
  put_behind(one, other, terms);
  out.friction = *terms.friction, out.restitution = *terms.restitution;
  out.stiffness = terms.stiffness.value_or(0), out.damping = terms.damping.value_or(0);
  return out;
}

Told Probe::told() const {
  const Told told = info_of(quantity).told;
  if (told == Told::joint && loop.valid()) return Told::closing_joint;
  if (told != Told::reaction) return told;
  return loop.valid()   ? Told::closing_reaction
         : tie.valid()  ? Told::tie_reaction
         : beam.valid() ? Told::root_reaction
                        : told;
}

std::vector<Pose> Model::initial_poses() const {
  std::vector<DofArray> q(parts_.joints.size());
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = parts_.joints[i].position;
  for (const PrescribedMotion& m : parts_.motions)
    for (int k = 0; k < dof_count(parts_.joints[m.joint.value].kind); ++k)
      q[m.joint.value][k] = m.position[k].value(0);
  std::vector<Pose> X_WB(parts_.bodies.size());
  for (std::size_t i = 0; i < X_WB.size(); ++i) {
    const Joint& j = parts_.joints[i];
    const Pose X_WP = j.parent.valid() ? X_WB[j.parent.value] : Pose::identity();
    X_WB[i] = X_WP * j.X_PF * joint_pose(j.kind, j.pitch, q[i]) * j.X_BM.inverse();
  }
  return X_WB;
}

}  // namespace limber
