#include "limber/scene/suggest.h"

#include <algorithm>
#include <array>

namespace limber::scene {

namespace {
constexpr std::size_t max_name = 64;  // longer names get no suggestion

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
}  // namespace

int edit_distance(std::string_view a, std::string_view b, int limit) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  if (a.size() > max_name || b.size() > max_name || std::abs(n - m) > limit) return limit + 1;
  std::array<std::array<int, max_name + 1>, 3> rows;  // two rows back for the swap
  for (int j = 0; j <= m; ++j) rows[0][j] = j;
  for (int i = 1; i <= n; ++i) {
    auto& row = rows[i % 3];
    const auto &up = rows[(i + 2) % 3], &up2 = rows[(i + 1) % 3];
    row[0] = i;
    int least = i;
    for (int j = 1; j <= m; ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({up[j] + 1, row[j - 1] + 1, up[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], up2[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
  }
  return std::min(rows[n % 3][m], limit + 1);
}

Suggestion::Suggestion(std::string_view wanted)
    : wanted_(wanted.substr(0, max_name + 1)),
      distance_(std::min(2, static_cast<int>(wanted.size() + 1) / 3) + 1) {
  std::transform(wanted_.begin(), wanted_.end(), wanted_.begin(), lower);
}

void Suggestion::offer(std::string_view name) {
  if (name.size() > max_name) return;
  std::array<char, max_name> folded;
  std::transform(name.begin(), name.end(), folded.begin(), lower);
  const int d = edit_distance(wanted_, {folded.data(), name.size()}, distance_);
  // Equally near: the first in the alphabet, whatever the order of the offers.
  if (d > distance_ || (d == distance_ && (best_.empty() || name >= best_))) return;
  distance_ = d;
  best_ = name;
}

std::string Suggestion::text() const { return best_.empty() ? "" : "; did you mean \"" + best_ + "\"?"; }

}  // namespace limber::scene
