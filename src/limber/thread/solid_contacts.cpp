// Contacts with solids alone, in the time of a few factorisations however long the thread is.
//
// A contact with a solid acts on two neighbouring nodes, so that a contact which sticks is a stiff spring
// within the block-tridiagonal matrix of the step: A' = A + Σ k JᵀJ, and its force is −k u with u the gap or
// the slip that is left, next to nothing. Every contact is taken as open, sticking or sliding as the last
// forces have it (a sliding one pushes with μ λ_n of before), all equations are solved at once, and the guess
// is corrected by what comes out: what pulls opens, what overlaps sticks, what is beyond the cone slides,
// what slides with its force sticks. Then the forces act by themselves, λ̂, and the springs only add to them
// what is still missing, λ = λ̂ − k u, with the same factor: each time a hundred-thousandth of u is left.
// Where that does not settle, W and its iteration (contact_rows.cpp) find the forces.
#include <algorithm>
#include <cmath>

#include "limber/thread/contact_rows.h"

namespace limber::thread {
namespace {

constexpr int most_guesses = 10;
constexpr double stiff = 1e5;  // of a contact that holds, against its node
constexpr double sliding_force =
    1e-3;  // of the friction of one that slides: change that needs no other solution
constexpr double left_over = 1e-10;  // of the largest motion without forces
constexpr int most_refinements = 6;

// D += k yᵀy and the like of `rows` rows of twelve.
LIMBER_KERNEL void add_springs(int rows, double k, const double* y, const double* z, double* to) {
  for (int i = 0; i < 12; ++i) {
    Pack a = load(to + 12 * i), b = load(to + 12 * i + 4), c = load(to + 12 * i + 8);
    for (int r = 0; r < rows; ++r) {
      const Pack f = pack(k * y[12 * r + i]);
      a += f * load(z + 12 * r), b += f * load(z + 12 * r + 4), c += f * load(z + 12 * r + 8);
    }
    store(to + 12 * i, a), store(to + 12 * i + 4, b), store(to + 12 * i + 8, c);
  }
}

struct Guess {
  WorkspaceData& w;
  int nodes;
  double tolerance;  // [m]

  ContactWork& c() const { return w.contact; }

  void start() const {
    c().held.resize(c().touches.size());
    c().stiffness.resize(c().touches.size());
    for (std::size_t k = 0; k < c().touches.size(); ++k) {
      c().stiffness[k] = stiffness(c().rows[k]);
      const double* x = c().lambda.data() + 4 * k;
      const double limit = c().friction[k] * x[0];
      c().held[k] = !(x[0] > 0)                                           ? TouchHold::open
                    : x[1] * x[1] + x[2] * x[2] >= 0.9999 * limit * limit ? TouchHold::slides
                                                                          : TouchHold::sticks;
    }
    c().pushed.assign(c().touches.size() * 4, 0.0);
  }

  // Of a contact, by its nodes' own stiffness.
  double stiffness(const TouchRows& r) const {
    double k = 0;
    for (int n = 0; n < r.count; ++n)
      for (int i = 0; i < 3; ++i) k = std::max(k, c().D[144 * static_cast<std::size_t>(r.node[n]) + 13 * i]);
    return stiff * k;
  }

  double left_open(std::size_t k, int i) const {  // gap or slip of a step that moves nothing
    const Touch& t = c().touches[k];
    return i == 0 ? t.free_gap : (i == 1 ? t.t1 : t.t2).dot(t.slip0);
  }

  // The whole motion with the contacts as they are taken, into w.delta.
  // `again`: with the factor at hand.
  bool solve(bool again = false) const {
    ElementArrays& a = w.elements;
    if (!again) {
      std::copy_n(c().D.begin(), 144 * nodes, a.D.begin());
      std::copy_n(c().O.begin(), 144 * nodes, a.O.begin());
    }
    std::copy_n(w.rhs.begin(), 12 * nodes, w.delta.begin());
    for (std::size_t k = 0; k < c().touches.size(); ++k) {
      if (c().held[k] == TouchHold::open) continue;
      const TouchRows& r = c().rows[k];
      const double stiffness = c().stiffness[k];
      const int rows = c().held[k] == TouchHold::sticks ? 3 : 1;
      double push[3];
      for (int i = 0; i < 3; ++i)
        push[i] = i < rows ? c().pushed[4 * k + i] - stiffness * left_open(k, i) : c().lambda[4 * k + i];
      add_touch_force(r, push, w.delta.data());
      if (again) continue;
      double own[2][36];
      for (int n = 0; n < 2; ++n) unit_forces(r, n, own[n]);
      const auto at = [&](Numbers& x) { return x.data() + 144 * static_cast<std::ptrdiff_t>(r.node[0]); };
      add_springs(rows, stiffness, own[0], own[0], at(a.D));
      if (!acts(r, 1)) continue;
      add_springs(rows, stiffness, own[1], own[1], at(a.D) + 144);
      add_springs(rows, stiffness, own[0], own[1], at(a.O));
    }
    if (!again && w.solver.factor(nodes, w.solver.top(), a.D.data(), a.O.data()) >= 0) return false;
    w.solver.solve(w.delta.data());
    return true;
  }

