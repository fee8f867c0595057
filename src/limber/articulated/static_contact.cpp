// Rests that lean on things (docs/theory/contact.md, "Rests").
//
// From where the structure stands it goes by steps of implicit Euler that each start at rest: with v₀ = 0 the
// law of a step,
//
//   M v/h = f(q₁) + Gᵀλ,   0 ≤ gap ⟂ λ_n ≥ 0,   λ_t in Coulomb's disk against the slip,
//
// is the nearest rest, pulled back by M/h² to where the step began: downhill at any length, and Newton's step
// where it is long. Contacts, loops, stops and servos are the run's own. What is left over is M v/h itself. A
// rest with friction is one of many: the one that is met on the way.
//
// Whether it is stable is tried: what pushes of a hundredth of the forces that act do must not grow. Steps of
// such a trial begin short, since long ones lead back onto a saddle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/articulated/equilibrium.h"
#include "limber/articulated/stepper.h"
#include "limber/math/stop.h"

namespace limber::articulated {

using result::Status;

namespace {

constexpr int most_steps = 2000;
constexpr double first_share = 0.01;  // of the natural time √(size/acceleration)
constexpr double longest_share =
    30;  // soft parts, whose weight bends them by their size, converge by 900 a step
constexpr double longest_way = 0.1;         // of the size, in a step that may be longer next time
constexpr double left_over = 1e-11;         // of the forces that act
constexpr double left_over_at_last = 1e-8;  // … where it falls no further
constexpr double gone = 100;                // sizes from where it began: nothing holds it
constexpr int pushes = 4;
constexpr double push = 0.01;        // of the forces that act …
constexpr double push_time = 0.1;    // … for so much of the natural time
constexpr double least_push = 1e-9;  // of the size: what sticks does not move at all
constexpr double grown = 10;         // times what the push did
constexpr double trial_growth = 1.2, trial_first = 1e-3, trial_last = 1.0;  // of steps, of the natural time

// The system as it stands at one time: nothing depends on time, nothing bounces, steps are implicit Euler's.
std::shared_ptr<const SystemData> frozen(const SystemData& s, double t) {
  auto out = std::make_shared<SystemData>(s);
  const auto now = [&](TimeFunction& f) { f = TimeFunction(f.value(t)); };
  const auto all_now = [&](VectorFunction& f) { f = VectorFunction::constant(f.value(t)); };
  ModelParts parts = s.model.parts();
  all_now(parts.gravity);
  if (parts.wind) all_now(parts.wind->velocity);
  // What gives is not damped: a long step's damper would count as a force of the rest.
  for (SurfaceKind& surface : parts.surfaces) surface.terms.damping.reset();
  if (parts.contact)
    for (SurfacePair& pair : parts.contact->pairs) pair.terms.damping.reset();
  out->model = Model(std::move(parts));
  for (CompiledLoad& load : out->loads) all_now(load.force), all_now(load.moment);
  for (CompiledRider& rider : out->riders) now(rider.position);
  // A servo's target goes on at its rate: kp (s − q) + kd s' with s' of this time.
  for (CompiledDrive& drive : out->drives)
    for (std::size_t k = 0; k < drive.drive.target.size(); ++k) {
      TimeFunction& f = drive.drive.target[k];
      const Drive& d = drive.drive;
      const bool leads = d.kind == Drive::Kind::servo && d.kp[k] > 0;
      f = TimeFunction(f.value(t) + (leads ? d.kd[k] / d.kp[k] * f.rate(t) : 0));
    }
  for (CompiledMotion& motion : out->motions)
    for (TimeFunction& f : motion.position) now(f);
  out->options.integrator = Integrator::implicit_euler;
  out->options.error = 0;
  out->bounces = false;
  for (Limit& limit : out->limits) limit.restitution = 0;
  return out;
}

class Settling {
 public:
  Settling(const System& system, const State& state, const StaticOptions& options)
      : system_(system),
        s_(system.data()),
        state_(state),
        w_(system),
        links_(s_.tree.size()),
        at_(links_),
        options_(options) {
    w_.data().load = options.load, w_.data().weight = options.weight;
    state_.t = 0, state_.step = 0;
    for (const CompiledMotion& m : s_.motions) {
      double v[6];
      prescribed(m, s_.tree[m.link], 0, state_.q.data() + s_.tree[m.link].q, v, options.motion);
    }
    stop_moving();
  }

