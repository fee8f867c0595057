// Physical dimensions and unit names: "mm", "kg/m3", "N*m/rad", "N m s".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace limber::scene {

// Exponents of metre, kilogram, second and radian. The radian is a name more than a dimension: N·m and
// N·m/rad agree, but an angle is no length and no pure number.
struct Dimension {
  double m = 0, kg = 0, s = 0, rad = 0;

  bool is_number() const { return m == 0 && kg == 0 && s == 0 && rad == 0; }
  bool operator==(const Dimension&) const = default;
};
Dimension operator*(const Dimension& a, const Dimension& b);
Dimension operator/(const Dimension& a, const Dimension& b);
Dimension power(const Dimension& a, double exponent);
bool agree(const Dimension& a, const Dimension& b);  // equal up to radians

namespace dimension {
inline constexpr Dimension number{}, length{1, 0, 0, 0}, area{2, 0, 0, 0}, mass{0, 1, 0, 0}, time{0, 0, 1, 0},
    angle{0, 0, 0, 1}, velocity{1, 0, -1, 0}, angular_velocity{0, 0, -1, 1}, acceleration{1, 0, -2, 0},
    force{1, 1, -2, 0}, torque{2, 1, -2, 0}, pressure{-1, 1, -2, 0}, density{-3, 1, 0, 0},
    first_moment{1, 1, 0, 0}, inertia{2, 1, 0, 0}, stiffness{0, 1, -2, 0}, torsional_stiffness{2, 1, -2, -1},
    damping{0, 1, -1, 0}, torsional_damping{2, 1, -1, -1}, force_per_length{0, 1, -2, 0}, rate{0, 0, -1, 0};
}  // namespace dimension

std::string name_of(const Dimension& d);     // "a length", "a time", "a pure number", else "m^2 kg/s"
std::string si_unit_of(const Dimension& d);  // "m", "N", "kg/m3"; "" for a pure number

struct Unit {
  Dimension dimension;
  double factor = 1;  // to SI
};

// One name with its prefix: "kN". Exponents and products are not looked at.
std::optional<Unit> find_unit(std::string_view name);

// A whole unit expression.
struct UnitParse {
  std::optional<Unit> unit;
  std::string_view unknown;  // the name that is no unit, a view into `text`; empty: a matter of grammar
};
UnitParse parse_unit(std::string_view text);

// The nearest unit name, for messages: "; did you mean \"mm\"?" or "".
std::string suggest_unit(std::string_view name);

std::string unit_table_markdown();

}  // namespace limber::scene
