// The folder of a run: who may use it, and the scene files in it.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "limber/sim/run.h"

namespace limber::sim {

bool holds_run(const std::filesystem::path& folder);  // there is a run.json of ours

// A new run's folder, locked: made if it does not exist. One that holds anything but the leftovers of a run
// that never began is refused (std::invalid_argument), unless force: then a run in it is removed, other files
// stay.
std::unique_ptr<RunLock> prepare_folder(const std::filesystem::path& folder, bool force);

// Removes what a run that cannot begin has written, and the folder itself if it was made for it.
void abandon(const std::filesystem::path& folder, std::unique_ptr<RunLock> lock, bool and_folder);

// folder, folder-2, folder-3, …: the first that does not exist, now made.
std::filesystem::path claim_free_name(const std::filesystem::path& folder);

bool stays_inside(const std::filesystem::path& path);  // relative, and never above its folder

// DIR/scene. Throws std::invalid_argument for a path that leaves the folder.
void write_sources(const std::filesystem::path& folder, const std::vector<SourceFile>& sources);

// What a killed writer left under a temporary name.
void remove_temporary_files(const std::filesystem::path& folder);

}  // namespace limber::sim
