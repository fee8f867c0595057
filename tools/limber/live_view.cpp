#include "live_view.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "limber/math/stop.h"
#include "terminal.h"

namespace limber::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr double frame_time = 1.0 / 60;  // [s] between frames, unless a command wants an answer
constexpr double answer_time = 0.004;    // [s] between frames that answer commands: mice report every ms
constexpr double most_stepping = 0.012;  // [s] of stepping before a frame is due again
constexpr double most_lag = 0.1;         // [s] that are caught up; a slower simulation runs slower
constexpr double longest_wait = 30;      // [s] for a page that is there to draw its first picture

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
    : scene_(std::move(scene)),
      server_(server),
      live_(scene_.model, options, [this](const std::string& text) { server_.tell(note_json(text)); }),
      starts_(live_.starts()) {
  anchor();
  tell_scene();
}

double LiveView::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void LiveView::anchor() {
  anchor_wall_ = pace_wall_ = now();
  anchor_time_ = pace_time_ = time();
}

void LiveView::after_start() {
  if (std::exchange(starts_, live_.starts()) == live_.starts()) return;
  if (recording_) {  // another model, another layout, or time that goes back
    recording_.reset();
    server_.tell(note_json("the recording ends here"));
  }
  anchor();
}

void LiveView::tell_scene() {
  ++epoch_;
  LiveScene s;
  s.epoch = epoch_;
  s.parameters = scene_.parameters;
  s.methods = live_.methods();
  s.method = sim::method_name(live_.options());
  s.step = step_time();
  s.strength = live_.strength();
  s.holds = live_.can_hold();
  s.reducible = !live_.options().rom.ends.empty();
  server_.set_scene(live_scene_json(s, live_.layout(), live_.fields()));
  changed_ = true;
}

void LiveView::publish() {
  LiveFrameHead head;
  head.epoch = epoch_;
  head.index = index_++;
  head.paused = paused_;
  head.failed = live_.failed();
  head.held = live_.held();
  head.command = command_;
  head.pace = pace_;
  head.pull = live_.pull();
  head.felt = felt_;
  head.answer = felt_arrived_ > 0 ? now() - felt_arrived_ : 0;
  felt_arrived_ = 0;
  answer_wanted_ = false;
  server_.publish(encode_live_frame(head, live_.snapshot(), live_.fields(), live_.touches()));
  last_publish_ = now();
  changed_ = false;
}

void LiveView::record(const std::filesystem::path& file) {
  recording_.emplace(result::RecordingWriter::create(file, live_.layout()));
  recording_->append(0, live_.snapshot());
}

void LiveView::record_frame() {
  const std::int64_t steps = live_.options().steps(), at = live_.steps();
  if (at > steps || (at % live_.options().steps_per_frame() != 0 && at != steps)) return;
  recording_->append(recording_->frame_count(), live_.snapshot());
  if (at < steps) return;
  recording_->sync();
  recording_.reset();
  message("limber: the recording is complete");
}

