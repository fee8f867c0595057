#include "live_view.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "limber/math/stop.h"
#include "limber/sim/reduce.h"
#include "terminal.h"

namespace limber::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr double frame_time = 1.0 / 60;       // [s] between frames, unless a command wants an answer
constexpr double answer_time = 0.004;         // [s] between frames that answer commands: mice report every ms
constexpr double most_stepping = 0.012;       // [s] of stepping before a frame is due again
constexpr double most_lag = 0.1;              // [s] that are caught up; a slower simulation runs slower
constexpr std::size_t past_limit = 96 << 20;  // [bytes]
constexpr double longest_wait = 30;           // [s] for a page that is there to draw its first picture

// The longest side of what is drawn.
double size_of(const result::Snapshot& s) {
  Vec3 low = Vec3::Constant(INFINITY), high = -low;
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) low = low.cwiseMin(p), high = high.cwiseMax(p);
  return s.positions.empty() && s.points.empty() ? 1 : std::max(1e-6, (high - low).norm());
}

}  // namespace

// What a viewer sent; anything that is not as it should be throws std::invalid_argument.
class LiveView::Command {
 public:
  explicit Command(const std::string& text) : json_(Json::parse(text, nullptr, false)) {
    if (!json_.is_object()) throw std::invalid_argument("a command must be a JSON object");
  }
  std::string text(const char* key) const {
    if (!json_.contains(key) || !json_[key].is_string())
      throw std::invalid_argument(fmt::format("{}: expected a text", key));
    return json_[key].get<std::string>();
  }
  double number(const char* key, double low, double high) const {
    if (!json_.contains(key) || !json_[key].is_number())
      throw std::invalid_argument(fmt::format("{}: expected a number", key));
    const double x = json_[key].get<double>();
    if (!(x >= low && x <= high))
      throw std::invalid_argument(fmt::format("{}: expected {} to {}, got {}", key, low, high, x));
    return x;
  }
  Vec3 vector(const char* key) const {
    const auto& list = json_.contains(key) ? json_[key] : Json();
    if (!list.is_array() || list.size() != 3 || !list[0].is_number() || !list[1].is_number() ||
        !list[2].is_number())
      throw std::invalid_argument(fmt::format("{}: expected three numbers", key));
    const Vec3 v(list[0].get<double>(), list[1].get<double>(), list[2].get<double>());
    if (!v.allFinite()) throw std::invalid_argument(fmt::format("{}: expected finite numbers", key));
    return v;
  }
  bool has(const char* key) const { return json_.contains(key); }

 private:
  Json json_;
};

LiveView::LiveView(scene::Scene scene, sim::RunOptions options, ViewServer& server)
    : scene_(std::move(scene)), options_(options), server_(server) {
  start(std::make_unique<sim::Driver>(scene_.model, options_));
  methods_ = sim::method_choices(scene_.model, options_);
  // A pull over a tenth of the structure is as strong as its weight.
  const double weight = mass_ * std::max(1.0, scene_.model.gravity().value(0).norm());
  strength_ = weight / (0.1 * size_of(snapshot_));
  tell_scene();
}

double LiveView::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void LiveView::anchor() {
  anchor_wall_ = pace_wall_ = now();
  anchor_time_ = pace_time_ = time();
}

void LiveView::start(std::unique_ptr<sim::Driver> driver) {
  driver_ = std::move(driver);
  if (recording_) {  // another model, another layout, or time that goes back
    recording_.reset();
    server_.tell(note_json("the recording ends here"));
  }
  handle_.reset();
  failed_ = warned_ = false;
  mass_ = 0;
  for (const Body& body : driver_->model().bodies()) mass_ += body.inertia.m;
  if (!(mass_ > 0)) mass_ = 1;
  driver_->scale_loads(loads_);
  snapshot_.resize(driver_->layout());
  observe();
  before_ = snapshot_;
  anchor();
}

void LiveView::tell_scene() {
  ++epoch_;
  LiveScene s;
  s.epoch = epoch_;
  s.parameters = scene_.parameters;
  s.methods = methods_;
  s.method = sim::method_name(options_);
  s.step = options_.step;
  s.strength = strength_;
  s.holds = driver_->can_hold();
  s.reducible = !options_.rom.ends.empty();
  server_.set_scene(live_scene_json(s, driver_->layout(), fields_));
  changed_ = true;
}

void LiveView::observe() {
  driver_->observe(snapshot_);
  snapshot_.time = time();
  fields_ = driver_->fields();
  changed_ = true;
}

