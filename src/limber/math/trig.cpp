// Argument reductions and Taylor series, one family a block.
//
//   sin, cos   x = n π/2 + r, |r| ≤ π/4, π/2 in parts of 33 bits, so n·part is exact for n < 2²⁰
//   atan2      turn (x, y) by the nearest of the angles atan(k/8): tan of what is left is at most 1/16
//   exp        x = n ln 2 + r, |r| ≤ ½ ln 2
//   log        x = 2ᵉ m, √½ ≤ m < √2, log m = 2 atanh((m−1)/(m+1))
// Leading terms are kept as hi + lo pairs, so the result is rounded about once. Everything else follows from
// these: asin, acos from atan2; pow from exp and log; sinh, cosh, tanh from exp and one series.
#include "limber/math/trig.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "limber/math/double_double.h"
#include "limber/math/pack.h"

namespace limber::math {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double round_magic =
    6755399441055744;  // 1.5·2⁵²: adding it rounds to an integer, kept in the low bits

constexpr DoubleDouble pi_dd{0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};
constexpr DoubleDouble half_pi_dd{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// ---------------------------------------------------------------------------------------------- sin, cos,
// tan

constexpr double p1 = 0x1.921fb544p+0, p2 = 0x1.0b4611a6p-34;  // leading bits of π/2, 33 each

struct Reduced {
  double r, c;             // x = quadrant π/2 + r + c
  std::uint64_t quadrant;  // modulo 4
};

// Close to a multiple of π/2 nearly everything cancels, so all four parts are needed.
[[gnu::noinline]] DoubleDouble reduce_near_zero(double x, double n) {
  constexpr double p3 = 0x1.3198a2ep-69, p4 = 0x1.b839a252049c1p-104;
  const DoubleDouble a = two_sum(x - n * p1, -(n * p2));
  const DoubleDouble b = two_sum(a.hi, -(n * p3));
  return {b.hi, (a.lo + b.lo) - n * p4};
}

inline Reduced reduce(double x) {  // |x| ≤ 2²⁰
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, p34 = 0x1.3198a2e037073p-69;
  const double shifted = x * two_over_pi + round_magic;
  const double n = shifted - round_magic;
  const std::uint64_t quadrant = std::bit_cast<std::uint64_t>(shifted) & 3;
  const double first = x - n * p1, second = n * p2, r = first - second;
  const DoubleDouble rest =
      std::fabs(r) > 0x1p-12 ? quick_two_sum(r, ((first - r) - second) - n * p34) : reduce_near_zero(x, n);
  return {rest.hi, rest.lo, quadrant};
}

// sin and cos of r + c on |r| ≤ π/4, each as a leading term and a small rest. Both series have eight terms of
// the same form, so they are summed side by side, sin in lane 0 and cos in lane 1.
struct SinCosParts {
  double sin_hi, sin_rest, cos_hi, cos_rest;
};

using Pair [[gnu::vector_size(16)]] = double;

inline SinCosParts sincos_taylor(double r, double c) {
  constexpr Pair a0{-1.0 / 6, 1.0 / 24}, a1{1.0 / 120, -1.0 / 720}, a2{-1.0 / 5040, 1.0 / 40320},
      a3{1.0 / 362880, -1.0 / 3628800}, a4{-1.0 / 39916800, 1.0 / 479001600},
      a5{1.0 / 6227020800, -1.0 / 87178291200}, a6{-1.0 / 1307674368000, 1.0 / 20922789888000},
      a7{1.0 / 355687428096000, -1.0 / 6402373705728000};
  const double zz = r * r, half = 0.5 * zz, w = 1 - half;
  const Pair z{zz, zz}, z2 = z * z, z4 = z2 * z2;
  const Pair sum = ((a0 + z * a1) + z2 * (a2 + z * a3)) + z4 * ((a4 + z * a5) + z2 * (a6 + z * a7));
  return {r, r * (zz * sum[0]) + c * w, w, ((1 - w) - half) + ((zz * zz) * sum[1] - r * c)};
}

// Beyond 2²⁰: drop whole turns of the rounded 2π, exactly; off by at most |x|/(2π) · 2.5e-16.
inline double wrap_large(double x) { return std::fmod(x, 2 * pi_dd.hi); }

inline double flip_sign(double x, std::uint64_t flip) {  // flip = 0 or 1
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ (flip << 63));
}

inline SinCos sincos_inline(double x) {
  constexpr double tiny = 0x1p-27, quarter_pi = 0x1.921fb54442d18p-1, limit = 0x1p20;
  const double size = std::fabs(x);
  if (size <= quarter_pi) {
    if (size < tiny) return {x, 1};  // keeps −0 and stays clear of subnormals
    const SinCosParts t = sincos_taylor(x, 0);
    return {t.sin_hi + t.sin_rest, t.cos_hi + t.cos_rest};
  }
  const Reduced k = reduce(size <= limit ? x : wrap_large(x));
  const SinCosParts t = sincos_taylor(k.r, k.c);
  const double s = t.sin_hi + t.sin_rest, c = t.cos_hi + t.cos_rest;
  const bool swap = k.quadrant & 1;
  return {flip_sign(swap ? c : s, k.quadrant >> 1), flip_sign(swap ? s : c, ((k.quadrant + 1) >> 1) & 1)};
}

// ----------------------------------------------------------------------------------------------------- atan2

// atan(num/den) for 0 ≤ num ≤ den, den between 2⁻⁴⁰⁰ and 2⁵⁰⁰, num/den above 2⁻⁶⁰.
DoubleDouble atan_ratio(const DoubleDouble& num, const DoubleDouble& den) {
  constexpr DoubleDouble node[9] = {{0, 0},
                                    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
  const double k = (8 * (num.hi / den.hi) + round_magic) - round_magic;
  const DoubleDouble b{k / 8, 0};
  const DoubleDouble t = (num - b * den) / (den + b * num);
  const double z = t.hi * t.hi;
  const double series =
      z *
      (-1.0 / 3 +
       z * (1.0 / 5 + z * (-1.0 / 7 + z * (1.0 / 9 + z * (-1.0 / 11 + z * (1.0 / 13 + z * (-1.0 / 15)))))));
  const DoubleDouble& a = node[static_cast<int>(k)];
  const DoubleDouble sum = two_sum(a.hi, t.hi);
  return quick_two_sum(sum.hi, sum.lo + ((a.lo + t.lo) + t.hi * series));
}

// The angle of the finite point (x, y), x and y not both 0.
double angle_of(DoubleDouble y, DoubleDouble x) {
  const bool below = y.hi < 0, left = x.hi < 0;
  if (below) y = -y;
  if (left) x = -x;
  const bool steep = y.hi > x.hi;
  const DoubleDouble& num = steep ? x : y;
  const DoubleDouble& den = steep ? y : x;
  // A ratio whose atan is itself is rounded once, subnormal results included.
  const double ratio = num.hi / den.hi;
  DoubleDouble a = ratio < 0x1p-54 ? DoubleDouble{ratio, 0} : atan_ratio(num, den);
  if (steep) a = half_pi_dd - a;
  if (left) a = pi_dd - a;
  return below ? -a.hi : a.hi;
}

// ------------------------------------------------------------------------------------------------- exp and
// log

struct ExpParts {
  DoubleDouble m;  // exp(x) = 2ⁿ m
  int n;
};

inline ExpParts exp_parts(double hi, double lo) {  // |hi| ≤ 1000
  constexpr double one_over_ln2 = 0x1.71547652b82fep+0;
  constexpr double l1 = 0x1.62e42fefa38p-1, l2 = 0x1.ef35793c7673p-45;  // n·l1 is exact
  constexpr double e0 = 1.0 / 2, e1 = 1.0 / 6, e2 = 1.0 / 24, e3 = 1.0 / 120, e4 = 1.0 / 720, e5 = 1.0 / 5040,
                   e6 = 1.0 / 40320, e7 = 1.0 / 362880, e8 = 1.0 / 3628800, e9 = 1.0 / 39916800,
                   e10 = 1.0 / 479001600, e11 = 1.0 / 6227020800, e12 = 1.0 / 87178291200;
  const double n = (hi * one_over_ln2 + round_magic) - round_magic;
  const DoubleDouble r = two_sum(hi - n * l1, -(n * l2));
  const double x = r.hi, c = r.lo + lo, z = x * x, z2 = z * z, z4 = z2 * z2;
  const double low = ((e0 + x * e1) + z * (e2 + x * e3)) + z2 * ((e4 + x * e5) + z * (e6 + x * e7));
  const double high = ((e8 + x * e9) + z * (e10 + x * e11)) + z2 * e12;
  const double beyond = z * (low + z4 * high);  // exp(r) − 1 − r
  const DoubleDouble one_plus_r = quick_two_sum(1, x);
  const double rest = one_plus_r.lo + (beyond + c * (one_plus_r.hi + beyond));
  return {quick_two_sum(one_plus_r.hi, rest), static_cast<int>(n)};
}

inline double scale(double m, int n) {  // 2ⁿ m for m near 1
  if (n < -1000 || n > 1000) return std::ldexp(m, n);
  return m * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
}

DoubleDouble log_dd(double x) {  // x positive and finite
  constexpr double sqrt_half = 0x1.6a09e667f3bcdp-1, l1 = 0x1.62e42fefa38p-1, l2 = 0x1.ef35793c7673p-45;
  constexpr DoubleDouble third{0x1.5555555555555p-2, 0x1.5555555555555p-56};
  constexpr DoubleDouble fifth{0x1.999999999999ap-3, -0x1.999999999999ap-57};
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < sqrt_half) m *= 2, --e;
  // 2 atanh s = 2s + 2 s³ (1/3 + z/5 + z² tail), z = s² ≤ 0.0295
  const DoubleDouble s = DoubleDouble{m - 1, 0} / two_sum(m, 1);
  const DoubleDouble z = s * s;
  constexpr double odd[] = {1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17,
                            1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25, 1.0 / 27};
  double tail = 0;
  for (int k = 10; k >= 0; --k) tail = odd[k] + z.hi * tail;
  const DoubleDouble cubic = s * z * (third + z * (fifth + DoubleDouble{z.hi * tail, 0}));
  const DoubleDouble half = s + cubic;
  return quick_two_sum(e * l1, e * l2) + DoubleDouble{2 * half.hi, 2 * half.lo};
}

// ------------------------------------------------------------------------------------------------- powers

// x^n for 1 ≤ n ≤ 64, by squaring in double-double on the mantissa, so that neither range nor bits are lost.
double integer_power(double x, int n, bool invert) {
  int e = 0;
  DoubleDouble square{std::frexp(x, &e), 0}, product{1, 0};
  for (int left = n; left > 0; left >>= 1) {
    if (left & 1) product = product * square;
    square = square * square;
  }
  if (invert) return std::ldexp((DoubleDouble{1, 0} / product).hi, -e * n);
  return std::ldexp(product.hi, e * n);
}

double positive_power(double x, double y) {  // x positive, both finite
  const DoubleDouble l = log_dd(x);
  if (l.hi == 0) return 1;
  const double estimate = y * l.hi;
  if (estimate > 800) return infinity;
  if (estimate < -800) return 0;
  const DoubleDouble t = two_product(y, l.hi);
  const ExpParts e = exp_parts(t.hi, t.lo + y * l.lo);
  return scale(e.m.hi, e.n);
}

bool is_odd(double y) { return std::fabs(std::fmod(y, 2)) == 1; }

// The limits of C99 F.9.4.4 where x is 0 or infinite or y infinite.
double limit_power(double x, double y) {
  const double size = std::fabs(x);
  if (std::isinf(y)) {
    if (size == 1) return 1;
    return (size > 1) == (y > 0) ? infinity : 0;
  }
  const double result = (size > 1) == (y > 0) ? infinity : 0.0;
  return is_odd(y) ? std::copysign(result, x) : result;
}

// --------------------------------------------------------------------------------------------- hyperbolic

struct Hyperbolic {
  DoubleDouble sinh, cosh;
};

Hyperbolic sinh_cosh(double x) {  // 0 ≤ x ≤ 40
  const ExpParts e = exp_parts(x, 0);
  const double half = scale(0.5, e.n);
  const DoubleDouble up{half * e.m.hi, half * e.m.lo};
  const DoubleDouble down = DoubleDouble{0.25, 0} / up;
  if (x >= 0.5) return {up - down, up + down};
  // sinh by its series below ½, where the exponentials cancel
  const double z = x * x;
  double tail = 0;
  for (int k = 16; k >= 2; k -= 2) tail = (1 + z * tail) / (k * (k + 1));
  return {quick_two_sum(x, x * z * tail), up + down};
}

}  // namespace

