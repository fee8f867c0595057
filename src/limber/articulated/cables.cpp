// Cables: V = Σ ½ (EA/L₀) (L − L₀)₊² over the runs of each, L(q) the length of a run (cable_route.h), L₀ its
// rest length, which a winch and slip over guides that rub change.
//
//   force  −T G,  T = EA (L/L₀ − 1) + c (L̇ − L̇₀), G = ∂L/∂(twists of the bodies on its route)
//   matrix (h²k + hc) GᵀG, an elastic row of the system, never a block between all its bodies; and
//          T/l (1 − u uᵀ) of each straight stretch between its two bodies
//
// Friction: tensions on the two sides of a guide stay within T₂ ≤ T₁ e^{μθ} ≤ T₂ e^{2μθ}; cable slides over
// it until they do. What slid is found anew from the start of the step for every pose, so that it hangs on no
// iteration (as plastic flow is).
#include "limber/articulated/cables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/articulated/system.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

using multibody::LinkMotion;

constexpr double full_turn = 2 * pi;

double near(double angle, double reference) {
  return angle + full_turn * std::round((reference - angle) / full_turn);
}

GuideFrame frame_of(const CompiledGuide& g, const std::vector<LinkMotion>& links) {
  if (g.link < 0) return {g.p, g.n, g.e1, g.e2, g.radius, g.sense};
  const Pose& X = links[g.link].X_WM;
  if (g.radius == 0) return {X * g.p, Vec3::UnitZ(), Vec3::UnitX(), Vec3::UnitY(), 0, 1};
  return {X * g.p, X.R * g.n, X.R * g.e1, X.R * g.e2, g.radius, g.sense};
}

int guide_of(const CompiledCable& c, int k) {
  const int n = static_cast<int>(c.guides.size());
  return k < n ? k : k - n;
}

bool is_ring(const CompiledCable& c, const CableRun& run) {
  return run.last - run.first == static_cast<int>(c.guides.size()) && !c.guides[run.first].holds;
}

double wrap_of(const CompiledCable& c, const CableShape& at, int k) {
  return c.guides[k].sense * (at.leaves[k] - at.meets[k]);
}

// A cable that leaves a pulley too far out of its plane is no longer in its groove, and what its shadow says
// of its length means nothing: the angle goes to 90° where a guide comes to stand beside the pulley.
bool stays_in_grooves(const GuideFrame& A, const GuideFrame& B, const Stretch& s) {
  constexpr double steepest = 0.866;  // the sine of 60°
  return !(A.radius > 0 && std::abs(s.along.dot(A.n)) > steepest) &&
         !(B.radius > 0 && std::abs(s.along.dot(B.n)) > steepest);
}

// Stretches of a run between the guides that it touches, from guide `start` on. `from`: angles to be near to;
// null: as they are.
bool lay(const CompiledCable& c, const CableRun& run, int start, const double* from, CableShape& at) {
  bool good = true;
  int before = start;
  const int length = run.last - run.first;
  const bool ring = is_ring(c, run);
  for (int i = 1; i <= length; ++i) {
    const int k = guide_of(c, ring ? start + i : run.first + i);
    if (!at.touches[k]) continue;
    at.stretch[before] = find_stretch(at.guides[before], at.guides[k]);
    at.next[before] = k;
    const Stretch& s = at.stretch[before];
    good = good && s.exists && stays_in_grooves(at.guides[before], at.guides[k], s);
    const double* meets = from ? from + CompiledCable::width * k + CompiledCable::meets : &s.meets;
    const double* leaves = from ? from + CompiledCable::width * before + CompiledCable::leaves : &s.leaves;
    at.meets[k] = near(s.meets, *meets), at.leaves[before] = near(s.leaves, *leaves);
    before = k;
  }
  return good;
}

int first_touched(const CompiledCable& c, const CableRun& run, const CableShape& at) {
  int k = run.first;
  while (is_ring(c, run) && !at.touches[k] && k < run.last - 1) ++k;
  return k;
}

// A pulley that lets its cable go is not touched where the wrap would be negative. Those go one by one, the
// one furthest off first.
void lay_run(const CompiledCable& c, const CableRun& run, const double* from, CableShape& at) {
  const int length = run.last - run.first;
  const bool ring = is_ring(c, run);
  for (int round = 0; round <= length; ++round) {
    const bool good = lay(c, run, first_touched(c, run, at), from, at);
    int worst = -1;
    for (int i = ring ? 0 : 1; i < length; ++i) {
      const int k = guide_of(c, run.first + i);
      if (!at.touches[k] || !c.guides[k].lifts) continue;
      if (wrap_of(c, at, k) < 0 && (worst < 0 || wrap_of(c, at, k) < wrap_of(c, at, worst))) worst = k;
    }
    if (worst < 0) {
      at.exists = at.exists && good;
      return;
    }
    at.touches[worst] = 0;
  }
}

