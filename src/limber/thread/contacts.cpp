// Which places of threads touch: capsules along the midline, pairs that may meet in a step, contacts among
// them.
//
// An element becomes one to eight capsules, by how much it bends. Contacts are linearised where they are
// found: at the end of the motion that the forces of the last step or iteration give. After the new forces
// are known the motion is looked at again and what overlaps there is added (not put in place of the others),
// at most `most_passes` times. A step moves nothing by more than `bound`, below the strands' thickness, and
// the pairs cover every motion within it: so nothing can cross unseen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/contact/segments.h"
#include "limber/thread/midline_places.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

constexpr int most_parts = 8, most_passes = 5;
constexpr double off_line = 0.03;   // of the radius: how far a capsule may be from the midline, about
constexpr double slack = 0.1;       // of the radius: pairs this close are looked at
constexpr double close = 0.002;     // of the sum of radii: contacts this close enter the system
constexpr double allowed = 0.004;   // of the sum of radii: overlap that needs no other pass
constexpr double too_deep = 0.015;  // … that divides the step
constexpr double flat =
    0.001;  // of the radius: a place between two ends that is no more closer than this is left out
constexpr double noted_overlap = 0.05;  // of the smallest radius: more than this at the start is told
constexpr double recovery = 0.2;        // of an overlap at the beginning is taken back in a step,
constexpr double gentle = 0.02;         // and of the radius at most: what pushes apart gives speed
// Square of the sine between two threads: below, they are side by side; from the second on they cross.
constexpr double along_below = 0.25, across_from = 0.75;
constexpr double plainly = 1e-3;        // cosine between a strand and the way to the other
constexpr double crossed_at = 0.9;      // of the sum of radii: deeper, and no side is that of a strand
constexpr double farthest_step = 0.95;  // of the smallest radius, that a step moves where something may touch

double turn_between(const double* e, int slot) {
  const Eigen::Map<const Vec3> a(e + 12 * slot + 3), b(e + 12 * (slot + 1) + 3), x(e + 12 * slot),
      y(e + 12 * (slot + 1));
  const Vec3 chord = y - x;
  const double c = chord.norm() + 1e-300;
  return (a.cross(chord)).norm() / (a.norm() * c) + (chord.cross(b)).norm() / (b.norm() * c) +
         (a.dot(chord) < 0 ? 2 : 0) + (b.dot(chord) < 0 ? 2 : 0);
}

void place_capsules(const double* e, const WorkspaceData& w, const ContactWork& c, std::vector<Vec3>& p,
                    std::vector<Vec3>& q) {
  p.resize(c.capsules.size());
  q.resize(c.capsules.size());
  for (std::size_t i = 0; i < c.capsules.size(); ++i) {
    const Capsule& k = c.capsules[i];
    const bool joins = i > 0 && k.xi0 > 0;
    p[i] = joins ? q[i - 1] : midline_point(e, k.slot, w.length[k.slot], k.xi0);
    q[i] = midline_point(e, k.slot, w.length[k.slot], k.xi1);
  }
}

// A chord of a bend is off the midline by length x turn / 8, and its parts by the square of their share.
int parts_of(double sag, double radius) {
  const double wanted = std::sqrt(sag / (off_line * radius));
  return wanted < most_parts ? std::max(1, static_cast<int>(std::ceil(wanted))) : most_parts;
}

// Raises each slot's sag to that at the coordinates e; true if it takes more capsules than before.
bool raise_sag(const SystemData& s, int nodes, const double* e, WorkspaceData& w) {
  bool more = false;
  for (int j = 0; j < nodes; ++j) {
    if (w.length[j] == 0) continue;
    double& sag = w.contact.sag[j];
    const double now = w.length[j] * std::min(turn_between(e, j), 4.0) / 8;
    if (now <= sag) continue;
    const double radius = s.threads[w.thread_of[j]].rod.radius;
    more = more || parts_of(now, radius) > parts_of(sag, radius);
    sag = now;
  }
  return more;
}

