#include "limber/contact/gjk.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace limber::contact {
namespace {

struct Corner {
  Vec3 w, a, b;  // w = a − b
};
struct Simplex {
  Corner corner[4];
  double weight[4];
  int count = 0;
};

// Weights of the point of the plane through all corners that is nearest to the origin; false: no such plane.
bool nearest_of(const Corner* const* c, int n, double* weight) {
  if (n == 1) return weight[0] = 1, true;
  const Vec3& p = c[0]->w;
  if (n == 2) {
    const Vec3 u = c[1]->w - p;
    const double uu = u.squaredNorm();
    if (!(uu > 0)) return false;
    weight[1] = -p.dot(u) / uu;
    weight[0] = 1 - weight[1];
    return true;
  }
  const Vec3 u = c[1]->w - p, v = c[2]->w - p, n_uv = u.cross(v);
  if (n == 3) {
    const double nn = n_uv.squaredNorm();
    if (!(nn > 1e-28 * u.squaredNorm() * v.squaredNorm())) return false;
    weight[1] = -p.cross(v).dot(n_uv) / nn;
    weight[2] = -u.cross(p).dot(n_uv) / nn;
    weight[0] = 1 - weight[1] - weight[2];
    return true;
  }
  const Vec3 q = c[3]->w - p;
  const double volume = n_uv.dot(q);
  if (!(std::abs(volume) > 1e-14 * n_uv.norm() * q.norm())) return false;
  weight[1] = -p.dot(v.cross(q)) / volume;
  weight[2] = -p.dot(q.cross(u)) / volume;
  weight[3] = -p.dot(n_uv) / volume;
  weight[0] = 1 - weight[1] - weight[2] - weight[3];
  return true;
}

// Reduces the simplex to the part that holds its nearest point, and returns that point.
Vec3 reduce(Simplex& s) {
  double best = std::numeric_limits<double>::infinity();
  Simplex kept;
  Vec3 nearest = Vec3::Zero();
  for (int set = 1; set < (1 << s.count); ++set) {
    const Corner* c[4] = {};
    int n = 0;
    for (int i = 0; i < s.count; ++i)
      if (set >> i & 1) c[n++] = &s.corner[i];
    double weight[4] = {};
    if (!nearest_of(c, n, weight) || *std::min_element(weight, weight + n) < -1e-12) continue;
    Vec3 v = Vec3::Zero();
    for (int i = 0; i < n; ++i) v += weight[i] * c[i]->w;
    if (n == 4) v.setZero();
    if (!(v.squaredNorm() < best)) continue;
    best = v.squaredNorm(), nearest = v, kept.count = n;
    for (int i = 0; i < n; ++i) kept.corner[i] = *c[i], kept.weight[i] = weight[i];
  }
  s = kept;
  return nearest;
}

}  // namespace

Apart gjk(const Convex& a, const Convex& b) {
  constexpr int most_rounds = 100;
  const double size = a.size + b.size + (a.centre - b.centre).norm();
  const double none = 1e-12 * size;
  Simplex s;
  Vec3 v = a.centre - b.centre;
  if (!(v.norm() > none)) v = Vec3::UnitX();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < most_rounds; ++round) {
    const Vec3 pa = support(a, -v), pb = support(b, v), w = pa - pb;
    if (s.count > 0 && v.dot(v - w) <= 1e-14 * v.squaredNorm()) break;
    bool known = false;
    for (int i = 0; i < s.count; ++i) known = known || s.corner[i].w == w;
    if (known) break;
    Simplex next = s;
    next.corner[next.count++] = {w, pa, pb};
    const Vec3 nearer = reduce(next);
    if (next.count == 4 || !(nearer.norm() > none)) return {true, 0, a.centre, b.centre};
    if (!(nearer.squaredNorm() < best)) break;  // rounding has the last word
    best = nearer.squaredNorm();
    s = next;
    v = nearer;
  }
  Apart out;
  for (int i = 0; i < s.count; ++i) {
    out.on_a += s.weight[i] * s.corner[i].a;
    out.on_b += s.weight[i] * s.corner[i].b;
  }
  out.distance = v.norm();
  // Without a plane between the two, rounding stopped it inside.
  out.overlap = !(v.dot(support(a, -v) - support(b, v)) > 0);
  return out;
}

}  // namespace limber::contact
