// report.html: the viewer's page with its data inside. One file, no network.
//
// The page (viewer/) holds the mark <!--limber-data-->; it is replaced by
//   <script type="application/json" id="limber-data">{…}</script>
// viewer/src/report.ts says what the object holds; a recording in it is
//   {"layout": …, "fields": […], "times": n, "motion_times": [indices], "numbers": base64, "motion": base64}
// with numbers = times, then the values of each scalar (f64), and motion = for each stored moment rotations
// (w,x,y,z), positions, points, fields (f32), all little endian. The layout is that of result/layout_json.h,
// but frames one after the other that are alike but for a number at the end of their names stand there once:
// {"run": ["m.", 0, 1, 13, …], "shapes": …}.
//
// Where something presses on something, {…, "touches": {"counts": […], "places": base64}} has for each stored
// moment so many places (x, y, z) with their forces, f32; of more than would fit those with the largest
// forces.
//
// Where so few moments would fit that nothing moves, they are u16: {…, "ranges": [[low, high], …]} has the
// range of rotations, of x, y and z, and of each field; x = low + n (high − low) / 65534, and 65535 is no
// number.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "limber/result/fields.h"
#include "limber/result/recording.h"
#include "limber/result/touch.h"

namespace limber::exporting {

struct ReportLimits {
  std::size_t motion_bytes = 2'400'000;  // above it moments are left out evenly; numbers keep all …
  std::size_t number_bytes = 600'000;    // … up to here
  std::size_t touch_bytes = 600'000;     // of places that touch
};

// Collects moments for the page.
class RecordingText {
 public:
  RecordingText(const result::Layout& layout, std::size_t moments, const ReportLimits& limits = {});
  void add(const result::Snapshot& snapshot, const result::Fields& fields = {});
  void touch(const result::Touches& touches);  // at the moment that was added last
  std::string json() const;
  std::size_t motion_stride() const { return motion_stride_; }  // every so manieth moment has poses
  bool rounded() const { return rounded_; }                     // poses are, to a 65,534th of their range
  std::size_t number_stride() const { return number_stride_; }  // every so manieth moment has numbers

 private:
  const result::Layout& layout_;
  std::size_t moments_, count_ = 0, motion_stride_ = 1, number_stride_ = 1;
  bool rounded_ = false;
  std::vector<double> times_;
  std::vector<std::vector<double>> numbers_;  // by scalar
  std::vector<std::size_t> motion_times_;
  std::vector<float> motion_;
  result::Fields fields_;  // without values
  bool stored_ = false;    // the moment that was added last has poses
  std::size_t touch_bytes_;
  std::vector<std::size_t> touch_counts_;  // of each stored moment
  std::vector<float> touches_;
};

// All moments of a recording; touches: those of its frames, null: none.
RecordingText read_recording(result::RecordingReader& recording, result::TouchReader* touches = nullptr,
                             const ReportLimits& limits = {});

// Throws std::invalid_argument if the page has no place for the data.
std::string fill_page(std::string_view page, std::string_view json);

}  // namespace limber::exporting
