#include "limber/sim/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "limber/articulated/statics.h"
#include "limber/elastic/beam_links.h"
#include "limber/math/trig.h"
#include "limber/model/features.h"
#include "limber/multibody/joint_kinematics.h"
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

// What the loads, dead ones on inner links too, do along the coordinates at the point; the potential of those
// on inner links.
struct LoadWork {
  VecX slope;
  double potential = 0;
};
LoadWork work_of_loads(const Model& sub, const Mechanism& m, const Point& p) {
  LoadWork out{VecX::Zero(m.columns())};
  for (std::size_t e = 0; e < m.ends.size(); ++e) {
    const Eigen::Map<const MatX> map(p.map.data() + static_cast<std::size_t>(m.ends[e]) * 6 * m.columns(), 6,
                                     m.columns());
    out.slope += map.transpose() * p.wrench.segment<6>(6 * e);
  }
  for (const PointLoad& load : sub.point_loads()) {
    if (!load.at.body.valid() || load.follows ||
        std::find(m.ends.begin(), m.ends.end(), load.at.body.value) != m.ends.end())
      continue;
    out.potential -= load.force.value(0).dot(p.X[load.at.body.value] * load.at.p);
  }
  return out;
}

// What servos and driving forces store, but for ½ kp s² of those that are inputs: the same at all points.
double drive_energy(const Model& sub, const Mechanism& m, const rom::Rest& rest) {
  double out = 0;
  for (const Drive& d : sub.drives()) {
    const multibody::Link& link = rest.motion.tree[d.joint.value];
    for (int k = 0; k < link.dofs; ++k) {
      const double x = rest.x[link.v + k], target = d.target[k].value(0);
      if (d.kind == Drive::Kind::force) {
        out -= target * x;
        continue;
      }
      const bool input = std::any_of(m.inputs.begin(), m.inputs.end(), [&](const rom::Input& i) {
        return i.joint == d.joint.value && i.dof == k;
      });
      out += d.kp[k] * (0.5 * x * x - target * x + (input ? 0 : 0.5 * target * target));
    }
  }
  return out;
}

// How the rates of the joints change their coordinates: one but for balls and free joints, by differences.
MatX rate_to_change(const multibody::Tree& tree, const std::vector<double>& q) {
  MatX out = MatX::Identity(tree.v_count(), tree.v_count());
  constexpr double h = 1e-6;
  for (const multibody::Link& link : tree.links()) {
    if (!has_rotation_vector(link.kind)) continue;
    for (int k = 0; k < link.dofs; ++k) {
      double ahead[7], behind[7], rate[6] = {};
      rate[k] = 1;
      multibody::integrate_joint(link.kind, q.data() + link.q, rate, h, ahead);
      multibody::integrate_joint(link.kind, q.data() + link.q, rate, -h, behind);
      const DofArray a = multibody::get_coordinates(link, ahead),
                     b = multibody::get_coordinates(link, behind);
      for (int r = 0; r < link.dofs; ++r) out(link.v + r, link.v + k) = (a[r] - b[r]) / (2 * h);
    }
  }
  return out;
}

VecX joint_coordinates(const multibody::Tree& tree, const std::vector<double>& q) {
  VecX out(tree.v_count());
  for (const multibody::Link& link : tree.links()) {
    const DofArray x = multibody::get_coordinates(link, q.data() + link.q);
    std::copy_n(x.data(), link.dofs, out.data() + link.v);
  }
  return out;
}

// A whole mechanism at rest under loads, and its small motions there.
struct WholeRest {
  Model sub;
  articulated::StaticMotion found;
  articulated::State state;
  std::string message;
};
WholeRest whole_rest(const Model& linked, const Mechanism& m, const std::vector<Vec6>& wrenches, double t) {
  WholeRest out{rom::model_of(linked, m, linked.initial_poses(), wrenches, t), {}, {}, {}};
  const auto system = articulated::compile(out.sub);
  out.state = system.rest();
  articulated::Workspace w(system);
  articulated::StaticOptions statics;
  statics.modes = 0;
  out.found = articulated::solve_static_motion(system, out.state, w, m.ends, statics);
  if (!out.found.motion) out.message = out.found.result.report.message;
  return out;
}

rom::Rest rest_of(const WholeRest& w) {
  const multibody::Tree& tree = w.found.motion->tree;
  return {*w.found.motion, joint_coordinates(tree, w.state.q), rate_to_change(tree, w.state.q)};
}

