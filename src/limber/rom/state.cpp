#include <algorithm>
#include <cmath>
#include <limits>

#include "limber/result/state_bytes.h"
#include "limber/rom/rom.h"

namespace limber::rom {

std::string State::save() const {
  result::StateWriter out;
  out.put(t), out.put(step), out.put(q), out.put(v), out.put(impulse);
  return out.take();
}

void State::load(const std::string& bytes) {
  State copy = *this;
  result::StateReader in(bytes);
  in.get(copy.t), in.get(copy.step), in.get(copy.q), in.get(copy.v), in.get_any(copy.impulse);
  in.end();
  if (copy.step < 0 || copy.impulse.size() % impulse_width != 0) result::StateReader::out_of_range();
  for (std::size_t k = 0; k < copy.impulse.size(); k += impulse_width) {  // they become whole numbers
    const double *bodies = copy.impulse.data() + k, feature = bodies[2];
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    if (!(std::max(std::abs(bodies[0]), std::abs(bodies[1])) <= most && feature >= 0 &&
          feature <= 2 * most + 1))
      result::StateReader::out_of_range();
  }
  *this = std::move(copy);
}

}  // namespace limber::rom