template <class Each>
void each_stretch(const CompiledCable& c, const CableRun& run, const CableShape& at, const Each& each) {
  const int start = first_touched(c, run, at), end = guide_of(c, run.last);
  int k = start;
  do {
    each(k, at.next[k], at.stretch[k]);
    k = at.next[k];
  } while (k != (is_ring(c, run) ? start : end));
}

// The length of a run with what its ends' angles say.
double raw_length(const CompiledCable& c, const CableRun& run, const CableShape& at) {
  double sum = 0;
  each_stretch(c, run, at, [&](int a, int b, const Stretch& s) {
    const CompiledGuide &A = c.guides[a], &B = c.guides[b];
    sum += s.length;
    if (A.radius > 0) sum += A.radius * A.sense * at.leaves[a];
    if (B.radius > 0) sum -= B.radius * B.sense * at.meets[b];
  });
  return sum;
}

void place_guides(const CompiledCable& c, const std::vector<LinkMotion>& links, CableShape& at) {
  for (std::size_t k = 0; k < c.guides.size(); ++k) at.guides[k] = frame_of(c.guides[k], links);
  std::fill(at.touches.begin(), at.touches.end(), 1);
  at.exists = true;
}

double tension_of(const CompiledCable& c, double length, double rest) {
  return rest > 0 ? c.EA * (length / rest - 1) : std::numeric_limits<double>::quiet_NaN();
}

// e^{μθ} of a guide; θ is the wrap, or the angle by which the cable turns at an eyelet.
double grip_of(const CompiledCable& c, const CableShape& at, int before, int k) {
  const CompiledGuide& g = c.guides[k];
  double angle = wrap_of(c, at, k);
  if (g.radius == 0) {
    const Vec3 &in = at.stretch[before].along, &out = at.stretch[k].along;
    angle = math::atan2(in.cross(out).norm(), in.dot(out));
  }
  return math::exp(g.friction * std::max(angle, 0.0));
}

// How much cable must come from a run of tension T(La, ra) to one that pulls more than e times as hard.
double slide(const CompiledCable& c, double La, double ra, double Lb, double rb, double e) {
  double low = 0, high = Lb - rb;  // there the second is slack
  double x = 0;
  for (int k = 0; k < 60 && high > low; ++k) {
    const double Ta = std::max(tension_of(c, La, ra - x), 0.0), Tb = tension_of(c, Lb, rb + x);
    const double open = Tb - e * Ta;
    (open > 0 ? low : high) = x;
    const double slope =
        -c.EA * Lb / ((rb + x) * (rb + x)) - (Ta > 0 ? e * c.EA * La / ((ra - x) * (ra - x)) : 0);
    double next = x - open / slope;
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (std::abs(next - x) <= 1e-16 * rb) return next;
    x = next;
  }
  return x;
}

// Guides that rub, with the runs before and behind each.
template <class Each>
void each_rub(const CompiledCable& c, const Each& each) {
  const std::size_t runs = c.runs.size();
  for (std::size_t a = 0; a < runs; ++a) {
    const int k = guide_of(c, c.runs[a].last);
    const std::size_t b = a + 1 < runs ? a + 1 : 0;
    if (c.guides[k].friction > 0 && (c.closed || b > 0) && a != b) each(a, b, k);
  }
}

// [N] −∂V/∂slip: the tensions' difference, and the energy that the cable takes along.
double loss_by_slip(const CompiledCable& c, const CableShape& at, std::size_t a, std::size_t b) {
  const double Ta = at.tension[a], Tb = at.tension[b];
  return Tb - Ta + (Tb * Tb - Ta * Ta) / (2 * c.EA);
}

// Guides that rub, one after the other until none slides any further.
void let_slide(const CompiledCable& c, CableShape& at) {
  constexpr int most_rounds = 20000;
  for (int round = 0; round < most_rounds; ++round) {
    double most = 0;
    each_rub(c, [&](std::size_t a, std::size_t b, int k) {
      int before = -1;
      each_stretch(c, c.runs[a], at, [&](int from, int, const Stretch&) { before = from; });
      const double e = grip_of(c, at, before, k);
      const double Ta = std::max(tension_of(c, at.length[a], at.rest[a]), 0.0),
                   Tb = std::max(tension_of(c, at.length[b], at.rest[b]), 0.0);
      double x = 0;
      if (Tb > e * Ta)
        x = slide(c, at.length[a], at.rest[a], at.length[b], at.rest[b], e);
      else if (Ta > e * Tb)
        x = -slide(c, at.length[b], at.rest[b], at.length[a], at.rest[a], e);
      at.slip[k] += x, at.rest[a] -= x, at.rest[b] += x;
      most = std::max(most, std::abs(x));
    });
    if (!(most > 1e-15 * c.rest)) return;
  }
}

