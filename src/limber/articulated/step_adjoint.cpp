#include "limber/articulated/step_adjoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "limber/math/so3.h"

namespace limber::articulated {

using multibody::Link;

namespace {

constexpr double enough = 1e-11;  // of the residual of the multipliers, relative
constexpr double too_much = 1e-8;

Vec3 first_three(const std::vector<double>& x, const Link& link) {
  return {x[link.v], x[link.v + 1], x[link.v + 2]};
}
void put_three(const Vec3& x, const Link& link, std::vector<double>& out) {
  std::copy_n(x.data(), 3, out.begin() + link.v);
}

// k = v + ½ [u, v] + 1/12 [u, [u, v]], and its transposed derivatives.
Vec3 along(const Vec3& u, const Vec3& v) { return v + 0.5 * u.cross(v) + u.cross(u.cross(v)) / 12; }
Vec3 along_by_v(const Vec3& u, const Vec3& x) { return x - 0.5 * u.cross(x) + u.cross(u.cross(x)) / 12; }
Vec3 along_by_u(const Vec3& u, const Vec3& v, const Vec3& x) {
  return 0.5 * v.cross(x) + (u.cross(v).cross(x) - v.cross(u.cross(x))) / 12;
}

// Preconditioned on the right, without restart: the systems are near to their preconditioner. Returns the
// residual that is left, relative.
double gmres(const std::function<void(const std::vector<double>&, std::vector<double>&)>& times,
             const std::function<void(std::vector<double>&)>& precondition, const std::vector<double>& b,
             const std::vector<double>& scale, std::vector<double>& x) {
  const std::size_t n = b.size(), most = std::min<std::size_t>(n, 60);
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& c) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += scale[i] * scale[i] * a[i] * c[i];
    return sum;
  };
  std::fill(x.begin(), x.end(), 0.0);
  const double size = std::sqrt(dot(b, b));
  if (!(size > 0)) return 0;
  std::vector<std::vector<double>> basis{b}, way;  // way: the basis after the preconditioner
  for (double& c : basis[0]) c /= size;
  std::vector<std::vector<double>> H;  // columns, turned to a triangle
  std::vector<double> c, s, rhs{size};
  double left = 1;
  while (H.size() < most && left > enough) {
    way.push_back(basis.back());
    precondition(way.back());
    std::vector<double> next(n);
    times(way.back(), next);
    std::vector<double>& h = H.emplace_back();
    for (int twice = 0; twice < 2; ++twice)
      for (std::size_t j = 0; j < basis.size(); ++j) {
        const double share = dot(next, basis[j]);
        if (twice == 0)
          h.push_back(share);
        else
          h[j] += share;
        for (std::size_t i = 0; i < n; ++i) next[i] -= share * basis[j][i];
      }
    const double length = std::sqrt(dot(next, next));
    for (std::size_t j = 0; j < c.size(); ++j) {
      const double up = c[j] * h[j] + s[j] * h[j + 1];
      h[j + 1] = c[j] * h[j + 1] - s[j] * h[j], h[j] = up;
    }
    const double r = std::sqrt(h.back() * h.back() + length * length);
    if (!(r > 0)) break;
    c.push_back(h.back() / r), s.push_back(length / r);
    h.back() = r;
    rhs.push_back(-s.back() * rhs.back());
    rhs[rhs.size() - 2] *= c.back();
    left = std::abs(rhs.back()) / size;
    if (length > 0)
      for (double& y : next) y /= length;
    basis.push_back(std::move(next));
  }
  std::vector<double> y(H.size());
  for (std::size_t j = H.size(); j-- > 0;) {
    double sum = rhs[j];
    for (std::size_t k = j + 1; k < H.size(); ++k) sum -= H[k][j] * y[k];
    y[j] = sum / H[j][j];
  }
  for (std::size_t j = 0; j < y.size(); ++j)
    for (std::size_t i = 0; i < n; ++i) x[i] += y[j] * way[j][i];
  return left;
}

}  // namespace