// As many steps as are due; a command that comes is looked at before the next one.
void LiveView::advance(double until) {
  const double begin = now();
  bool moved = false;
  while (!live_.failed() && time() + step_time() <= until && now() - begin < most_stepping) {
    if (moved && (server_.has_commands() || paused_)) break;
    if (!live_.step()) {
      changed_ = true;
      break;
    }
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
  live_.look();
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
  if (beyond_ || live_.steps() != live_.options().steps()) return;
  paused_ = ended_ = changed_ = true;
  server_.tell(note_json(
      fmt::format("This is the end of the scene's time, {:g} s. Play goes on, Reset starts again.", time())));
}

void LiveView::run() {
  wait_for_eyes();
  while (!stop_requested()) {
    const bool moving = !paused_ && !live_.failed();
    double due = anchor_time_ + speed_ * (now() - anchor_wall_);
    const double lead = dragged_ ? step_time() : 0;  // a hand that moves is felt up to a step before its time
    double wait = moving ? std::clamp((time() + step_time() - lead - due) / speed_, 0.0, 0.02) : 0.05;
    if (changed_) wait = std::min(wait, std::max(0.0, next_publish() - now()));
    for (const ViewServer::Command& command : server_.take_commands(wait)) take(command);
    if (!paused_ && !live_.failed()) {
      due = anchor_time_ + speed_ * (now() - anchor_wall_);
      if (due - time() > most_lag * speed_ + step_time()) {
        anchor_wall_ = now();
        anchor_time_ = time();
        due = time() + step_time();
      }
      advance(due + (dragged_ ? step_time() : 0) + 1e-9);
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
  for (const result::Reading& r : live_.readings(read_name_))
    list.push_back({{"name", r.name}, {"value", r.value}, {"unit", r.unit}});
  server_.tell(Json({{"type", "readings"}, {"epoch", epoch_}, {"readings", list}}).dump());
}

void LiveView::grab(const Command& c) {
  result::Hand h;
  h.on = c.text("on") == "point" ? result::Hand::On::point : result::Hand::On::frame;
  h.index = static_cast<int>(c.number("index", 0, 2e9));
  h.p = c.vector("p");
  h.target = c.vector("target");
  live_.grab(h);
}

void LiveView::set_parameter(const Command& c) {
  const std::string name = c.text("name"), value = c.text("value");
  scene::LoadOptions load = scene_.options;
  std::erase_if(load.set, [&](const auto& s) { return s.first == name; });
  load.set.emplace_back(name, value);
  scene::Scene changed = scene::parse(scene_.sources.front().text, scene_.file, {}, load, &scene_.sources);
  live_.replace(changed.model);
  scene_ = std::move(changed);
}

void LiveView::restart() {
  const bool was_cut = live_.is_cut();
  live_.restart();
  beyond_ = false;
  if (std::exchange(ended_, false)) paused_ = false;
  if (was_cut) tell_scene();  // in one piece again: other lines
}

void LiveView::rewind(double t) {
  const bool was_cut = live_.is_cut();
  live_.rewind(t);
  beyond_ = beyond_ && live_.steps() > live_.options().steps();
  if (std::exchange(ended_, false)) paused_ = false;
  anchor();
  if (was_cut && !live_.is_cut()) tell_scene();  // in one piece again: other lines
}

void LiveView::save_scene() {
  std::optional<Model> model = live_.model_at();
  if (!model && live_.options().method == sim::Method::rom) {  // its points are what is worth keeping
    const std::string text =
        fmt::format("# {}, with the linearisation points of its reduced model, written by limber view.\n{}",
                    live_.layout().title, scene::write_yaml(scene_.model, live_.options()));
    return tell_saved("points.yaml", text);
  }
  if (!model) return server_.tell(note_json("this method cannot write its state as a scene"));
  const std::string text = fmt::format(
      "# {} at t = {:.6g} s, written by limber view. Time begins at 0 again: what depends on t starts "
      "over.\n{}",
      live_.layout().title, time(), scene::write_yaml(*model, live_.options()));
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
    if (what != "drag" || paused_ || live_.failed()) answer_wanted_ = true;
    if (is("pause")) paused_ = true, ended_ = false;
    if (is("ready")) started_ = true;
    if (is("play") || is("step"))
      started_ = true, ended_ = false, beyond_ = beyond_ || live_.steps() >= live_.options().steps();
    if (is("play")) paused_ = false, anchor();
    if (is("step")) {
      paused_ = true;
      advance(time() + 1.5 * step_time());
    }
    if (is("speed")) speed_ = c.number("value", 0.001, 100), anchor();
    if (is("reset")) restart();
    if (is("grab")) grab(c);
    if (is("cut") && !live_.cut(static_cast<int>(c.number("index", 0, 2e9))))
      server_.tell(note_json("this cannot be cut here"));
    if (is("point")) live_.add_point();
    if (is("drag") && live_.held()) {
      live_.drag(c.vector("target"));
      dragged_ = true;
    }
    if (is("release")) live_.release();
    if (is("strength")) live_.set_strength(c.number("value", 1e-9, 1e15));
    if (is("loads")) live_.scale_loads(c.number("value", -100, 100));
    if (is("read")) read_name_ = c.text("name");
    if (is("set")) set_parameter(c);
    if (is("method")) live_.switch_method(c.text("name"));
    if (is("rewind")) rewind(c.number("time", 0, 1e12));
    if (is("save")) save_scene();
    // What made another layout or other options is told anew; a restart only if it was cut.
    const bool anew = starts_ != live_.starts();
    after_start();
    if (is("point") || is("set") || is("method") || (is("cut") && anew)) tell_scene();
    if (!known) server_.tell(note_json(fmt::format("unknown command \"{}\"", what)));
  } catch (const std::exception& e) {  // of a slider, of another page: the simulation goes on as it was
    server_.tell(note_json(e.what()));
  }
}

}  // namespace limber::cli