// All of a cable for links as they stand, at time t.
void place(const CompiledCable& c, const std::vector<LinkMotion>& links, double t,
           const std::vector<double>& state, CableShape& at) {
  const double* from = state.data() + c.state;
  place_guides(c, links, at);
  for (std::size_t k = 0; k < c.guides.size(); ++k)
    at.slip[k] = from[CompiledCable::width * k + CompiledCable::slip];
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const CableRun& run = c.runs[r];
    lay_run(c, run, from, at);
    at.length[r] = at.exists ? raw_length(c, run, at) - run.offset : std::numeric_limits<double>::quiet_NaN();
    at.rest[r] = run.rest - (r == 0 ? c.winch.value(t) : 0);
    if (const int k = run.first; c.closed || k > 0) at.rest[r] += at.slip[k];
    if (const int k = guide_of(c, run.last); c.closed || run.last + 1 < static_cast<int>(c.guides.size()))
      at.rest[r] -= at.slip[k];
  }
  if (c.rubs && at.exists) let_slide(c, at);
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const double T = tension_of(c, at.length[r], at.rest[r]);
    at.tension[r] = T < 0 ? 0 : T;
  }
}

Vec3 origin_of(const CompiledGuide& g, const std::vector<LinkMotion>& links) {
  return g.link < 0 ? Vec3(Vec3::Zero()) : links[g.link].X_WM.p;
}

// ∂L/∂(twists), world axes at the links' origins, into at.row.
void set_row(const CompiledCable& c, const CableRun& run, const std::vector<LinkMotion>& links,
             CableShape& at) {
  for (Vec6& x : at.row) x.setZero();
  each_stretch(c, run, at, [&](int a, int b, const Stretch& s) {
    const CompiledGuide &A = c.guides[a], &B = c.guides[b];
    if (A.link >= 0) at.row[A.place] += gradient_on_start(s, origin_of(A, links));
    if (B.link >= 0) at.row[B.place] += gradient_on_end(s, origin_of(B, links));
  });
}

Vec6 twist_of(const LinkMotion& m) {
  Vec6 out;
  out << m.X_WM.R * m.V.head<3>(), m.X_WM.R * m.V.tail<3>();
  return out;
}

void push(const LinkMotion& m, double by, const Vec6& F_W, Vec6& wrench) {
  wrench.head<3>() += by * (m.X_WM.R.transpose() * F_W.head<3>());
  wrench.tail<3>() += by * (m.X_WM.R.transpose() * F_W.tail<3>());
}

Mat6 between(const Vec3& r, const Mat3& Q, const Vec3& r2) {
  Mat6 out;
  const Mat3 rQ = math::skew(r) * Q;
  out << -rQ * math::skew(r2), rQ, -Q * math::skew(r2), Q;
  return out;
}

// What a stretch under tension has across its line: into the blocks, and ahead along the velocities.
void add_across(const CompiledCable& c, int a, int b, const Stretch& s, double tension,
                const Weights& weights, WorkspaceData& w) {
  const CompiledGuide &A = c.guides[a], &B = c.guides[b];
  if (A.link == B.link) return;
  const bool both = A.link >= 0 && B.link >= 0;
  const int pair = guide_of(c, a + 1) == b ? c.pair[a] : -1;
  if (both && pair < 0) return;
  const Mat3 Q = (tension / s.length) * (Mat3::Identity() - s.along * s.along.transpose());
  const Vec3 r_a = s.from - origin_of(A, w.links), r_b = s.to - origin_of(B, w.links);
  if (weights.ahead > 0) {
    const auto velocity = [&](int link, const Vec3& r) {
      if (link < 0) return Vec3(Vec3::Zero());
      const Vec6 V = twist_of(w.links[link]);
      return Vec3(V.tail<3>() + V.head<3>().cross(r));
    };
    const Vec3 f = weights.ahead * (Q * (velocity(B.link, r_b) - velocity(A.link, r_a)));
    Vec6 on_a, on_b;
    on_a << r_a.cross(f), f;
    on_b << r_b.cross(f), f;
    if (A.link >= 0) push(w.links[A.link], 1, on_a, w.wrench[A.link]);
    if (B.link >= 0) push(w.links[B.link], -1, on_b, w.wrench[B.link]);
  }
  if (!weights.matrix || weights.k == 0) return;
  multibody::BlockSystem& m = w.blocks->system;
  if (A.link >= 0) m.diagonal[A.link] += weights.k * between(r_a, Q, r_a);
  if (B.link >= 0) m.diagonal[B.link] += weights.k * between(r_b, Q, r_b);
  if (pair >= 0) m.off[pair] -= weights.k * (A.link < B.link ? between(r_a, Q, r_b) : between(r_b, Q, r_a));
}

