// A simulation from the command line, from the first step to the exported files and the summary.
#pragma once

#include <string>
#include <vector>

#include "limber/sim/run.h"

namespace limber::cli {

struct SessionOptions {
  bool quiet = false, json = false;
};

// The files that are made from `frames` when a run ends.
std::vector<std::string> export_files(bool glb, bool vtk, bool report);
// False when a signal came in between.
bool make_exports(const std::filesystem::path& folder, const std::vector<std::string>& files,
                  bool only_missing, bool quiet);

// Runs or resumes, exports, prints; returns the exit code. Fills in the request's callbacks.
int run_session(const Model& model, sim::RunRequest request, const SessionOptions& options);

}  // namespace limber::cli