void LiveView::publish() {
  LiveFrameHead head;
  head.epoch = epoch_;
  head.index = index_++;
  head.paused = paused_;
  head.failed = failed_;
  head.held = handle_.has_value();
  head.command = command_;
  head.pace = pace_;
  head.pull = driver_->pull();
  head.felt = felt_;
  head.answer = felt_arrived_ > 0 ? now() - felt_arrived_ : 0;
  felt_arrived_ = 0;
  answer_wanted_ = false;
  server_.publish(encode_live_frame(head, snapshot_, fields_));
  last_publish_ = now();
  changed_ = false;
}

void LiveView::record(const std::filesystem::path& file) {
  recording_.emplace(result::RecordingWriter::create(file, driver_->layout()));
  recording_->append(0, snapshot_);
}

void LiveView::record_frame() {
  const std::int64_t steps = options_.steps();
  if (step_ > steps || (step_ % options_.steps_per_frame() != 0 && step_ != steps)) return;
  recording_->append(recording_->frame_count(), snapshot_);
  if (step_ < steps) return;
  recording_->sync();
  recording_.reset();
  message("limber: the recording is complete");
}

void LiveView::remember() {
  past_.push_back({step_, driver_->save()});
  past_bytes_ += past_.back().state.size();
  while (past_bytes_ > past_limit && past_.size() > 1) {
    past_bytes_ -= past_.front().state.size();
    past_.pop_front();
  }
}

bool LiveView::one_step() {
  driver_->set_clock(step_, time());
  const result::SolveReport report = driver_->step(options_.step);
  const bool ok = report.ok() && driver_->finite();
  if (!ok) {
    failed_ = changed_ = true;
    server_.tell(
        note_json(report.ok() ? "stopped: a value is no longer finite" : "stopped: " + report.message));
    return false;
  }
  if (!report.warning.empty() && !warned_) server_.tell(note_json(report.warning));
  warned_ = warned_ || !report.warning.empty();
  ++step_;
  driver_->set_clock(step_, time());
  return true;
}

// As many steps as are due; a command that comes is looked at before the next one.
void LiveView::advance(double until) {
  const double begin = now();
  bool moved = false;
  while (!failed_ && time() + options_.step <= until && now() - begin < most_stepping) {
    if (moved && (server_.has_commands() || paused_)) break;
    std::swap(before_, snapshot_);
    if (!one_step()) {
      std::swap(before_, snapshot_);
      break;
    }
    driver_->observe(snapshot_);
    snapshot_.time = time();
    if (recording_) record_frame();
    moved = true;
    look_at_end();
  }
  if (!moved) return;
  if (felt_ != command_) {
    felt_ = command_;
    felt_arrived_ = std::exchange(unfelt_since_, 0);
    answer_wanted_ = true;
  }
  remember();
  fields_ = driver_->fields();
  changed_ = true;
  if (const double wall = now() - pace_wall_; wall > 0.5) {
    pace_ = (time() - pace_time_) / wall;
    pace_wall_ = now();
    pace_time_ = time();
  }
}

// The first page sees the start: it says so when it has drawn it, which may take seconds. A recording needs
// no picture.
void LiveView::wait_for_eyes() {
  double since = INFINITY;
  while (!stop_requested() && !started_) {
    if (changed_ && now() >= next_publish()) publish();
    for (const ViewServer::Command& command : server_.take_commands(0.02)) take(command);
    if (server_.viewers() == 0) continue;
    since = std::min(since, now());
    started_ = started_ || recording_ || now() - since > longest_wait;
  }
  anchor();
}

// At the end of the scene's time it pauses, once.
void LiveView::look_at_end() {
  if (beyond_ || step_ != options_.steps()) return;
  paused_ = ended_ = changed_ = true;
  server_.tell(note_json(
      fmt::format("This is the end of the scene's time, {:g} s. Play goes on, Reset starts again.", time())));
}

void LiveView::run() {
  wait_for_eyes();
  while (!stop_requested()) {
    const bool moving = !paused_ && !failed_;
    double due = anchor_time_ + speed_ * (now() - anchor_wall_);
    const double lead =
        dragged_ ? options_.step : 0;  // a hand that moves is felt up to a step before its time
    double wait = moving ? std::clamp((time() + options_.step - lead - due) / speed_, 0.0, 0.02) : 0.05;
    if (changed_) wait = std::min(wait, std::max(0.0, next_publish() - now()));
    for (const ViewServer::Command& command : server_.take_commands(wait)) take(command);
    if (!paused_ && !failed_) {
      due = anchor_time_ + speed_ * (now() - anchor_wall_);
      if (due - time() > most_lag * speed_ + options_.step) {
        anchor_wall_ = now();
        anchor_time_ = time();
        due = time() + options_.step;
      }
      advance(due + (dragged_ ? options_.step : 0) + 1e-9);
      dragged_ = dragged_ && felt_ != command_;
    }
    if (!read_name_.empty() && now() - last_readings_ > 0.1) tell_readings();
    if (changed_ && now() >= next_publish()) publish();
  }
}