SinCos sincos(double x) { return sincos_inline(x); }

namespace {

// sincos_taylor(x, 0) of four numbers up to π/4, none of them tiny.
LIMBER_INLINE void sincos_of_four(Pack x, SinCos* out) {
  const auto series = [](double a0, double a1, double a2, double a3, double a4, double a5, double a6,
                         double a7, Pack z, Pack z2, Pack z4) LIMBER_LAMBDA {
    return ((pack(a0) + z * pack(a1)) + z2 * (pack(a2) + z * pack(a3))) +
           z4 * ((pack(a4) + z * pack(a5)) + z2 * (pack(a6) + z * pack(a7)));
  };
  const Pack z = x * x, half = pack(0.5) * z, w = pack(1) - half, z2 = z * z, z4 = z2 * z2;
  const Pack s = series(-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                        -1.0 / 1307674368000, 1.0 / 355687428096000, z, z2, z4);
  const Pack c = series(1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                        -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000, z, z2, z4);
  const Pack sine = x + x * (z * s), cosine = w + (((pack(1) - w) - half) + z2 * c);
#pragma GCC unroll 4
  for (int k = 0; k < lanes; ++k) out[k] = {sine[k], cosine[k]};
}

LIMBER_KERNEL void sincos_kernel(const double* x, int count, SinCos* out) {
  constexpr double tiny = 0x1p-27, quarter_pi = 0x1.921fb54442d18p-1;
  int i = 0;
  for (; i + lanes <= count; i += lanes) {
    bool plain = true;
    for (int k = 0; k < lanes; ++k) plain &= std::fabs(x[i + k]) <= quarter_pi && std::fabs(x[i + k]) >= tiny;
    if (plain)
      sincos_of_four(load(x + i), out + i);
    else
      for (int k = 0; k < lanes; ++k) out[i + k] = sincos(x[i + k]);
  }
  for (; i < count; ++i) out[i] = sincos(x[i]);
}

}  // namespace

