// Forward pass: X_WM = X_WP X_PM, V = X_PM⁻¹ V_P + S v, c = V × S v + S̊ v (Featherstone 2008, table 5.1).
#include "limber/multibody/kinematics.h"

#include <algorithm>

#include "limber/math/trig.h"
#include "limber/multibody/inertia_rows.h"
#include "limber/multibody/parallel_walk.h"

namespace limber::multibody {

namespace {

using rows::all;
using rows::load3;
using rows::Pack;

// Where a link is and how it moves: columns of R_WM, origin, twist in M.
struct Carried {
  Pack R[3], p, w, v;
};

LIMBER_INLINE Carried at_world() {
  const Pack zero = rows::pack(0);
  return {{Pack{1, 0, 0, 0}, Pack{0, 1, 0, 0}, Pack{0, 0, 1, 0}}, zero, zero, zero};
}

template <bool moving>
LIMBER_INLINE Carried carried(const LinkMotion& m) {
  const double* R = m.X_WM.R.data();
  Carried c = at_world();
  c.R[0] = load3(R), c.R[1] = load3(R + 3), c.R[2] = load3(R + 6), c.p = load3(m.X_WM.p.data());
  if constexpr (moving) c.w = load3(m.V.data()), c.v = load3(m.V.data() + 3);
  return c;
}

// X_PM by columns, and S v.
struct JointMotion {
  Pack R[3], p, w, v;
};

// A joint that turns about z.
LIMBER_INLINE JointMotion revolute_motion(const Link& link, const math::SinCos& angle, double rate) {
  const double* F = link.X_PF.R.data();
  const Pack x = rows::load(F), y = rows::load(F + 3), s = rows::pack(angle.sin), c = rows::pack(angle.cos);
  return {{x * c + y * s, y * c - x * s, rows::load(F + 6)},
          load3(link.X_PF.p.data()),
          Pack{0, 0, rate, 0},
          rows::pack(0)};
}

template <bool moving>
LIMBER_INLINE JointMotion other_motion(const Link& link, const double* q, const double* v) {
  const Pose X = link.X_PF * joint_transform(link, q);
  JointMotion j;
  j.R[0] = load3(X.R.data()), j.R[1] = load3(X.R.data() + 3), j.R[2] = load3(X.R.data() + 6);
  j.p = load3(X.p.data());
  if constexpr (!moving) return j;
  const Vec6 V = joint_twist(link.kind, link.lead, q, v);
  j.w = load3(V.data()), j.v = load3(V.data() + 3);
  return j;
}

// Stored from front to back: each pack's fourth number is overwritten by what follows.
LIMBER_INLINE void store_pose(const Pack (&R)[3], Pack p, Pose& X) {
  double* to = X.R.data();
  rows::store(to, R[0]), rows::store(to + 3, R[1]), rows::store(to + 6, R[2]), rows::store3(to + 9, p);
}
LIMBER_INLINE void store_six(Pack w, Pack v, Vec6& V) {
  rows::store(V.data(), w), rows::store3(V.data() + 3, v);
}

// V = X_PM⁻¹ V_P + S v and c.
LIMBER_INLINE void move(const Link& link, const JointMotion& j, const double* q, const double* v, Carried& at,
                        LinkMotion& m) {
  Pack turn[3];
  rows::transpose(j.R, turn);
  const Pack below = at.v - rows::cross(j.p, at.w);
  const Pack w = (turn[0] * all(at.w, 0) + turn[1] * all(at.w, 1)) + turn[2] * all(at.w, 2);
  at.v = ((turn[0] * all(below, 0) + turn[1] * all(below, 1)) + turn[2] * all(below, 2)) + j.v;
  at.w = w + j.w;
  store_six(at.w, at.v, m.V);
  if (link.kind == JointKind::revolute) {
    const Pack around{v[0], -v[0], 0, 0};
    store_six(__builtin_shufflevector(at.w, at.w, 1, 0, 2, 3) * around,
              __builtin_shufflevector(at.v, at.v, 1, 0, 2, 3) * around, m.c);
    return;
  }
  store_six(rows::cross(at.w, j.w), rows::cross(at.w, j.v) + rows::cross(at.v, j.w), m.c);
  if (axes_turn(link.kind)) m.c += joint_twist_rate(link.kind, q, v);
}

// A parent that stands right before its child is still at hand.
template <bool moving>
LIMBER_INLINE void place(const Tree& tree, int i, const double* q, const double* v, const math::SinCos& angle,
                         Carried& at, LinkMotion* links) {
  const Link& link = tree[i];
  LinkMotion& m = links[i];
  const double *qi = q + link.q, *vi = moving ? v + link.v : nullptr;
  if (link.parent < 0)
    at = at_world();
  else if (link.parent != i - 1)
    at = carried<moving>(links[link.parent]);
  const JointMotion j = link.kind == JointKind::revolute ? revolute_motion(link, angle, moving ? vi[0] : 0)
                                                         : other_motion<moving>(link, qi, vi);
  store_pose(j.R, j.p, m.X_PM);
  Pack R[3];
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k)
    R[k] = (at.R[0] * all(j.R[k], 0) + at.R[1] * all(j.R[k], 1)) + at.R[2] * all(j.R[k], 2);
  at.p += (at.R[0] * all(j.p, 0) + at.R[1] * all(j.p, 1)) + at.R[2] * all(j.p, 2);
#pragma GCC unroll 3
  for (int k = 0; k < 3; ++k) at.R[k] = R[k];
  store_pose(at.R, at.p, m.X_WM);
  if constexpr (moving) move(link, j, qi, vi, at, m);
}

// Sines and cosines do not wait for the parent: some links ahead.
template <bool moving>
LIMBER_INLINE void place_links(const Tree& tree, const double* q, const double* v, int begin, int end,
                               LinkMotion* links) {
  constexpr int ahead = 32;
  double turn[ahead];
  math::SinCos angle[ahead];
  Carried at = at_world();
  if (begin > 0 && tree[begin].parent == begin - 1) at = carried<moving>(links[begin - 1]);
  for (int first = begin; first < end; first += ahead) {
    const int last = std::min(first + ahead, end);
    for (int i = first; i < last; ++i)
      turn[i - first] = tree[i].kind == JointKind::revolute ? q[tree[i].q] : 0.5;  // of others: any
    math::sincos(turn, last - first, angle);
    for (int i = first; i < last; ++i) place<moving>(tree, i, q, v, angle[i - first], at, links);
  }
}

LIMBER_KERNEL void place_moving_links(const Tree& tree, const double* q, const double* v, int begin, int end,
                                      LinkMotion* links) {
  place_links<true>(tree, q, v, begin, end, links);
}
LIMBER_KERNEL void place_resting_links(const Tree& tree, const double* q, int begin, int end,
                                       LinkMotion* links) {
  place_links<false>(tree, q, nullptr, begin, end, links);
}

}  // namespace