// Capsules by each slot's sag, at the coordinates e.
void cut_capsules(const SystemData& s, const State& state, const double* e, WorkspaceData& w) {
  ContactWork& c = w.contact;
  c.capsules.clear();
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    const ThreadInfo& info = s.threads[t];
    for (int j = state.first[t]; j + 1 < state.first[t + 1]; ++j) {
      const double l = w.length[j], start = state.place[j] * info.unit;
      if (l == 0) continue;  // cut
      const int parts = parts_of(c.sag[j], info.rod.radius);
      for (int k = 0; k < parts; ++k) {
        const double a = static_cast<double>(k) / parts, b = static_cast<double>(k + 1) / parts;
        c.capsules.push_back({.slot = j,
                              .part = k,
                              .thread = static_cast<int>(t),
                              .xi0 = a,
                              .xi1 = b,
                              .s0 = start + a * l,
                              .s1 = start + b * l,
                              .off = 1.5 * c.sag[j] / (parts * parts),
                              .last = w.length[j + 1] == 0 && k + 1 == parts});
      }
    }
  }
  place_capsules(e, w, c, c.p0, c.q0);
  // Lengths along each thread as it is now.
  double along = 0;
  for (std::size_t i = 0; i < c.capsules.size(); ++i) {
    c.capsules[i].a0 = along;
    c.capsules[i].a1 = along += (c.q0[i] - c.p0[i]).norm();
  }
}

double radius_of(const SystemData& s, const Capsule& c) { return s.threads[c.thread].rod.radius; }

// Too near along the same thread: a thread of this thickness cannot fold back sooner than in half a circle of
// its own radius. Lengths are those of now: a blow may press a soft thread to half its length, and what lies
// behind each other along it is no contact.
bool neighbours(const SystemData& s, const Capsule& a, const Capsule& b) {
  return a.thread == b.thread && std::max(a.a0, b.a0) - std::min(a.a1, b.a1) < pi * radius_of(s, a);
}

bool is_spared(const SystemData& s, const Capsule& c, int solid) {
  for (const Spared& x : s.spared)
    if (x.solid == solid && x.thread == c.thread && c.s0 < x.s1 && c.s1 > x.s0) return true;
  return false;
}

void make_pairs(const SystemData& s, double bound, ContactWork& c) {
  const int n = static_cast<int>(c.capsules.size());
  c.tree.resize(n);
  for (int i = 0; i < n; ++i) {
    const Vec3 grow = Vec3::Constant(radius_of(s, c.capsules[i]) * (1 + slack) + c.capsules[i].off + bound);
    c.tree.box(i) = {c.p0[i].cwiseMin(c.q0[i]) - grow, c.p0[i].cwiseMax(c.q0[i]) + grow};
  }
  c.tree.refit();
  c.pairs.clear();
  c.low = n > 0 ? c.capsules[n - 1].slot + 1 : 0, c.high = -1;
  const auto keep = [&](int i, int k) {
    c.pairs.push_back({i, k});
    for (const int capsule : {i, k}) {
      if (capsule < 0) continue;
      c.low = std::min(c.low, c.capsules[capsule].slot);
      c.high = std::max(c.high, c.capsules[capsule].slot + 1);
    }
  };
  if (s.self_contact)
    c.tree.self_pairs([&](int i, int k) {
      if (neighbours(s, c.capsules[i], c.capsules[k])) return;
      const double reach =
          radius_of(s, c.capsules[i]) + radius_of(s, c.capsules[k]) + c.capsules[i].off + c.capsules[k].off;
      if (contact::closest(c.p0[i], c.q0[i], c.p0[k], c.q0[k]).distance < reach * (1 + slack) + 2 * bound)
        keep(i, k);
    });
  for (std::size_t k = 0; k < c.solids0.size(); ++k) {
    contact::Bounds b = contact::bounds(c.solids0[k]);
    const contact::Bounds b1 = contact::bounds(c.solids1[k]);
    b = {b.low.cwiseMin(b1.low), b.high.cwiseMax(b1.high)};
    c.tree.query(b, [&](int i) {
      if (is_spared(s, c.capsules[i], static_cast<int>(k))) return;
      const double d = std::min(contact::closest(c.solids0[k], c.p0[i], c.q0[i]).distance.value,
                                contact::closest(c.solids1[k], c.p0[i], c.q0[i]).distance.value);
      if (d < radius_of(s, c.capsules[i]) * (1 + slack) + c.capsules[i].off + bound)
        keep(i, -1 - static_cast<int>(k));
    });
  }
}

