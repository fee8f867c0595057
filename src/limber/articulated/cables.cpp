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

#include <algorithm>
#include <cmath>

#include "limber/articulated/cable_place.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

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

}  // namespace

void add_cables(const SystemData& s, double t, const Weights& weights, WorkspaceData& w) {
  for (std::size_t i = 0; i < s.cables.size(); ++i) {
    const CompiledCable& c = s.cables[i];
    CableShape& at = w.cables[i];
    place_cable(c, w.links, t, w.cable_from, at);
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
    place_cable(c, links, t, state, at);
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
    place_cable(c, links, t, state, at);
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
