#include "limber/export/report.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "limber/result/layout_json.h"

namespace limber::exporting {

using Json = nlohmann::ordered_json;

namespace {

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

}  // namespace

RecordingText::RecordingText(const result::Layout& layout, std::size_t moments, const ReportLimits& limits)
    : layout_(layout), moments_(moments), numbers_(layout.scalars.size()) {
  number_stride_ = stride_for(moments, sizeof(double) * (1 + layout.scalars.size()), limits.number_bytes);
  // Moments with poses are among those with numbers.
  const std::size_t floats =
      (layout.frame_value.empty() ? 7 : 8) * layout.frames.size() + 4 * layout.point_count();
  motion_stride_ = number_stride_ * stride_for((moments + number_stride_ - 1) / number_stride_,
                                               sizeof(float) * floats, limits.motion_bytes);
}

void RecordingText::add(const result::Snapshot& s, const result::Fields& fields) {
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
  const auto put = [&](double x) { motion_.push_back(static_cast<float>(x)); };
  for (const Quat& q : s.rotations) put(q.w()), put(q.x()), put(q.y()), put(q.z());
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) put(p.x()), put(p.y()), put(p.z());
  for (const double x : s.values) put(x);
  for (const result::Field& f : fields) motion_.insert(motion_.end(), f.values.begin(), f.values.end());
}

std::string RecordingText::json() const {
  std::vector<double> numbers = times_;
  for (const auto& column : numbers_) numbers.insert(numbers.end(), column.begin(), column.end());
  Json fields = Json::array();
  for (const result::Field& f : fields_)
    fields.push_back({{"name", f.name}, {"unit", f.unit}, {"on", result::to_string(f.on)}});
  Json out = {{"layout", Json::parse(result::layout_to_json(layout_))},
              {"fields", fields},
              {"times", times_.size()},
              {"motion_times", motion_times_},
              {"numbers", base64(numbers)},
              {"motion", base64(motion_)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

RecordingText read_recording(result::RecordingReader& recording, const ReportLimits& limits) {
  RecordingText text(recording.layout(), recording.frame_count(), limits);
  result::Snapshot snapshot;
  for (std::uint64_t i = 0; i < recording.frame_count(); ++i) {
    recording.read(i, snapshot);
    text.add(snapshot);
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
