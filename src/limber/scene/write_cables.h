// A cable as a scene has it.
#pragma once

#include <string>

#include "limber/model/model.h"

namespace limber::scene {

std::string cable_text(const Model& model, const Cable& cable);

}  // namespace limber::scene
