// Binary files with bytes turned and their checksum mended, as nobody but an enemy would write them: each is
// refused with std::invalid_argument (frames: IoError), or is a file of the same kind with other numbers,
// with which limber goes on.
#include <unistd.h>

#include <cstring>
#include <limits>

#include "limber/result/files.h"
#include "limber/result/frame_record.h"
#include "limber/rom/rom.h"
#include "limber/sim/checkpoint.h"
#include "limber/sim/driver.h"
#include "limber/sim/reduce.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

constexpr int forgeries = 1500;  // of each kind

constexpr char linkage_text[] = R"(
linkages:
  arm: {links: 4, length: 10 cm, radius: 1 cm, direction: [1, 0, 0], axis: [0, 1, 0], stiffness: 2 N*m/rad, damping: 1 mN*m*s/rad}
bodies: {ball: {sphere: 2 cm, mass: 0.1 kg, at: [0.38 m, 0, 35 mm]}}
joints: {hook: {type: spherical, parent: arm.3, child: hand, at: [0.4 m, 0, 0], stiffness: 1 N*m/rad}}
)";

constexpr char cord_text[] = R"(
materials: {rubber: {E: 1 MPa, nu: 0.4, density: 1100 kg/m3}}
sections: {round: {circle: 2 mm}}
bodies: {rod: {cylinder: {radius: 1 cm, length: 10 cm}, rotate: [90 deg, 0, 0], at: [5 cm, 0, -13 mm], fixed: true}}
beams: {cord: {path: [[0, 0, 0], [10 cm, 0, 0]], root: free, material: rubber, section: round, elements: 8, damping: 1 ms}}
contact: {friction: 0.3}
run: {method: thread, thread: {levels: 1}}
)";

Scene forged_scene(const std::string& method) {
  if (method == "thread") return parse_text(cord_text);
  std::string text = linkage_text;
  text.insert(text.find("ball:"), "hand: {sphere: 1 cm, at: [0.4 m, 0, 0]}, ");
  if (method != "rom") {
    text.erase(text.find(", ball:"), text.find("}}\njoints") - text.find(", ball:") + 1);
  } else {
    text += "contact: {friction: 0.5}\n";
  }
  return parse_text(text + "run: {method: " + method + ", rom: {ends: [hand]}}\n");
}

// Between one and eight bytes turned or replaced by what hurts most, or a piece cut out.
std::string forged(const std::string& good, std::size_t from, Random& random) {
  std::string bad = good;
  const auto at = [&](std::size_t n) { return from + random.below(bad.size() - from - n + 1); };
  const auto put = [&](auto value) { std::memcpy(bad.data() + at(sizeof value), &value, sizeof value); };
  for (std::size_t k = random.below(8) + 1; k > 0 && bad.size() > from + 16; --k) switch (random.below(7)) {
      case 0:
        put(std::numeric_limits<double>::quiet_NaN());
        break;
      case 1:
        put(std::numeric_limits<double>::infinity());
        break;
      case 2:
        put(1e300);
        break;
      case 3:
        put(std::uint64_t{1} << random.below(64));
        break;
      case 4:
        put(std::int32_t{-1});
        break;
      case 5:
        bad.erase(at(8), random.below(8) + 1);
        break;
      default:
        bad[at(1)] = static_cast<char>(random.next());
    }
  return bad;
}

void go_on_from(sim::Driver& driver) {
  result::Snapshot snapshot;
  snapshot.resize(driver.layout());
  for (int k = 0; k < 2; ++k)
    if (!driver.step(1e-6).ok()) return;
  driver.observe(snapshot);
}

class States : public ::testing::TestWithParam<const char*> {};

TEST_P(States, ForgedStatesAreRefusedOrRun) {
  const Scene scene = forged_scene(GetParam());
  sim::Driver driver(scene.model, scene.run);
  const std::string rest = driver.save();
  for (int k = 0; k < 20; ++k) ASSERT_TRUE(driver.step(1e-3).ok());
  const std::string good = driver.save();
  int taken = 0;
  // Threads that fly apart take thousands of parts of a step.
  const int count = std::string(GetParam()) == "thread" ? forgeries / 10 : forgeries;
  for (int k = 0; k < count; ++k) {
    Random random(k + 1);
    driver.load(rest);
    try {
      driver.load(forged(good, 0, random));
      ++taken;
    } catch (const std::invalid_argument&) {
      EXPECT_EQ(driver.save(), rest) << k;  // as it was
      continue;
    }
    go_on_from(driver);
  }
  EXPECT_GT(taken, 0);      // a turned digit is still a number
  EXPECT_LT(taken, count);  // NaN, lengths
}

