#include "limber/sim/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>

#include "limber/chain/chain.h"
#include "limber/elastic/beam_frames.h"
#include "limber/elastic/exact_rod.h"
#include "limber/sim/driver.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {

namespace {

using Clock = std::chrono::steady_clock;
using Line = std::vector<Vec3>;

double seconds_of(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double extent_of(const result::Snapshot& s) {
  Vec3 low = Vec3::Constant(INFINITY), high = -low;
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) low = low.cwiseMin(p), high = high.cwiseMax(p);
  return std::max(1e-12, (high - low).norm());
}

// The lines of a snapshot, by name.
Line line_of(const result::Layout& layout, const result::Snapshot& s, const std::string& name) {
  std::size_t first = 0;
  for (const auto& line : layout.polylines) {
    const auto n = static_cast<std::size_t>(line.points);
    if (line.name == name) return Line(s.points.begin() + first, s.points.begin() + first + n);
    first += n;
  }
  return {};
}

// Where a line stands at a fraction of its length.
class MeasuredLine {
 public:
  explicit MeasuredLine(Line line) : line_(std::move(line)), length_(line_.size(), 0.0) {
    for (std::size_t i = 1; i < line_.size(); ++i)
      length_[i] = length_[i - 1] + (line_[i] - line_[i - 1]).norm();
  }
  bool empty() const { return line_.size() < 2 || !(length_.back() > 0); }
  double fraction(std::size_t point) const { return length_[point] / length_.back(); }
  Vec3 at(double s) const {
    const double wanted = s * length_.back();
    const auto next = static_cast<std::size_t>(
        std::lower_bound(length_.begin() + 1, length_.end() - 1, wanted) - length_.begin());
    const double piece = length_[next] - length_[next - 1];
    const double part = piece > 0 ? (wanted - length_[next - 1]) / piece : 0;
    return line_[next - 1] + part * (line_[next] - line_[next - 1]);
  }

