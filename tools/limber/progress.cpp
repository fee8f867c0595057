#include "progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "terminal.h"

namespace limber::cli {

namespace {

constexpr double redraw_interval = 0.1, line_interval = 5;  // [s]

double fraction_done(const sim::Progress& p) {
  return p.steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.steps) : 1;
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool quiet) : quiet_(quiet), terminal_(stderr_is_terminal()) {
  next_ = terminal_ ? redraw_interval : line_interval;
}

ProgressDisplay::~ProgressDisplay() { clear(); }

void ProgressDisplay::show(const sim::Progress& p) {
  if (first_time_ < 0) first_time_ = p.time;
  if (quiet_ || p.wall_seconds < next_) return;
  next_ = p.wall_seconds + (terminal_ ? redraw_interval : line_interval);
  const std::string text = progress_text(p, first_time_);
  if (!terminal_) return message(text);
  const int room = terminal_width() - static_cast<int>(display_width(text)) - 3;
  raw_message(fmt::format("\r\x1b[K{}{}",
                          room >= 8 ? progress_bar(fraction_done(p), std::min(room, 40)) + "  " : "", text));
  drawn_ = true;
}

void ProgressDisplay::say(const std::string& line) {
  clear();
  message(line);
}

void ProgressDisplay::clear() {
  if (drawn_) raw_message("\r\x1b[K");
  drawn_ = false;
}

std::string progress_text(const sim::Progress& p, double first_time) {
  const double speed = (p.time - first_time) / p.wall_seconds;  // simulated seconds a second
  const double left = (p.end_time - p.time) / speed;
  return fmt::format("{:3.0f} %  {:.3f} of {:g} s  {:.3g}× real time  {} left  {} frames",
                     std::floor(100 * fraction_done(p)), p.time, p.end_time, speed, format_duration(left),
                     p.frames);
}

std::string progress_bar(double fraction, int width) {
  const int inside = width - 2, full = static_cast<int>(std::floor(std::clamp(fraction, 0.0, 1.0) * inside));
  return fmt::format("[{}{}]", std::string(static_cast<std::size_t>(full), '='),
                     std::string(static_cast<std::size_t>(inside - full), ' '));
}

}  // namespace limber::cli
