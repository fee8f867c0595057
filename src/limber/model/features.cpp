#include "limber/model/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace limber {
namespace {

using Places = std::vector<Place>;

bool any_of(JointKind kind, const DofArray& a) {
  return std::any_of(a.begin(), a.begin() + dof_count(kind), [](double x) { return x != 0; });
}
bool is_limited(JointKind kind, const JointLaw& law) {
  for (int k = 0; k < dof_count(kind); ++k)
    if (std::isfinite(law.lower[k]) || std::isfinite(law.upper[k])) return true;
  return false;
}

// Of any coordinate.
template <class When>
bool has_extra(JointKind kind, const JointLaw& law, const When& when) {
  for (int k = 0; law.extras && k < dof_count(kind); ++k)
    if (when(*law.extras, k)) return true;
  return false;
}
constexpr auto springs_by_law = [](const JointExtras& e, int k) { return static_cast<bool>(e.spring[k]); };
constexpr auto damps_by_law = [](const JointExtras& e, int k) { return static_cast<bool>(e.damper[k]); };
constexpr auto is_preloaded = [](const JointExtras& e, int k) { return e.preload[k] != 0; };
constexpr auto stops_softly = [](const JointExtras& e, int k) { return e.stop_stiffness[k] > 0; };
constexpr auto damps_stops = [](const JointExtras& e, int k) { return e.stop_damping[k] > 0; };
constexpr auto rubs = [](const JointExtras& e, int k) { return e.friction_static[k] > 0; };
constexpr auto rubs_by_rate = [](const JointExtras& e, int k) {
  return e.friction_static[k] != e.friction_dynamic[k];
};

template <class When>
void of_bodies(const Model& m, Places& out, const char* field, const When& when) {
  for (const Body& b : m.bodies())
    if (when(b)) out.push_back({"body", b.name, field});
}
template <class When>
void of_joints(const Model& m, Places& out, const char* field, const When& when) {
  for (const Joint& j : m.joints())
    if (when(j)) out.push_back({"joint", j.name, field});
}
template <class When>
void of_drives(const Model& m, Places& out, const When& when) {
  for (const Drive& d : m.drives())
    if (when(d, m[d.joint])) out.push_back({"drive", m[d.joint].name, "drive"});
}
template <class When>
void of_loops(const Model& m, Places& out, const char* field, const When& when) {
  for (const Loop& l : m.loops())
    if (when(l)) out.push_back({"loop", l.name, field});
}
template <JointKind kind>
void of_kind(const Model& m, Places& out) {
  of_joints(m, out, "type", [](const Joint& j) { return j.kind == kind; });
  of_loops(m, out, "type", [](const Loop& l) { return l.kind == kind; });
  for (const Tie& t : m.ties())
    if (t.kind == kind) out.push_back({"tie", t.name, "type"});
}
template <class When>
void of_extras(const Model& m, Places& out, const char* field, const When& when) {
  of_joints(m, out, field, [&](const Joint& j) { return has_extra(j.kind, j.law, when); });
}
template <class When>
void of_closing_extras(const Model& m, Places& out, const char* field, const When& when) {
  of_loops(m, out, field, [&](const Loop& l) { return has_extra(l.kind, l.law, when); });
}
template <class When>
void of_springs(const Model& m, Places& out, const char* field, const When& when) {
  for (const Spring& s : m.springs())
    if (when(s)) out.push_back({"spring", s.name, field});
}
template <class When>
void of_cables(const Model& m, Places& out, const char* field, const When& when) {
  for (const Cable& c : m.cables())
    if (when(c)) out.push_back({"cable", c.name, field});
}
template <class When>
void of_guides(const Model& m, Places& out, const When& when) {
  of_cables(m, out, "route", [&](const Cable& c) { return std::ranges::any_of(c.route, when); });
}
template <class When>
void of_beams(const Model& m, Places& out, const char* field, const When& when) {
  for (const Beam& b : m.beams())
    if (when(b)) out.push_back({"beam", b.name, field});
}
constexpr auto names_beam = [](const SurfacePair& p) { return p.a.beam.valid() || p.b.beam.valid(); };
constexpr auto names_kind = [](const SurfacePair& p) { return p.a.kind >= 0 || p.b.kind >= 0; };
template <class When>
void of_pairs(const Model& m, Places& out, const When& when) {
  if (m.contact() && std::ranges::any_of(m.contact()->pairs, when)) out.push_back({"contact", "", "pairs"});
}
template <auto term>
void of_pair_terms(const Model& m, Places& out) {
  of_pairs(m, out, [](const SurfacePair& p) { return (p.terms.*term).has_value(); });
}
// What has a surface with such a term.
template <auto term>
void of_surfaces(const Model& m, Places& out) {
  const auto has = [&](const std::vector<int>& kinds) {
    return std::ranges::any_of(kinds, [&](int k) { return (m.surfaces()[k].terms.*term).has_value(); });
  };
  of_bodies(m, out, "surfaces", [&](const Body& b) { return has(b.surfaces); });
  for (const Beam& b : m.beams())
    if (has(b.surfaces)) out.push_back({"beam", b.name, "surfaces"});
  if (m.contact() &&
      std::ranges::any_of(m.contact()->planes, [&](const Plane& p) { return has(p.surfaces); }))
    out.push_back({"contact", "", "planes"});
}
// Materials that a beam has, at the start or after a change.
template <class When>
void of_materials(const Model& m, Places& out, const char* field, const When& when) {
  std::vector<char> used(m.materials().size(), 0);
  for (const Beam& b : m.beams()) used[b.material.value] = 1;
  for (const Change& c : m.changes())
    if (c.kind == Change::Kind::material) used[c.material.value] = 1;
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] && when(m.materials()[i])) out.push_back({"material", m.materials()[i].name, field});
}
template <class When>
void of_changes(const Model& m, Places& out, const When& when) {
  for (std::size_t i = 0; i < m.changes().size(); ++i)
    if (when(m.changes()[i])) out.push_back({"change", fmt::format("{}", i + 1), ""});
}
// Events with an action of a kind, on one of these things.
template <Action::Kind kind>
void of_actions(const Model& m, Places& out, const char* field, std::initializer_list<Action::On> on) {
  for (const Event& e : m.events())
    if (std::ranges::any_of(e.actions, [&](const Action& a) {
          return a.kind == kind && std::ranges::find(on, a.on) != on.end();
        }))
      out.push_back({"event", e.name, field});
}
template <Told told>
void of_probes(const Model& m, Places& out) {
  for (const Probe& p : m.probes())
    if (p.told() == told) out.push_back({"probe", p.name, ""});
}
template <class When>
void of_driven_joints(const Model& m, Places& out, const char* field, bool driven, const When& when) {
  std::vector<char> given(m.joints().size(), 0);
  for (const PrescribedMotion& p : m.motions()) given[p.joint.value] = 1;
  of_joints(m, out, field, [&](const Joint& j) { return (given[j.child.value] != 0) == driven && when(j); });
}
// Springs or ties that are at ease where the joints stand at t = 0.
bool eases_at_start(const Model& m) {
  return !m.ties().empty() || std::any_of(m.springs().begin(), m.springs().end(),
                                          [](const Spring& s) { return s.rest_length < 0; });
}
// The body that a place stands on; of a beam the one it starts from.
BodyId body_of(const Model& m, const Attachment& at) {
  const Attachment* a = &at;
  for (std::size_t i = 0; i <= m.beams().size() && a->beam.valid(); ++i) a = &m[a->beam].from;
  return a->beam.valid() ? world : a->body;
}
bool is_fixed(const Model& m, const Attachment& at) {
  if (at.beam.valid()) return false;
  BodyId b = at.body;
  while (b.valid() && m.joints()[b.value].kind == JointKind::fixed) b = m.joints()[b.value].parent;
  return !b.valid();
}
// Bodies without a parent, of which something holds to what is not theirs: the stiffness of their joint, a
// spring, a tie or a loop.
std::vector<char> held_bodies(const Model& m) {
  std::vector<BodyId> root;  // parents come first
  for (const Joint& j : m.joints()) root.push_back(j.parent.valid() ? root[j.parent.value] : j.child);
  std::vector<char> held(m.bodies().size(), 0);
  const auto hold = [&](BodyId a, BodyId b) {
    if (a.valid()) a = root[a.value];
    if (b.valid()) b = root[b.value];
    if (a == b) return;
    if (a.valid()) held[a.value] = 1;
    if (b.valid()) held[b.value] = 1;
  };
  for (const Joint& j : m.joints())
    if (any_of(j.kind, j.law.stiffness) || has_extra(j.kind, j.law, springs_by_law)) hold(j.child, j.parent);
  for (const Bushing& x : m.bushings()) hold(x.a, x.b);
  for (const Spring& s : m.springs()) hold(body_of(m, s.a), body_of(m, s.b));
  for (const Cable& c : m.cables())
    for (const CableGuide& g : c.route) hold(body_of(m, c.route.front().at), body_of(m, g.at));
  for (const Tie& t : m.ties()) hold(body_of(m, t.on), body_of(m, t.to));
  for (const Loop& l : m.loops()) hold(l.a, l.b);
  return held;
}