void sincos(const double* x, int count, SinCos* out) { sincos_kernel(x, count, out); }
double sin(double x) { return sincos_inline(x).sin; }
double cos(double x) { return sincos_inline(x).cos; }

double tan(double x) {
  const double size = std::fabs(x);
  if (size < 0x1p-27) return x;
  const Reduced k = reduce(size <= 0x1p20 ? x : wrap_large(x));
  const SinCosParts t = sincos_taylor(k.r, k.c);
  // What r·r lost to rounding, put back where it counts: the division adds the errors of both.
  const double z_lo = two_product(k.r, k.r).lo;
  const DoubleDouble s = quick_two_sum(t.sin_hi, t.sin_rest - k.r * (z_lo / 6));
  const DoubleDouble c = quick_two_sum(t.cos_hi, t.cos_rest - z_lo / 2);
  return k.quadrant & 1 ? (-c / s).hi : (s / c).hi;
}

double atan(double x) {
  if (std::isnan(x) || x == 0) return x;
  if (std::fabs(x) > 0x1p60) return std::copysign(half_pi_dd.hi, x);
  return angle_of({x, 0}, {1, 0});
}

double atan2(double y, double x) {
  if (std::isnan(x) || std::isnan(y)) return nan;
  if (y == 0) return std::signbit(x) ? std::copysign(pi_dd.hi, y) : y;
  if (x == 0) return std::copysign(half_pi_dd.hi, y);
  if (std::isinf(x) || std::isinf(y)) {
    const double up = std::isinf(y) ? 1 : 0, along = std::isinf(x) ? std::copysign(1.0, x) : 0;
    return std::copysign(up == 0 && along > 0 ? 0 : angle_of({up, 0}, {along, 0}), y);
  }
  // Into the range where double-double products neither overflow nor lose their low part.
  const double size = std::fmax(std::fabs(x), std::fabs(y));
  const double factor = size > 0x1p500 ? 0x1p-600 : size < 0x1p-400 ? 0x1p700 : 1;
  const bool shallow = x > 0 && std::fabs(y) < x * 0x1p-54;
  return shallow ? y / x : angle_of({y * factor, 0}, {x * factor, 0});
}

