#include "limber/articulated/touches.h"

#include "limber/articulated/system.h"

namespace limber::articulated {

std::vector<TouchReaction> touch_reactions(const SystemData& s, const std::vector<double>& touching) {
  std::vector<TouchReaction> out;
  for (std::size_t k = 0; k < touching.size(); k += State::touching_width) {
    const double* x = touching.data() + k;
    const auto name = [&](int side) { return s.contacts.name_of(s.model, static_cast<int>(x[side])); };
    out.push_back(
        {name(0), name(1), Vec3(x[3], x[4], x[5]), Vec3(x[6], x[7], x[8]), Vec3(x[9], x[10], x[11])});
  }
  return out;
}

std::vector<TouchReaction> touches(const System& system, const State& state) {
  return touch_reactions(system.data(), state.touching);
}

}  // namespace limber::articulated
