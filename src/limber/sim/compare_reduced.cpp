// Reduced models beside the whole mechanism: pose of the ends, force, gaps of the joints, and what a step
// costs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "limber/articulated/articulated.h"
#include "limber/elastic/beam_links.h"
#include "limber/math/dense.h"
#include "limber/rom/statics.h"
#include "limber/sim/compare.h"
#include "limber/sim/reduce.h"

namespace limber::sim {

namespace {

using Clock = std::chrono::steady_clock;
using rom::Mechanism;

// A load on the ends of one mechanism, and the whole mechanism at rest under it.
struct Truth {
  int mechanism = 0;
  std::vector<Vec6> wrenches;  // dead, the base's axes
  rom::Point point;
};

// Along and about each axis on each end: shares of the range the points were chosen for or, where they were
// not, as much as moves the end by these parts of the mechanism's radius (or of half a turn) to first order.
std::vector<std::vector<Vec6>> loads_on(const Mechanism& m) {
  std::vector<std::vector<Vec6>> out;
  const bool ranged = m.quality.force > 0 || m.quality.moment > 0;
  for (std::size_t e = 0; e < m.ends.size(); ++e)
    for (int k = 0; k < 6; ++k)
      for (const double share : ranged ? std::array{0.25, 0.5, 1.0} : std::array{0.05, 0.1, 0.2}) {
        double size = k < 3 ? m.quality.moment : m.quality.force;
        if (!ranged) {
          const MatX& C = m.points[0].C;
          const Mat3& R = m.points[0].X[m.ends[e]].R;
          Vec6 w = Vec6::Zero();
          w.segment<3>(k < 3 ? 0 : 3) = R.transpose() * Vec3::Unit(k % 3);
          const Vec6 xi = C.block<6, 6>(6 * e, 6 * e) * w;
          const double moved = std::max(xi.head<3>().norm() / pi, xi.tail<3>().norm() / m.radius);
          size = moved > 0 ? 1 / moved : 0;
        }
        if (!(size > 0)) continue;
        std::vector<Vec6> w(m.ends.size(), Vec6::Zero());
        w[e][k] = share * size;
        out.push_back(std::move(w));
      }
  return out;
}

// `without`: how many loads the whole mechanism finds no stable rest under.
std::vector<Truth> find_truths(const Model& linked, const rom::ReducedModel& reduced,
                               const rom::BuildOptions& build, int& without) {
  std::vector<Truth> out;
  for (std::size_t k = 0; k < reduced.mechanisms.size(); ++k)
    for (const auto& wrenches : loads_on(reduced.mechanisms[k])) {
      Settled s = settle(linked, reduced.mechanisms[k], wrenches, 0, build);
      if (s.ok)
        out.push_back({static_cast<int>(k), wrenches, std::move(s.point)});
      else
        ++without;
    }
  return out;
}

// Force along the coordinates where the whole has them − what holds it there; by the work it does, so that
// stiff directions do not count more than what they move: √(Δgᵀ H⁻¹ Δg / gᵀ H⁻¹ g).
double force_error(const Mechanism& m, const rom::Point& truth) {
  rom::Blend blend(m);
  blend.at << truth.at, m.points[0].input;
  rom::blend_at(m, blend);
  const int n = m.coordinates();
  const VecX force = truth.slope.head(n), off = blend.force - force;
  const MatX H = truth.response.topLeftCorner(n, n);
  const double all = force.dot(math::solve_square(H, force));
  return all > 0 ? std::sqrt(std::max(0.0, off.dot(math::solve_square(H, off))) / all) : 0;
}

class Drawing {
 public:
  explicit Drawing(const elastic::LinkedModel& linked) : linked_(linked) {
    layout_.title = linked.model.title();
    for (const Body& b : linked.model.bodies()) layout_.frames.push_back({b.name, b.shapes, b.color, false});
    for (const elastic::BeamTrace& t : linked.traces)
      layout_.polylines.push_back({t.name, static_cast<int>(t.points.size()), t.radius, std::nullopt});
  }
  const result::Layout& layout() const { return layout_; }
  void add(double at, const std::vector<Pose>& X, std::vector<result::Snapshot>& to) const {
    result::Snapshot& s = to.emplace_back();
    s.resize(layout_);
    s.time = at;
    for (std::size_t i = 0; i < X.size(); ++i)
      s.positions[i] = X[i].p, s.rotations[i] = math::to_quat(X[i].R);
    std::size_t next = 0;
    for (const elastic::BeamTrace& t : linked_.traces)
      for (std::size_t k = 0; k < t.points.size(); ++k)
        s.points[next++] = t.bodies[k].valid() ? Vec3(X[t.bodies[k].value] * t.points[k]) : t.points[k];
  }

