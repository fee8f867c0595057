// Shorthands for tests of scenes.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "limber/scene/scene.h"

namespace limber::scene {

inline Scene parse_text(const std::string& text, const LoadOptions& options = {}) {
  return parse("limber: 1\n" + text, "test.yaml", {}, options);
}

// The diagnostics of a scene; empty when it loads.
inline std::vector<Diagnostic> diagnose(const std::string& text, const LoadOptions& options = {}) {
  try {
    parse(text, "test.yaml", {}, options);
  } catch (const SceneError& error) {
    return error.diagnostics();
  }
  return {};
}

inline std::string all_text(const std::vector<Diagnostic>& list) {
  std::string text;
  for (const Diagnostic& d : list) text += to_string(d) + "\n";
  return text;
}

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline std::vector<std::filesystem::path> shipped_scenes() {
  std::vector<std::filesystem::path> list;
  for (const auto& entry : std::filesystem::directory_iterator(LIMBER_SCENES))
    if (entry.path().extension() == ".yaml") list.push_back(entry.path());
  std::sort(list.begin(), list.end());
  return list;
}

// The large scenes at a size that tests can load many times.
inline std::string slurp_small(const std::filesystem::path& path) {
  std::string text = slurp(path);
  for (const auto& [large, small] :
       {std::pair{"bodies: 50000", "bodies: 50"}, {"bodies: 5000", "bodies: 200"}, {"legs: 1000", "legs: 5"}})
    if (const std::size_t at = text.find(large); at != std::string::npos)
      text.replace(at, std::string_view(large).size(), small);
  return text;
}

// A fixed generator: the same numbers with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

}  // namespace limber::scene
