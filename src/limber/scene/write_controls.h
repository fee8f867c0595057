// Functions of time, controllers and events written out. Internal to write_yaml.cpp.
#pragma once

#include <string>
#include <vector>

#include "limber/model/model.h"

namespace limber::scene {

std::string function(const TimeFunction& f);
std::string functions_of_time(const std::array<TimeFunction, 6>& f, int count);
std::string vector_function(const VectorFunction& f);

std::vector<std::string> control_lines(const Model& model);

}  // namespace limber::scene
