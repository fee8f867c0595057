// A Layout as JSON text, as it stands in the frames file; the same layout gives the same bytes.
//
//   {"title": "…",
//    "frames": [{"name": "…", "fixed": true, "color": [r,g,b],
//                "shapes": [{"box": [x,y,z] | "sphere": r | "cylinder": [r,l] | "capsule": [r,l], "p": […],
//                "R": [9, by rows]}]}],
//    "polylines": [{"name": "…", "points": n, "radius": r, "color": [r,g,b]}],
//    "scalars": [{"name": "…", "unit": "…"}]}
// Absent: fixed false, no color, p zero, R identity.
#pragma once

#include <string>
#include <string_view>

#include "limber/result/snapshot.h"

namespace limber::result {

// Both throw std::invalid_argument: a number that is not finite; a text that is not JSON or not a layout.
std::string layout_to_json(const Layout& layout);
Layout layout_from_json(std::string_view text);

}  // namespace limber::result
