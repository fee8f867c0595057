// In which order the generalised ABA eliminates the bodies of a structure, found once per topology.
//
// A body with one joint left is eliminated along that joint (pivot: the joint's own dofs); its other
// neighbours become neighbours of the body at the joint's far end. A body wanted while it has more joints has
// the others cut: a cut joint becomes a multiplier node (its 6 − d rows). A part of the tree that cuts have
// set afloat ends with a body without joints (pivot 6×6), and then the multipliers of its cut follow. An
// elastic row r is a multiplier too, (…, r; rᵀ, −1), one number whose pivot is never above −1: it goes as
// soon as one body of it is left, so that bodies far from each other on a cable never meet. Loop closures
// come last of all, in one dense block.
//
// No rule is best for every structure: the deepest leaf first is right for rings of ribs, the leaf with the
// fewest neighbours first for trees, and long rows tied many times to one another (bridges) want the front to
// grow as little as possible and a few joints cut, found one by one at the body that waits longest in it. All
// are tried and the cheapest taken, each given up as soon as it is dearer than the best so far.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include "limber/multibody/block_system.h"

namespace limber::multibody {

struct Elimination {
  enum class Kind : std::uint8_t { along_joint, afloat, cut, elastic };
  Kind kind = Kind::along_joint;
  bool reversed = false;  // the joint belongs to the body at its far end
  bool tied = false;      // more than the joint ties it to `toward`
  int node = 0;     // body i < n; n + link: the multiplier of that link's joint; 2n + row: an elastic one
  int joint = -1;   // link that owns the joint
  int toward = -1;  // body at the far end; −1: the world
  int toward_slot = -1;     // where it stands among the neighbours
  int neighbours = 0;       // first entry in EliminationOrder::neighbours
  int neighbour_count = 0;  // bodies and multipliers eliminated later, in order; then loops
  int loop_count = 0;       // of them loops
  int own = 0;              // first entry in EliminationOrder::own
  int target = 0;           // first entry in EliminationOrder::targets
  int births = 0;           // first entry in EliminationOrder::births
  int birth_count = 0;
};

// What stands in a block at first.
struct BlockSource {
  enum class Kind : std::uint8_t { zero, body, pair, pair_turned, prepared };
  Kind kind = Kind::zero;
  int index = 0;  // of the body, of the pair, in EliminationOrder::prepared
};

// A block that a step is the first to touch.
struct BlockBirth {
  int slot = 0;
  BlockSource source;
};

struct EliminationOrder {
  std::string name;                // of the rule that found it
  std::vector<Elimination> steps;  // in order
  std::vector<int> neighbours;     // nodes; loop l is first_loop + l
  int first_loop = 0;              // 2n + elastic rows
  // A block lives from the first step that touches it to the one that eliminates its node; then its slot is
  // another's. So few are at work at a time that they stay in the cache.
  std::vector<int> own;            // per step: slot of (node, node), then of (node, neighbour) for each
  std::vector<int> targets;        // per step, per pair k ≤ l of its neighbours (k no loop): slot of (k, l)
  std::vector<BlockBirth> births;  // per step
  int slots = 0;
  std::vector<BlockSource> prepared;  // blocks to which cuts and loops add: what else is in them
  std::vector<int> cut;  // (n) step at which the multiplier of the link's joint goes; −1: not cut
  // (n) of a cut joint, in `prepared`: (child, μ), (parent, μ), (child, parent), and the diagonal ones of
  // child, parent, μ; −1: none
  std::vector<int> cut_block[6];
  std::vector<char> cut_turned[3];                // (n) stored the other way round
  std::vector<int> loop_block[2];                 // (loops) in `prepared`: (a, λ), (b, λ); −1: the world
  std::vector<std::vector<int>> loop_more;        // (loops) the same of further links
  std::vector<int> elastic_own;                   // (elastic) in `prepared`: (λ, λ)
  std::vector<std::vector<int>> elastic_on;       // (elastic, links) … (link, λ)
  std::vector<std::vector<char>> elastic_turned;  // … stored the other way round
  std::vector<int> loop_offset;  // (loops) first of its six rows in the dense block of the loops
  int loop_rows = 0;             // of it
  double flops = 0;              // of factor and solve, estimated
  int cuts = 0;
  int widest = 0;  // most neighbours of a node
};

// Statics wants no cuts: then every pivot is a joint's.
EliminationOrder find_order(const Tree& tree, const Pattern& pattern, bool allow_cuts = true);

// For ties that change from step to step: one rule, the leaf with the fewest neighbours first, no cuts, and
// nothing allocated once it has seen as many.
class OrderFinder {
 public:
  OrderFinder();
  void find(const Tree& tree, const Pattern& pattern, EliminationOrder& out);

 private:
  std::pmr::unsynchronized_pool_resource pool_;
};

}  // namespace limber::multibody
