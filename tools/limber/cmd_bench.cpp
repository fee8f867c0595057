// limber bench: how fast this machine runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "app.h"
#include "bench.h"
#include "errors.h"
#include "limber/scene/suggest.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct BenchArguments {
  std::string suite;
  bool list = false, json = false, full = false;
};

const Suite& find_suite(const std::string& name) {
  scene::Suggestion suggestion(name);
  for (const Suite& suite : suites()) {
    if (name == suite.name) return suite;
    suggestion.offer(suite.name);
  }
  throw UsageError(fmt::format("no suite \"{}\"{}", name, suggestion.text()));
}

std::string table(const std::vector<Figure>& figures) {
  Rows rows;
  for (const Figure& f : figures)
    rows.emplace_back(f.key, fmt::format("{:>10.4g} {:<8}{:<8}{}{}", f.value, f.unit,
                                         f.spread > 0 ? fmt::format("+{:.0f} %", 100 * f.spread) : "",
                                         f.baseline.empty() ? "" : "  ", f.baseline));
  return format_rows(rows);
}

int bench(const BenchArguments& a) {
  if (a.list) {
    Rows rows;
    for (const Suite& suite : suites()) rows.emplace_back(suite.name, suite.about);
    out(format_rows(rows, ""));
    return ExitCode::done;
  }
  std::vector<const Suite*> chosen;
  if (a.suite.empty())
    for (const Suite& suite : suites()) chosen.push_back(&suite);
  else
    chosen.push_back(&find_suite(a.suite));
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Suite* suite : chosen) {
    const std::vector<Figure> figures = suite->run(a.full);
    for (const Figure& f : figures) {
      json[f.key] = f.value;
      if (f.spread > 0) json[f.key + "_spread"] = f.spread;
    }
    if (!a.json) out(fmt::format("{}\n{}", suite->name, table(figures)));
  }
  if (a.json) out(json.dump(2) + "\n");
  return ExitCode::done;
}

}  // namespace

void add_bench(CLI::App& app, int& code) {
  auto a = std::make_shared<BenchArguments>();
  CLI::App* sub = app.add_subcommand("bench", "measure how fast this machine runs it");
  sub->add_option("suite", a->suite, "suite to run (default: all)");
  sub->add_flag("--list", a->list, "only list the suites");
  sub->add_flag("--json", a->json, "one flat JSON object of named figures on stdout");
  sub->add_flag("--full", a->full, "all sizes, as the tables of the docs have them; minutes");
  sub->footer(
      "Times are CPU time, best of several batches; +5 %: how far the middle one is above.\nExample:\n  "
      "limber bench articulated --json");
  sub->callback([a, &code] { code = bench(*a); });
}

}  // namespace limber::cli
