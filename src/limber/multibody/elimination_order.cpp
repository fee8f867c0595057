// Greedy orders on the graph of bodies, cut joints and loops; then the places of all blocks.
#include "limber/multibody/elimination_order.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "limber/math/stop.h"

namespace limber::multibody {
namespace {

using Kind = Elimination::Kind;

// Multiply-adds of one elimination with m neighbours and d pivot columns, counted in the numeric code.
double flops_of(int m, int d) { return 18.0 * d * m * (m + 1) + (60.0 + 42 * d) * m + 150 + 40 * d; }

using Memory = std::pmr::memory_resource*;
template <class T>
using List = std::pmr::vector<T>;

enum class Rule { fewest_neighbours, narrowest_front, deepest };

class Greedy {
 public:
  // eager: elastic rows of few bodies go first of all, so that joints that only they hold have a stiffness.
  Greedy(const Tree& tree, const Pattern& pattern, Rule rule, const std::vector<int>& cut_joints,
         Memory memory, bool eager = false)
      : steps(memory),
        neighbours(memory),
        waited(memory),
        tree_(tree),
        n_(tree.size()),
        first_loop_(2 * tree.size() + static_cast<int>(pattern.elastic.size())),
        rule_(rule),
        adjacent_(memory),
        joints_(memory),
        attached_(memory),
        parts_(memory),
        done_(memory),
        entered_(memory),
        depth_(memory),
        current_(memory),
        queue_(memory),
        around_(memory),
        merged_(memory),
        fresh_(memory),
        rows_(memory),
        rows_of_(memory),
        own_left_(memory) {
    adjacent_.resize(first_loop_ + static_cast<int>(pattern.loops.size()));
    joints_.resize(n_);
    attached_.resize(n_);
    done_.assign(adjacent_.size(), 0);
    current_.assign(n_, nowhere);
    for (int i = 0; i < n_; ++i) {
      joints_[i].push_back(i);
      if (tree[i].parent >= 0) joints_[tree[i].parent].push_back(i);
    }
    for (const LinkPair& p : pattern.pairs) connect(p.a, p.b);
    for (std::size_t l = 0; l < pattern.loops.size(); ++l) {
      const int node = first_loop_ + static_cast<int>(l);
      for (const int end : {pattern.loops[l].a, pattern.loops[l].b})
        if (end >= 0) connect(end, node);
      for (const int end : pattern.loops[l].more) connect(end, node);
    }
    rows_of_.resize(pattern.elastic.empty() ? 0 : n_);
    for (std::size_t c = 0; c < pattern.elastic.size(); ++c)
      for (const int link : pattern.elastic[c].links) {
        connect(link, 2 * n_ + static_cast<int>(c));
        rows_of_[link].push_back(static_cast<int>(c));
      }
    for (const ElasticSite& site : pattern.elastic) own_left_.push_back(static_cast<int>(site.links.size()));
    entered_.assign(n_, -1);
    waited.assign(n_, 0);
    if (rule == Rule::deepest) {
      depth_.resize(n_);
      for (int i = 0; i < n_; ++i) depth_[i] = tree[i].parent >= 0 ? depth_[tree[i].parent] + 1 : 0;
    }
    for (const int joint : cut_joints) cut_joint(joint);
    eager_ = eager;
  }

  // False if it becomes dearer than `limit`.
  bool run(double limit) {
    for (int row = 2 * n_; row < first_loop_; ++row) finish_row(row, eager_ ? few_bodies : 1);
    for (int i = 0; i < n_; ++i) offer(i);
    while (!queue_.empty()) {
      stop_if_requested();
      const int i = -queue_.begin()->second;
      queue_.erase(queue_.begin());
      current_[i] = nowhere;
      eliminate_body(i);
      if (flops > limit) return false;
    }
    return true;
  }

