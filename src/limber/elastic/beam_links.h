// A beam turned into rigid links and sprung spherical joints, so that tree methods can run it; where it
// stretches, its joints are free or (of a planar beam) planar ones.
//
// The path is cut into `elements` of equal length; each element has the recipe's joints; links run from joint
// to joint across element borders, so that there are as many moving links as joints. The piece before the
// first joint is welded to what the beam starts from. Joint stiffness is diag(GJ, EI_y, EI_z)/(l·compliance)
// in local axes, x along, the section turned to principal axes; a link carries its own length of mass with
// the section's rotary inertia. Attachments on the beam (loads, springs, probes, other beams) move to the
// link that holds that place (at a joint, the link after it), distributed loads become a point force on each
// link, at the centre of the loaded part. Probes of a beam's root become those of the joint there, of a tie
// those of the loop that it becomes; those of sections keep the beam's number and the place along it.
//
// The path is the line of the section's centroids and, where the beam has no other shape at ease, the
// unloaded one: q = 0 and rest = 0 everywhere. Another shape at ease is in the joints' rests
// (BeamPieces::ease). A beam starts at its attachment's point, path and `up` in the axes of that body or of
// the beam it starts from (beam_frames.h). A link's own frame lies at its joint, with the local axes there
// (section axes; only the joint frames turn to principal axes). Its first piece is the body "name.root" on
// the fixed joint "name.root.joint".
#pragma once

#include <string>
#include <vector>

#include "limber/model/model.h"

namespace limber::elastic {

// Where a beam's nodes went, to draw it: points along the rest path and the bodies that carry them.
struct BeamTrace {
  std::string name;
  std::vector<BodyId> pieces;  // the root piece, then link after link
  std::vector<BodyId> bodies;  // of each point
  std::vector<Vec3> points;    // in that body's frame
  std::vector<double> s;       // of each point: fraction of the length, 0 to 1
  std::vector<double> joints;  // where along the beam piece k + 1 has its joint, 0 to 1
  std::vector<Vec2> shares;    // [m] of the beam that twists and bends in that joint
  std::vector<Mat3> give;  // of that joint, in the axes of the piece before [m/N]; empty: it does not stretch
  double radius = 0;       // to draw [m]
};

struct LinkedModel {
  // No beams left; links are "name.0", "name.1", …, joints "name.0.joint", …; springs know their rest
  // lengths.
  Model model;
  std::vector<BeamTrace> traces;  // one a beam
};

// Which beams stretch where the scene does not say: those that something holds beyond their root (a loop goes
// through them), whose stiffness hangs on it. The stretch of others is small, and as fast as sound.
enum class Stretch { none, held };
// What a beam that stretches becomes: joints that slide too, with springs; or the same joints as one that
// does not, for who takes the stretch from the traces.
enum class StretchAs { joints, traces };

// Joints that stretch shift before they turn, in the axes of the piece before, by the same share of their
// element's compliance as they bend by: Σc = 1, Σc x = ½ make the stretch under any load along the beam of
// second order, its direction of first.
//
// Throws ModelError for a section that is none and for beams that start from each other in a ring.
LinkedModel beams_to_links(const Model& model, Stretch stretch = Stretch::none,
                           StretchAs as = StretchAs::joints);

}  // namespace limber::elastic
