// Random inputs for the property tests: angles gathered where formulas change or break down.
#pragma once

#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstdlib>

#include "limber/math/so3.h"
#include "limber/math/spatial.h"

namespace limber::test {

// One seed, so that a run repeats; RC_PARAMS from outside wins.
inline const int rapidcheck_is_seeded = setenv("RC_PARAMS", "seed=20250101 max_success=1000", 0);

// Uniform over the range whatever RapidCheck's size; shrinks towards lo.
inline rc::Gen<double> real(double lo, double hi) {
  constexpr long long steps = 1LL << 52;
  return rc::gen::map(rc::gen::resize(100, rc::gen::inRange<long long>(0, steps)),
                      [=](long long k) { return lo + (hi - lo) * (static_cast<double>(k) / steps); });
}

inline rc::Gen<double> log_real(double lo_exponent, double hi_exponent) {  // 10^uniform
  return rc::gen::map(real(lo_exponent, hi_exponent), [](double e) { return std::pow(10.0, e); });
}

inline rc::Gen<Vec3> vector(double size) {
  return rc::gen::map(rc::gen::tuple(real(-size, size), real(-size, size), real(-size, size)),
                      [](const auto& t) { return Vec3(std::get<0>(t), std::get<1>(t), std::get<2>(t)); });
}

inline rc::Gen<Vec3> unit_vector() {
  return rc::gen::map(rc::gen::suchThat(vector(1), [](const Vec3& v) { return v.norm() > 0.1; }),
                      [](const Vec3& v) { return Vec3(v / v.norm()); });
}

// Angles in [0, π]: anywhere, tiny, just below π, and around the switches of so3_coefficients.h at ½ and 3.
inline rc::Gen<double> angle() {
  return rc::gen::oneOf(real(0, pi), log_real(-300, -5), log_real(-9, 0),
                        rc::gen::map(log_real(-15, -1), [](double e) { return pi - e; }),
                        rc::gen::map(real(-1e-14, 1e-14), [](double e) { return 0.5 + e; }),
                        rc::gen::map(real(-1e-14, 1e-14), [](double e) { return 3 + e; }), rc::gen::just(pi),
                        rc::gen::just(0.0));
}

// Angles in [0, 2π), as far as the inverse Jacobian exists.
inline rc::Gen<double> wide_angle() {
  return rc::gen::oneOf(angle(), real(pi, 6.2),
                        rc::gen::map(log_real(-4, -1), [](double e) { return 2 * pi - e; }));
}

inline rc::Gen<Vec3> rotation_vector(rc::Gen<double> angles) {
  return rc::gen::map(rc::gen::pair(unit_vector(), std::move(angles)),
                      [](const auto& t) { return Vec3(t.first * t.second); });
}

inline rc::Gen<Vec6> spatial_vector(double size) {
  return rc::gen::map(rc::gen::pair(vector(size), vector(size)), [](const auto& t) {
    Vec6 V;
    V << t.first, t.second;
    return V;
  });
}

inline rc::Gen<Pose> pose() {
  return rc::gen::map(rc::gen::pair(rotation_vector(angle()), vector(2)), [](const auto& t) {
    return Pose{math::so3_exp(t.first), t.second};
  });
}

inline rc::Gen<Inertia> inertia() {
  return rc::gen::map(
      rc::gen::tuple(real(0.1, 5), vector(1), rotation_vector(angle()), vector(1)), [](const auto& t) {
        const Mat3 R = math::so3_exp(std::get<2>(t));
        const Mat3 about_com = R * math::box_inertia(std::get<0>(t), std::get<3>(t)) * R.transpose();
        return Inertia::about_com(std::get<0>(t), std::get<1>(t), about_com);
      });
}

}  // namespace limber::test
