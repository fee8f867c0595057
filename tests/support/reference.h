// Reference data of tests/data, and orders of convergence.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "limber/articulated/articulated.h"

namespace limber::testing {

inline nlohmann::json reference(const std::string& name) {
  std::ifstream in(std::string(LIMBER_TEST_DATA) + "/" + name + ".json");
  EXPECT_TRUE(in.good()) << name;
  return nlohmann::json::parse(in);
}

inline std::vector<double> numbers(const nlohmann::json& j) { return j.get<std::vector<double>>(); }
inline Vec3 vector3(const nlohmann::json& j) {
  return Vec3(j[0].get<double>(), j[1].get<double>(), j[2].get<double>());
}

// Runs with `per_sample` steps between the reference's times (equally spaced) up to `t_end` and hands every
// sampled state to visit(sample, state).
template <class Visit>
void run_samples(const articulated::System& system, double sample_interval, int samples, int per_sample,
                 Visit&& visit) {
  articulated::State state = system.rest();
  articulated::Workspace w(system);
  const double h = sample_interval / per_sample;
  visit(0, state);
  for (int k = 1; k <= samples; ++k) {
    for (int i = 0; i < per_sample; ++i) {
      const auto report = articulated::step(system, state, w, h);
      ASSERT_TRUE(report.ok()) << report.message;
      state.t = ((k - 1) * per_sample + i + 1) * h;
    }
    visit(k, state);
  }
}

}  // namespace limber::testing