void kinematics(const Tree& tree, const double* q, const double* v, std::vector<LinkMotion>& links,
                Workers* workers) {
  walk_ranges_forward(tree, workers,
                      [&](int begin, int end) { place_moving_links(tree, q, v, begin, end, links.data()); });
}

void poses(const Tree& tree, const double* q, std::vector<LinkMotion>& links, Workers* workers) {
  walk_ranges_forward(tree, workers,
                      [&](int begin, int end) { place_resting_links(tree, q, begin, end, links.data()); });
}

void integrate(const Tree& tree, const double* q, const double* v, double h, double* q_out) {
  for (const Link& link : tree.links())
    if (link.kind == JointKind::revolute)
      q_out[link.q] = q[link.q] + h * v[link.v];
    else
      integrate_joint(link.kind, q + link.q, v + link.v, h, q_out + link.q);
}

namespace {

// 2 T, and R h + m p of every link that can move.
template <bool kinetic>
LIMBER_INLINE double add_up(const Tree& tree, const LinkMotion* links, Vec3& moved) {
  double twice = 0;
  Pack total = rows::pack(0);
  for (int i = 0; i < tree.size(); ++i) {
    const Inertia& I = tree[i].inertia;
    if constexpr (kinetic) {
      const Pack w = load3(links[i].V.data()), v = load3(links[i].V.data() + 3);
      Pack moment, force;
      rows::momentum(I, w, v, moment, force);
      twice += rows::dot(w, moment) + rows::dot(v, force);
    }
    if (tree[i].dofs == 0 && stands(tree, i)) continue;
    const double *R = links[i].X_WM.R.data(), *h = I.h.data();
    total +=
        ((load3(R) * rows::pack(h[0]) + load3(R + 3) * rows::pack(h[1])) + load3(R + 6) * rows::pack(h[2])) +
        rows::pack(I.m) * load3(R + 9);
  }
  rows::store3(moved.data(), total);
  return twice;
}

LIMBER_KERNEL double add_up_moving(const Tree& tree, const LinkMotion* links, Vec3& moved) {
  return add_up<true>(tree, links, moved);
}
LIMBER_KERNEL void add_up_moved_mass(const Tree& tree, const LinkMotion* links, Vec3& moved) {
  add_up<false>(tree, links, moved);
}

}  // namespace

double kinetic_energy(const Tree& tree, const std::vector<LinkMotion>& links, Vec3* moved) {
  Vec3 sum;
  return 0.5 * add_up_moving(tree, links.data(), moved ? *moved : sum);
}

bool stands(const Tree& tree, int link) {
  while (link >= 0 && tree[link].dofs == 0) link = tree[link].parent;
  return link < 0;
}

Vec3 moved_mass(const Tree& tree, const std::vector<LinkMotion>& links) {
  Vec3 sum;
  add_up_moved_mass(tree, links.data(), sum);
  return sum;
}

double gravity_energy(const Tree& tree, const std::vector<LinkMotion>& links, const Vec3& g) {
  return -g.dot(moved_mass(tree, links));
}

Vec6 momentum_in_world(const Tree& tree, const std::vector<LinkMotion>& links) {
  Vec6 sum = Vec6::Zero();
  for (int i = 0; i < tree.size(); ++i) sum += links[i].X_WM.force(tree[i].inertia.momentum(links[i].V));
  return sum;
}

}  // namespace limber::multibody
