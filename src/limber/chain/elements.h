// A scene's beams as the published elements: straight pieces end to end, loads at their tips.
#pragma once

#include "limber/chain/sweeps.h"
#include "limber/model/model.h"

namespace limber::chain {

struct ElementModel {
  std::vector<Element> elements;  // beam after beam
  std::vector<int> tips;          // the last element of each beam
};

// Loads go to the nearest tip, weight and distributed loads half to each end of an element. Throws ModelError
// for what the sweeps cannot take: ties, springs, followers, wind, bodies between beams.
ElementModel elements_of(const Model& model, double time = 0);

}  // namespace limber::chain
