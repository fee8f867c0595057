// From a model to a system of threads: rods, rest shapes, clamps, driven bodies, solids, loads, what is
// observed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/contact/shape_geometry.h"
#include "limber/elastic/beam_frames.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"
#include "limber/model/features.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

// The section's outer outline in its own coordinates, counter-clockwise.
std::vector<Vec2> outline_of(const SectionShape& shape, const elastic::SectionConstants& c) {
  if (const auto* r = std::get_if<Rectangle>(&shape)) {
    const double y = r->width / 2, z = r->height / 2;
    return {{-y, -z}, {y, -z}, {y, z}, {-y, z}};
  }
  if (const auto* polygon = std::get_if<Polygon>(&shape)) {
    std::vector<Vec2> out = polygon->outline;
    double area = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Vec2 &a = out[i], &b = out[(i + 1) % out.size()];
      area += a[0] * b[1] - a[1] * b[0];
    }
    if (area < 0) std::reverse(out.begin(), out.end());
    return out;
  }
  std::vector<Vec2> out;
  constexpr int corners = 16;
  for (int i = 0; i < corners; ++i) {
    const auto [sin, cos] = math::sincos(2 * pi * i / corners);
    out.emplace_back(c.y_max * cos, c.z_max * sin);
  }
  return out;
}

// Turned into the node's axes, which are the section's principal ones at its centroid, and over its extents.
void set_outline(const SectionShape& shape, ThreadInfo& t) {
  t.outline = outline_of(shape, elastic::section_constants(shape));
  const auto [sin, cos] = math::sincos(t.rod.angle);
  for (Vec2& p : t.outline) {
    const Vec2 d = p - t.rod.centroid;
    p = Vec2(cos * d[0] + sin * d[1], cos * d[1] - sin * d[0]);
    t.extent = t.extent.cwiseMax(p.cwiseAbs());
  }
  for (Vec2& p : t.outline) p = p.cwiseQuotient(t.extent);
}

constexpr double least_rho = 0.1;  // of collocation: at 0 its stages meet

struct Compiler {
  const Model& model;
  SystemData& s;
  std::vector<Problem> problems;
  std::vector<char> free_{};  // (bodies) without a joint: to be carried

  void refuse(std::string kind, std::string name, std::string field, std::string why) {
    problems.push_back({std::move(kind), std::move(name), std::move(field), std::move(why)});
  }

  void bodies() {
    for (std::size_t i = 0; i < model.bodies().size(); ++i) {
      const Joint& j = model.joints()[i];
      DrivenBody b;
      b.parent = j.parent.value;
      b.kind = j.kind;
      b.pitch = j.pitch;
      b.X_PF = j.X_PF;
      b.X_MB = j.X_BM.inverse();
      b.moves = b.parent >= 0 && s.bodies[b.parent].moves;
      for (int k = 0; k < 6; ++k) b.q[k] = j.position[k];
      bool driven = dof_count(j.kind) == 0;
      if (b.parent >= 0 && free_[b.parent])
        refuse("body", model.bodies()[i].name, "",
               fmt::format("hangs on {}, which a thread carries: make them one body",
                           model.bodies()[b.parent].name));
      for (const PrescribedMotion& m : model.motions())
        if (m.joint.value == static_cast<int>(i)) {
          b.q = m.position;
          driven = b.moves = true;
        }
      // Free of all joints: a thread has to carry it.
      free_.push_back(!driven && j.kind == JointKind::free && b.parent < 0);
      if (free_.back()) b.moves = true;
      if (!driven && !free_.back())
        refuse("body", model.bodies()[i].name, "",
               "can move: with method thread a body is fixed, every joint above it has a `motion`, or it has "
               "no joint and a thread carries it");
      s.bodies.push_back(b);
    }
  }

  void refuse_others() {
    if (model.beams().empty())
      refuse("scene", "", "beams", "has no beams: with method thread every beam is a thread");
    if (s.options.element != Element::log && model.contact())
      refuse("contact", "", "", "only the log element has contact");
    if (s.options.solver == Solver::cg && model.contact())
      refuse("contact", "", "", "contact needs the direct solver");
  }

  void mesh_options() {
    if (s.options.element != Element::log && s.options.error > 0)
      refuse("scene", "", "run.thread.error", "only the log element has an estimate of its mesh's error");
  }

