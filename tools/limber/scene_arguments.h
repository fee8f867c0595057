// The scene file and `--set name=value` of a subcommand.
#pragma once

#include <string>
#include <vector>

#include "app.h"
#include "limber/scene/scene.h"
#include "limber/scene/units.h"
#include "limber/sim/method_table.h"

namespace limber::cli {

struct SceneArguments {
  std::string file;
  std::vector<std::string> set;
};
void add_set_option(CLI::App& sub, std::vector<std::string>& set);

// "name=value" each; throws UsageError.
std::vector<std::pair<std::string, std::string>> parse_set(const std::vector<std::string>& set);
scene::Scene load_scene(const SceneArguments& arguments, bool keep_places = false);
// Does something with the scene's model; what a method says against it becomes a SceneError, with places.
template <class Work>
auto with_places(const scene::Scene& scene, const Work& work) {
  try {
    return work();
  } catch (const ModelError& e) {
    throw scene::SceneError(scene::locate(scene, e));
  }
}

// A number with a unit, as in a scene; throws UsageError.
double parse_quantity(const std::string& option, const std::string& text, const scene::Dimension& dimension);
double parse_time(const std::string& option,
                  const std::string& text);  // "5", "5 s", "2 ms" → [s]; throws UsageError

// "12 bodies, 13 joints, 25 degrees of freedom"
std::string describe(const sim::CompiledSizes& sizes);

}  // namespace limber::cli
