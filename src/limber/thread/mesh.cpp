// The mesh of a state: constants of its elements, places on it, splitting and joining (section 5 of the
// paper).
//
// Elements are the leaves of a binary tree over the coarsest mesh: an element of level k spans 2^(levels − k)
// places and is split in the middle; only two leaves of one parent are joined. A split keeps the midline and
// its velocity (Hermite) and puts the new node's rotation half way. An element is split when it bends or
// twists by more than an angle beyond its rest shape, or where the estimate of the mesh's error asks for it
// (mesh_error.cpp); a pair is joined when both together stay below `join` of that. (The paper's eq. 24–27 as
// printed measure 4 for a straight element and refine that.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "limber/math/so3.h"
#include "limber/thread/element_gradient.h"
#include "limber/thread/system.h"

namespace limber::thread {
namespace {

// Natural strains of the element between two places: |q|, q_y, q_z, φ.
std::array<double, 6> natural(const ThreadInfo& info, int place, int next) {
  const double l = (next - place) * info.unit;
  if (info.straight) return {l, 0, 0, 0, 0, 0};
  const Pose &A = info.ease[place], &B = info.ease[next];
  const Vec3 phi = math::so3_log(A.R.transpose() * B.R);
  const Vec3 p = math::so3_exp(-0.5 * phi) * (A.R.transpose() * (B.p - A.p));
  // B = J_r⁻¹(φ) exp(−φ/2): (φ/2)/sin(φ/2) across φ.
  const Vec3 q = math::so3_jacobian_inverse(phi) * (math::so3_exp(-0.5 * phi) * p);
  return {q.norm(), q[1], q[2], phi[0], phi[1], phi[2]};
}

// Takes one of the axial strains (Λ, ε₁xx, ε₁yy, ε₁zz, ε₂xx, ε₂yy, ε₂zz) out of an element's energy, as where
// it is least.
void condense_stretch(int e, int j, ElementArrays& a) {
  const auto k = [&](int i, int l) -> double& { return a.constants[slot::axial + upper7(i, l)][j]; };
  const double pivot = k(e, e);
  for (int i = 0; i < 7; ++i)
    for (int l = i; l < 7; ++l)
      if (i != e && l != e) k(i, l) -= k(i, e) * k(e, l) / pivot;
  for (int i = 0; i < 7; ++i) k(i, e) = 0;
}

}  // namespace

int SystemData::capacity() const {
  int n = 0;
  for (const ThreadInfo& t : threads) n += t.fine + 1;
  return n + static_cast<int>(cuts.size());
}

int node_at(const State& state, int thread, int place) {
  const auto begin = state.place.begin() + state.first[thread],
             end = state.place.begin() + state.first[thread + 1];
  const auto found = std::lower_bound(begin, end, place);
  return found != end && *found == place ? static_cast<int>(found - state.place.begin()) : -1;
}

namespace {

// A time as good as reached.
bool has_come(double at, const State& state) { return at <= state.t + 1e-9 * std::abs(state.t); }

}  // namespace

bool holds(const Fix& f, const State& state) { return !has_come(f.until, state); }

int holding(const SystemData& s, const State& state) {
  return static_cast<int>(std::ranges::count_if(s.fixes, [&](const Fix& f) { return holds(f, state); }));
}

double next_change(const SystemData& s, const State& state) {
  double next = std::numeric_limits<double>::infinity();
  for (const Fix& f : s.fixes)
    if (holds(f, state)) next = std::min(next, f.until);
  for (const Cut& c : s.cuts)
    if (!has_come(c.at, state)) next = std::min(next, c.at);
  return next;
}

Spot spot_at(const SystemData& s, const State& state, int thread, double fraction) {
  const double place = fraction * s.threads[thread].fine;
  const auto begin = state.place.begin() + state.first[thread],
             end = state.place.begin() + state.first[thread + 1];
  auto after = std::upper_bound(begin, end, place);
  if (after == end) --after;
  const int slot = static_cast<int>(after - state.place.begin()) - 1;
  return {slot, (place - state.place[slot]) / (state.place[slot + 1] - state.place[slot])};
}

Spot sample_spot(const State& state, const Piece& piece, int sample) {
  const auto begin = state.place.begin() + state.first[piece.thread],
             end = state.place.begin() + state.first[piece.thread + 1];
  const double place = piece.from + static_cast<double>(piece.to - piece.from) * sample / (piece.samples - 1);
  // The last one is the end of the piece's last element, also where another piece begins.
  const bool last = sample + 1 == piece.samples;
  const auto after = last ? std::lower_bound(begin, end, piece.to) : std::upper_bound(begin, end, place);
  const int slot = static_cast<int>(after - state.place.begin()) - 1;
  const double span = state.place[slot + 1] - state.place[slot];
  return {slot, last ? 1 : (place - state.place[slot]) / span};
}

Mat3 rotation_of(const double* gradient) {
  Mat3 P = Eigen::Map<const Mat3>(gradient);
  for (int i = 0; i < 30; ++i) {
    const Mat3 inverse = P.inverse().transpose();
    const Mat3 next = 0.5 * (P + inverse);
    const double change = (next - P).cwiseAbs().maxCoeff();
    P = next;
    if (change < 1e-14) break;
  }
  return P;
}

void set_mesh(const SystemData& s, const State& state, WorkspaceData& w) {
  if (w.place == state.place && w.first == state.first && w.holding == holding(s, state)) return;
  if (state.node_count() > s.capacity() || state.first.size() != s.threads.size() + 1)
    throw std::invalid_argument("state: has more nodes than the system's finest mesh");
  w.place = state.place;
  w.first = state.first;
  w.holding = holding(s, state);
  ElementArrays& a = w.elements;
  a.constants.fill(0);
  a.node_constants.fill(0);
  a.half.fill(0);
  a.force.fill(0);
  a.energy.fill(0);
  std::fill(w.weight.begin(), w.weight.end(), 0.0);
  std::fill(w.length.begin(), w.length.end(), 0.0);
  std::fill(w.held.begin(), w.held.end(), 0u);
  for (std::size_t t = 0; t < s.threads.size(); ++t) {
    const ThreadInfo& info = s.threads[t];
    for (int j = state.first[t]; j < state.first[t + 1]; ++j) {
      w.thread_of[j] = static_cast<int>(t);
      if (j + 1 == state.first[t + 1]) break;
      const int span = state.place[j + 1] - state.place[j];
      if (span == 0) continue;  // cut
      int level = 0;
      while (span << level < info.fine / info.elements) ++level;
      const ElementStiffness& k = info.level[level];
      const double l = span * info.unit;
      w.length[j] = l;
      for (int i = 0; i < slot::rest; ++i) a.constants[i][j] = k.k[i];
      for (int i = 0; i < 6; ++i) a.constants[slot::mass + i][j] = k.off_mass[i];
      a.constants[slot::scale][j] = 1;
      const auto z = natural(info, state.place[j], state.place[j + 1]);
      for (int i = 0; i < 6; ++i) a.constants[slot::rest + i][j] = z[i];
      // An element that is strongly curved at ease has no wall.
      const double turn = z[3] * z[3] + z[4] * z[4] + z[5] * z[5];
      a.constants[slot::fold][j] =
          turn < 0.5 * fold_begins ? std::max(k.k[slot::bend_y], k.k[slot::bend_z]) : 0;
      for (int i = 0; i < 5; ++i) {
        a.node_constants[i][j] += k.first_mass[i];
        a.node_constants[i][j + 1] += k.second_mass[i];
      }
      const double m = info.rod.density * info.rod.A * l;
      w.weight[2 * j] += m / 2, w.weight[2 * j + 2] += m / 2;
      w.weight[2 * j + 1] += m * l / 12, w.weight[2 * j + 3] -= m * l / 12;
    }
  }
  for (const Fix& f : s.fixes)
    if (holds(f, state)) w.held[node_at(state, f.thread, f.place)] |= f.held;
  w.carried.clear();
  for (const Carried& c : s.carried) {
    const int node = node_at(state, c.thread, c.place);
    w.carried.push_back({node, c.mu});
    w.held[node] |= carries_body;
    // The node is as rigid as the body, the thread beside it is not: its strain there goes with the rest.
    if (node + 1 < state.node_count() && w.length[node] > 0) condense_stretch(1, node, a);
    if (node > 0 && w.length[node - 1] > 0) condense_stretch(4, node - 1, a);
  }
  w.scale_h = -1;
}

void set_damping(const SystemData& s, const State& state, double ch, WorkspaceData& w) {
  ElementArrays& a = w.elements;
  for (int j = 0; j < state.node_count(); ++j) {
    if (w.length[j] == 0) continue;
    const ThreadInfo& info = s.threads[w.thread_of[j]];
    const double eta = ch > 0 ? info.rod.damping / ch : 0;
    a.constants[slot::scale][j] = 1 + eta;
    const auto z = natural(info, state.place[j], state.place[j + 1]);
    const double* before = state.strain_before.data() + 12 * j;
    const auto blend = [&](double rest, double hat) {
      return eta > 0 ? (rest + eta * hat) / (1 + eta) : rest;
    };
    for (int i = 0; i < 6; ++i) {
      a.constants[slot::rest + i][j] = blend(z[i], eta > 0 ? before[i] : 0);
      a.constants[slot::rest_strain_1 + i][j] = blend(0, eta > 0 ? before[6 + i] : 0);
      a.constants[slot::rest_strain_2 + i][j] = blend(0, eta > 0 ? before[18 + i] : 0);
    }
  }
}

namespace {

// On another mesh accelerations are found anew.
void forget_accelerations(State& state) {
  if (state.a.empty()) return;
  for (auto* list : {&state.a, &state.a_mean}) list->assign(state.e.size(), 0);
  state.h_before = state.energy_before = 0;
}

struct Bending {
  double bend = 0, twist = 0;
};

// Turn of the element between nodes i and k beyond its rest shape.
Bending bending(const SystemData& s, const State& state, int thread, int i, int k) {
  const auto axes = [&](int j) {
    Mat3 F;
    for (int c = 0; c < 9; ++c) F(c % 3, c / 3) = state.e[12 * j + 3 + c];
    // Directors made orthonormal: enough to measure an angle.
    const Vec3 x = F.col(1).cross(F.col(2)).normalized();
    const Vec3 y = (F.col(1) - x * x.dot(F.col(1))).normalized();
    Mat3 P;
    P << x, y, x.cross(y);
    return P;
  };
  const auto z = natural(s.threads[thread], state.place[i], state.place[k]);
  const Vec3 phi = math::so3_log(axes(i).transpose() * axes(k)) - Vec3(z[3], z[4], z[5]);
  return {std::sqrt(phi[1] * phi[1] + phi[2] * phi[2]), std::abs(phi[0])};
}

void interpolate_position(const double* q, double l, double* out) {  // x and x_,x at the middle
  for (int i = 0; i < 3; ++i) {
    const double x1 = q[i], s1 = q[3 + i], x2 = q[12 + i], s2 = q[15 + i];
    out[i] = 0.5 * (x1 + x2) + l / 8 * (s1 - s2);
    out[3 + i] = 1.5 * (x2 - x1) / l - 0.25 * (s1 + s2);
    out[6 + i] = 0.5 * (q[6 + i] + q[18 + i]);
    out[9 + i] = 0.5 * (q[9 + i] + q[21 + i]);
  }
}

// The new node's gradient: rotation half way, stretch the mean, so that no strain appears.
void interpolate_gradient(const double* q, double* out) {
  const auto part = [](const double* p, Mat3& P, Mat3& U) {
    P = rotation_of(p + 3);
    U = P.transpose() * Eigen::Map<const Mat3>(p + 3);
  };
  Mat3 P1, U1, P2, U2;
  part(q, P1, U1);
  part(q + 12, P2, U2);
  const Mat3 F = P1 * math::so3_exp(0.5 * math::so3_log(P1.transpose() * P2)) * (0.5 * (U1 + U2));
  for (int c = 0; c < 9; ++c) out[3 + c] = F(c % 3, c / 3);
}

// Contacts go with their places when slots are split, joined or counted anew: their number and forces stay.
template <class Map>
void move_touches(State& state, const Map& map) {
  for (std::size_t k = 0; k + LastTouch::size <= state.touch.size(); k += LastTouch::size)
    for (int side = 0; side < 2; ++side) {
      double &slot = state.touch[k + side], &xi = state.touch[k + 2 + side];
      if (slot >= 0) map(slot, xi);
    }
}

void insert_node(State& state, int thread, int slot, double l) {
  double fresh[4][12];
  const std::vector<double>* list[] = {&state.e, &state.v, &state.e_before, &state.v_before};
  for (int k = 0; k < 4; ++k) {
    interpolate_position(list[k]->data() + 12 * slot, l, fresh[k]);
    if (k % 2 == 0) interpolate_gradient(list[k]->data() + 12 * slot, fresh[k]);
  }
  std::vector<double>* to[] = {&state.e, &state.v, &state.e_before, &state.v_before};
  for (int k = 0; k < 4; ++k) to[k]->insert(to[k]->begin() + 12 * (slot + 1), fresh[k], fresh[k] + 12);
  state.place.insert(state.place.begin() + slot + 1, (state.place[slot] + state.place[slot + 1]) / 2);
  move_touches(state, [&](double& at, double& xi) {
    const bool beyond = at > slot || (at == slot && xi > 0.5);
    if (at == slot) xi = beyond ? 2 * xi - 1 : 2 * xi;
    if (beyond) ++at;
  });
  for (std::size_t t = static_cast<std::size_t>(thread) + 1; t < state.first.size(); ++t) ++state.first[t];
  if (!state.strain_before.empty()) state.strain_before.assign(12 * (state.place.size() + 1), 0);
}

void remove_node(State& state, int thread, int node) {
  for (std::vector<double>* list : {&state.e, &state.v, &state.e_before, &state.v_before})
    list->erase(list->begin() + 12 * node, list->begin() + 12 * (node + 1));
  state.place.erase(state.place.begin() + node);
  move_touches(state, [&](double& at, double& xi) {  // two elements of the same length
    if (at == node - 1) xi = 0.5 * xi;
    if (at == node) xi = 0.5 + 0.5 * xi;
    if (at >= node) --at;
  });
  for (std::size_t t = static_cast<std::size_t>(thread) + 1; t < state.first.size(); ++t) --state.first[t];
  if (!state.strain_before.empty()) state.strain_before.assign(12 * (state.place.size() + 1), 0);
}

bool is_held(const SystemData& s, int thread, int place) {
  for (const Fix& f : s.fixes)
    if (f.thread == thread && f.place == place) return true;
  for (const Carried& c : s.carried)
    if (c.thread == thread && c.place == place) return true;
  return false;
}

}  // namespace

// The node's two sides keep its place, its rate and their own elements: no energy and no momentum changes.
bool make_cuts(const SystemData& s, State& state, WorkspaceData& w) {
  bool changed = false;
  for (const Cut& c : s.cuts) {
    if (!has_come(c.at, state)) break;
    const int node = node_at(state, c.thread, c.place);
    if (node + 1 < state.first[c.thread + 1] && state.place[node + 1] == c.place) continue;  // was made
    for (std::vector<double>* list : {&state.e, &state.v, &state.e_before, &state.v_before}) {
      double copy[12];
      std::copy_n(list->begin() + 12 * node, 12, copy);
      list->insert(list->begin() + 12 * node, copy, copy + 12);
    }
    state.place.insert(state.place.begin() + node, c.place);
    for (std::size_t t = static_cast<std::size_t>(c.thread) + 1; t < state.first.size(); ++t)
      ++state.first[t];
    if (!state.strain_before.empty()) state.strain_before.assign(12 * (state.place.size() + 1), 0);
    move_touches(state, [&](double& at, double&) {
      if (at >= node) ++at;
    });
    changed = true;
  }
  if (changed) forget_accelerations(state);
  if (changed) set_mesh(s, state, w);
  return changed;
}

// What held a node is gone at once: its acceleration jumps.
void let_go(const SystemData& s, State& state) {
  for (const Fix& f : s.fixes)
    if (!holds(f, state) && f.until > state.t - 1e-9 * std::abs(state.t)) forget_accelerations(state);
}

bool adapt(const SystemData& s, State& state, WorkspaceData& w) {
  if (s.options.levels == 0) return false;
  const Options& o = s.options;
  bool changed = false;
  // Half of the allowed error for all elements together, by their lengths; half for each midline between its
  // nodes.
  const bool by_error = o.error > 0 && element_errors(s, state, w);
  const auto fine_enough = [&](double beyond, double within, double l, const ThreadInfo& info, double part) {
    const double allowed = 0.5 * part * o.error;
    return !by_error || (beyond <= allowed * l / info.length && within <= allowed);
  };
  int shift = 0;  // nodes that are new: w.errors is of the mesh before
  for (int t = 0; t < static_cast<int>(s.threads.size()); ++t) {
    const ThreadInfo& info = s.threads[t];
    for (int j = state.first[t]; j + 1 < state.first[t + 1]; ++j) {
      const int span = state.place[j + 1] - state.place[j];
      if (span <= 1) continue;
      const Bending b = bending(s, state, t, j, j + 1);
      const ElementError& e = w.errors[j - shift];
      if (b.bend <= o.bend && b.twist <= o.twist &&
          fine_enough(e.beyond, e.within, span * info.unit, info, 1))
        continue;
      insert_node(state, t, j, span * info.unit);
      changed = true;
      ++j, ++shift;
    }
    if (changed) continue;  // a mesh that grows is not thinned in the same step
    for (int j = state.first[t]; j + 2 < state.first[t + 1]; ++j) {
      const int span = state.place[j + 1] - state.place[j];
      const bool siblings = span > 0 && state.place[j + 2] - state.place[j + 1] == span &&
                            state.place[j] % (2 * span) == 0 && 2 * span <= info.fine / info.elements;
      if (!siblings || is_held(s, t, state.place[j + 1])) continue;
      const Bending b = bending(s, state, t, j, j + 2);
      if (b.bend > o.join * o.bend || b.twist > o.join * o.twist) continue;
      // Of an element twice as long: 2⁵ and 2⁴ times.
      const ElementError &e1 = w.errors[j - shift], &e2 = w.errors[j - shift + 1];
      if (!fine_enough(32 * std::max(e1.beyond, e2.beyond), 16 * std::max(e1.within, e2.within),
                       2 * span * info.unit, info, o.join))
        continue;
      remove_node(state, t, j + 1);
      changed = true;
      --shift;
    }
  }
  if (changed) forget_accelerations(state);
  if (changed) set_mesh(s, state, w);
  return changed;
}

}  // namespace limber::thread
