#include "limber/elastic/beam_pieces.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "limber/math/trig.h"

namespace limber::elastic {
namespace {

// Calls visit(a, b) for every smooth part of s0…s1.
template <class Visit>
void for_smooth_parts(const std::vector<double>& breaks, double s0, double s1, Visit visit) {
  auto next = std::upper_bound(breaks.begin(), breaks.end(), s0);
  while (s0 < s1) {
    const double end = next == breaks.end() ? s1 : std::min(*next++, s1);
    if (end > s0) visit(s0, end);
    s0 = end;
  }
}

// Gauss–Legendre, 4 points: exact for the cubic moments of straight parts; visit(s, weight), weights adding
// to s1 − s0.
template <class Visit>
void for_gauss_points(const std::vector<double>& breaks, double s0, double s1, Visit visit) {
  constexpr std::array<double, 2> x{0.33998104358485626480, 0.86113631159405257522};
  constexpr std::array<double, 2> w{0.65214515486254614263, 0.34785484513745385737};
  for_smooth_parts(breaks, s0, s1, [&](double a, double b) {
    const double mid = 0.5 * (a + b), half = 0.5 * (b - a);
    for (int i = 0; i < 2; ++i) {
      visit(mid - half * x[i], half * w[i]);
      visit(mid + half * x[i], half * w[i]);
    }
  });
}

// The box that stands for the section: y and z sides and its centre from the centroid. None: a cylinder does.
struct SectionBox {
  Vec2 size, center;
};
std::optional<SectionBox> section_box(const SectionShape& shape, const SectionConstants& c) {
  if (const auto* r = std::get_if<Rectangle>(&shape)) return SectionBox{{r->width, r->height}, {0, 0}};
  // Equal area and the same proportions.
  if (const auto* e = std::get_if<Ellipse>(&shape); e && e->a != e->b)
    return SectionBox{Vec2(e->a, e->b) * std::sqrt(pi), {0, 0}};
  if (const auto* p = std::get_if<Polygon>(&shape)) {
    Vec2 low = p->outline[0], high = low;
    for (const Vec2& v : p->outline) {
      low = low.cwiseMin(v);
      high = high.cwiseMax(v);
    }
    return SectionBox{high - low, 0.5 * (low + high) - c.centroid};
  }
  return {};
}

double outer_radius(const SectionShape& shape, const SectionConstants& c) {
  if (const auto* t = std::get_if<Tube>(&shape)) return t->outer_radius;
  return c.radius;
}

}  // namespace

BeamPieces::BeamPieces(const Beam& beam, const Material& material, const SectionShape& shape,
                       const SectionConstants& section)
    : beam_(beam),
      material_(material),
      shape_(shape),
      section_(section),
      principal_(principal_moments(section)),
      frames_(beam.path, beam.up),
      joints_(recipe_joints(beam.recipe)) {
  if (beam.rest && beam.rest->path) ease_.emplace(*beam.rest->path, beam.rest->up);
  X_SB_.push_back(frames_.at(0));
  for (int e = 0; e < beam.elements; ++e)
    for (const RecipeJoint& j : joints_) {
      ends_.push_back((e + j.x) / beam.elements);
      X_SB_.push_back(frames_.at(ends_.back()));
    }
  ends_.push_back(1);
}

int BeamPieces::holding(double s) const {
  // Within rounding of a joint counts as at it; the tip belongs to the last piece.
  const auto after = std::upper_bound(ends_.begin(), ends_.end() - 1, s + 1e-14);
  return static_cast<int>(after - ends_.begin());
}

Inertia BeamPieces::inertia(int piece) const {
  // Rotary inertia of a slice, per unit of its mass, in local axes.
  Mat3 slice = Mat3::Zero();
  slice(0, 0) = section_.I_y + section_.I_z;
  slice(1, 1) = section_.I_y;
  slice(2, 2) = section_.I_z;
  slice(1, 2) = slice(2, 1) = -section_.I_yz;
  slice /= section_.A;

  Inertia sum;
  for_gauss_points(frames_.breaks(), start(piece), end(piece), [&](double s, double weight) {
    const Pose X = local_axes(piece, s);
    const double m = material_.density * section_.A * frames_.length() * weight;
    sum += Inertia::about_com(m, X.p, m * X.R * slice * X.R.transpose());
  });
  return sum;
}

Vec3 BeamPieces::center(int piece, double s0, double s1) const {
  Vec3 sum = Vec3::Zero();
  for_gauss_points(frames_.breaks(), s0, s1,
                   [&](double s, double weight) { sum += weight * local_axes(piece, s).p; });
  return sum / (s1 - s0);
}

std::vector<Shape> BeamPieces::shapes(int piece) const {
  std::vector<Shape> out;
  const auto box = section_box(shape_, section_);
  for_smooth_parts(frames_.breaks(), start(piece), end(piece), [&](double a, double b) {
    const Vec3 from = local_axes(piece, a).p, to = local_axes(piece, b).p;
    const double length = (to - from).norm();
    if (!(length > 1e-12 * frames_.length())) return;
    // x along the chord, z as near as possible to the section's.
    const Vec3 x = (to - from) / length, up = local_axes(piece, 0.5 * (a + b)).R.col(2);
    const Vec3 z = (up - x * x.dot(up)).normalized(), y = z.cross(x);
    Pose X;
    X.p = 0.5 * (from + to);
    if (box) {
      X.R << x, y, z;
      X.p += box->center[0] * y + box->center[1] * z;
      out.push_back({BoxShape{{length, box->size[0], box->size[1]}}, X});
    } else {
      X.R << y, z, x;
      out.push_back({CylinderShape{outer_radius(shape_, section_), length}, X});
    }
  });
  return out;
}

// A joint stands for a part of its element as long as its compliance says. With R of the path and E of the
// path at ease at the ends of that part, rigid pieces turn by R₀ᵀR up to the joint and by RᵀR₁ beyond it; at
// ease all of it is turned by E₀ᵀE₁, so that the joint makes up for RᵀR₀ · E₀ᵀE₁ · R₁ᵀR.
Mat3 BeamPieces::ease(int piece) const {
  if (!ease_) return Mat3::Identity();
  const int count = static_cast<int>(joints_.size()), j = (piece - 1) % count, element = (piece - 1) / count;
  double before = 0, all = 0;
  for (int i = 0; i < count; ++i) {
    all += joints_[i].bend_compliance;
    if (i < j) before += joints_[i].bend_compliance;
  }
  const double s0 = (element + before / all) / beam_.elements,
               s1 = (element + (before + joints_[j].bend_compliance) / all) / beam_.elements;
  const Mat3 R = frames_.at(start(piece)).R;
  return R.transpose() * frames_.at(s0).R * ease_->at(s0).R.transpose() * ease_->at(s1).R *
         frames_.at(s1).R.transpose() * R;
}

JointLaw BeamPieces::law(int piece) const {
  const RecipeJoint& j = joints_[(piece - 1) % joints_.size()];
  const double l = frames_.length() / beam_.elements;
  JointLaw law;
  law.stiffness = {material_.G * section_.J / (l * j.twist_compliance),
                   material_.E * principal_.I_y / (l * j.bend_compliance),
                   material_.E * principal_.I_z / (l * j.bend_compliance)};
  for (int i = 0; i < 3; ++i) law.damping[i] = beam_.damping * law.stiffness[i];
  return law;
}

Vec3 BeamPieces::give(int piece) const {
  const RecipeJoint& j = joints_[(piece - 1) % joints_.size()];
  const double l = frames_.length() / beam_.elements * j.bend_compliance;
  const auto [s, c] = math::sincos(principal_.angle);
  const Vec2 shear = Vec2(1 / section_.shear_y, 1 / section_.shear_z) / material_.G;
  return l / section_.A *
         Vec3(1 / material_.E, c * c * shear[0] + s * s * shear[1], s * s * shear[0] + c * c * shear[1]);
}

}  // namespace limber::elastic