// Runs that slide into each other have one tension times ρ each: T₁ grows by Σ dL over Σ ρ/k. Rows are those
// of the first of them, Σ √ρ G, which is that of all without friction.
bool slides_on(const CompiledCable& c, const CableShape& at, const std::vector<double>& state,
               std::size_t r) {
  if (!c.rubs || r == 0) return false;
  const int k = c.runs[r].first;
  return at.slip[k] != state[c.state + CompiledCable::width * k + CompiledCable::slip] && at.tension[r] > 0 &&
         at.tension[r - 1] > 0;
}

void add_rows(const CompiledCable& c, const CableShape& at, std::size_t r, std::size_t leader,
              multibody::BlockSystem& m) {
  const double share = at.tension[leader] > 0 ? std::sqrt(at.tension[r] / at.tension[leader]) : 0;
  std::vector<Vec6>& row = m.elastic[c.runs[leader].row];
  for (std::size_t i = 0; i < c.runs[leader].members.size(); ++i)
    row[i] += share * at.row[c.runs[leader].members[i]];
}

struct RunForce {
  double tension = 0, rate = 0;  // with its damper; of the length
};

double damping_of(const CompiledCable& c, const CableShape& at, std::size_t r) {
  return c.damping > 0 ? c.damping * c.rest / at.rest[r] : 0;
}

RunForce force_of(const CompiledCable& c, const CableShape& at, std::size_t r,
                  const std::vector<LinkMotion>& links, double t, double& taken, double& given) {
  RunForce f;
  for (std::size_t i = 0; i < c.links.size(); ++i) f.rate += at.row[i].dot(twist_of(links[c.links[i]]));
  const double T = at.tension[r], in = r == 0 ? c.winch.rate(t) : 0, stretch = f.rate + in;
  f.tension = T;
  if (T > 0 && c.damping > 0) f.tension = std::max(T + damping_of(c, at, r) * stretch, 0.0);
  taken += (f.tension - T) * stretch;
  given += (f.tension + 0.5 * T * T / c.EA) * in;
  return f;
}

void add_run(const CompiledCable& c, std::size_t r, std::size_t leader, double t, const Weights& weights,
             WorkspaceData& w, CableShape& at) {
  if (std::isnan(at.tension[r]))  // no line runs round its guides: the step fails
    for (const int link : c.links) w.wrench[link].setConstant(at.tension[r]);
  if (!(at.tension[r] > 0)) return;
  set_row(c, c.runs[r], w.links, at);
  const RunForce f = force_of(c, at, r, w.links, t, w.dissipated_power, w.work_power);
  const double k = c.EA / at.rest[r], pull = f.tension + weights.ahead * k * f.rate;
  for (std::size_t i = 0; i < c.links.size(); ++i)
    push(w.links[c.links[i]], -pull, at.row[i], w.wrench[c.links[i]]);
  each_stretch(c, c.runs[r], at, [&](int a, int b, const Stretch& stretch) {
    add_across(c, a, b, stretch, f.tension, weights, w);
  });
  if (weights.matrix) add_rows(c, at, r, leader, w.blocks->system);
}

// Scales the rows of a group: √(h²k + hc), 1/k = Σ ρ/k.
void scale_rows(const CompiledCable& c, const CableShape& at, std::size_t leader, std::size_t end, double d,
                double k, multibody::BlockSystem& m) {
  double give = 0;
  for (std::size_t r = leader; r < end; ++r)
    give += (at.tension[leader] > 0 ? at.tension[r] / at.tension[leader] : 0) * at.rest[r] / c.EA;
  const double root = give > 0 ? std::sqrt(k / give + d * damping_of(c, at, leader)) : 0;
  for (Vec6& x : m.elastic[c.runs[leader].row]) x *= root;
}

// The places of the guides' angles, by the model as it stands at t = 0.
void set_start(const CompiledCable& c, CableShape& at, const Cable& cable, double* state) {
  for (const CableRun& run : c.runs) lay(c, run, run.first, nullptr, at);
  for (std::size_t k = 0; k < c.guides.size(); ++k) {
    double* own = state + CompiledCable::width * k;
    const CompiledGuide& g = c.guides[k];
    const bool end = !c.closed && (k == 0 || k + 1 == c.guides.size());
    if (g.radius > 0 && !end) {
      // A wrap of less than nothing: the cable passes it by.
      const double wrap = near(g.sense * (at.leaves[k] - at.meets[k]), pi / 2);
      at.leaves[k] = at.meets[k] + g.sense * (wrap + full_turn * cable.route[k].turns);
    }
    own[CompiledCable::meets] = at.meets[k], own[CompiledCable::leaves] = at.leaves[k];
    own[CompiledCable::slip] = 0;
  }
}

