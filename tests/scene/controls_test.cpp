// Controllers, events and files of functions as scenes say them.
#include <stdlib.h>

#include <fstream>

#include "limber/sim/driver.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

const std::string moving_pair =
    "limber: 1\nbodies: {a: {sphere: 1 cm}, b: {sphere: 1 cm, at: [1, 0, 0]}}\n"
    "joints: {j: {type: revolute, child: a}, s: {type: prismatic, child: b, drive: {force: 1 N}}}\n";
std::string told_of(const std::string& text) { return all_text(diagnose(moving_pair + text)); }

TEST(Controls, AreReadWithTheUnitsOfWhatTheyRead) {
  const Scene scene = parse(moving_pair +
                                "controllers: {c: {joint: s, reads: j.angle, target: 10 deg, kp: 2 N/deg, "
                                "ki: 3 N/rad/s, kd: 4 N*s/rad, "
                                "limits: [-1 kN, inf], period: 10 ms}}\n"
                                "events:\n  e: {when: {reads: b.position.z, below: 5 cm}, delay: 2 s, again: "
                                "true, switch: {controller: "
                                "c, target: 20 deg}}\n  f: {at: 3 s, release: {joint: j}, stop: true}\n",
                            "test.yaml");
  const Controller& c = scene.model.controllers()[0];
  EXPECT_DOUBLE_EQ(c.target.value(0), 10 * pi / 180);
  EXPECT_NEAR(c.kp, 2 * 180 / pi, 1e-12);
  EXPECT_EQ(c.lower, -1000);
  EXPECT_EQ(c.period, 0.01);
  const Event& e = scene.model.events()[0];
  EXPECT_EQ(e.value, 0.05);
  EXPECT_EQ(e.way, Event::Way::falling);
  EXPECT_FALSE(e.once);
  EXPECT_DOUBLE_EQ(e.actions[0].target[0].value(0), 20 * pi / 180);
  ASSERT_EQ(scene.model.events()[1].actions.size(), 2u);
  // What they read is probed.
  ASSERT_EQ(scene.model.probes().size(), 2u);
  EXPECT_EQ(scene.model.probes()[1].name, "b.position");
}