// clang-format off
// Letters: chain static, articulated run, articulated static, thread run, thread static, rom run, adaptive run.
const Feature table[] = {
  {"drag of a body", "oyo....", [](const Model& m, Places& out) {
     of_bodies(m, out, "linear_drag", [](const Body& b) { return b.linear_drag > 0; }); }},
  {"drag of a body against turning", "oyo....", [](const Model& m, Places& out) {
     of_bodies(m, out, "angular_drag", [](const Body& b) { return b.angular_drag > 0; }); }},
  {"friction of a body", ".yyy.y.", [](const Model& m, Places& out) {
     of_bodies(m, out, "friction", [](const Body& b) { return b.friction.has_value(); }); }},

  {"point mass on a body", "yyyyyyy", [](const Model& m, Places& out) {
     of_bodies(m, out, "point_masses", [](const Body& b) { return !b.point_masses.empty(); }); }},

  {"joint on a beam", "yyy..yy", [](const Model& m, Places& out) {
     of_joints(m, out, "parent", [](const Joint& j) { return j.beam.valid(); }); }},
  {"cylindrical joint", ".yyyy..", of_kind<JointKind::cylindrical>},
  {"screw", ".yyyy..", of_kind<JointKind::screw>},
  {"joint of a point on a line", ".yyyy..", of_kind<JointKind::point_on_line>},
  {"joint of a point on a plane", ".yyyy..", of_kind<JointKind::point_on_plane>},
  {"constant velocity joint", ".yyyy..", of_kind<JointKind::constant_velocity>},
  {"distance", ".yy....", of_kind<JointKind::distance>},
  {"stiffness of a joint", "yyyooyy", [](const Model& m, Places& out) {
     of_joints(m, out, "stiffness", [](const Joint& j) { return j.kind != JointKind::free && any_of(j.kind, j.law.stiffness); }); }},
  {"damping of a joint", "oyoooyy", [](const Model& m, Places& out) {
     of_joints(m, out, "damping", [](const Joint& j) { return j.kind != JointKind::free && any_of(j.kind, j.law.damping); }); }},
  {"stiffness of a free joint", ".yy..yy", [](const Model& m, Places& out) {
     of_joints(m, out, "stiffness", [](const Joint& j) { return j.kind == JointKind::free && any_of(j.kind, j.law.stiffness); }); }},
  {"damping of a free joint", ".yo...y", [](const Model& m, Places& out) {
     of_joints(m, out, "damping", [](const Joint& j) { return j.kind == JointKind::free && any_of(j.kind, j.law.damping); }); }},
  {"where the spring of a joint is at ease", "yyyooyy", [](const Model& m, Places& out) {
     of_joints(m, out, "rest", [](const Joint& j) { return any_of(j.kind, j.law.stiffness) && any_of(j.kind, j.law.rest); }); }},
  {"limits of a hinge, slide or universal joint", ".yy..y.", [](const Model& m, Places& out) {
     of_joints(m, out, "limits", [](const Joint& j) { return !has_rotation_vector(j.kind) && is_limited(j.kind, j.law); }); }},
  {"limits of a ball or free joint", ".yy....", [](const Model& m, Places& out) {
     of_joints(m, out, "limits", [](const Joint& j) { return has_rotation_vector(j.kind) && is_limited(j.kind, j.law); }); }},
  {"restitution at the limits of a joint", ".yo....", [](const Model& m, Places& out) {
     of_joints(m, out, "restitution", [](const Joint& j) { return j.law.restitution > 0; }); }},
  {"spring of a joint by a law", ".yy....", [](const Model& m, Places& out) { of_extras(m, out, "spring_force", springs_by_law); }},
  {"damper of a joint by a law", ".yo....", [](const Model& m, Places& out) { of_extras(m, out, "damping_force", damps_by_law); }},
  {"preload of a joint", ".yy....", [](const Model& m, Places& out) { of_extras(m, out, "preload", is_preloaded); }},
  {"stops of a joint that give", ".yy....", [](const Model& m, Places& out) { of_extras(m, out, "stop_stiffness", stops_softly); }},
  {"damping of the stops of a joint", ".yo....", [](const Model& m, Places& out) { of_extras(m, out, "stop_damping", damps_stops); }},
  {"friction of a joint", ".y.....", [](const Model& m, Places& out) { of_extras(m, out, "friction", rubs); }},
  {"friction of a joint that falls with its rate", ".y.....", [](const Model& m, Places& out) { of_extras(m, out, "friction", rubs_by_rate); }},
  {"position of a joint at t = 0", "oyy...y", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "position", false, [](const Joint& j) { return j.kind != JointKind::free && any_of(j.kind, j.position); }); }},
  {"position at t = 0 of a joint whose motion is given", "ooooooo", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "position", true, [](const Joint& j) { return any_of(j.kind, j.position); }); }},
  {"position of a free joint at t = 0", ".yyyyyy", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "position", false, [](const Joint& j) { return j.kind == JointKind::free && any_of(j.kind, j.position); }); }},
  {"position of a joint at t = 0, where springs or ties are at ease there", ".yy...y", [](const Model& m, Places& out) {
     if (eases_at_start(m))
       of_driven_joints(m, out, "position", false, [](const Joint& j) { return j.kind != JointKind::free && any_of(j.kind, j.position); }); }},
  {"velocity of a joint at t = 0", "oyo....", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "velocity", false, [](const Joint& j) { return j.kind != JointKind::free && any_of(j.kind, j.velocity); }); }},
  {"velocity at t = 0 of a joint whose motion is given", "ooooooo", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "velocity", true, [](const Joint& j) { return any_of(j.kind, j.velocity); }); }},
  {"velocity of a free body at t = 0", "oyoyoy.", [](const Model& m, Places& out) {
     of_driven_joints(m, out, "velocity", false, [](const Joint& j) { return j.kind == JointKind::free && any_of(j.kind, j.velocity); }); }},
  {"velocity of a free body that springs, ties or loops hold", ".yo....", [](const Model& m, Places& out) {
     const std::vector<char> held = held_bodies(m);
     of_joints(m, out, "velocity", [&](const Joint& j) {
       return j.kind == JointKind::free && any_of(j.kind, j.velocity) && held[j.child.value]; }); }},
  {"position of a free joint that springs, ties or loops hold", ".yy...y", [](const Model& m, Places& out) {
     const std::vector<char> held = held_bodies(m);
     of_joints(m, out, "position", [&](const Joint& j) {
       return j.kind == JointKind::free && any_of(j.kind, j.position) && held[j.child.value]; }); }},

  {"drive by a force", ".yy..yy", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) { return d.kind == Drive::Kind::force && !has_rotation_vector(j.kind); }); }},
  {"drive by a servo", ".yy..yy", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) { return d.kind == Drive::Kind::servo && !has_rotation_vector(j.kind); }); }},
  {"drive of a ball or free joint by a force", ".yy...y", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) { return d.kind == Drive::Kind::force && has_rotation_vector(j.kind); }); }},
  {"drive of a ball or free joint by a servo", ".yy....", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) { return d.kind == Drive::Kind::servo && has_rotation_vector(j.kind); }); }},
  {"largest force of a servo", ".yy..y.", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) {
       return d.kind == Drive::Kind::servo && std::any_of(d.max_force.begin(), d.max_force.begin() + dof_count(j.kind),
                                                          [](double f) { return std::isfinite(f); }); }); }},
  {"damping of a servo", ".yy..yy", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) { return d.kind == Drive::Kind::servo && any_of(j.kind, d.kd); }); }},
  {"servo with damping and no stiffness that moves", ".yy....", [](const Model& m, Places& out) {
     of_drives(m, out, [](const Drive& d, const Joint& j) {
       for (int k = 0; k < dof_count(j.kind); ++k)
         if (d.kind == Drive::Kind::servo && d.kp[k] == 0 && d.kd[k] > 0 && !d.target[k].is_constant()) return true;
       return false; }); }},
  {"motion of a joint given in time", ".yyyy..", [](const Model& m, Places& out) {
     for (const PrescribedMotion& p : m.motions()) out.push_back({"motion", m[p.joint].name, "motion"}); }},

  {"controller of a joint", ".y.....", [](const Model& m, Places& out) {
     for (const Controller& c : m.controllers()) out.push_back({"controller", c.name, ""}); }},
  {"event that stops the run", "oyoyoyy", [](const Model& m, Places& out) { of_actions<Action::Kind::stop>(m, out, "stop", {Action::On::run}); }},
  {"event that releases a joint, a tie or a coupling", ".y.....", [](const Model& m, Places& out) {
     of_actions<Action::Kind::release>(m, out, "release", {Action::On::joint, Action::On::tie, Action::On::coupling}); }},
  {"event that releases a spring", ".y.....", [](const Model& m, Places& out) { of_actions<Action::Kind::release>(m, out, "release", {Action::On::spring}); }},
  {"event that releases a clamp of a beam", "...y...", [](const Model& m, Places& out) { of_actions<Action::Kind::release>(m, out, "release", {Action::On::clamp}); }},
  {"event that switches a drive, a spring, a load or a controller off", ".y.....", [](const Model& m, Places& out) {
     of_actions<Action::Kind::switch_off>(m, out, "switch", {Action::On::drive, Action::On::spring, Action::On::load, Action::On::controller}); }},
  {"event that switches one on", ".y.....", [](const Model& m, Places& out) {
     of_actions<Action::Kind::switch_on>(m, out, "switch", {Action::On::drive, Action::On::spring, Action::On::load, Action::On::controller}); }},
  {"event that gives a drive or a controller another target", ".y.....", [](const Model& m, Places& out) {
     of_actions<Action::Kind::retarget>(m, out, "switch", {Action::On::drive, Action::On::controller}); }},

  {"loop", "yyy..yy", [](const Model& m, Places& out) { of_loops(m, out, "", [](const Loop&) { return true; }); }},
  {"stiffness of a closing joint", ".yy..yy", [](const Model& m, Places& out) {
     of_loops(m, out, "stiffness", [](const Loop& l) { return !has_rotation_vector(l.kind) && any_of(l.kind, l.law.stiffness); }); }},
  {"damping of a closing joint", ".yo..yy", [](const Model& m, Places& out) {
     of_loops(m, out, "damping", [](const Loop& l) { return !has_rotation_vector(l.kind) && any_of(l.kind, l.law.damping); }); }},
  {"stiffness of a closing ball joint", ".yy..y.", [](const Model& m, Places& out) {
     of_loops(m, out, "stiffness", [](const Loop& l) { return has_rotation_vector(l.kind) && any_of(l.kind, l.law.stiffness); }); }},
  {"damping of a closing ball joint", ".yo..y.", [](const Model& m, Places& out) {
     of_loops(m, out, "damping", [](const Loop& l) { return has_rotation_vector(l.kind) && any_of(l.kind, l.law.damping); }); }},
  {"where the spring of a closing joint is at ease", ".yy..yy", [](const Model& m, Places& out) {
     of_loops(m, out, "rest", [](const Loop& l) { return any_of(l.kind, l.law.stiffness) && any_of(l.kind, l.law.rest); }); }},
  {"limits of a closing joint", ".yy....", [](const Model& m, Places& out) {
     of_loops(m, out, "limits", [](const Loop& l) { return is_limited(l.kind, l.law); }); }},
  {"restitution at the limits of a closing joint", ".yo....", [](const Model& m, Places& out) {
     of_loops(m, out, "restitution", [](const Loop& l) { return l.law.restitution > 0; }); }},
  {"spring of a closing joint by a law", ".yy....", [](const Model& m, Places& out) { of_closing_extras(m, out, "spring_force", springs_by_law); }},
  {"damper of a closing joint by a law", ".yo....", [](const Model& m, Places& out) { of_closing_extras(m, out, "damping_force", damps_by_law); }},
  {"preload of a closing joint", ".yy....", [](const Model& m, Places& out) { of_closing_extras(m, out, "preload", is_preloaded); }},
  {"stops of a closing joint that give", ".yy....", [](const Model& m, Places& out) { of_closing_extras(m, out, "stop_stiffness", stops_softly); }},
  {"damping of the stops of a closing joint", ".yo....", [](const Model& m, Places& out) { of_closing_extras(m, out, "stop_damping", damps_stops); }},
  {"friction of a closing joint", ".y.....", [](const Model& m, Places& out) { of_closing_extras(m, out, "friction", rubs); }},
  {"friction of a closing joint that falls with its rate", ".y.....", [](const Model& m, Places& out) { of_closing_extras(m, out, "friction", rubs_by_rate); }},
  {"tie", "yyy..yy", [](const Model& m, Places& out) {
     for (const Tie& t : m.ties()) out.push_back({"tie", t.name, ""}); }},
  {"tie whose place moves", "y......", [](const Model& m, Places& out) {
     for (const Tie& t : m.ties())
       if (!t.shift.is_zero() || !t.turn.is_zero()) out.push_back({"tie", t.name, t.shift.is_zero() ? "turn" : "shift"}); }},
  {"coupling of joints", ".yy....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings()) out.push_back({"coupling", c.name, ""}); }},
  {"cam", ".yy....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings())
       if (c.profile) out.push_back({"coupling", c.name, "profile"}); }},
  {"stiffness of a coupling", ".yy....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings())
       if (!c.rigid()) out.push_back({"coupling", c.name, "stiffness"}); }},
  {"damping of a coupling", ".yo....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings())
       if (c.damping > 0) out.push_back({"coupling", c.name, "damping"}); }},
  {"backlash of a coupling", ".yy....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings())
       if (c.backlash > 0) out.push_back({"coupling", c.name, "backlash"}); }},
  {"offset of a coupling", ".yy....", [](const Model& m, Places& out) {
     for (const Coupling& c : m.couplings())
       if (c.offset) out.push_back({"coupling", c.name, "offset"}); }},
  {"cable", ".yy....", [](const Model& m, Places& out) { of_cables(m, out, "", [](const Cable&) { return true; }); }},
  {"closed cable", ".yy....", [](const Model& m, Places& out) { of_cables(m, out, "closed", [](const Cable& c) { return c.closed; }); }},
  {"cable round a pulley", ".yy....", [](const Model& m, Places& out) {
     of_guides(m, out, [](const CableGuide& g) { return g.radius > 0; }); }},
  {"pulley that grips its cable", ".yy....", [](const Model& m, Places& out) {
     of_guides(m, out, [](const CableGuide& g) { return g.grip; }); }},
  {"friction of a cable on a guide", ".y.....", [](const Model& m, Places& out) {
     of_guides(m, out, [](const CableGuide& g) { return g.friction > 0; }); }},
  {"damping of a cable", ".yo....", [](const Model& m, Places& out) { of_cables(m, out, "damping", [](const Cable& c) { return c.damping > 0; }); }},
  {"rest_length of a cable", ".yy....", [](const Model& m, Places& out) { of_cables(m, out, "rest_length", [](const Cable& c) { return c.rest_length >= 0; }); }},
  {"pretension of a cable", ".yy....", [](const Model& m, Places& out) { of_cables(m, out, "pretension", [](const Cable& c) { return c.pretension > 0; }); }},
  {"winch of a cable", ".yy....", [](const Model& m, Places& out) { of_cables(m, out, "winch", [](const Cable& c) { return !c.winch.is_zero(); }); }},
  {"spring", "yyyyyyy", [](const Model& m, Places& out) { of_springs(m, out, "", [](const Spring&) { return true; }); }},
  {"damping of a spring", "oyoyoyy", [](const Model& m, Places& out) {
     of_springs(m, out, "damping", [](const Spring& s) { return s.damping > 0; }); }},
  {"spring that only pulls", "yyyyyyy", [](const Model& m, Places& out) {
     of_springs(m, out, "tension_only", [](const Spring& s) { return s.tension_only; }); }},
  {"rest_length of a spring", "yyyyyyy", [](const Model& m, Places& out) {
     of_springs(m, out, "rest_length", [](const Spring& s) { return s.rest_length >= 0; }); }},
  {"spring beside the axis of its beam", "yyyyyyy", [](const Model& m, Places& out) {
     of_springs(m, out, "between", [](const Spring& s) {
       return (s.a.beam.valid() && !s.a.p.isZero(0)) || (s.b.beam.valid() && !s.b.p.isZero(0)); }); }},

  {"spring by a law", ".yy....", [](const Model& m, Places& out) {
     of_springs(m, out, "spring_force", [](const Spring& s) { return static_cast<bool>(s.force); }); }},
  {"damper of a spring by a law", ".yo....", [](const Model& m, Places& out) {
     of_springs(m, out, "damping_force", [](const Spring& s) { return static_cast<bool>(s.damper); }); }},
  {"preload of a spring", ".yy....", [](const Model& m, Places& out) {
     of_springs(m, out, "preload", [](const Spring& s) { return s.preload != 0; }); }},
  {"bushing", ".yy....", [](const Model& m, Places& out) {
     for (const Bushing& x : m.bushings()) out.push_back({"bushing", x.name, ""}); }},
  {"damping of a bushing", ".yo....", [](const Model& m, Places& out) {
     for (const Bushing& x : m.bushings())
       if (!x.damping.isZero(0)) out.push_back({"bushing", x.name, "damping"}); }},

  {"beam", "yyyyyyy", [](const Model& m, Places& out) { of_beams(m, out, "", [](const Beam&) { return true; }); }},
  {"beam that starts on a beam", "yyy..yy", [](const Model& m, Places& out) {
     of_beams(m, out, "from", [](const Beam& b) { return b.from.beam.valid(); }); }},
  {"beam that bends in a plane only", "yyy..yy", [](const Model& m, Places& out) {
     of_beams(m, out, "planar", [](const Beam& b) { return b.planar; }); }},
  {"beam that stretches as it is told", "yyyoo..", [](const Model& m, Places& out) {
     of_beams(m, out, "stretch", [](const Beam& b) { return b.stretch == true; }); }},
  {"beam that is told not to stretch", "yyy..oo", [](const Model& m, Places& out) {
     of_beams(m, out, "stretch", [](const Beam& b) { return b.stretch == false; }); }},
  {"damping of a beam", "oyoyoyy", [](const Model& m, Places& out) {
     of_beams(m, out, "damping", [](const Beam& b) { return b.damping > 0; }); }},
  {"recipe of a beam other than consistent_3r", "yyy..yy", [](const Model& m, Places& out) {
     of_beams(m, out, "recipe", [](const Beam& b) { return b.recipe != Recipe::consistent_3r; }); }},
  {"recipe published_1r of a beam", "y......", [](const Model& m, Places& out) {
     of_beams(m, out, "recipe", [](const Beam& b) { return b.recipe == Recipe::published_1r; }); }},
  {"root that is not clamped", "...yy..", [](const Model& m, Places& out) {
     of_beams(m, out, "root", [](const Beam& b) { return b.root != Hold::clamped; }); }},
  {"clamps of a beam", "...yy..", [](const Model& m, Places& out) {
     of_beams(m, out, "clamps", [](const Beam& b) { return !b.clamps.empty(); }); }},
  {"beam that is straight at ease", "...yy..", [](const Model& m, Places& out) {
     of_beams(m, out, "straight", [](const Beam& b) { return b.straight; }); }},
  {"beam that is bent or twisted at ease other than its path", "yyyyyyy", [](const Model& m, Places& out) {
     of_beams(m, out, "rest", [](const Beam& b) { return b.rest && b.rest->path; }); }},
  {"beam that is longer or shorter at ease than its path", "...yy..", [](const Model& m, Places& out) {
     of_beams(m, out, "rest", [](const Beam& b) { return changes_length(b); }); }},
  {"clamp that lets go at a time", "...yy..", [](const Model& m, Places& out) {
     of_beams(m, out, "clamps", [](const Beam& b) {
       return std::any_of(b.clamps.begin(), b.clamps.end(), [](const BeamClamp& c) { return std::isfinite(c.until); }); }); }},
  {"air_damping of a beam", "...yo..", [](const Model& m, Places& out) {
     of_beams(m, out, "air_damping", [](const Beam& b) { return b.air_damping != 0; }); }},
  {"velocity of a beam at t = 0", "...yo..", [](const Model& m, Places& out) {
     of_beams(m, out, "velocity", [](const Beam& b) { return !b.velocity.isZero(0); }); }},
  {"yield stress", "ytytytt", [](const Model& m, Places& out) {
     of_materials(m, out, "yield", [](const Material& x) { return std::isfinite(x.yield); }); }},
  {"strength", "y......", [](const Model& m, Places& out) {
     of_materials(m, out, "strength", [](const Material& x) { return std::isfinite(x.strength); }); }},
  {"creep", "y......", [](const Model& m, Places& out) {
     of_materials(m, out, "creep", [](const Material& x) { return x.creep.rate > 0; }); }},
  {"fatigue", "y......", [](const Model& m, Places& out) {
     of_materials(m, out, "fatigue", [](const Material& x) { return x.fatigue.rate > 0; }); }},

  {"force at a point", "yyyyyyy", [](const Model& m, Places& out) {
     for (const PointLoad& l : m.point_loads())
       if (!l.force.is_zero()) out.push_back({"load", l.name, "force"}); }},
  {"moment at a point", "yyyyyyy", [](const Model& m, Places& out) {
     for (const PointLoad& l : m.point_loads())
       if (!l.moment.is_zero()) out.push_back({"load", l.name, "moment"}); }},
  {"load on a body that is fixed", "ooooooo", [](const Model& m, Places& out) {
     for (const PointLoad& l : m.point_loads())
       if (is_fixed(m, l.at)) out.push_back({"load", l.name, "on"}); }},
  {"load that turns with its body", "yyyyyyy", [](const Model& m, Places& out) {
     for (const PointLoad& l : m.point_loads())
       if (l.follows) out.push_back({"load", l.name, "follows"}); }},
  {"load along a beam", "yyyyyyy", [](const Model& m, Places& out) {
     for (const DistributedLoad& l : m.distributed_loads()) out.push_back({"load", l.name, ""}); }},
  {"load along a beam that turns with it", "yyyyyyy", [](const Model& m, Places& out) {
     for (const DistributedLoad& l : m.distributed_loads())
       if (l.follows) out.push_back({"load", l.name, "follows"}); }},
  {"load along a part of a beam", "yyyyyyy", [](const Model& m, Places& out) {
     for (const DistributedLoad& l : m.distributed_loads())
       if (l.s0 > 0 || l.s1 < 1) out.push_back({"load", l.name, "between"}); }},
  {"rider", ".yy....", [](const Model& m, Places& out) {
     for (const Rider& r : m.riders()) out.push_back({"rider", r.name, ""}); }},
  {"wind", "yyy....", [](const Model& m, Places& out) {
     if (m.wind()) out.push_back({"wind", "", ""}); }},
  {"gravity that changes in time", "yyyyyyy", [](const Model& m, Places& out) {
     if (!m.gravity().is_constant()) out.push_back({"scene", "", "gravity"}); }},
  {"cut of a beam", "y..y...", [](const Model& m, Places& out) {
     of_changes(m, out, [](const Change& c) { return c.kind == Change::Kind::cut; }); }},
  {"growth of a beam", "y......", [](const Model& m, Places& out) {
     of_changes(m, out, [](const Change& c) { return c.kind == Change::Kind::grow; }); }},
  {"new material of a beam", "y......", [](const Model& m, Places& out) {
     of_changes(m, out, [](const Change& c) { return c.kind == Change::Kind::material; }); }},
  {"new section of a beam", "y......", [](const Model& m, Places& out) {
     of_changes(m, out, [](const Change& c) { return c.kind == Change::Kind::section; }); }},
  {"contact", ".yyyyy.", [](const Model& m, Places& out) {
     if (m.contact()) out.push_back({"contact", "", ""}); }},
  {"restitution of contact", ".yo..y.", [](const Model& m, Places& out) {
     if (m.contact() && m.contact()->restitution > 0) out.push_back({"contact", "", "restitution"}); }},
  {"how two frictions make one, other than by the root of the product", ".yyy.y.", [](const Model& m, Places& out) {
     if (m.contact() && m.contact()->combine != Combine::geometric) out.push_back({"contact", "", "combine"}); }},
  {"friction of a pair of bodies", ".yy..y.", [](const Model& m, Places& out) {
     of_pairs(m, out, [](const SurfacePair& p) { return p.terms.friction && !names_beam(p) && !names_kind(p); }); }},
  {"friction of a pair with a beam", ".yyyy..", [](const Model& m, Places& out) {
     of_pairs(m, out, [](const SurfacePair& p) { return p.terms.friction && names_beam(p) && !names_kind(p); }); }},
  {"pair of surfaces", ".yy....", [](const Model& m, Places& out) { of_pairs(m, out, names_kind); }},
  {"restitution of a pair", ".yo....", of_pair_terms<&TouchTerms::restitution>},
  {"pair that gives", ".yy....", of_pair_terms<&TouchTerms::stiffness>},
  {"damping of a pair that gives", ".yo....", of_pair_terms<&TouchTerms::damping>},
  {"pair told whether it touches", ".yy....", [](const Model& m, Places& out) {
     of_pairs(m, out, [](const SurfacePair& p) { return p.collide.has_value(); }); }},
  {"body that touches nothing", ".yy....", [](const Model& m, Places& out) {
     of_bodies(m, out, "collide", [](const Body& b) { return !b.collide; }); }},
  {"restitution of a body", ".yo....", [](const Model& m, Places& out) {
     of_bodies(m, out, "restitution", [](const Body& b) { return b.restitution.has_value(); }); }},
  {"friction of a surface", ".yy....", of_surfaces<&TouchTerms::friction>},
  {"restitution of a surface", ".yo....", of_surfaces<&TouchTerms::restitution>},
  {"surface that gives", ".yy....", of_surfaces<&TouchTerms::stiffness>},
  {"damping of a surface that gives", ".yo....", of_surfaces<&TouchTerms::damping>},
  {"threads that do not touch each other", "...yyo.", [](const Model& m, Places& out) {
     if (m.contact() && !m.contact()->self) out.push_back({"contact", "", "self"}); }},

  {"probe of the position or rotation of a place", "yyyyyyy", of_probes<Told::pose>, Told::pose},
  {"probe of the velocity of a place", "tyyyyyy", of_probes<Told::motion>, Told::motion},
  {"probe of the acceleration of a place", "tyy....", of_probes<Told::acceleration>, Told::acceleration},
  {"probe of the momentum of a body", "tyy....", of_probes<Told::momentum>, Told::momentum},
  {"probe of the momentum of all that moves", "tyy....", of_probes<Told::total_momentum>, Told::total_momentum},
  {"probe of a coupling: force, gap", ".yy....", of_probes<Told::coupling>, Told::coupling},
  {"probe of a cable", ".yy....", of_probes<Told::cable>, Told::cable},
  {"probe of a spring", "yyyyyyy", of_probes<Told::spring>, Told::spring},
  {"probe of gravity's, elastic or total energy", "yyyyyyy", of_probes<Told::potential>, Told::potential},
  {"probe of kinetic energy", "tyyyyyt", of_probes<Told::kinetic>, Told::kinetic},
  {"probe of dissipated energy, work or remainder", "tyyyytt", of_probes<Told::ledger>, Told::ledger},
  {"probe of a joint", ".yy..yy", of_probes<Told::joint>, Told::joint},
  {"probe of a closing joint", ".yy....", of_probes<Told::closing_joint>, Told::closing_joint},
  {"probe of the reaction of a joint", "yyy....", of_probes<Told::reaction>, Told::reaction},
  {"probe of the reaction of a closing joint", "yyy....", of_probes<Told::closing_reaction>, Told::closing_reaction},
  {"probe of the reaction of a tie", "yyy....", of_probes<Told::tie_reaction>, Told::tie_reaction},
  {"probe of the reaction at the root of a beam", "yyy....", of_probes<Told::root_reaction>, Told::root_reaction},
  {"probe of a given motion: force, work", ".yy....", of_probes<Told::given_motion>, Told::given_motion},
  {"probe of a drive: power, work", ".yy....", of_probes<Told::drive>, Told::drive},
  {"probe of the work of a load", "tyy....", of_probes<Told::load_work>, Told::load_work},
  {"probe of a rider", ".yy....", of_probes<Told::rider>, Told::rider},
  {"probe of a section: tension, curvature, twist, moment, torque", "yyyyy..", of_probes<Told::section>, Told::section},
  {"probe of the force in a section", "yyy....", of_probes<Told::section_force>, Told::section_force},
  {"probe of contact: count, overlap", ".yyyyy.", of_probes<Told::contact>, Told::contact},
  {"probe of what touches a body: force, slip, places, depth", ".yy....", of_probes<Told::touch>, Told::touch},
};
// clang-format on

}  // namespace

std::span<const Feature> all_features() { return table; }

}  // namespace limber
