// A state's bytes: what is no state of the system is refused before anything is made of it.
#include <cstring>
#include <functional>
#include <limits>

#include "limber/thread/system.h"
#include "thread_support.h"

namespace limber::thread {
namespace {

// Two threads, the first one cut and with a finer mesh where it bends.
System two_threads() {
  Rope rope;
  rope.elements = 4;
  rope.options.levels = 2, rope.options.bend = 0.2;
  Beam beam = rope.beam();
  beam.damping = 1e-3;
  beam.clamps.push_back({1, world, Hold::pinned});
  rope.builder.add(beam);
  Beam other = beam;
  other.name = "other";
  other.path = PolylinePath{{Vec3::UnitY(), Vec3(1, 1, 0)}};
  rope.builder.add(other);
  rope.builder.add(Change{0.05, Change::Kind::cut, BeamId{0}, {}, {}, 0.5});
  rope.builder.parts.gravity = VectorFunction::constant(Vec3(0, 0, -9.81));
  return compile(std::move(rope.builder).build(), rope.options);
}

State after(const System& system, int steps) {
  State state = system.rest();
  Workspace w(system);
  for (int k = 0; k < steps; ++k) EXPECT_TRUE(step(system, state, w, 2e-3).ok());
  return state;
}

TEST(Checkpoint, GoodOnesAreTaken) {
  const System system = two_threads();
  const State coarse = after(system, 2), fine = after(system, 100);
  EXPECT_GT(fine.node_count(), coarse.node_count());
  State a = system.rest(), b = fine, c = coarse;
  a.load(fine.save()), b.load(coarse.save()), c.load(fine.save());
  EXPECT_EQ(a.save(), fine.save());
  EXPECT_EQ(b.save(), coarse.save());
  EXPECT_EQ(c.save(), fine.save());
}

TEST(Checkpoint, ForgedOnesAreRefused) {
  const System system = two_threads();
  const State good = after(system, 100);
  const auto refused = [&](const char* what, const std::function<void(State&)>& forge) {
    State bad = good;
    forge(bad);
    for (State state : {system.rest(), good}) {
      const std::string before = state.save();
      EXPECT_THROW(state.load(bad.save()), std::invalid_argument) << what;
      EXPECT_EQ(state.save(), before) << what;
    }
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(), huge = std::numeric_limits<double>::infinity();
  refused("time", [&](State& s) { s.t = nan; });
  refused("step", [&](State& s) { s.step = -1; });
  refused("step before", [&](State& s) { s.h_before = -1; });
  refused("ledger", [&](State& s) { s.work = huge; });
  refused("position", [&](State& s) { s.e[7] = nan; });
  refused("rate before", [&](State& s) { s.v_before.back() = huge; });
  refused("strains", [&](State& s) { s.strain_before.clear(); });
  refused("fewer strains", [&](State& s) { s.strain_before.resize(12); });
  refused("part of a contact", [&](State& s) { s.touch.assign(6, 0); });
  refused("contact beyond", [&](State& s) { s.touch.assign({1e9, 0, 0, 0, 0, 0, 0}); });
  refused("contact without a number", [&](State& s) { s.touch.assign({0, nan, 0, 0, 0, 0, 0}); });
  refused("a thread less", [&](State& s) { s.first.pop_back(); });
  refused("nodes of nobody", [&](State& s) { s.first[1] = 1 << 30; });
  refused("nodes before the first", [&](State& s) { s.first[1] = -5; });
  refused("place between places", [&](State& s) { ++s.place[1]; });
  refused("place before the first", [&](State& s) { s.place[1] = -4; });
  // A node of the coarsest mesh is gone: clamps look for it.
  const auto without = [](State& s, int node) {
    s.place.erase(s.place.begin() + node);
    for (auto* list : {&s.e, &s.v, &s.e_before, &s.v_before, &s.strain_before})
      list->erase(list->begin() + 12 * node, list->begin() + 12 * (node + 1));
    for (std::size_t t = 1; t < s.first.size(); ++t) --s.first[t];
  };
  refused("a coarsest node less", [&](State& s) { without(s, node_at(s, 0, 4)); });
  // … or is there a hundred times.
  refused("cut too often", [&](State& s) {
    const int node = node_at(s, 0, 8);
    for (int k = 0; k < 100; ++k) {
      s.place.insert(s.place.begin() + node, 8);
      for (auto* list : {&s.e, &s.v, &s.e_before, &s.v_before, &s.strain_before})
        list->insert(list->begin() + 12 * node, 12, 1.0);
    }
    for (std::size_t t = 1; t < s.first.size(); ++t) s.first[t] += 100;
  });
}

// A list's length that the bytes do not have, whatever it is: nothing is allocated for it.
TEST(Checkpoint, LengthsAreCheckedFirst) {
  const System system = two_threads();
  const State good = after(system, 10);
  const std::string bytes = good.save();
  State state = system.rest();
  int lists = 0;
  for (std::size_t at = 16; at + 8 <= bytes.size(); at += 4)  // after time and step
    for (const std::uint64_t length : {std::uint64_t(1) << 61, ~std::uint64_t(0), std::uint64_t(1) << 40}) {
      std::uint64_t was = 0;
      std::memcpy(&was, bytes.data() + at, 8);
      const std::size_t sizes[] = {good.first.size(), good.place.size(), good.e.size(),
                                   good.strain_before.size()};
      if (std::ranges::find(sizes, was) == std::end(sizes)) continue;
      std::string bad = bytes;
      std::memcpy(bad.data() + at, &length, 8);
      EXPECT_THROW(state.load(bad), std::invalid_argument) << at;
      ++lists;
    }
  EXPECT_GE(lists, 3 * 7);
  for (std::size_t n = 0; n < bytes.size(); n += 97)
    EXPECT_THROW(state.load(bytes.substr(0, n)), std::invalid_argument) << n;
}

}  // namespace
}  // namespace limber::thread