TEST(Controls, FaultsAreToldAtTheirLines) {
  const std::pair<const char*, const char*> cases[] = {
      {"controllers: {c: {joint: s, reads: j.angel, kp: 1}}\n",
       "4:36: controllers.c.reads: \"angel\" cannot be probed"},
      {"controllers: {c: {joint: s, reads: b.position, kp: 1}}\n",
       "say one of b.position.x, b.position.y, b.position.z"},
      {"controllers: {c: {joint: s, reads: j.angle, kp: 1 N/m}}\n", "4:49: controllers.c.kp: expected"},
      {"controllers: {c: {joint: s, reads: j.angle}}\n", "needs one of kp, ki and kd"},
      {"controllers: {c: {joint: s, reads: j.angle, kp: 1, limits: [3 N, 2 N]}}\n",
       "the lower limit must be below"},
      {"controllers: {c: {joint: s, reads: s.velocity, kp: 1, kd: 1}}\n",
       "give a period, or read the coordinate"},
      {"events: {e: {at: 1 s}}\n", "does nothing: give release, switch or stop"},
      {"events: {e: {at: 1 s, stop: true, when: {reads: j.angle, above: 1}}}\n", "at"},
      {"events: {e: {when: {reads: j.angle, above: 1 m}, stop: true}}\n",
       "4:44: events.e.when.above: expected"},
      {"events: {e: {at: 1 s, release: {joint: jj}}}\n", "did you mean \"j\"?"},
      {"events: {e: {at: 1 s, release: {joint: s}}}\n", "joint \"s\" is driven"},
      {"events: {e: {at: 1 s, release: {}}}\n", "releases nothing"},
      {"events: {e: {at: 1 s, switch: {drive: j, on: false}}}\n", "there is no drive \"j\""},
      {"events: {e: {at: 1 s, switch: {spring: k, on: false}}}\n", "there is no spring \"k\""},
      {"events: {e: {at: 1 s, switch: {drive: s, target: 1 m}}}\n", "expected a force"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_NE(told_of(text).find(expected), std::string::npos) << text << told_of(text);
}

TEST(Controls, SurviveARoundTrip) {
  const Scene first =
      parse(moving_pair +
                "beams: {w: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: r, clamps: [{at: 1}]}}\n"
                "materials: {m: {E: 1 GPa, density: 1}}\nsections: {r: {circle: 1 cm}}\n"
                "springs: {k: {between: [a, b], stiffness: 1}}\nloads: {f: {on: a, force: [1, 0, 0]}}\n"
                "controllers: {c: {joint: s, reads: j.angle, target: 0.1*sin(t), kp: 2, ki: 3, kd: 4, "
                "limits: 5, period: 0.1}}\n"
                "events:\n  a: {when: {reads: b.position.z, passes: 5 cm}, delay: 2 s, again: true, switch: "
                "{controller: "
                "c, target: 0.2*t}}\n  b: {at: 3 s, release: {joint: j, spring: k, beam: w, clamp: 0}, stop: "
                "true}\n"
                "  c: {at: 1 s, switch: {drive: s, target: {table: [[0, 1], [1, 2]]}}}\n  d: {at: 1, switch: "
                "{load: f, on: true}}\n",
            "first.yaml");
  const std::string written = write_yaml(first.model, first.run);
  const Scene second = parse(written, "second.yaml");
  EXPECT_EQ(written, write_yaml(second.model, second.run));
  EXPECT_EQ(second.model.events().size(), 4u);
  EXPECT_EQ(second.model.events()[1].actions.size(), 4u);
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "limber_csv_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const char* name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  std::string load(Scene* out = nullptr) const {
    try {
      Scene scene = scene::load(path_ / "scene.yaml");
      if (out) *out = std::move(scene);
    } catch (const SceneError& e) {
      return all_text(e.diagnostics());
    }
    return "";
  }

 private:
  std::filesystem::path path_;
};

TEST(FilesOfFunctions, ColumnsAndUnitsByName) {
  const Folder folder;
  folder.write("walk.csv",
               "# recorded\n\"time [ms]\",knee [rad],hip [deg],note (left)\n0,1,10,0\n500,2,30,0\n");
  const std::string drive =
      "bodies: {a: {sphere: 1 cm}}\njoints: {j: {type: revolute, child: a, drive: {servo: {kp: 1, target: ";
  const auto text = [&](const std::string& target) { return "limber: 1\n" + drive + target + "}}}}\n"; };
  folder.write("scene.yaml", text("{file: walk.csv, columns: [time, hip]}"));
  Scene scene = parse(moving_pair, "test.yaml");
  EXPECT_EQ(folder.load(&scene), "");
  const TimeFunction& f = scene.model.drives()[0].target[0];
  EXPECT_DOUBLE_EQ(f.value(0.25), 20 * pi / 180);
  EXPECT_EQ(f.times().back(), 0.5);
  ASSERT_EQ(scene.sources.size(), 2u);  // goes with the run
  folder.write("scene.yaml", text("{file: walk.csv, columns: [time, knee], units: [s, deg]}"));
  EXPECT_EQ(folder.load(&scene), "");
  EXPECT_DOUBLE_EQ(scene.model.drives()[0].target[0].value(500), 2 * pi / 180);

  const auto expect = [&](const std::string& target, const char* message) {
    folder.write("scene.yaml", text(target));
    EXPECT_NE(folder.load().find(message), std::string::npos) << folder.load();
  };
  expect("{file: walk.csv}",
         "the file has 4 columns, 2 are wanted: say which by `columns` (it has time, knee, hip, note)");
  expect("{file: walk.csv, columns: [time, ankle]}",
         "3:97: joints.j.drive.servo.target.columns: the file has no column \"ankle\"");
  expect("{file: walk.csv, columns: [time, hip], units: [s, m]}", "\"m\" does not fit: expected an angle");
  folder.write("walk.csv", "time [ms],hip [furlong]\n0,1\n");
  expect("{file: walk.csv}", "walk.csv:1:1: \"furlong\" is no unit");
  folder.write("walk.csv", "time,hip\n0,1\n1,2\nx,3\n");
  expect("{file: walk.csv}", "walk.csv:4:1: expected numbers");
  folder.write("walk.csv", "0,1\n1,2,3\n");
  expect("{file: walk.csv}", "walk.csv:2:1: expected 2 numbers");
  folder.write("walk.csv", "0,1\n1,2\n1,3\n");
  expect("{file: walk.csv}", "walk.csv:3:1: times must increase");
}

}  // namespace
}  // namespace limber::scene