  // What schemes that keep accelerations do not go with.
  void integrator() {
    const Integrator by = s.options.integrator;
    const bool lobatto = by == Integrator::lobatto;
    if (by != Integrator::alpha && !lobatto) return;
    const auto no = [&](const std::string& why) { refuse("scene", "", "run.thread.integrator", why); };
    if (s.options.levels > 0)
      no(fmt::format(
          "{} keeps the strain that a split of an element makes: a mesh that changes needs bdf2 or "
          "euler",
          to_string(by)));
    if (s.options.element != Element::log)
      no(fmt::format("{} needs the log element: the others have bdf2 and euler", to_string(by)));
    if (lobatto && s.options.solver == Solver::cg)
      no("lobatto needs the direct solver: cg has bdf2, euler, alpha");
    if (lobatto && s.options.rho < least_rho)
      refuse("scene", "", "run.thread.rho",
             fmt::format("of lobatto is at least {:.6g}: its stages meet at 0", least_rho));
    for (const Beam& b : model.beams())
      if (lobatto && b.damping > 0)
        refuse("beam", b.name, "damping",
               "lobatto has no material damping: use bdf2, euler or alpha, or `air_damping`");
  }

  // Its guard of energy is not at work where the books do not know exactly what comes in.
  void watch_energy() {
    if (s.options.integrator != Integrator::alpha && s.options.integrator != Integrator::lobatto) return;
    if (!s.energy_enters()) return;
    s.warning += (s.warning.empty() ? "" : "\n") +
                 fmt::format(
                     "{} is not kept from making energy where ends are driven, loads turn or change, or "
                     "gravity does: look at the energies, or use bdf2",
                     to_string(s.options.integrator));
  }

  Pose from_frame(const Beam& b, const std::vector<Pose>& X_WB) {
    Pose X = b.from.body.valid() ? X_WB[b.from.body.value] : Pose::identity();
    return X * Pose::translation(b.from.p);
  }

  void add_fix(int thread, const BeamClamp& clamp, int number, const std::vector<Pose>& X_WB,
               const Beam& beam) {
    const auto [fraction, at_body, hold, until] = clamp;
    const int body = at_body.value;
    if (hold == Hold::free) return;
    const ThreadInfo& t = s.threads[thread];
    const double element = fraction * t.elements;
    const int nearest = static_cast<int>(std::lround(element));
    if (std::abs(element - nearest) > 1e-6)
      return refuse(
          "beam", beam.name, "clamps",
          fmt::format("at {:.6g} there is no node: with {} elements the nodes stand at multiples of {:.6g}",
                      fraction, t.elements, 1.0 / t.elements));
    Fix f;
    f.thread = thread;
    f.place = nearest * (t.fine / t.elements);
    f.until = until;
    f.clamp = number;
    f.stretch = t.stretch;
    if (body >= 0 && free_[body]) return carry(f, hold, body, X_WB, beam);
    f.held = hold == Hold::pinned ? 0b0001u : hold == Hold::clamped ? 0b1101u : 0b1111u;
    f.body = body;
    const Pose X_WN = t.start[f.place];
    f.X_BN = body < 0 ? X_WN : X_WB[body].inverse() * X_WN;
    for (const Fix& other : s.fixes)
      if (other.thread == f.thread && other.place == f.place)
        return refuse("beam", beam.name, "clamps", fmt::format("the node at {:.6g} is held twice", fraction));
    s.fixes.push_back(f);
  }

  bool is_released(const std::string& beam, int clamp) const {
    for (const Event& e : model.events())
      for (const Action& a : e.actions)
        if (a.on == Action::On::clamp && a.name == beam && a.clamp == clamp) return true;
    return false;
  }

