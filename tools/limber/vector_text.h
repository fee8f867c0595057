// A vector as the command prints it: as text and as JSON.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "limber/math/types.h"

namespace limber::cli {

inline nlohmann::ordered_json json_of(const Vec3& v) {
  return nlohmann::ordered_json::array({v.x(), v.y(), v.z()});
}
inline std::string to_text(const Vec3& v) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", v.x(), v.y(), v.z());
}

}  // namespace limber::cli