void tangents(const Vec3& n, Vec3& t1, Vec3& t2) {
  int least = 0;
  for (int i = 1; i < 3; ++i)
    if (std::abs(n[i]) < std::abs(n[least])) least = i;
  t1 = n.cross(Vec3::Unit(least)).normalized();
  t2 = n.cross(t1);
}

TouchSide side(const double* e, const WorkspaceData& w, int slot, double xi, const Vec3& offset) {
  TouchSide out;
  out.slot = slot;
  out.xi = xi;
  const auto line = hermite(xi, w.length[slot]);
  std::copy(line.begin(), line.end(), out.line);
  Vec3 d[2];
  for (int a = 0; a < 2; ++a)
    for (int i = 0; i < 3; ++i)
      d[a][i] = (1 - xi) * e[12 * slot + 6 + 3 * a + i] + xi * e[12 * (slot + 1) + 6 + 3 * a + i];
  for (int a = 0; a < 2; ++a) {
    const double y = offset.dot(d[a]) / d[a].squaredNorm();
    out.section[a] = (1 - xi) * y;
    out.section[2 + a] = xi * y;
  }
  return out;
}

// Motion of a side's surface point when the coordinates change by `change`.
Vec3 surface_motion(const TouchSide& t, const double* from, const double* to) {
  Vec3 out = Vec3::Zero();
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i) {
      const int at = 12 * (t.slot + k) + i;
      out[i] += t.line[2 * k] * (to[at] - from[at]) + t.line[2 * k + 1] * (to[at + 3] - from[at + 3]) +
                t.section[2 * k] * (to[at + 6] - from[at + 6]) +
                t.section[2 * k + 1] * (to[at + 9] - from[at + 9]);
    }
  return out;
}

Vec3 line_motion(const TouchSide& t, const double* from, const double* to) {
  Vec3 out = Vec3::Zero();
  for (int k = 0; k < 2; ++k)
    for (int i = 0; i < 3; ++i) {
      const int at = 12 * (t.slot + k) + i;
      out[i] += t.line[2 * k] * (to[at] - from[at]) + t.line[2 * k + 1] * (to[at + 3] - from[at + 3]);
    }
  return out;
}

struct Finder {
  const SystemData& s;
  const State& state;
  WorkspaceData& w;
  const double* now;  // coordinates at the end of the motion so far
  bool first_pass;
  double deepest = 0;  // overlap beyond what was there at the beginning, of the sum of radii
  double whole = 0;    // overlap, of the sum of radii
  double overlap = 0;  // of the thickness of the thinner one

  double place(const Capsule& c, double s_) const { return c.xi0 + s_ * (c.xi1 - c.xi0); }

  // True if the neighbour that shares this end reports the same place.
  static bool shared(const Capsule& c, double xi) { return xi >= c.xi1 && !c.last; }

  void add(Touch t, const Vec3& apart, double reach, double start_gap) {
    tangents(t.n, t.t1, t.t2);
    const double gap = t.n.dot(apart) - reach;
    const double radius = s.threads[w.thread_of[t.a.slot]].rod.radius;
    const double back = start_gap < 0 ? std::min(start_gap + gentle * radius, (1 - recovery) * start_gap) : 0;
    // Overlaps that passes leave must not add up: the more there was, the less may come. What they allow and
    // what is taken back meet at 0.01.
    const double share = std::clamp(1 + start_gap / (0.02 * reach), 0.25, 1.0);
    deepest = std::max(deepest, (back - gap) / (share * reach));
    whole = std::max(whole, -gap / reach);
    Vec3 moved = line_motion(t.a, w.e.data(), now);
    t.slip0 += surface_motion(t.a, state.e.data(), w.e.data());
    if (t.b.slot >= 0) {
      moved -= line_motion(t.b, w.e.data(), now);
      t.slip0 -= surface_motion(t.b, state.e.data(), w.e.data());
    }
    t.free_gap = gap - back - t.n.dot(moved);
    w.contact.touches.push_back(t);
  }