  List<Elimination> steps;
  List<int> neighbours;
  double flops = 0;
  int cuts = 0, widest = 0;
  List<int> waited;  // (n) steps between becoming a neighbour and being eliminated

 private:
  static constexpr double nowhere = -1;
  using Entry = std::pair<double, int>;

  void connect(int x, int y) {
    insert(adjacent_[x], y);
    insert(adjacent_[y], x);
  }
  static void insert(List<int>& list, int x) {
    const auto at = std::lower_bound(list.begin(), list.end(), x);
    if (at == list.end() || *at != x) list.insert(at, x);
  }
  static void remove(List<int>& list, int x) {
    const auto at = std::lower_bound(list.begin(), list.end(), x);
    if (at != list.end() && *at == x) list.erase(at);
  }
  int far_end(int joint, int body) const { return joint == body ? tree_[joint].parent : joint; }

  // Puts body i into the queue at its present cost. Ties go to the deeper body: the order of plain ABA.
  void offer(int i) {
    if (done_[i]) return;
    if (current_[i] != nowhere) queue_.erase({current_[i], -i});
    current_[i] = nowhere;
    if (joints_[i].size() > 1) return;
    current_[i] = rule_ == Rule::deepest ? 1e9 - depth_[i] : cost(i);
    if (rule_ == Rule::narrowest_front) current_[i] += 1e9 * (2 + growth(i));
    queue_.insert({current_[i], -i});
  }

  // By how many nodes the front grows: neighbours that are new to it, less the body itself if it is in it.
  int growth(int i) const {
    int fresh = entered_[i] >= 0 ? -1 : 0;
    for (const int k : adjacent_[i]) fresh += k < n_ && entered_[k] < 0;
    for (const int joint : joints_[i]) {
      const int other = far_end(joint, i);
      if (other >= 0 && !std::binary_search(adjacent_[i].begin(), adjacent_[i].end(), other))
        fresh += entered_[other] < 0;
    }
    return fresh;
  }

  double cost(int i) const {
    int m = static_cast<int>(adjacent_[i].size());
    for (const int joint : joints_[i]) {
      const int other = far_end(joint, i);
      if (other >= 0 && !std::binary_search(adjacent_[i].begin(), adjacent_[i].end(), other)) ++m;
    }
    return flops_of(m, joints_[i].empty() ? 6 : 1);
  }

  void cut_joint(int joint) {
    const int child = joint, parent = tree_[joint].parent;
    const int mu = n_ + joint;
    remove_joint(child, joint);
    connect(child, mu);
    attached_[child].push_back(mu);
    if (parent >= 0) {
      remove_joint(parent, joint);
      connect(parent, mu);
      connect(parent, child);
      attached_[parent].push_back(mu);
    }
    ++cuts;
  }
  void remove_joint(int body, int joint) {
    auto& list = joints_[body];
    list.erase(std::find(list.begin(), list.end(), joint));
  }

  void eliminate_body(int i) {
    const int keep = joints_[i].empty() ? -1 : joints_[i].front();
    Elimination step;
    step.node = i;
    step.joint = keep;
    step.kind = keep >= 0 ? Kind::along_joint : Kind::afloat;
    if (keep >= 0) {
      step.toward = far_end(keep, i);
      step.reversed = keep != i;
      joints_[i].clear();
      if (step.toward >= 0) {
        remove_joint(step.toward, keep);
        step.tied = std::binary_search(adjacent_[i].begin(), adjacent_[i].end(), step.toward);
        connect(i, step.toward);
        auto& list = attached_[step.toward];
        list.insert(list.end(), attached_[i].begin(), attached_[i].end());
      }
    }
    const int d = keep >= 0 ? tree_[keep].dofs : 6;
    eliminate(step, d);
    rows_.clear();
    for (const int k : around_)
      if (k >= 2 * n_ && k < first_loop_) rows_.push_back(k);
    for (const int row : rows_) finish_row(row, 1);
    if (keep < 0) finish_part(attached_[i]);
  }