  // The body goes with the node.
  void carry(const Fix& at, Hold hold, int body, const std::vector<Pose>& X_WB, const Beam& beam) {
    const Body& b = model.bodies()[body];
    const Joint& j = model.joints()[body];
    if (hold == Hold::pinned)
      return refuse("beam", beam.name, "clamps",
                    fmt::format("{} is free: a thread carries it clamped or welded, not pinned", b.name));
    if (std::isfinite(at.until) || is_released(beam.name, at.clamp))
      return refuse("beam", beam.name, "clamps",
                    fmt::format("{} is carried by the thread, which does not let go of it", b.name));
    if (at.stretch != 1)
      return refuse("beam", beam.name, "rest",
                    fmt::format("{} is carried: the thread begins at its own length there", b.name));
    if (carried_body(s, body) != nullptr)
      return refuse("body", b.name, "", "is held by two clamps: a free body is carried by one");
    if (s.options.element != Element::log)
      return refuse("body", b.name, "", "only the log element carries bodies");
    if (!(b.inertia.m > 0)) return refuse("body", b.name, "", "is carried by a thread and needs a mass");
    if (b.linear_drag > 0 || b.angular_drag > 0)
      return refuse("body", b.name, "drag", "a carried body is slowed by the `air_damping` of its thread");
    const Pose& X_WN = s.threads[at.thread].start[at.place];
    Carried c;
    c.thread = at.thread, c.place = at.place, c.body = body;
    c.X_NB = X_WN.inverse() * X_WB[body];
    c.mu = carried_mass(b.inertia, c.X_NB);
    // Rates of a free joint: how M turns, in M, and how its origin moves, in the world's axes turned by F.
    const Pose X_WM = X_WB[body] * j.X_BM;
    c.turn = X_WM.R * Vec3(j.velocity[0], j.velocity[1], j.velocity[2]);
    c.velocity = j.X_PF.R * Vec3(j.velocity[3], j.velocity[4], j.velocity[5]) + c.turn.cross(X_WN.p - X_WM.p);
    s.carried.push_back(c);
  }