[[noreturn]] void refuse(const std::string& name, const char* field, std::string why) {
  throw ModelError({{"cable", name, field, std::move(why)}});
}

void refuse_impossible(const CompiledCable& c, const CableShape& at) {
  const std::size_t n = c.guides.size();
  for (std::size_t k = 0; k + (c.closed ? 0 : 1) < n; ++k) {
    const std::size_t j = (k + 1) % n;
    const GuideFrame &A = at.guides[k], &B = at.guides[j];
    if (at.stretch[k].exists) continue;
    const char* ring = c.closed ? "the belt cannot close: " : "";
    if ((A.c - B.c).norm() <= std::max(A.radius, B.radius))
      refuse(c.name, "route", fmt::format("{}guides {} and {} stand inside each other", ring, k, j));
    refuse(
        c.name, "route",
        fmt::format("{}no straight line runs from guide {} to guide {} round both as they turn", ring, k, j));
  }
  constexpr double steepest = 0.5;  // sine of the angle to a pulley's plane
  for (std::size_t k = 0; k + (c.closed ? 0 : 1) < n; ++k)
    for (const std::size_t j : {k, (k + 1) % n})
      if (at.guides[j].radius > 0 && std::abs(at.stretch[k].along.dot(at.guides[j].n)) > steepest)
        refuse(
            c.name, "route",
            fmt::format(
                "between guides {} and {} the cable runs {:.0f}° out of the plane of pulley {}: it would "
                "leave its groove",
                k, (k + 1) % n, math::asin(std::abs(at.stretch[k].along.dot(at.guides[j].n))) * 180 / pi, j));
}

// Out of one plane the way past a pulley is shorter by a finite length than that round it without a wrap: to
// leave it there would make energy. So only a cable that runs in the pulley's plane at the start leaves it.
void find_what_lifts(CompiledCable& c, const CableShape& at) {
  constexpr double flat = 1e-9;
  const std::size_t n = c.guides.size();
  for (std::size_t k = 0; k < n; ++k) {
    CompiledGuide& g = c.guides[k];
    const bool end = !c.closed && (k == 0 || k + 1 == n);
    if (g.radius == 0 || g.holds || end) continue;
    const Vec3 &in = at.stretch[(k + n - 1) % n].along, &out = at.stretch[k].along, &axis = at.guides[k].n;
    g.lifts = std::abs(in.dot(axis)) < flat && std::abs(out.dot(axis)) < flat;
  }
}

void set_rest_lengths(const Cable& cable, CompiledCable& c, CableShape& at) {
  double total = 0;
  for (std::size_t k = 0; k < c.guides.size(); ++k)  // on guides that hold
    if (c.guides[k].holds && c.guides[k].radius > 0 && (c.closed || (k > 0 && k + 1 < c.guides.size())))
      total += c.guides[k].radius * std::max(wrap_of(c, at, static_cast<int>(k)), 0.0);
  std::vector<double> length;
  for (CableRun& run : c.runs) {
    const CompiledGuide &A = c.guides[run.first], &B = c.guides[guide_of(c, run.last)];
    const double raw = raw_length(c, run, at);
    if (!is_ring(c, run)) {
      if (A.radius > 0) run.offset += A.radius * A.sense * at.leaves[run.first];
      if (B.radius > 0) run.offset -= B.radius * B.sense * at.meets[guide_of(c, run.last)];
    }
    length.push_back(raw - run.offset);
    total += length.back();
  }
  if (cable.rest_length >= 0)
    c.rest = cable.rest_length;
  else
    c.rest =
        cable.EA > 0 ? total / (1 + cable.pretension / cable.EA) : total - cable.pretension / cable.stiffness;
  constexpr double longest = 2;
  if (!(c.rest * longest >= total))
    refuse(cable.name, cable.rest_length >= 0 ? "rest_length" : "pretension",
           cable.rest_length >= 0
               ? fmt::format(
                     "the cable is shorter than its route: of {:.4g} m it would have to stretch to {:.4g} m",
                     c.rest, total)
               : fmt::format("a tension of {:.4g} N stretches the cable to more than twice its length",
                             cable.pretension));
  c.EA = cable.EA > 0 ? cable.EA : cable.stiffness * c.rest;
  for (std::size_t r = 0; r < c.runs.size(); ++r) c.runs[r].rest = length[r] * c.rest / total;
}

