// The forces of contacts: W = J A⁻¹ Jᵀ from the factor of the step's matrix, and the motion that they make.
//
// With A = UᵀU block-tridiagonal, W = YᵀY, Y = U⁻ᵀJᵀ: each contact's rows are substituted forward from the
// first node they act on, until they reach the top of the elimination or have died away.
#include <algorithm>
#include <cmath>

#include "limber/thread/system.h"

namespace limber::thread {
namespace {

// Adds one side's rows (normal, two tangents; lane 3 empty) to a field of four columns a node.
void add_side(const WorkspaceData& w, const TouchSide& t, double sign, const Vec3 (&directions)[3],
              double* y) {
  for (int k = 0; k < 2; ++k) {
    const int j = t.slot + k;
    const Table& P = w.elements.P;
    for (int lane = 0; lane < 3; ++lane) {
      const Vec3& d = directions[lane];
      double local[3];
      for (int i = 0; i < 3; ++i)
        local[i] = sign * (P[i][j] * d[0] + P[3 + i][j] * d[1] + P[6 + i][j] * d[2]);
      const double weight[4] = {t.line[2 * k], t.line[2 * k + 1], lane == 0 ? 0 : t.section[2 * k],
                                lane == 0 ? 0 : t.section[2 * k + 1]};
      for (int v = 0; v < 4; ++v) {
        if (w.held[j] >> v & 1u) continue;
        for (int i = 0; i < 3; ++i) y[48 * j + 4 * (3 * v + i) + lane] += weight[v] * local[i];
      }
    }
  }
}

// Σ J x over a touch's rows for a motion in node axes.
void times(const WorkspaceData& w, const Touch& t, const double* x, double* out) {
  const Vec3* directions[3] = {&t.n, &t.t1, &t.t2};
  out[0] = out[1] = out[2] = out[3] = 0;
  for (const auto& [side, sign] : {std::pair{&t.a, 1.0}, std::pair{&t.b, -1.0}}) {
    if (side->slot < 0) continue;
    for (int k = 0; k < 2; ++k) {
      const int j = side->slot + k;
      const Table& P = w.elements.P;
      Vec3 line, section;
      for (int i = 0; i < 3; ++i) {
        const auto at = [&](int v) { return x[12 * j + 3 * v + i]; };
        line[i] = side->line[2 * k] * at(0) + side->line[2 * k + 1] * at(1);
        section[i] = side->section[2 * k] * at(2) + side->section[2 * k + 1] * at(3);
      }
      for (int lane = 0; lane < 3; ++lane) {
        const Vec3& d = *directions[lane];
        for (int i = 0; i < 3; ++i) {
          const double local = P[i][j] * d[0] + P[3 + i][j] * d[1] + P[6 + i][j] * d[2];
          out[lane] += sign * local * (line[i] + (lane == 0 ? 0 : section[i]));
        }
      }
    }
  }
}

// The transposed product: adds Jᵀλ.
void add_force(const WorkspaceData& w, const Touch& t, const double* lambda, double* x) {
  const Vec3 normal = lambda[0] * t.n, tangent = lambda[1] * t.t1 + lambda[2] * t.t2,
             whole = normal + tangent;
  for (const auto& [side, sign] : {std::pair{&t.a, 1.0}, std::pair{&t.b, -1.0}}) {
    if (side->slot < 0) continue;
    for (int k = 0; k < 2; ++k) {
      const int j = side->slot + k;
      const Table& P = w.elements.P;
      for (int i = 0; i < 3; ++i) {
        const auto local = [&](const Vec3& d) {
          return sign * (P[i][j] * d[0] + P[3 + i][j] * d[1] + P[6 + i][j] * d[2]);
        };
        const double f[4] = {side->line[2 * k] * local(whole), side->line[2 * k + 1] * local(whole),
                             side->section[2 * k] * local(tangent),
                             side->section[2 * k + 1] * local(tangent)};
        for (int v = 0; v < 4; ++v)
          if (!(w.held[j] >> v & 1u)) x[12 * j + 3 * v + i] += f[v];
      }
    }
  }
}

// The last step's force of the same two capsules, in the new directions.
void warm_start(const State& state, const Touch& t, std::size_t& hint, double* lambda) {
  const std::size_t n = state.touch.size() / 5;
  for (std::size_t tried = 0; tried < n; ++tried) {
    const std::size_t k = (hint + tried) % n;
    const double* x = state.touch.data() + 5 * k;
    if (static_cast<int>(x[0]) != t.key[0] || static_cast<int>(x[1]) != t.key[1]) continue;
    const Vec3 f(x[2], x[3], x[4]);
    lambda[0] = std::max(0.0, f.dot(t.n));
    lambda[1] = f.dot(t.t1), lambda[2] = f.dot(t.t2);
    hint = k + 1;
    return;
  }
}

void couple(ContactWork& c) {
  const int m = static_cast<int>(c.touches.size());
  c.order.resize(m);
  for (int i = 0; i < m; ++i) c.order[i] = i;
  std::sort(c.order.begin(), c.order.end(),
            [&](int a, int b) { return c.first[a] != c.first[b] ? c.first[a] < c.first[b] : a < b; });
  c.blocks.clear();
  for (int i = 0; i < m; ++i)
    for (int k = i; k < m && c.first[c.order[k]] <= c.end[c.order[i]]; ++k)
      c.blocks.push_back({c.order[i], c.order[k]});
  // Both triangles, row by row.
  c.degree.assign(static_cast<std::size_t>(m) + 1, 0);
  for (const auto& [a, b] : c.blocks) {
    ++c.degree[a + 1];
    if (a != b) ++c.degree[b + 1];
  }
  for (int i = 0; i < m; ++i) c.degree[i + 1] += c.degree[i];
  contact::ContactMatrix& W = c.W;
  W.start.assign(c.degree.begin(), c.degree.end());
  W.columns.resize(static_cast<std::size_t>(W.start[m]));
  W.values.resize(16 * W.columns.size());
  W.diagonal.resize(static_cast<std::size_t>(m));
  for (const auto& [a, b] : c.blocks) {
    double block[16];
    const double *ya = c.pool.data() + c.offset[a], *yb = c.pool.data() + c.offset[b];
    const int from = std::max(c.first[a], c.first[b]), to = std::min(c.end[a], c.end[b]);
    // Fields start at their own first node.
    cross_products(ya - 48 * static_cast<std::ptrdiff_t>(c.first[a]),
                   yb - 48 * static_cast<std::ptrdiff_t>(c.first[b]), from, to, block);
    const int ea = c.degree[a]++;
    W.columns[ea] = b;
    std::copy_n(block, 16, W.values.data() + 16 * static_cast<std::size_t>(ea));
    if (a == b) {
      W.diagonal[a] = ea;
      continue;
    }
    const int eb = c.degree[b]++;
    W.columns[eb] = a;
    double* v = W.values.data() + 16 * static_cast<std::size_t>(eb);
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) v[4 * i + k] = block[4 * k + i];
  }
}

}  // namespace

