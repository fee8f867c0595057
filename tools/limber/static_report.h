// report.html of an equilibrium: the shape as the load comes on, over the unloaded one, coloured by stress;
// curves against the load; reactions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "limber/chain/statics.h"
#include "limber/result/fields.h"
#include "limber/result/snapshot.h"
#include "limber/scene/scene.h"
#include "report_json.h"

namespace limber::cli {

struct LoadStep {
  double share = 0;  // of the load, 0…1
  result::Snapshot snapshot;
  result::Fields fields;
};

struct StaticReportContent {
  std::string subtitle;
  result::Layout layout;
  std::vector<LoadStep> steps;  // unloaded first, all loads last
  double force = 0;             // [N] of the only load; 0: the curve is against the share
  Json tables = Json::array();
  std::vector<std::string> warnings;
  std::vector<sim::SourceFile> sources;
};

// By method chain (static_chain_report.cpp); throws ModelError for what is no chain.
void write_chain_report(const scene::Scene& scene, double time, const chain::StaticOptions& options,
                        const std::string& file);

void write_static_report(const StaticReportContent& content, const std::filesystem::path& file);

}  // namespace limber::cli