  // What contacts are off the law, of the largest motion without forces: gaps and slips that are left, and
  // how far a force that slides has turned, by its own mobility.
  double off() const {
    double most = 0, largest = 0;
    for (std::size_t k = 0; k < c().touches.size(); ++k) {
      for (int i = 0; i < 3; ++i) largest = std::max(largest, std::abs(c().free[4 * k + i]));
      if (c().held[k] == TouchHold::open) continue;
      const double *x = c().lambda.data() + 4 * k, *y = c().pushed.data() + 4 * k;
      const double missing = (x[0] - y[0]) / c().stiffness[k];
      most = std::max(most, std::abs(missing));
      for (int i = 1; i < 3; ++i)
        most = std::max(
            most, std::abs(x[i] - y[i]) * (c().held[k] == TouchHold::sticks ? 1 : stiff) / c().stiffness[k]);
    }
    return largest > 0 ? most / largest : 0;
  }

  // The forces that were found act, and springs add what is missing, as long as that comes closer and every
  // contact stays as it was taken.
  void refine() const {
    const auto n = static_cast<std::ptrdiff_t>(c().pushed.size());
    c().residual = off();
    for (int i = 0; c().residual > left_over && i < most_refinements; ++i) {
      std::copy_n(c().lambda.begin(), n, c().pushed.begin());
      std::copy_n(w.delta.begin(), 12 * nodes, c().shift.begin());
      solve(true);
      const bool same = right();
      const double now = same ? off() : INFINITY;
      if (now < 0.9 * c().residual) {
        c().residual = now;
        continue;
      }
      std::copy_n(c().pushed.begin(), n, c().lambda.begin());
      std::copy_n(c().shift.begin(), 12 * nodes, w.delta.begin());
      return;
    }
  }

  static bool acts(const TouchRows& r, int n) {
    const double* x = r.weight[n];
    return x[0] != 0 || x[1] != 0 || x[2] != 0 || x[3] != 0;
  }

  // Forces of the solution; true if every contact is as it was taken.
  bool right() const {
    bool same = true;
    for (std::size_t k = 0; k < c().touches.size(); ++k) same = right(k) && same;
    return same;
  }

  bool right(std::size_t k) const {
    const TouchRows& r = c().rows[k];
    double* x = c().lambda.data() + 4 * k;
    double u[4];
    touch_motion(r, w.delta.data(), u);
    for (int i = 0; i < 3; ++i) u[i] += left_open(k, i);
    TouchHold& held = c().held[k];
    if (held == TouchHold::open) {
      if (u[0] >= -tolerance) return true;
      held = TouchHold::sticks;
      return false;
    }
    const double stiffness = c().stiffness[k];
    x[0] = c().pushed[4 * k] - stiffness * u[0];
    if (!(x[0] >= 0)) {
      held = TouchHold::open;
      x[0] = x[1] = x[2] = 0;
      return false;
    }
    const double limit = c().friction[k] * x[0];
    if (held == TouchHold::sticks) {
      for (int i = 1; i < 3; ++i) x[i] = c().pushed[4 * k + i] - stiffness * u[i];
      const double size = std::sqrt(x[1] * x[1] + x[2] * x[2]);
      if (size <= limit) return true;
      held = TouchHold::slides;
      x[1] *= limit / size, x[2] *= limit / size;
      return false;
    }
    const double slip = std::sqrt(u[1] * u[1] + u[2] * u[2]), size = std::sqrt(x[1] * x[1] + x[2] * x[2]);
    if (limit == 0 && size == 0) return true;
    if (u[1] * x[1] + u[2] * x[2] > tolerance * size) {
      held = TouchHold::sticks;
      return false;
    }
    const double y1 = slip > tolerance ? -limit * u[1] / slip : limit * x[1] / size,
                 y2 = slip > tolerance ? -limit * u[2] / slip : limit * x[2] / size;
    const bool near =
        std::abs(y1 - x[1]) <= sliding_force * limit && std::abs(y2 - x[2]) <= sliding_force * limit;
    x[1] = y1, x[2] = y2;
    return near;
  }
};

}  // namespace

void keep_matrix(int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  c.kept = std::ranges::none_of(c.pairs, [](const auto& p) { return p.second >= 0; }) && !c.pairs.empty();
  if (!c.kept) return;
  c.D.assign(w.elements.D.begin(), w.elements.D.begin() + 144 * nodes);
  c.O.assign(w.elements.O.begin(), w.elements.O.begin() + 144 * nodes);
}

bool hold_solids(const SystemData& s, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  if (!c.kept || std::ranges::any_of(c.touches, [](const Touch& t) { return t.b.slot >= 0; })) return false;
  const Guess guess{w, nodes, 1e-5 * s.smallest_radius};
  guess.start();
  c.first_forces.assign(c.lambda.begin(),
                        c.lambda.begin() + 4 * static_cast<std::ptrdiff_t>(c.touches.size()));
  for (int i = 0; i < most_guesses; ++i) {
    ++c.solves;
    if (!guess.solve()) break;
    if (guess.right()) {
      guess.refine();
      c.cone_violation = 0;
      return true;
    }
  }
  // W is that of the step's own matrix.
  std::copy(c.first_forces.begin(), c.first_forces.end(), c.lambda.begin());
  std::copy_n(c.D.begin(), 144 * nodes, w.elements.D.begin());
  std::copy_n(c.O.begin(), 144 * nodes, w.elements.O.begin());
  w.inverse.reset();
  w.solver.factor(nodes, w.solver.top(), w.elements.D.data(), w.elements.O.data());
  c.coupled = 0;
  return false;
}

}  // namespace limber::thread
