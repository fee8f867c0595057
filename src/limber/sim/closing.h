// What closing a scene's loops and ties asks of it: ends that are to meet, and stand apart as written.
#pragma once

#include <string>
#include <vector>

#include "limber/model/model.h"

namespace limber::sim {

// One line for each loop or tie whose closing moves what it holds by more than a person would round to.
std::vector<std::string> closing_notes(const Model& model);

}  // namespace limber::sim
