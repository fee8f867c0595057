#include "limber/sim/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/elastic/beam_links.h"
#include "limber/model/features.h"
#include "limber/rom/blend.h"
#include "limber/rom/statics.h"

namespace limber::sim {

using rom::Mechanism;
using rom::Point;

namespace {

// Wrenches that the model's own loads and ours put on the ends, in their own axes.
VecX end_wrenches(const Model& sub, const Mechanism& m, const Point& p) {
  VecX out = VecX::Zero(6 * static_cast<int>(m.ends.size()));
  for (const PointLoad& load : sub.point_loads())
    for (std::size_t e = 0; e < m.ends.size(); ++e) {
      if (load.at.body.value != m.ends[e]) continue;
      const Mat3& R = p.X[m.ends[e]].R;
      Vec3 f = load.force.value(0), moment = load.moment.value(0);
      if (!load.follows) f = R.transpose() * f, moment = R.transpose() * moment;
      out.segment<3>(6 * e) += moment + load.at.p.cross(f);
      out.segment<3>(6 * e + 3) += f;
    }
  return out;
}

VecX input_values(const Model& linked, const Mechanism& m, double t) {
  VecX out(m.inputs.size());
  for (std::size_t k = 0; k < m.inputs.size(); ++k)
    for (const Drive& d : linked.drives())
      if (d.joint.value == m.bodies[m.inputs[k].joint]) out[k] = d.target[m.inputs[k].dof].value(t);
  return out;
}

}  // namespace

Settled settle(const Model& linked, const Mechanism& m, const std::vector<Vec6>& wrenches, double t,
               const rom::BuildOptions& options) {
  Settled out;
  const Model sub = rom::model_of(linked, m, linked.initial_poses(), wrenches, t);
  const auto system = articulated::compile(sub);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  articulated::StaticOptions statics;
  statics.modes = 0;
  const auto found = articulated::solve_static_motion(system, state, w, m.ends, statics);
  if (!found.motion) {
    out.message = found.result.report.message;
    return out;
  }
  try {
    out.point = rom::make_point(m, *found.motion, options);
  } catch (const std::invalid_argument& e) {  // it rests, and cannot be linearised there
    out.message = e.what();
    return out;
  }
  out.point.time = t;
  out.point.input = input_values(linked, m, t);
  out.point.wrench = end_wrenches(sub, m, out.point);
  out.point.energy = found.result.energy.elastic + found.result.energy.gravity;
  out.point.watched_at.resize(m.watched());
  for (int k = 0; k < m.watched(); ++k) {
    const auto [joint, dof] = m.watched_joint(k);
    const multibody::Link& link = found.motion->tree[joint];
    out.point.watched_at[k] = multibody::get_coordinates(link, state.q.data() + link.q)[dof];
  }
  out.ok = true;
  return out;
}

namespace {

// Loads to try on the ends: along and about the axes, both ways, and mixed ones; the same every time.
class Loads {
 public:
  Loads(const rom::Options& options, std::size_t ends) : options_(options), ends_(ends) {}

  std::vector<std::vector<Vec6>> axes(double share) const {
    std::vector<std::vector<Vec6>> out;
    for (std::size_t e = 0; e < ends_; ++e)
      for (int k = 0; k < 6; ++k)
        for (const double sign : {1.0, -1.0}) {
          const double size = k < 3 ? options_.moment : options_.force;
          if (!(size > 0)) continue;
          std::vector<Vec6> w(ends_, Vec6::Zero());
          w[e][k] = sign * share * size;
          out.push_back(std::move(w));
        }
    return out;
  }

  std::vector<std::vector<Vec6>> mixed(int count) {
    std::vector<std::vector<Vec6>> out;
    for (int i = 0; i < count; ++i) {
      std::vector<Vec6> w(ends_);
      for (Vec6& wrench : w) {
        Vec3 m(next(), next(), next()), f(next(), next(), next());
        wrench << options_.moment * m / std::max(1.0, m.norm()), options_.force * f / std::max(1.0, f.norm());
      }
      out.push_back(std::move(w));
    }
    return out;
  }

 private:
  double next() {
    seed_ = seed_ * 1664525u + 1013904223u;
    return (seed_ >> 8) * (2.0 / 16777216) - 1;
  }
  const rom::Options& options_;
  std::size_t ends_;
  unsigned seed_ = 5;
};

constexpr std::size_t most_tried = 500;  // links of a mechanism that is reduced to see whether it can be

class Reducer {
 public:
  Reducer(const Model& linked, const rom::Options& options, const ReduceProgress& progress, Mechanism& m)
      : linked_(linked), options_(options), progress_(progress), m_(m) {
    m_.modes = options.build.modes;
    m_.sites = rom::joint_sites(rom::model_of(linked, m, linked.initial_poses(), {}, 0));
  }

  // At rest, and where a scene asks for one.
  void given_points() {
    const std::vector<Vec6> none(m_.ends.size(), Vec6::Zero());
    add(none, 0, "at rest");
    for (const rom::PointRequest& request : options_.points) add(request);
  }

  void run() {
    given_points();
    rom::align(m_);
    if (options_.force > 0 || options_.moment > 0) choose_by_error();
  }

  // A point that was asked for, if it is about this mechanism.
  void add(const rom::PointRequest& request) {
    std::vector<Vec6> wrenches(m_.ends.size(), Vec6::Zero());
    bool any = request.loads.empty();
    for (const rom::EndLoad& load : request.loads)
      for (std::size_t e = 0; e < m_.ends.size(); ++e)
        if (m_.bodies[m_.ends[e]] == rom::find_end(linked_, load.end)) {
          wrenches[e] << load.moment, load.force;
          any = true;
        }
    if (any) add(wrenches, request.time, fmt::format("at point {}", m_.points.size()));
  }

