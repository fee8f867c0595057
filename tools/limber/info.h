// What `limber info` shows: titled lists of names and values, once for people and once for programs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

#include "limber/scene/scene.h"

namespace limber::cli {

struct InfoEntry {
  std::string name;
  std::variant<std::string, double, std::size_t> value;
  std::string unit;  // of a number
  std::string note;  // for people only
};

struct InfoSection {
  std::string title;  // key in JSON
  std::vector<InfoEntry> entries;
};

struct Info {
  std::string title;
  std::vector<InfoSection> sections;
};

Info scene_info(const scene::Scene& scene);
Info run_info(const std::filesystem::path& folder);

std::string to_text(const Info& info);
std::string to_json(const Info& info);

}  // namespace limber::cli
