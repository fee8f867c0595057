#include "limber/sim/conductor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/result/state_bytes.h"
#include "limber/result/warnings.h"
#include "limber/sim/driver.h"

namespace limber::sim {

using result::SolveReport;

namespace {

constexpr double slack_of_step = 1e-9;  // a time this near, of a step, has come
constexpr double sharpness = 1e-12;     // of a step: how well a passing is known
constexpr int most_parts = 1000;        // of a step: beyond that events chatter

int column_of(const result::Layout& layout, const std::string& name) {
  for (std::size_t i = 0; i < layout.scalars.size(); ++i)
    if (layout.scalars[i].name == name) return static_cast<int>(i);
  return -1;
}

void add(SolveReport& sum, const SolveReport& r) {
  sum.status = r.status, sum.time = r.time, sum.message = r.message;
  sum.iterations = std::max(sum.iterations, r.iterations);
  sum.total_iterations += r.total_iterations;
  sum.substeps += r.substeps;
  sum.parts += r.parts;
  sum.rejected += r.rejected;
  sum.loop_gap = std::max(sum.loop_gap, r.loop_gap);
  sum.contact_residual = std::max(sum.contact_residual, r.contact_residual);
  sum.cone_violation = std::max(sum.cone_violation, r.cone_violation);
  sum.contact_overlap = std::max(sum.contact_overlap, r.contact_overlap);
  sum.redundant_rows = std::max(sum.redundant_rows, r.redundant_rows);
  if (sum.redundant.empty()) sum.redundant = r.redundant;
  sum.solver_iterations = std::max(sum.solver_iterations, r.solver_iterations);
  result::add_warning(sum, r.warning);
  if (r.residual > sum.residual || !r.ok()) sum.residual = r.residual, sum.worst = r.worst;
}

}  // namespace

std::string to_string(const Happening& h) {
  return fmt::format("at t = {:.9g} s: event \"{}\": {}", h.acted, h.event, h.what);
}

bool Conductor::is_needed(const Model& model) {
  return !model.events().empty() || !model.controllers().empty();
}

std::vector<Problem> Conductor::objections(const Model& model, const result::Layout& layout,
                                           const char* method) {
  std::vector<Problem> out;
  const auto look_for = [&](const std::string& column, Problem where) {
    if (column_of(layout, column) >= 0) return;
    where.message = fmt::format("a run by method {} does not tell \"{}\"", method, column);
    out.push_back(std::move(where));
  };
  for (const Event& e : model.events())
    if (!e.reads.empty()) look_for(e.reads, {"event", e.name, "when", ""});
  for (const Controller& c : model.controllers())
    if (what_it_reads(model.parts(), c) == ControllerReads::samples)
      look_for(c.reads, {"controller", c.name, "reads", ""});
  return out;
}

Conductor::Conductor(const Model& model, const result::Layout& layout, const char* method)
    : events_(model.events().begin(), model.events().end()),
      controllers_(model.controllers().begin(), model.controllers().end()) {
  if (auto problems = objections(model, layout, method); !problems.empty())
    throw ModelError(std::move(problems));
  for (const Event& e : events_) {
    Watch w;
    w.timed = e.reads.empty();
    if (!w.timed) w.column = column_of(layout, e.reads);
    watches_.push_back(w);
  }
  for (std::size_t c = 0; c < controllers_.size(); ++c) {
    targets_.push_back(controllers_[c].target);
    if (what_it_reads(model.parts(), controllers_[c]) != ControllerReads::samples) continue;
    Sampler s;
    s.control = static_cast<int>(c);
    s.column = column_of(layout, controllers_[c].reads);
    samplers_.push_back(s);
  }
  snapshot_.resize(layout);
}

void Conductor::read(Driver& driver) { driver.observe(snapshot_); }

bool Conductor::watches() const {
  return std::ranges::any_of(watches_, [](const Watch& w) { return w.column >= 0 && !w.over; });
}

// The gaps at the last look become those of the snapshot.
void Conductor::look_again() {
  for (std::size_t e = 0; e < events_.size(); ++e)
    if (watches_[e].column >= 0) watches_[e].gap = snapshot_.scalars[watches_[e].column] - events_[e].value;
}

// Between the last look and the snapshot.
bool Conductor::has_passed(std::size_t e) const {
  const Watch& w = watches_[e];
  if (w.column < 0 || w.over) return false;
  const double gap = snapshot_.scalars[w.column] - events_[e].value;
  const bool up = w.gap < 0 && gap >= 0, down = w.gap > 0 && gap <= 0;
  return (up && events_[e].way != Event::Way::falling) || (down && events_[e].way != Event::Way::rising);
}

void Conductor::start(Driver& driver) {
  if (watches()) read(driver), look_again();
  act(driver, 0, 0);
}

// Where the step has to end at the latest; after t.
double Conductor::next_time(double t, double end, double slack) const {
  double next = end;
  const auto take = [&](double at) {
    if (at > t + slack && at < next - slack) next = at;
  };
  for (std::size_t e = 0; e < events_.size(); ++e)
    if (watches_[e].timed) take(events_[e].at);
  for (const Pending& p : pending_) take(p.at);
  for (const Sampler& s : samplers_)
    if (const double period = controllers_[s.control].period; period > 0 && s.on)
      take(period * static_cast<double>(s.samples));
  return next;
}

// From t to `to` or, if an event's value is passed before, to there; then what passed is known by
// has_passed().
SolveReport Conductor::advance(Driver& driver, double t, double& to) {
  if (!watches()) return driver.step_plainly(to - t);
  const std::string from = driver.save_plainly();
  SolveReport report = driver.step_plainly(to - t);
  if (!report.ok()) return report;
  read(driver);
  for (std::size_t e = 0; e < events_.size(); ++e)
    if (has_passed(e) && !locate(driver, from, e, t, to, report)) return report;
  return report;
}

// The root of the gap in (t, to], by secants that are kept within what encloses it and halve that at the
// least every third time. `to` becomes its upper end, where the driver then stands.
bool Conductor::locate(Driver& driver, const std::string& from, std::size_t e, double t, double& to,
                       SolveReport& report) {
  const double h = to - t;
  const double width = sharpness * h + 4 * std::numeric_limits<double>::epsilon() * std::abs(t);
  const int column = watches_[e].column;
  const auto gap = [&] { return snapshot_.scalars[column] - events_[e].value; };
  const auto go = [&](double x) {
    driver.load_plainly(from);
    report = driver.step_plainly(x);
    if (report.ok()) read(driver);
    return report.ok();
  };
  double low = 0, high = h, at_low = watches_[e].gap, at_high = gap(), stands = h, third = h;
  for (int i = 1; high - low > width && at_high != 0; ++i) {
    const double secant = low + (high - low) * (at_low / (at_low - at_high));
    const double middle = 0.5 * (low + high);
    double x = secant + (secant < middle ? 0.5 : -0.5) * width;  // beyond the root, to enclose it
    if (i % 3 == 0) {
      if (high - low > 0.5 * third) x = middle;
      third = high - low;
    }
    x = std::clamp(x, low + 0.25 * width, high - 0.25 * width);
    if (!(x > low && x < high)) break;
    if (!go(x)) return false;
    stands = x;
    const bool passed = has_passed(e);
    (passed ? high : low) = x;
    (passed ? at_high : at_low) = gap();
  }
  if (stands != high && !go(high)) return false;
  to = t + high;
  return true;
}

SolveReport Conductor::step(Driver& driver, double h) {
  const std::string before = driver.save();
  const double start = driver.time(), end = start + h, slack = slack_of_step * h;
  const std::int64_t number = driver.steps();
  SolveReport sum;
  const auto fail = [&] {
    driver.load(before);
    return sum;
  };
  try {
    double t = start;
    sample(driver, t, slack, true);
    for (int parts = 0; end - t > slack && !stopped_; ++parts) {
      double to = next_time(t, end, slack);
      const SolveReport r = advance(driver, t, to);
      add(sum, r);
      if (!r.ok()) return fail();
      if (parts == most_parts) {
        sum.status = result::Status::not_converged, sum.time = t;
        sum.message = fmt::format("at t = {:.9g} s: events and samples divide a step into more than {} parts",
                                  t, most_parts);
        return fail();
      }
      t = end - to <= slack ? end : to;
      driver.set_clock(number, t);
      if (watches()) {
        for (std::size_t e = 0; e < events_.size(); ++e)
          if (has_passed(e)) happen(e, t);
        look_again();
      }
      act(driver, t, slack);
      if (end - t > slack) sample(driver, t, slack, false);
    }
    driver.set_clock(number + 1, t);
    sum.steps = 1, sum.time = t;
    return sum;
  } catch (...) {
    driver.load(before);
    throw;
  }
}

void Conductor::happen(std::size_t e, double t) {
  pending_.push_back({static_cast<int>(e), t, t + events_[e].delay});
  watches_[e].over = events_[e].once;
}

// All that is due, in the order of its time.
void Conductor::act(Driver& driver, double t, double slack) {
  for (std::size_t e = 0; e < events_.size(); ++e)
    if (watches_[e].timed && events_[e].at <= t + slack) {
      watches_[e].timed = false;
      pending_.push_back({static_cast<int>(e), events_[e].at, events_[e].at + events_[e].delay});
    }
  std::ranges::stable_sort(pending_, {}, &Pending::at);
  bool changed = false;
  const auto due = [&](const Pending& p) { return p.at <= t + slack; };
  for (const Pending& p : pending_) {
    if (!due(p)) break;
    const Event& event = events_[p.event];
    Happening entry{event.name, p.found, t, ""};
    for (const Action& a : event.actions) {
      take(driver, a, t);
      changed = changed || a.kind != Action::Kind::stop;
      entry.what += (entry.what.empty() ? "" : ", ") + to_string(a);
    }
    acted_.emplace_back(p.event, t);
    happened_.push_back(std::move(entry));
  }
  std::erase_if(pending_, due);
  if (changed) {
    driver.apply(done_);
    if (watches()) read(driver), look_again();  // a switch may move a reading: that is no passing
  }
}

void Conductor::take(Driver& driver, const Action& a, double t) {
  if (a.kind == Action::Kind::stop) {
    stopped_ = true;
    stop_time_ = t;
    return;
  }
  done_.push_back({a, t});
  if (a.on != Action::On::controller) return;
  for (std::size_t c = 0; c < controllers_.size(); ++c) {
    if (controllers_[c].name != a.name) continue;
    if (a.kind == Action::Kind::retarget) {
      targets_[c] = a.target[0];
      continue;
    }
    driver.set_control(c, 0);  // it begins anew
    for (Sampler& s : samplers_)
      if (s.control == static_cast<int>(c)) {
        s.on = a.kind == Action::Kind::switch_on;
        s.any = false, s.integral = s.error = s.rate = s.force = 0;
        if (const double period = controllers_[c].period; s.on && period > 0)
          s.samples = static_cast<std::int64_t>(std::ceil(t / period - slack_of_step));
      }
  }
}

void Conductor::sample(Driver& driver, double t, double slack, bool step_starts) {
  bool looked = false;
  for (std::size_t k = 0; k < samplers_.size(); ++k) {
    const Sampler& s = samplers_[k];
    const double period = controllers_[s.control].period;
    const bool due = period > 0 ? period * static_cast<double>(s.samples) <= t + slack : step_starts;
    if (!s.on || !due) continue;
    if (!looked) read(driver);
    looked = true;
    sample_one(k, t);
    driver.set_control(static_cast<std::size_t>(s.control), s.force);
  }
}

void Conductor::sample_one(std::size_t k, double t) {
  Sampler& s = samplers_[k];
  const Controller& c = controllers_[s.control];
  const double now = c.period > 0 ? c.period * static_cast<double>(s.samples) : t;
  const double e = targets_[s.control].value(now) - snapshot_.scalars[s.column];
  double slope = 0;
  if (s.any) {
    s.integral += (now - s.t) * s.rate;
    if (now > s.t) slope = (e - s.error) / (now - s.t);
  }
  const double u = c.kp * e + c.ki * s.integral + c.kd * slope;
  s.force = std::clamp(u, c.lower, c.upper);
  const bool further = (u > c.upper && c.ki * e > 0) || (u < c.lower && c.ki * e < 0);
  s.rate = further ? 0 : e;
  s.any = true, s.error = e, s.t = now;
  ++s.samples;
}

std::string Conductor::save() const {
  result::StateWriter out;
  for (const Watch& w : watches_) out.put(w.gap), out.put(char(w.over)), out.put(char(w.timed));
  for (const Sampler& s : samplers_) {
    out.put(char(s.on)), out.put(char(s.any)), out.put(s.integral), out.put(s.error), out.put(s.rate);
    out.put(s.t), out.put(s.samples), out.put(s.force);
  }
  out.put(static_cast<std::uint64_t>(pending_.size()));
  for (const Pending& p : pending_) out.put(p.event), out.put(p.found), out.put(p.at);
  out.put(static_cast<std::uint64_t>(acted_.size()));
  for (std::size_t i = 0; i < acted_.size(); ++i)
    out.put(acted_[i].first), out.put(acted_[i].second), out.put(happened_[i].found);
  out.put(char(stopped_)), out.put(stop_time_);
  return out.take();
}

void Conductor::load(const std::string& bytes) {
  Conductor copy = *this;
  result::StateReader in(bytes);
  const auto flag = [&](bool& value) {
    char c = 0;
    in.get(c, char(0), char(1));
    value = c == 1;
  };
  const auto event = [&] {
    int e = 0;
    in.get(e, 0, static_cast<int>(events_.size()) - 1);
    return e;
  };
  for (Watch& w : copy.watches_) in.get(w.gap), flag(w.over), flag(w.timed);
  for (Sampler& s : copy.samplers_) {
    flag(s.on), flag(s.any), in.get(s.integral), in.get(s.error), in.get(s.rate);
    in.get(s.t), in.get(s.samples, std::int64_t(0), std::int64_t(1) << 52), in.get(s.force);
  }
  copy.pending_.resize(in.length(20));
  for (Pending& p : copy.pending_) p.event = event(), in.get(p.found), in.get(p.at);
  copy.acted_.clear(), copy.done_.clear(), copy.happened_.clear();
  for (std::size_t c = 0; c < controllers_.size(); ++c) copy.targets_[c] = controllers_[c].target;
  for (std::size_t n = in.length(20); n > 0; --n) {
    const int e = event();
    double t = 0, found = 0;
    in.get(t), in.get(found);
    copy.acted_.emplace_back(e, t);
    Happening entry{events_[e].name, found, t, ""};
    for (const Action& a : events_[e].actions) {
      entry.what += (entry.what.empty() ? "" : ", ") + to_string(a);
      if (a.kind != Action::Kind::stop) copy.done_.push_back({a, t});
      if (a.kind != Action::Kind::retarget || a.on != Action::On::controller) continue;
      for (std::size_t c = 0; c < controllers_.size(); ++c)
        if (controllers_[c].name == a.name) copy.targets_[c] = a.target[0];
    }
    copy.happened_.push_back(std::move(entry));
  }
  flag(copy.stopped_), in.get(copy.stop_time_);
  in.end();
  watches_ = std::move(copy.watches_), samplers_ = std::move(copy.samplers_);
  pending_ = std::move(copy.pending_), acted_ = std::move(copy.acted_);
  done_ = std::move(copy.done_), happened_ = std::move(copy.happened_);
  targets_ = std::move(copy.targets_);
  stopped_ = copy.stopped_, stop_time_ = copy.stop_time_;
}

}  // namespace limber::sim