// When what changed is shown: an answer to a command soon, all else at the pace of a screen.
double LiveView::next_publish() const { return last_publish_ + (answer_wanted_ ? answer_time : frame_time); }

void LiveView::take(const ViewServer::Command& command) {
  apply(command.text);
  if (unfelt_since_ == 0)
    unfelt_since_ = std::chrono::duration<double>(command.arrived.time_since_epoch()).count();
}

void LiveView::tell_readings() {
  last_readings_ = now();
  Json list = Json::array();
  for (const result::Reading& r : driver_->readings(read_name_))
    list.push_back({{"name", r.name}, {"value", r.value}, {"unit", r.unit}});
  server_.tell(Json({{"type", "readings"}, {"epoch", epoch_}, {"readings", list}}).dump());
}

void LiveView::grab(const Command& c) {
  result::Hand h;
  h.on = c.text("on") == "point" ? result::Hand::On::point : result::Hand::On::frame;
  h.index = static_cast<int>(c.number("index", 0, 2e9));
  h.p = c.vector("p");
  h.target = c.vector("target");
  h.stiffness = strength_;
  h.damping = 0.3 * std::sqrt(strength_ * mass_);
  if (!driver_->hold(h)) return server_.tell(note_json("this part cannot be pulled"));
  handle_ = h;
}

// The same scene with one change more, from where it is. Going back in time, it is cut again when that comes.
void LiveView::cut(const Command& c) {
  const std::optional<Change> change = driver_->cut_at(static_cast<int>(c.number("index", 0, 2e9)));
  if (!change) return server_.tell(note_json("this cannot be cut here"));
  ModelParts parts = driver_->model().parts();
  parts.changes.push_back(*change);
  auto driver = std::make_unique<sim::Driver>(Model(std::move(parts)), options_);
  driver->load(driver_->save());
  driver->set_clock(step_, time());
  start(std::move(driver));
  tell_scene();
}

bool LiveView::is_cut() const { return driver_->model().changes().size() != scene_.model.changes().size(); }

// The reduced model gets a linearisation point where the whole mechanism rests under the present loads and
// the present pull.
void LiveView::add_point() {
  if (options_.rom.ends.empty())
    throw std::invalid_argument("the scene names no end effectors (run.rom.ends): it has no reduced model");
  auto reduced = std::make_shared<rom::ReducedModel>(
      options_.reduced ? *options_.reduced : sim::reduce(scene_.model, options_.rom));
  rom::PointRequest request;
  request.time = time();
  std::string under = "under its loads";
  if (handle_) {
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
  sim::add_point(scene_.model, *reduced, request, options_.rom.build);
  options_.rom.points.push_back(request);
  options_.reduced = reduced;
  std::size_t points = 0;
  for (const rom::Mechanism& m : reduced->mechanisms) points = std::max(points, m.points.size());
  if (options_.method == sim::Method::rom) {
    auto driver = std::make_unique<sim::Driver>(scene_.model, options_);
    driver->load(driver_->save());
    driver->set_clock(step_, time());
    const std::optional<result::Hand> held = handle_;
    start(std::move(driver));
    if (held && driver_->hold(*held)) handle_ = held;
  }
  server_.tell(note_json(fmt::format("point {} of the reduced model: at rest {}", points, under)));
  tell_scene();
}

void LiveView::set_parameter(const Command& c) {
  const std::string name = c.text("name"), value = c.text("value");
  scene::LoadOptions load = scene_.options;
  std::erase_if(load.set, [&](const auto& s) { return s.first == name; });
  load.set.emplace_back(name, value);
  scene::Scene changed = scene::parse(scene_.sources.front().text, scene_.file, {}, load, &scene_.sources);
  sim::RunOptions options = options_;
  options.reduced = nullptr;  // it was of other parameters
  auto driver = std::make_unique<sim::Driver>(changed.model, options);
  options_ = options;
  const bool cut = is_cut();
  scene_ = std::move(changed);
  try {  // the same coordinates: it goes on where it was
    if (cut) throw std::invalid_argument("in other pieces");
    driver->load(driver_->save());
  } catch (const std::invalid_argument&) {
    step_ = 0;
  }
  past_.clear();
  past_bytes_ = 0;
  start(std::move(driver));
  tell_scene();
}

void LiveView::switch_method(const std::string& name) {
  sim::RunOptions options = options_;
  sim::choose_method(name, options);
  options.from_static = false;
  auto driver = std::make_unique<sim::Driver>(scene_.model, options);
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
    server_.tell(note_json(name + " cannot go on from this pose: it begins at the scene's start"));
    step_ = 0;
  } else {
    driver->set_clock(step_, time());
  }
  options_ = options;
  past_.clear();
  past_bytes_ = 0;
  start(std::move(driver));
  tell_scene();
}