  // An elastic row goes when its own bodies are gone, or nothing is left of it but so many others.
  void finish_row(int row, int others) {
    if (done_[row]) return;
    const auto solid = std::ranges::count_if(adjacent_[row], [&](int k) { return k < 2 * n_; });
    if (own_left_[row - 2 * n_] > 0 && solid > others) return;
    Elimination step;
    step.node = row;
    step.kind = Kind::elastic;
    eliminate(step, 1);
  }

  // A floating part is gone: its multipliers can go when only one is left.
  void finish_part(const List<int>& multipliers) {
    parts_.push_back(multipliers);
    bool again = true;
    while (again) {
      again = false;
      for (auto& part : parts_) {
        part.erase(std::remove_if(part.begin(), part.end(), [&](int mu) { return done_[mu]; }), part.end());
        if (part.size() != 1) continue;
        Elimination step;
        step.node = part[0];
        step.kind = Kind::cut;
        step.joint = part[0] - n_;
        eliminate(step, 6 - tree_[step.joint].dofs);
        rows_.clear();
        for (const int k : around_)
          if (k >= 2 * n_ && k < first_loop_) rows_.push_back(k);
        for (const int row : rows_) finish_row(row, 1);
        again = true;
      }
      std::erase_if(parts_, [](const auto& part) { return part.empty(); });
    }
  }

  void eliminate(Elimination step, int d) {
    const int x = step.node;
    std::swap(around_, adjacent_[x]);
    adjacent_[x].clear();
    const List<int>& around = around_;
    done_[x] = 1;
    const int m = static_cast<int>(around.size());
    const int now = static_cast<int>(steps.size());
    if (x < n_ && entered_[x] >= 0) waited[x] = now - entered_[x];
    if (x < n_ && !rows_of_.empty())
      for (const int row : rows_of_[x]) --own_left_[row];
    fresh_.clear();
    for (const int k : around) {
      remove(adjacent_[k], x);
      if (k >= n_ || entered_[k] >= 0) continue;
      entered_[k] = now;
      fresh_.push_back(k);
    }
    merge_clique(around);
    step.neighbours = static_cast<int>(neighbours.size());
    step.neighbour_count = m;
    neighbours.insert(neighbours.end(), around.begin(), around.end());
    steps.push_back(step);
    flops += flops_of(m, std::max(d, 1));
    widest = std::max(widest, m);
    for (const int k : around)
      if (k < n_) offer(k);
    if (rule_ != Rule::narrowest_front) return;
    for (const int k : fresh_) {  // those beside it see a narrower way now
      for (const int y : adjacent_[k])
        if (y < n_) offer(y);
      for (const int joint : joints_[k])
        if (const int y = far_end(joint, k); y >= 0) offer(y);
    }
  }

  void merge_clique(const List<int>& around) {
    for (const int k : around) {
      merged_.clear();
      std::set_union(adjacent_[k].begin(), adjacent_[k].end(), around.begin(), around.end(),
                     std::back_inserter(merged_));
      merged_.erase(std::find(merged_.begin(), merged_.end(), k));
      adjacent_[k].assign(merged_.begin(), merged_.end());
    }
  }

  static constexpr int few_bodies = 16;

  const Tree& tree_;
  int n_, first_loop_;
  Rule rule_;
  bool eager_ = false;
  List<List<int>> adjacent_, joints_, attached_, parts_;
  List<char> done_;
  List<int> entered_, depth_;
  List<double> current_;
  std::pmr::set<Entry> queue_;  // (cost, −body)
  List<int> around_, merged_, fresh_, rows_;
  List<List<int>> rows_of_;  // (bodies) elastic rows on it
  List<int> own_left_;       // (elastic) bodies of it that are not eliminated
};

// Numbers the blocks, finds where every update goes and where it stands in memory.
class Placement {
 public:
  Placement(const Tree& tree, const Pattern& pattern, EliminationOrder& order, Memory memory)
      : tree_(tree),
        pattern_(pattern),
        order_(order),
        n_(tree.size()),
        position_(memory),
        first_block_(memory),
        source_(memory),
        slot_(memory),
        empty_(memory) {
    number_blocks();
    find_sources();
    place_cuts();
    place_elastic();
    place_loops();
    share_slots();
  }

