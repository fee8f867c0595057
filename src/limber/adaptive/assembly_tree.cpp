// Building the assembly tree by centroid cuts; why it stays shallow stands in the header.
//
// Pieces are numbered depth first, so a part is a sorted list of pieces, and what a cut takes off is the
// part's share of a range: [c, end of c's subtree). Each part is scanned once: O(n log n) in all.
#include "limber/adaptive/assembly_tree.h"

#include <algorithm>

namespace limber::adaptive {
namespace {

struct Pieces {
  std::vector<int> link;    // of each piece
  std::vector<int> parent;  // piece; −1: the world
  std::vector<int> end;     // of the piece's subtree
  std::vector<char> weld;   // hangs on the piece before, of the same body
};

// Depth first over links and pieces. Piece k of a body carries child k; the last carries the last two.
Pieces saw(const multibody::Tree& tree, std::vector<int>& pieces_of) {
  const int n = tree.size();
  std::vector<int> count(n, 0), first_child(n + 1, 0);
  for (int i = 0; i < n; ++i)
    if (tree[i].parent >= 0) ++count[tree[i].parent];
  for (int i = 0; i < n; ++i) first_child[i + 1] = first_child[i] + count[i];
  std::vector<int> children(first_child[n]), fill(first_child.begin(), first_child.end() - 1);
  for (int i = 0; i < n; ++i)
    if (tree[i].parent >= 0) children[fill[tree[i].parent]++] = i;

  Pieces out;
  pieces_of.resize(n);
  for (int i = 0; i < n; ++i) pieces_of[i] = std::max(1, count[i] - 1);
  struct Visit {
    int link, piece_of_link, parent;
    bool weld;
  };
  std::vector<Visit> stack;
  for (int i = n - 1; i >= 0; --i)
    if (tree[i].parent < 0) stack.push_back({i, 0, -1, false});
  while (!stack.empty()) {
    const Visit v = stack.back();
    stack.pop_back();
    const int piece = static_cast<int>(out.link.size());
    out.link.push_back(v.link);
    out.parent.push_back(v.parent);
    out.weld.push_back(v.weld);
    const bool last = v.piece_of_link + 1 == pieces_of[v.link];
    const int from = first_child[v.link] + v.piece_of_link;
    const int to = last ? first_child[v.link + 1] : from + 1;
    if (!last) stack.push_back({v.link, v.piece_of_link + 1, piece, true});
    for (int k = to - 1; k >= from; --k) stack.push_back({children[k], 0, piece, false});
  }
  const int m = static_cast<int>(out.link.size());
  out.end.resize(m);
  for (int i = 0; i < m; ++i) out.end[i] = i + 1;
  for (int i = m - 1; i >= 0; --i)
    if (out.parent[i] >= 0) out.end[out.parent[i]] = std::max(out.end[out.parent[i]], out.end[i]);
  return out;
}

struct Part {
  int begin, end;  // in `order`
  int bottom;      // piece; −1: none but the top
};

class Builder {
 public:
  Builder(const multibody::Tree& tree, AssemblyTree& out)
      : out_(out), pieces_(saw(tree, out.pieces)), size_(pieces_.link.size()) {
    const int m = static_cast<int>(pieces_.link.size());
    order_.resize(m);
    for (int i = 0; i < m; ++i) order_[i] = i;
    out.leaf_of.assign(tree.size(), -1);
    out.node_of.assign(tree.size(), -1);
    out.nodes.reserve(2 * static_cast<std::size_t>(m));
    for (int i = 0; i < m; i = pieces_.end[i]) add_root(i);
    set_levels();
  }

 private:
  void add_root(int top) {
    const int child = assemble({top, pieces_.end[top], -1});
    AssemblyNode root;
    root.b = child;
    root.link = pieces_.link[top];
    root.handles = 0;
    root.first = out_.nodes[child].first;
    const int id = static_cast<int>(out_.nodes.size());
    out_.nodes[child].parent = id;
    out_.node_of[root.link] = id;
    out_.nodes.push_back(root);
    out_.roots.push_back(id);
  }

  // The assembly of a part, children first. Recursion is as deep as the tree: logarithmic.
  int assemble(const Part& part) {
    const int top = order_[part.begin];
    if (part.end - part.begin == 1) return add_leaf(top);
    const int c = best_cut(part);
    const int p = pieces_.parent[c];
    const int middle = take_off(part, c);
    const bool apart = part.bottom >= 0 && part.bottom != top;  // C's bottom is in B
    const int a = assemble({part.begin, middle, p == top ? -1 : p});
    const int b = assemble({middle, part.end, apart && part.bottom != c ? part.bottom : -1});
    AssemblyNode node;
    node.a = a;
    node.b = b;
    node.link = pieces_.weld[c] ? -1 : pieces_.link[c];
    node.handles = apart ? 2 : 1;
    node.a_join = p == top ? 0 : 1;
    node.b_out = apart && part.bottom != c ? 1 : 0;
    node.first = out_.nodes[a].first;
    const int id = static_cast<int>(out_.nodes.size());
    out_.nodes[a].parent = out_.nodes[b].parent = id;
    if (node.link >= 0) out_.node_of[node.link] = id;
    out_.nodes.push_back(node);
    return id;
  }

  int add_leaf(int piece) {
    AssemblyNode leaf;
    leaf.link = pieces_.link[piece];
    leaf.first = static_cast<int>(out_.nodes.size());
    if (out_.leaf_of[leaf.link] < 0) out_.leaf_of[leaf.link] = leaf.first;
    out_.nodes.push_back(leaf);
    return leaf.first;
  }

  // The piece whose joint above divides the part most evenly; the first of equals.
  int best_cut(const Part& part) {
    const int total = part.end - part.begin;
    const int top = order_[part.begin];
    for (int k = part.begin; k < part.end; ++k) size_[order_[k]] = 1;
    for (int k = part.end - 1; k > part.begin; --k) size_[pieces_.parent[order_[k]]] += size_[order_[k]];
    int best = -1, best_size = total + 1;
    const auto look = [&](int c) {
      const int larger = std::max(size_[c], total - size_[c]);
      if (larger < best_size) best = c, best_size = larger;
    };
    if (part.bottom >= 0 && part.bottom != top)
      for (int c = part.bottom; c != top; c = pieces_.parent[c]) look(c);
    else
      for (int k = part.begin + 1; k < part.end; ++k) look(order_[k]);
    return best;
  }

  // Moves the pieces below c behind the others, both still sorted; where they begin.
  int take_off(const Part& part, int c) {
    const auto begin = order_.begin() + part.begin, end = order_.begin() + part.end;
    const auto from = std::lower_bound(begin, end, c), to = std::lower_bound(from, end, pieces_.end[c]);
    std::rotate(from, to, end);
    return static_cast<int>(from - order_.begin() + (end - to));
  }

  void set_levels() {
    for (int i = static_cast<int>(out_.nodes.size()) - 1; i >= 0; --i) {
      AssemblyNode& node = out_.nodes[i];
      if (!node.is_root()) node.level = static_cast<std::int16_t>(out_.nodes[node.parent].level + 1);
      out_.depth = std::max(out_.depth, static_cast<int>(node.level));
    }
  }

  AssemblyTree& out_;
  Pieces pieces_;
  std::vector<int> order_, size_;
};

}  // namespace

AssemblyTree::AssemblyTree(const multibody::Tree& tree) { Builder(tree, *this); }

}  // namespace limber::adaptive
