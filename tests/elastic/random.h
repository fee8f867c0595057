// Reproducible random numbers, the same on every platform.
#pragma once

#include <random>

#include "limber/math/spatial.h"

namespace limber::testing {

class Numbers {
 public:
  explicit Numbers(unsigned seed) : engine_(seed) {}
  double uniform(double a, double b) { return a + (b - a) * (static_cast<double>(engine_()) / 4294967296.0); }
  Vec3 vector(double size) { return {uniform(-size, size), uniform(-size, size), uniform(-size, size)}; }
  Vec3 unit() {
    for (;;)
      if (const Vec3 v = vector(1); v.norm() > 0.1 && v.norm() < 1) return v.normalized();
  }
  Pose pose(double size) { return {math::so3_exp(uniform(0, pi) * unit()), vector(size)}; }

 private:
  std::mt19937 engine_;
};

}  // namespace limber::testing
