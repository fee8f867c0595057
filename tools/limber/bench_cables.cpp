// Suite `cables`: a linkage of 1,000 bodies with 100 cables over 10 guides each beside the same without, and
// one cable over more and more guides. CPU time of a step; what a step allocates.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocations.h"
#include "bench.h"
#include "bench_timing.h"
#include "limber/articulated/articulated.h"
#include "limber/scene/scene.h"

namespace limber::cli {
namespace {

constexpr double time_step = 2e-3;

// Sprung links in a row; ties: springs between every link and the one after next, as in a braced boom.
std::string boom(int links, bool braced) {
  std::string text = fmt::format(
      "limber: 1\nlinkages:\n  boom: {{links: {}, length: 0.1, joint: spherical, stiffness: 20, damping: "
      "0.02, "
      "radius: 0.02}}\n",
      links);
  if (!braced) return text;
  text += "springs:\n";
  for (int k = 0; k + 2 < links; ++k)
    text += fmt::format(
        "  s{0}: {{between: [{{on: boom.{0}, at: [0, 0, 0.03]}}, {{on: boom.{1}, at: [0, 0, 0.03]}}], "
        "stiffness: "
        "2000}}\n",
        k, k + 2);
  return text;
}

// Cables one after the other, each over its own links.
std::string cables_of(int count, int guides) {
  std::string text = "cables:\n";
  for (int c = 0; c < count; ++c) {
    text += fmt::format("  c{}:\n    EA: 1e3\n    pretension: 0.5\n    route:\n", c);
    for (int k = 0; k < guides; ++k)
      text += fmt::format("      - {{on: boom.{}, at: [0.05, 0, 0.03]}}\n", guides * c + k);
  }
  return text;
}

struct Stepped {
  double seconds = 0, allocations = 0;
};

Stepped stepped(const std::string& text, int steps,
                articulated::Integrator by = articulated::Integrator::euler) {
  const scene::Scene s = scene::parse(text, "bench.yaml", ".");
  const articulated::System system = articulated::compile(s.model, {.integrator = by, .cpu_threads = 1});
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  const auto one = [&] {
    const auto report = articulated::step(system, state, w, time_step);
    if (!report.ok()) throw std::runtime_error("bench cables: " + report.message);
  };
  for (int i = 0; i < 5; ++i) one();
  Stepped out{1e9, 0};
  for (int batch = 0; batch < 3; ++batch) {
    const auto before = allocation_count();
    const auto begin = CpuClock::now();
    for (int i = 0; i < steps; ++i) one();
    out.seconds = std::min(out.seconds, seconds_since(begin) / steps);
    out.allocations = static_cast<double>(allocation_count() - before) / steps;
  }
  return out;
}

}  // namespace

std::vector<Figure> bench_cables(bool full) {
  std::vector<Figure> out;
  const int steps = full ? 100 : 30;
  double allocations = 0;
  for (const bool braced : {true, false}) {
    const Stepped free = stepped(boom(1000, braced), steps),
                  tied = stepped(boom(1000, braced) + cables_of(100, 10), steps);
    allocations = std::max(allocations, tied.allocations);
    const char* of = braced ? "braced linkage, one solve a step" : "open linkage, one solve a step";
    out.push_back({braced ? "cables_free_ms" : "cables_free_open_ms", 1e3 * free.seconds, "ms", of, 0});
    out.push_back({braced ? "cables_over_free" : "cables_over_free_open", tied.seconds / free.seconds, "",
                   "100 cables over 10 guides each", 0});
  }
  const auto by = articulated::Integrator::midpoint;
  out.push_back({"cables_over_free_midpoint",
                 stepped(boom(1000, true) + cables_of(100, 10), steps, by).seconds /
                     stepped(boom(1000, true), steps, by).seconds,
                 "", "braced, with more iterations a step", 0});
  std::vector<std::pair<int, double>> points;
  for (const int guides : full ? std::vector<int>{10, 30, 100, 300, 1000} : std::vector<int>{30, 100, 300}) {
    const Stepped one = stepped(boom(guides, false) + cables_of(1, guides), steps);
    allocations = std::max(allocations, one.allocations);
    points.emplace_back(guides, one.seconds);
    out.push_back(
        {fmt::format("cables_guides_{}_us", guides), 1e6 * one.seconds, "us", "one cable over all links", 0});
  }
  out.push_back(
      {"cables_guides_exponent", growth_exponent(points), "", "of the time a step over the guides", 0});
  out.push_back({"cables_allocations", allocations, "1/step", "", 0});
  return out;
}

}  // namespace limber::cli