void add_guides(const SystemData& s, const Cable& cable, CompiledCable& c) {
  for (std::size_t k = 0; k < cable.route.size(); ++k) {
    const CableGuide& g = cable.route[k];
    CompiledGuide out;
    const LinkPoint at = s.link_point(g.at);
    out.link = at.link, out.p = at.p;
    const Mat3 R = at.link < 0 ? Mat3(Mat3::Identity()) : s.tree[at.link].X_MB.R;
    out.n = R * g.axis.normalized();
    out.e1 = R * math::rotation_from_z(g.axis.normalized()).col(0);
    out.e2 = out.n.cross(out.e1);
    out.radius = g.radius, out.sense = g.sense, out.friction = g.friction;
    out.holds = g.holds();
    if (out.link >= 0) c.links.push_back(out.link);
    c.rubs = c.rubs || g.friction > 0;
    c.guides.push_back(out);
  }
  std::sort(c.links.begin(), c.links.end());
  c.links.erase(std::unique(c.links.begin(), c.links.end()), c.links.end());
  for (CompiledGuide& g : c.guides)
    if (g.link >= 0)
      g.place = static_cast<int>(std::lower_bound(c.links.begin(), c.links.end(), g.link) - c.links.begin());
}

void add_runs(CompiledCable& c) {
  const int n = static_cast<int>(c.guides.size());
  std::vector<int> ends;
  for (int k = 0; k < n; ++k)
    if (c.closed ? c.guides[k].holds : k == 0 || k == n - 1 || c.guides[k].holds) ends.push_back(k);
  const auto add = [&](int first, int last) {
    CableRun run;
    run.first = first, run.last = last;
    c.runs.push_back(run);
  };
  for (std::size_t i = 0; i + 1 < ends.size(); ++i) add(ends[i], ends[i + 1]);
  if (c.closed && ends.empty()) add(0, n);
  if (c.closed && !ends.empty()) add(ends.back(), ends.front() + n);
}

// Rows over the links of a run; where cable slides from run to run over all of them.
void add_to_pattern(SystemData& s, CompiledCable& c) {
  for (CableRun& run : c.runs) {
    std::vector<char> on(c.links.size(), c.rubs);
    for (int k = run.first; k <= run.last; ++k)
      if (const int place = c.guides[guide_of(c, k)].place; place >= 0) on[place] = 1;
    multibody::ElasticSite site;
    for (std::size_t i = 0; i < on.size(); ++i)
      if (on[i]) run.members.push_back(static_cast<int>(i)), site.links.push_back(c.links[i]);
    run.row = static_cast<int>(s.pattern.elastic.size());
    s.pattern.elastic.push_back(std::move(site));
  }
  const std::size_t n = c.guides.size();
  for (std::size_t k = 0; k < n; ++k) {
    const int a = c.guides[k].link, b = c.guides[(k + 1) % n].link;
    const bool tied = a >= 0 && b >= 0 && a != b && (c.closed || k + 1 < n);
    c.pair.push_back(tied ? pair_of(s, a, b) : -1);
  }
}

}  // namespace

CableShape::CableShape(const CompiledCable& c)
    : guides(c.guides.size()),
      stretch(c.guides.size()),
      next(c.guides.size(), 0),
      touches(c.guides.size(), 1),
      meets(c.guides.size()),
      leaves(c.guides.size()),
      slip(c.guides.size()),
      length(c.runs.size()),
      rest(c.runs.size()),
      tension(c.runs.size()),
      row(c.links.size(), Vec6::Zero()) {}

void compile_cables(SystemData& s) {
  if (s.model.cables().empty()) return;
  std::vector<LinkMotion> links(s.tree.size());
  const std::vector<Pose> X_WB = s.model.initial_poses();
  for (int i = 0; i < s.tree.size(); ++i) links[i].X_WM = X_WB[i] * s.tree[i].X_MB.inverse();
  for (const Cable& cable : s.model.cables()) {
    CompiledCable c;
    c.name = cable.name;
    c.closed = cable.closed;
    c.winch = cable.winch;
    c.damping = cable.damping;
    c.state = static_cast<int>(s.cable_start.size());
    s.cable_start.resize(s.cable_start.size() + CompiledCable::width * cable.route.size());
    add_guides(s, cable, c);
    add_runs(c);
    CableShape at(c);
    place_guides(c, links, at);
    double* state = s.cable_start.data() + c.state;
    for (const CableRun& run : c.runs) lay(c, run, run.first, nullptr, at);
    refuse_impossible(c, at);
    find_what_lifts(c, at);
    set_start(c, at, cable, state);
    place_guides(c, links, at);
    for (const CableRun& run : c.runs) lay_run(c, run, state, at);
    if (!at.exists) refuse(c.name, "route", "no straight line runs past the guides that it does not touch");
    set_rest_lengths(cable, c, at);
    add_to_pattern(s, c);
    s.cables.push_back(std::move(c));
  }
}