  void all_carried() {
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i] && carried_body(s, static_cast<int>(i)) == nullptr)
        refuse(
            "body", model.bodies()[i].name, "",
            "can move freely: with method thread a body is fixed, every joint above it has a `motion`, or a "
            "thread carries it (`clamps` or `from` of a beam)");
  }

  // An element's field is a cubic between its ends: a corner of up to 50 degrees converges to that of exact
  // rods, a sharper one gives way on every mesh (against method chain: 3e-4 of the length at 50 degrees, 3e-2
  // at 60).
  void refuse_corners(const Beam& beam) {
    constexpr double most = 50 * pi / 180;
    const bool own = beam.rest && beam.rest->path;
    const auto* line = std::get_if<PolylinePath>(own ? &*beam.rest->path : &beam.path);
    if (!line || beam.straight) return;
    for (std::size_t i = 1; i + 1 < line->points.size(); ++i) {
      const Vec3 before = line->points[i] - line->points[i - 1],
                 after = line->points[i + 1] - line->points[i];
      const double turn = math::atan2(before.cross(after).norm(), before.dot(after));
      if (turn <= most) continue;
      return refuse(
          "beam", beam.name, own ? "rest" : "path",
          fmt::format("has a corner of {:.0f} deg; a thread takes up to 50: round it (methods chain "
                      "and articulated have corners)",
                      turn * 180 / pi));
    }
  }

  // Where the nodes' axes are at ease: on a path of its own, or on the same one, longer or shorter.
  void lay_at_ease(const Beam& beam, ThreadInfo& t) {
    const Pose to_principal = Pose::rotation(math::rotation_x(t.rod.angle));
    if (beam.rest && beam.rest->path) {
      const elastic::BeamFrames frames(*beam.rest->path, beam.rest->up);
      for (int i = 0; i <= t.fine; ++i)
        t.ease.push_back(frames.at(static_cast<double>(i) / t.fine) * to_principal);
      return;
    }
    t.ease = t.start;
    if (t.stretch != 1)
      for (Pose& X : t.ease) X.p /= t.stretch;
  }

  void thread(const Beam& beam, const std::vector<Pose>& X_WB) {
    if (beam.from.beam.valid())
      return refuse("beam", beam.name, "from", "a thread starts from the world or a body");
    ThreadInfo t;
    t.name = beam.name;
    t.rod = make_rod(model[beam.material], model[beam.section].shape);
    t.rod.damping = beam.damping;
    t.rod.air = beam.air_damping;
    if (!(t.rod.nu < 0.4999 && t.rod.nu > -0.99))
      return refuse(
          "material", model[beam.material].name, "nu",
          fmt::format("a thread's section strains: it needs -0.99 < nu < 0.4999, got {:.6g}", t.rod.nu));
    const elastic::BeamFrames frames(beam.path, beam.up);
    t.length = rest_length(beam);
    t.stretch = changes_length(beam) ? frames.length() / t.length : 1;
    t.elements = beam.elements;
    t.fine = beam.elements << s.options.levels;
    t.unit = t.length / t.fine;
    t.straight = beam.straight;
    t.velocity = beam.velocity;
    if (t.length / t.elements < 0.05 * t.rod.radius)
      refuse("beam", beam.name, "elements",
             fmt::format("elements of {:.3g} m are much shorter than the section is wide ({:.3g} m)",
                         t.length / t.elements, 2 * t.rod.radius));
    const Pose X_WS = from_frame(beam, X_WB);
    const Pose to_principal = Pose::rotation(math::rotation_x(t.rod.angle));  // the path is of centroids
    for (int i = 0; i <= t.fine; ++i)
      t.start.push_back(X_WS * frames.at(static_cast<double>(i) / t.fine) * to_principal);
    lay_at_ease(beam, t);
    refuse_corners(beam);
    for (int k = 0; k <= s.options.levels; ++k)
      t.level.push_back(element_stiffness(t.rod, t.length / (t.elements << k)));
    set_outline(model[beam.section].shape, t);
    s.damps = s.damps || beam.damping > 0;
    if (s.options.element != Element::log) {
      const bool line = std::holds_alternative<PolylinePath>(beam.path) &&
                        std::get<PolylinePath>(beam.path).points.size() == 2;
      if (!line && !beam.straight)
        refuse("beam", beam.name, "path", "only the log element has curved rest shapes");
      if (beam.rest) refuse("beam", beam.name, "rest", "only the log element has rest shapes");
      if (beam.damping > 0) refuse("beam", beam.name, "damping", "only the log element has material damping");
    }
    s.threads.push_back(std::move(t));
    const int index = static_cast<int>(s.threads.size()) - 1;
    add_fix(index, {0, beam.from.body, beam.root}, -1, X_WB, beam);
    for (std::size_t c = 0; c < beam.clamps.size(); ++c)
      add_fix(index, beam.clamps[c], static_cast<int>(c), X_WB, beam);
  }

  void cuts() {
    for (const Change& c : model.changes()) {
      const ThreadInfo& t = s.threads[c.beam.value];
      const double element = c.s * t.elements;
      const int nearest = static_cast<int>(std::lround(element));
      if (std::abs(element - nearest) > 1e-6 || nearest <= 0 || nearest >= t.elements) {
        refuse(
            "change", t.name, "cut",
            fmt::format("at {:.6g} there is no node inside: with {} elements the nodes stand at multiples of "
                        "{:.6g}",
                        c.s, t.elements, 1.0 / t.elements));
        continue;
      }
      s.cuts.push_back({c.beam.value, nearest * (t.fine / t.elements), c.at});
    }
    std::stable_sort(s.cuts.begin(), s.cuts.end(), [](const Cut& a, const Cut& b) { return a.at < b.at; });
    for (const Cut& a : s.cuts)
      for (const Cut& b : s.cuts)
        if (&a < &b && a.thread == b.thread && a.place == b.place)
          refuse("change", s.threads[a.thread].name, "cut", "is cut twice at the same place");
  }

  void contact() {
    if (!model.contact()) return;
    s.contact = true;
    s.self_contact = model.contact()->self;
    for (const limber::Plane& p : model.contact()->planes)
      s.solids.push_back({-1, contact::HalfSpace{}, {math::rotation_from_z(p.normal.normalized()), p.at}, 0});
    for (std::size_t i = 0; i < model.bodies().size(); ++i)
      for (const Shape& shape : model.bodies()[i].shapes) {
        if (free_[i]) {
          s.warning =
              fmt::format("{} is carried by a thread: its shapes touch nothing", model.bodies()[i].name);
          continue;
        }
        const contact::Geometry g = contact::geometry_of(shape.geometry);
        s.solids.push_back({static_cast<int>(i), g, shape.X_BG, 0});
      }
    for (int t = 0; t < static_cast<int>(s.threads.size()); ++t) {
      const Surface own{world, BeamId{t}};
      for (const BodySolid& b : s.solids) s.friction.push_back(model.friction_of(own, {BodyId{b.body}, {}}));
      for (int k = 0; k < static_cast<int>(s.threads.size()); ++k)
        s.friction.push_back(model.friction_of(own, {world, BeamId{k}}));
    }
  }

  // From a clamp outwards, as far as the thread lies in a solid at t = 0.
  void spare(const std::vector<Pose>& X_WB) {
    for (const Fix& f : s.fixes) {
      const ThreadInfo& t = s.threads[f.thread];
      const double r = t.rod.radius;
      for (std::size_t k = 0; k < s.solids.size(); ++k) {
        const BodySolid& b = s.solids[k];
        const contact::Solid solid{b.geometry, b.body < 0 ? b.X_BG : X_WB[b.body] * b.X_BG};
        const auto inside = [&](int place) {
          return place >= 0 && place <= t.fine && contact::distance(solid, t.start[place].p).value < 1.05 * r;
        };
        if (!inside(f.place)) continue;
        int lo = f.place, hi = f.place;
        while (inside(lo - 1)) --lo;
        while (inside(hi + 1)) ++hi;
        s.spared.push_back({f.thread, static_cast<int>(k), lo * t.unit - r, hi * t.unit + r});
      }
    }
  }

  void loads() {
    for (const PointLoad& l : model.point_loads()) {
      if (!l.at.beam.valid()) {  // on a body: one that is held does not feel it
        if (l.at.body.valid() && free_[l.at.body.value])
          s.body_loads.push_back({l.at.body.value, l.at.p, l.force, l.moment, l.follows});
        continue;
      }
      s.loads.push_back({l.at.beam.value, l.at.s, l.at.p, l.force, l.moment, l.follows});
    }
    for (const DistributedLoad& l : model.distributed_loads())
      s.line_loads.push_back({l.beam.value, l.s0, l.s1, l.force_per_length, l.follows});
    for (const Spring& k : model.springs()) {
      const Attachment *on = &k.a, *other = &k.b;
      if (!on->beam.valid()) std::swap(on, other);
      if (!on->beam.valid() || other->beam.valid()) {
        refuse("spring", k.name, "between",
               "with method thread one end is on a thread, the other on a body or the world");
        continue;
      }
      if (s.options.element != Element::log) refuse("spring", k.name, "", "only the log element has springs");
      const Vec3 arm = math::rotation_x(-s.threads[on->beam.value].rod.angle) * on->p;
      Tether t{on->beam.value, on->s, arm, other->body.value, other->p, elastic::law_of(k)};
      if (t.body >= 0 && free_[t.body])
        refuse("spring", k.name, "between",
               "hangs on a body that a thread carries: on the world or a held body");
      if (k.damping > 0 && t.body >= 0 && s.bodies[t.body].moves)
        refuse("spring", k.name, "damping", "a damped spring of a thread hangs on something that rests");
      s.tethers.push_back(t);
    }
  }

  void rest_lengths(const State& start) {
    if (s.tethers.empty()) return;
    WorkspaceData w(s);
    set_mesh(s, start, w);
    s.poses(0, w.X_WB);
    for (std::size_t i = 0; i < s.tethers.size(); ++i) {
      Tether& t = s.tethers[i];
      t.law.rest_length = elastic::rest_length_of(
          model.springs()[i], tether_point(s, start, start.e.data(), t, w), tether_anchor(t, w));
    }
  }
};

