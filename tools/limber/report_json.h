// Parts that all reports share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limber/sim/run.h"

namespace limber::cli {

using Json = nlohmann::ordered_json;

Json report_table(const std::string& title, const Json& head, const Json& rows, const std::string& note = "");
Json report_sources(const std::vector<sim::SourceFile>& sources);
// The object for the page; `recordings` are put in as they are: `"recording": …` with its comma.
std::string join_report(const Json& head, const std::string& recording_json);

}  // namespace limber::cli
