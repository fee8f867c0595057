// The glTF writer's limits, which keep a huge recording's file usable.
#pragma once

#include <cstddef>
#include <filesystem>

#include "limber/result/recording.h"

namespace limber::exporting {

struct GlbLimits {
  // Of animation data; above it frames are left out evenly in time. A browser loads this much in a second or
  // two.
  std::size_t animation_bytes = std::size_t{64} << 20;
  // Of all polylines, each a node with three channels; above it points are left out evenly along each line.
  std::size_t segments = 20'000;
};

// What was left out stands in asset.extras.
void write_glb(result::RecordingReader& recording, const std::filesystem::path& file,
               const GlbLimits& limits);

}  // namespace limber::exporting
