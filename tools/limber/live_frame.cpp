#include "live_frame.h"

#include <bit>

namespace limber::cli {

static_assert(std::endian::native == std::endian::little);

std::shared_ptr<const std::string> encode_live_frame(const LiveFrameHead& head, const result::Snapshot& s,
                                                     const result::Fields& fields,
                                                     const result::Touches& touches) {
  auto bytes = std::make_shared<std::string>();
  const auto put = [&](auto value) { bytes->append(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto vector = [&](const Vec3& v) { put(v.x()), put(v.y()), put(v.z()); };
  const auto small = [&](double x) { put(static_cast<float>(x)); };
  std::size_t values = 7 * s.positions.size() + 3 * s.points.size() + 6 * touches.size();
  for (const result::Field& f : fields) values += f.values.size();
  bytes->reserve(104 + 8 * s.scalars.size() + 4 * values);
  bytes->append("LIMF");
  put(head.epoch);
  put(head.index);
  put(std::uint32_t{head.paused} | std::uint32_t{head.held} << 1 | std::uint32_t{head.failed} << 2);
  put(s.time);
  put(head.command);
  vector(head.pull.force);
  vector(head.pull.point);
  put(head.pace);
  put(head.felt);
  put(head.answer);
  for (const double x : s.scalars) put(x);
  for (const Quat& q : s.rotations) small(q.w()), small(q.x()), small(q.y()), small(q.z());
  for (const auto* list : {&s.positions, &s.points})
    for (const Vec3& p : *list) small(p.x()), small(p.y()), small(p.z());
  for (const result::Field& f : fields)
    for (const float x : f.values) put(x);
  for (const result::Touch& t : touches)
    for (const Vec3* v : {&t.at, &t.force}) small(v->x()), small(v->y()), small(v->z());
  return bytes;
}

}  // namespace limber::cli