  bool find(StaticResult& out);
  bool is_stable();
  const State& state() const { return state_; }

 private:
  void stop_moving() {
    std::fill(state_.v.begin(), state_.v.end(), 0.0);
    std::fill(state_.a.begin(), state_.a.end(), 0.0);
    state_.t = 0, state_.made = state_.at_stake = 0;
  }
  // A step from rest; false: it did not converge.
  bool advance(double h);
  void place(std::vector<LinkMotion>& links) {
    multibody::kinematics(s_.tree, state_.q.data(), state_.v.data(), links);
  }
  double distance(const std::vector<LinkMotion>& from) const;  // of links_ [m], turns times the size
  bool measure_time(StaticResult& out);
  bool fail(StaticResult& out, std::string message) const;
  bool grows(const State& rest, const std::vector<LinkMotion>& at_rest, unsigned seed);
  double left_over_in(double h, const std::vector<LinkMotion>& before) const;
  double acting() const;

  const System& system_;
  const SystemData& s_;
  State state_;
  Workspace w_;
  std::vector<LinkMotion> links_, at_;  // after the step at hand, and where something began
  result::SolveReport report_;
  const StaticOptions& options_;
  double natural_ = 1;  // [s] in which what acts moves it by its size
  int steps_ = 0;
};

bool Settling::advance(double h) {
  stop_if_requested();
  stop_moving();
  const State before = state_;
  report_ = step(system_, state_, w_, h);
  ++steps_;
  if (!report_.ok()) {
    state_ = before;
    return false;
  }
  place(links_);
  return true;
}

double Settling::distance(const std::vector<LinkMotion>& from) const {
  double most = 0;
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Pose &a = from[i].X_WM, &b = links_[i].X_WM;
    most = std::max({most, (b.p - a.p).norm(), s_.size * math::so3_log(a.R.transpose() * b.R).norm()});
  }
  return most;
}

// M v/h of the mean velocity in the step, link by link: what is left over of the forces; torques over the
// size.
double Settling::left_over_in(double h, const std::vector<LinkMotion>& before) const {
  double most = 0;
  for (int i = 0; i < s_.tree.size(); ++i) {
    const Pose &a = before[i].X_WM, &b = links_[i].X_WM;
    Vec6 way;
    way << math::so3_log(a.R.transpose() * b.R), a.R.transpose() * (b.p - a.p);
    const Vec6 p = s_.tree[i].inertia.momentum(way) / (h * h);
    most = std::max({most, p.tail<3>().norm(), p.head<3>().norm() / s_.size});
  }
  return most;
}

// The largest weight, load or force of contact.
double Settling::acting() const {
  double most = 0;
  const double g = options_.weight * s_.model.gravity().value(0).norm();
  for (const multibody::Link& link : s_.tree.links()) most = std::max(most, g * link.inertia.m);
  for (const CompiledLoad& load : s_.loads)
    most = std::max({most, options_.load * load.force.value(0).norm(),
                     options_.load * load.moment.value(0).norm() / s_.size});
  for (std::size_t k = 0; k < state_.touching.size(); k += State::touching_width)
    most =
        std::max(most, Vec3(state_.touching[k + 6], state_.touching[k + 7], state_.touching[k + 8]).norm());
  return most;
}

bool Settling::fail(StaticResult& out, std::string message) const {
  out.report.status = Status::not_converged;
  out.report.iterations = steps_;
  out.report.message = std::move(message);
  out.report.worst = report_.worst;
  return false;
}

// By a step so short that nothing bends: how fast it sets off.
bool Settling::measure_time(StaticResult& out) {
  const double g = options_.weight * s_.model.gravity().value(0).norm();
  double h = 1e-4 * std::sqrt(s_.size / std::max(g, 1e-3));
  for (int k = 0; !advance(h); ++k, h /= 8)
    if (k == 4) return fail(out, report_.message);
  out.report.warning = report_.warning;
  double fastest = g * h;
  for (const LinkMotion& m : links_)
    fastest = std::max({fastest, m.V.tail<3>().norm(), s_.size * m.V.head<3>().norm()});
  natural_ = fastest > 0 ? std::sqrt(s_.size * h / fastest) : 0;
  return true;
}

bool Settling::find(StaticResult& out) {
  place(at_);
  if (!measure_time(out)) return false;
  double h = first_share * natural_, best = std::numeric_limits<double>::infinity();
  int no_better = 0;
  std::vector<LinkMotion> before = links_;
  while (natural_ > 0) {
    if (steps_ >= most_steps)
      return fail(out, fmt::format("no rest that leans on something found in {} steps: forces of {:.2g} of "
                                   "those that act are left over",
                                   steps_, best));
    if (!advance(h)) {
      if ((h /= 8) < 1e-9 * natural_) return fail(out, report_.message);
      continue;
    }
    const double way = distance(before), left = left_over_in(h, before) / std::max(acting(), 1e-300);
    before = links_;
    if (distance(at_) > gone * s_.size) return fail(out, "it slides, rolls or falls away: nothing holds it");
    no_better = left < 0.5 * best ? 0 : no_better + 1;
    best = std::min(best, left);
    const bool whole = report_.substeps == 0;  // else the velocity is not that of one step from rest
    if (whole && (left <= left_over || (left <= left_over_at_last && no_better > 3))) break;
    if (!whole)
      h /= 4;
    else if (way < longest_way * s_.size)
      h = std::min(2 * h, longest_share * natural_);
    else
      h /= 2;
  }
  stop_moving();
  out.report.iterations = steps_;
  return true;
}

// With random dead forces on everything, a hundredth of those that act, it takes one step; without them it
// moves on in steps that start at rest and grow: whether it gets much farther than the push took it.
bool Settling::grows(const State& rest, const std::vector<LinkMotion>& at_rest, unsigned seed) {
  auto pushed = std::make_shared<SystemData>(s_);
  const auto random = [&seed] {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) * (2.0 / 16777216) - 1;
  };
  const double force = push * acting();
  for (int i = 0; i < s_.tree.size(); ++i) {
    CompiledLoad load;
    load.at = {i, s_.tree[i].inertia.com()};
    load.force = VectorFunction::constant(force * Vec3(random(), random(), random()));
    load.moment = VectorFunction::constant(push * s_.tree[i].inertia.m * s_.size * s_.size /
                                           (natural_ * natural_) * Vec3(random(), random(), random()));
    pushed->loads.push_back(load);
  }
  const System system(pushed);
  Workspace w(system);
  state_ = rest;
  if (!step(system, state_, w, push_time * natural_).ok()) return false;
  place(links_);
  const double way = std::max(distance(at_rest), least_push * s_.size);
  for (double h = trial_first * natural_; h < trial_last * natural_; h *= trial_growth) {
    if (!advance(h)) return false;  // a longer step than it can take says nothing
    if (distance(at_rest) > grown * way) return true;
  }
  return false;
}

bool Settling::is_stable() {
  const State rest = state_;
  place(at_);
  bool stable = true;
  for (unsigned k = 1; stable && natural_ > 0 && k <= pushes; ++k) stable = !grows(rest, at_, k);
  state_ = rest;
  return stable;
}

}  // namespace

bool settle_touching(const SystemData& s, State& state, const StaticOptions& options, StaticResult& out) {
  const System system(frozen(s, state.t));
  Settling settling(system, state, options);
  if (!settling.find(out)) return false;
  const State& found = settling.state();
  state.q = found.q, state.touching = found.touching, state.overlap = found.overlap;
  if (state.touching.empty()) return true;
  out.pushes = pushes;
  out.negative = settling.is_stable() ? 0 : 1;
  return true;
}

}  // namespace limber::articulated
