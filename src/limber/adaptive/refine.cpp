#include "limber/adaptive/refine.h"

#include <algorithm>
#include <cmath>

namespace limber::adaptive {
namespace {

constexpr double unit = 1.0 / 9007199254740992.0;  // 2⁻⁵³
constexpr double negligible = 1e-30;  // of the whole: 1e-15 of an acceleration, rounding's own size

struct Quadratic {
  double value = 0, diagonal = 0;
};

// xᵀAx, and the same with only A's diagonal
Quadratic quadratic(const double* A, const double* x) {
  alignas(16) double t[6];
  apply(A, x, t);
  Quadratic q;
  q.value = dot(t, x);
  for (int k = 0; k < 6; ++k) q.diagonal += A[7 * k] * (x[k] * x[k]);
  return q;
}

double squared_norm(const multibody::Link& link, const double* weight, const double* qdd) {
  double sum = 0;
  for (int k = 0; k < link.dofs; ++k) sum += (weight[k] * qdd[k]) * (weight[k] * qdd[k]);
  return sum;
}

}  // namespace

Total total_acceleration(const Coefficients& c, int node, const Inputs& in) {
  const AssemblyNode& n = c.node(node);
  if (n.is_leaf()) return {};
  const double* d = c.data(node);
  const double eta = d[at::eta];
  if (n.is_root()) return {eta, std::abs(eta)};
  const Quadratic q0 = quadratic(d + at::psi0, in.a);
  const double l0 = dot(d + at::p0, in.a);
  Total out{(q0.value + l0) + eta, q0.diagonal + (std::abs(l0) + std::abs(eta))};
  if (n.handles == 2) {
    const double* third = c.bottom(node);
    const Quadratic q1 = quadratic(third + at::psi1, in.f);
    alignas(16) double t[6];
    apply(third + at::psi01, in.f, t);
    const double l1 = dot(third + at::p1, in.f);
    out.value += 2 * dot(t, in.a) + (q1.value + l1);
    out.scale += q1.diagonal + std::abs(l1);
  }
  return out;
}

Refinement::Refinement(const Coefficients& c) {
  const std::size_t some = std::min<std::size_t>(c.assembly().nodes.size() + 1, 4096);
  heap_.reserve(some);
  inputs_.reserve(some);
  opened_.reserve(some);
}

Total Refinement::push(const Coefficients& c, int node, const Inputs& in) {
  if (c.node(node).is_leaf()) return {};
  const Total a = total_acceleration(c, node, in);
  const double guarded = std::max(a.value, 0.0) + noise_unit_ * a.scale;
  if (guarded == 0) return a;  // nothing acts here and nothing moves
  heap_.push_back({guarded, node, static_cast<int>(inputs_.size()), a});
  inputs_.push_back(in);
  std::push_heap(heap_.begin(), heap_.end(), below);
  sum_ += guarded;
  if (need_roots_) roots_ += std::sqrt(guarded);
  return a;
}

// The running sums have lost digits by the time that they are small: add them up again.
void Refinement::add_again() {
  sum_ = roots_ = 0;
  for (const Item& item : heap_) {
    sum_ += item.guarded;
    if (need_roots_) roots_ += std::sqrt(item.guarded);
  }
}

RefineResult Refinement::operator()(const Coefficients& c, const JointInput& joints, const RefineOptions& o,
                                    double noise, double* qdd) {
  heap_.clear();
  inputs_.clear();
  opened_.clear();
  sum_ = roots_ = 0;
  noise_unit_ = noise * unit;
  RefineResult result;
  result.noise = noise;
  const bool by_joint = o.measure == Measure::relative_joint || o.measure == Measure::absolute_joint;
  need_roots_ = by_joint && o.add_up;
  const bool sums = !by_joint || need_roots_;
  double certain = 0;   // of the whole: less its noise
  double computed = 0;  // of the whole without weights, so far
  for (const int root : c.assembly().roots) {
    const Total a = push(c, root, {});
    certain += std::max(a.value - noise_unit_ * a.scale, 0.0);
  }
  const double whole = sum_;
  result.total = std::sqrt(whole);
  double largest = 0;  // squared
  const double error2 = o.error * o.error, floor2 = o.floor * o.floor;
  const auto squared_bound = [&] {
    if (heap_.empty()) return 0.0;
    return need_roots_ ? roots_ * roots_ : by_joint ? heap_.front().guarded : sum_;
  };
  const auto allowed = [&] {
    if (o.measure == Measure::relative_joint) return std::max(error2 * largest, floor2);
    if (o.measure == Measure::relative_linkage)
      return std::max(error2 * (o.weighted ? computed : certain), floor2);
    return error2;
  };
  double none[6];
  Inputs A, B;
  while (!heap_.empty()) {
    if (sums && (squared_bound() <= allowed() || opened_.size() % 64 == 63)) add_again();
    if (squared_bound() <= allowed()) break;
    if (o.limit > 0 && static_cast<int>(opened_.size()) >= o.limit) {
      result.gave_up = true;
      break;
    }
    if (o.budget > 0 && opened_.size() % 8 == 7) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - o.started;
      if (spent.count() + static_cast<double>(opened_.size()) * o.cost_of_joint > o.budget) break;
    }
    const Item item = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), below);
    heap_.pop_back();
    sum_ -= item.guarded;
    if (need_roots_) roots_ -= std::sqrt(item.guarded);
    opened_.push_back(item.node);
    const AssemblyNode& n = c.node(item.node);
    if (n.a >= 0) c.prefetch(n.a, false);
    c.prefetch(n.b, false);
    const int dof = c.dofs(item.node);
    double* out = dof ? qdd + c.tree()[n.link].v : none;
    split(c, item.node, inputs_[item.input], out, A, B);
    const double square = dof ? squared_norm(c.tree()[n.link], joints.weight + c.tree()[n.link].v, out) : 0;
    double plain = 0;
    for (int k = 0; k < dof; ++k) plain += out[k] * out[k];
    largest = std::max(largest, plain);
    computed += plain;
    const Total half_a = n.a >= 0 ? push(c, n.a, A) : Total{};
    const Total half_b = push(c, n.b, B);
    const double value = square + (half_a.value + half_b.value);
    const double scale = item.total.scale + (half_a.scale + half_b.scale);
    const double defect = std::abs(item.total.value - value);
    if (defect > noise_unit_ * scale && defect > negligible * whole) {
      result.noise = 2 * defect / (unit * scale);
      noise_unit_ = result.noise * unit;
    }
  }
  result.largest = std::sqrt(largest);
  if (sums) add_again();
  const double squared = squared_bound();
  result.complete = !(squared > allowed());
  if (o.measure == Measure::relative_joint)
    result.bound = squared > 0 ? std::sqrt(squared / std::max(largest, floor2)) : 0;
  else if (o.measure == Measure::relative_linkage)
    result.bound = squared > 0 ? std::sqrt(squared / std::max(o.weighted ? computed : certain, floor2)) : 0;
  else
    result.bound = std::sqrt(squared);
  return result;
}

double measure_noise(const Coefficients& c, const JointInput& joints, const BackSubstitution& full,
                     const double* qdd) {
  const int n = static_cast<int>(c.assembly().nodes.size());
  std::vector<double> sum(n, 0.0);
  double worst = 0, whole = 0;
  for (const int root : c.assembly().roots) whole += c.data(root)[at::eta];
  const double ignored = negligible * whole;
  for (int i = 0; i < n; ++i) {
    const AssemblyNode& node = c.node(i);
    if (node.is_leaf()) continue;
    if (c.dofs(i)) {
      const multibody::Link& link = c.tree()[node.link];
      sum[i] = squared_norm(link, joints.weight + link.v, qdd + link.v);
    }
    if (node.a >= 0) sum[i] += sum[node.a];
    sum[i] += sum[node.b];
    const Total a = total_acceleration(c, i, full.inputs(i));
    const double defect = std::abs(a.value - sum[i]);
    if (defect > ignored) worst = std::max(worst, defect / (unit * a.scale));
  }
  return worst;
}

}  // namespace limber::adaptive
