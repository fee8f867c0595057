// report.html of a run folder: what viewer/src/report.ts shows. The same run gives the same bytes: no wall
// clock in it.
#pragma once

#include <filesystem>

namespace limber::cli {

// Throws result::IoError.
void write_run_report(const std::filesystem::path& folder, const std::filesystem::path& file);

}  // namespace limber::cli