void add_cables(const SystemData& s, double t, const Weights& weights, WorkspaceData& w) {
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    CableShape& at = w.cables[i];
    place(c, w.links, t, w.cable_from, at);
    if (weights.matrix)
      for (const CableRun& run : c.runs)
        for (Vec6& x : w.blocks->system.elastic[run.row]) x.setZero();
    std::size_t leader = 0;
    for (std::size_t r = 0; r < c.runs.size(); ++r) {
      if (r > 0 && !slides_on(c, at, w.cable_from, r)) {
        if (weights.matrix) scale_rows(c, at, leader, r, weights.d, weights.k, w.blocks->system);
        leader = r;
      }
      add_run(c, r, leader, t, weights, w, at);
    }
    if (weights.matrix) scale_rows(c, at, leader, c.runs.size(), weights.d, weights.k, w.blocks->system);
  }
}

// [J] that sliding took since the state, by what it takes a metre there and now.
double slip_loss(const SystemData& s, const std::vector<double>& state,
                 const std::vector<CableShape>& cables) {
  double sum = 0;
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    each_rub(c, [&](std::size_t a, std::size_t b, int k) {
      const double* from = state.data() + c.state + CompiledCable::width * k;
      const double slid = cables[i].slip[k] - from[CompiledCable::slip];
      sum += 0.5 * (from[CompiledCable::lost] + loss_by_slip(c, cables[i], a, b)) * slid;
    });
  }
  return sum;
}

double cable_energy(const SystemData& s, const std::vector<LinkMotion>& links, double t,
                    const std::vector<double>& state, std::vector<CableShape>& cables) {
  double sum = 0;
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    CableShape& at = cables[i];
    place(c, links, t, state, at);
    for (std::size_t r = 0; r < c.runs.size(); ++r)
      sum += 0.5 * at.tension[r] * at.tension[r] * at.rest[r] / c.EA;
  }
  return sum;
}

void carry_cables_over(const SystemData& s, const std::vector<LinkMotion>& links, double t,
                       std::vector<CableShape>& cables, std::vector<double>& state) {
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    CableShape& at = cables[i];
    place(c, links, t, state, at);
    for (std::size_t k = 0; k < c.guides.size(); ++k) {
      double* own = state.data() + c.state + CompiledCable::width * k;
      own[CompiledCable::meets] = at.meets[k], own[CompiledCable::leaves] = at.leaves[k];
      own[CompiledCable::slip] = at.slip[k];
    }
    each_rub(c, [&](std::size_t a, std::size_t b, int k) {
      state[c.state + CompiledCable::width * k + CompiledCable::lost] = loss_by_slip(c, at, a, b);
    });
  }
}

void add_cable_tangent(const SystemData& s, const std::vector<LinkMotion>& links, bool material,
                       std::vector<CableShape>& cables, multibody::BlockSystem& K) {
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    CableShape& at = cables[i];
    for (std::size_t r = 0; r < c.runs.size(); ++r) {
      const CableRun& run = c.runs[r];
      for (Vec6& x : K.elastic[run.row]) x.setZero();
      if (!(at.tension[r] > 0)) continue;
      set_row(c, run, links, at);
      const double root = std::sqrt(c.EA / at.rest[r]);
      for (std::size_t k = 0; k < run.members.size(); ++k)
        K.elastic[run.row][k] = root * at.row[run.members[k]];
      if (material) continue;
      each_stretch(c, run, at, [&](int a, int b, const Stretch&) {
        const CompiledGuide &A = c.guides[a], &B = c.guides[b];
        const StretchCurvature H =
            curvature_of(at.guides[a], origin_of(A, links), at.guides[b], origin_of(B, links));
        if (A.link >= 0) K.diagonal[A.link] += at.tension[r] * H.AA;
        if (B.link >= 0) K.diagonal[B.link] += at.tension[r] * H.BB;
        if (A.link < 0 || B.link < 0) return;
        if (A.link == B.link)
          K.diagonal[A.link] += at.tension[r] * (H.AB + H.AB.transpose());
        else if (const int pair = guide_of(c, a + 1) == b ? c.pair[a] : -1; pair >= 0)
          K.off[pair] += at.tension[r] * (A.link < B.link ? H.AB : Mat6(H.AB.transpose()));
      });
    }
  }
}

