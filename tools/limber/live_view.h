// A simulation that viewers watch and pull at: it runs in real time, or slower, in the thread that calls
// run().
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "limber/result/recording.h"
#include "limber/scene/scene.h"
#include "limber/sim/driver.h"
#include "live_frame.h"
#include "live_scene.h"
#include "view_server.h"

namespace limber::cli {

class LiveView {
 public:
  LiveView(scene::Scene scene, sim::RunOptions options, ViewServer& server);
  // Writes the frames that `limber run` would write, until the scene's time is over, to a new file.
  void record(const std::filesystem::path& file);
  void run();  // until a stop is asked for

 private:
  // A past moment to go back to.
  struct Past {
    std::int64_t step;
    std::string state;
  };
  class Command;

  void start(std::unique_ptr<sim::Driver> driver);
  void tell_scene();
  void take(const ViewServer::Command& command);
  void apply(const std::string& text);
  void grab(const Command& c);
  void cut(const Command& c);
  bool is_cut() const;  // by hand
  void add_point();
  void set_parameter(const Command& c);
  void switch_method(const std::string& name);
  void rewind(double time);
  void restart();
  void save_scene();
  void tell_saved(const char* name, const std::string& text);
  void advance(double until);
  bool one_step();
  void wait_for_eyes();
  void look_at_end();
  void remember();
  void record_frame();
  void observe();
  void publish();
  double next_publish() const;
  void tell_readings();
  double now() const;
  double time() const { return static_cast<double>(step_) * options_.step; }
  void anchor();  // real time runs on from here

  scene::Scene scene_;
  sim::RunOptions options_;
  ViewServer& server_;
  std::unique_ptr<sim::Driver> driver_;
  result::Snapshot snapshot_, before_;  // now, and a step ago
  result::Fields fields_;
  std::vector<sim::MethodChoice> methods_;
  std::deque<Past> past_;
  std::size_t past_bytes_ = 0;
  std::int64_t step_ = 0;
  std::uint32_t epoch_ = 0, index_ = 0;
  bool paused_ = false, failed_ = false, changed_ = true;
  bool started_ = false;  // someone has seen the start
  bool ended_ = false;    // paused because the scene's time is over
  bool beyond_ = false;   // it was asked to go on all the same
  bool warned_ = false;   // of what the method says about its numbers
  double speed_ = 1, loads_ = 1, command_ = 0, pace_ = 0;
  double anchor_wall_ = 0, anchor_time_ = 0;
  double pace_wall_ = 0, pace_time_ = 0, last_publish_ = -1, last_readings_ = 0;
  // Commands and the steps that feel them: the last one, when the oldest that no step was made after came (0:
  // none), and whether a frame should tell of it at once.
  double felt_ = 0, unfelt_since_ = 0, felt_arrived_ = 0;
  bool answer_wanted_ = false, dragged_ = false;
  double strength_ = 0;  // of the handle [N/m]
  double mass_ = 1;
  std::optional<result::Hand> handle_;
  std::string read_name_;
  std::optional<result::RecordingWriter> recording_;
};

}  // namespace limber::cli
