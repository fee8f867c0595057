#include "limber/sim/static_inverse.h"

#include <fmt/format.h>

#include <algorithm>

#include "limber/chain/elements.h"
#include "limber/chain/inverse.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

chain::SweepAlgorithm algorithm_of(const std::string& name) {
  for (const auto a :
       {chain::SweepAlgorithm::quadratic, chain::SweepAlgorithm::linear_16, chain::SweepAlgorithm::linear_12})
    if (name == chain::to_string(a)) return a;
  throw std::invalid_argument(
      fmt::format("solver: expected quadratic, linear_16 or linear_12, got {}", name));
}

}  // namespace

UnloadedShape unloaded_shape(const Model& model, const StaticOptions& options) {
  chain_method(StaticJob::inverse, options);
  refuse_past(model, options.time, "an unloaded shape");
  refuse_without_potential(model);
  chain::Options how;
  how.time = options.time;
  chain::System system = chain::compile(model, how);
  if (!system.structure().closures.empty())
    throw ModelError(
        {{"tie", system.structure().closures[0].name, "",
          "what it carries does not follow from the shape: --inverse is for trees held by their roots"}});
  UnloadedShape out;
  out.layout = system.layout();
  for (const elastic::BeamTrace& trace : system.traces()) out.s.push_back(trace.s);
  chain::Solver given(system.structure());
  result::Snapshot wanted;
  chain::observe(system, given, system.rest(), wanted);
  system.structure() = chain::unloaded(system.structure());
  chain::Solver solver(system.structure());
  chain::Rest rest = system.rest();
  chain::observe(system, solver, rest, out.unloaded);
  const chain::StaticReport r = solver.solve(rest, 1, chain_options(options));
  out.report = r.report;
  out.stable = r.stable();
  for (const Problem& p : not_looked_at(model, Question::chain_static)) out.warnings.push_back(to_string(p));
  if (!out.ok()) return out;
  chain::observe(system, solver, rest, out.loaded);
  for (std::size_t i = 0; i < wanted.points.size(); ++i)
    out.off = std::max(out.off, (wanted.points[i] - out.loaded.points[i]).norm());
  out.off /= system.structure().size;
  if (!out.stable) out.warnings.emplace_back("the given shape is not stable under these loads");
  return out;
}

SweepResult published_sweeps(const Model& model, const std::string& algorithm, int increments, double time) {
  refuse_past(model, time, "a published sweep");
  SweepResult out;
  out.algorithm = algorithm_of(algorithm);
  const chain::ElementModel m = chain::elements_of(model, time);
  chain::Sweeper sweeper(m.elements);
  chain::SweepOptions options;
  options.algorithm = out.algorithm;
  options.load_increments = increments;
  out.report = sweeper.solve(options);
  for (std::size_t b = 0; b < m.tips.size(); ++b)
    out.tips.push_back({model.beams()[b].name, sweeper.tip(m.tips[b])});
  for (const Problem& p : not_looked_at(model, Question::chain_static)) out.warnings.push_back(to_string(p));
  return out;
}

std::vector<Statement> describe(const UnloadedShape& shape) {
  std::vector<Statement> out{{"method", "chain"}};
  if (shape.ok())
    out.push_back(
        {"inverse", fmt::format("loaded again it is off the given shape by {:.1e} of its size", shape.off)});
  else
    out.push_back({"inverse", "the unloaded shape was found, but it does not come back under load: " +
                                  shape.report.message});
  for (const std::string& warning : shape.warnings) out.push_back({"warning", warning});
  return out;
}

std::vector<Statement> describe(const SweepResult& result) {
  std::vector<Statement> out{
      {"method", fmt::format("chain, published sweeps {}", chain::to_string(result.algorithm))},
      {"equilibrium", fmt::format("{} sweeps, {:.1e} of the acting moments left over", result.report.sweeps,
                                  result.report.residual)}};
  for (const std::string& warning : result.warnings) out.push_back({"warning", warning});
  return out;
}

}  // namespace limber::sim
