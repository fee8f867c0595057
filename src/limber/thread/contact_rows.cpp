// The forces of contacts: W = J A⁻¹ Jᵀ from the factor of the step's matrix, and the motion that they make.
//
// For each contact X = A⁻¹Jᵀ, four columns side by side, substituted only over the nodes where something is
// left of it; then W = J X, which reads four nodes a block.
#include <algorithm>
#include <cmath>

#include "limber/thread/system.h"

namespace limber::thread {
namespace {

void add_side(const WorkspaceData& w, const TouchSide& side, double sign, const Touch& t, TouchRows& out) {
  const Table& P = w.elements.P;
  const Vec3* directions[3] = {&t.n, &t.t1, &t.t2};
  for (int k = 0; k < 2; ++k) {
    const int j = side.slot + k, at = out.count++;
    const double weight[4] = {side.line[2 * k], side.line[2 * k + 1], side.section[2 * k],
                              side.section[2 * k + 1]};
    out.node[at] = j;
    for (int v = 0; v < 4; ++v) out.weight[at][v] = w.held[j] >> v & 1u ? 0 : weight[v];
    for (int lane = 0; lane < 3; ++lane) {
      const Vec3& d = *directions[lane];
      for (int i = 0; i < 3; ++i)
        out.d[at][lane][i] = sign * (P[i][j] * d[0] + P[3 + i][j] * d[1] + P[6 + i][j] * d[2]);
    }
  }
}

TouchRows rows_of(const WorkspaceData& w, const Touch& t) {
  TouchRows out;
  add_side(w, t.a, 1, t, out);
  if (t.b.slot >= 0) add_side(w, t.b, -1, t, out);
  out.first = t.b.slot >= 0 ? std::min(t.a.slot, t.b.slot) : t.a.slot;
  out.last = std::max(t.a.slot, t.b.slot) + 1;
  return out;
}

// J x of a motion in node axes. The normal looks at the midline, friction at the surface.
void times(const TouchRows& r, const double* x, double* out) {
  out[0] = out[1] = out[2] = out[3] = 0;
  for (int k = 0; k < r.count; ++k) {
    const double *p = x + 12 * r.node[k], *weight = r.weight[k];
    for (int i = 0; i < 3; ++i) {
      const double line = weight[0] * p[i] + weight[1] * p[3 + i];
      const double all = line + (weight[2] * p[6 + i] + weight[3] * p[9 + i]);
      out[0] += r.d[k][0][i] * line;
      out[1] += r.d[k][1][i] * all;
      out[2] += r.d[k][2][i] * all;
    }
  }
}

// x += Jᵀλ
void add_force(const TouchRows& r, const double* lambda, double* x) {
  for (int k = 0; k < r.count; ++k) {
    double* p = x + 12 * r.node[k];
    const double* weight = r.weight[k];
    for (int i = 0; i < 3; ++i) {
      const double section = r.d[k][1][i] * lambda[1] + r.d[k][2][i] * lambda[2];
      const double line = r.d[k][0][i] * lambda[0] + section;
      p[i] += weight[0] * line;
      p[3 + i] += weight[1] * line;
      p[6 + i] += weight[2] * section;
      p[9 + i] += weight[3] * section;
    }
  }
}

void add_columns(const TouchRows& r, double* y) {
  for (int k = 0; k < r.count; ++k)
    for (int lane = 0; lane < 3; ++lane)
      for (int v = 0; v < (lane == 0 ? 2 : 4); ++v)
        for (int i = 0; i < 3; ++i)
          y[48 * r.node[k] + 4 * (3 * v + i) + lane] += r.weight[k][v] * r.d[k][lane][i];
}

// J X of one contact's rows and another's field, by rows of four.
LIMBER_KERNEL void couple_kernel(const TouchRows* rows, const double* pool, const TouchField* fields,
                                 const std::pair<int, int>* blocks, int count, double* out) {
  for (int n = 0; n < count; ++n) {
    const TouchRows& r = rows[blocks[n].first];
    const TouchField& f = fields[blocks[n].second];
    Pack a = pack(0), b = pack(0), c = pack(0);
    for (int k = 0; k < r.count; ++k) {
      const int j = r.node[k];
      if (j < f.first || j > f.last) continue;
      const double *x = pool + f.offset + 48 * (j - f.first), *weight = r.weight[k];
      const Pack w0 = pack(weight[0]), w1 = pack(weight[1]), w2 = pack(weight[2]), w3 = pack(weight[3]);
      for (int i = 0; i < 3; ++i) {
        const Pack line = w0 * load(x + 4 * i) + w1 * load(x + 12 + 4 * i);
        const Pack all = line + (w2 * load(x + 24 + 4 * i) + w3 * load(x + 36 + 4 * i));
        a += pack(r.d[k][0][i]) * line;
        b += pack(r.d[k][1][i]) * all;
        c += pack(r.d[k][2][i]) * all;
      }
    }
    double* to = out + 16 * static_cast<std::ptrdiff_t>(n);
    store(to, a), store(to + 4, b), store(to + 8, c), store(to + 12, pack(0));
  }
}

// Which earlier contacts a new one moves.
void find_blocks(ContactWork& c, int from) {
  const int m = static_cast<int>(c.touches.size());
  c.order.resize(static_cast<std::size_t>(m));
  for (int i = 0; i < m; ++i) c.order[i] = i;
  std::sort(c.order.begin(), c.order.end(), [&](int a, int b) {
    return c.rows[a].first != c.rows[b].first ? c.rows[a].first < c.rows[b].first : a < b;
  });
  int widest = 0;
  for (const TouchRows& r : c.rows) widest = std::max(widest, r.last - r.first);
  for (int k = from; k < m; ++k) {
    const TouchField& f = c.fields[k];
    auto at = std::lower_bound(c.order.begin(), c.order.end(), f.first - widest,
                               [&](int a, int node) { return c.rows[a].first < node; });
    for (; at != c.order.end() && c.rows[*at].first <= f.last; ++at)
      if (*at <= k && c.rows[*at].last >= f.first) c.blocks.push_back({*at, k});
  }
}

// Both triangles, row by row.
void assemble(ContactWork& c) {
  const auto m = c.touches.size();
  contact::ContactMatrix& W = c.W;
  c.degree.assign(m + 1, 0);
  for (const auto& [a, b] : c.blocks) {
    ++c.degree[a + 1];
    if (a != b) ++c.degree[b + 1];
  }
  for (std::size_t i = 0; i < m; ++i) c.degree[i + 1] += c.degree[i];
  W.start.assign(c.degree.begin(), c.degree.end());
  W.columns.resize(static_cast<std::size_t>(W.start[m]));
  W.values.resize(16 * W.columns.size());
  W.diagonal.resize(m);
  for (std::size_t n = 0; n < c.blocks.size(); ++n) {
    const auto [a, b] = c.blocks[n];
    const double* block = c.block.data() + 16 * n;
    const int eb = c.degree[b]++;  // W_ba by columns is W_ab by rows
    W.columns[eb] = a;
    std::copy_n(block, 16, W.values.data() + 16 * static_cast<std::size_t>(eb));
    if (a == b) {
      W.diagonal[a] = eb;
      continue;
    }
    const int ea = c.degree[a]++;
    W.columns[ea] = b;
    double* v = W.values.data() + 16 * static_cast<std::size_t>(ea);
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) v[4 * i + k] = block[4 * k + i];
  }
}

// Forces of before go to the contact that is nearest along both strands, if one is within an element.
void warm_start(ContactWork& c) {
  const int m = static_cast<int>(c.touches.size());
  std::fill_n(c.lambda.begin(), 4 * static_cast<std::size_t>(m), 0.0);
  c.by_place.clear();
  for (int k = 0; k < m; ++k) c.by_place.push_back({c.touches[k].a.slot + c.touches[k].a.xi, k});
  std::sort(c.by_place.begin(), c.by_place.end());
  for (const LastTouch& last : c.last) {
    const double place = last.a + last.xi_a;
    auto at = std::lower_bound(c.by_place.begin(), c.by_place.end(), std::pair{place - 1, -1});
    int best = -1;
    double nearest = 2;
    for (; at != c.by_place.end() && at->first < place + 1; ++at) {
      const Touch& t = c.touches[at->second];
      double apart = std::abs(at->first - place);
      if (last.b < 0 || t.b.slot < 0) {
        if (last.b != t.other) continue;
      } else {
        const double other = std::abs(t.b.slot + t.b.xi - (last.b + last.xi_b));
        if (other > 1) continue;
        apart += other;
      }
      if (apart < nearest) nearest = apart, best = at->second;
    }
    if (best < 0) continue;
    const Touch& t = c.touches[best];
    double* lambda = c.lambda.data() + 4 * static_cast<std::size_t>(best);
    lambda[0] += last.force.dot(t.n);
    lambda[1] += last.force.dot(t.t1);
    lambda[2] += last.force.dot(t.t2);
  }
  for (int k = 0; k < m; ++k) {
    double* x = c.lambda.data() + 4 * static_cast<std::size_t>(k);
    x[0] = std::max(0.0, x[0]);
    const double size = std::sqrt(x[1] * x[1] + x[2] * x[2]), limit = c.friction[k] * x[0];
    if (size > limit) x[1] *= limit / size, x[2] *= limit / size;
  }
}

}  // namespace