 private:
  const elastic::LinkedModel& linked_;
  result::Layout layout_;
};

// Poses of all bodies: of one mechanism as given, of the others at rest.
std::vector<Pose> poses(const Model& linked, const rom::ReducedModel& reduced, int of,
                        const std::vector<Pose>& X) {
  const std::vector<Pose> start = linked.initial_poses();
  std::vector<Pose> out = start;
  for (std::size_t k = 0; k < reduced.mechanisms.size(); ++k) {
    const Mechanism& m = reduced.mechanisms[k];
    const Pose base = m.free_base ? start[m.bodies[0]] : Pose{};
    for (std::size_t l = 0; l < m.bodies.size(); ++l)
      out[m.bodies[l]] = base * (static_cast<int>(k) == of ? X[l] : m.points[0].X[l]);
  }
  return out;
}

// The least of several rounds: what a step costs, not what disturbed it.
template <class Step>
double step_seconds(const Step& step) {
  double least = INFINITY;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    int count = 0;
    double spent = 0;
    do {
      step();
      ++count;
      spent = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (spent < 0.01 || count < 5);
    least = std::min(least, spent / count);
  }
  return least;
}

// One step of all mechanisms with a reduced model, without contact: the mechanism alone, as the whole is.
double reduced_step(const Model& linked, const rom::ReducedModel& reduced, const RunOptions& run) {
  ModelParts parts = linked.parts();
  parts.contact.reset();
  rom::Options options = run.rom;
  const rom::System system = rom::compile(Model(std::move(parts)), reduced, options);
  rom::State state = system.rest();
  rom::Workspace w(system);
  return step_seconds([&] { rom::step(system, state, w, run.step); });
}

double whole_step(const Model& linked, const rom::ReducedModel& reduced, const RunOptions& run) {
  double sum = 0;
  for (const Mechanism& m : reduced.mechanisms) {
    const auto system =
        articulated::compile(rom::model_of(linked, m, linked.initial_poses(), {}, 0), run.articulated);
    articulated::State state = system.rest();
    articulated::Workspace w(system);
    sum += step_seconds([&] { articulated::step(system, state, w, run.step); });
  }
  return sum;
}

Candidate measure(const elastic::LinkedModel& linked, const Drawing& drawing,
                  const rom::ReducedModel& reduced, const std::vector<Truth>& truths, const RunOptions& run) {
  Candidate c;
  c.method = "reduced";
  std::size_t points = 0;
  for (const Mechanism& m : reduced.mechanisms) points = std::max(points, m.points.size());
  c.setting = fmt::format("{} {}", points, points == 1 ? "point" : "points");
  c.layout = drawing.layout();
  for (std::size_t k = 0; k < truths.size(); ++k) {
    const Truth& t = truths[k];
    const Mechanism& m = reduced.mechanisms[t.mechanism];
    const rom::ReducedRest at = rom::rest_under(m, t.wrenches, m.points[0].input);
    if (!at.ok) {
      c.refusal = fmt::format("finds no rest under load {} of {}", k + 1, truths.size());
      return c;
    }
    c.error = std::max(c.error, rom::end_error(m, at.X, t.point.X));
    c.gap = std::max(c.gap.value_or(0), rom::joint_gap(m, at.X));
    c.force_error = std::max(c.force_error.value_or(0), force_error(m, t.point));
    drawing.add(static_cast<double>(k), poses(linked.model, reduced, t.mechanism, at.X), c.moments);
  }
  c.seconds = reduced_step(linked.model, reduced, run);
  return c;
}

}  // namespace

Comparison compare_reduced(const Model& model, const RunOptions& run) {
  const elastic::LinkedModel linked = elastic::beams_to_links(model);
  const rom::ReducedModel reduced = run.reduced ? *run.reduced : reduce(model, run.rom);
  int without = 0;
  const std::vector<Truth> truths = find_truths(linked.model, reduced, run.rom.build, without);
  if (truths.empty()) throw std::invalid_argument("the mechanism finds no rest under any load on its ends");
  const Drawing drawing(linked);
  Comparison out;
  out.kind = Comparison::Kind::reduced;
  out.reference =
      fmt::format("the whole mechanism (articulated) at rest under {} loads on its ends{}", truths.size(),
                  without > 0 ? fmt::format("; under {} more it finds no stable rest", without) : "");
  out.layout = drawing.layout();
  for (std::size_t k = 0; k < truths.size(); ++k)
    drawing.add(static_cast<double>(k), poses(linked.model, reduced, truths[k].mechanism, truths[k].point.X),
                out.moments);
  out.candidates.push_back(measure(linked, drawing, reduced, truths, run));
  rom::ReducedModel one = reduced;
  bool several = false;
  for (Mechanism& m : one.mechanisms)
    if (m.points.size() > 1) {
      several = true;
      m.points.resize(1);
      rom::join_points(m);
    }
  if (several) out.candidates.push_back(measure(linked, drawing, one, truths, run));
  Candidate whole;
  whole.method = "articulated", whole.setting = "the whole";
  whole.seconds = whole_step(linked.model, reduced, run);
  whole.force_error = whole.gap = 0;
  whole.layout = out.layout, whole.moments = out.moments;
  out.candidates.push_back(std::move(whole));
  std::ranges::stable_sort(out.candidates, [](const Candidate& a, const Candidate& b) {
    return a.refusal.empty() != b.refusal.empty() ? a.refusal.empty() : a.error < b.error;
  });
  return out;
}

}  // namespace limber::sim
