// A scene with contact in the default method, stepped or brought to rest by hand.
#pragma once

#include <fmt/format.h>

#include <cmath>

#include "limber/articulated/statics.h"
#include "limber/articulated/system.h"
#include "limber/scene/scene.h"
#include "tests/support/reference.h"

namespace limber::testing {

inline constexpr double g = 9.81;

struct World {
  explicit World(const std::string& text, articulated::Integrator by = articulated::Integrator::midpoint)
      : scene(scene::parse("limber: 1\n" + text, "contact.yaml", ".")),
        system(articulated::compile(scene.model, {.integrator = by})),
        state(system.rest()),
        w(system) {}

  void run(double until, double h) {
    while (state.t < until - h / 2) {
      const auto report = articulated::step(system, state, w, h);
      ASSERT_TRUE(report.ok()) << report.message;
    }
  }
  int link(const std::string& name) const {
    const auto& bodies = system.model().bodies();
    for (std::size_t i = 0; i < bodies.size(); ++i)
      if (bodies[i].name == name) return static_cast<int>(i);
    ADD_FAILURE() << name;
    return 0;
  }
  Pose pose(const std::string& name) {
    articulated::energy(system, state, w);  // places the links
    return w.data().links[link(name)].X_WM * system.data().tree[link(name)].X_MB;
  }
  Vec3 centre(const std::string& name) {  // of mass
    articulated::energy(system, state, w);
    return w.data().links[link(name)].X_WM * system.data().tree[link(name)].inertia.com();
  }
  Vec3 velocity(const std::string& name) {
    const Pose X = pose(name);
    const auto& m = w.data().links[link(name)];
    return m.X_WM.R * m.V.tail<3>() + (m.X_WM.R * m.V.head<3>()).cross(X.p - m.X_WM.p);
  }
  double energy() { return articulated::energy(system, state, w).total(); }

  scene::Scene scene;
  articulated::System system;
  articulated::State state;
  articulated::Workspace w;
};

// The world turned so that z is the plane's normal.
inline std::string on_slope(double degrees, double friction, const std::string& body) {
  const double a = degrees * pi / 180;
  return fmt::format(
      "gravity: [{:.17g}, 0, {:.17g}]\nbodies:\n  it: {{{}}}\n"
      "contact: {{friction: {}, planes: [{{at: [0, 0, 0]}}]}}\n",
      g * std::sin(a), -g * std::cos(a), body, friction);
}

}  // namespace limber::testing
