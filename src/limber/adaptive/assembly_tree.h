// The assembly tree (Redon and Lin 2005, section 3.1): which parts of a linkage are joined, in which order.
//
// A part is a connected set of bodies. Its handles are the bodies that joints to other parts hang on: its top
// body always (the joint above it), and at most one more, its bottom. A part is cut at the joint between p
// and c into A (which keeps the top, and has p as its bottom) and B (top c, and the old bottom). If there is
// a bottom apart from the top, the cut has to lie on the path between them; else any joint will do: so no
// part ever has a third handle. Among the possible joints the one that divides the bodies most evenly is cut.
//
// A body with more than two children would force long rows of cuts, one child after the other. It is sawn
// into pieces that are welded together in a row (the first has all its mass), with at most two children, or
// one child and the next piece, a piece. With at most three joints a piece, every third cut at the latest
// leaves no part above 2/3 of the bodies: the depth is logarithmic for every linkage, stars and caterpillars
// included.
#pragma once

#include <cstdint>
#include <vector>

#include "limber/multibody/tree.h"

namespace limber::adaptive {

struct AssemblyNode {
  int parent = -1;
  int a = -1, b = -1;       // parts that are joined; a leaf has none, a root joint (to the world) only b
  int link = -1;            // leaf: its body; else the joint above this link; −1: a weld between two pieces
  int first = 0;            // its subtree is the range [first, own index]
  std::int16_t level = 0;   // of a root: 0
  std::int8_t handles = 1;  // 0 (root), 1 (top) or 2 (top and bottom)
  std::int8_t a_join = 0;   // slot of p in A: 0 if p is A's top, else 1
  std::int8_t b_out = 0;    // slot of C's bottom in B, if C has one: 0 if it is c itself, else 1
  bool is_leaf() const { return b < 0; }
  bool is_root() const { return parent < 0; }
};

struct AssemblyTree {
  AssemblyTree() = default;
  explicit AssemblyTree(const multibody::Tree& tree);

  std::vector<AssemblyNode> nodes;  // children before parents, A's subtree before B's
  std::vector<int> roots;           // one for each link that hangs on the world
  std::vector<int> leaf_of;         // (links) the first piece of a body
  std::vector<int> node_of;         // (links) the node that the link's joint makes
  std::vector<int> pieces;          // (links) how many pieces it is sawn into
  int depth = 0;                    // levels below a root, at most
};

}  // namespace limber::adaptive
