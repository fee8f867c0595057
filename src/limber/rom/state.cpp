#include "limber/result/state_bytes.h"
#include "limber/rom/rom.h"

namespace limber::rom {

std::string State::save() const {
  result::StateWriter out;
  out.put(t), out.put(step), out.put(q), out.put(v), out.put(impulse);
  return out.take();
}

void State::load(const std::string& bytes) {
  result::StateReader in(bytes);
  in.get(t), in.get(step), in.get(q), in.get(v), in.get_any(impulse);
  in.end();
}

}  // namespace limber::rom
