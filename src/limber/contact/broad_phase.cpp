#include "limber/contact/broad_phase.h"

namespace limber::contact {

void BroadPhase::resize(int count) {
  count_ = count;
  boxes_.resize(static_cast<std::size_t>(count));
  order_.resize(static_cast<std::size_t>(count));
  active_.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) order_[i] = i;
}

void BroadPhase::sweep() {
  // Almost sorted since the last time: insertion is O(n), and stable in a fixed order by the index.
  const auto before = [&](int a, int b) {
    return boxes_[a].low.x() != boxes_[b].low.x() ? boxes_[a].low.x() < boxes_[b].low.x() : a < b;
  };
  for (int i = 1; i < count_; ++i)
    for (int k = i; k > 0 && before(order_[k], order_[k - 1]); --k) std::swap(order_[k], order_[k - 1]);
  pairs_.clear();
  active_.clear();
  for (const int i : order_) {
    std::size_t kept = 0;
    for (const int k : active_) {
      if (boxes_[k].high.x() < boxes_[i].low.x()) continue;
      active_[kept++] = k;
      if (overlap(boxes_[i], boxes_[k])) pairs_.push_back({std::min(i, k), std::max(i, k)});
    }
    active_.resize(kept);
    active_.push_back(i);
  }
  std::sort(pairs_.begin(), pairs_.end());
}

}  // namespace limber::contact
