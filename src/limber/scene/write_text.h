// Numbers and text of a scene that is written out: every double to its last bit. Internal to write_*.cpp.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace limber::scene {

inline std::string number(double x) {
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  return fmt::format("{}", x);
}

template <class List>
std::string list(const List& values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", number(values[i]));
  return "[" + text + "]";
}

inline std::string text_scalar(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace limber::scene
