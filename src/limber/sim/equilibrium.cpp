#include "limber/sim/equilibrium.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/sim/closing.h"
#include "limber/sim/methods.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

constexpr std::size_t most_dofs = 6'000'000;  // beyond it no more elements are tried for a wanted error

bool does(const MethodInfo& method, StaticJob job) {
  return method.statics && std::find(method.statics->jobs.begin(), method.statics->jobs.end(), job) !=
                               method.statics->jobs.end();
}

const MethodInfo& first_that_does(StaticJob job) {
  if (const MethodInfo& chain = info_of(Method::chain); does(chain, job)) return chain;
  const auto table = method_table();
  return *std::find_if(table.begin(), table.end(), [&](const MethodInfo& m) { return does(m, job); });
}

std::span<const Vec3> line_points(const result::Layout& layout, const result::Snapshot& s,
                                  const std::string& name) {
  std::size_t first = 0;
  for (const auto& line : layout.polylines) {
    const auto n = static_cast<std::size_t>(line.points);
    if (line.name == name) return {s.points.data() + first, n};
    first += n;
  }
  return {};
}

double diagonal_of(const result::Snapshot& s) {
  Vec3 low = Vec3::Constant(INFINITY), high = -low;
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) low = low.cwiseMin(p), high = high.cwiseMax(p);
  return std::max(1e-300, (high - low).norm());
}

// Richardson, for elements of second order: error(n) − error(2n) = ¾ error(n); from above for better ones.
// Compared are the nodes that both lines have, and the tips.
chain::ErrorEstimate estimate_by_doubling(const MethodInfo& method, const Model& model, const RunOptions& run,
                                          StaticOptions options, const Equilibrium& e) {
  chain::ErrorEstimate out;
  options.estimate = false, options.error = 0;
  if (method.statics->modes) options.modes = 0;
  const Equilibrium fine = method.statics->find(with_twice_the_elements(model), run, options);
  if (!fine.ok()) return out;
  for (const Beam& beam : model.beams()) {
    const auto a = line_points(e.layout, e.after, beam.name),
               b = line_points(fine.layout, fine.after, beam.name);
    if (a.size() < 2 || b.size() < 2) return out;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i * (b.size() - 1) % (a.size() - 1) != 0) continue;
      const double d = (a[i] - b[i * (b.size() - 1) / (a.size() - 1)]).norm();
      if (d > out.largest) out.largest = d, out.where = beam.name;
      if (i + 1 == a.size()) out.tip = std::max(out.tip, d);
    }
  }
  const double whole = 4.0 / 3 / diagonal_of(e.before);
  out.largest *= whole, out.tip *= whole;
  out.ok = true;
  return out;
}

void warn(const Model& model, Question question, Equilibrium& e) {
  if (!e.ok()) return;
  if (!e.report.warning.empty()) e.warnings.push_back(e.report.warning);
  for (std::string& text : static_notes(model, question)) e.warnings.push_back(std::move(text));
  if (e.stability.least_pivot && *e.stability.least_pivot < 1e-6)
    e.warnings.push_back(
        fmt::format("a pivot is {:.1e} of its size: at or near a limit point", *e.stability.least_pivot));
  for (const chain::RangeWarning& w : e.out_of_range)
    e.warnings.push_back(fmt::format("beam \"{}\", element {}: {}", w.beam, w.element, w.why));
}

bool asks_closing_reactions(const Model& model) {
  return std::ranges::any_of(model.probes(), [](const Probe& p) {
    return p.told() == Told::closing_reaction || p.told() == Told::tie_reaction;
  });
}

}  // namespace

void refuse_estimate(const Model& model, const StaticOptions& options) {
  if (model.beams().empty())
    throw std::invalid_argument("estimate: there is no beam whose elements could be made smaller");
  refuse_past(model, options.time, "an estimate of the error");
}

Model with_twice_the_elements(const Model& model) {
  ModelParts parts = chain::refined(model, 2).parts();
  for (Beam& beam : parts.beams)  // the published 3R approaches another rod than the given one
    if (beam.recipe == Recipe::published_3r) beam.recipe = Recipe::consistent_3r;
  return Model(std::move(parts));
}

