#include "limber/sim/live.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "limber/math/so3.h"
#include "limber/sim/driver.h"
#include "limber/sim/reduce.h"

namespace limber::sim {
namespace {

// Frames within a step would come all at once, and a hand waits for its end: as many steps instead, each with
// its share of the error.
RunOptions a_frame_a_step(RunOptions o) {
  const auto n = static_cast<double>(o.frames_per_step());
  o.step /= n;
  o.articulated.error /= n;
  return o;
}

constexpr std::size_t past_limit = 96 << 20;  // [bytes]

// The longest side of what is drawn.
double drawn_size(const result::Snapshot& s) {
  Vec3 low = Vec3::Constant(INFINITY), high = -low;
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) low = low.cwiseMin(p), high = high.cwiseMax(p);
  return s.positions.empty() && s.points.empty() ? 1 : std::max(1e-6, (high - low).norm());
}

}  // namespace

Live::Live(Model model, const RunOptions& options, Note note)
    : model_(std::move(model)), options_(a_frame_a_step(options)), note_(std::move(note)) {
  start(std::make_unique<Driver>(model_, options_));
  methods_ = method_choices(model_, options_);
  // A pull over a tenth of the structure is as strong as its weight.
  const double weight = mass_ * std::max(1.0, model_.gravity().value(0).norm());
  strength_ = weight / (0.1 * drawn_size(snapshot_));
}

Live::~Live() = default;

const result::Layout& Live::layout() const { return driver_->layout(); }
result::Pull Live::pull() { return driver_->pull(); }
std::vector<result::Reading> Live::readings(const std::string& name) { return driver_->readings(name); }
std::optional<Model> Live::model_at() const { return driver_->model_at(); }
bool Live::can_hold() const { return driver_->can_hold(); }

void Live::start(std::unique_ptr<Driver> driver) {
  driver_ = std::move(driver);
  ++starts_;
  hand_.reset();
  failed_ = warned_ = false;
  mass_ = 0;
  for (const Body& body : driver_->model().bodies()) mass_ += body.inertia.m;
  if (!(mass_ > 0)) mass_ = 1;
  driver_->scale_loads(loads_);
  snapshot_.resize(driver_->layout());
  observe();
  before_ = snapshot_;
}

void Live::observe() {
  driver_->observe(snapshot_);
  snapshot_.time = time();
  fields_ = driver_->fields();
  driver_->touches(touches_);
}

void Live::forget() {
  past_.clear();
  past_bytes_ = 0;
}

bool Live::step() {
  driver_->set_clock(step_, time());
  const result::SolveReport report = driver_->step(options_.step);
  if (!report.ok() || !driver_->finite()) {
    failed_ = true;
    note_(report.ok() ? "stopped: a value is no longer finite" : "stopped: " + report.message);
    return false;
  }
  if (driver_->conductor()) tell_events(*driver_->conductor());
  if (!report.warning.empty() && !warned_) note_(report.warning);
  warned_ = warned_ || !report.warning.empty();
  ++step_;
  driver_->set_clock(step_, time());
  std::swap(before_, snapshot_);
  driver_->observe(snapshot_);
  snapshot_.time = time();
  return true;
}

// Those that are new; one that stops a run stops the view.
void Live::tell_events(const Conductor& conductor) {
  const auto& list = conductor.happened();
  for (std::size_t i = std::min(told_events_, list.size()); i < list.size(); ++i) note_(to_string(list[i]));
  told_events_ = list.size();
  failed_ = conductor.stopped_at().has_value();
}

void Live::look() {
  fields_ = driver_->fields();
  driver_->touches(touches_);
  past_.push_back({step_, driver_->save()});
  past_bytes_ += past_.back().state.size();
  while (past_bytes_ > past_limit && past_.size() > 1) {
    past_bytes_ -= past_.front().state.size();
    past_.pop_front();
  }
}

void Live::restart() {
  step_ = 0;
  forget();
  start(std::make_unique<Driver>(model_, options_));
}

void Live::rewind(double t) {
  while (past_.size() > 1 &&
         static_cast<double>(past_.back().step) * options_.step > t + 0.5 * options_.step) {
    past_bytes_ -= past_.back().state.size();
    past_.pop_back();
  }
  if (past_.empty()) return restart();
  release();
  driver_->load(past_.back().state);
  step_ = past_.back().step;
  driver_->set_clock(step_, time());
  failed_ = false;
  observe();
  before_ = snapshot_;
}

