// Notices that something goes into a fixed body because nothing looks for contact: the first such pair is
// told.
#pragma once

#include <string>
#include <vector>

#include "limber/contact/solid.h"
#include "limber/result/snapshot.h"

namespace limber::sim {

class PassThrough {
 public:
  // Watches nothing where the scene has contact, or where there are too many pairs to look at.
  PassThrough(const Model& model, const result::Layout& layout);
  bool watches() const { return !inside_.empty(); }
  // What a person should know, once; else empty. A body is where the middle of its first shape is, and is
  // looked at on its way from frame to frame; what lies inside at the start is meant to.
  std::string look(const result::Snapshot& now);

 private:
  struct Solid {
    int frame = 0;
    contact::Geometry geometry;
    Pose X_BG;
  };
  struct Mover {
    int frame = 0;
    Vec3 p;  // of its middle, in the body
    Vec3 before = Vec3::Zero();
  };
  const result::Layout* layout_ = nullptr;
  std::vector<Solid> solids_;
  std::vector<Mover> movers_;
  std::vector<char> inside_;  // (movers × solids) at the start
  bool started_ = false;
};

}  // namespace limber::sim
