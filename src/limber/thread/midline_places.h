// The closest places of two smooth midlines. Internal to thread/.
#pragma once

#include <algorithm>

#include "limber/thread/system.h"

namespace limber::thread {

// Midline by ξ: value and two derivatives.
struct Curve {
  Vec3 x, d, dd;
};
inline Curve curve(const double* e, int slot, double l, double xi) {
  const Eigen::Map<const Vec3> x1(e + 12 * slot), s1(e + 12 * slot + 3), x2(e + 12 * slot + 12),
      s2(e + 12 * slot + 15);
  const double x = xi, y = xi * xi, z = y * xi;
  return {(1 - 3 * y + 2 * z) * x1 + l * (x - 2 * y + z) * s1 + (3 * y - 2 * z) * x2 + l * (z - y) * s2,
          (6 * x - 6 * y) * (x2 - x1) + l * (1 - 4 * x + 3 * y) * s1 + l * (3 * y - 2 * x) * s2,
          (6 - 12 * x) * (x2 - x1) + l * (6 * x - 4) * s1 + l * (6 * x - 2) * s2};
}

// From the closest places of two capsules to those of the midlines within them: Newton on the squared
// distance. Strands side by side keep the middle of where they run together. Returns the square of the sine
// between the strands, about.
inline double refine(const double* e, const WorkspaceData& w, const Capsule& a, const Capsule& b, double& xa,
                     double& xb) {
  double across = 0;
  for (int i = 0; i < 4; ++i) {
    const Curve p = curve(e, a.slot, w.length[a.slot], xa), q = curve(e, b.slot, w.length[b.slot], xb);
    const Vec3 d = p.x - q.x;
    const double ga = d.dot(p.d), gb = -d.dot(q.d), hab = -p.d.dot(q.d);
    const double aa = p.d.squaredNorm(), bb = q.d.squaredNorm();
    if (i == 0) across = 1 - hab * hab / (aa * bb);
    const double haa = std::max(aa + d.dot(p.dd), 0.2 * aa), hbb = std::max(bb - d.dot(q.dd), 0.2 * bb);
    const double det = haa * hbb - hab * hab;
    if (!(det > 0.1 * haa * hbb)) break;
    const double ya = std::clamp(xa - (hbb * ga - hab * gb) / det, a.xi0, a.xi1);
    // Where one is at an end of its capsule, the other follows.
    const double yb = std::clamp(xb - (gb + hab * (ya - xa)) / hbb, b.xi0, b.xi1);
    xa = std::clamp(xa - (ga + hab * (yb - xb)) / haa, a.xi0, a.xi1);
    xb = yb;
  }
  return across;
}

}  // namespace limber::thread