 private:
  using Source = BlockSource::Kind;

  void number_blocks() {
    const int loops = static_cast<int>(pattern_.loops.size());
    order_.first_loop = 2 * n_ + static_cast<int>(pattern_.elastic.size());
    position_.assign(order_.first_loop + loops, std::numeric_limits<int>::max());
    for (std::size_t s = 0; s < order_.steps.size(); ++s)
      position_[order_.steps[s].node] = static_cast<int>(s);
    for (int l = 0; l < loops; ++l)
      position_[order_.first_loop + l] = static_cast<int>(order_.steps.size()) + l;
    int blocks = 0;
    for (Elimination& step : order_.steps) {
      int* first = order_.neighbours.data() + step.neighbours;
      int* last = first + step.neighbour_count;
      std::sort(first, last, [&](int x, int y) { return position_[x] < position_[y]; });
      first_block_.push_back(blocks);
      blocks += 1 + step.neighbour_count;
      step.loop_count =
          static_cast<int>(std::count_if(first, last, [&](int x) { return x >= order_.first_loop; }));
      if (step.kind == Kind::along_joint && step.toward >= 0)
        step.toward_slot = static_cast<int>(std::find(first, last, step.toward) - first);
    }
    source_.resize(blocks);
  }

  int block_of(int x, int y, bool* turned = nullptr) const {
    const bool swap = position_[y] < position_[x];
    if (turned) *turned = swap;
    if (swap) std::swap(x, y);
    const int s = position_[x];
    if (x == y) return first_block_[s];
    const int* first = order_.neighbours.data() + order_.steps[s].neighbours;
    const int* at = std::lower_bound(first, first + order_.steps[s].neighbour_count, y,
                                     [&](int u, int v) { return position_[u] < position_[v]; });
    return first_block_[s] + 1 + static_cast<int>(at - first);
  }

  void find_sources() {
    for (int i = 0; i < n_; ++i) source_[block_of(i, i)] = {Source::body, i};
    for (std::size_t k = 0; k < pattern_.pairs.size(); ++k) {
      bool turned = false;
      const int block = block_of(pattern_.pairs[k].a, pattern_.pairs[k].b, &turned);
      source_[block] = {turned ? Source::pair_turned : Source::pair, static_cast<int>(k)};
    }
  }

  int prepare(int block) {
    BlockSource& source = source_[block];
    if (source.kind != Source::prepared) {
      order_.prepared.push_back(source);
      source = {Source::prepared, static_cast<int>(order_.prepared.size()) - 1};
    }
    return source.index;
  }

  void place_cuts() {
    order_.cut.assign(n_, -1);
    for (auto& list : order_.cut_block) list.assign(n_, -1);
    for (auto& list : order_.cut_turned) list.assign(n_, 0);
    for (std::size_t s = 0; s < order_.steps.size(); ++s) {
      if (order_.steps[s].kind != Kind::cut) continue;
      const int joint = order_.steps[s].joint, parent = tree_[joint].parent, mu = n_ + joint;
      order_.cut[joint] = static_cast<int>(s);
      const auto place = [&](int which, int x, int y) {
        bool turned = false;
        order_.cut_block[which][joint] = prepare(block_of(x, y, &turned));
        if (which < 3) order_.cut_turned[which][joint] = turned;
      };
      place(0, joint, mu);
      place(3, joint, joint);
      place(5, mu, mu);
      if (parent < 0) continue;
      place(1, parent, mu);
      place(2, joint, parent);
      place(4, parent, parent);
    }
  }

