// A scene and what `limber convert --to yaml` makes of it are the same physics: the first steps of both have
// the same bits. The long form, with scenes drawn at random, is round_trip.py.
#include <gtest/gtest.h>

#include "limber/sim/driver.h"
#include "limber/sim/equilibrium.h"
#include "limber/sim/method_table.h"
#include "limber/sim/methods.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

constexpr int steps = 3;

struct Steps {
  std::vector<std::string> names;   // of everything that is shown
  std::vector<std::string> states;  // as bytes: the start, and after each step
};

Steps first_steps(const Scene& scene) {
  sim::Driver driver(scene.model, scene.run);
  Steps out;
  for (const auto& f : driver.layout().frames) out.names.push_back(f.name);
  for (const auto& l : driver.layout().polylines) out.names.push_back(l.name);
  for (const auto& s : driver.layout().scalars) out.names.push_back(s.name + " " + s.unit);
  out.states.push_back(driver.save());
  for (int i = 0; i < steps; ++i) {
    driver.set_clock(i, i * scene.run.step);
    EXPECT_TRUE(driver.step(scene.run.step).ok());
    out.states.push_back(driver.save());
  }
  return out;
}

// Of scenes that only come to rest.
std::vector<double> rest(const Scene& scene) {
  const sim::Equilibrium found = sim::find_equilibrium(scene.model, scene.run);
  EXPECT_TRUE(found.ok()) << found.report.message;
  std::vector<double> out = found.after.scalars;
  for (const Vec3& p : found.after.points) out.insert(out.end(), p.data(), p.data() + 3);
  return out;
}

void expect_same_inertias(const Model& a, const Model& b) {
  for (std::size_t i = 0; i < a.bodies().size(); ++i) {
    const Inertia &x = a.bodies()[i].inertia, &y = b.bodies()[i].inertia;
    EXPECT_TRUE(x.m == y.m && x.h == y.h && x.I == y.I) << a.bodies()[i].name;
  }
}

TEST(RoundTrip, ShippedScenesGiveTheSameBits) {
  int runs = 0;
  for (const auto& path : shipped_scenes()) {
    SCOPED_TRACE(path);
    const Scene scene = parse(slurp_small(path), path.filename().string(), path.parent_path());
    const Scene again = parse(write_yaml(scene.model, scene.run), "written.yaml");
    if (!sim::objections(scene.model, scene.run, sim::question_of(scene.run.method)).empty()) {
      EXPECT_EQ(rest(scene), rest(again));
      continue;
    }
    ++runs;
    expect_same_inertias(scene.model, again.model);
    const Steps a = first_steps(scene), b = first_steps(again);
    EXPECT_EQ(a.names, b.names);
    for (std::size_t i = 0; i < a.states.size(); ++i)
      EXPECT_TRUE(a.states[i] == b.states[i]) << "after step " << i;
  }
  EXPECT_GE(runs, 40);
}

}  // namespace
}  // namespace limber::scene
