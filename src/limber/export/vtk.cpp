// VTK XML: one PolyData file (.vtp) a frame and a collection (.pvd) that gives each its time.
//
// Arrays stand raw behind the XML ("appended"): _ then, for each array, u64 length in bytes and the bytes; an
// array's offset counts from after the underscore. Cells come lines first, then faces; cell data follow
// that order. Connectivity is the same in every frame, only the points move.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "limber/export/export.h"
#include "limber/export/mesh.h"
#include "limber/export/sweep.h"
#include "limber/math/so3.h"
#include "limber/math/stop.h"
#include "limber/result/files.h"

namespace limber::exporting {
namespace {

using result::Layout;
using result::Snapshot;

struct Cells {
  std::vector<std::int64_t> connectivity;
  std::vector<std::int64_t> offsets;  // end of each cell
};

// A shape's vertices in its body.
struct Patch {
  std::size_t frame;
  std::vector<Vec3> p_B;
};

struct Geometry {
  std::vector<Patch> patches;
  std::vector<Sweep> sweeps;
  Cells lines, polys;
  std::vector<std::int32_t> body;  // of each cell: frame index, or −1−k for polyline k
  std::size_t points = 0;          // patches first, then the polylines' points, then the swept sections
};

// Four corners a cell along the surface, and a section at either end.
void add_sweep(const Sweep& sweep, Geometry& geometry, std::vector<std::int32_t>& poly_body) {
  const std::size_t m = sweep.outline.size();
  const auto add = [&](const std::vector<std::size_t>& corners) {
    for (const std::size_t i : corners)
      geometry.polys.connectivity.push_back(static_cast<std::int64_t>(geometry.points + i));
    geometry.polys.offsets.push_back(static_cast<std::int64_t>(geometry.polys.connectivity.size()));
    poly_body.push_back(-1 - static_cast<std::int32_t>(sweep.polyline));
  };
  for (std::size_t i = 0; i + 1 < sweep.points; ++i)
    for (std::size_t k = 0; k < m; ++k)
      add({m * i + k, m * i + (k + 1) % m, m * (i + 1) + (k + 1) % m, m * (i + 1) + k});
  std::vector<std::size_t> begin, end;
  for (std::size_t k = 0; k < m; ++k) {
    begin.push_back(m - 1 - k);
    end.push_back(m * (sweep.points - 1) + k);
  }
  add(begin);
  add(end);
  geometry.points += m * sweep.points;
}

Geometry make_geometry(const Layout& layout) {
  Geometry geometry;
  std::vector<std::int32_t> poly_body;
  for (std::size_t f = 0; f < layout.frames.size(); ++f) {
    for (const Shape& shape : layout.frames[f].shapes) {
      const Mesh mesh = mesh_of(shape.geometry);
      Patch patch{f, {}};
      for (const Vec3& p_G : mesh.positions) patch.p_B.push_back(shape.X_BG * p_G);
      for (const auto& triangle : mesh.triangles) {
        for (const std::uint32_t i : triangle)
          geometry.polys.connectivity.push_back(static_cast<std::int64_t>(geometry.points + i));
        geometry.polys.offsets.push_back(static_cast<std::int64_t>(geometry.polys.connectivity.size()));
        poly_body.push_back(static_cast<std::int32_t>(f));
      }
      geometry.points += patch.p_B.size();
      geometry.patches.push_back(std::move(patch));
    }
  }
  for (std::size_t k = 0; k < layout.polylines.size(); ++k) {
    const auto n = static_cast<std::size_t>(layout.polylines[k].points);
    if (n >= 2) {
      for (std::size_t i = 0; i < n; ++i)
        geometry.lines.connectivity.push_back(static_cast<std::int64_t>(geometry.points + i));
      geometry.lines.offsets.push_back(static_cast<std::int64_t>(geometry.lines.connectivity.size()));
      geometry.body.push_back(-1 - static_cast<std::int32_t>(k));
    }
    geometry.points += n;
  }
  geometry.sweeps = sweeps_of(layout);
  for (const Sweep& sweep : geometry.sweeps) add_sweep(sweep, geometry, poly_body);
  geometry.body.insert(geometry.body.end(), poly_body.begin(), poly_body.end());
  return geometry;
}

void place_points(const Geometry& geometry, const Snapshot& snapshot, std::vector<Vec3>& points) {
  points.clear();
  for (const Patch& patch : geometry.patches) {
    const Pose X_WB{math::to_matrix(snapshot.rotations[patch.frame]), snapshot.positions[patch.frame]};
    for (const Vec3& p : patch.p_B) points.push_back(X_WB * p);
  }
  points.insert(points.end(), snapshot.points.begin(), snapshot.points.end());
  for (const Sweep& sweep : geometry.sweeps)
    for (std::size_t i = 0; i < sweep.points; ++i)
      for (const Vec2& corner : sweep.outline) points.push_back(sweep.at(snapshot, i, corner));
}

// Letters that every reader takes in an array's name, and no name twice; the frames' value comes last.
std::vector<std::string> array_names(const Layout& layout) {
  std::vector<std::string> names, wanted;
  std::set<std::string> used = {"TimeValue", "body"};
  for (const result::ScalarInfo& scalar : layout.scalars) wanted.push_back(scalar.name);
  if (!layout.frame_value.empty()) wanted.push_back(layout.frame_value);
  for (const std::string& want : wanted) {
    std::string name = want.empty() ? "_" : want;
    for (char& c : name) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '.' || c == '_' || c == '-';
      if (!plain) c = '_';
    }
    std::string unique = name;
    for (int i = 2; !used.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
    names.push_back(unique);
  }
  return names;
}

class Vtp {
 public:
  void array(const char* type, const std::string& name, const char* attributes, const void* data,
             std::size_t size) {
    xml_ += fmt::format("<DataArray type=\"{}\" Name=\"{}\" {}format=\"appended\" offset=\"{}\"/>\n", type,
                        name, attributes, appended_.size());
    const std::uint64_t length = size;
    appended_.append(reinterpret_cast<const char*>(&length), sizeof length);
    if (size > 0) appended_.append(static_cast<const char*>(data), size);
  }
  void cells(const char* element, const Cells& cells) {
    xml_ += fmt::format("<{}>\n", element);
    array("Int64", "connectivity", "", cells.connectivity.data(),
          cells.connectivity.size() * sizeof(std::int64_t));
    array("Int64", "offsets", "", cells.offsets.data(), cells.offsets.size() * sizeof(std::int64_t));
    xml_ += fmt::format("</{}>\n", element);
  }
  void text(const std::string& text) { xml_ += text; }

