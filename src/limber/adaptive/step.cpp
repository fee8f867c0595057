// One step: find what moves, move it.
//
// Two ways to find it: the assembly tree, at a cost for each joint that is opened and each node whose forces
// changed (tree_cost, measured in docs/theory/adaptive.md), or the articulated-body pass, exact and linear.
// The pass comes first. When the joints it finds above the error are few enough, the tree is built, its
// accelerations are held against the pass's, and it takes over; when it has to open more than it is worth,
// the pass takes that step and stays for `patience` steps, doubled each time that the tree was left soon.
// Nothing here looks at a clock, unless a budget is asked for.
//
// What rounding does to the tree's accelerations is part of the error: `accuracy`, 64 times their distance
// from the pass's in the measure of the error, found when the tree is built, again after one step, and from
// then on whenever the tree has done the work of 20 passes. The tree gets what is left of the asked error;
// where less than half is left, the pass computes the step instead.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "limber/adaptive/system.h"

namespace limber::adaptive {
namespace {

// Of the tree, in units of the pass's cost for a joint: more once the nodes no longer fit a core's cache.
constexpr int near_cost = 6, far_cost = 20, near_joints = 256, biased_cost = 2;
constexpr double tree_cost(double opened) {
  return near_cost * opened + (far_cost - near_cost) * (opened > near_joints ? opened - near_joints : 0);
}
constexpr int first_patience = 64, longest_patience = 4096;
constexpr double noise_margin = 8;  // rounding is measured in one state and used in the next ones
constexpr double accuracy_margin = 64, least_accuracy = accuracy_margin * 2.220446049250313e-16;
constexpr double passes_between_checks = 20;

std::uint64_t next_stamp() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

class Stepper {
 public:
  Stepper(const SystemData& s, State& state, WorkspaceData& w, double h)
      : s_(s), state_(state), w_(w), h_(h), t_(state.t + h) {}

  result::SolveReport run() {
    started_ = std::chrono::steady_clock::now();
    result::SolveReport report;
    report.time = state_.t;
    const bool at_once = !s_.options.fallback && state_.patience == 0;  // no pass before the tree
    if (s_.options.budget > 0 || (s_.tied() && !s_.only_held()))
      by_tree(report);
    else if (!(state_.tree || at_once || s_.only_held()) || !by_tree(report))
      by_pass(report);
    if (!report.ok()) return report;
    ++state_.stayed;
    move();
    report.steps = 1;
    report.iterations = static_cast<int>(state_.active);
    report.total_iterations = report.iterations;
    report.residual = state_.bound;
    if (s_.tied()) {
      state_.gap = w_.ties->gap;
      report.loop_gap = state_.gap / s_.size;
      report.redundant_rows = w_.ties->redundant;
    }
    report.time = t_;
    return report;
  }

 private:
  RefineOptions refine_options() const {
    RefineOptions o;
    o.measure = s_.options.measure;
    o.add_up = s_.options.weights == Weights::reach;
    o.weighted = s_.options.weights != Weights::none;
    o.error = std::max(0.0, s_.options.error - state_.accuracy);
    o.floor = s_.options.settle * state_.largest_ever;
    o.budget = s_.options.budget;
    o.cost_of_joint = w_.seconds_per_joint;
    o.started = started_;
    const int left = s_.joints - biased_cost * w_.biased, near = left / near_cost;
    o.limit =
        !s_.options.fallback || s_.options.budget > 0 || s_.tied()
            ? 0
            : std::max(
                  1, near <= near_joints ? near : near_joints + (left - near_cost * near_joints) / far_cost);
    return o;
  }

  // False: it would cost more than the pass, or is not exact enough; nothing has been changed but the
  // coefficients.
  bool by_tree(result::SolveReport& report) {
    const bool first = state_.noise == 0;
    bring_up_to_date(s_, state_, w_, t_, h_);
    w_.active.clear();
    if (w_.coefficients.bad_node() >= 0) return refuse(report), true;
    if (s_.options.budget > 0) time_updates();
    const bool due = s_.options.budget == 0 && state_.checked >= state_.check_after;  // it has no time for it
    if (first || due) {
      solve_by_pass(report);
      if (!report.ok()) return true;
      w_.exact = w_.qdd;
      compare(first);
    }
    if (!exact_enough()) return s_.tied() && !s_.only_held() ? refuse_error(report) : leave_tree();
    const RefineResult r = w_.refine(w_.coefficients, joint_input(s_, state_, w_, t_), refine_options(),
                                     state_.noise, w_.qdd.data());
    state_.noise = std::max(state_.noise, r.noise);
    if (r.gave_up) return leave_tree();
    state_.tree = 1;
    ++state_.checked;
    keep_opened(r);
    return true;
  }
  bool leave_tree() {
    state_.patience = state_.stayed < 4 * state_.patience
                          ? std::min(2 * std::max(state_.patience, first_patience), longest_patience)
                          : first_patience;
    state_.tree = 0;
    state_.stayed = 0;
    return false;
  }