void add_rows(const SystemData& s, int from, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const auto m = c.touches.size();
  c.rows.resize(m);
  c.fields.resize(m);
  c.free.resize(4 * m);
  c.friction.assign(m, s.friction);
  for (std::size_t k = 0; k < m; ++k)
    if (c.touches[k].other < 0) c.friction[k] = s.solids[-1 - c.touches[k].other].friction;
  c.lambda.resize(4 * m, 0.0);
  if (from == 0) {
    c.pool.clear();
    c.blocks.clear();
  }
  for (auto k = static_cast<std::size_t>(from); k < m; ++k) {
    const Touch& t = c.touches[k];
    TouchRows& r = c.rows[k] = rows_of(w, t);
    TouchField& f = c.fields[k];
    add_columns(r, c.column.data());
    w.solver.solve4(c.column.data(), r.first, r.last, c.low, c.high, f.first, f.last);
    f.offset = static_cast<std::ptrdiff_t>(c.pool.size());
    const auto begin = c.column.begin() + 48 * f.first, end = c.column.begin() + 48 * (f.last + 1);
    c.pool.insert(c.pool.end(), begin, end);
    std::fill(begin, end, 0.0);
    double* free = c.free.data() + 4 * k;
    times(r, c.free_motion.data(), free);
    free[0] += t.free_gap;
    free[1] += t.t1.dot(t.slip0);
    free[2] += t.t2.dot(t.slip0);
    std::fill_n(c.lambda.data() + 4 * k, 4, 0.0);
  }
  const std::size_t known = c.blocks.size();
  find_blocks(c, from);
  c.block.resize(16 * c.blocks.size());
  couple_kernel(c.rows.data(), c.pool.data(), c.fields.data(), c.blocks.data() + known,
                static_cast<int>(c.blocks.size() - known), c.block.data() + 16 * known);
  assemble(c);
  if (from == 0) warm_start(c);
}