  void place_elastic() {
    for (std::size_t c = 0; c < pattern_.elastic.size(); ++c) {
      const int node = 2 * n_ + static_cast<int>(c);
      order_.elastic_own.push_back(prepare(block_of(node, node)));
      order_.elastic_on.emplace_back();
      order_.elastic_turned.emplace_back();
      for (const int link : pattern_.elastic[c].links) {
        bool turned = false;
        order_.elastic_on.back().push_back(prepare(block_of(link, node, &turned)));
        order_.elastic_turned.back().push_back(turned);
      }
    }
  }

  void place_loops() {
    for (std::size_t l = 0; l < pattern_.loops.size(); ++l) {
      const LoopSite& site = pattern_.loops[l];
      const int node = order_.first_loop + static_cast<int>(l);
      order_.loop_block[0].push_back(site.a < 0 ? -1 : prepare(block_of(site.a, node)));
      order_.loop_block[1].push_back(site.b < 0 ? -1 : prepare(block_of(site.b, node)));
      order_.loop_more.emplace_back();
      for (const int end : site.more) order_.loop_more.back().push_back(prepare(block_of(end, node)));
      order_.loop_offset.push_back(order_.loop_rows);
      order_.loop_rows += 6;
    }
  }

  // The slot left last is taken first.
  void share_slots() {
    List<int>&slot = slot_, &empty = empty_;
    slot.assign(source_.size(), -1);
    const auto touch = [&](int block) {
      if (slot[block] >= 0) return slot[block];
      if (empty.empty()) empty.push_back(order_.slots++);
      slot[block] = empty.back();
      empty.pop_back();
      order_.births.push_back({slot[block], source_[block]});
      return slot[block];
    };
    for (std::size_t s = 0; s < order_.steps.size(); ++s) {
      stop_if_requested();
      Elimination& step = order_.steps[s];
      const int* around = order_.neighbours.data() + step.neighbours;
      const int count = step.neighbour_count;
      step.own = static_cast<int>(order_.own.size());
      step.target = static_cast<int>(order_.targets.size());
      step.births = static_cast<int>(order_.births.size());
      for (int b = first_block_[s]; b <= first_block_[s] + count; ++b) order_.own.push_back(touch(b));
      for (int k = 0; k < count - step.loop_count; ++k)
        for (int l = k; l < count; ++l) order_.targets.push_back(touch(block_of(around[k], around[l])));
      step.birth_count = static_cast<int>(order_.births.size()) - step.births;
      for (int b = first_block_[s] + count; b >= first_block_[s]; --b) empty.push_back(slot[b]);
    }
  }

  const Tree& tree_;
  const Pattern& pattern_;
  EliminationOrder& order_;
  int n_;
  List<int> position_;     // (2n + loops) step of each node; loops come last
  List<int> first_block_;  // (steps) block of (node, node); those with its neighbours follow
  List<BlockSource> source_;
  List<int> slot_, empty_;
};

}  // namespace

namespace {

void take(const Greedy& greedy, const char* name, EliminationOrder& order) {
  order.name = name;
  order.steps.assign(greedy.steps.begin(), greedy.steps.end());
  order.neighbours.assign(greedy.neighbours.begin(), greedy.neighbours.end());
  order.flops = greedy.flops;
  order.cuts = greedy.cuts;
  order.widest = greedy.widest;
}

struct Search {
  const Tree& tree;
  const Pattern& pattern;
  EliminationOrder best;
  double best_score = std::numeric_limits<double>::infinity();
  std::vector<int> waited;  // of the last order tried
  bool eager = false;

  // Cuts have 6×6 pivots and multipliers: they must save this factor to be taken.
  static constexpr double cut_handicap = 1.3;