void Live::grab(result::Hand hand) {
  hand.stiffness = strength_;
  hand.damping = 0.3 * std::sqrt(strength_ * mass_);
  if (!driver_->hold(hand)) return note_("this part cannot be pulled");
  hand_ = hand;
}

void Live::drag(const Vec3& target) {
  if (!hand_) return;
  hand_->target = target;
  driver_->hold(*hand_);
}

void Live::release() {
  driver_->release();
  hand_.reset();
}

void Live::scale_loads(double factor) {
  loads_ = factor;
  if (!driver_->scale_loads(factor)) note_("this method cannot change its loads while it runs");
}

// Going back in time, it is cut again when that comes.
bool Live::cut(int point) {
  const std::optional<Change> change = driver_->cut_at(point);
  if (!change) return false;
  ModelParts parts = driver_->model().parts();
  parts.changes.push_back(*change);
  auto driver = std::make_unique<Driver>(Model(std::move(parts)), options_);
  driver->load(driver_->save());
  driver->set_clock(step_, time());
  start(std::move(driver));
  return true;
}

bool Live::is_cut() const { return driver_->model().changes().size() != model_.changes().size(); }

void Live::add_point() {
  if (options_.rom.ends.empty())
    throw std::invalid_argument("the scene names no end effectors (run.rom.ends): it has no reduced model");
  auto reduced = std::make_shared<rom::ReducedModel>(options_.reduced ? *options_.reduced
                                                                      : reduce(model_, options_.rom));
  rom::PointRequest request;
  request.time = time();
  std::string under = "under its loads";
  if (hand_) {
    const int body = driver_->held_body();
    const rom::Mechanism* of = nullptr;
    for (const rom::Mechanism& m : reduced->mechanisms)
      for (const int e : m.ends)
        if (m.bodies[e] == body) of = &m;
    if (!of) throw std::invalid_argument("a point is where an end effector is pulled: pull one of them");
    const result::Pull pull = driver_->pull();
    const Vec3 moment = (pull.point - snapshot_.positions[body]).cross(pull.force);
    const Mat3 base =
        of->free_base ? math::to_matrix(snapshot_.rotations[of->bodies[0]]) : Mat3(Mat3::Identity());
    request.loads.push_back(
        {driver_->model().bodies()[body].name, base.transpose() * pull.force, base.transpose() * moment});
    under = fmt::format("with {:.3g} N on {}", pull.force.norm(), request.loads[0].end);
  }
  sim::add_point(model_, *reduced, request, options_.rom.build);
  options_.rom.points.push_back(request);
  options_.reduced = reduced;
  std::size_t points = 0;
  for (const rom::Mechanism& m : reduced->mechanisms) points = std::max(points, m.points.size());
  if (options_.method == Method::rom) {
    auto driver = std::make_unique<Driver>(model_, options_);
    driver->load(driver_->save());
    driver->adopt(driver_->layout(), before_, snapshot_);  // the ends stay where they are
    driver->set_clock(step_, time());
    const std::optional<result::Hand> hand = hand_;
    start(std::move(driver));
    if (hand && driver_->hold(*hand)) hand_ = hand;
  }
  note_(fmt::format("point {} of the reduced model: at rest {}", points, under));
}

void Live::replace(Model model) {
  RunOptions options = options_;
  options.reduced = nullptr;  // it was of other parameters
  auto driver = std::make_unique<Driver>(model, options);
  options_ = options;
  const bool cut = is_cut();
  model_ = std::move(model);
  try {  // the same coordinates: it goes on where it was
    if (cut) throw std::invalid_argument("in other pieces");
    driver->load(driver_->save());
  } catch (const std::invalid_argument&) {
    step_ = 0;
  }
  forget();
  start(std::move(driver));
}

void Live::switch_method(const std::string& name) {
  RunOptions options = options_;
  choose_method(name, options);
  options.from_static = false;
  auto driver = std::make_unique<Driver>(model_, options);
  bool goes_on = false;
  if (is_cut()) {
    goes_on = false;  // the scene itself is whole
  } else if (options.method == options_.method) {
    driver->load(driver_->save());
    goes_on = true;
  } else {
    goes_on = driver->adopt(driver_->layout(), before_, snapshot_);
  }
  if (!goes_on) {
    note_(name + " cannot go on from this pose: it begins at the scene's start");
    step_ = 0;
  } else {
    driver->set_clock(step_, time());
  }
  options_ = options;
  forget();
  start(std::move(driver));
}

}  // namespace limber::sim