// gamma: what the factor of a stage has for a_jj; damping, stiffness: of h and h².
struct StepAdjoint::Scheme {
  int stages = 1;
  std::array<std::array<double, 5>, 5> A{};
  std::array<double, 5> b{}, c{};
  bool commutes = true;                 // k = v
  bool together = false;                // stages depend on each other
  double damping = -1, stiffness = -1;  // of the factor; negative: a_jj and its square
};

struct StepAdjoint::Stage {
  explicit Stage(const System& system) : at(system) {
    const auto n = static_cast<std::size_t>(system.data().tree.v_count());
    q.resize(static_cast<std::size_t>(system.data().tree.q_count()));
    for (auto* x : {&v, &u, &k, &q_bar, &v_bar, &u_bar, &k_bar, &a_bar, &k_known, &a_known})
      x->assign(n, 0.0);
  }
  LinearDynamics at;
  MotionPoint point;
  std::vector<double> q, v, u, k;                         // of the motion
  std::vector<double> q_bar, v_bar, u_bar, k_bar, a_bar;  // by the multipliers at hand
  std::vector<double> k_known, a_known;                   // from the end, and from later stages
};

const StepAdjoint::Scheme& StepAdjoint::scheme_of(Integrator by) {
  static constexpr double root3 = 1.7320508075688772, g = 1 - 1 / 1.4142135623730951;
  static const Scheme midpoint{1, {{{0.5}}}, {1}, {0.5}};
  static const Scheme implicit_euler{1, {{{1}}}, {1}, {1}};
  static const Scheme sdirk{2, {{{g, 0}, {1 - g, g}}}, {1 - g, g}, {g, 1}};
  static const Scheme rk4{4,
                          {{{0, 0, 0, 0}, {0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 1, 0}}},
                          {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6},
                          {0, 0.5, 0.5, 1},
                          false};
  static const Scheme gauss{2,          {{{0.25, 0.25 - root3 / 6}, {0.25 + root3 / 6, 0.25}}},
                            {0.5, 0.5}, {0.5 - root3 / 6, 0.5 + root3 / 6},
                            false,      true,
                            1.0 / 3,    1.0 / 6};
  static const Scheme sdirk4{5,
                             {{{0.25, 0, 0, 0, 0},
                               {0.5, 0.25, 0, 0, 0},
                               {17.0 / 50, -1.0 / 25, 0.25, 0, 0},
                               {371.0 / 1360, -137.0 / 2720, 15.0 / 544, 0.25, 0},
                               {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 0.25}}},
                             {25.0 / 24, -49.0 / 48, 125.0 / 16, -85.0 / 12, 0.25},
                             {0.25, 0.75, 11.0 / 20, 0.5, 1},
                             false};
  switch (by) {
    case Integrator::implicit_euler:
      return implicit_euler;
    case Integrator::sdirk:
      return sdirk;
    case Integrator::rk4:
      return rk4;
    case Integrator::gauss:
      return gauss;
    case Integrator::sdirk4:
      return sdirk4;
    case Integrator::midpoint:
    case Integrator::euler:
      break;
  }
  return midpoint;
}

StepAdjoint::StepAdjoint(const System& system)
    : system_(system), s_(system_.data()), u_end_(s_.tree.v_count()) {}
StepAdjoint::~StepAdjoint() = default;

// Given motions are functions of time.
void StepAdjoint::mask(std::vector<double>& x) const {
  for (const CompiledMotion& m : s_.motions)
    std::fill_n(x.begin() + s_.tree[m.link].v, s_.tree[m.link].dofs, 0.0);
}

