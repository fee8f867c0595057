// What `limber static` found, as JSON: the same keys whatever method found it.
#pragma once

#include <nlohmann/json.hpp>

#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"

namespace limber::cli {

nlohmann::ordered_json to_json(const sim::Equilibrium& e);
nlohmann::ordered_json to_json(const sim::StaticCurve& curve);
nlohmann::ordered_json to_json(const sim::UnloadedShape& shape);
nlohmann::ordered_json to_json(const sim::SweepResult& result);

}  // namespace limber::cli