 private:
  Line line_;
  std::vector<double> length_;
};

// At the ends of so many elements, and in the middle: inside an element links have their corners elsewhere.
double line_distance(const MeasuredLine& x, const MeasuredLine& y, int elements) {
  if (x.empty() || y.empty()) return INFINITY;
  double most = (x.at(0.5) - y.at(0.5)).norm();
  for (int k = 1; k <= elements; ++k) {
    const double s = static_cast<double>(k) / elements;
    most = std::max(most, (x.at(s) - y.at(s)).norm());
  }
  return most;
}

// Of the shapes of all beams, cut as the model says.
double beam_distance(const Model& model, const result::Layout& la, const result::Snapshot& a,
                     const result::Layout& lb, const result::Snapshot& b) {
  double most = 0;
  for (const Beam& beam : model.beams())
    most = std::max(most, line_distance(MeasuredLine(line_of(la, a, beam.name)),
                                        MeasuredLine(line_of(lb, b, beam.name)), beam.elements));
  return most;
}

// The least of three: what the method costs, not what disturbed it.
double least_time(const std::function<void()>& prepare, const std::function<void()>& work) {
  double least = INFINITY;
  for (int k = 0; k < 3; ++k) {
    prepare();
    least = std::min(least, seconds_of(work));
  }
  return least;
}

// Methods that find rests and follow loads, in the order in which they are asked for a reference: who does
// most with rests comes first.
std::vector<const MethodInfo*> rest_methods() {
  std::vector<const MethodInfo*> out;
  for (const MethodInfo& m : method_table())
    if (m.statics) out.push_back(&m);
  std::ranges::stable_sort(out, std::greater(), [](const MethodInfo* m) { return m->statics->jobs.size(); });
  return out;
}

Candidate rest_by(const MethodInfo& method, const Model& model, const RunOptions& options, double at) {
  Candidate c;
  if (const auto against = objections(model, options, *method.rest); !against.empty()) {
    c.refusal = short_reason(against);
    return c;
  }
  StaticOptions statics;
  statics.time = at;
  Follower work;
  Follower::Rest found;
  try {
    c.seconds =
        least_time([&] { work = method.statics->follow(model, options, Growth::everything, statics); },
                   [&] { found = work.solve(1); });
  } catch (const ModelError& e) {  // changes, or a past
    c.refusal = short_reason(e.problems());
    return c;
  }
  if (!found.report.ok()) c.refusal = found.report.message;
  c.layout = work.layout;
  CurvePoint rest;
  work.observe(rest, false);
  c.moments.push_back(std::move(rest.snapshot));
  return c;
}

bool stands_on_ground(const Model& model, BodyId body) {
  while (body.valid()) {
    const Joint& joint = model.joints()[body.value];
    if (joint.kind != JointKind::fixed) return false;
    body = joint.parent;
  }
  return true;
}

// One straight beam on the ground, dead loads at its tip, its weight: nothing else.
std::optional<elastic::RodProblem> as_rod(const Model& m, double at) {
  if (m.beams().size() != 1 || !m.springs().empty() || !m.loops().empty() || !m.distributed_loads().empty() ||
      m.wind() || !m.riders().empty() || !m.ties().empty() || !m.changes().empty())
    return std::nullopt;
  const Beam& beam = m.beams()[0];
  const auto* path = std::get_if<PolylinePath>(&beam.path);
  if (!path || path->points.size() != 2 || beam.rest || beam.from.beam.valid() ||
      !stands_on_ground(m, beam.from.body))
    return std::nullopt;
  for (std::size_t i = 0; i < m.bodies().size(); ++i)
    if (!stands_on_ground(m, BodyId{static_cast<int>(i)})) return std::nullopt;
  const elastic::SectionConstants c = elastic::section_constants(m[beam.section].shape);
  const elastic::PrincipalMoments moments = elastic::principal_moments(c);
  if (moments.angle != 0) return std::nullopt;
  const Material& material = m[beam.material];
  elastic::RodProblem rod;
  const elastic::BeamFrames frames(beam.path, beam.up);
  const Pose on = beam.from.body.valid() ? m.initial_poses()[beam.from.body.value] : Pose{};
  rod.clamp = on * Pose{Mat3::Identity(), beam.from.p} * frames.at(0);
  rod.length = frames.length();
  rod.stiffness = {material.G * c.J, material.E * moments.I_y, material.E * moments.I_z};
  rod.line_load = material.density * c.A * m.gravity().value(at);
  for (const PointLoad& l : m.point_loads()) {
    if (!l.at.beam.valid() || l.at.s < 1 || l.at.p.norm() > 0 || l.follows) return std::nullopt;
    rod.tip_force += l.force.value(at);
    rod.tip_moment += l.moment.value(at);
  }
  return rod;
}

// The exact rod as a reference, one line, where it is the equilibrium that the finest mesh found.
void use_rod(const Model& model, double at, Comparison& out) {
  const auto problem = as_rod(model, at);
  if (!problem) return;
  const Line fine = line_of(out.layout, out.moments[0], model.beams()[0].name);
  // So many points that chords for arcs shift its middle by less than the finest mesh is off.
  constexpr int points = 1921;  // ends of 10, 20, 40 and 80 elements are among them
  const auto shape = elastic::solve_rod_near(*problem, fine, points);
  constexpr double same =
      0.02;  // of the size; a mesh of eight times the elements is far nearer to its own rod
  constexpr int places = 16;
  if (!shape || line_distance(MeasuredLine(shape->points), MeasuredLine(fine), places) >
                    same * extent_of(out.moments[0]))
    return;
  out.layout = {};
  out.layout.title = model.title();
  out.layout.polylines.push_back({model.beams()[0].name, points, 0, std::nullopt});
  result::Snapshot s;
  s.points = shape->points;
  out.moments = {std::move(s)};
  out.reference = "the exact rod (Kirchhoff's equations, by shooting)";
}

// The first method that finds a rest with eight times the elements.
void use_finest(const Model& model, const RunOptions& options, double at, Comparison& out) {
  Candidate finest;
  for (const MethodInfo* method : rest_methods()) {
    finest = rest_by(*method, chain::refined(model, 8), options, at);
    if (!finest.refusal.empty()) continue;
    out.reference = fmt::format("{} with eight times the elements", method->name());
    break;
  }
  if (!finest.refusal.empty())
    throw std::invalid_argument("no method finds an equilibrium: " + finest.refusal);
  out.layout = finest.layout;
  out.moments = finest.moments;
}

void rank(std::vector<Candidate>& candidates) {
  std::ranges::stable_sort(candidates, [](const Candidate& a, const Candidate& b) {
    if (a.refusal.empty() != b.refusal.empty()) return a.refusal.empty();
    return a.error < b.error;
  });
}

Candidate simulate(const Model& model, const RunOptions& options, double time, double frame) {
  Candidate c;
  Driver driver(model, options);
  c.layout = driver.layout();
  const auto steps = static_cast<std::int64_t>(std::llround(time / options.step));
  const auto every = std::max<std::int64_t>(1, std::llround(frame / options.step));
  driver.observe(c.moments.emplace_back());
  for (std::int64_t i = 0; i < steps && c.refusal.empty(); ++i) {
    driver.set_clock(i, static_cast<double>(i) * options.step);
    result::SolveReport report;
    c.seconds += seconds_of([&] { report = driver.step(options.step); });
    if (!report.ok()) c.refusal = report.message;
    driver.set_clock(i + 1, static_cast<double>(i + 1) * options.step);
    if ((i + 1) % every == 0) {
      driver.observe(c.moments.emplace_back());
      c.moments.back().time = static_cast<double>(i + 1) * options.step;
    }
  }
  c.seconds /= static_cast<double>(std::max<std::int64_t>(1, steps));
  return c;
}

// Bodies of the same name, over all moments that both have; then the beams' tips.
double motion_distance(const Model& model, const Candidate& c, const Comparison& r) {
  double most = 0;
  bool any = false;
  const std::size_t n = std::min(c.moments.size(), r.moments.size());
  for (std::size_t f = 0; f < c.layout.frames.size(); ++f)
    for (std::size_t g = 0; g < r.layout.frames.size(); ++g) {
      if (c.layout.frames[f].name != r.layout.frames[g].name) continue;
      any = true;
      for (std::size_t k = 0; k < n; ++k)
        most = std::max(most, (c.moments[k].positions[f] - r.moments[k].positions[g]).norm());
      break;
    }
  for (std::size_t k = 0; k < n && !model.beams().empty(); ++k, any = true)
    most = std::max(most, beam_distance(model, c.layout, c.moments[k], r.layout, r.moments[k]));
  return any ? most : INFINITY;
}

}  // namespace

