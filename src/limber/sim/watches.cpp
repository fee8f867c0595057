#include "limber/sim/watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "limber/elastic/section_constants.h"

namespace limber::sim {

namespace {

// Nothing in the model takes energy where things hit: no stop, no contact.
bool hits_nothing(const Model& model) {
  const auto limited = [](JointKind kind, const JointLaw& law) {
    for (int k = 0; k < dof_count(kind); ++k)
      if (std::isfinite(law.lower[k]) || std::isfinite(law.upper[k])) return true;
    return false;
  };
  return !model.contact() && std::none_of(model.joints().begin(), model.joints().end(), [&](const Joint& j) {
    return limited(j.kind, j.law);
  }) && std::none_of(model.loops().begin(), model.loops().end(), [&](const Loop& l) {
    return limited(l.kind, l.law);
  });
}

}  // namespace

EnergyWatch::EnergyWatch(const Model& model, const result::Layout& layout)
    : model_(model), keeps_(hits_nothing(model)) {
  for (const Beam& b : model.beams())
    stretch_ = std::max(stretch_, model[b.material].E * elastic::section_constants(model[b.section].shape).A);
  for (std::size_t i = 0; i < layout.scalars.size(); ++i) {
    const std::string& name = layout.scalars[i].name;
    if (name == "energy.remainder")
      remainder_ = static_cast<int>(i);
    else if (name == "energy.dissipated")
      dissipated_ = static_cast<int>(i);
    else if (name == "energy.kinetic" || name == "energy.gravity" || name == "energy.elastic")
      columns_.push_back({static_cast<int>(i)});
  }
}

void EnergyWatch::look(const result::Snapshot& s) {
  for (Column& c : columns_)
    c.low = std::min(c.low, s.scalars[c.at]), c.high = std::max(c.high, s.scalars[c.at]);
  if (remainder_ >= 0 && std::abs(s.scalars[remainder_]) > std::abs(worst_)) worst_ = s.scalars[remainder_];
  // Rounding of places is work of the loads.
  double force = 0;
  for (const PointLoad& l : model_.point_loads()) force += l.force.value(s.time).norm();
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) low_ = low_.cwiseMin(p), high_ = high_.cwiseMax(p);
  if (force > 0) rounding_ = std::max(rounding_, 1e-13 * force * (high_ - low_).norm());
  // And strain of what is stiff: places hold to 1e-13 of the size.
  if (stretch_ > 0) rounding_ = std::max(rounding_, 1e-26 * stretch_ * (high_ - low_).norm());
  if (dissipated_ >= 0) keeps_ = keeps_ && s.scalars[dissipated_] == 0;
}

std::string EnergyWatch::verdict() const {
  constexpr double much = 0.05;
  constexpr double least = 4e-21;    // [J] of a molecule at room temperature: what is below it is rounding
  constexpr double rounding = 1e-9;  // of the energies themselves: iterations and closed loops end near it
  double largest = 0, size = 0;
  for (const Column& c : columns_) {
    largest = std::max(largest, c.high - c.low);
    size = std::max({size, std::abs(c.high), std::abs(c.low)});
  }
  if (remainder_ < 0 || !(std::abs(worst_) > std::max({least, much * largest, rounding * size, rounding_})))
    return "";
  return fmt::format(
      "the integrator itself {} {:.3g} J, {:.0f} % of the largest change of an energy{}: a shorter step or "
      "another integrator {} less",
      worst_ > 0 ? "made" : "lost", std::abs(worst_), 100 * std::abs(worst_) / largest,
      keeps_ ? ", and nothing here takes or makes any" : "", worst_ > 0 ? "makes" : "loses");
}

GapWatch::GapWatch(const result::Layout& layout, double allowed) : allowed_(allowed) {
  for (std::size_t i = 0; i < layout.scalars.size(); ++i) {
    const std::string& name = layout.scalars[i].name;
    if (name.starts_with("rom.") && name.ends_with(".gap")) columns_.push_back(static_cast<int>(i));
    if (name == "rom.gap") columns_ = {static_cast<int>(i)};
  }
}

void GapWatch::look(const result::Snapshot& s) {
  for (const int i : columns_) {
    if (s.scalars[i] > allowed_ && first_ < 0) first_ = s.time;
    largest_ = std::max(largest_, s.scalars[i]);
  }
}

std::string GapWatch::verdict() const {
  if (first_ < 0) return "";
  return fmt::format(
      "from t = {:.3g} s on the joints of the reduced model come apart by up to {:.2g} of its radius in sum, "
      "and {:.2g} is "
      "allowed (gap_error): it is far from its linearisation points, which should be more or others",
      first_, largest_, allowed_);
}

}  // namespace limber::sim
