// Cables of a model: guides in their links' axes, runs between guides that hold, rest lengths as the model
// stands at t = 0, rows of the pattern; and what cannot be.
#include <fmt/format.h>

#include <algorithm>

#include "limber/articulated/cable_place.h"
#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace limber::articulated {
namespace {

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

}  // namespace limber::articulated