  // Whether strands that cross are closer in the capsule before i than at i's beginning, and plainly so: then
  // that one has the place. At its own end it leaves the place to this one.
  bool closer_before(int i, int k, double xi, double xk) const {
    const ContactWork& c = w.contact;
    const Capsule &a = c.capsules[i], &b = c.capsules[k];
    if (xi > a.xi0 || i == 0 || c.capsules[i - 1].thread != a.thread || c.capsules[i - 1].last) return false;
    if (neighbours(s, c.capsules[i - 1], b)) return false;
    const Curve p = curve(now, a.slot, w.length[a.slot], xi), q = curve(now, b.slot, w.length[b.slot], xk);
    const Vec3 d = p.x - q.x;
    return d.dot(p.d) > plainly * d.norm() * p.d.norm();
  }

  void pair(int i, int k) {
    ContactWork& c = w.contact;
    const Capsule &a = c.capsules[i], &b = c.capsules[k];
    const double reach = radius_of(s, a) + radius_of(s, b);
    const contact::SegmentPair end = contact::closest(c.p1[i], c.q1[i], c.p1[k], c.q1[k]);
    const double within = reach * (first_pass ? 1 + close : 1 - 0.5 * allowed);
    if (end.distance > (first_pass ? within : reach) + a.off + b.off) return;
    double xa = end.s >= 1 ? a.xi1 : place(a, end.s), xb = end.t >= 1 ? b.xi1 : place(b, end.t);
    // Threads that cross touch where their midlines are closest, which moves evenly along either of them.
    // Where strands run side by side, and in a knot, the contacts that carry stay where the capsules put
    // them: places that follow every small motion kept them from coming to rest. Later passes look for the
    // deepest place.
    const double chord_a = xa, chord_b = xb, across = refine(now, w, a, b, xa, xb);
    if (first_pass) {
      const double share = a.thread == b.thread
                               ? 0
                               : std::clamp((across - along_below) / (across_from - along_below), 0.0, 1.0);
      if (share > 0.5 && (closer_before(i, k, xa, xb) || closer_before(k, i, xb, xa))) return;
      xa = chord_a + share * (xa - chord_a), xb = chord_b + share * (xb - chord_b);
    }
    if (shared(a, xa) || shared(b, xb)) return;
    const Vec3 apart =
        midline_point(now, a.slot, w.length[a.slot], xa) - midline_point(now, b.slot, w.length[b.slot], xb);
    const Vec3 before = midline_point(state.e.data(), a.slot, w.length[a.slot], xa) -
                        midline_point(state.e.data(), b.slot, w.length[b.slot], xb);
    const double far = apart.norm();
    overlap = std::max(overlap, (reach - far) / (2 * std::min(radius_of(s, a), radius_of(s, b))));
    if (far > within) return;
    Touch t;
    // The side on which the strands were decides, not the one to which a long motion would carry them.
    t.n = far > 0.2 * reach && apart.dot(before) > 0 ? Vec3(apart / far) : Vec3(before.normalized());
    t.a = side(now, w, a.slot, xa, -radius_of(s, a) * t.n);
    t.b = side(now, w, b.slot, xb, radius_of(s, b) * t.n);
    add(t, apart, reach, before.norm() - reach);
  }

  // A thread that lies along a face touches it with the ends of its capsules, all of them: a single place
  // in each would jump from one end to the other by the smallest motion, and its force with it. A place
  // between the ends counts where it is closer than both.
  void solid(int i, int k) {
    ContactWork& c = w.contact;
    const Capsule& a = c.capsules[i];
    const double r = radius_of(s, a), within = r * (first_pass ? 1 + close : 1 - 0.5 * allowed);
    const contact::SegmentTouch end = contact::closest(c.solids1[k], c.p1[i], c.q1[i]);
    if (end.distance.value > (first_pass ? within : r) + a.off) return;
    solid_at(a, k, a.xi0, within);
    const double ends = std::min(contact::distance(c.solids1[k], c.p1[i]).value,
                                 contact::distance(c.solids1[k], c.q1[i]).value);
    if (end.distance.value < ends - flat * r) solid_at(a, k, place(a, end.s), within);
    if (a.last) solid_at(a, k, a.xi1, within);
  }

