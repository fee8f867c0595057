// Notices that a link goes into something although its method does not look for contact there: the first such
// pair is told.
#pragma once

#include <string>
#include <vector>

#include "limber/contact/collide.h"
#include "limber/result/snapshot.h"
#include "limber/rom/rom.h"

namespace limber::sim {

class UnseenLinks {
 public:
  // `bodies`: empty where contact looks at all of them, or at none. What is of one mechanism, or joined, may
  // overlap: links are drawn through each other.
  UnseenLinks(const Model& model, const result::Layout& layout, const std::vector<rom::ContactPart>& bodies);
  // What a person should know, once; else empty.
  std::string look(const result::Snapshot& now);

 private:
  struct Piece {
    int frame = -1;      // −1: a plane
    int mechanism = -1;  // −1: of none
    contact::Geometry geometry;
    Pose X_BG;
    double size = 0;  // [m]
  };
  struct Pair {
    int link = 0, other = 0;  // of links_ and others_
  };
  contact::Solid placed(const Piece& piece, const result::Snapshot& now) const;
  double depth(const Pair& pair, const result::Snapshot& now);
  std::string name_of(const Piece& piece) const;

  const result::Layout* layout_;
  std::vector<Piece> links_, others_;
  std::vector<Pair> pairs_;
  contact::Collider collider_;
  contact::Manifold manifold_;
};

}  // namespace limber::sim
