// Shows a simulation (sim/live.h) to viewers and hands their wishes on: it runs in real time, or slower, in
// the thread that calls run().
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "limber/result/recording.h"
#include "limber/scene/scene.h"
#include "limber/sim/live.h"
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
  class Command;

  void tell_scene();
  void take(const ViewServer::Command& command);
  void apply(const std::string& text);
  void grab(const Command& c);
  void set_parameter(const Command& c);
  void rewind(double time);
  void restart();
  void after_start();  // if it has started anew
  void save_scene();
  void tell_saved(const char* name, const std::string& text);
  void advance(double until);
  void wait_for_eyes();
  void look_at_end();
  void record_frame();
  void publish();
  double next_publish() const;
  void tell_readings();
  double now() const;
  double time() const { return live_.time(); }
  double step_time() const { return live_.options().step; }
  void anchor();  // real time runs on from here

  scene::Scene scene_;
  ViewServer& server_;
  sim::Live live_;
  std::uint32_t epoch_ = 0, index_ = 0;
  int starts_ = 0;  // of live_, that it knows of
  bool paused_ = false, changed_ = true;
  bool started_ = false;  // someone has seen the start
  bool ended_ = false;    // paused because the scene's time is over
  bool beyond_ = false;   // it was asked to go on all the same
  double speed_ = 1, command_ = 0, pace_ = 0;
  double anchor_wall_ = 0, anchor_time_ = 0;
  double pace_wall_ = 0, pace_time_ = 0, last_publish_ = -1, last_readings_ = 0;
  // Commands and the steps that feel them: the last one, when the oldest that no step was made after came (0:
  // none), and whether a frame should tell of it at once.
  double felt_ = 0, unfelt_since_ = 0, felt_arrived_ = 0;
  bool answer_wanted_ = false, dragged_ = false;
  std::string read_name_;
  std::optional<result::RecordingWriter> recording_;
};

}  // namespace limber::cli