observe::CableReading read_cable(const SystemData& s, int cable, int guide,
                                 const std::vector<LinkMotion>& links, double t,
                                 std::vector<CableShape>& cables) {
  const CompiledCable& c = s.cables[cable];
  CableShape& at = cables[cable];
  observe::CableReading out;
  double taken = 0, unused = 0;
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const CableRun& run = c.runs[r];
    set_row(c, run, links, at);
    const RunForce f = force_of(c, at, r, links, t, taken, r == 0 ? out.winch_power : unused);
    out.most = std::max(out.most, f.tension);
    const int asked = std::max(guide, 0), last = !c.closed && asked + 1 == static_cast<int>(c.guides.size());
    const int n = static_cast<int>(c.guides.size());
    for (const int k : {asked - last, asked - last + n})
      if (k >= run.first && k < run.last) out.tension = f.tension;
    each_stretch(c, run, at, [&](int, int, const Stretch& x) { out.length += x.length; });
  }
  for (std::size_t k = 0; k < c.guides.size(); ++k) {
    const CompiledGuide& g = c.guides[k];
    const double* start = s.cable_start.data() + c.state + CompiledCable::width * k;
    const bool first = !c.closed && k == 0, last = !c.closed && k + 1 == c.guides.size();
    double wrap = 0;
    if (g.radius > 0)
      wrap = first  ? g.sense * (at.leaves[k] - start[CompiledCable::leaves])
             : last ? -g.sense * (at.meets[k] - start[CompiledCable::meets])
                    : std::max(wrap_of(c, at, static_cast<int>(k)), 0.0);
    if (!first && !last) out.length += g.radius * wrap;
    if (static_cast<int>(k) != guide) continue;
    out.wrap = wrap, out.slip = at.slip[k];
    if (g.radius == 0 && !first && !last) {
      int before = -1;
      for (const CableRun& run : c.runs)
        each_stretch(c, run, at, [&](int from, int to, const Stretch&) {
          if (to == guide) before = from;
        });
      const Vec3 &in = at.stretch[before].along, &gone = at.stretch[k].along;
      out.wrap = math::atan2(in.cross(gone).norm(), in.dot(gone));
    }
  }
  return out;
}

double rest_off_drums(const CompiledCable& c, const CableShape& at) {
  double length = 0, held = 0, rest = 0;
  for (std::size_t r = 0; r < c.runs.size(); ++r) {
    const CableRun& run = c.runs[r];
    double own = 0;
    each_stretch(c, run, at, [&](int a, int, const Stretch& s) {
      const double arc = c.guides[a].radius > 0 ? c.guides[a].radius * wrap_of(c, at, a) : 0;
      const bool end = a == run.first && !is_ring(c, run);
      own += s.length + (end ? 0 : arc);
      if (end && (c.closed || a > 0)) held += std::max(arc, 0.0);
    });
    length += own;
    rest += own * at.rest[r] / at.length[r];
  }
  return (length + held) * rest / length + c.winch.value(0);
}

namespace {
constexpr int arc_points = 13;
bool has_arc(const CompiledCable& c, std::size_t k) {
  return c.guides[k].radius > 0 && (c.closed || (k > 0 && k + 1 < c.guides.size()));
}
}  // namespace

int cable_points(const CompiledCable& c) {
  int n = c.closed ? 1 : 0;
  for (std::size_t k = 0; k < c.guides.size(); ++k) n += has_arc(c, k) ? arc_points : 1;
  return n;
}

// Where it meets and leaves each guide, with the arc between; what it does not touch has the point before.
void draw_cable(const CompiledCable& c, const CableShape& at, std::vector<Vec3>& out) {
  out.clear();
  int before = -1;  // of the first guide: the one from which it comes
  for (const CableRun& run : c.runs)
    each_stretch(c, run, at, [&](int from, int, const Stretch&) { before = std::max(before, from); });
  Vec3 last = at.stretch[c.closed ? before : 0].from;
  for (std::size_t k = 0; k < c.guides.size(); ++k) {
    const GuideFrame& g = at.guides[k];
    const int points = has_arc(c, k) ? arc_points : 1;
    for (int i = 0; i < points; ++i) {
      if (at.touches[k]) {
        double angle = k == 0 && !c.closed ? at.leaves[k] : at.meets[k];
        if (points > 1) angle += (at.leaves[k] - at.meets[k]) * i / (points - 1);
        const math::SinCos a = math::sincos(angle);
        last = g.c + g.radius * (a.cos * g.e1 + a.sin * g.e2);
      }
      out.push_back(last);
    }
  }
  if (c.closed) out.push_back(out.front());
}

}  // namespace limber::articulated
