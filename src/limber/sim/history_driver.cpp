#include "limber/sim/history_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/chain/stress.h"
#include "limber/sim/driver.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {

HistoryDriver::HistoryDriver(const Model& model) : history((refuse_without_potential(model), model)) {
  const chain::StaticReport first = history.advance_to(0);
  if (!first.report.ok()) throw StaticFailure("at 0 s: " + first.report.message);
  layout_ = history.system().layout();
  layout_.scalars.push_back({"largest_stress", "Pa"});
  layout_.scalars.push_back({"severed", ""});
}

int HistoryDriver::dof_count() const {
  const chain::Links& links = history.system().structure().links;
  return 3 * links.count() -
         2 * static_cast<int>(std::ranges::count_if(links.hinge, [](auto h) { return h != 0; }));
}

// A step that fails, or is stopped, leaves the history as it was.
result::SolveReport HistoryDriver::step(double h) {
  const std::string before = history.save();
  const double t = static_cast<double>(state.step + 1) * h;
  try {
    chain::StaticReport r = history.advance_to(t);
    r.report.time = t;
    if (r.report.ok()) return r.report;
    history.load(before);
    r.report.message = fmt::format("at {:.6g} s: {}", t, r.report.message);
    return r.report;
  } catch (...) {
    history.load(before);
    throw;
  }
}

void HistoryDriver::observe(result::Snapshot& snapshot) {
  chain::observe(history.system(), history.solver(), history.rest(), snapshot);
  double most = 0;
  for (const chain::Station& s : chain::stresses(history.system(), history.solver(), history.rest()))
    most = std::max(most, s.stress.combined);
  snapshot.scalars.push_back(most);
  snapshot.scalars.push_back(static_cast<double>(history.severed().size()));
}

bool HistoryDriver::finite() const {
  return std::ranges::all_of(history.rest().shape.theta, [](const Vec3& t) { return t.allFinite(); });
}

std::vector<Happening> HistoryDriver::happened() const {
  std::vector<Happening> out;
  for (const chain::HistoryEvent& e : history.events()) out.push_back({"history", e.time, e.time, e.text});
  return out;
}

}  // namespace limber::sim
