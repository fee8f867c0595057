// The tree among joints against every choice there is.
#include "limber/model/spanning_tree.h"

#include <gtest/gtest.h>

#include <random>

namespace limber {
namespace {

using Worth = std::array<int, 5>;

bool is_tree(int bodies, const std::vector<TreeCandidate>& joints, unsigned chosen) {
  std::vector<int> parent(bodies, -2);
  for (std::size_t k = 0; k < joints.size(); ++k) {
    if (!(chosen >> k & 1)) continue;
    if (parent[joints[k].child] != -2) return false;
    parent[joints[k].child] = joints[k].parent;
  }
  for (int b = 0; b < bodies; ++b) {
    int at = b;
    for (int steps = 0; at >= 0; ++steps, at = parent[at])
      if (steps > bodies) return false;
  }
  return true;
}

Worth worth_of(const std::vector<TreeCandidate>& joints, unsigned chosen) {
  Worth sum{};
  for (std::size_t k = 0; k < joints.size(); ++k)
    for (std::size_t i = 0; chosen >> k & 1 && i < sum.size(); ++i) sum[i] += joints[k].worth[i];
  return sum;
}

TEST(SpanningTree, IsWorthAsMuchAsTheBestOfAll) {
  std::mt19937 random(1);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int with_rings = 0;
  for (int round = 0; round < 500; ++round) {
    const int bodies = 1 + draw(5);
    std::vector<TreeCandidate> joints(static_cast<std::size_t>(1 + draw(9)));
    for (TreeCandidate& j : joints) {
      j = {draw(bodies + 1) - 1, draw(bodies), {draw(8) == 0, draw(4) == 0, 1, draw(3) == 0, draw(6)}};
      if (j.parent == j.child) j.parent = -1;
    }
    Worth best{};
    const unsigned all = 1u << joints.size();
    for (unsigned chosen = 0; chosen < all; ++chosen)
      if (is_tree(bodies, joints, chosen)) best = std::max(best, worth_of(joints, chosen));
    with_rings += !is_tree(bodies, joints, all - 1);
    const std::vector<char> found = spanning_tree(bodies, joints);
    unsigned chosen = 0;
    for (std::size_t k = 0; k < found.size(); ++k) chosen |= static_cast<unsigned>(found[k]) << k;
    ASSERT_TRUE(is_tree(bodies, joints, chosen)) << round;
    ASSERT_EQ(worth_of(joints, chosen), best) << round;
  }
  EXPECT_GT(with_rings, 300);
}

}  // namespace
}  // namespace limber
