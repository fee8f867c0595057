#include "limber/elastic/beam_frames.h"

#include <algorithm>
#include <cmath>

namespace limber::elastic {
namespace {

Vec3 unit_across(const Vec3& v, const Vec3& n) { return (v - n * n.dot(v)).normalized(); }

// v turned by the smallest rotation that takes the unit vector a to the unit vector b.
Vec3 turn(const Vec3& a, const Vec3& b, const Vec3& v) {
  const double c = a.dot(b);
  if (c < -1 + 1e-12) return v;  // straight back: turned about v itself
  const Vec3 w = a.cross(b);
  return v + w.cross(v) + w.cross(w.cross(v)) / (1 + c);
}

Vec3 reflect(const Vec3& normal, const Vec3& v) {
  return v - 2 / normal.squaredNorm() * normal.dot(v) * normal;
}

// The whole angle that a curve turns through; the step below is a fixed part of a radian.
double turning(const Path& path) {
  if (const auto* arc = std::get_if<ArcPath>(&path)) return std::abs(arc->angle);
  if (const auto* helix = std::get_if<HelixPath>(&path)) return 2 * pi * std::abs(helix->turns);
  return 0;
}

// Fractions of the length at a polyline's corners.
std::vector<double> corners(const PolylinePath& p, double length) {
  std::vector<double> s{0};
  double before = 0;
  for (std::size_t i = 1; i + 1 < p.points.size(); ++i) {
    before += (p.points[i] - p.points[i - 1]).norm();
    if (before / length > s.back() && before < length) s.push_back(before / length);
  }
  s.push_back(1);
  return s;
}

}  // namespace

BeamFrames::BeamFrames(const Path& path, const Vec3& up)
    : path_(path), length_(path_length(path)), breaks_{0, 1} {
  std::vector<double> places;
  if (const auto* polyline = std::get_if<PolylinePath>(&path_)) {
    places = breaks_ = corners(*polyline, length_);
  } else {
    // 1/20 rad a step leaves the frame's turn about the tangent exact to about 1e-8 a radian of path.
    const int n = std::max(8, static_cast<int>(std::ceil(20 * turning(path_))));
    for (int i = 0; i <= n; ++i) places.push_back(static_cast<double>(i) / n);
  }
  const Vec3 t = path_tangent(path_, 0);
  stations_.reserve(places.size());
  stations_.push_back({0, path_point(path_, 0), t, unit_across(up, t)});
  for (std::size_t i = 1; i + 1 < places.size(); ++i)
    stations_.push_back(follow(stations_.back(), places[i]));
}

BeamFrames::Station BeamFrames::follow(const Station& from, double s) const {
  Station to{s, path_point(path_, s), path_tangent(path_, s), from.z};
  if (std::holds_alternative<PolylinePath>(path_)) {
    to.z = turn(from.tangent, to.tangent, from.z);
  } else {
    const Vec3 step = to.point - from.point;
    if (step.squaredNorm() == 0) return to;
    // First reflection: in the plane halfway between the points. Second: so that the tangents agree.
    const Vec3 z1 = reflect(step, from.z), t1 = reflect(step, from.tangent);
    const Vec3 between = to.tangent - t1;
    to.z = between.squaredNorm() > 0 ? reflect(between, z1) : z1;
  }
  to.z = unit_across(to.z, to.tangent);
  return to;
}

Pose BeamFrames::at(double s) const {
  // The last station at or before s, within the rounding of a corner's place.
  const auto after = std::upper_bound(stations_.begin(), stations_.end(), s + 1e-14,
                                      [](double value, const Station& station) { return value < station.s; });
  const Station here = follow(*std::prev(after), s);
  Pose X;
  X.R << here.tangent, here.z.cross(here.tangent), here.z;
  X.p = here.point;
  return X;
}

}  // namespace limber::elastic
