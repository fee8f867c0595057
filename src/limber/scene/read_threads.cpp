// What threads have beyond beams: how they are held, curves through points, contact.
#include <algorithm>
#include <cmath>

#include "limber/scene/fields.h"

namespace limber::scene {

void read_thread(const Fields& fields, Beam& beam) {
  beam.root = all_holds[fields.choice("root", 0)];
  beam.straight = fields.boolean("straight");
  beam.air_damping = fields.quantity("air_damping", 0);
  beam.velocity = fields.vector("velocity");
  for_each_item(fields, "clamps", ObjectType::clamp, [&](const Fields& clamp) {
    BeamClamp c;
    c.s = clamp.quantity("at", 1);
    c.hold = all_holds[clamp.choice("hold", 0)];
    c.until = clamp.quantity("until", c.until);
    if (clamp.has("to"))
      if (const auto body = clamp.reader.body(clamp.node("to"), clamp.path("to"))) c.body = *body;
    beam.clamps.push_back(c);
  });
}

// A smooth curve through the points (centripetal Catmull-Rom), as a fine polyline.
PolylinePath spline_through(const std::vector<Vec3>& points) {
  constexpr int parts = 16;
  PolylinePath out;
  const int n = static_cast<int>(points.size());
  const auto at = [&](int i) -> Vec3 {
    if (i < 0) return 2 * points[0] - points[1];
    return i < n ? points[i] : Vec3(2 * points[n - 1] - points[n - 2]);
  };
  out.points.push_back(points[0]);
  for (int i = 0; i + 1 < n; ++i) {
    const Vec3 p[4] = {at(i - 1), at(i), at(i + 1), at(i + 2)};
    double t[4] = {0};
    for (int k = 0; k < 3; ++k) t[k + 1] = t[k] + std::max(1e-9, std::sqrt((p[k + 1] - p[k]).norm()));
    for (int k = 1; k <= parts; ++k) {
      const double x = t[1] + (t[2] - t[1]) * k / parts;
      const auto mix = [&](const Vec3& a, const Vec3& b, double ta, double tb) -> Vec3 {
        return ((tb - x) * a + (x - ta) * b) / (tb - ta);
      };
      const Vec3 a1 = mix(p[0], p[1], t[0], t[1]), a2 = mix(p[1], p[2], t[1], t[2]),
                 a3 = mix(p[2], p[3], t[2], t[3]);
      out.points.push_back(mix(mix(a1, a2, t[0], t[2]), mix(a2, a3, t[1], t[3]), t[1], t[2]));
    }
  }
  return out;
}

}  // namespace limber::scene
