#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "limber/export/export.h"
#include "limber/export/mesh.h"
#include "limber/math/so3.h"
#include "tests/export/sample.h"

namespace limber::exporting::testing {
namespace {

// The arrays of a .vtp by name, as bytes; connectivity and offsets by "Lines/…" and "Polys/…".
struct Vtp {
  std::string xml;
  std::map<std::string, std::string> arrays;

  explicit Vtp(const std::filesystem::path& path) {
    const std::string file = result::read_file(path);
    const std::size_t marker = file.find("<AppendedData encoding=\"raw\">\n_");
    xml = file.substr(0, marker);
    const std::size_t data = file.find('_', marker) + 1;
    std::string group;
    for (std::size_t at = 0; (at = xml.find('<', at)) != std::string::npos; ++at) {
      for (const std::string name : {"Lines", "Polys"})
        if (xml.compare(at + 1, name.size() + 1, name + ">") == 0) group = name + "/";
      if (xml.compare(at, 10, "<DataArray") != 0) continue;
      const std::string name = attribute(at, "Name");
      const bool grouped = name == "connectivity" || name == "offsets";
      const std::size_t offset = data + std::stoull(attribute(at, "offset"));
      std::uint64_t length = 0;
      std::memcpy(&length, &file.at(offset), sizeof length);
      EXPECT_LE(offset + 8 + length, file.size());
      EXPECT_TRUE(arrays.emplace((grouped ? group : "") + name, file.substr(offset + 8, length)).second)
          << name;
      end = std::max(end, offset + 8 + static_cast<std::size_t>(length));
    }
    EXPECT_EQ(file.substr(end), "\n</AppendedData>\n</VTKFile>\n");
  }