 private:
  void add(const std::vector<Vec6>& wrenches, double t, const std::string& what) {
    Settled s = settle(linked_, m_, wrenches, t, options_.build);
    if (!s.ok)
      throw ModelError(
          {{"mechanism", m_.name, "", fmt::format("cannot be reduced {}: {}", what, s.message)}});
    m_.points.push_back(std::move(s.point));
    if (progress_) progress_(m_.name, static_cast<int>(m_.points.size()));
  }

  struct Trial {
    std::vector<Vec6> wrenches;
    Point truth;
    bool used = false;
    double end = 0, gap = 0;
  };

  void try_loads(const std::vector<std::vector<Vec6>>& loads, std::vector<Trial>& out) {
    for (const auto& wrenches : loads) {
      Settled s = settle(linked_, m_, wrenches, 0, options_.build);  // not ok: more than it can bear
      if (s.ok) out.push_back({wrenches, std::move(s.point)});
    }
  }

  void measure(Trial& t) const {
    const rom::ReducedRest at = rom::rest_under(m_, t.wrenches, m_.points[0].input);
    t.end = at.ok ? rom::end_error(m_, at.X, t.truth.X) : 1e3;
    t.gap = at.ok ? rom::joint_gap(m_, at.X) : 1e3;
  }

  // The worst load gets a point until all are within the bounds. True if any got one.
  bool take_worst(std::vector<Trial>& trials) {
    bool any = false;
    while (static_cast<int>(m_.points.size()) < options_.most_points) {
      Trial* worst = nullptr;
      double most = 1;
      for (Trial& t : trials) {
        if (t.used) continue;
        measure(t);
        const double over = std::max(t.end / options_.end_error, t.gap / options_.gap_error);
        if (over > most) most = over, worst = &t;
      }
      if (!worst) break;
      any = worst->used = true;
      m_.points.push_back(worst->truth);
      rom::align(m_);
      if (progress_) progress_(m_.name, static_cast<int>(m_.points.size()));
    }
    return any;
  }

  // Points until loads along the axes, mixed ones and fresh ones are all within the bounds.
  void choose_by_error() {
    Loads loads(options_, m_.ends.size());
    std::vector<Trial> trials;
    try_loads(loads.axes(1), trials);
    try_loads(loads.axes(0.5), trials);
    try_loads(loads.mixed(8), trials);
    // As long as fresh loads find something: those of the last round found nothing, or there are no points
    // left.
    for (int round = 0; round < 12; ++round) {
      const bool more = take_worst(trials);
      const bool room = static_cast<int>(m_.points.size()) < options_.most_points;
      if ((round > 0 && !more) || !room) break;
      try_loads(loads.mixed(16), trials);
    }
    rom::Quality& q = m_.quality;
    q.gap_bound = options_.gap_error, q.end_bound = options_.end_error;
    q.force = options_.force, q.moment = options_.moment;
    for (Trial& t : trials) {
      measure(t);
      ++q.tested;
      q.end = std::max(q.end, t.end), q.gap = std::max(q.gap, t.gap);
    }
  }

  const Model& linked_;
  const rom::Options& options_;
  const ReduceProgress& progress_;
  Mechanism& m_;
};

void check_ends(const Model& linked, const std::vector<Mechanism>& mechanisms,
                const rom::PointRequest& request) {
  for (const rom::EndLoad& load : request.loads) {
    const int body = rom::find_end(linked, load.end);
    const bool known = std::any_of(mechanisms.begin(), mechanisms.end(), [&](const Mechanism& m) {
      return std::any_of(m.ends.begin(), m.ends.end(), [&](int e) { return m.bodies[e] == body; });
    });
    if (!known)
      throw ModelError({{"run", "", "rom.points", fmt::format("\"{}\" is no end effector", load.end)}});
  }
}

rom::Partition mechanisms_of(const Model& model, const Model& linked, const rom::Options& options) {
  require(model, Question::rom_run);
  rom::Partition parts = rom::partition(linked, options.ends);
  for (const rom::PointRequest& request : options.points) check_ends(linked, parts.mechanisms, request);
  return parts;
}

}  // namespace

void check_reducible(const Model& model, const rom::Options& options) {
  const Model linked = elastic::beams_to_links(model).model;
  std::vector<Problem> problems;
  for (Mechanism& m : mechanisms_of(model, linked, options).mechanisms) try {
      if (m.bodies.size() <= most_tried) Reducer(linked, options, {}, m).given_points();
    } catch (const ModelError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  if (!problems.empty()) throw ModelError(std::move(problems));
}

rom::ReducedModel reduce(const Model& model, const rom::Options& options, const ReduceProgress& progress) {
  const Model linked = elastic::beams_to_links(model).model;
  rom::Partition parts = mechanisms_of(model, linked, options);
  for (Mechanism& m : parts.mechanisms) Reducer(linked, options, progress, m).run();
  return {std::move(parts.mechanisms)};
}

void add_point(const Model& model, rom::ReducedModel& reduced, const rom::PointRequest& request,
               const rom::BuildOptions& options) {
  const Model linked = elastic::beams_to_links(model).model;
  check_ends(linked, reduced.mechanisms, request);
  rom::ReducedModel out = reduced;
  rom::Options all;
  all.build = options;
  for (Mechanism& m : out.mechanisms) {
    Reducer(linked, all, {}, m).add(request);
    rom::align(m);
  }
  reduced = std::move(out);
}

}  // namespace limber::sim