  void write(const std::filesystem::path& path) {
    result::AtomicFile out(path);
    out.write(xml_);
    out.write("<AppendedData encoding=\"raw\">\n_");
    out.write(appended_);
    out.write("\n</AppendedData>\n</VTKFile>\n");
    out.commit();
    xml_.clear();
    appended_.clear();
  }

 private:
  std::string xml_, appended_;
};

void fill(Vtp& vtp, const Geometry& geometry, const std::vector<std::string>& names, const Snapshot& snapshot,
          const std::vector<Vec3>& points) {
  vtp.text(
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
      "<PolyData>\n<FieldData>\n");
  vtp.array("Float64", "TimeValue", "NumberOfTuples=\"1\" ", &snapshot.time, sizeof(double));
  for (std::size_t i = 0; i < snapshot.scalars.size(); ++i)
    vtp.array("Float64", names[i], "NumberOfTuples=\"1\" ", &snapshot.scalars[i], sizeof(double));
  vtp.text(
      fmt::format("</FieldData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"0\" NumberOfLines=\"{}\" "
                  "NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n<CellData Scalars=\"body\">\n",
                  points.size(), geometry.lines.offsets.size(), geometry.polys.offsets.size()));
  vtp.array("Int32", "body", "", geometry.body.data(), geometry.body.size() * sizeof(std::int32_t));
  if (!snapshot.values.empty()) {  // of each cell: its body's; lines have none
    std::vector<double> values;
    values.reserve(geometry.body.size());
    for (const std::int32_t body : geometry.body) values.push_back(body < 0 ? 0 : snapshot.values[body]);
    vtp.array("Float64", names.back(), "", values.data(), values.size() * sizeof(double));
  }
  vtp.text("</CellData>\n<Points>\n");
  vtp.array("Float64", "Points", "NumberOfComponents=\"3\" ", points.data(), points.size() * sizeof(Vec3));
  vtp.text("</Points>\n");
  vtp.cells("Lines", geometry.lines);
  vtp.cells("Polys", geometry.polys);
  vtp.text("</Piece>\n</PolyData>\n");
}

std::string frame_name(std::uint64_t index) { return fmt::format("frame_{:06}.vtp", index); }

}  // namespace

void write_vtk(result::RecordingReader& recording, const std::filesystem::path& folder) {
  const std::filesystem::path frames = folder / "vtk";
  std::error_code error;
  std::filesystem::create_directories(frames, error);
  if (error) throw result::IoError(frames, "cannot create: " + error.message());

  const Geometry geometry = make_geometry(recording.layout());
  const std::vector<std::string> names = array_names(recording.layout());
  Snapshot snapshot;
  std::vector<Vec3> points;
  Vtp vtp;
  std::string collection =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n";
  for (std::uint64_t i = 0; i < recording.frame_count(); ++i) {
    stop_if_requested();
    recording.read(i, snapshot);
    place_points(geometry, snapshot, points);
    fill(vtp, geometry, names, snapshot, points);
    vtp.write(frames / frame_name(i));
    collection +=
        fmt::format("<DataSet timestep=\"{}\" part=\"0\" file=\"vtk/{}\"/>\n", snapshot.time, frame_name(i));
  }
  result::write_atomically(folder / "scene.pvd", collection + "</Collection>\n</VTKFile>\n");

  // Frames of a longer recording that was exported here before.
  for (std::uint64_t i = recording.frame_count(); std::filesystem::remove(frames / frame_name(i), error);
       ++i) {
  }
}

}  // namespace limber::exporting
