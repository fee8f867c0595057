// Tables as cubics (Fritsch and Butland 1984, eq. 4 and the three-point formula at the ends), expressions by
// math::Program with their integrals.
#include "limber/model/law.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace limber {
namespace {

[[noreturn]] void reject_points(const std::string& why) { throw std::invalid_argument("Law::table: " + why); }

void check_points(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() != y.size() || x.size() < 2)
    reject_points("expected two points or more, got " + std::to_string(x.size()) + " places and " +
                  std::to_string(y.size()) + " values");
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(y[i])) reject_points("expected finite numbers");
    if (i > 0 && !(x[i] > x[i - 1]))
      reject_points("expected increasing places, got " + std::to_string(x[i]) + " after " +
                    std::to_string(x[i - 1]));
  }
}

// At an end: of the parabola through three points, kept from turning the curve round.
double end_slope(double h0, double h1, double d0, double d1) {
  const double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
  if ((m > 0) != (d0 > 0) || m == 0 || d0 == 0) return 0;
  if ((d0 > 0) != (d1 > 0) && std::fabs(m) > 3 * std::fabs(d0)) return 3 * d0;
  return m;
}

std::vector<double> pchip_slopes(const std::vector<double>& x, const std::vector<double>& y, bool periodic) {
  const std::size_t n = x.size();
  std::vector<double> h(n - 1), d(n - 1), m(n, 0.0);
  for (std::size_t i = 0; i + 1 < n; ++i) h[i] = x[i + 1] - x[i], d[i] = (y[i + 1] - y[i]) / h[i];
  if (n == 2) return {d[0], d[0]};
  const auto between = [&](std::size_t i, std::size_t k) {  // two segments
    if (d[i] * d[k] <= 0) return 0.0;                       // an extremum stays one
    const double w1 = 2 * h[k] + h[i], w2 = h[k] + 2 * h[i];
    return (w1 + w2) / (w1 / d[i] + w2 / d[k]);
  };
  for (std::size_t i = 1; i + 1 < n; ++i) m[i] = between(i - 1, i);
  if (periodic) {
    m[0] = m[n - 1] = between(n - 2, 0);
    return m;
  }
  m[0] = end_slope(h[0], h[1], d[0], d[1]);
  m[n - 1] = end_slope(h[n - 2], h[n - 3], d[n - 2], d[n - 3]);
  return m;
}

// The i with x[i] ≤ at < x[i+1], kept inside the table.
std::size_t law_segment(const std::vector<double>& x, double at) {
  return static_cast<std::size_t>(std::upper_bound(x.begin() + 1, x.end() - 1, at) - x.begin()) - 1;
}

// y + m u + c u² + e u³ on one segment, u from its start.
struct Cubic {
  double y, m, c, e;
  Cubic(double h, double y0, double y1, double m0, double m1) : y(y0), m(m0) {
    const double d = (y1 - y0) / h;
    c = (3 * d - 2 * m0 - m1) / h;
    e = (m0 + m1 - 2 * d) / (h * h);
  }
  math::Dual at(double u) const { return {y + u * (m + u * (c + u * e)), m + u * (2 * c + u * 3 * e)}; }
  double second(double u) const { return 2 * c + 6 * u * e; }
  double area(double u) const { return u * (y + u * (m / 2 + u * (c / 3 + u * e / 4))); }
};

// ---- expressions

using Coefficients = std::vector<double>;
constexpr std::size_t most_coefficients = 24;

Coefficients sum(const Coefficients& a, const Coefficients& b, double sign) {
  Coefficients out(std::max(a.size(), b.size()), 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] += a[i];
  for (std::size_t i = 0; i < b.size(); ++i) out[i] += sign * b[i];
  return out;
}
Coefficients product(const Coefficients& a, const Coefficients& b) {
  Coefficients out(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) out[i + j] += a[i] * b[j];
  return out;
}

// aᵇ for a whole exponent; nullopt: no polynomial.
std::optional<Coefficients> power(const Coefficients& a, const Coefficients& b) {
  if (b.size() != 1 || b[0] != std::floor(b[0]) || b[0] < 0 || b[0] > 20) return std::nullopt;
  Coefficients out{1};
  for (int k = 0; k < static_cast<int>(b[0]); ++k) {
    out = product(out, a);
    if (out.size() > most_coefficients) return std::nullopt;
  }
  return out;
}

std::optional<Coefficients> combined(math::Op op, const Coefficients& a, const Coefficients& b) {
  switch (op) {
    case math::Op::add:
      return sum(a, b, 1);
    case math::Op::subtract:
      return sum(a, b, -1);
    case math::Op::multiply:
      return product(a, b);
    case math::Op::divide:
      if (b.size() != 1 || b[0] == 0) return std::nullopt;
      return product(a, {1 / b[0]});
    case math::Op::power:
      return power(a, b);
    default:
      return std::nullopt;
  }
}

// The program run over polynomials; empty: it is none.
Coefficients polynomial_of(const math::Program& program) {
  std::vector<Coefficients> stack;
  for (const math::Program::Instruction& i : program.code()) {
    if (i.op == math::Op::constant) {
      stack.push_back({i.constant});
    } else if (i.op == math::Op::variable) {
      stack.push_back({0, 1});
    } else if (i.op == math::Op::negate) {
      stack.back() = product(stack.back(), {-1});
    } else {
      if (stack.size() < 2) return {};
      const auto out = combined(i.op, stack[stack.size() - 2], stack.back());
      if (!out || out->size() > most_coefficients) return {};
      stack.pop_back();
      stack.back() = *out;
    }
  }
  return stack.size() == 1 ? stack[0] : Coefficients{};
}

