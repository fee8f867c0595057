// Which joints make the tree, where there are more of them than a tree needs: the rest close its loops.
//
// A joint hangs its child on its parent, and its coordinates and laws go that way; so a tree is a choice of
// at most one joint for each body as a child, without a ring. The choice is the branching of the largest
// total worth (Chu and Liu 1965; Edmonds 1967): each body takes its best joint, rings are contracted, a joint
// into a ring is worth what it gains over the ring's own joint there, and so on until no ring is left. Worths
// are compared entry by entry, so that the first entries come before all others together.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace limber {

struct TreeCandidate {
  int parent = -1, child = 0;  // bodies; −1: the world
  std::array<int, 5> worth{};  // not negative
};

// (candidates) 1: in the tree. Of equal ones the first: give them in an order that means nothing else.
std::vector<char> spanning_tree(int bodies, std::span<const TreeCandidate> candidates);

}  // namespace limber