void solve_forces(const SystemData& s, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int m = static_cast<int>(c.touches.size());
  const contact::ConeProblem problem{m, &c.W, c.free.data(), c.friction.data()};
  const auto report = c.solver.solve(problem, 1e-4 * s.smallest_radius, 120, c.lambda.data());
  c.sweeps += report.sweeps;
  c.solves += report.solves;
  std::fill_n(c.shift.begin(), 12 * nodes, 0.0);
  for (int k = 0; k < m; ++k)
    if (c.lambda[4 * k] > 0) add_force(c.rows[k], c.lambda.data() + 4 * k, c.shift.data());
  w.solver.solve(c.shift.data());
  for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = c.free_motion[i] + c.shift[i];
  // What friction takes: force times slip; and what solids give that move.
  c.friction_work = c.solid_work = 0;
  for (int k = 0; k < m; ++k) {
    const double* x = c.lambda.data() + 4 * k;
    if (x[0] <= 0) continue;
    double u[4];
    times(c.rows[k], w.delta.data(), u);
    c.friction_work -= x[1] * (u[1] + c.touches[k].t1.dot(c.touches[k].slip0)) +
                       x[2] * (u[2] + c.touches[k].t2.dot(c.touches[k].slip0));
    const Touch& t = c.touches[k];
    c.solid_work += (x[0] * t.n + x[1] * t.t1 + x[2] * t.t2).dot(t.carried);
  }
}

void apply_last_forces(const std::vector<Touch>& touches, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  std::fill_n(c.shift.begin(), 12 * nodes, 0.0);
  for (std::size_t k = 0; k < touches.size(); ++k) {
    const Touch& t = touches[k];
    const Vec3& f = c.last[k].force;
    const double lambda[3] = {f.dot(t.n), f.dot(t.t1), f.dot(t.t2)};
    add_force(rows_of(w, t), lambda, c.shift.data());
  }
  w.solver.solve(c.shift.data());
  for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = c.free_motion[i] + c.shift[i];
}

}  // namespace limber::thread