void make_pieces(SystemData& s) {
  for (int t = 0; t < static_cast<int>(s.threads.size()); ++t) {
    const ThreadInfo& info = s.threads[t];
    std::vector<int> ends{0, info.fine};
    for (const Cut& c : s.cuts)
      if (c.thread == t) ends.push_back(c.place);
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const int places = ends[i + 1] - ends[i], elements = places / (info.fine / info.elements);
      s.pieces.push_back({t, ends[i], ends[i + 1], 4 * elements * (s.options.levels > 0 ? 2 : 1) + 1,
                          static_cast<int>(info.outline.size() + 1) * (places + 1)});
    }
  }
}

void lay_out(SystemData& s) {
  const Model& model = s.model;
  s.layout.title = model.title();
  observe::add_bodies(model, s.layout);
  make_pieces(s);
  int last = -1, number = 1;
  for (const Piece& p : s.pieces) {
    const ThreadInfo& t = s.threads[p.thread];
    number = p.thread == last ? number + 1 : 1;
    last = p.thread;
    const std::string name = number == 1 ? t.name : fmt::format("{}.{}", t.name, number);
    s.layout.polylines.push_back({name, p.samples, t.rod.radius, {}, t.outline});
    // Two stripes along the surface show the twist, rings around it the mesh.
    constexpr Color stripe{0.9f, 0.9f, 0.92f}, ring{0.02f, 0.08f, 0.45f};
    s.layout.polylines.push_back({name + ".stripe", p.samples, 0.25 * t.rod.radius, stripe});
    s.layout.polylines.push_back({name + ".stripe2", p.samples, 0.25 * t.rod.radius, stripe});
    s.layout.polylines.push_back({name + ".rings", p.rings, 0.1 * t.rod.radius, ring});
  }
  observe::add_springs(model, s.layout);
  s.columns = observe::columns_for(model, Question::thread_run);
  observe::add_columns(model, s.columns, s.layout);
}

