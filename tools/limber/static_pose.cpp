#include "static_pose.h"

#include <fmt/format.h>

#include <cmath>

#include "limber/export/export.h"
#include "limber/result/files.h"
#include "limber/result/recording.h"

namespace limber::cli {

namespace fs = std::filesystem;

namespace {

std::string nodes_csv(const result::Layout& layout, const result::Snapshot& at, const result::Snapshot& was,
                      const result::Fields& fields) {
  std::string out = "line,point,x [m],y [m],z [m],from x [m],from y [m],from z [m]";
  for (const result::Field& f : fields)
    if (f.on == result::Field::On::points) out += fmt::format(",{} [{}]", f.name, f.unit);
  out += "\n";
  std::size_t next = 0;
  for (const result::PolylineInfo& line : layout.polylines)
    for (int k = 0; k < line.points; ++k, ++next) {
      const Vec3 &p = at.points[next], &q = was.points[next];
      out += fmt::format("{},{},{},{},{},{},{},{}", line.name, k, p.x(), p.y(), p.z(), q.x(), q.y(), q.z());
      for (const result::Field& f : fields)
        if (f.on == result::Field::On::points)
          out += std::isfinite(f.values[next]) ? fmt::format(",{}", f.values[next]) : ",";
      out += "\n";
    }
  return out;
}

// A folder beside what is to be written, gone at the end.
class Workshop {
 public:
  explicit Workshop(const fs::path& in) : path_(in / ".pose") {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  fs::path operator/(const char* name) const { return path_ / name; }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

}  // namespace

void write_pose(const result::Layout& layout, const result::Snapshot& at, const result::Snapshot& was,
                const result::Fields& fields, const fs::path& folder, bool replace) {
  std::error_code error;
  for (const char* name : {"pose.glb", "pose.vtp", "nodes.csv"})
    if (!replace && fs::exists(folder / name, error))
      throw result::IoError(folder / name, "is there already; --force replaces it");
  try {
    fs::create_directories(folder);
    const Workshop shop(folder);
    {
      result::RecordingWriter frames = result::RecordingWriter::create(shop / "frames", layout);
      result::Snapshot one = at;
      one.time = 0, one.values.resize(layout.frame_value.empty() ? 0 : layout.frames.size());
      frames.append(0, one);
      frames.sync();
    }
    result::RecordingReader recording(shop / "frames");
    exporting::write_glb(recording, folder / "pose.glb");
    exporting::write_vtk(recording, shop.path());
    fs::rename(shop.path() / "vtk" / "frame_000000.vtp", folder / "pose.vtp");
  } catch (const fs::filesystem_error& e) {
    throw result::IoError(folder, e.code().message());
  }
  result::write_atomically(folder / "nodes.csv", nodes_csv(layout, at, was, fields));
}

}  // namespace limber::cli