// Gauss and Kronrod's rules of 7 and 15 points (Piessens and others, QUADPACK 1983): places and weights of
// the larger one, and weights of the smaller one at every second place.
constexpr double places[] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                             0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                             0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
                             0.207784955007898467600689403773245, 0};
constexpr double weights_15[] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                 0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                 0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                 0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
constexpr double weights_7[] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

struct Area {
  double value = 0, error = 0, size = 0;  // size: of what was added, for its rounding
};
Area area_between(const math::Program& f, double from, double to) {
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  double coarse = 0;
  Area out;
  for (int i = 0; i < 8; ++i)
    for (int side = -1; side <= (i < 7 ? 1 : -1); side += 2) {
      const double x = middle + side * places[i] * half, y = f.evaluate(&x);
      out.value += weights_15[i] * y;
      out.size += weights_15[i] * std::fabs(y);
      if (i % 2 == 1) coarse += weights_7[i / 2] * y;
    }
  out.error = std::fabs((out.value - coarse) * half);
  out.value *= half;
  out.size *= std::fabs(half);
  return out;
}

// Halved where the two rules differ by more than rounding; about a corner that takes some forty halvings.
// `left`: intervals that may still be looked at, so that one that oscillates wildly ends.
double integrate(const math::Program& f, double from, double to, double size, int depth, int& left) {
  const Area area = area_between(f, from, to);
  constexpr double rounding = 1e-15;
  constexpr int deepest = 45;
  if (!(area.error > rounding * std::max(size, area.size)) || depth == deepest || --left < 0)
    return area.value;
  const double middle = 0.5 * (from + to);
  const double whole = std::max(size, area.size);
  return integrate(f, from, middle, whole, depth + 1, left) +
         integrate(f, middle, to, whole, depth + 1, left);
}

}  // namespace

Law Law::table(std::vector<double> x, std::vector<double> values, bool periodic) {
  check_points(x, values);
  if (periodic && values.front() != values.back())
    reject_points("expected one value where the periods join, got " + std::to_string(values.front()) +
                  " first and " + std::to_string(values.back()) + " last");
  Data d;
  d.slope = pchip_slopes(x, values, periodic);
  d.periodic = periodic;
  d.x = std::move(x), d.y = std::move(values);
  d.area.assign(d.x.size(), 0.0);
  for (std::size_t i = 0; i + 1 < d.x.size(); ++i) {
    const double h = d.x[i + 1] - d.x[i];
    d.area[i + 1] = d.area[i] + Cubic(h, d.y[i], d.y[i + 1], d.slope[i], d.slope[i + 1]).area(h);
  }
  d.area_at_zero = area_to(d, 0);
  Law law;
  law.data_ = std::make_shared<const Data>(std::move(d));
  return law;
}

Law Law::expression(math::Program program) {
  if (!program.complete() || program.variable_count() > 1)
    throw std::invalid_argument("Law::expression: expected a program of one variable that leaves one value");
  Data d;
  d.polynomial = polynomial_of(program);
  d.program = std::move(program);
  Law law;
  law.data_ = std::make_shared<const Data>(std::move(d));
  return law;
}

double Law::turns_to(const Data& d, double& x) {
  if (!d.periodic || !std::isfinite(x)) return 0;
  const double period = d.x.back() - d.x.front(), turns = std::floor((x - d.x.front()) / period);
  x -= turns * period;
  return turns;
}

math::Jet Law::jet_at(double x) const {
  if (!data_) return {};
  const Data& d = *data_;
  if (d.x.empty()) return d.program.evaluate_jet(&x);
  turns_to(d, x);
  const std::size_t last = d.x.size() - 1;
  for (const std::size_t end : {std::size_t{0}, last})
    if (end == 0 ? x < d.x[0] : x >= d.x[last])
      return {d.y[end] + d.slope[end] * (x - d.x[end]), d.slope[end], 0};
  const std::size_t i = law_segment(d.x, x);
  const Cubic cubic(d.x[i + 1] - d.x[i], d.y[i], d.y[i + 1], d.slope[i], d.slope[i + 1]);
  const math::Dual at = cubic.at(x - d.x[i]);
  return {at.value, at.rate, cubic.second(x - d.x[i])};
}

math::Dual Law::at(double x) const {
  if (data_ && data_->x.empty()) return data_->program.evaluate_dual(&x);
  const math::Jet jet = jet_at(x);
  return {jet.value, jet.rate};
}

double Law::value(double x) const {
  if (!data_) return 0;
  return data_->x.empty() ? data_->program.evaluate(&x) : at(x).value;
}

double Law::area_to(const Data& d, double x) {
  const std::size_t last = d.x.size() - 1;
  if (const double turns = turns_to(d, x); turns != 0) return turns * d.area[last] + area_to(d, x);
  for (const std::size_t end : {std::size_t{0}, last})
    if (end == 0 ? x < d.x[0] : x >= d.x[last]) {
      const double u = x - d.x[end];
      return d.area[end] + u * (d.y[end] + u * d.slope[end] / 2);
    }
  const std::size_t i = law_segment(d.x, x);
  return d.area[i] +
         Cubic(d.x[i + 1] - d.x[i], d.y[i], d.y[i + 1], d.slope[i], d.slope[i + 1]).area(x - d.x[i]);
}

double Law::integral(double x) const {
  if (!data_) return 0;
  const Data& d = *data_;
  if (!d.x.empty()) return area_to(d, x) - d.area_at_zero;
  if (d.polynomial.empty()) {
    int left = 10'000;
    return std::isfinite(x) ? integrate(d.program, 0, x, 0, 0, left) : x;
  }
  double out = 0;
  for (std::size_t k = d.polynomial.size(); k-- > 0;)
    out = (out + d.polynomial[k] / static_cast<double>(k + 1)) * x;
  return out;
}

}  // namespace limber