void LiveView::restart() {
  step_ = 0;
  beyond_ = false;
  if (std::exchange(ended_, false)) paused_ = false;
  past_.clear();
  past_bytes_ = 0;
  const bool was_cut = is_cut();
  start(std::make_unique<sim::Driver>(scene_.model, options_));
  if (was_cut) tell_scene();  // in one piece again: other lines
}

void LiveView::rewind(double t) {
  while (past_.size() > 1 &&
         static_cast<double>(past_.back().step) * options_.step > t + 0.5 * options_.step) {
    past_bytes_ -= past_.back().state.size();
    past_.pop_back();
  }
  if (past_.empty()) return restart();
  driver_->release();
  handle_.reset();
  driver_->load(past_.back().state);
  step_ = past_.back().step;
  driver_->set_clock(step_, time());
  failed_ = false;
  beyond_ = beyond_ && step_ > options_.steps();
  if (std::exchange(ended_, false)) paused_ = false;
  observe();
  before_ = snapshot_;
  anchor();
}

void LiveView::save_scene() {
  std::optional<Model> model = driver_->model_at();
  if (!model && options_.method == sim::Method::rom) {  // its points are what is worth keeping
    const std::string text =
        fmt::format("# {}, with the linearisation points of its reduced model, written by limber view.\n{}",
                    driver_->layout().title, scene::write_yaml(scene_.model, options_));
    return tell_saved("points.yaml", text);
  }
  if (!model) return server_.tell(note_json("this method cannot write its state as a scene"));
  const std::string text = fmt::format(
      "# {} at t = {:.6g} s, written by limber view. Time begins at 0 again: what depends on t starts "
      "over.\n{}",
      driver_->layout().title, time(), scene::write_yaml(*model, options_));
  tell_saved("state.yaml", text);
}

void LiveView::tell_saved(const char* name, const std::string& text) {
  server_.tell(Json({{"type", "saved"}, {"name", name}, {"text", text}})
                   .dump(-1, ' ', false, Json::error_handler_t::replace));
}

void LiveView::apply(const std::string& text) {
  try {
    const Command c(text);
    const std::string what = c.text("do");
    bool known = false;
    const auto is = [&](const char* name) { return what == name && (known = true); };
    if (c.has("seq")) command_ = c.number("seq", 0, 1e15);
    changed_ = true;
    // What only turns time on or pulls shows with the next step; everything else is answered by itself.
    if (what != "drag" || paused_ || failed_) answer_wanted_ = true;
    if (is("pause")) paused_ = true, ended_ = false;
    if (is("ready")) started_ = true;
    if (is("play") || is("step"))
      started_ = true, ended_ = false, beyond_ = beyond_ || step_ >= options_.steps();
    if (is("play")) paused_ = false, anchor();
    if (is("step")) {
      paused_ = true;
      advance(time() + 1.5 * options_.step);
    }
    if (is("speed")) speed_ = c.number("value", 0.001, 100), anchor();
    if (is("reset")) restart();
    if (is("grab")) grab(c);
    if (is("cut")) cut(c);
    if (is("point")) add_point();
    if (is("drag") && handle_) {
      handle_->target = c.vector("target");
      driver_->hold(*handle_);
      dragged_ = true;
    }
    if (is("release")) {
      driver_->release();
      handle_.reset();
    }
    if (is("strength")) strength_ = c.number("value", 1e-9, 1e15);
    if (is("loads")) {
      loads_ = c.number("value", -100, 100);
      if (!driver_->scale_loads(loads_))
        server_.tell(note_json("this method cannot change its loads while it runs"));
    }
    if (is("read")) read_name_ = c.text("name");
    if (is("set")) set_parameter(c);
    if (is("method")) switch_method(c.text("name"));
    if (is("rewind")) rewind(c.number("time", 0, 1e12));
    if (is("save")) save_scene();
    if (!known) server_.tell(note_json(fmt::format("unknown command \"{}\"", what)));
  } catch (const std::exception& e) {  // of a slider, of another page: the simulation goes on as it was
    server_.tell(note_json(e.what()));
  }
}

}  // namespace limber::cli
