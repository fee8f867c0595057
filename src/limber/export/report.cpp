#include "limber/export/report.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "limber/math/stop.h"
#include "limber/result/layout_json.h"

namespace limber::exporting {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t fewest_moments = 8;  // with all digits; below, poses are rounded and twice as many fit

static_assert(std::endian::native == std::endian::little, "the page reads little endian");

template <class T>
std::string base64(const std::vector<T>& values) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  const std::size_t size = values.size() * sizeof(T);
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    const std::size_t left = std::min<std::size_t>(3, size - i);
    const unsigned group = unsigned{bytes[i]} << 16 | (left > 1 ? unsigned{bytes[i + 1]} << 8 : 0u) |
                           (left > 2 ? unsigned{bytes[i + 2]} : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += k <= left ? digits[group >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

// Every so manieth of n moments, so that what is left fits.
std::size_t stride_for(std::size_t n, std::size_t bytes_each, std::size_t limit) {
  const std::size_t most = std::max<std::size_t>(2, bytes_each > 0 ? limit / bytes_each : n);
  return std::max<std::size_t>(1, (n + most - 1) / most);
}

// A name as its beginning and the number at its end, written without leading zeros; −1: none.
std::pair<std::string_view, long> split_number(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name.size() - at < 9 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  while (at + 1 < name.size() && name[at] == '0') ++at;
  if (at == name.size()) return {name, -1};
  return {name.substr(0, at), std::stol(std::string(name.substr(at)))};
}

// Frames one after the other that are alike but for the numbers in their names stand there once.
Json with_runs(Json frames) {
  Json out = Json::array();
  std::string beginning, last_beginning, rest, last_rest;
  for (Json& frame : frames) {
    const std::string name = frame.at("name").get<std::string>();
    frame.erase("name");
    rest = frame.dump();
    const auto [text, number] = split_number(name);
    beginning = text;
    if (number >= 0 && beginning == last_beginning && rest == last_rest && out.back().contains("run")) {
      out.back()["run"].push_back(number);
      continue;
    }
    if (number >= 0)
      frame["run"] = {beginning, number};
    else
      frame["name"] = name;
    out.push_back(std::move(frame));
    std::swap(last_beginning, beginning), std::swap(last_rest, rest);
  }
  return out;
}

// Moments as u16, with the ranges of what they hold: parts of `sizes` numbers, positions and points by x, y,
// z.
struct Rounded {
  std::vector<std::uint16_t> values;
  Json ranges = Json::array();
};
struct Part {
  std::size_t size;
  int range;       // first of its ranges
  int components;  // ranges that its numbers take in turns
};
Rounded round_motion(const std::vector<float>& motion, const std::vector<Part>& parts, int range_count) {
  constexpr float none = 65534;
  std::vector<float> low(range_count, INFINITY), high(range_count, -INFINITY);
  const auto each = [&](auto&& visit) {
    for (std::size_t at = 0; at < motion.size();)
      for (const Part& part : parts)
        for (std::size_t i = 0; i < part.size; ++i, ++at)
          visit(motion[at], part.range + static_cast<int>(i) % part.components);
  };
  each([&](float x, int k) {
    if (std::isfinite(x)) low[k] = std::min(low[k], x), high[k] = std::max(high[k], x);
  });
  Rounded out;
  out.values.reserve(motion.size());
  each([&](float x, int k) {
    const float span = high[k] - low[k], share = span > 0 ? (x - low[k]) / span : 0;
    out.values.push_back(std::isfinite(x) ? static_cast<std::uint16_t>(std::lround(share * none)) : 65535);
  });
  for (int k = 0; k < range_count; ++k)
    out.ranges.push_back(low[k] <= high[k] ? Json({low[k], high[k]}) : Json({0, 0}));
  return out;
}

}  // namespace

RecordingText::RecordingText(const result::Layout& layout, std::size_t moments, const ReportLimits& limits)
    : layout_(layout), moments_(moments), numbers_(layout.scalars.size()), touch_bytes_(limits.touch_bytes) {
  number_stride_ = stride_for(moments, sizeof(double) * (1 + layout.scalars.size()), limits.number_bytes);
  // Moments with poses are among those with numbers.
  const std::size_t floats =
      (layout.frame_value.empty() ? 7 : 8) * layout.frames.size() + 4 * layout.point_count();
  const std::size_t stored = (moments + number_stride_ - 1) / number_stride_;
  rounded_ = sizeof(float) * floats * std::min(stored, fewest_moments) > limits.motion_bytes;
  motion_stride_ =
      number_stride_ * stride_for(stored, (rounded_ ? 2 : sizeof(float)) * floats, limits.motion_bytes);
}

void RecordingText::add(const result::Snapshot& s, const result::Fields& fields) {
  stored_ = false;
  const std::size_t index = count_++;
  const bool last = count_ == moments_;  // always kept
  if (index % number_stride_ != 0 && !last) return;
  times_.push_back(s.time);
  for (std::size_t k = 0; k < numbers_.size(); ++k) numbers_[k].push_back(s.scalars[k]);
  if (index % motion_stride_ != 0 && !last) return;
  if (motion_times_.empty()) {
    if (!layout_.frame_value.empty())
      fields_.push_back({layout_.frame_value, "", result::Field::On::frames, {}});
    for (const result::Field& f : fields) fields_.push_back({f.name, f.unit, f.on, {}});
  }
  motion_times_.push_back(times_.size() - 1);
  stored_ = true;
  const auto put = [&](double x) { motion_.push_back(static_cast<float>(x)); };
  for (const Quat& q : s.rotations) put(q.w()), put(q.x()), put(q.y()), put(q.z());
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) put(p.x()), put(p.y()), put(p.z());
  for (const double x : s.values) put(x);
  for (const result::Field& f : fields) motion_.insert(motion_.end(), f.values.begin(), f.values.end());
}

void RecordingText::touch(const result::Touches& touches) {
  if (!stored_) return;
  touch_counts_.resize(motion_times_.size() - 1);
  const std::size_t share = touch_bytes_ * motion_stride_ / std::max<std::size_t>(1, moments_);
  const std::size_t most = std::max<std::size_t>(32, share / (6 * sizeof(float)));
  result::Touches shown = touches;
  if (shown.size() > most) {
    std::ranges::stable_sort(shown, std::greater(), [](const result::Touch& t) { return t.force.norm(); });
    shown.resize(most);
  }
  for (const result::Touch& t : shown)
    for (const Vec3* v : {&t.at, &t.force})
      for (int k = 0; k < 3; ++k) touches_.push_back(static_cast<float>((*v)[k]));
  touch_counts_.push_back(shown.size());
}

std::string RecordingText::json() const {
  std::vector<double> numbers = times_;
  for (const auto& column : numbers_) numbers.insert(numbers.end(), column.begin(), column.end());
  Json fields = Json::array();
  for (const result::Field& f : fields_)
    fields.push_back({{"name", f.name}, {"unit", f.unit}, {"on", result::to_string(f.on)}});
  Json layout = Json::parse(result::layout_to_json(layout_));
  layout["frames"] = with_runs(std::move(layout["frames"]));
  Json out = {{"layout", std::move(layout)},
              {"fields", fields},
              {"times", times_.size()},
              {"motion_times", motion_times_},
              {"numbers", base64(numbers)}};
  if (!touches_.empty()) {
    std::vector<std::size_t> counts = touch_counts_;
    counts.resize(motion_times_.size());
    out["touches"] = {{"counts", counts}, {"places", base64(touches_)}};
  }
  if (rounded_) {
    std::vector<Part> parts = {{4 * layout_.frames.size(), 0, 1},
                               {3 * layout_.frames.size(), 1, 3},
                               {3 * layout_.point_count(), 1, 3}};
    int ranges = 4;
    for (const result::Field& f : fields_)
      parts.push_back({f.on == result::Field::On::frames      ? layout_.frames.size()
                       : f.on == result::Field::On::polylines ? layout_.polylines.size()
                                                              : layout_.point_count(),
                       ranges++, 1});
    const Rounded rounded = round_motion(motion_, parts, ranges);
    out["ranges"] = rounded.ranges;
    out["motion"] = base64(rounded.values);
  } else {
    out["motion"] = base64(motion_);
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecordingText read_recording(result::RecordingReader& recording, result::TouchReader* touches,
                             const ReportLimits& limits) {
  RecordingText text(recording.layout(), recording.frame_count(), limits);
  result::Snapshot snapshot;
  result::Touches touching;
  for (std::uint64_t i = 0; i < recording.frame_count(); ++i) {
    stop_if_requested();
    recording.read(i, snapshot);
    text.add(snapshot);
    if (touches && i < touches->frame_count()) {
      touches->read(i, touching);
      text.touch(touching);
    }
  }
  return text;
}

std::string fill_page(std::string_view page, std::string_view json) {
  constexpr std::string_view mark = "<!--limber-data-->";
  const std::size_t at = page.find(mark);
  if (at == std::string_view::npos) throw std::invalid_argument("the viewer's page has no place for data");
  std::string out(page.substr(0, at));
  out += R"(<script type="application/json" id="limber-data">)";
  for (const char c :
       json) {  // nothing in it may end the script: < stands only in texts, where this is the same
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  out += "</script>";
  out += page.substr(at + mark.size());
  return out;
}

}  // namespace limber::exporting
