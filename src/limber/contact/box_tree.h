// A tree of boxes over things in a row (the capsules of a thread): built once, refitted in O(n) when they
// move, O(log n) and more for a query. Neighbours in the row are neighbours in space, so the row's own order
// is a good tree.
#pragma once

#include <vector>

#include "limber/contact/solid.h"

namespace limber::contact {

class BoxTree {
 public:
  void resize(int count);  // allocates only when it grows
  int count() const { return count_; }
  Bounds& box(int i) { return boxes_[leaves_ + i]; }  // set every one, then refit()
  const Bounds& box(int i) const { return boxes_[leaves_ + i]; }
  void refit();

  // Calls pair(i, k), i < k, for every two boxes that overlap; in a fixed order.
  template <class Pair>
  void self_pairs(Pair pair) {
    if (count_ < 2) return;
    stack_.clear();
    stack_.push_back({1, 1});
    while (!stack_.empty()) {
      const auto [a, b] = stack_.back();
      stack_.pop_back();
      if (a == b) {
        if (a >= leaves_) continue;
        stack_.push_back({2 * a + 1, 2 * a + 1});
        stack_.push_back({2 * a, 2 * a + 1});
        stack_.push_back({2 * a, 2 * a});
        continue;
      }
      if (!overlap(boxes_[a], boxes_[b])) continue;
      if (a >= leaves_) {
        pair(a - leaves_, b - leaves_);
        continue;
      }
      for (int i = 3; i >= 0; --i) stack_.push_back({2 * a + i / 2, 2 * b + i % 2});
    }
  }
  // Calls hit(i) for every box that overlaps `bounds`.
  template <class Hit>
  void query(const Bounds& bounds, Hit hit) {
    if (count_ == 0) return;
    stack_.clear();
    stack_.push_back({1, 1});
    while (!stack_.empty()) {
      const int a = stack_.back().first;
      stack_.pop_back();
      if (!overlap(boxes_[a], bounds)) continue;
      if (a >= leaves_) {
        hit(a - leaves_);
        continue;
      }
      stack_.push_back({2 * a + 1, 0});
      stack_.push_back({2 * a, 0});
    }
  }

  static bool overlap(const Bounds& a, const Bounds& b) {
    return (a.low.array() <= b.high.array()).all() && (b.low.array() <= a.high.array()).all();
  }

 private:
  int count_ = 0, leaves_ = 0;  // leaves_: a power of two
  std::vector<Bounds> boxes_;   // (2 leaves_), children of i at 2i and 2i + 1
  std::vector<std::pair<int, int>> stack_;
};

}  // namespace limber::contact