Comparison compare_statics(const Model& given, const RunOptions& options, double at) {
  Comparison out;
  out.time = at;
  std::vector<Model> models;  // of the candidates
  for (const MethodInfo* method : rest_methods())
    for (const double factor : {0.25, 0.5, 1.0, 2.0}) {
      const Model model = chain::refined(given, factor);
      int elements = 0;
      for (const Beam& beam : model.beams()) elements += beam.elements;
      Candidate c = rest_by(*method, model, options, at);
      c.method = method->name();
      c.setting = fmt::format("{} elements", elements);
      if (out.candidates.empty() || out.candidates.back().method != c.method ||
          out.candidates.back().setting != c.setting)
        out.candidates.push_back(std::move(c)), models.push_back(model);
    }
  use_finest(given, options, at, out);
  use_rod(given, at, out);
  const double size = extent_of(out.moments.front());
  for (std::size_t i = 0; i < models.size(); ++i)
    if (Candidate& c = out.candidates[i]; c.refusal.empty())
      c.error = beam_distance(models[i], c.layout, c.moments[0], out.layout, out.moments[0]) / size;
  rank(out.candidates);
  return out;
}

Comparison compare_motion(const Model& model, const RunOptions& run, double time) {
  Comparison out;
  out.kind = Comparison::Kind::motion;
  out.time = time;
  const double frame = std::max(run.frame, time / 200);
  RunOptions fine = run;
  fine.step /= 8;
  choose_method("articulated:midpoint", fine);
  Candidate reference = simulate(model, fine, time, frame);
  if (!reference.refusal.empty())
    throw std::invalid_argument("the reference does not converge: " + reference.refusal);
  out.reference = fmt::format("articulated, midpoint, steps of {:g} s", fine.step);
  out.layout = reference.layout;
  out.moments = reference.moments;
  const double size = extent_of(out.moments.front());
  for (const MethodChoice& choice : method_choices(model, run))
    for (const double share : {1.0, 0.5}) {
      Candidate c;
      RunOptions options = run;
      options.step *= share;
      if (choice.applies) {
        choose_method(choice.name, options);
        try {
          c = simulate(model, options, time, frame);
        } catch (const StaticFailure& e) {
          c.refusal = e.what();
        } catch (const ModelError& e) {  // it has no rest to be reduced at
          c.refusal = short_reason(e.problems());
        }
      } else {
        c.refusal = choice.reason;
      }
      c.method = choice.label;
      c.setting = fmt::format("steps of {:g} s", options.step);
      if (c.refusal.empty()) c.error = motion_distance(model, c, out) / size;
      out.candidates.push_back(std::move(c));
      if (!choice.applies) break;
    }
  rank(out.candidates);
  return out;
}

// Stripes along a line go with it: they follow it in the layout, named after it.
static void exaggerate_lines(const result::Layout& layout, const result::Layout& of,
                             const result::Snapshot& reference, double by, result::Snapshot& s) {
  std::vector<Vec3> shift;
  std::size_t first = 0;
  std::string main;
  for (const result::PolylineInfo& line : layout.polylines) {
    const auto n = static_cast<std::size_t>(line.points);
    if (main.empty() || !line.name.starts_with(main + ".") || shift.size() != n) {
      main = line.name;
      const MeasuredLine own(line_of(layout, s, line.name)), there(line_of(of, reference, line.name));
      shift.assign(n, Vec3::Zero());
      for (std::size_t i = 0; i < n && !own.empty() && !there.empty(); ++i)
        shift[i] = by * (s.points[first + i] - there.at(own.fraction(i)));
    }
    for (std::size_t i = 0; i < n; ++i) s.points[first + i] += shift[i];
    first += n;
  }
}

std::vector<result::Snapshot> exaggerated(const Model& model, const Candidate& c, const Comparison& r,
                                          double factor) {
  std::vector<result::Snapshot> out = c.moments;
  const auto frame_of = [](const result::Layout& layout, const std::string& name) {
    return static_cast<std::size_t>(std::ranges::find(layout.frames, name, &result::FrameInfo::name) -
                                    layout.frames.begin());
  };
  for (std::size_t k = 0; k < std::min(out.size(), r.moments.size()); ++k) {
    exaggerate_lines(c.layout, r.layout, r.moments[k], factor - 1, out[k]);
    for (const Body& body : model.bodies()) {
      const std::size_t f = frame_of(c.layout, body.name), g = frame_of(r.layout, body.name);
      if (f < c.layout.frames.size() && g < r.layout.frames.size())
        out[k].positions[f] += (factor - 1) * (c.moments[k].positions[f] - r.moments[k].positions[g]);
    }
  }
  return out;
}

}  // namespace limber::sim
