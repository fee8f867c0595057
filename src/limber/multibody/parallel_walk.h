// Walks over the tree, forward (parents first) and backward (children first), on one thread or several. The
// floating-point operations and their order per link are the same either way, so results are the same bits.
#pragma once

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "limber/multibody/kinematics.h"

namespace limber::multibody {

struct Workers {
  explicit Workers(int threads)
      : allowed(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  tbb::global_control allowed;  // more threads than cores on request
  tbb::task_arena arena;
};

// visit(i) for every link, a parent before its children.
template <class Visit>
void walk_forward(const Tree& tree, Workers* workers, Visit&& visit) {
  if (!workers) {
    for (int i = 0; i < tree.size(); ++i) visit(i);
    return;
  }
  for (const int i : tree.top()) visit(i);
  const auto subtrees = tree.subtrees();
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, subtrees.size(), [&](std::size_t k) {
      for (int i = subtrees[k].begin; i < subtrees[k].end; ++i) visit(i);
    });
  });
}

// visit(i), then push(i) which adds link i's contribution to its parent: children before their parent,
// contributions to one parent always in descending order of the child.
template <class Visit, class Push>
void walk_backward(const Tree& tree, Workers* workers, Visit&& visit, Push&& push) {
  if (!workers) {
    for (int i = tree.size() - 1; i >= 0; --i) {
      visit(i);
      push(i);
    }
    return;
  }
  const auto subtrees = tree.subtrees();
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, subtrees.size(), [&](std::size_t k) {
      for (int i = subtrees[k].end - 1; i >= subtrees[k].begin; --i) {
        visit(i);
        if (i != subtrees[k].begin) push(i);
      }
    });
  });
  const auto order = tree.top_and_roots();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (*it < 0) {
      push(subtrees[-1 - *it].begin);
    } else {
      visit(*it);
      push(*it);
    }
  }
}

// The same in ranges of links, for kernels: visit(begin, end) goes through its links itself.
template <class Visit>
void walk_ranges_forward(const Tree& tree, Workers* workers, Visit&& visit) {
  if (!workers) return visit(0, tree.size());
  for (const int i : tree.top()) visit(i, i + 1);
  const auto subtrees = tree.subtrees();
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, subtrees.size(),
                      [&](std::size_t k) { visit(subtrees[k].begin, subtrees[k].end); });
  });
}

// visit(begin, end, push_first) visits and pushes, the last link first; the first one it pushes only if it
// may, else push(begin) follows.
template <class Visit, class Push>
void walk_ranges_backward(const Tree& tree, Workers* workers, Visit&& visit, Push&& push) {
  if (!workers) return visit(0, tree.size(), true);
  const auto subtrees = tree.subtrees();
  workers->arena.execute([&] {
    tbb::parallel_for(std::size_t{0}, subtrees.size(),
                      [&](std::size_t k) { visit(subtrees[k].begin, subtrees[k].end, false); });
  });
  const auto order = tree.top_and_roots();
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    if (*it < 0)
      push(subtrees[-1 - *it].begin);
    else
      visit(*it, *it + 1, true);
}

}  // namespace limber::multibody