INSTANTIATE_TEST_SUITE_P(Methods, States, ::testing::Values("articulated", "adaptive", "thread", "rom"),
                         [](const auto& p) { return std::string(p.param); });

TEST(Files, ForgedCheckpointsAreRefusedOrRead) {
  sim::Checkpoint c;
  c.report.worst = "link7";
  c.state = std::string(200, 'x');
  const std::string good = sim::encode(c);
  EXPECT_EQ(sim::decode(good).state, c.state);
  int refused = 0;
  for (int k = 0; k < forgeries; ++k) {
    Random random(k + 1);
    std::string bad = forged(good.substr(0, good.size() - 4), 8, random);
    const std::uint32_t crc = result::crc32c(bad.data(), bad.size());
    bad.append(reinterpret_cast<const char*>(&crc), 4);
    try {
      sim::decode(bad);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, forgeries / 20);  // counts and lengths are a part of the bytes
}

TEST(Files, ForgedReducedModelsAreRefusedOrRun) {
  const Scene scene = forged_scene("rom");
  const std::string good = rom::save({sim::reduce(scene.model, scene.run.rom), "limber: 1\n"});
  constexpr std::size_t head = 27;  // magic, version, checksum, length
  int taken = 0;
  for (int k = 0; k < forgeries; ++k) {
    Random random(k + 1);
    std::string bad = forged(good, head, random);
    const std::uint32_t crc = result::crc32c(bad.data() + head, bad.size() - head);
    const std::uint64_t size = bad.size() - head;
    std::memcpy(bad.data() + 15, &crc, 4);
    std::memcpy(bad.data() + 19, &size, 8);
    try {
      sim::RunOptions options = scene.run;
      options.reduced = std::make_shared<rom::ReducedModel>(rom::load(bad).model);
      sim::Driver driver(scene.model, options);
      ++taken;
      go_on_from(driver);
    } catch (const ModelError&) {
    } catch (const std::invalid_argument&) {
    }
  }
  EXPECT_GT(taken, 0);
}

TEST(Files, ForgedFramesAreRefusedOrRead) {
  const Scene scene = forged_scene("articulated");
  sim::Driver driver(scene.model, scene.run);
  result::Snapshot snapshot;
  snapshot.resize(driver.layout());
  driver.observe(snapshot);
  const auto head_bytes = result::encode_head(driver.layout());
  const std::string head(reinterpret_cast<const char*>(head_bytes.data()), head_bytes.size());
  std::vector<std::byte> record(result::frame_record_size(driver.layout()));
  result::encode_frame(0, snapshot, driver.layout(), record);
  const std::string frame(reinterpret_cast<const char*>(record.data()), record.size());
  const auto file =
      std::filesystem::temp_directory_path() / ("limber_forged_frames_" + std::to_string(::getpid()));
  int read = 0, refused = 0;
  for (int k = 0; k < forgeries; ++k) {
    Random random(k + 1);
    std::string layout = k % 2 ? forged(head, 24, random) : head,
                bytes = k % 2 ? frame : forged(frame, 16, random);
    for (std::string* part : {&layout, &bytes}) {  // magic before the layout's record header
      const std::size_t at = part == &layout ? 8 : 0, payload = at + 16;
      const std::uint32_t crc = result::crc32c(part->data() + payload, part->size() - payload);
      const std::uint64_t length = part->size() - payload;
      std::memcpy(part->data() + at + 4, &crc, 4);
      std::memcpy(part->data() + at + 8, &length, 8);
    }
    std::ofstream(file, std::ios::binary) << layout << bytes;  // not flushed to the disk each time
    try {
      result::RecordingReader reader(file);
      for (std::uint64_t i = 0; i < reader.frame_count(); ++i) reader.read(i, snapshot);
      ++read;
    } catch (const result::IoError&) {
      ++refused;
    }
  }
  std::filesystem::remove(file);
  EXPECT_GT(read, forgeries / 20);  // numbers of a frame may be any
  EXPECT_GT(refused, forgeries / 20);
}

}  // namespace
}  // namespace limber::scene