void add_rows(const SystemData& s, int from, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int m = static_cast<int>(c.touches.size());
  for (auto* list : {&c.first, &c.end}) list->resize(static_cast<std::size_t>(m));
  c.offset.resize(static_cast<std::size_t>(m));
  c.free.resize(4 * static_cast<std::size_t>(m));
  c.friction.assign(static_cast<std::size_t>(m), s.friction);
  c.lambda.resize(4 * static_cast<std::size_t>(m));
  if (from == 0) c.pool.clear();
  const int top = w.solver.top();
  for (int k = from; k < m; ++k) {
    const Touch& t = c.touches[k];
    int first = t.a.slot, last = t.a.slot + 1;
    if (t.b.slot >= 0) first = std::min(first, t.b.slot), last = std::max(last, t.b.slot + 1);
    const int lo = std::min(first, top), hi = std::max(last, top);
    const std::size_t at = c.pool.size();
    c.pool.resize(at + 48 * static_cast<std::size_t>(hi - lo + 1), 0.0);
    double* y = c.pool.data() + at - 48 * static_cast<std::ptrdiff_t>(lo);
    const Vec3 directions[3] = {t.n, t.t1, t.t2};
    add_side(w, t.a, 1, directions, y);
    if (t.b.slot >= 0) add_side(w, t.b, -1, directions, y);
    c.offset[k] = at;
    c.first[k] = lo;
    c.end[k] = w.solver.forward4(y, first, last);
    c.pool.resize(at + 48 * static_cast<std::size_t>(c.end[k] - lo + 1));
    double* free = c.free.data() + 4 * static_cast<std::size_t>(k);
    times(w, t, c.free_motion.data(), free);
    free[0] += t.free_gap;
    free[1] += t.t1.dot(t.slip0);
    free[2] += t.t2.dot(t.slip0);
    double* lambda = c.lambda.data() + 4 * static_cast<std::size_t>(k);
    std::fill_n(lambda, 4, 0.0);
    if (from == 0) warm_start(*w.contact.state, t, w.contact.hint, lambda);
  }
  couple(c);
}

void solve_forces(const SystemData& s, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int m = static_cast<int>(c.touches.size());
  const contact::ConeProblem problem{m, &c.W, c.free.data(), c.friction.data()};
  const auto report = contact::solve_cone(problem, 1e-3 * s.smallest_radius, 80, c.lambda.data());
  c.sweeps += report.sweeps;
  std::fill_n(c.shift.begin(), 12 * nodes, 0.0);
  for (int k = 0; k < m; ++k)
    if (c.lambda[4 * k] > 0) add_force(w, c.touches[k], c.lambda.data() + 4 * k, c.shift.data());
  w.solver.solve(c.shift.data());
  for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = c.free_motion[i] + c.shift[i];
  // What friction takes: force times slip.
  c.friction_work = 0;
  for (int k = 0; k < m; ++k) {
    const double* x = c.lambda.data() + 4 * k;
    if (x[0] <= 0) continue;
    double u[4];
    times(w, c.touches[k], w.delta.data(), u);
    c.friction_work -= x[1] * (u[1] + c.touches[k].t1.dot(c.touches[k].slip0)) +
                       x[2] * (u[2] + c.touches[k].t2.dot(c.touches[k].slip0));
  }
}

}  // namespace limber::thread
