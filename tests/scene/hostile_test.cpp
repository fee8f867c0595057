// Files made to hurt: each ends with an error within a second of CPU time and 256 MB, and 10,000 honest links
// load.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <ctime>

#include "limber/sim/methods.h"
#include "scene_support.h"

// Sanitizers make everything slower and larger.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_instrumented = true;
#else
constexpr bool is_instrumented = false;
#endif

namespace limber::scene {
namespace {

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

std::string repeat(const std::string& text, int count) {
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

std::string alias_bomb(int levels) {
  std::string text = "limber: 1\nparameters:\n  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < levels; ++i) {
    const std::string alias = "*a" + std::to_string(i - 1);
    text += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + alias + repeat(", " + alias, 8) +
            "]\n";
  }
  return text;
}

struct Hostile {
  const char* name;
  std::string text;
};

std::vector<Hostile> hostile_files() {
  const std::string head = "limber: 1\n";
  return {
      {"alias bomb", alias_bomb(12)},
      {"small alias bomb", alias_bomb(6)},
      {"100,000 open brackets", head + "bodies: " + std::string(100'000, '[')},
      {"100,000 closed brackets", head + "bodies: " + std::string(100'000, '[') + std::string(100'000, ']')},
      {"100,000 open braces", head + "bodies: " + repeat("{a: ", 100'000)},
      {"100,000 open brackets on lines", head + "bodies: " + repeat("[\n", 100'000)},
      {"100,000 dashes", head + "bodies:\n" + repeat("- ", 100'000) + "a"},
      {"100,000 question marks", repeat("? ", 100'000) + "a"},
      {"1,000,000 open brackets", std::string(1'000'000, '[')},
      {"cycle", head + "bodies: &a {x: *a}\n"},
      {"cycle in a list", "&a [*a]"},
      {"1e9 links", head + "linkages: {arm: {links: 1000000000, length: 1}}"},
      {"1e300 links", head + "linkages: {arm: {links: 1e300, length: 1}}"},
      {"1e9 levels", head + "trees: {oak: {levels: 1000000000, length: 1}}"},
      {"1e9 branches", head + "trees: {oak: {levels: 40, branches: 1000000000, length: 1}}"},
      {"1e9 rungs", head + "ladders: {l: {rungs: 1000000000, spacing: 1, width: 1}}"},
      {"1e9 coils", head + "helices: {h: {links: 1000000000, coil: 1, pitch: 1, turns: 1}}"},
      {"1e9 elements",
       head + "materials: {m: {E: 1, density: 1}}\nsections: {s: {circle: 1}}\n"
              "beams: {b: {path: [[0, 0, 0], [1, 0, 0]], material: m, section: s, elements: 999999999}}"},
      {"a flood of keys", head + repeat("x: 1\n", 100'000)},
      {"deep expression", head + "parameters: {a: '" + std::string(4'000, '(') + "'}"},
      {"long expression", head + "parameters: {a: '" + repeat("1+", 100'000) + "1'}"},
      {"many signs", head + "parameters: {a: '" + std::string(4'000, '-') + "1'}"},
      {"path upwards",
       head + "bodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: ../../etc/passwd}, 0, 0]}}"},
      {"absolute path",
       head + "bodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: /etc/passwd}, 0, 0]}}"},
      {"a folder for a file",
       head + "bodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: .}, 0, 0]}}"},
      {"long key", head + std::string(1'000'000, 'k') + ": 1\n"},
      {"unclosed quote", head + "title: \"" + std::string(1'000'000, 'a')},
      {"backslashes", head + "title: \"" + std::string(300'001, '\\')},
  };
}

TEST(Hostile, EndsInErrorsWithinASecondAnd256Megabytes) {
  for (const Hostile& file : hostile_files()) {
    const std::clock_t start = std::clock();
    const auto list = diagnose(file.text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    EXPECT_FALSE(list.empty()) << file.name;
    for (const Diagnostic& d : list) EXPECT_TRUE(d.line >= 1 && d.column >= 1) << file.name;
    EXPECT_LE(list.size(), 51u) << file.name;
    EXPECT_LT(seconds, is_instrumented ? 60.0 : 1.0) << file.name;
  }
  if (!is_instrumented) {
    EXPECT_LT(peak_megabytes(), 256);
  }
}

TEST(Hostile, ParametersThatReferToEachOther) {
  std::string text = "limber: 1\nparameters:\n";
  for (int i = 0; i < 10'000; ++i) text += "  p" + std::to_string(i) + ": p" + std::to_string(i + 1) + "\n";
  EXPECT_NE(all_text(diagnose(text + "  p10000: 1\n")).find("levels deep"), std::string::npos);
}

TEST(Hostile, SuggestionsStayFastAmongManyNames) {
  std::string text = "limber: 1\nbodies:\n";
  for (int i = 0; i < 5'000; ++i) text += "  body" + std::to_string(i) + ": {sphere: 1}\n";
  text += "joints:\n";
  for (int i = 0; i < 5'000; ++i) {
    const std::string k = std::to_string(i);
    text += "  j" + k + ": {type: fixed, parent: bdoy" + k + ", child: body" + k + "}\n";
  }
  const auto list = diagnose(text);
  ASSERT_EQ(list.size(), 51u);
  EXPECT_NE(list[0].message.find("did you mean \"body0\""), std::string::npos);
  EXPECT_NE(list[50].message.find("more"), std::string::npos);
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("limber_scene_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "inside");
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path_ / name) << text; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(Hostile, LinksOutOfTheFolderAreRefused) {
  const Folder folder;
  folder.write("secret.csv", "0, 1\n1, 2\n");
  std::filesystem::create_symlink(folder.path() / "secret.csv", folder.path() / "inside/link.csv");
  folder.write("inside/scene.yaml",
               "limber: 1\nbodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: link.csv}, 0, 0]}}\n");
  try {
    load(folder.path() / "inside/scene.yaml");
    FAIL() << "loaded";
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("3:35: loads.f.force[0].file: \"link.csv\" leads out"),
              std::string::npos)
        << error.what();
  }
}

TEST(Hostile, FilesInsideAreReadAndKept) {
  const Folder folder;
  folder.write("inside/gust.csv", "# a gust\ntime, force\n0, 1\n0.5, 3\n2, 0\n");
  const std::string text =
      "limber: 1\nbodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: gust.csv}, 0, 0]}}\n";
  folder.write("inside/scene.yaml", text);
  const Scene scene = load(folder.path() / "inside/scene.yaml");
  ASSERT_EQ(scene.sources.size(), 2u);
  EXPECT_EQ(scene.sources[0].path, "scene.yaml");
  EXPECT_EQ(scene.sources[0].text, text);
  EXPECT_EQ(scene.sources[1].path, "gust.csv");
  EXPECT_DOUBLE_EQ(scene.model.point_loads()[0].force.value(0.25)[0], 2);
  // A stored run has nothing but its sources.
  const Scene again = parse(text, "scene.yaml", {}, {}, &scene.sources);
  EXPECT_DOUBLE_EQ(again.model.point_loads()[0].force.value(0.25)[0], 2);
}

TEST(Hostile, BadRowsOfAFileHaveTheirOwnPlace) {
  const Folder folder;
  folder.write("inside/gust.csv", "0, 1\n0.5, 3\n0.4, 0\n");
  folder.write("inside/scene.yaml",
               "limber: 1\nbodies: {a: {sphere: 1}}\nloads: {f: {on: a, force: [{file: gust.csv}, 0, 0]}}\n");
  try {
    load(folder.path() / "inside/scene.yaml");
    FAIL() << "loaded";
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("gust.csv:3:1: times must increase"), std::string::npos)
        << error.what();
  }
}

TEST(Honest, TenThousandLinksLoadAsShortForm) {
  const Scene scene =
      parse_text("linkages: {arm: {links: 10000, length: 1 cm}}\nprobes: [arm.tip.position]\n");
  ASSERT_EQ(scene.model.bodies().size(), 10'000u);
  EXPECT_EQ(scene.model.bodies()[9'999].name, "arm.9999");
  EXPECT_NEAR(scene.model.initial_poses().back().p.z(), -99.99, 1e-9);
}

// Chains of a hundred links each, with springs from link to link but one, nothing in a short form.
std::string written_out(int bodies) {
  std::string text = "bodies:\n";
  const auto place = [](int i) { return fmt::format("{}, {} m", i / 100, 0.1 * (i % 100)); };
  for (int i = 0; i < bodies; ++i)
    text += fmt::format("  b{}: {{box: [1 cm, 1 cm, 10 cm], mass: 0.1 kg, at: [{}, 0]}}\n", i, place(i));
  text += "joints:\n";
  for (int i = 0; i < bodies; ++i)
    text += fmt::format(
        "  j{}: {{type: revolute, {}child: b{}, at: [{}, 0], axis: [0, 0, 1], stiffness: 1 N*m/rad}}\n", i,
        i % 100 == 0 ? "" : fmt::format("parent: b{}, ", i - 1), i, place(i));
  text += "springs:\n";
  for (int i = 0; i + 2 < bodies; ++i)
    if (i % 100 < 98)
      text += fmt::format("  s{}: {{between: [b{}, {{on: b{}, at: [1 mm, 0, 0]}}], stiffness: 10 N/m}}\n", i,
                          i, i + 2);
  return text;
}

TEST(Honest, TenThousandBodiesLoadWrittenOut) {
  const Scene scene = parse_text(written_out(10'000));
  ASSERT_EQ(scene.model.bodies().size(), 10'000u);
  EXPECT_EQ(scene.model.springs().size(), 9'800u);
  EXPECT_NEAR(scene.model.initial_poses().back().p.y(), 9.9, 1e-12);
}

// The least CPU time of a few tries to read a scene and to ask every method what it says.
double seconds_to_check(const std::string& text, int tries) {
  LoadOptions options;
  options.keep_places = true;
  double least = INFINITY;
  for (int i = 0; i < tries; ++i) {
    const std::clock_t begin = std::clock();
    const Scene scene = parse_text(text, options);
    const Places places(scene);
    for (const sim::Verdict& v : sim::methods_for(scene.model, scene.run))
      if (!v.against.empty()) places.of(ModelError(v.against));
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

// Ten times as many take ten times as long; caches that overflow make it some more, anything quadratic 100.
TEST(Honest, CheckingIsLinearInTheBodies) {
  const double small = seconds_to_check(written_out(1'000), 7),
               large = seconds_to_check(written_out(10'000), 3);
  EXPECT_LT(large, 30 * small) << small << " s, " << large << " s";
}

}  // namespace
}  // namespace limber::scene
