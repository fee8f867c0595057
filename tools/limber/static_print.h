// What `limber static` found, for people and for spreadsheets.
#pragma once

#include <string>

#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"

namespace limber::cli {

// Statements of what was found, then tables. Without `all` the first of each.
std::string static_text(const Model& model, const sim::Equilibrium& e, bool all);
std::string static_text(const Model& model, const sim::SweepResult& result);
// "  stability    stable" a line.
std::string static_text(const std::vector<sim::Statement>& statements);

std::string to_csv(const sim::StaticCurve& curve);
std::string to_csv(const sim::UnloadedShape& shape);

}  // namespace limber::cli
