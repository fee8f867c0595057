// Options of a run name their units; scenes and the command line check dimensions.
#pragma once

#include "limber/scene/units.h"
#include "limber/sim/option.h"

namespace limber::scene {

Dimension dimension_of(const sim::OptionInfo& option);

}  // namespace limber::scene
