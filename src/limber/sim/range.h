// An interval that a number may lie in. Its ends belong to it unless they are open.
#pragma once

#include <limits>
#include <string>

namespace limber::sim {

struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool open_low = false, open_high = false;

  bool operator==(const Range&) const = default;
  bool contains(double x) const {
    return (open_low ? x > low : x >= low) && (open_high ? x < high : x <= high);
  }
  std::string text() const;  // "positive", "at least 1", "above 0, below 2"; "" for any

  static const Range any, positive, non_negative, fraction, at_least_one, at_least_two;
};

inline constexpr Range Range::any{};
inline constexpr Range Range::positive{.low = 0, .open_low = true};
inline constexpr Range Range::non_negative{.low = 0};
inline constexpr Range Range::fraction{.low = 0, .high = 1};
inline constexpr Range Range::at_least_one{.low = 1};
inline constexpr Range Range::at_least_two{.low = 2};

}  // namespace limber::sim
