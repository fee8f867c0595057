#include "limber/articulated/cable_place.h"

#include <algorithm>
#include <limits>

#include "limber/math/trig.h"

namespace limber::articulated {

namespace {

GuideFrame frame_of(const CompiledGuide& g, const std::vector<LinkMotion>& links) {
  if (g.link < 0) return {g.p, g.n, g.e1, g.e2, g.radius, g.sense};
  const Pose& X = links[g.link].X_WM;
  if (g.radius == 0) return {X * g.p, Vec3::UnitZ(), Vec3::UnitX(), Vec3::UnitY(), 0, 1};
  return {X * g.p, X.R * g.n, X.R * g.e1, X.R * g.e2, g.radius, g.sense};
}

// A cable that leaves a pulley too far out of its plane is no longer in its groove, and what its shadow says
// of its length means nothing: the angle goes to 90° where a guide comes to stand beside the pulley.
bool stays_in_grooves(const GuideFrame& A, const GuideFrame& B, const Stretch& s) {
  constexpr double steepest = 0.866;  // the sine of 60°
  return !(A.radius > 0 && std::abs(s.along.dot(A.n)) > steepest) &&
         !(B.radius > 0 && std::abs(s.along.dot(B.n)) > steepest);
}

}  // namespace

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

namespace {

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

}  // namespace

// [N] −∂V/∂slip: the tensions' difference, and the energy that the cable takes along.
double loss_by_slip(const CompiledCable& c, const CableShape& at, std::size_t a, std::size_t b) {
  const double Ta = at.tension[a], Tb = at.tension[b];
  return Tb - Ta + (Tb * Tb - Ta * Ta) / (2 * c.EA);
}

namespace {

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

}  // namespace

// All of a cable for links as they stand, at time t.
void place_cable(const CompiledCable& c, const std::vector<LinkMotion>& links, double t,
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

}  // namespace limber::articulated
