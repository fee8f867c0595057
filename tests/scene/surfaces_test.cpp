// Hulls, meshes and height fields in scenes, good and bad.
#include <gtest/gtest.h>

#include <cmath>

#include "scene_support.h"

namespace limber::scene {
namespace {

const char* const tetrahedron =
    "vertices: [[0, 0, 0], [10 cm, 0, 0], [0, 10 cm, 0], [0, 0, 10 cm]], "
    "triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]";

TEST(Surfaces, AreReadWithTheirMass) {
  const Scene s = parse_text(
      std::string("bodies:\n"
                  "  a: {hull: {points: [[0, 0, 0], [10 cm, 0, 0], [0, 10 cm, 0], [0, 0, 10 cm], [1 cm, "
                  "1 cm, 1 cm]]}, density: 6000, friction: 0.7}\n"
                  "  b: {mesh: {") +
      tetrahedron +
      "}, density: 6000}\n"
      "  c: {fixed: true, height_field: {size: [2, 1], rows: [[0, 1 cm, 2 cm], [0, 0, 0]]}}\n"
      "  d: {fixed: true, height_field: {size: [4, 2], height: 0.5*x + h*y, cells: [4, 2]}}\n"
      "parameters: {h: 0.25}\n"
      "contact: {friction: 0.4, restitution: 0.5}\n"
      "run: {method: thread}\n");
  EXPECT_EQ(s.model.contact()->restitution, 0.5);
  for (int i = 0; i < 2; ++i) {
    EXPECT_NEAR(s.model.bodies()[i].inertia.m, 1, 1e-12);  // 6000 · (0.1)³ / 6
    EXPECT_NEAR(s.model.bodies()[i].inertia.com().x(), 0.025, 1e-12);
  }
  EXPECT_EQ(s.model.bodies()[0].friction, 0.7);
  EXPECT_FALSE(s.model.bodies()[1].friction.has_value());
  const auto& rows = std::get<HeightFieldShape>(s.model.bodies()[2].shapes[0].geometry);
  EXPECT_EQ(rows.columns, 3);
  EXPECT_EQ(rows.rows, 2);
  EXPECT_EQ(rows.heights[1], 0.01);
  const auto& made = std::get<HeightFieldShape>(s.model.bodies()[3].shapes[0].geometry);
  ASSERT_EQ(made.heights.size(), 15u);
  EXPECT_NEAR(made.heights[0], -1 - 0.25, 1e-15);  // x = −2, y = −1
  EXPECT_NEAR(made.heights[14], 1 + 0.25, 1e-15);
  // Written and read again.
  const Scene back = parse(write_yaml(s.model, s.run), "back.yaml");
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(back.model.bodies()[i].shapes[0].geometry.index(),
              s.model.bodies()[i].shapes[0].geometry.index());
    EXPECT_NEAR(volume(back.model.bodies()[i].shapes[0].geometry),
                volume(s.model.bodies()[i].shapes[0].geometry), 1e-18);
  }
  EXPECT_EQ(std::get<HeightFieldShape>(back.model.bodies()[3].shapes[0].geometry).heights, made.heights);
  EXPECT_EQ(back.model.bodies()[0].friction, 0.7);
  EXPECT_EQ(back.model.contact()->restitution, 0.5);
}

struct Folder {
  std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "limber_surfaces_test";
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  void write(const char* name, const std::string& text) const { std::ofstream(path / name) << text; }
};

std::string load_text(const Folder& folder) {
  try {
    load(folder.path / "scene.yaml");
  } catch (const SceneError& error) {
    std::string said;
    for (Diagnostic d : error.diagnostics()) {
      d.file.clear();
      said += to_string(d).substr(1) + "\n";
    }
    return said;
  }
  return "";
}

TEST(Surfaces, MeshesComeFromFiles) {
  const Folder folder;
  folder.write("scene.yaml", "limber: 1\nbodies:\n  a: {mass: 1, mesh: {file: t.obj, scale: 1 cm}}\n");
  folder.write("t.obj",
               "# a tetrahedron\no t\nv 0 0 0\nv 10 0 0\nv 0 10 0\nv 0 0 1e1\nvn 0 0 1\n"
               "f 1//1 3//1 2//1\nf 1/1/1 2/2/1 4/3/1\nf 2 3 4\nf -2 -4 -1\n");
  EXPECT_EQ(load_text(folder), "");
  const Scene s = load(folder.path / "scene.yaml");
  EXPECT_NEAR(volume(s.model.bodies()[0].shapes[0].geometry), 1e-3 / 6, 1e-15);
  ASSERT_EQ(s.sources.size(), 2u);  // goes with the run
  const std::string at = "3:29: bodies.a.mesh.file: t.obj:";
  folder.write("t.obj", "v 0 0 0\nv 1 0 zero\n");
  EXPECT_EQ(load_text(folder), at + "2:7: expected three numbers after v, got \"zero\"\n");
  folder.write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
  EXPECT_EQ(load_text(folder), at + "4:7: there is no vertex 4: 3 came before\n");
  folder.write("t.obj", "v 0 0 0\n");
  EXPECT_EQ(load_text(folder), at + "1:1: the file has no faces\n");
  folder.write("t.obj", "v 0 0 0\nv 1 0 0\nf 1 2\n");
  EXPECT_EQ(load_text(folder), at + "3:2: a face needs at least three vertices\n");
  folder.write("t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  EXPECT_EQ(load_text(folder),
            "3:3: bodies.a: the mesh is not closed, so that it has no volume: give mass and inertia\n");
  folder.write("scene.yaml", "limber: 1\nbodies:\n  a: {mass: 1, mesh: {file: ../t.obj}}\n");
  EXPECT_EQ(load_text(folder), "3:29: bodies.a.mesh.file: \"../t.obj\" leads out of the scene's folder\n");
}

TEST(Surfaces, BadOnesSayWhatAndWhere) {
  const auto said = [](const std::string& body) {
    std::string out;
    for (Diagnostic d : diagnose("limber: 1\nbodies:\n  a: " + body + "\n")) {
      d.file.clear();
      out += to_string(d).substr(1) + "\n";
    }
    return out;
  };
  EXPECT_EQ(said("{hull: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}"),
            "3:22: bodies.a.hull.points: the points lie in a plane\n");
  EXPECT_EQ(said("{hull: {points: [[0, 0, 0], [1, 0]]}}"),
            "3:34: bodies.a.hull.points[1]: expected a list of 3 numbers, got 2 items\n");
  EXPECT_EQ(said("{mass: 1, mesh: {vertices: [[0, 0, 0]], triangles: [[0, 1, 2]]}}"),
            "3:58: bodies.a.mesh.triangles[0]: expected numbers of vertices, 0 to 0, got 1\n");
  EXPECT_EQ(said("{mass: 1, mesh: {vertices: [[0, 0, 0]]}}"),
            "3:22: bodies.a.mesh: needs one of triangles and file\n");
  EXPECT_EQ(said("{height_field: {size: [1, 1], rows: [[0, 0], [0, 0]]}}"),
            "3:3: bodies.a: a height field stands still: add `fixed: true`\n");
  EXPECT_EQ(said("{fixed: true, height_field: {size: [1, 1], rows: [[0, 0], [0]]}}"),
            "3:64: bodies.a.height_field.rows[1]: expected a list of 2 numbers, got 1 items\n");
  EXPECT_EQ(
      said("{fixed: true, height_field: {size: [1, 1], height: 0.1*sin(z), cells: [3, 3]}}"),
      "3:65: bodies.a.height_field.height: in \"0.1*sin(z)\": \"z\" is no parameter (x = -0.5, y = -0.5)\n");
  EXPECT_EQ(said("{fixed: true, height_field: {size: [1, 1], height: x, cells: [3, 300]}}"),
            "3:67: bodies.a.height_field.cells: expected two whole numbers below 250\n");
  EXPECT_EQ(said("{fixed: true, height_field: {size: [1, 1], height: 3 s, cells: [3, 3]}}"),
            "3:57: bodies.a.height_field.height: expected a length\n");
}

}  // namespace
}  // namespace limber::scene