  // The rounding of total accelerations, and how far the tree's accelerations (then in qdd) are from the
  // pass's.
  void compare(bool first) {
    const std::vector<double>& exact = w_.exact;
    if (!w_.full) w_.full = std::make_unique<BackSubstitution>(w_.coefficients);
    (*w_.full)(w_.coefficients, w_.qdd.data(), w_.workers.get());
    if (first) {
      const JointInput in = joint_input(s_, state_, w_, t_);
      const double found = noise_margin * measure_noise(w_.coefficients, in, *w_.full, w_.qdd.data());
      state_.noise = std::max({state_.noise, found, noise_margin});
      state_.accuracy = 0;
    }
    double worst = 0, added = 0, sum = 0, largest = 0, total = 0;  // squares, but for `added`
    for (const multibody::Link& l : s_.tree.links()) {
      double d = 0, plain = 0;
      for (int k = l.v; k < l.v + l.dofs; ++k) {
        const double y = s_.weight[k] * (w_.qdd[k] - exact[k]);
        d += y * y;
        plain += exact[k] * exact[k];
      }
      total += plain;
      worst = std::max(worst, d);
      added += std::sqrt(d);
      sum += d;
      largest = std::max(largest, plain);
    }
    const double whole = std::sqrt(total);
    const bool by_joint =
        s_.options.measure == Measure::relative_joint || s_.options.measure == Measure::absolute_joint;
    const double off = !by_joint                              ? std::sqrt(sum)
                       : s_.options.weights == Weights::reach ? added
                                                              : std::sqrt(worst);
    double size = s_.options.measure == Measure::relative_joint     ? std::sqrt(largest)
                  : s_.options.measure == Measure::relative_linkage ? whole
                                                                    : 1.0;
    // Near rest relative errors are of the floor below which nothing is opened, as in refine.cpp.
    const bool relative =
        s_.options.measure == Measure::relative_joint || s_.options.measure == Measure::relative_linkage;
    const double floor = s_.options.settle * std::max(state_.largest_ever, std::sqrt(largest));
    if (relative && s_.options.error > 0) size = std::max(size, floor / s_.options.error);
    if (size > 0)
      state_.accuracy =
          std::max(state_.accuracy, accuracy_margin * off / size + least_accuracy * (relative ? 1.0 : whole));
    state_.checked = 0;
    const double steps = passes_between_checks * s_.joints / std::max(1.0, tree_cost(state_.active));
    state_.check_after = first ? 1 : static_cast<int>(std::clamp(steps, 1.0, 1e9));
  }
  bool exact_enough() const {
    return s_.options.error == 0 || s_.options.budget > 0 || state_.accuracy <= 0.5 * s_.options.error;
  }

  void by_pass(result::SolveReport& report) {
    solve_by_pass(report);
    if (!report.ok()) return;
    double largest = 0, total = 0;
    for (int i = 0; i < s_.tree.size(); ++i) {
      total += squared(i);
      largest = std::max(largest, plain_squared(i));
    }
    // What the error would let the tree leave out: a joint below this.
    const double n = std::max(1, s_.joints);
    const double e = s_.options.error;
    double allowed = s_.options.measure == Measure::relative_joint     ? e * e * largest
                     : s_.options.measure == Measure::absolute_joint   ? e * e
                     : s_.options.measure == Measure::relative_linkage ? e * e * total / n
                                                                       : e * e / n;
    const double floor = s_.options.settle * std::max(state_.largest_ever, std::sqrt(largest));
    allowed = std::max(allowed, floor * floor);
    int above = 0;
    for (int i = 0; i < s_.tree.size(); ++i) above += squared(i) > allowed;
    const int guess = 2 * above + 2 * s_.assembly.depth;
    const bool worth = !s_.options.fallback || tree_cost(guess) < s_.joints;
    if (worth && state_.stayed >= state_.patience && change_to_tree()) return;
    w_.active.clear();
    w_.moved_all = true;
    state_.active = 0;
    for (int i = 0; i < s_.tree.size(); ++i) {
      if (s_.tree[i].dofs == 0) continue;
      state_.active += 1;
      state_.active_steps[i] += squared(i) > allowed;
    }
    state_.bound = 0;
    finish(std::sqrt(total), std::sqrt(largest));
    double dot = 0;
    for (int k = 0; k < s_.tree.v_count(); ++k)
      dot += (s_.weight[k] * w_.qdd[k]) * (s_.weight[k] * state_.a[k]);
    control(dot, total);
    std::copy(w_.qdd.begin(), w_.qdd.end(), state_.a.begin());
  }