void measure(SystemData& s) {
  for (BodySolid& b : s.solids)
    if (b.body >= 0 && s.bodies[b.body].moves) b.reach = reach_of(b.geometry), s.driven_solids = true;
  Eigen::AlignedBox3d box;
  s.smallest_radius = s.threads[0].rod.radius;
  for (const ThreadInfo& t : s.threads) {
    for (const Pose& X : t.start) box.extend(X.p);
    s.smallest_radius = std::min(s.smallest_radius, t.rod.radius);
    s.size = std::max(box.diagonal().norm(), t.length);
  }
}

}  // namespace

const char* to_string(Integrator integrator) {
  constexpr const char* names[] = {"bdf2", "euler", "alpha", "lobatto"};
  return names[static_cast<int>(integrator)];
}
const char* to_string(Element element) {
  constexpr const char* names[] = {"log", "printed", "green"};
  return names[static_cast<int>(element)];
}
const char* to_string(Frame frame) { return frame == Frame::chord ? "chord" : "polar"; }
const char* to_string(Solver solver) { return solver == Solver::direct ? "direct" : "cg"; }

std::size_t SystemData::point_count(const Piece& p) const {
  return 3 * static_cast<std::size_t>(p.samples) + static_cast<std::size_t>(p.rings);
}

void SystemData::poses(double t, std::vector<Pose>& X_WB) const {
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const DrivenBody& b = bodies[i];
    DofArray q{};
    for (int k = 0; k < dof_count(b.kind); ++k) q[k] = b.q[k].value(t);
    const Pose X_PB = b.X_PF * joint_pose(b.kind, b.pitch, q) * b.X_MB;
    X_WB[i] = b.parent < 0 ? X_PB : X_WB[b.parent] * X_PB;
  }
}

namespace {

// At the start: what is pushed apart is told, what nothing could push apart is refused.
void tell_overlap(SystemData& s, const State& start, WorkspaceData& w) {
  bool crossed = false;
  const std::string text = overlap_text(s, start, w, &crossed);
  if (text.empty()) return;
  if (crossed)
    throw ModelError({Problem{"scene", "", "contact",
                              "at the start " + text +
                                  ": one runs through the other, and nothing says to which "
                                  "side it belongs"}});
  s.warning += (s.warning.empty() ? "" : "\n") + ("at the start " + text) +
               ": they are pushed apart, at most a fifth of it a step";
}

}  // namespace

System compile(const Model& model, const Options& options) {
  auto data = std::make_shared<SystemData>(model);
  SystemData& s = *data;
  s.options = options;
  require(model, Question::thread_run);
  Compiler c{s.model, s, {}};
  c.refuse_others();
  c.mesh_options();
  c.integrator();
  c.bodies();
  if (!c.problems.empty()) throw ModelError(std::move(c.problems));
  std::vector<Pose> X_WB(s.bodies.size());
  s.poses(0, X_WB);
  for (const Beam& b : s.model.beams()) c.thread(b, X_WB);
  c.all_carried();
  if (!c.problems.empty()) throw ModelError(std::move(c.problems));
  c.cuts();
  c.contact();
  c.spare(X_WB);
  c.loads();
  c.watch_energy();
  if (!c.problems.empty()) throw ModelError(std::move(c.problems));
  c.rest_lengths(System(data).rest());
  measure(s);
  lay_out(s);
  const System system(data);
  Workspace w(system);
  const State start = system.rest();
  s.energy0 = energy(system, start, w).total();
  if (s.contact) tell_overlap(s, start, w.data());
  return system;
}

System after(const System& compiled, std::span<const Done> actions) {
  auto data = std::make_shared<SystemData>(compiled.data());
  for (const Done& done : actions)
    for (Fix& f : data->fixes)
      if (done.action.on == Action::On::clamp && f.clamp == done.action.clamp &&
          data->model.beams()[f.thread].name == done.action.name)
        f.until = std::min(f.until, done.t);
  return System(std::move(data));
}

}  // namespace limber::thread
