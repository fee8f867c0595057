#include "limber/sim/pass_through.h"

#include <fmt/format.h>

#include "limber/contact/shape_geometry.h"
#include "limber/math/so3.h"

namespace limber::sim {
namespace {

constexpr std::size_t most_pairs = 20'000;
constexpr int samples = 8;  // between two frames

Pose pose_of(const result::Snapshot& s, int frame) {
  return {math::to_matrix(s.rotations[frame]), s.positions[frame]};
}

}  // namespace

PassThrough::PassThrough(const Model& model, const result::Layout& layout) : layout_(&layout) {
  if (model.contact()) return;
  for (std::size_t i = 0; i < layout.frames.size(); ++i) {
    const auto& frame = layout.frames[i];
    if (frame.shapes.empty()) continue;
    const int at = static_cast<int>(i);
    if (frame.fixed)
      for (const Shape& shape : frame.shapes)
        solids_.push_back({at, contact::geometry_of(shape.geometry), shape.X_BG});
    else
      movers_.push_back({at, frame.shapes[0].X_BG.p});
  }
  if (solids_.size() * movers_.size() > most_pairs) solids_.clear(), movers_.clear();
  inside_.assign(solids_.size() * movers_.size(), 0);
}

std::string PassThrough::look(const result::Snapshot& now) {
  if (solids_.empty()) return "";
  for (std::size_t m = 0; m < movers_.size(); ++m) {
    Mover& mover = movers_[m];
    const Vec3 at = pose_of(now, mover.frame) * mover.p;
    for (std::size_t s = 0; s < solids_.size(); ++s) {
      const contact::Solid solid{solids_[s].geometry, pose_of(now, solids_[s].frame) * solids_[s].X_BG};
      char& inside = inside_[m * solids_.size() + s];
      if (!started_) {
        inside = contact::distance(solid, at).value < 0;
        continue;
      }
      for (int k = 1; k <= samples && !inside; ++k) {
        const Vec3 p = mover.before + (static_cast<double>(k) / samples) * (at - mover.before);
        if (contact::distance(solid, p).value >= 0) continue;
        const std::string text = fmt::format(
            "at t = {:.3g} s \"{}\" goes into the fixed \"{}\": nothing here looks for contact (the scene "
            "has "
            "no `contact:`)",
            now.time, layout_->frames[mover.frame].name, layout_->frames[solids_[s].frame].name);
        solids_.clear(), movers_.clear();
        return text;
      }
    }
    mover.before = at;
  }
  started_ = true;
  return "";
}

}  // namespace limber::sim
