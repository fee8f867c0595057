// Everything that can be wrong with the parts of a model, found in one go. Internal to model/.
#pragma once

#include <vector>

#include "limber/model/model.h"

namespace limber {

std::vector<Problem> find_problems(const ModelParts& parts);

}  // namespace limber
