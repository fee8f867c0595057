#include "limber/sim/unseen_links.h"

#include <fmt/format.h>

#include <algorithm>

#include "limber/contact/shape_geometry.h"
#include "limber/math/so3.h"

namespace limber::sim {
namespace {

constexpr std::size_t most_link_pairs = 20'000;
constexpr double noted_depth = 0.01;  // of the smaller of the two

bool are_joined(const Model& model, int a, int b) {
  const auto hangs = [&](int child, int parent) {
    return child >= 0 && model.joints()[child].parent.value == parent &&
           model.joints()[child].kind != JointKind::free;
  };
  return (b >= 0 && (hangs(a, b) || hangs(b, a))) || std::ranges::any_of(model.loops(), [&](const Loop& l) {
           return (l.a.value == a && l.b.value == b) || (l.a.value == b && l.b.value == a);
         });
}

}  // namespace

UnseenLinks::UnseenLinks(const Model& model, const result::Layout& layout,
                         const std::vector<rom::ContactPart>& bodies)
    : layout_(&layout) {
  if (!model.contact() || bodies.empty()) return;
  for (const Plane& plane : model.contact()->planes)
    others_.push_back(
        {-1, -1, contact::HalfSpace{}, {math::rotation_from_z(plane.normal.normalized()), plane.at}, 1e3});
  for (std::size_t b = 0; b < bodies.size(); ++b)
    for (const Shape& shape : model.bodies()[b].shapes) {
      Piece piece{static_cast<int>(b), bodies[b].mechanism, contact::geometry_of(shape.geometry), shape.X_BG};
      const contact::Bounds box = contact::bounds({piece.geometry, Pose{}});
      piece.size = std::min((box.high - box.low).norm(), 1e3);
      (bodies[b].looked_at ? others_ : links_).push_back(piece);
    }
  for (std::size_t i = 0; i < links_.size(); ++i)
    for (std::size_t k = 0; k < others_.size(); ++k)
      if (others_[k].mechanism != links_[i].mechanism &&
          !are_joined(model, links_[i].frame, others_[k].frame))
        pairs_.push_back({static_cast<int>(i), static_cast<int>(k)});
  if (pairs_.size() > most_link_pairs) pairs_.clear();
}

contact::Solid UnseenLinks::placed(const Piece& piece, const result::Snapshot& now) const {
  if (piece.frame < 0) return {piece.geometry, piece.X_BG};
  const Pose X{math::to_matrix(now.rotations[piece.frame]), now.positions[piece.frame]};
  return {piece.geometry, X * piece.X_BG};
}

// [m]; 0: they do not overlap.
double UnseenLinks::depth(const Pair& pair, const result::Snapshot& now) {
  const contact::Solid a = placed(links_[pair.link], now), b = placed(others_[pair.other], now);
  if (!contact::overlap(contact::bounds(a), contact::bounds(b))) return 0;
  contact::collide(a, b, 0, collider_, manifold_);
  double most = 0;
  for (int p = 0; p < manifold_.count; ++p) most = std::max(most, -manifold_.points[p].gap);
  return most;
}

std::string UnseenLinks::name_of(const Piece& piece) const {
  return piece.frame < 0 ? "a plane" : fmt::format("\"{}\"", layout_->frames[piece.frame].name);
}

std::string UnseenLinks::look(const result::Snapshot& now) {
  for (const Pair& pair : pairs_) {
    const Piece &link = links_[pair.link], &other = others_[pair.other];
    const double deep = depth(pair, now);
    if (!(deep > noted_depth * std::min(link.size, other.size))) continue;
    const std::string text = fmt::format(
        "at t = {:.3g} s {} is {:.3g} m inside {}: method rom looks for contact at end effectors (rom.ends) "
        "and free "
        "bodies, not at links inside a mechanism or its base",
        now.time, name_of(link), deep, name_of(other));
    pairs_.clear();
    return text;
  }
  return "";
}

}  // namespace limber::sim