std::vector<std::string> static_notes(const Model& model, Question question) {
  std::vector<std::string> out;
  for (const Problem& p : not_looked_at(model, question)) out.push_back(to_string(p));
  for (std::string& text : closing_notes(model)) out.push_back(std::move(text));
  return out;
}

const char* to_string(StaticJob job) {
  constexpr const char* names[] = {"rest", "ramp", "path", "history", "inverse", "sweeps"};
  return names[static_cast<int>(job)];
}

const MethodInfo& require_job(const MethodInfo& method, StaticJob job, const StaticOptions& options) {
  if (!does(method, job))
    throw std::invalid_argument(fmt::format("method {} knows no {}: method {} does", method.name(),
                                            to_string(job), first_that_does(job).name()));
  if (options.modes && (!method.statics->modes || job != StaticJob::rest))
    throw std::invalid_argument(fmt::format("modes: found of a rest by method articulated, not of a {} by {}",
                                            to_string(job), method.name()));
  return method;
}

const MethodInfo& static_method(const Model& model, const RunOptions& run, const StaticOptions& options,
                                StaticJob job) {
  if (options.method) return require_job(info_of(*options.method), job, options);
  const MethodInfo& own = info_of(rest_method(model, run));
  return require_job(does(own, job) ? own : first_that_does(job), job, options);
}

const MethodInfo& chain_method(StaticJob job, const StaticOptions& options) {
  return require_job(info_of(options.method.value_or(Method::chain)), job, options);
}

Equilibrium find_equilibrium(const Model& model, const RunOptions& run, const StaticOptions& options) {
  const MethodInfo& method = static_method(model, run, options);
  const bool estimates = options.estimate || options.error > 0;
  if (estimates) refuse_estimate(model, options);
  for (double factor = 1;; factor *= 2) {
    const Model refined = factor == 1 ? model : chain::refined(model, factor);
    Equilibrium e = method.statics->find(refined, run, options);
    e.refinement = factor;
    if (e.ok() && estimates && !e.error.ok && method.method != Method::chain)
      e.error = estimate_by_doubling(method, refined, run, options, e);
    if (e.ok() && estimates && !e.error.ok)
      e.warnings.emplace_back("the error is not known: no equilibrium with twice as many elements");
    const bool done = !e.ok() || options.error <= 0 || (e.error.ok && e.error.largest <= options.error);
    if (!done && e.dofs <= most_dofs) continue;
    if (!done) {
      e.report.status = result::Status::not_converged;
      e.report.message =
          fmt::format("the wanted error is out of reach: {:.1e} with {} freedoms", e.error.largest, e.dofs);
    }
    warn(refined, *method.rest, e);
    if (e.redundant_rows > 0 && asks_closing_reactions(model))
      e.warnings.emplace_back(
          "loops or ties have dependent constraints: their reactions are some of many that are possible");
    return e;
  }
}

const SectionForce* BeamRest::worst() const {
  const auto most = std::max_element(
      sections.begin(), sections.end(),
      [](const SectionForce& a, const SectionForce& b) { return a.stress.combined < b.stress.combined; });
  return most == sections.end() ? nullptr : &*most;
}

SectionForces::SectionForces(const Model& model) : model_(model) {
  for (const Beam& beam : model.beams())
    constants_.push_back(elastic::section_constants(model[beam.section].shape));
}

SectionForce SectionForces::at(int beam, double s, const Vec3& force, const Vec3& moment) const {
  const Beam& b = model_.beams()[beam];
  const Material& material = model_[b.material];
  SectionForce out;
  out.s = s, out.force = force, out.moment = moment;
  out.stress = chain::section_stress(model_[b.section].shape, constants_[beam], force.x(), moment.x(),
                                     moment.y(), moment.z());
  out.safety = out.stress.combined > 0 ? material.yield / out.stress.combined : INFINITY;
  out.yields = out.stress.combined > material.yield;
  out.breaks = out.stress.combined > material.strength;
  return out;
}

}  // namespace limber::sim
