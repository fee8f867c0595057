// RFC 4180, with \n as the line end.
#include <charconv>
#include <cmath>
#include <string>

#include "limber/export/export.h"
#include "limber/math/stop.h"
#include "limber/result/files.h"

namespace limber::exporting {
namespace {

void append_field(std::string& line, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

void append_number(std::string& line, double x) {
  if (std::isnan(x)) {
    line += "nan";  // without a sign, whatever its bits
    return;
  }
  char digits[32];  // the longest is 24: sign, 17 digits, point, e-308
  line.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
}

std::string header(const result::Layout& layout) {
  std::string line = "time [s]";
  for (const result::ScalarInfo& scalar : layout.scalars) {
    line += ',';
    append_field(line, scalar.unit.empty() ? scalar.name : scalar.name + " [" + scalar.unit + "]");
  }
  return line + '\n';
}

}  // namespace

void write_csv(result::RecordingReader& recording, const std::filesystem::path& file) {
  result::AtomicFile out(file);
  out.write(header(recording.layout()));
  result::Snapshot snapshot;
  std::string line;
  for (std::uint64_t i = 0; i < recording.frame_count(); ++i) {
    stop_if_requested();
    recording.read(i, snapshot);
    line.clear();
    append_number(line, snapshot.time);
    for (const double x : snapshot.scalars) {
      line += ',';
      append_number(line, x);
    }
    out.write(line += '\n');
  }
  out.commit();
}

}  // namespace limber::exporting
