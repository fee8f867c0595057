// Laws written out. Internal to write_yaml.cpp.
#pragma once

#include "limber/model/body.h"
#include "limber/model/joint.h"
#include "limber/scene/flow.h"

namespace limber::scene {

std::string law_text(const Law& law, const char* variable);
void add_extras(Flow& flow, int n, const JointExtras& extras);  // of n coordinates
std::string point_masses_text(const Body& body);
std::string matrix_text(const Mat6& A);

}  // namespace limber::scene