  std::string attribute(std::size_t at, const std::string& name) const {
    const std::size_t begin = xml.find(" " + name + "=\"", at) + name.size() + 3;
    return xml.substr(begin, xml.find('"', begin) - begin);
  }
  std::string attribute(const std::string& element, const std::string& name) const {
    return attribute(xml.find("<" + element + " "), name);
  }
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const std::string& bytes = arrays.at(name);
    std::vector<T> out(bytes.size() / sizeof(T));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }
  std::size_t end = 0;
};

class VtkOfTheSample : public ::testing::Test {
 protected:
  VtkOfTheSample() {
    write_sample(folder.path(), 3);
    result::RecordingReader recording(folder / "frames");
    write_vtk(recording, folder.path());
  }
  const TemporaryFolder folder;
  const result::Layout layout = sample_layout();
};

TEST_F(VtkOfTheSample, CollectionNamesEveryFrameWithItsTime) {
  EXPECT_EQ(result::read_file(folder / "scene.pvd"),
            "<?xml version=\"1.0\"?>\n"
            "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n"
            "<DataSet timestep=\"0\" part=\"0\" file=\"vtk/frame_000000.vtp\"/>\n"
            "<DataSet timestep=\"0.03333333333333333\" part=\"0\" file=\"vtk/frame_000001.vtp\"/>\n"
            "<DataSet timestep=\"0.06666666666666667\" part=\"0\" file=\"vtk/frame_000002.vtp\"/>\n"
            "</Collection>\n</VTKFile>\n");
}

TEST_F(VtkOfTheSample, PointsAreTheShapesThenTheLines) {
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto s = sample_snapshot(layout, k);
    const Vtp vtp(folder / "vtk" / ("frame_00000" + std::to_string(k) + ".vtp"));
    std::vector<Vec3> expected;
    for (std::size_t f = 0; f < layout.frames.size(); ++f)
      for (const Shape& shape : layout.frames[f].shapes) {
        const Pose X_WB{math::to_matrix(s.rotations[f]), s.positions[f]};
        for (const Vec3& p : mesh_of(shape.geometry).positions) expected.push_back(X_WB * (shape.X_BG * p));
      }
    const std::size_t surface = expected.size();
    expected.insert(expected.end(), s.points.begin(), s.points.end());
    const auto points = vtp.values<double>("Points");
    ASSERT_EQ(points.size(), 3 * expected.size());
    EXPECT_EQ(vtp.attribute("Piece", "NumberOfPoints"), std::to_string(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(Vec3(points[3 * i], points[3 * i + 1], points[3 * i + 2]), expected[i]) << i;

    // Lines of 6 and 3 points follow the surfaces; the single point is no line.
    const auto first = static_cast<std::int64_t>(surface);
    EXPECT_EQ(vtp.values<std::int64_t>("Lines/offsets"), (std::vector<std::int64_t>{6, 9}));
    const auto lines = vtp.values<std::int64_t>("Lines/connectivity");
    ASSERT_EQ(lines.size(), 9u);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(lines[i], first + static_cast<std::int64_t>(i));
  }
}

TEST_F(VtkOfTheSample, CellsKnowTheirBody) {
  const Vtp vtp(folder / "vtk" / "frame_000001.vtp");
  const auto body = vtp.values<std::int32_t>("body");
  const auto offsets = vtp.values<std::int64_t>("Polys/offsets");
  const auto corners = vtp.values<std::int64_t>("Polys/connectivity");
  std::vector<std::int32_t> expected = {-1, -2};
  std::size_t begin = 0, cell = 0;
  for (std::size_t f = 0; f < layout.frames.size(); ++f)
    for (const Shape& shape : layout.frames[f].shapes) {
      const Mesh mesh = mesh_of(shape.geometry);
      for (std::size_t t = 0; t < mesh.triangles.size(); ++t, ++cell) {
        expected.push_back(static_cast<std::int32_t>(f));
        ASSERT_EQ(offsets[cell], static_cast<std::int64_t>(3 * (cell + 1)));
        for (std::size_t c = 0; c < 3; ++c)
          ASSERT_EQ(corners[3 * cell + c], static_cast<std::int64_t>(begin + mesh.triangles[t][c]));
      }
      begin += mesh.positions.size();
    }
  EXPECT_EQ(body, expected);
  EXPECT_EQ(vtp.attribute("Piece", "NumberOfLines"), "2");
  EXPECT_EQ(vtp.attribute("Piece", "NumberOfPolys"), std::to_string(cell));
}

TEST_F(VtkOfTheSample, ScalarsAreFieldDataUnderPlainNames) {
  const auto s = sample_snapshot(layout, 2);
  const Vtp vtp(folder / "vtk" / "frame_000002.vtp");
  EXPECT_EQ(vtp.values<double>("TimeValue"), std::vector<double>{s.time});
  EXPECT_EQ(vtp.values<double>("arm.angle"), std::vector<double>{s.scalars[0]});
  EXPECT_EQ(vtp.values<double>("force___pulled_"), std::vector<double>{s.scalars[1]});
  EXPECT_EQ(vtp.values<double>("arm_angle"), std::vector<double>{s.scalars[2]});
  EXPECT_EQ(vtp.values<double>("arm_angle_2"), std::vector<double>{s.scalars[3]});
}

TEST_F(VtkOfTheSample, ExportAgainIsTheSameAndLeavesNoOldFrames) {
  const std::string before = result::read_file(folder / "vtk" / "frame_000001.vtp");
  std::filesystem::remove(folder / "frames");
  write_sample(folder.path(), 2);
  result::RecordingReader recording(folder / "frames");
  write_vtk(recording, folder.path());
  EXPECT_EQ(result::read_file(folder / "vtk" / "frame_000001.vtp"), before);
  EXPECT_FALSE(std::filesystem::exists(folder / "vtk" / "frame_000002.vtp"));
}

// With a number for every body each cell has its body's; lines have none.
TEST(Vtk, CellsHaveTheirBodysValue) {
  TemporaryFolder folder;
  result::Layout layout = sample_layout();
  layout.frame_value = "activity";
  layout.scalars.push_back({"activity", ""});  // the name is taken: the cells' array gets another
  std::vector<result::Snapshot> snapshots(2);
  for (auto& s : snapshots) s.resize(layout);
  snapshots[1].values = {0, 0.25, 0.5, 0.75, 1};
  write_recording(folder.path(), layout, snapshots);
  result::RecordingReader recording(folder / "frames");
  write_vtk(recording, folder.path());
  const Vtp vtp(folder / "vtk" / "frame_000001.vtp");
  const auto body = vtp.values<std::int32_t>("body");
  std::string name;
  for (const auto& [key, bytes] : vtp.arrays)
    if (key.starts_with("activity") && bytes.size() == body.size() * sizeof(double)) name = key;
  ASSERT_FALSE(name.empty());
  const auto values = vtp.values<double>(name);
  for (std::size_t i = 0; i < body.size(); ++i)
    EXPECT_EQ(values[i], body[i] < 0 ? 0 : snapshots[1].values[static_cast<std::size_t>(body[i])]) << i;
}

}  // namespace
}  // namespace limber::exporting::testing
