// What a viewer is told about a scene before its first frame, as JSON (viewer/src/live.ts).
#pragma once

#include <string>
#include <vector>

#include "limber/result/fields.h"
#include "limber/result/snapshot.h"
#include "limber/scene/scene.h"

namespace limber::cli {

struct MethodChoice {
  std::string name, label, reason;  // reason: why it does not apply
  bool applies = true;
};

struct LiveScene {
  std::uint32_t epoch = 0;
  std::vector<scene::Parameter> parameters;
  std::vector<MethodChoice> methods;
  std::string method;
  double step = 0, strength = 1;
  bool control = true, holds = true;
  bool reducible = false;  // it names end effectors: its reduced model can get points
};
std::string live_scene_json(const LiveScene& scene, const result::Layout& layout,
                            const result::Fields& fields);
std::string note_json(const std::string& text);

// What a method says against a model can be hundreds of lines, one for each part: the first two, and how many
// more.
std::string short_reason(const std::vector<Problem>& against);

// Every method that runs; articulated appears once with each integrator.
std::vector<MethodChoice> method_choices(const scene::Scene& scene, const sim::RunOptions& options);
std::string method_name(const sim::RunOptions& options);                // "articulated:euler"
void choose_method(const std::string& name, sim::RunOptions& options);  // throws std::invalid_argument

}  // namespace limber::cli
