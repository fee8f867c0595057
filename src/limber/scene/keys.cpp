#include "limber/scene/keys.h"

#include <cassert>

namespace limber::scene {

Key Key::with(const Range& r) const {
  Key key = *this;
  key.range = r;
  return key;
}
Key Key::needed() const {
  Key key = *this;
  key.required = true;
  return key;
}
Key Key::otherwise(std::string text) const {
  Key key = *this;
  key.fallback = std::move(text);
  return key;
}
Key Key::like(const char* text) const {
  Key key = *this;
  key.example = text;
  return key;
}

const Object& object_of(ObjectType type) {
  static const auto index = [] {
    std::vector<const Object*> list;
    for (const Object& object : key_table()) {
      const auto i = static_cast<std::size_t>(object.type);
      if (list.size() <= i) list.resize(i + 1);
      list[i] = &object;
    }
    return list;
  }();
  const Object* object = index[static_cast<std::size_t>(type)];
  assert(object);
  return *object;
}

const Key* find_key(const Object& object, std::string_view name) {
  for (const Key& key : object.keys)
    if (name == key.name) return &key;
  return nullptr;
}

std::vector<std::string_view> split_choices(const Key& key) {
  std::vector<std::string_view> list;
  std::string_view rest = key.choices;
  while (!rest.empty()) {
    const std::size_t n = rest.find(' ');
    list.push_back(rest.substr(0, n));
    rest.remove_prefix(n == std::string_view::npos ? rest.size() : n + 1);
  }
  return list;
}

Dimension dof_dimension(Role role, bool rotational) {
  using namespace dimension;
  switch (role) {
    case Role::coordinate:
      return rotational ? angle : length;
    case Role::rate:
      return rotational ? angular_velocity : velocity;
    case Role::stiffness:
      return rotational ? torsional_stiffness : stiffness;
    case Role::damping:
      return rotational ? torsional_damping : damping;
    case Role::force:
      return rotational ? torque : force;
    case Role::none:
      return number;
  }
  return number;
}

}  // namespace limber::scene
