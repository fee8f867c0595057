// Which solids may touch: pairs of boxes that overlap, by sweep and prune (Cohen, Lin, Manocha, Ponamgi 1995)
// along x. Boxes without end (half spaces) meet everything.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "limber/contact/bounds.h"

namespace limber::contact {

class BroadPhase {
 public:
  void resize(int count);  // allocates only when it grows
  int count() const { return count_; }
  Bounds& box(int i) { return boxes_[i]; }  // set every one before pairs()

  // All (i, k), i < k, whose boxes overlap and for which keep(i, k); sorted.
  template <class Keep>
  const std::vector<std::pair<int, int>>& pairs(Keep keep) {
    sweep();
    pairs_.erase(std::remove_if(pairs_.begin(), pairs_.end(),
                                [&](const std::pair<int, int>& p) { return !keep(p.first, p.second); }),
                 pairs_.end());
    return pairs_;
  }

 private:
  void sweep();

  int count_ = 0;
  std::vector<Bounds> boxes_;
  std::vector<int> order_, active_;
  std::vector<std::pair<int, int>> pairs_;
};

}  // namespace limber::contact
