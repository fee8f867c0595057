// A mapping in YAML's flow style: {key: value, …}.
#pragma once

#include <fmt/format.h>

#include <string>

namespace limber::scene {

class Flow {
 public:
  Flow& add(const char* key, const std::string& value) {
    text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", key, value);
    return *this;
  }
  Flow& add_if(bool wanted, const char* key, const std::string& value) {
    return wanted ? add(key, value) : *this;
  }
  std::string str() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

}  // namespace limber::scene
