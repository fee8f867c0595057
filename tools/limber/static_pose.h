// The pose of a rest, or an unloaded shape, for other programs.
#pragma once

#include <filesystem>

#include "limber/result/fields.h"
#include "limber/result/snapshot.h"

namespace limber::cli {

// FOLDER/pose.glb, pose.vtp and nodes.csv: every point of every line, where it is and where it was, with the
// fields that points have. Throws result::IoError where one of them is there already and not to be replaced.
void write_pose(const result::Layout& layout, const result::Snapshot& at, const result::Snapshot& was,
                const result::Fields& fields, const std::filesystem::path& folder, bool replace);

}  // namespace limber::cli
