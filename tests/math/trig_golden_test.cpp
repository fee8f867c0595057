// A hash over a million results. It changes when a compiler flag or a CPU changes a bit anywhere, which no
// tolerance would notice; after a deliberate change of the formulas, copy the new value from the failure.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>

#include "limber/math/so3.h"
#include "limber/math/trig.h"

namespace {

namespace m = limber::math;

class Fnv1a {
 public:
  void add(double x) {
    std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
    for (int k = 0; k < 8; ++k, bits >>= 8) hash_ = (hash_ ^ (bits & 0xff)) * 0x100000001b3u;
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

// Arguments in [−1, 1) from a 64-bit linear congruential generator (Knuth's MMIX constants), exact in a
// double.
class Arguments {
 public:
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state_) >> 11) * 0x1p-52;
  }

 private:
  std::uint64_t state_ = 1;
};

TEST(TrigGolden, AMillionResultsKeepTheirBits) {
  Fnv1a hash;
  Arguments a;
  for (int k = 0; k < 65536; ++k) {
    const double u = a.next(), v = a.next(), x = 20 * u;
    for (double y :
         {m::sin(x), m::cos(x), m::sin(50000 * x), m::cos(3e9 * u), m::tan(x), m::atan(x), m::atan2(u, v),
          m::asin(u), m::acos(u), m::exp(x), m::exp(700 * u), m::log(1 + u + 0x1p-30), m::pow(1.5 + u, x),
          m::pow(x, 5), m::sinh(x), m::cosh(x), m::tanh(2 * u)})
      hash.add(y);
  }
  EXPECT_EQ(hash.value(), 0x5d82bb0e13c685e2u) << std::hex << hash.value();
}

TEST(TrigGolden, RotationsKeepTheirBits) {
  Fnv1a hash;
  Arguments a;
  for (int k = 0; k < 65536; ++k) {
    const double x = a.next(), y = a.next(), z = a.next();
    const limber::Vec3 theta(3 * x, 3 * y, 3 * z);
    const limber::Mat3 R = m::so3_exp(theta), J = m::so3_jacobian(theta), Ji = m::so3_jacobian_inverse(theta);
    const limber::Vec3 log = m::so3_log(R);
    for (int i = 0; i < 3; ++i) hash.add(log[i]);
    for (int i = 0; i < 9; ++i) hash.add(R(i)), hash.add(J(i)), hash.add(Ji(i));
  }
  EXPECT_EQ(hash.value(), 0x196ec57a7ab30f9du) << std::hex << hash.value();
}

}  // namespace