// Directions that the mechanism has under this load and its coordinates do not span yet are added to them.
bool extend_coordinates(const Model& linked, Mechanism& m, const std::vector<Vec6>& wrenches, double t,
                        const rom::BuildOptions& options) {
  const WholeRest whole = whole_rest(linked, m, wrenches, t);
  if (!whole.found.motion) return false;
  try {
    return rom::extend_coordinates(m, rest_of(whole), options);
  } catch (const std::invalid_argument&) {  // it rests, and cannot be linearised there: settle() says why
    return false;
  }
}

}  // namespace

Settled settle(const Model& linked, const Mechanism& m, const std::vector<Vec6>& wrenches, double t,
               const rom::BuildOptions& options) {
  Settled out;
  const WholeRest whole = whole_rest(linked, m, wrenches, t);
  if (!whole.found.motion) {
    out.message = whole.message;
    return out;
  }
  const rom::Rest rest = rest_of(whole);
  Point& p = out.point;
  try {
    p = rom::make_point(m, rest, options);
  } catch (const std::invalid_argument& e) {  // it rests, and cannot be linearised there
    out.message = e.what();
    return out;
  }
  const int n = m.coordinates();
  p.at = rom::coordinates_of(m, rest.x);
  p.time = t;
  p.input = input_values(linked, m, t);
  p.wrench = end_wrenches(whole.sub, m, p);
  const LoadWork loads = work_of_loads(whole.sub, m, p);
  p.slope = loads.slope;
  p.energy = whole.found.result.energy.elastic + whole.found.result.energy.gravity + loads.potential;
  p.energy += drive_energy(whole.sub, m, rest);
  for (std::size_t k = 0; k < m.inputs.size(); ++k) {
    const multibody::Link& link = rest.motion.tree[m.inputs[k].joint];
    p.slope[n + static_cast<int>(k)] = -m.inputs[k].gain * rest.x[link.v + m.inputs[k].dof];
  }
  p.watched_at.resize(m.watched());
  for (int k = 0; k < m.watched(); ++k) {
    const auto [joint, dof] = m.watched_joint(k);
    p.watched_at[k] = rest.x[rest.motion.tree[joint].v + dof];
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

  // Drawn from the range: directions alike, sizes from nothing to all of it, on every end.
  std::vector<std::vector<Vec6>> mixed(int count) {
    std::vector<std::vector<Vec6>> out;
    for (int i = 0; i < count; ++i) {
      std::vector<Vec6> w(ends_);
      for (Vec6& wrench : w) wrench << options_.moment * in_ball(), options_.force * in_ball();
      out.push_back(std::move(w));
    }
    return out;
  }

 private:
  double next() {
    seed_ = seed_ * 1664525u + 1013904223u;
    return (seed_ >> 8) * (2.0 / 16777216) - 1;
  }
  Vec3 in_ball() {
    Vec3 x;
    do
      for (int c = 0; c < 3; ++c) x[c] = next();
    while (x.norm() > 1);
    return x;
  }
  const rom::Options& options_;
  std::size_t ends_;
  unsigned seed_ = 5;
};

constexpr int held_out = 437, most_claims = 4;  // 99 % of all loads at 95 % confidence
constexpr double aim = 0.9;                     // of the bounds, so that loads between those tried keep them
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
    extend_coordinates(linked_, m_, none, 0, options_.build);
    for (const rom::PointRequest& request : options_.points)
      if (const auto wrenches = wrenches_of(request))
        extend_coordinates(linked_, m_, *wrenches, request.time, options_.build);
    add(none, 0, "at rest");
    for (const rom::PointRequest& request : options_.points) add(request);
  }

  void run() {
    given_points();
    rom::join_points(m_);
    if (options_.force > 0 || options_.moment > 0) choose_by_error();
  }

  // A point that was asked for, if it is about this mechanism.
  void add(const rom::PointRequest& request) {
    if (const auto wrenches = wrenches_of(request))
      add(*wrenches, request.time, fmt::format("at point {}", m_.points.size()));
  }

 private:
  std::optional<std::vector<Vec6>> wrenches_of(const rom::PointRequest& request) const {
    std::vector<Vec6> wrenches(m_.ends.size(), Vec6::Zero());
    bool any = request.loads.empty();
    for (const rom::EndLoad& load : request.loads)
      for (std::size_t e = 0; e < m_.ends.size(); ++e)
        if (m_.bodies[m_.ends[e]] == rom::find_end(linked_, load.end)) {
          wrenches[e] << load.moment, load.force;
          any = true;
        }
    if (!any) return std::nullopt;
    return wrenches;
  }

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

  // A load under which the whole finds no stable rest is none that a model of this range may claim: the range
  // is refused, with what of it can be had.
  void try_loads(const std::vector<std::vector<Vec6>>& loads, std::vector<Trial>& out) {
    for (std::size_t k = 0; k < loads.size(); ++k) {
      Settled s = settle(linked_, m_, loads[k], 0, options_.build);
      if (!s.ok) refuse_range(loads, loads[k], s.message);
      out.push_back({loads[k], std::move(s.point)});
    }
  }

  [[noreturn]] void refuse_range(const std::vector<std::vector<Vec6>>& loads, const std::vector<Vec6>& failed,
                                 const std::string& why) const {
    double share = 1;
    bool all = false;
    for (int halving = 0; halving < 12 && !all; ++halving) {
      share /= 2;
      all = std::ranges::all_of(loads, [&](std::vector<Vec6> wrenches) {
        for (Vec6& w : wrenches) w *= share;
        return settle(linked_, m_, wrenches, 0, options_.build).ok;
      });
    }
    const Vec3 f = failed[0].tail<3>(), m = failed[0].head<3>();
    throw ModelError(
        {{"mechanism", m_.name, "",
          fmt::format(
              "cannot be reduced for this range: under ({:.3g}, {:.3g}, {:.3g}) N and ({:.3g}, {:.3g}, "
              "{:.3g}) N m on \"{}\" it has no rest ({}); {}",
              f.x(), f.y(), f.z(), m.x(), m.y(), m.z(), m_.names[m_.ends[0]], why,
              all ? fmt::format("all {} loads that were tried have one up to {:.3g} N, {:.3g} N m",
                                loads.size(), share * options_.force, share * options_.moment)
                  : std::string("nor under any part of it"))}});
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
      double most = aim;
      for (Trial& t : trials) {
        if (t.used) continue;
        measure(t);
        const double over = std::max(t.end / options_.end_error, t.gap / options_.gap_error);
        if (over > most) most = over, worst = &t;
      }
      if (!worst) break;
      any = worst->used = true;
      m_.points.push_back(worst->truth);
      rom::join_points(m_);
      if (progress_) progress_(m_.name, static_cast<int>(m_.points.size()));
    }
    return any;
  }

  // Directions that the mechanism has under such loads and not at rest are added, and all its points made
  // anew.
  void span_directions(const std::vector<std::vector<Vec6>>& loads) {
    bool more = false;
    for (const auto& wrenches : loads)
      more = extend_coordinates(linked_, m_, wrenches, 0, options_.build) || more;
    if (!more) return;
    m_.points.clear();
    given_points();
    rom::join_points(m_);
  }

  // Points until loads along the axes, mixed ones and fresh ones are all within the bounds; then what they
  // are worth on others.
  void choose_by_error() {
    Loads loads(options_, m_.ends.size());
    const auto along = loads.axes(1), half = loads.axes(0.5), mixed = loads.mixed(8);
    span_directions(along);
    span_directions(mixed);
    std::vector<Trial> trials;
    try_loads(along, trials), try_loads(half, trials), try_loads(mixed, trials);
    // As long as fresh loads find something: those of the last round found nothing, or there are no points
    // left. Loads that showed that a claim is not kept become loads to choose by, and others are drawn.
    for (int attempt = 0; attempt < most_claims; ++attempt) {
      for (int round = 0; round < 12; ++round) {
        const bool more = take_worst(trials);
        if ((round > 0 && !more) || !room()) break;
        try_loads(loads.mixed(24), trials);
      }
      std::vector<Trial> others;
      try_loads(loads.mixed(held_out), others);
      claim(others);
      if (m_.quality.beyond == 0 || !room()) break;
      std::ranges::move(others, std::back_inserter(trials));
    }
  }

  bool room() const { return static_cast<int>(m_.points.size()) < options_.most_points; }

  // Of n loads drawn from the range all are within the worst that is found: so is, at a confidence of 1 − β,
  // at least the share β^(1/n) of all loads, in one claim of several β by their number.
  void claim(std::vector<Trial>& trials) {
    rom::Quality& q = m_.quality;
    q = {};
    q.gap_bound = options_.gap_error, q.end_bound = options_.end_error;
    q.force = options_.force, q.moment = options_.moment;
    q.tested = static_cast<int>(trials.size());
    q.share = math::pow(0.05 / most_claims, 1.0 / q.tested);
    for (Trial& t : trials) {
      measure(t);
      q.end = std::max(q.end, t.end), q.gap = std::max(q.gap, t.gap);
      if (t.end <= q.end_bound && t.gap <= q.gap_bound) continue;
      ++q.beyond;
      double size = 0;
      for (const Vec6& w : t.wrenches)
        size = std::max({size, options_.moment > 0 ? w.head<3>().norm() / options_.moment : 0,
                         options_.force > 0 ? w.tail<3>().norm() / options_.force : 0});
      q.reached = std::min(q.reached, size);
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
    rom::join_points(m);
  }
  reduced = std::move(out);
}

}  // namespace limber::sim