  void solid_at(const Capsule& a, int k, double xa, double within) {
    ContactWork& c = w.contact;
    const double r = radius_of(s, a);
    const Vec3 x = midline_point(now, a.slot, w.length[a.slot], xa);
    const contact::Distance d = contact::distance(c.solids1[k], x);
    overlap = std::max(overlap, (r - d.value) / (2 * r));
    if (d.value > within) return;
    const Vec3 x0 = midline_point(state.e.data(), a.slot, w.length[a.slot], xa);
    const contact::Distance d0 = contact::distance(c.solids0[k], x0);
    Touch t;
    t.n = d.normal;
    t.a = side(now, w, a.slot, xa, -r * t.n);
    t.other = -1 - k;
    // What the solid's surface does by itself in the step.
    const Vec3 at0 = d0.normal * -r + x0;
    const Pose &X0 = c.solids0[k].X_WG, &X1 = c.solids1[k].X_WG;
    t.carried = X1 * (X0.inverse() * at0) - at0;
    t.slip0 = -t.carried;
    add(t, d.value * t.n, r, d0.value - r);
  }

  void all() {
    for (const auto& [i, k] : w.contact.pairs)
      if (k >= 0)
        pair(i, k);
      else
        solid(i, -1 - k);
  }
};

void place_solids(const SystemData& s, const std::vector<Pose>& X_WB, std::vector<contact::Solid>& out) {
  out.resize(s.solids.size());
  for (std::size_t k = 0; k < s.solids.size(); ++k) {
    const BodySolid& b = s.solids[k];
    out[k] = {b.geometry, b.body < 0 ? b.X_BG : X_WB[b.body] * b.X_BG};
  }
}

}  // namespace

// Bytes of a state may say anything: what does not fit is left out.
void take_last(const SystemData& s, const State& state, const WorkspaceData& w, ContactWork& c) {
  c.last.clear();
  const auto slot_of = [&](double x) {
    return x >= 0 && x < state.node_count() - 1 && w.length[static_cast<int>(x)] > 0 ? static_cast<int>(x)
                                                                                     : -1;
  };
  for (std::size_t k = 0; k + LastTouch::size <= state.touch.size(); k += LastTouch::size) {
    const double* x = state.touch.data() + k;
    LastTouch t;
    t.a = slot_of(x[0]);
    const bool solid = x[1] < 0 && -1 - x[1] < static_cast<double>(s.solids.size());
    t.b = solid ? static_cast<int>(x[1]) : slot_of(x[1]);
    t.xi_a = x[2], t.xi_b = x[3];
    t.force = Vec3(x[4], x[5], x[6]);
    const bool inside = t.xi_a >= 0 && t.xi_a <= 1 && (solid || (t.xi_b >= 0 && t.xi_b <= 1));
    if (t.a >= 0 && (solid || t.b >= 0) && inside && t.force.allFinite()) c.last.push_back(t);
  }
}

namespace {

// Directions and weights of the last contacts at the coordinates e.
void place_last(const SystemData& s, const double* e, WorkspaceData& w) {
  ContactWork& c = w.contact;
  c.last_touches.clear();
  for (const LastTouch& last : c.last) {
    Touch t;
    const Vec3 x = midline_point(e, last.a, w.length[last.a], last.xi_a);
    if (last.b < 0) {
      t.n = contact::distance(c.solids1[-1 - last.b], x).normal;
    } else {
      const Vec3 apart = x - midline_point(e, last.b, w.length[last.b], last.xi_b);
      t.n = apart.squaredNorm() > 0 ? Vec3(apart.normalized()) : Vec3(Vec3::UnitZ());
      t.b = side(e, w, last.b, last.xi_b, s.threads[w.thread_of[last.b]].rod.radius * t.n);
    }
    t.a = side(e, w, last.a, last.xi_a, -s.threads[w.thread_of[last.a]].rod.radius * t.n);
    tangents(t.n, t.t1, t.t2);
    c.last_touches.push_back(t);
  }
}

void remember(ContactWork& c) {
  c.last.clear();
  for (std::size_t k = 0; k < c.touches.size(); ++k) {
    const double* x = c.lambda.data() + 4 * k;
    if (x[0] <= 0) continue;
    const Touch& t = c.touches[k];
    c.last.push_back({t.a.slot, t.b.slot >= 0 ? t.b.slot : t.other, t.a.xi, t.b.xi,
                      x[0] * t.n + x[1] * t.t1 + x[2] * t.t2});
  }
}

}  // namespace

