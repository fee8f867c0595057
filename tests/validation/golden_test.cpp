// A replay hash per shipped scene: the bits of the state after 200 steps, the same on every x86-64 CPU, for
// 1, 2 and 4 threads. A hash changes only when the numbers of a method or a scene change on purpose; then the
// new one is printed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "limber/adaptive/adaptive.h"
#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"
#include "limber/sim/reduce.h"
#include "limber/thread/thread.h"

namespace limber {
namespace {

std::uint64_t fnv1a(const std::vector<double>& values, std::uint64_t hash) {
  for (const double x : values) {
    unsigned char bytes[sizeof x];
    std::memcpy(bytes, &x, sizeof x);
    for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211ull;
  }
  return hash;
}

constexpr std::uint64_t start = 14695981039346656037ull;

template <class Workspace, class System, class Hash>
std::uint64_t replay(const System& system, double h, int steps, const std::string& file, Hash hash) {
  auto state = system.rest();
  Workspace w(system);
  for (int i = 0; i < steps; ++i) {
    const auto report = step(system, state, w, h);
    EXPECT_TRUE(report.ok()) << file << ": " << report.message;
  }
  return hash(state);
}

using articulated::Integrator;

scene::Scene load(const std::string& file) { return scene::load(std::string(LIMBER_SCENES) + "/" + file); }

// Only `articulated` has a choice of integrators, and scenes that ask for one that damps need it.
bool has_integrators(const scene::Scene& scene) {
  return scene.run.method == sim::Method::articulated &&
         scene.run.articulated.integrator != Integrator::sdirk;
}

std::uint64_t replay(const scene::Scene& scene, const std::string& file, int threads, Integrator integrator) {
  const double h = scene.run.step;
  if (scene.run.method == sim::Method::adaptive) {
    adaptive::Options options = scene.run.adaptive;
    options.cpu_threads = threads;
    return replay<adaptive::Workspace>(adaptive::compile(scene.model, options), h, 200, file,
                                       [](const auto& s) { return fnv1a(s.a, fnv1a(s.q, start)); });
  }
  if (scene.run.method == sim::Method::thread)  // thirty steps: threads in contact take longer
    return replay<thread::Workspace>(thread::compile(scene.model, scene.run.thread), h, 30, file,
                                     [](const auto& s) { return fnv1a(s.v, fnv1a(s.e, start)); });
  if (scene.run.method == sim::Method::rom) {
    rom::Options options = scene.run.rom;
    options.cpu_threads = threads;
    const auto reduced = sim::reduce(scene.model, options);
    return replay<rom::Workspace>(rom::compile(scene.model, reduced, options), h, 200, file,
                                  [](const auto& s) { return fnv1a(s.v, fnv1a(s.q, start)); });
  }
  articulated::Options options = scene.run.articulated;
  if (has_integrators(scene)) options.integrator = integrator;
  options.cpu_threads = threads;
  options.parallel_min_bodies = 1;  // even the smallest tree is walked by all threads
  return replay<articulated::Workspace>(articulated::compile(scene.model, options), h, 200, file,
                                        [](const auto& s) { return fnv1a(s.v, fnv1a(s.q, start)); });
}

// file → {euler, midpoint}; twice the same for scenes of other methods, and for those that run by sdirk
const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> golden = {
    {"compliant-loop.yaml", {0x9c1c0eef64159013, 0x9c1c0eef64159013}},
    {"gripper.yaml", {0x31c2232a44e42693, 0x31c2232a44e42693}},
    {"hand.yaml", {0x3454a5c5d951e292, 0x3454a5c5d951e292}},
    {"helix.yaml", {0x5e26b474ae330e6e, 0x5e26b474ae330e6e}},
    {"hexapod.yaml", {0x16bbf2e54d9c33f0, 0x16bbf2e54d9c33f0}},
    {"ladder.yaml", {0x17150673fd629b3b, 0x17150673fd629b3b}},
    {"robot-arm.yaml", {0xfb879bc1bab3f073, 0xfb879bc1bab3f073}},
    {"rope-ladder.yaml", {0x6791498390da4c6d, 0x7b6281d0e85ed37d}},
    {"trampoline.yaml", {0x2d6d2a20a995ad01, 0x2d6d2a20a995ad01}},
    {"y-mechanism.yaml", {0xaec5880518483240, 0xaec5880518483240}},
    {"arch.yaml", {0xbe90eedde1f46ad1, 0xbe90eedde1f46ad1}},
    {"knot.yaml", {0x674913a472978baf, 0x674913a472978baf}},
    {"lateral-buckling.yaml", {0x44245f7a730dc2f8, 0x44245f7a730dc2f8}},
    {"oval.yaml", {0xcbc15dfbb85c0f7c, 0xcbc15dfbb85c0f7c}},
    {"phone-cord.yaml", {0x8db7b74eaa041d81, 0x8db7b74eaa041d81}},
    {"rubber.yaml", {0xf413ec810235dfb7, 0xf413ec810235dfb7}},
    {"cut.yaml", {0xd9a0b0251f74bb9a, 0xd9a0b0251f74bb9a}},
    {"suture.yaml", {0x9808b615eaba239b, 0x9808b615eaba239b}},
    {"truss.yaml", {0x46812ffac4c3be13, 0x46812ffac4c3be13}},
    {"tether.yaml", {0xf0d67e7901f4eea7, 0xf0d67e7901f4eea7}},
    {"twist.yaml", {0x954349488c89bfc6, 0x954349488c89bfc6}},
    {"wrap.yaml", {0xe46f59bffe63f75d, 0xe46f59bffe63f75d}},
    {"cross-linked.yaml", {0xe3f3eb2c56c91a35, 0xe3f3eb2c56c91a35}},
    {"bicycle-chain.yaml", {0x0fed98fccb24722e, 0x0fed98fccb24722e}},
    {"millipede.yaml", {0x385bd69bd5edd080, 0x385bd69bd5edd080}},
    {"molecule.yaml", {0x8e8926daaaee130e, 0x8e8926daaaee130e}},
    {"bricard.yaml", {0xeb410f2b1301465a, 0xbc003a7d1df444d8}},
    {"bridge-car.yaml", {0xcf48c72077c78e87, 0x9c9404f7f6e3d485}},
    {"bridge-flexible.yaml", {0x693dedbfaafff8e2, 0xc1844b2f2f7e1aff}},
    {"bridge-many.yaml", {0x0379fa0c9525c9b1, 0xf39881744e1f9548}},
    {"bridge.yaml", {0x2f9f98f4bef0674a, 0x92e7588c5adf04b1}},
    {"cantilever.yaml", {0x0bac41a26fa75c1a, 0x6868254cbb50cb11}},
    {"coupled-pendulums.yaml", {0x1c6c6e8a8e2e81e7, 0x7bba9ddd13c05de7}},
    {"flyball-governor.yaml", {0xba1f7f912fb1f2fb, 0x2bfbaa0209d94c5b}},
    {"four-bar.yaml", {0x56a8db114135b7bc, 0x212b0c0a97adffaa}},
    {"n-four-bar.yaml", {0xa22a82a1e911794f, 0x8394f400fa2ea86c}},
    {"squeezer.yaml", {0xd75f8d036b3a1864, 0x07803b3cb00aa343}},
    {"tree-leaves.yaml", {0x49f507596300d395, 0xb05f310b3c6e0c29}},
    {"tree.yaml", {0xf093725dc58ca48b, 0x730e8f32308cec71}},
    {"umbrella.yaml", {0x2c33a903df40f03a, 0xa7e28c677ce00b26}},
    {"diving-board.yaml", {0xd755a7cbd5dfb144, 0x93058aa4d15d9117}},
    {"double-pendulum.yaml", {0x446a032a1674707a, 0x4ca902f767f1176d}},
    {"mobile.yaml", {0xa360617b3a4ba2e3, 0xd58c73e2480e1524}},
    {"sprung-chain.yaml", {0xf0c0d599ad89c11e, 0x4de22365d7720f47}},
    {"swinging-tree.yaml", {0x9eddaadd15a8a388, 0xa5174d8a80ed1d15}},
};

// Scenes that no run takes: what breaks and creeps is for histories (limber static --until).
const std::set<std::string> at_rest = {"windswept-tree.yaml"};

TEST(Golden, EveryShippedSceneHasAHash) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LIMBER_SCENES))
    if (entry.path().extension() == ".yaml") files.insert(entry.path().filename());
  for (const std::string& file : at_rest) EXPECT_EQ(files.erase(file), 1u) << file;
  for (const std::string& file : files) EXPECT_TRUE(golden.count(file)) << file;
  EXPECT_EQ(files.size(), golden.size());
}

TEST(Golden, SameBitsAsEver) {
  for (const auto& [file, hashes] : golden) {
    const scene::Scene scene = load(file);
    const std::uint64_t euler = replay(scene, file, 1, Integrator::euler);
    const std::uint64_t midpoint =
        has_integrators(scene) ? replay(scene, file, 1, Integrator::midpoint) : euler;
    EXPECT_TRUE(euler == hashes.first && midpoint == hashes.second)
        << fmt::format("{{\"{}\", {{0x{:016x}, 0x{:016x}}}}},", file, euler, midpoint);
  }
}

TEST(Golden, SameBitsForOneTwoAndFourThreads) {
  for (const auto& [file, hashes] : golden) {
    const scene::Scene scene = load(file);
    if (scene.run.method == sim::Method::thread) continue;  // always one
    for (const int threads : {2, 4}) {
      EXPECT_EQ(replay(scene, file, threads, Integrator::euler), hashes.first) << file;
      if (has_integrators(scene)) {
        EXPECT_EQ(replay(scene, file, threads, Integrator::midpoint), hashes.second) << file;
      }
    }
  }
}

}  // namespace
}  // namespace limber
