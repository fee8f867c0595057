#include "limber/scene/write_laws.h"

#include <algorithm>

#include "limber/scene/expression.h"
#include "limber/scene/write_text.h"

namespace limber::scene {

std::string law_text(const Law& law, const char* variable) {
  if (!law) return "0";
  if (!law.is_table()) return text_scalar(program_text(law.program(), variable));
  std::string rows;
  for (std::size_t i = 0; i < law.points().size(); ++i)
    rows += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", number(law.points()[i]), number(law.values()[i]));
  return Flow().add("table", "[" + rows + "]").add_if(law.is_periodic(), "periodic", "true").str();
}

namespace {

void add_laws(Flow& flow, const char* key, const std::array<Law, 6>& laws, int n, const char* variable) {
  if (std::none_of(laws.begin(), laws.begin() + n, [](const Law& l) { return static_cast<bool>(l); })) return;
  std::string text;
  for (int i = 0; i < n; ++i) text += (i == 0 ? "" : ", ") + law_text(laws[i], variable);
  flow.add(key, "[" + text + "]");
}

}  // namespace

void add_extras(Flow& flow, int n, const JointExtras& e) {
  add_laws(flow, "spring_force", e.spring, n, "x");
  add_laws(flow, "damping_force", e.damper, n, "v");
  const auto any = [&](const DofArray& a) {
    return std::any_of(a.begin(), a.begin() + n, [](double x) { return x != 0; });
  };
  flow.add_if(any(e.preload), "preload", list(e.preload, n));
  flow.add_if(any(e.stop_stiffness), "stop_stiffness", list(e.stop_stiffness, n));
  flow.add_if(any(e.stop_damping), "stop_damping", list(e.stop_damping, n));
  flow.add_if(any(e.friction_static), "friction",
              Flow()
                  .add("static", list(e.friction_static, n))
                  .add("dynamic", list(e.friction_dynamic, n))
                  .add("velocity", list(e.friction_velocity, n))
                  .str());
}

std::string point_masses_text(const Body& body) {
  std::string out;
  for (const PointMass& p : body.point_masses)
    out += (out.empty() ? "" : ", ") + Flow()
                                           .add_if(!p.name.empty(), "name", text_scalar(p.name))
                                           .add("mass", number(p.mass))
                                           .add("at", list(p.p, 3))
                                           .str();
  return "[" + out + "]";
}

std::string matrix_text(const Mat6& A) {
  std::string rows;
  for (int i = 0; i < 6; ++i) rows += (i == 0 ? "" : ", ") + list(Vec6(A.row(i)), 6);
  return "[" + rows + "]";
}

}  // namespace limber::scene