void prepare_contacts(const SystemData& s, const State& state, double h, WorkspaceData& w) {
  ContactWork& c = w.contact;
  s.poses(state.t, c.X0);
  s.poses(state.t + h, c.X1);
  place_solids(s, c.X0, c.solids0);
  place_solids(s, c.X1, c.solids1);
  for (std::size_t i = 0; i < state.e.size(); ++i) w.e_try[i] = state.e[i] + h * state.v[i];
  std::fill(c.sag.begin(), c.sag.end(), 0.0);
  raise_sag(s, state.node_count(), state.e.data(), w);
  raise_sag(s, state.node_count(), w.e_try.data(), w);
  cut_capsules(s, state, state.e.data(), w);
  double fastest = 0;
  for (int j = 0; j < state.node_count(); ++j)
    fastest = std::max(fastest, Eigen::Map<const Vec3>(state.v.data() + 12 * j).squaredNorm());
  double way = std::sqrt(fastest) * h;
  for (std::size_t k = 0; k < c.solids0.size(); ++k)
    way = std::max(way, farthest(c.solids0[k].X_WG, c.solids1[k].X_WG, s.solids[k].reach));
  look_within(s, 1.5 * way + 0.1 * s.smallest_radius, c);
  take_last(s, state, w, c);
  c.touches.clear();
  c.friction_work = c.solid_work = 0;
  c.residual = c.cone_violation = c.overlap = 0;
}

void look_within(const SystemData& s, double bound, ContactWork& c) {
  c.bound = bound;
  make_pairs(s, bound, c);
  const double most = farthest_step * s.smallest_radius;
  if (c.pairs.empty() || bound <= most) return;
  c.bound = most;
  make_pairs(s, most, c);
}

bool nothing_near(const SystemData& s, const State& state, double h, WorkspaceData& w) {
  std::copy_n(state.e.begin(), 12 * static_cast<std::size_t>(state.node_count()), w.e_try.begin());
  prepare_contacts(s, state, h, w);
  return w.contact.pairs.empty() && state.touch.empty();
}

bool resolve_contacts(const SystemData& s, const State& state, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int nodes = state.node_count();
  c.touches.clear();
  c.friction_work = c.solid_work = 0;
  c.residual = c.cone_violation = 0;
  std::copy_n(w.delta.begin(), 12 * nodes, c.free_motion.begin());
  // Contacts are looked for where the last forces lead, which is close to where the step ends.
  bool predicted = !c.last.empty();
  if (predicted) {
    place_last(s, w.e.data(), w);
    apply_last_forces(c.last_touches, nodes, w);
  }
  for (int pass = 0;; ++pass) {
    to_world(w, nodes, w.delta.data(), w.scratch.data());
    for (int i = 0; i < 12 * nodes; ++i) w.e_try[i] = w.e[i] + w.scratch[i];
    if (raise_sag(s, nodes, w.e_try.data(), w)) {  // a blow has bent it
      cut_capsules(s, state, state.e.data(), w);
      make_pairs(s, c.bound, c);
    }
    place_capsules(w.e_try.data(), w, c, c.p1, c.q1);
    double moved = 0;
    for (std::size_t i = 0; i < c.p1.size(); ++i)
      moved = std::max({moved, (c.p1[i] - c.p0[i]).squaredNorm(), (c.q1[i] - c.q0[i]).squaredNorm()});
    if (!(moved <= c.bound * c.bound)) {
      if (pass == 0) look_within(s, 1.1 * std::sqrt(moved), c);
      if (!(moved <= c.bound * c.bound)) return false;
    }
    const int known = static_cast<int>(c.touches.size());
    Finder finder{s, state, w, w.e_try.data(), pass == 0};
    finder.all();
    const int found = static_cast<int>(c.touches.size());
    if (found == 0 &&
        predicted) {  // the last forces have pushed all apart: look where the step ends without them
      predicted = false;
      std::copy_n(c.free_motion.begin(), 12 * nodes, w.delta.begin());
      --pass;
      continue;
    }
    const bool done = found == known || (pass > 0 && finder.deepest < allowed);
    if (done || pass == most_passes) {
      c.touches.resize(static_cast<std::size_t>(known));
      remember(c);
      c.overlap = std::max(0.0, finder.overlap);
      return (done || finder.whole < too_deep) && c.residual <= c.worst_taken;
    }
    add_rows(s, known, w);
    solve_forces(s, nodes, w);
    ++c.passes;
  }
}

