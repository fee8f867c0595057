// Where two solids touch: points of contact with their gaps and normals.
//
// Half spaces, spheres and pairs of capsules by closed forms; all other convex pairs by separation.h and
// manifold.h; height fields and meshes triangle by triangle (collide_surface.cpp). The same two solids in
// either order give the same points, mirrored, to the last bit.
#pragma once

#include "limber/contact/manifold.h"

namespace limber::contact {

// Scratch that keeps its buffers; nothing carries over from one call to the next.
struct Collider {
  Convex a, b, moved;
  ClipScratch clip;
  std::vector<ContactPoint> points;
};

// Points with a gap below `margin` [m]. None between two half spaces, a height field and a half space, or two
// height fields.
void collide(const Solid& a, const Solid& b, double margin, Collider& scratch, Manifold& out);

// One of the two families, for collide(): `points` gets them all. a is convex (or a mesh), b the surface.
void collide_surface(const Geometry& a, const Pose& X_a, const TriangleSurface& b, const Pose& X_b,
                     double margin, Collider& scratch);
void collide_meshes(const TriangleSurface& a, const Pose& X_a, const TriangleSurface& b, const Pose& X_b,
                    double margin, Collider& scratch);

}  // namespace limber::contact
