// The forces of contacts: W = J A⁻¹ Jᵀ from the factor of the step's matrix, and the motion that they make.
//
// A contact acts at two or four nodes. Its forces are carried from there towards the top of the factor as
// long as something is left of them: R_j, as node j feels those from beyond it (block_inverse.h). Two
// contacts meet where one has a node and the other is carried past it: W_ab = Σ_j J_a,jᵀ G_j R_b,j over a's
// nodes, and the same with both exchanged, less what is there twice; on two sides of the top they meet at the
// top.
#include "limber/thread/contact_rows.h"

#include <algorithm>
#include <cmath>

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

void rows_of(const WorkspaceData& w, const Touch& t, TouchRows& out) {
  out.count = 0;
  add_side(w, t.a, 1, t, out);
  if (t.b.slot >= 0) add_side(w, t.b, -1, t, out);
  out.first = t.b.slot >= 0 ? std::min(t.a.slot, t.b.slot) : t.a.slot;
  out.last = std::max(t.a.slot, t.b.slot) + 1;
}

}  // namespace

void touch_motion(const TouchRows& r, const double* x, double* out) {
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

void add_touch_force(const TouchRows& r, const double* lambda, double* x) {
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

void unit_forces(const TouchRows& r, int k, double* y) {
  for (int lane = 0; lane < 3; ++lane)
    for (int v = 0; v < 4; ++v) {
      const double weight = lane == 0 && v > 1 ? 0 : r.weight[k][v];
      for (int i = 0; i < 3; ++i) y[12 * lane + 3 * v + i] = weight * r.d[k][lane][i];
    }
}

namespace {

// R of a contact over the nodes where something is left of it, and G times its own forces.
void carry_contact(const BlockInverse& inverse, int top, ContactWork& c, int contact) {
  const TouchRows& rows = c.rows[contact];
  TouchBlocks& r = c.around[contact];
  r.count = rows.count, r.first = rows.first, r.last = rows.last;
  std::copy_n(rows.node, 4, r.node);
  TouchField& f = c.fields[contact];
  f = {};
  f.low = r.first, f.high = r.last;
  for (int k = 0; k < r.count; ++k) {
    unit_forces(rows, k, r.own[k]);
    apply3(inverse.diagonal(r.node[k]), r.own[k], r.moved[k]);
  }
  // The nodes of a side are neighbours: what is carried past the farther one goes on to the nearer one, and
  // both are felt there together.
  for (int k = 0; k < r.count; k += 2) {
    const bool up = r.node[k + 1] <= top, down = r.node[k] > top;
    r.far[k / 2] = up ? k : down ? k + 1 : -1;
    if (r.far[k / 2] < 0) continue;
    const int far = r.far[k / 2], near = up ? k + 1 : k;
    std::copy_n(r.moved[far], 36, r.both[k / 2]);
    add_follow3(inverse.transfer(r.node[far]), r.moved[near], r.both[k / 2]);
  }
  // Each side of the top (which belongs to the side below it): from the farthest of the contact's nodes on.
  for (const int way : {1, -1}) {
    const auto on_side = [&](int j) { return way > 0 ? j <= top : j > top; };
    const auto nearest_beyond = [&](int from) {  // the next own node on the way; the top if there is none
      int best = top, found = false;
      for (int k = 0; k < r.count; ++k) {
        const int j = r.node[k];
        if (!on_side(j) || way * (j - from) <= 0) continue;
        if (!found || way * (best - j) > 0) best = j, found = true;
      }
      return std::pair{best, found != 0};
    };
    const auto [start, some] = nearest_beyond(way > 0 ? -1 : r.last + 1);
    if (!some) continue;
    const auto offset = static_cast<std::ptrdiff_t>(c.used);
    const std::size_t most = 36 * static_cast<std::size_t>(way * (top - start) + 1);
    if (c.pool.size() < c.used + most) c.pool.resize(2 * (c.used + most));
    double *y = c.pool.data() + offset, size = 0;
    std::fill_n(y, 36, 0.0);
    int j = start;
    for (;;) {
      double* here = y + 36 * (way * (j - start));
      for (int k = 0; k < r.count; ++k)
        if (r.node[k] == j && on_side(j))
          for (int i = 0; i < 36; ++i) here[i] += r.own[k][i];
      const auto [next, more] = nearest_beyond(j);
      j = carry_forces(inverse, j, next, way, !more, here, size);
      if (!more) break;
    }
    c.used += 36 * static_cast<std::size_t>(way * (j - start) + 1);
    f.low = std::min(f.low, j), f.high = std::max(f.high, j);
    if (way > 0) {
      f.up_first = start, f.up_last = j, f.up = offset;
      continue;
    }
    f.down_first = j, f.down_last = start, f.down = offset;
    if (j > top) continue;
    f.down_first = top + 1;
    f.root = static_cast<std::ptrdiff_t>(c.used);
    if (c.pool.size() < c.used + 36) c.pool.resize(2 * (c.used + 36));
    c.used += 36;
    apply3(inverse.diagonal(top), c.pool.data() + f.root - 36, c.pool.data() + f.root);
  }
}

LIMBER_INLINE const double* carried(const TouchField& f, int top, int j, const double* pool) {
  if (j <= top) return j >= f.up_first && j <= f.up_last ? pool + f.up + 36 * (j - f.up_first) : nullptr;
  return j >= f.down_first && j <= f.down_last ? pool + f.down + 36 * (f.down_last - j) : nullptr;
}

// Sums of x y over three rows of twelve each: lane by lane, until a block is finished.
struct Sums {
  Pack of[3][3];
};
template <bool Swapped>
LIMBER_INLINE void add_product(const double* x, const double* y, Sums& a) {
#pragma GCC unroll 3
  for (int p = 0; p < 12; p += 4) {
    const Pack y0 = load(y + p), y1 = load(y + 12 + p), y2 = load(y + 24 + p);
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
      const Pack v = load(x + 12 * r + p);
      (Swapped ? a.of[0][r] : a.of[r][0]) += v * y0;
      (Swapped ? a.of[1][r] : a.of[r][1]) += v * y1;
      (Swapped ? a.of[2][r] : a.of[r][2]) += v * y2;
    }
  }
}

// What a contact's nodes feel of another that is carried past them.
template <bool Swapped>
LIMBER_INLINE bool feel(const TouchBlocks& r, const TouchField& f, int top, const double* pool, bool* counted,
                        Sums& out) {
  bool some = false;
  for (int side = 0; 2 * side < r.count; ++side) {
    const int far = r.far[side];
    if (far >= 0) {
      if (const double* y = carried(f, top, r.node[far], pool)) {
        add_product<Swapped>(r.both[side], y, out);
        counted[far] = some = true;
        continue;
      }
    }
    for (int k = 2 * side; k < 2 * side + 2; ++k)
      if (const double* y = carried(f, top, r.node[k], pool)) {
        add_product<Swapped>(r.moved[k], y, out);
        counted[k] = some = true;
      }
  }
  return some;
}

constexpr double tolerance = 1e-9;  // of the largest gap or slip without forces
constexpr int most_sweeps = 300;
constexpr int at_once = 4;  // contacts that are coupled with the others

// W of two contacts by rows of four (a's); false if they do not meet.
LIMBER_INLINE bool couple(const TouchBlocks& ra, const TouchField& fa, const TouchBlocks& rb,
                          const TouchField& fb, const double* pool, int top, double* out) {
  const Pack o = pack(0);
  Sums ab{{{o, o, o}, {o, o, o}, {o, o, o}}};
  bool in_a[4] = {}, in_b[4] = {};  // whether a node has felt the other's force at itself
  bool meet = feel<false>(ra, fb, top, pool, in_a, ab);
  meet = feel<true>(rb, fa, top, pool, in_b, ab) || meet;
  const bool apart = ra.last < rb.first || rb.last < ra.first;
  for (int k = 0; k < ra.count && !apart; ++k)
    for (int i = 0; i < rb.count; ++i) {
      if (ra.node[k] != rb.node[i] || in_a[k] != in_b[i]) continue;
      Sums same{{{o, o, o}, {o, o, o}, {o, o, o}}};
      add_product<false>(ra.moved[k], rb.own[i], same);
      for (int r = 0; r < 9; ++r)
        ab.of[r / 3][r % 3] += in_a[k] ? -same.of[r / 3][r % 3] : same.of[r / 3][r % 3];
      meet = true;
    }
  if (fa.up_last == top && fb.root >= 0) {
    add_product<false>(pool + fa.up + 36 * (top - fa.up_first), pool + fb.root, ab);
    meet = true;
  }
  if (fb.up_last == top && fa.root >= 0) {
    add_product<false>(pool + fa.root, pool + fb.up + 36 * (top - fb.up_first), ab);
    meet = true;
  }
  for (int r = 0; r < 3; ++r) {  // lanes summed: (0 + 1) + (2 + 3)
    const Pack x = ab.of[r][0], y = ab.of[r][1], z = ab.of[r][2];
    const Pack xy = __builtin_shufflevector(x, y, 0, 4, 2, 6) + __builtin_shufflevector(x, y, 1, 5, 3, 7);
    const Pack zo = __builtin_shufflevector(z, o, 0, 4, 2, 6) + __builtin_shufflevector(z, o, 1, 5, 3, 7);
    store(out + 4 * r,
          __builtin_shufflevector(xy, zo, 0, 1, 4, 5) + __builtin_shufflevector(xy, zo, 2, 3, 6, 7));
  }
  store(out + 12, o);
  return meet;
}

// Blocks of the contacts begin … end − 1 with those of `list` that are not after them. A few at a time: what
// is read of the other contact is read once for all of them.
LIMBER_KERNEL int couple_kernel(const TouchBlocks* rows, const TouchField* fields, const double* pool,
                                int top, int begin, int end, const int* list, int count,
                                std::pair<int, int>* pairs, double* out) {
  int kept = 0;
  for (int n = 0; n < count; ++n)
    for (int b = begin; b < end; ++b) {
      const int a = list[n];
      if (a > b) continue;
      if (!couple(rows[a], fields[a], rows[b], fields[b], pool, top,
                  out + 16 * static_cast<std::ptrdiff_t>(kept)))
        continue;
      pairs[kept++] = {a, b};
    }
  return kept;
}

// Blocks of the contacts begin … end − 1 with each other and all before them. They are kept in the order of
// the lowest node that they reach, to be found by it.
void find_blocks(const BlockTridiagonal& factor, int begin, int end, ContactWork& c) {
  const auto before = [&](int x, int y) {
    return c.fields[x].low != c.fields[y].low ? c.fields[x].low < c.fields[y].low : x < y;
  };
  int low = c.fields[begin].low, high = c.fields[begin].high;
  for (int b = begin; b < end; ++b) {
    const TouchField& f = c.fields[b];
    c.order.insert(std::upper_bound(c.order.begin(), c.order.end(), b, before), b);
    c.widest = std::max(c.widest, f.high - f.low);
    low = std::min(low, f.low), high = std::max(high, f.high);
  }
  c.near.clear();
  auto at = std::lower_bound(c.order.begin(), c.order.end(), low - c.widest,
                             [&](int a, int node) { return c.fields[a].low < node; });
  for (; at != c.order.end() && c.fields[*at].low <= high; ++at)
    if (c.fields[*at].high >= low) c.near.push_back(*at);
  const std::size_t most = c.known + c.near.size() * static_cast<std::size_t>(end - begin) + 1;
  if (c.blocks.size() < most) c.blocks.resize(2 * most), c.block.resize(32 * most);
  c.known += static_cast<std::size_t>(couple_kernel(
      c.around.data(), c.fields.data(), c.pool.data(), factor.top(), begin, end, c.near.data(),
      static_cast<int>(c.near.size()), c.blocks.data() + c.known, c.block.data() + 16 * c.known));
}

// Both triangles, row by row.
void assemble(ContactWork& c) {
  const auto m = c.touches.size();
  contact::ContactMatrix& W = c.W;
  c.degree.assign(m + 1, 0);
  for (std::size_t n = 0; n < c.known; ++n) {
    const auto [a, b] = c.blocks[n];
    ++c.degree[a + 1];
    if (a != b) ++c.degree[b + 1];
  }
  for (std::size_t i = 0; i < m; ++i) c.degree[i + 1] += c.degree[i];
  W.start.assign(c.degree.begin(), c.degree.end());
  W.columns.resize(static_cast<std::size_t>(W.start[m]));
  W.values.resize(16 * W.columns.size());
  W.diagonal.resize(m);
  for (std::size_t n = 0; n < c.known; ++n) {
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
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 3; ++k) v[4 * i + k] = block[4 * k + i];
    v[3] = v[7] = v[11] = v[12] = v[13] = v[14] = v[15] = 0;
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

namespace {

// The motion with the forces λ into w.delta.
void move(int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  std::fill_n(c.shift.begin(), 12 * nodes, 0.0);
  for (std::size_t k = 0; k < c.touches.size(); ++k)
    if (c.lambda[4 * k] > 0) add_touch_force(c.rows[k], c.lambda.data() + 4 * k, c.shift.data());
  w.solver.solve(c.shift.data());
  for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = c.free_motion[i] + c.shift[i];
}

// What friction takes: force times slip; and what solids give that move.
void take_work(ContactWork& c, const double* delta) {
  c.friction_work = c.solid_work = 0;
  for (std::size_t k = 0; k < c.touches.size(); ++k) {
    const double* x = c.lambda.data() + 4 * k;
    if (x[0] <= 0) continue;
    double u[4];
    touch_motion(c.rows[k], delta, u);
    const Touch& t = c.touches[k];
    c.friction_work -= x[1] * (u[1] + t.t1.dot(t.slip0)) + x[2] * (u[2] + t.t2.dot(t.slip0));
    c.solid_work += (x[0] * t.n + x[1] * t.t1 + x[2] * t.t2).dot(t.carried);
  }
}

// Of the largest force.
double outside_of_cones(const ContactWork& c) {
  double most = 0, largest = 0;
  for (std::size_t k = 0; k < c.touches.size(); ++k) {
    const double* x = c.lambda.data() + 4 * k;
    most = std::max({most, -x[0], std::sqrt(x[1] * x[1] + x[2] * x[2]) - c.friction[k] * x[0]});
    largest = std::max({largest, std::abs(x[0]), std::abs(x[1]), std::abs(x[2])});
  }
  return largest > 0 ? most / largest : 0;
}

// W of all contacts.
void couple_all(WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int from = c.coupled, m = static_cast<int>(c.touches.size());
  if (c.fields.size() < c.touches.size())
    c.fields.resize(c.touches.size()), c.around.resize(c.touches.size());
  if (from == 0) {
    c.used = 0;
    c.known = 0;
    c.order.clear();
    c.widest = 0;
  }
  for (int k = from; k < m; ++k) {
    w.inverse.cover(w.solver, c.rows[k].first, c.rows[k].last);
    carry_contact(w.inverse, w.solver.top(), c, k);
    if ((k + 1 - from) % at_once == 0 || k + 1 == m)
      find_blocks(w.solver, from + (k - from) / at_once * at_once, k + 1, c);
  }
  c.coupled = m;
  assemble(c);
}

}  // namespace

void add_rows(const SystemData& s, int from, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const auto m = c.touches.size();
  if (c.rows.size() < m) c.rows.resize(m);
  c.free.resize(4 * m);
  c.friction.resize(m);
  for (std::size_t k = 0; k < m; ++k) {
    const Touch& t = c.touches[k];
    c.friction[k] = s.friction_on(w.thread_of[t.a.slot], t.b.slot < 0 ? t.other : w.thread_of[t.b.slot]);
  }
  c.lambda.resize(4 * m, 0.0);
  for (auto k = static_cast<std::size_t>(from); k < m; ++k) {
    const Touch& t = c.touches[k];
    TouchRows& r = c.rows[k];
    rows_of(w, t, r);
    double* free = c.free.data() + 4 * k;
    touch_motion(r, c.free_motion.data(), free);
    free[0] += t.free_gap;
    free[1] += t.t1.dot(t.slip0);
    free[2] += t.t2.dot(t.slip0);
    std::fill_n(c.lambda.data() + 4 * k, 4, 0.0);
  }
  if (from == 0) {
    c.coupled = 0;
    warm_start(c);
  }
}

void solve_forces(const SystemData& s, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  const int m = static_cast<int>(c.touches.size());
  if (hold_solids(s, nodes, w)) return take_work(c, w.delta.data());
  couple_all(w);
  const contact::ConeProblem problem{m, &c.W, c.free.data(), c.friction.data()};
  double largest = 0;
  for (const double x : c.free) largest = std::max(largest, std::abs(x));
  const auto report = c.solver.solve(problem, tolerance * largest, most_sweeps, c.lambda.data());
  c.sweeps += report.sweeps;
  c.solves += report.solves;
  c.residual = largest > 0 ? report.change / largest : 0;
  c.cone_violation = outside_of_cones(c);
  move(nodes, w);
  take_work(c, w.delta.data());
}

void apply_last_forces(const std::vector<Touch>& touches, int nodes, WorkspaceData& w) {
  ContactWork& c = w.contact;
  std::fill_n(c.shift.begin(), 12 * nodes, 0.0);
  for (std::size_t k = 0; k < touches.size(); ++k) {
    const Touch& t = touches[k];
    const Vec3& f = c.last[k].force;
    const double lambda[3] = {f.dot(t.n), f.dot(t.t1), f.dot(t.t2)};
    rows_of(w, t, c.scratch_rows);
    add_touch_force(c.scratch_rows, lambda, c.shift.data());
  }
  w.solver.solve(c.shift.data());
  for (int i = 0; i < 12 * nodes; ++i) w.delta[i] = c.free_motion[i] + c.shift[i];
}

}  // namespace limber::thread