void add_contact_forces(const SystemData& s, const State& state, WorkspaceData& w, double* out) {
  ContactWork& c = w.contact;
  s.poses(state.t, c.X1);
  place_solids(s, c.X1, c.solids1);
  take_last(s, state, w, c);
  place_last(s, state.e.data(), w);
  for (std::size_t k = 0; k < c.last.size(); ++k) {
    const Touch& t = c.last_touches[k];
    const Vec3& force = c.last[k].force;
    const Vec3 along = force - force.dot(t.n) * t.n;
    for (const auto& [side, sign] : {std::pair{&t.a, 1.0}, std::pair{&t.b, -1.0}})
      for (int n = 0; side->slot >= 0 && n < 2; ++n)
        for (int i = 0; i < 3; ++i) {
          double* to = out + 12 * (side->slot + n) + i;
          to[0] += sign * side->line[2 * n] * force[i];
          to[3] += sign * side->line[2 * n + 1] * force[i];
          to[6] += sign * side->section[2 * n] * along[i];
          to[9] += sign * side->section[2 * n + 1] * along[i];
        }
  }
}

Overlap deepest_overlap(const SystemData& s, const State& state, const double* e, WorkspaceData& w) {
  ContactWork& c = w.contact;
  std::fill(c.sag.begin(), c.sag.end(), 0.0);
  raise_sag(s, state.node_count(), e, w);
  cut_capsules(s, state, e, w);
  place_solids(s, w.X_WB, c.solids0);
  place_solids(s, w.X_WB, c.solids1);
  make_pairs(s, 0, c);
  Overlap deepest;
  const auto note = [&](double depth, int thread, int other, const Vec3& at) {
    if (depth > deepest.depth) deepest = {depth, thread, other, at};
  };
  for (const auto& [i, k] : c.pairs) {
    const Capsule& a = c.capsules[i];
    const double r = radius_of(s, a);
    if (k < 0) {
      const contact::SegmentTouch d = contact::closest(c.solids0[-1 - k], c.p0[i], c.q0[i]);
      const Vec3 x = midline_point(e, a.slot, w.length[a.slot], a.xi0 + d.s * (a.xi1 - a.xi0));
      note(r - contact::distance(c.solids0[-1 - k], x).value, a.thread, k, x);
      continue;
    }
    const Capsule& b = c.capsules[k];
    const contact::SegmentPair d = contact::closest(c.p0[i], c.q0[i], c.p0[k], c.q0[k]);
    double xa = a.xi0 + d.s * (a.xi1 - a.xi0), xb = b.xi0 + d.t * (b.xi1 - b.xi0);
    refine(e, w, a, b, xa, xb);
    const Vec3 x = midline_point(e, a.slot, w.length[a.slot], xa),
               y = midline_point(e, b.slot, w.length[b.slot], xb);
    note(r + radius_of(s, b) - (x - y).norm(), a.thread, b.thread, x);
  }
  return deepest;
}

std::string overlap_text(const SystemData& s, const State& state, WorkspaceData& w, bool* crossed) {
  s.poses(state.t, w.X_WB);
  const Overlap found = deepest_overlap(s, state, state.e.data(), w);
  if (!(found.depth > noted_overlap * s.smallest_radius)) return "";
  const int body = found.other < 0 ? s.solids[-1 - found.other].body : -1;
  const std::string other = found.other == found.thread ? "itself"
                            : found.other >= 0          ? "\"" + s.threads[found.other].name + "\""
                            : body >= 0                 ? "\"" + s.model.bodies()[body].name + "\""
                                                        : "a plane";
  if (crossed != nullptr && found.other >= 0)
    *crossed =
        found.depth > crossed_at * (s.threads[found.thread].rod.radius + s.threads[found.other].rod.radius);
  return fmt::format("\"{}\" overlaps {} by {:.3g} m at ({:.4g}, {:.4g}, {:.4g}) m",
                     s.threads[found.thread].name, other, found.depth, found.at.x(), found.at.y(),
                     found.at.z());
}

}  // namespace limber::thread
