// Numbers of one moment that things can be coloured by: a stress along a beam, the tension of a spring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace limber::result {

struct Field {
  enum class On : std::uint8_t { frames, polylines, points };
  std::string name, unit;
  On on = On::frames;
  std::vector<float> values;  // one for each, in the layout's order; NaN: it has none
};
using Fields = std::vector<Field>;

// One number of one part, for a person who asked for it.
struct Reading {
  std::string name, unit;
  double value = 0;
};

inline const char* to_string(Field::On on) {
  return on == Field::On::frames ? "frames" : on == Field::On::polylines ? "polylines" : "points";
}

}  // namespace limber::result
