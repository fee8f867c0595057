#include "limber/contact/box_tree.h"

#include <limits>

namespace limber::contact {

void BoxTree::resize(int count) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  int leaves = 1;
  while (leaves < count) leaves *= 2;
  count_ = count;
  leaves_ = leaves;
  if (boxes_.size() < 2 * static_cast<std::size_t>(leaves)) {
    boxes_.resize(2 * static_cast<std::size_t>(leaves));
    stack_.reserve(16 * 64);
  }
  for (int i = count; i < leaves; ++i) boxes_[leaves + i] = {Vec3::Constant(inf), Vec3::Constant(-inf)};
}

void BoxTree::refit() {
  for (int i = leaves_ - 1; i >= 1; --i) {
    boxes_[i].low = boxes_[2 * i].low.cwiseMin(boxes_[2 * i + 1].low);
    boxes_[i].high = boxes_[2 * i].high.cwiseMax(boxes_[2 * i + 1].high);
  }
}

}  // namespace limber::contact
