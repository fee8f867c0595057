#include "limber/contact/contact_cache.h"

#include <algorithm>
#include <utility>

namespace limber::contact {

void ContactCache::turn() {
  std::swap(last_, next_);
  next_.clear();
  // They mostly come sorted; insertion keeps the order within a pair and allocates nothing.
  const auto after = [](const CachedContact& x, const CachedContact& y) {
    return x.a != y.a ? x.a > y.a : x.b > y.b;
  };
  for (std::size_t i = 1; i < last_.size(); ++i)
    for (std::size_t k = i; k > 0 && after(last_[k - 1], last_[k]); --k) std::swap(last_[k - 1], last_[k]);
}

void ContactCache::add(int a, int b, const ContactPoint& point, const Vec3& impulse_W) {
  next_.push_back({a, b, point.feature, point.on_b, impulse_W});
}

void ContactCache::match(int a, int b, const Manifold& m, double within, Vec3* impulses_W) {
  const auto before = [](const CachedContact& x, const std::pair<int, int>& key) {
    return x.a != key.first ? x.a < key.first : x.b < key.second;
  };
  const auto first = std::lower_bound(last_.begin(), last_.end(), std::pair{a, b}, before);
  auto end = first;
  while (end != last_.end() && end->a == a && end->b == b) ++end;
  const auto count = static_cast<std::size_t>(end - first);
  taken_.assign(count, 0);
  bool found[8] = {};
  for (int i = 0; i < m.count; ++i) {
    impulses_W[i].setZero();
    for (std::size_t k = 0; k < count && !found[i]; ++k)
      if (!taken_[k] && first[k].feature == m.points[i].feature &&
          (first[k].at - m.points[i].on_b).squaredNorm() <= within * within)
        found[i] = true, taken_[k] = 1, impulses_W[i] = first[k].impulse;
  }
  for (int i = 0; i < m.count; ++i) {
    if (found[i]) continue;
    std::size_t best = count;
    double nearest = within * within;
    for (std::size_t k = 0; k < count; ++k) {
      const double d = (first[k].at - m.points[i].on_b).squaredNorm();
      if (!taken_[k] && d < nearest) nearest = d, best = k;
    }
    if (best == count) continue;
    taken_[best] = 1;
    impulses_W[i] = first[best].impulse;
  }
}

}  // namespace limber::contact
