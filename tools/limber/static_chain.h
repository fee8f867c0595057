// limber static by method chain: beams as pseudo-rigid-body chains.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "limber/chain/statics.h"
#include "limber/scene/scene.h"

namespace limber::cli {

struct ChainArguments {
  chain::StaticOptions options;
  double time = 0;
  std::string write, csv;
  bool json = false, all = false;
  bool estimate = false, inverse = false, path = false;
  double error = 0;  // wanted; 0: as many elements as the scene says
  int ramp = 0;      // points of a force–deflection curve
  int branch = 0;
  double until = -1;  // [s] history
  int steps = 50;
  std::string solver = "newton";
  int increments = 1;

  bool wanted() const {  // something that only this method does
    return estimate || inverse || path || error > 0 || ramp > 0 || branch != 0 || until > 0 ||
           solver != "newton";
  }
};

void add_chain_options(CLI::App& sub, ChainArguments& a);
// Throws ModelError for scenes that are no chains. Returns the exit code.
int static_chain(const scene::Scene& scene, const ChainArguments& a);

}  // namespace limber::cli