  // The tree takes over, if its accelerations agree with the pass's well enough for the asked error.
  bool change_to_tree() {
    w_.exact = w_.qdd;
    w_.stamp = 0;
    bring_up_to_date(s_, state_, w_, t_, h_);
    state_.stayed = 0;
    if (w_.coefficients.bad_node() < 0) {
      compare(true);
      if (exact_enough()) {
        const RefineResult r = w_.refine(w_.coefficients, joint_input(s_, state_, w_, t_), refine_options(),
                                         state_.noise, w_.qdd.data());
        if (!r.gave_up) {
          state_.tree = 1;
          keep_opened(r);
          return true;
        }
      }
    }
    state_.patience = std::min(2 * std::max(state_.patience, first_patience / 2), longest_patience);
    w_.qdd = w_.exact;
    return false;
  }

  void solve_by_pass(result::SolveReport& report) {
    const multibody::Tree& tree = s_.tree;
    if (!w_.aba) {
      w_.aba = std::make_unique<multibody::AbaWorkspace>(tree);
      w_.links.resize(tree.size());
      w_.wrench.resize(tree.size());
      w_.rest_rates.assign(tree.v_count(), 0);
    }
    for (int i = 0; i < tree.size() && s_.any_law; ++i)
      if (s_.has_law[i]) joint_law(s_, i, state_.q.data(), t_, h_, w_.tau.data(), w_.kappa.data());
    multibody::kinematics(tree, state_.q.data(), w_.rest_rates.data(), w_.links, w_.workers.get());
    const Vec3 g = s_.model.gravity().value(t_);
    const bool heavy = g != Vec3::Zero();
    for (int i = 0; i < tree.size(); ++i) {
      w_.wrench[i].setZero();
      if (!heavy) continue;
      const Vec3 g_M = w_.links[i].X_WM.R.transpose() * g;
      w_.wrench[i].head<3>() = tree[i].inertia.h.cross(g_M);
      w_.wrench[i].tail<3>() = tree[i].inertia.m * g_M;
    }
    for (std::size_t k = 0; k < s_.loaded.size(); ++k)
      w_.wrench[s_.loaded[k]] +=
          s_.tied() ? w_.load_wrench[k] : load_on(s_, static_cast<int>(k), w_.links[s_.loaded[k]].X_WM, t_);
    multibody::AbaInput in;
    in.links = &w_.links;
    in.tau = w_.tau.data();
    in.wrench = w_.wrench.data();
    if (s_.any_law) in.joint_block = w_.kappa.data();
    if (!multibody::aba(tree, state_.q.data(), in, *w_.aba, w_.qdd.data(), w_.workers.get()))
      fail(report, w_.aba->bad_link);
  }

  void fail(result::SolveReport& report, int link) const {
    report.status = result::Status::diverged;
    report.worst = s_.model.joints()[link].name;
    report.message = fmt::format(
        "at t = {:.9g} s, joint \"{}\": nothing with mass or inertia hangs on it in the "
        "direction in which it can move",
        state_.t, report.worst);
  }
  void refuse(result::SolveReport& report) const {
    const int node = w_.coefficients.bad_node();
    fail(report, std::max(0, s_.assembly.nodes[node].link));
  }

  // Ties have no other way than by the tree.
  bool refuse_error(result::SolveReport& report) const {
    report.status = result::Status::not_converged;
    report.message = fmt::format(
        "at t = {:.9g} s: rounding alone may change the accelerations by {:.2g} in the measure of the error, "
        "and {:.2g} is asked for; ask for more than {:.2g}",
        state_.t, state_.accuracy, s_.options.error, 2 * state_.accuracy);
    return true;
  }

  double plain_squared(int link) const {
    const multibody::Link& l = s_.tree[link];
    double sum = 0;
    for (int k = l.v; k < l.v + l.dofs; ++k) sum += w_.qdd[k] * w_.qdd[k];
    return sum;
  }
  double squared(int link) const {
    const multibody::Link& l = s_.tree[link];
    double sum = 0;
    for (int k = l.v; k < l.v + l.dofs; ++k) sum += (s_.weight[k] * w_.qdd[k]) * (s_.weight[k] * w_.qdd[k]);
    return sum;
  }

