// report.html of what `limber static` found: the shape over the unloaded one as the load comes on, along a
// path or in the course of time, coloured by stress; curves; reactions.
#pragma once

#include <filesystem>

#include "limber/scene/scene.h"
#include "limber/sim/static_curve.h"
#include "limber/sim/static_inverse.h"

namespace limber::cli {

// `way`: how it is come to (sim::way_to_rest); the equilibrium itself is its end.
void write_static_report(const scene::Scene& scene, const sim::Equilibrium& e, const sim::StaticCurve& way,
                         const std::filesystem::path& file);
void write_static_report(const scene::Scene& scene, const sim::StaticCurve& curve,
                         const std::filesystem::path& file);
void write_static_report(const scene::Scene& scene, const sim::UnloadedShape& shape,
                         const std::filesystem::path& file);

}  // namespace limber::cli