// The stages' motions from their accelerations, as the step had them.
void StepAdjoint::place(const StepPart& part, const Scheme& m) {
  while (stages_.size() < static_cast<std::size_t>(m.stages))
    stages_.push_back(std::make_unique<Stage>(system_));
  const std::size_t n = u_end_.size();
  for (int i = 0; i < m.stages; ++i) {
    Stage& g = *stages_[i];
    for (std::size_t k = 0; k < n; ++k) {
      g.v[k] = part.v[k];
      for (int j = 0; j < m.stages; ++j) g.v[k] += part.h * m.A[i][j] * part.a[j][k];
    }
    g.k = g.v;
  }
  // Where joints turn freely rates hang on the way that they lead along.
  for (int round = 0; round < (m.commutes ? 1 : 30); ++round) {
    for (int i = 0; i < m.stages; ++i) {
      Stage& g = *stages_[i];
      std::fill(g.u.begin(), g.u.end(), 0.0);
      for (int j = 0; j < m.stages; ++j)
        for (std::size_t k = 0; k < n; ++k) g.u[k] += part.h * m.A[i][j] * stages_[j]->k[k];
      if (m.commutes) continue;
      for (const Link& link : s_.tree.links())
        if (has_rotation_vector(link.kind))
          put_three(along(first_three(g.u, link), first_three(g.v, link)), link, g.k);
    }
  }
  std::fill(u_end_.begin(), u_end_.end(), 0.0);
  for (int i = 0; i < m.stages; ++i) {
    Stage& g = *stages_[i];
    for (std::size_t k = 0; k < n; ++k) u_end_[k] += part.h * m.b[i] * g.k[k];
    multibody::integrate(s_.tree, part.q.data(), g.u.data(), 1, g.q.data());
    const double t = part.t + m.c[i] * part.h;
    for (const CompiledMotion& x : s_.motions) {
      const Link& link = s_.tree[x.link];
      prescribed(x, link, t, g.q.data() + link.q, g.v.data() + link.v);
    }
    g.point = {g.q.data(), g.v.data(), part.a[i].data(), t, 0};
  }
}

// q̄_i, v̄_i, ū_i, k̄_i and a_bar of these stages for lambda_; `known`: with what comes from the end and from
// later stages.
void StepAdjoint::apply(const StepPart& part, const Scheme& m, int first, int last, bool known) {
  const std::size_t n = u_end_.size();
  for (int i = first; i < last; ++i) {
    Stage& g = *stages_[i];
    if (without_multipliers_)
      for (auto* x : {&g.q_bar, &g.v_bar, &g.a_bar}) std::ranges::fill(*x, 0.0);
    else
      g.at.transpose_times(lambda_[i].data(), g.q_bar.data(), g.v_bar.data(), g.a_bar.data());
    mask(g.q_bar), mask(g.v_bar);
    g.u_bar = g.q_bar;
    for (const Link& link : s_.tree.links())
      if (has_rotation_vector(link.kind))
        put_three(math::so3_jacobian(first_three(g.u, link)).transpose() * first_three(g.q_bar, link), link,
                  g.u_bar);
  }
  // k̄ = known + h Σ a_ij ū_i with ū = J_rᵀq̄ + κ_uᵀk̄: each round gains a factor of h|ω|/4.
  std::vector<std::vector<double>> plain;
  for (int i = first; i < last; ++i) plain.push_back(stages_[i]->u_bar);
  for (int round = 0; round < (m.commutes ? 1 : 30); ++round) {
    for (int j = first; j < last; ++j) {
      Stage& g = *stages_[j];
      for (std::size_t k = 0; k < n; ++k) {
        g.k_bar[k] = known ? g.k_known[k] : 0;
        for (int i = first; i < last; ++i) g.k_bar[k] += part.h * m.A[i][j] * stages_[i]->u_bar[k];
      }
    }
    if (m.commutes) break;
    for (int i = first; i < last; ++i) {
      Stage& g = *stages_[i];
      for (const Link& link : s_.tree.links())
        if (has_rotation_vector(link.kind))
          put_three(
              first_three(plain[static_cast<std::size_t>(i - first)], link) +
                  along_by_u(first_three(g.u, link), first_three(g.v, link), first_three(g.k_bar, link)),
              link, g.u_bar);
    }
  }
  for (int i = first; i < last; ++i) {
    Stage& g = *stages_[i];
    std::vector<double> by_v = g.k_bar;
    if (!m.commutes)
      for (const Link& link : s_.tree.links())
        if (has_rotation_vector(link.kind))
          put_three(along_by_v(first_three(g.u, link), first_three(g.k_bar, link)), link, by_v);
    for (std::size_t k = 0; k < n; ++k) g.v_bar[k] += by_v[k];
    mask(g.v_bar);
  }
  for (int j = first; j < last; ++j) {
    Stage& g = *stages_[j];
    for (std::size_t k = 0; k < n; ++k) {
      if (known) g.a_bar[k] += g.a_known[k];
      for (int i = first; i < last; ++i) g.a_bar[k] += part.h * m.A[i][j] * stages_[i]->v_bar[k];
    }
    mask(g.a_bar);
  }
}

