// limber static --method thread.
#pragma once

#include <string>

#include "limber/scene/scene.h"

namespace limber::cli {

struct ThreadStaticArguments {
  double at = 0;  // [s]
  int load_steps = 1;
  bool json = false, all = false;
  std::string write;
};

// Finds the rest of a scene's threads, prints it and returns the exit code.
int solve_threads(const scene::Scene& scene, const ThreadStaticArguments& arguments);

}  // namespace limber::cli