  bool attempt(const char* name, Rule rule, const std::vector<int>& cuts) {
    const double handicap = cuts.empty() ? 1 : cut_handicap;
    Greedy greedy(tree, pattern, rule, cuts, std::pmr::get_default_resource(), eager);
    if (!greedy.run(best_score / handicap)) return false;
    waited.assign(greedy.waited.begin(), greedy.waited.end());
    if (greedy.flops * handicap >= best_score) return false;
    best_score = greedy.flops * handicap;
    best = {};
    take(greedy, name, best);
    return true;
  }

  // The body that waits longest as a neighbour holds the fronts wide: cut one of its joints, and again while
  // that helps.
  void add_cuts() {
    constexpr int most_cuts = 64;
    std::vector<int> cuts;
    std::vector<int> waiting = waited;
    while (static_cast<int>(cuts.size()) < most_cuts) {
      const int worst = static_cast<int>(std::max_element(waiting.begin(), waiting.end()) - waiting.begin());
      if (waiting[worst] < 20) return;
      std::vector<int> joints{worst};
      for (int c = worst + 1; c < tree.subtree_end(worst) && joints.size() < 4; c = tree.subtree_end(c))
        joints.push_back(c);
      int chosen = -1;
      std::vector<int> next;
      for (const int joint : joints) {
        if (std::find(cuts.begin(), cuts.end(), joint) != cuts.end()) continue;
        cuts.push_back(joint);
        if (attempt("narrowest front, with cuts", Rule::narrowest_front, cuts)) chosen = joint, next = waited;
        cuts.pop_back();
      }
      if (chosen < 0) {  // not this one: the next that waits long
        waiting[worst] = 0;
        if (++fruitless > 6) return;
        continue;
      }
      cuts.push_back(chosen);
      waiting = next;
    }
  }
  int fruitless = 0;
};

}  // namespace

EliminationOrder find_order(const Tree& tree, const Pattern& pattern, bool allow_cuts) {
  Search search{tree, pattern, {}, std::numeric_limits<double>::infinity(), {}, !allow_cuts};
  // Each of the two is far too dear for some structures: none is followed further than eight times what has
  // not been enough for the other.
  for (double limit = 1000.0 * tree.size() + 1; search.best.steps.empty() && tree.size() > 0; limit *= 8) {
    search.best_score = limit;
    search.attempt("deepest leaf first", Rule::deepest, {});
    search.attempt("leaf with the fewest neighbours first", Rule::fewest_neighbours, {});
  }
  const double without = search.best_score;
  EliminationOrder cut_free = std::move(search.best);
  // Without a close limit: what waits in this one shows where to cut.
  search.best_score = 50 * without;
  const bool found = search.attempt("narrowest front", Rule::narrowest_front, {});
  const bool only_a_tree = pattern.pairs.empty() && pattern.loops.empty();
  if (allow_cuts && !only_a_tree && found) search.add_cuts();
  if (!(search.best_score < without)) search.best = std::move(cut_free);
  Placement(tree, pattern, search.best, std::pmr::get_default_resource());
  return std::move(search.best);
}

// Blocks beyond the largest of the pools would be asked for anew every time.
OrderFinder::OrderFinder() : pool_({.max_blocks_per_chunk = 0, .largest_required_pool_block = 1 << 22}) {}

void OrderFinder::find(const Tree& tree, const Pattern& pattern, EliminationOrder& out) {
  {
    Greedy greedy(tree, pattern, Rule::fewest_neighbours, {}, &pool_);
    greedy.run(std::numeric_limits<double>::infinity());
    take(greedy, "leaf with the fewest neighbours first", out);
  }
  for (auto* list :
       {&out.own, &out.targets, &out.loop_offset, &out.loop_block[0], &out.loop_block[1], &out.elastic_own})
    list->clear();
  out.births.clear(), out.prepared.clear(), out.loop_more.clear();
  out.elastic_on.clear(), out.elastic_turned.clear();
  out.slots = 0, out.loop_rows = 0;
  Placement(tree, pattern, out, &pool_);
}

}  // namespace limber::multibody