// λ of stages first … last − 1, so that their a_bar vanish.
void StepAdjoint::find_multipliers(const StepPart& part, const Scheme& m, int first, int last) {
  const std::size_t n = u_end_.size(), count = static_cast<std::size_t>(last - first);
  for (int i = first; i < last; ++i) {
    const double c = part.h * m.A[i][i];
    Stage& g = *stages_[i];
    g.at.at(g.point, part.servo);
    const bool good = m.damping < 0 ? g.at.factor(c, c * c)
                                    : g.at.factor(m.damping * part.h, m.stiffness * part.h * part.h);
    if (!good) throw std::runtime_error("a gradient: the inertia of a joint is not positive definite");
    lambda_[i].assign(n, 0.0);
  }
  std::vector<double> b(n * count), x(b), scale(b);
  without_multipliers_ = true;
  apply(part, m, first, last, true);
  without_multipliers_ = false;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < n; ++k) {
      b[i * n + k] = -stages_[static_cast<std::size_t>(first) + i]->a_bar[k];
      scale[i * n + k] = s_.rate_unit[k];
    }
  const auto times = [&](const std::vector<double>& y, std::vector<double>& out) {
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(y.begin() + i * n, n, lambda_[static_cast<std::size_t>(first) + i].begin());
    apply(part, m, first, last, false);
    for (std::size_t i = 0; i < count; ++i)
      std::copy_n(stages_[static_cast<std::size_t>(first) + i]->a_bar.begin(), n, out.begin() + i * n);
  };
  const auto precondition = [&](std::vector<double>& y) {
    for (std::size_t i = 0; i < count; ++i)
      stages_[static_cast<std::size_t>(first) + i]->at.solve(y.data() + i * n);
  };
  const double left = gmres(times, precondition, b, scale, x);
  if (!(left <= too_much))
    throw std::runtime_error("a gradient: the adjoint of a step does not converge; a smaller step may help");
  for (std::size_t i = 0; i < count; ++i)
    std::copy_n(x.begin() + i * n, n, lambda_[static_cast<std::size_t>(first) + i].begin());
  apply(part, m, first, last, true);
}

// δ(q ⊕ u) = J_r(u) δu + exp(−u) δq.
static void turn_back(const multibody::Tree& tree, const std::vector<double>& u, std::vector<double>& x) {
  for (const Link& link : tree.links())
    if (has_rotation_vector(link.kind))
      put_three(math::so3_exp(first_three(u, link)) * first_three(x, link), link, x);
}
static void by_way(const multibody::Tree& tree, const std::vector<double>& u, std::vector<double>& x) {
  for (const Link& link : tree.links())
    if (has_rotation_vector(link.kind))
      put_three(math::so3_jacobian(first_three(u, link)).transpose() * first_three(x, link), link, x);
}

void StepAdjoint::back_stages(const StepPart& part, const Scheme& m, std::vector<double>& q_bar,
                              std::vector<double>& v_bar) {
  const std::size_t n = u_end_.size();
  std::vector<double> u_bar = q_bar;
  by_way(s_.tree, u_end_, u_bar);
  for (int j = 0; j < m.stages; ++j) {
    Stage& g = *stages_[j];
    for (std::size_t k = 0; k < n; ++k) {
      g.k_known[k] = part.h * m.b[j] * u_bar[k];
      g.a_known[k] = part.h * m.b[j] * v_bar[k];
    }
  }
  turn_back(s_.tree, u_end_, q_bar);
  for (int last = m.stages; last > 0;) {
    const int first = m.together ? 0 : last - 1;
    find_multipliers(part, m, first, last);
    for (int j = 0; j < first; ++j)
      for (int i = first; i < last; ++i)
        for (std::size_t k = 0; k < n; ++k) {
          stages_[j]->k_known[k] += part.h * m.A[i][j] * stages_[i]->u_bar[k];
          stages_[j]->a_known[k] += part.h * m.A[i][j] * stages_[i]->v_bar[k];
        }
    last = first;
  }
  for (int i = 0; i < m.stages; ++i) {
    Stage& g = *stages_[i];
    turn_back(s_.tree, g.u, g.q_bar);
    for (std::size_t k = 0; k < n; ++k) q_bar[k] += g.q_bar[k], v_bar[k] += g.v_bar[k];
  }
}

