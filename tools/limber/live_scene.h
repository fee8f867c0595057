// What a viewer is told about a scene before its first frame, as JSON (viewer/src/live.ts).
#pragma once

#include <string>
#include <vector>

#include "limber/result/fields.h"
#include "limber/result/snapshot.h"
#include "limber/scene/scene.h"
#include "limber/sim/methods.h"

namespace limber::cli {

struct LiveScene {
  std::uint32_t epoch = 0;
  std::vector<scene::Parameter> parameters;
  std::vector<sim::MethodChoice> methods;
  std::string method;
  double step = 0, strength = 1;
  bool control = true, holds = true;
  bool reducible = false;  // it names end effectors: its reduced model can get points
};
std::string live_scene_json(const LiveScene& scene, const result::Layout& layout,
                            const result::Fields& fields);
std::string note_json(const std::string& text);

}  // namespace limber::cli
