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

// Only `articulated` has a choice of integrators, and scenes that ask for one that damps or is of fourth
// order need it.
bool has_integrators(const scene::Scene& scene) {
  const Integrator by = scene.run.articulated.integrator;
  return scene.run.method == sim::Method::articulated &&
         (by == Integrator::euler || by == Integrator::midpoint);
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
    {"compliant-loop.yaml", {0x312d838014e12130, 0x312d838014e12130}},
    {"gripper.yaml", {0x18d3d23ca28f6709, 0x18d3d23ca28f6709}},
    {"hand.yaml", {0x92e2b2cfd3f42f9c, 0x92e2b2cfd3f42f9c}},
    {"helix.yaml", {0x1dcff08b7f7bd6c0, 0x1dcff08b7f7bd6c0}},
    {"hexapod.yaml", {0x485da699c6ba2263, 0x485da699c6ba2263}},
    {"ladder.yaml", {0x2900b72b697fbc17, 0x2900b72b697fbc17}},
    {"robot-arm.yaml", {0xc807472ec5c10fbe, 0xc807472ec5c10fbe}},
    {"rope-ladder.yaml", {0x6791498390da4c6d, 0x0c7a5fc5262620cf}},
    {"trampoline.yaml", {0xb30d580353684530, 0xb30d580353684530}},
    {"y-mechanism.yaml", {0x46518abe1753fffa, 0x46518abe1753fffa}},
    {"arch.yaml", {0x79053700fb505c6b, 0x79053700fb505c6b}},
    {"knot.yaml", {0xd8cb9a3d5e88deec, 0xd8cb9a3d5e88deec}},
    {"lateral-buckling.yaml", {0xf643788077c00cab, 0xf643788077c00cab}},
    {"oval.yaml", {0xcbc15dfbb85c0f7c, 0xcbc15dfbb85c0f7c}},
    {"phone-cord.yaml", {0x8db7b74eaa041d81, 0x8db7b74eaa041d81}},
    {"rubber.yaml", {0xf413ec810235dfb7, 0xf413ec810235dfb7}},
    {"cut.yaml", {0xcc78d67aba074710, 0xcc78d67aba074710}},
    {"suture.yaml", {0xb2c497387d8073a7, 0xb2c497387d8073a7}},
    {"truss.yaml", {0xb72db0352be7c9dd, 0xb72db0352be7c9dd}},
    {"tether.yaml", {0xf0d67e7901f4eea7, 0xf0d67e7901f4eea7}},
    {"twist.yaml", {0x954349488c89bfc6, 0x954349488c89bfc6}},
    {"wrap.yaml", {0x0cc88430fbe33c75, 0x0cc88430fbe33c75}},
    {"cross-linked.yaml", {0xfb4415377787b477, 0xfb4415377787b477}},
    {"bicycle-chain.yaml", {0x0fed98fccb24722e, 0x0fed98fccb24722e}},
    {"millipede.yaml", {0x385bd69bd5edd080, 0x385bd69bd5edd080}},
    {"molecule.yaml", {0x8e8926daaaee130e, 0x8e8926daaaee130e}},
    {"bricard.yaml", {0xeb410f2b1301465a, 0x80a12ad673110495}},
    {"bridge-car.yaml", {0xf6c1147453b5fda1, 0xfc81f3dc260c161a}},
    {"bridge-flexible.yaml", {0xdb0dad6e2da7305b, 0x5a7eda8761a39d26}},
    {"bridge-many.yaml", {0x8ca7344a53a077c6, 0xb929f3de5a585eed}},
    {"bridge.yaml", {0x1316dd9ca551cc77, 0xddfd7d8dc6dbe32b}},
    {"cantilever.yaml", {0x0bac41a26fa75c1a, 0xc491a003a4d54f90}},
    {"coupled-pendulums.yaml", {0x1c6c6e8a8e2e81e7, 0x2c7d2ef2e06b882f}},
    {"flyball-governor.yaml", {0xba1f7f912fb1f2fb, 0x0cb9ef9498432694}},
    {"four-bar.yaml", {0x56a8db114135b7bc, 0x32c1cc0a36542e18}},
    {"n-four-bar.yaml", {0xa22a82a1e911794f, 0x8394f400fa2ea86c}},
    {"squeezer.yaml", {0xd75f8d036b3a1864, 0xb7ef6a2c28b5a82b}},
    {"tree-leaves.yaml", {0x6993a812bd9d6f45, 0xbc5d171ed4b83131}},
    {"tree.yaml", {0xc0b417852c31db8b, 0x111f3958762b4b95}},
    {"umbrella.yaml", {0xf95e7a424b5f3e0e, 0xe696f5a299db67d9}},
    {"diving-board.yaml", {0xd755a7cbd5dfb144, 0x036dfd25d9e245ac}},
    {"double-pendulum.yaml", {0x446a032a1674707a, 0x18c1eea8a47d34ca}},
    {"dominoes.yaml", {0x36ed73f969cb2755, 0xc105e497f536664e}},
    {"marble-run.yaml", {0xbf55bec228ca5538, 0x5d1b002e4bf73053}},
    {"plate-gears.yaml", {0x1b8ac3d03b370cfb, 0x2aa2e68705027590}},
    {"newtons-cradle.yaml", {0x3c902cea1fd8ff74, 0x51e858fd156ad8ac}},
    {"mobile.yaml", {0xa360617b3a4ba2e3, 0x3c81a0411c2ab933}},
    {"sprung-chain.yaml", {0xf0c0d599ad89c11e, 0x2237ba9dd659dc09}},
    {"crank-slider.yaml", {0xc9bd5ef043f2ddac, 0xc9bd5ef043f2ddac}},
    {"cam-valve.yaml", {0xc4426322230061d5, 0x96a7ba0159c6b08c}},
    {"differential.yaml", {0x6b0ac628585c230a, 0x518659a3f586031f}},
    {"trebuchet.yaml", {0x9808a0ef38829c7b, 0x9808a0ef38829c7b}},
    {"inverted-pendulum.yaml", {0xf32fcaba2ceb5fd9, 0x382d4c442ffe2dd7}},
    {"stick-slip.yaml", {0x01344d56d991d016, 0x4a48c0741e31ac6e}},
    {"screw-press.yaml", {0xc53a9aeeb39587d0, 0x23992192adfe50ca}},
    {"parallel-stage.yaml", {0x86e412f545f08b6c, 0xa1e6c7394942dda1}},
    {"crossed-pivot.yaml", {0x63c484d3d9e2d111, 0x7d6fc322bd252e3d}},
    {"accelerometer.yaml", {0xbaa3551f82810073, 0xbc4d8854c039edff}},
    {"bistable-switch.yaml", {0x19445e9487b4bf0e, 0x2d503fb7fab8362c}},
    {"stapler.yaml", {0x57fc2c61fca91c1d, 0xbeba01e3eb548979}},
    {"constant-force.yaml", {0xd54033c55233879c, 0x5c6ec8dcffb0c9cc}},
    {"compliant-gripper.yaml", {0x0687a92aa53e10b3, 0x92ee30f4bfaa0e7d}},
    {"swinging-tree.yaml", {0x9eddaadd15a8a388, 0x631d000cab6ccf46}},
    {"atwood.yaml", {0xa51736d7bffcee57, 0xa51736d7bffcee57}},
    {"cable-robot.yaml", {0x2a65837a39403b02, 0x47a03209341a1082}},
    {"drawbridge.yaml", {0x4ef2010609077502, 0x4ef2010609077502}},
    {"finger.yaml", {0x1f1f323c9d07574d, 0x7dd452b5af02ead3}},
    {"tackle.yaml", {0xe6bc6d508839b685, 0x94518742d4659d7a}},
    {"tendon-arm.yaml", {0x5cdffea02b956e5b, 0x5cdffea02b956e5b}},
    {"buggy.yaml", {0x86f17097c364c174, 0xf1b8899503779572}},
    {"timing-belt.yaml", {0xbe4555d40c6265c2, 0xbe4555d40c6265c2}},
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
