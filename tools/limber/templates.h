// The starter scenes of `limber new`.
#pragma once

#include <span>

namespace limber::cli {

struct Template {
  const char* name;
  const char* about;
  const char* text;  // YAML
};

std::span<const Template> templates();

}  // namespace limber::cli
