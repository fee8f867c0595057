// Surfaces, contact and its pairs as a scene has them.
#pragma once

#include <string>
#include <vector>

#include "limber/model/model.h"
#include "limber/scene/flow.h"

namespace limber::scene {

void add_terms(Flow& flow, const TouchTerms& terms);
std::string surface_names(const Model& model, const std::vector<int>& kinds);
std::string surface_name(const Model& model, const Surface& s);
std::string contact_text(const Model& model);  // of a model that has it

}  // namespace limber::scene