  // The opened joints become the accelerations of the step.
  void keep_opened(const RefineResult& r) {
    w_.active.assign(w_.refine.opened().begin(), w_.refine.opened().end());
    double dot = 0, norm2 = 0;
    int active = 0;
    for (const int i : w_.active) {
      const int dofs = w_.coefficients.dofs(i);
      if (dofs == 0) continue;
      const multibody::Link& l = s_.tree[w_.coefficients.node(i).link];
      ++active;
      ++state_.active_steps[w_.coefficients.node(i).link];
      for (int k = l.v; k < l.v + dofs; ++k) {
        const double x = s_.weight[k] * w_.qdd[k];
        norm2 += x * x;
        dot += x * (s_.weight[k] * state_.a[k]);
      }
    }
    state_.active = active;
    state_.bound = r.bound + state_.accuracy;
    finish(r.total, r.largest);
    control(dot, norm2);
    // Accelerations of the step before are cleared where they were not zero.
    if (last_was_mine())
      for (const int v : w_.nonzero) state_.a[v] = 0;
    else
      std::fill(state_.a.begin(), state_.a.end(), 0.0);
    w_.nonzero.clear();
    for (const int i : w_.active) {
      const int dofs = w_.coefficients.dofs(i);
      if (dofs == 0) continue;
      const multibody::Link& l = s_.tree[w_.coefficients.node(i).link];
      for (int k = l.v; k < l.v + dofs; ++k) {
        state_.a[k] = w_.qdd[k];
        w_.nonzero.push_back(k);
      }
    }
    w_.moved_all = false;
  }
  bool last_was_mine() const { return w_.stamp != 0 && w_.stamp == state_.stamp && !w_.moved_all; }

  void finish(double total, double largest) {
    state_.total = total;
    state_.largest = largest;
    state_.largest_ever = std::max(state_.largest_ever, largest);
    const bool at_rest = largest <= s_.options.settle * state_.largest_ever;
    if (at_rest && state_.settled_at < 0) state_.settled_at = t_;
    if (!at_rest) state_.settled_at = -1;
  }

  // σ: too far if the accelerations turned against the last ones. It grows back after `caution` good steps,
  // more each time that growing proved wrong soon: σ comes to stay where steps contract.
  void control(double dot, double norm2) {
    if (state_.norm2 > 0) {
      const double turned = dot / state_.norm2;
      ++state_.grown;
      if (turned < -0.5) {
        if (state_.grown < 2 * state_.caution) state_.caution = std::min(2 * state_.caution, 4096);
        state_.fraction = std::max(0.5 * state_.fraction, 1e-9);
        state_.streak = 0;
      } else if (turned > 0.5 && state_.fraction < 1) {
        if (++state_.streak >= state_.caution) {
          state_.fraction = std::min(1.0, 2 * state_.fraction);
          state_.streak = state_.grown = 0;
        }
      } else {
        state_.streak = 0;
      }
    }
    state_.norm2 = norm2;
  }

  void move() {
    double largest = 0;
    const auto each = [&](auto&& visit) {
      if (w_.moved_all) {
        for (int i = 0; i < s_.tree.size(); ++i) visit(i);
      } else {
        for (const int i : w_.active)
          if (w_.coefficients.dofs(i)) visit(w_.coefficients.node(i).link);
      }
    };
    each([&](int link) {
      const multibody::Link& l = s_.tree[link];
      for (int k = l.v; k < l.v + l.dofs; ++k) largest = std::max(largest, std::abs(state_.a[k]));
    });
    double scale = state_.fraction * h_ * h_;
    if (scale * largest > s_.options.turn) scale = s_.options.turn / largest;
    state_.distance = scale * largest;
    each([&](int link) {
      const multibody::Link& l = s_.tree[link];
      double* q = state_.q.data() + l.q;
      if (l.dofs) multibody::integrate_joint(l.kind, q, state_.a.data() + l.v, scale, q);
    });
    state_.stamp = w_.stamp = next_stamp();
  }

  // What the last update cost a joint, smoothed.
  void time_updates() {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
    const double joints = std::max(1.0, state_.active);
    if (last_was_mine()) w_.seconds_per_joint += 0.2 * (spent.count() / joints - w_.seconds_per_joint);
  }

  const SystemData& s_;
  State& state_;
  WorkspaceData& w_;
  const double h_, t_;
  std::chrono::steady_clock::time_point started_;
};

}  // namespace

result::SolveReport step(const System& system, State& state, Workspace& workspace, double h) {
  return Stepper(system.data(), state, workspace.data(), h).run();
}

}  // namespace limber::adaptive