double asin(double x) {
  if (!(std::fabs(x) <= 1)) return nan;
  if (std::fabs(x) < 0x1p-27) return x;
  if (std::fabs(x) == 1) return std::copysign(half_pi_dd.hi, x);
  return angle_of({x, 0}, sqrt(DoubleDouble{1, 0} - two_product(x, x)));
}

double acos(double x) {
  if (!(std::fabs(x) <= 1)) return nan;
  if (std::fabs(x) == 1) return x > 0 ? 0 : pi_dd.hi;
  return angle_of(sqrt(DoubleDouble{1, 0} - two_product(x, x)), {x, 0});
}

double exp(double x) {
  if (!(std::fabs(x) <= 1000)) return std::isnan(x) ? x : x > 0 ? infinity : 0;
  const ExpParts e = exp_parts(x, 0);
  return scale(e.m.hi, e.n);
}

double log(double x) {
  if (std::isnan(x) || x < 0) return nan;
  if (x == 0) return -infinity;
  if (std::isinf(x)) return x;
  return log_dd(x).hi;
}

double pow(double x, double y) {
  if (x == 1 || y == 0) return 1;
  if (std::isnan(x) || std::isnan(y)) return nan;
  if (y == 1) return x;
  if (y == 2) return x * x;
  if (x == 0 || std::isinf(x) || std::isinf(y)) return limit_power(x, y);
  const bool integer = std::floor(y) == y;
  if (integer && std::fabs(y) <= 64) return integer_power(x, static_cast<int>(std::fabs(y)), y < 0);
  if (x > 0) return positive_power(x, y);
  if (!integer) return nan;
  return is_odd(y) ? -positive_power(-x, y) : positive_power(-x, y);
}

double sinh(double x) {
  const double size = std::fabs(x);
  if (!(size <= 800) || size < 0x1p-27) return x * (size > 1 ? infinity : 1);
  if (size <= 40) return std::copysign(sinh_cosh(size).sinh.hi, x);
  const ExpParts e = exp_parts(size, 0);
  return std::copysign(scale(e.m.hi, e.n - 1), x);
}

double cosh(double x) {
  const double size = std::fabs(x);
  if (!(size <= 800)) return size * infinity;
  if (size <= 40) return sinh_cosh(size).cosh.hi;
  const ExpParts e = exp_parts(size, 0);
  return scale(e.m.hi, e.n - 1);
}

double tanh(double x) {
  const double size = std::fabs(x);
  if (std::isnan(x) || size < 0x1p-27) return x;
  if (size > 20) return std::copysign(1.0, x);
  const Hyperbolic h = sinh_cosh(size);
  return std::copysign((h.sinh / h.cosh).hi, x);
}

}  // namespace limber::math
