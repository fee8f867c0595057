#include "limber/articulated/touches.h"

#include "limber/articulated/system.h"

namespace limber::articulated {

std::vector<TouchReaction> touches(const System& system, const State& state) {
  const SystemData& s = system.data();
  std::vector<TouchReaction> out;
  for (std::size_t k = 0; k + State::touching_width <= state.touching.size(); k += State::touching_width) {
    const double* x = state.touching.data() + k;
    out.push_back({s.contacts.name_of(s.model, static_cast<int>(x[0])),
                   s.contacts.name_of(s.model, static_cast<int>(x[1])), Vec3(x[3], x[4], x[5]),
                   Vec3(x[6], x[7], x[8]), Vec3(x[9], x[10], x[11])});
  }
  return out;
}

}  // namespace limber::articulated