// (M + hD + h²K) a = f(q₀, v₀) − hK v₀ − bias, v₁ = v₀ + h a, q₁ = q₀ ⊕ h v₁.
void StepAdjoint::back_euler(const StepPart& part, std::vector<double>& q_bar, std::vector<double>& v_bar) {
  if (stages_.empty()) stages_.push_back(std::make_unique<Stage>(system_));
  Stage& g = *stages_[0];
  const std::size_t n = u_end_.size();
  const double h = part.h;
  g.q = part.q, g.v = part.v;
  g.point = {g.q.data(), g.v.data(), part.a[0].data(), part.t + h, h};
  for (std::size_t k = 0; k < n; ++k) u_end_[k] = h * (part.v[k] + h * part.a[0][k]);
  std::vector<double> u_bar = q_bar;
  by_way(s_.tree, u_end_, u_bar);
  turn_back(s_.tree, u_end_, q_bar);
  for (std::size_t k = 0; k < n; ++k) v_bar[k] += h * u_bar[k];
  g.at.at(g.point, part.servo);
  if (!g.at.factor(h, h * h))
    throw std::runtime_error("a gradient: the inertia of a joint is not positive definite");
  lambda_[0].resize(n);
  for (std::size_t k = 0; k < n; ++k) lambda_[0][k] = -h * v_bar[k];
  g.at.solve(lambda_[0].data());  // the matrix is the factor's, and symmetric
  g.at.transpose_times(lambda_[0].data(), g.q_bar.data(), g.v_bar.data(), g.a_bar.data());
  for (std::size_t k = 0; k < n; ++k) q_bar[k] += g.q_bar[k], v_bar[k] += g.v_bar[k];
}

void StepAdjoint::back(const StepPart& part, std::vector<double>& q_bar, std::vector<double>& v_bar) {
  if (!part.not_smooth.empty())
    throw std::invalid_argument("no gradient: the motion is not smooth, " + part.not_smooth);
  part_ = &part;
  mask(q_bar), mask(v_bar);
  lambda_.resize(part.a.size());
  if (part.by == Integrator::euler) return back_euler(part, q_bar, v_bar);
  const Scheme& m = scheme_of(part.by);
  place(part, m);
  back_stages(part, m, q_bar, v_bar);
}

double StepAdjoint::power(LinearDynamics& of) const {
  double sum = 0;
  for (std::size_t i = 0; i < lambda_.size(); ++i)
    sum += of.power(stages_[i]->point, part_->servo, lambda_[i].data());
  return sum;
}

double StepAdjoint::power_of_elements(LinearDynamics& of) const {
  double sum = 0;
  for (std::size_t i = 0; i < lambda_.size(); ++i)
    sum += of.power_of_elements(stages_[i]->at, part_->servo, lambda_[i].data());
  return sum;
}

double StepAdjoint::power_of_springs(const std::vector<int>& links, const SystemData& of) const {
  double sum = 0;
  for (std::size_t i = 0; i < lambda_.size(); ++i)
    sum += stages_[i]->at.power_of_springs(links, of, lambda_[i].data());
  return sum;
}

void StepAdjoint::add_to(NumberGradient& out) const {
  for (std::size_t i = 0; i < lambda_.size(); ++i) stages_[i]->at.add_to(out, lambda_[i].data());
}

}  // namespace limber::articulated
