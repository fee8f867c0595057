#include "limber/model/spanning_tree.h"

namespace limber {
namespace {

using Worth = std::array<int, 5>;

Worth operator-(const Worth& a, const Worth& b) {
  Worth out;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = a[k] - b[k];
  return out;
}

struct Edge {
  int from = 0, to = 0;
  Worth worth{};
};

// Every node but the root has an edge from it: (nodes) the best edge into each.
std::vector<int> best_edges(int nodes, int root, const std::vector<Edge>& edges) {
  std::vector<int> best(nodes, -1);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
    if (edge.to == root || edge.from == edge.to) continue;
    int& at = best[edge.to];
    if (at < 0 || edges[at].worth < edge.worth) at = static_cast<int>(e);
  }
  return best;
}

// (nodes) the number of a node's ring, or −1. Returns how many rings there are.
int find_rings(const std::vector<int>& best, const std::vector<Edge>& edges, std::vector<int>& ring) {
  const int nodes = static_cast<int>(best.size());
  std::vector<int> walk(nodes, -1);
  ring.assign(nodes, -1);
  int rings = 0;
  for (int start = 0; start < nodes; ++start) {
    int v = start;
    while (v >= 0 && walk[v] < 0) {
      walk[v] = start;
      v = best[v] >= 0 ? edges[best[v]].from : -1;
    }
    if (v < 0 || walk[v] != start || ring[v] >= 0) continue;
    for (int u = v; ring[u] < 0; u = edges[best[u]].from) ring[u] = rings;
    ++rings;
  }
  return rings;
}

// (nodes) the chosen edge into each.
std::vector<int> branching(int nodes, int root, const std::vector<Edge>& edges) {
  std::vector<int> best = best_edges(nodes, root, edges), ring;
  int smaller = find_rings(best, edges, ring);
  if (smaller == 0) return best;
  std::vector<int> node = ring;  // in the contracted graph, rings first
  for (int v = 0; v < nodes; ++v)
    if (node[v] < 0) node[v] = smaller++;
  std::vector<Edge> left;
  std::vector<int> was;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const Edge& edge = edges[e];
    if (node[edge.from] == node[edge.to] || edge.to == root) continue;
    const Worth gain = ring[edge.to] >= 0 ? edge.worth - edges[best[edge.to]].worth : edge.worth;
    left.push_back({node[edge.from], node[edge.to], gain});
    was.push_back(static_cast<int>(e));
  }
  for (const int chosen : branching(smaller, node[root], left))
    if (chosen >= 0) best[edges[was[chosen]].to] = was[chosen];  // opens the ring there
  return best;
}

}  // namespace

std::vector<char> spanning_tree(int bodies, std::span<const TreeCandidate> candidates) {
  std::vector<Edge> edges;
  for (const TreeCandidate& c : candidates)
    edges.push_back({c.parent < 0 ? bodies : c.parent, c.child, c.worth});
  for (int b = 0; b < bodies; ++b) edges.push_back({bodies, b, {}});  // it floats
  std::vector<char> chosen(candidates.size(), 0);
  for (const int e : branching(bodies + 1, bodies, edges))
    if (e >= 0 && e < static_cast<int>(candidates.size())) chosen[e] = 1;
  return chosen;
}

}  // namespace limber
