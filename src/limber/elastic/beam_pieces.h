// One beam cut into rigid pieces: where the joints are, which piece holds a place, what a piece weighs and
// looks like.
#pragma once

#include <optional>
#include <vector>

#include "limber/elastic/beam_frames.h"
#include "limber/elastic/pseudo_rigid_body.h"
#include "limber/elastic/section_constants.h"
#include "limber/model/model.h"

namespace limber::elastic {

class BeamPieces {
 public:
  BeamPieces(const Beam& beam, const Material& material, const SectionShape& shape,
             const SectionConstants& section);

  // Piece 0 is welded to what the beam starts from; piece k hangs on joint k − 1 at its start.
  int count() const { return static_cast<int>(ends_.size()); }
  double start(int piece) const { return piece == 0 ? 0 : ends_[piece - 1]; }
  double end(int piece) const { return ends_[piece]; }
  int holding(double s) const;  // at a joint, the piece after it

  const BeamFrames& frames() const { return frames_; }
  const Pose& frame(int piece) const { return X_SB_[piece]; }  // in the path's frame S
  Pose local_axes(int piece, double s) const {
    return X_SB_[piece].inverse() * frames_.at(s);
  }  // in the piece's frame

  Inertia inertia(int piece) const;
  std::vector<Shape> shapes(int piece) const;
  JointLaw law(int piece) const;  // of the joint at the piece's start; piece ≥ 1
  // How that joint gives way along the beam, and in shear along the section's principal axes [m/N].
  Vec3 give(int piece) const;
  // What that joint is turned by at ease, in the local axes there: beams that are not at ease on their path.
  Mat3 ease(int piece) const;
  double principal_angle() const { return principal_.angle; }
  Vec3 center(int piece, double s0, double s1) const;  // of the path between s0 and s1, in the piece's frame

 private:
  Beam beam_;
  Material material_;
  SectionShape shape_;
  SectionConstants section_;
  PrincipalMoments principal_;
  BeamFrames frames_;
  std::optional<BeamFrames> ease_;   // of the path at ease
  std::vector<RecipeJoint> joints_;  // of one element
  std::vector<double> ends_;         // the joints' places, then 1
  std::vector<Pose> X_SB_;
};

}  // namespace limber::elastic
