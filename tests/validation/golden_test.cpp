// A replay hash per shipped scene: the bits of the state after 200 steps, the same on every x86-64 CPU, for
// 1, 2 and 4 threads. A hash changes only when the numbers of a method or a scene change on purpose; then the
// new one is printed here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <set>

#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

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

std::uint64_t replay(const std::string& file, int threads, articulated::Integrator integrator) {
  const scene::Scene scene = scene::load(std::string(LIMBER_SCENES) + "/" + file);
  articulated::Options options = scene.run.articulated;
  options.integrator = integrator;
  options.threads = threads;
  options.parallel_min_bodies = 1;  // even the smallest tree is walked by all threads
  const auto system = articulated::compile(scene.model, options);
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  for (int i = 0; i < 200; ++i) {
    const auto report = articulated::step(system, state, w, scene.run.step);
    EXPECT_TRUE(report.ok()) << file << ": " << report.message;
  }
  return fnv1a(state.v, fnv1a(state.q, 14695981039346656037ull));
}

// file → {euler, midpoint}
const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> golden = {
    {"diving-board.yaml", {0x9391997668ebc8a6, 0x20c913850cda8878}},
    {"double-pendulum.yaml", {0x34f6caf1d0e6eb55, 0x5f249a9bf200ff4a}},
    {"mobile.yaml", {0x73d8080cbd87fdc9, 0x48ced4155deea91e}},
    {"sprung-chain.yaml", {0x09e61de3d49a8f53, 0xce53a2ffe158e5c9}},
    {"swinging-tree.yaml", {0xa62a6a0be9378ad6, 0x4303949adac5e1e3}},
};

TEST(Golden, EveryShippedSceneHasAHash) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(LIMBER_SCENES))
    if (entry.path().extension() == ".yaml") files.insert(entry.path().filename());
  for (const std::string& file : files) EXPECT_TRUE(golden.count(file)) << file;
  EXPECT_EQ(files.size(), golden.size());
}

TEST(Golden, SameBitsAsEver) {
  for (const auto& [file, hashes] : golden) {
    const std::uint64_t euler = replay(file, 1, articulated::Integrator::euler);
    const std::uint64_t midpoint = replay(file, 1, articulated::Integrator::midpoint);
    EXPECT_TRUE(euler == hashes.first && midpoint == hashes.second)
        << fmt::format("{{\"{}\", {{0x{:016x}, 0x{:016x}}}}},", file, euler, midpoint);
  }
}

TEST(Golden, SameBitsForOneTwoAndFourThreads) {
  for (const auto& [file, hashes] : golden)
    for (const int threads : {2, 4}) {
      EXPECT_EQ(replay(file, threads, articulated::Integrator::euler), hashes.first) << file;
      EXPECT_EQ(replay(file, threads, articulated::Integrator::midpoint), hashes.second) << file;
    }
}

}  // namespace
}  // namespace limber
