#include "limber/scene/tree_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace limber::scene {

namespace {

constexpr std::size_t max_flaws = 200;
constexpr int max_unknown_root_keys = 50;
constexpr std::size_t few_keys = 12;  // are compared with each other; more are looked up

}  // namespace

Node& TreeBuilder::make(NodeKind kind, const Mark& mark) {
  Node& node = doc_.nodes.emplace_back();
  node.kind = kind;
  node.mark = mark;
  return node;
}

void TreeBuilder::scalar(const Mark& mark, std::string_view text, bool quoted, std::size_t anchor) {
  Node& node = make(NodeKind::scalar, mark);
  node.quoted = quoted;
  node.text = text;
  add(&node, anchor);
}

void TreeBuilder::open(NodeKind kind, const Mark& mark, std::size_t anchor) {
  Node& node = make(kind, mark);
  if (static_cast<int>(open_.size()) >= limits_.depth) too_deep(mark);
  open_.push_back({&node, anchor});
}

void TreeBuilder::close() {
  const Open done = open_.back();
  if (done.node->is_map()) {
    merge(*done.node);
    check_duplicates(*done.node);
  }
  open_.pop_back();
  add(done.node, done.anchor);
}

void TreeBuilder::alias(const Mark& mark, std::size_t anchor) {
  const auto found = anchors_.find(anchor);
  if (found == anchors_.end()) {
    flaw(mark, "the alias refers to something that contains it");
    throw Stop{};
  }
  if (static_cast<int>(open_.size()) + found->second->height > limits_.depth) too_deep(mark);
  attach(found->second, mark);
}

void TreeBuilder::flaw(const Mark& mark, std::string message) {
  doc_.flaws.push_back({mark, std::move(message)});
  if (doc_.flaws.size() > max_flaws) throw Stop{};
}

void TreeBuilder::too_deep(const Mark& mark) {
  flaw(mark, fmt::format("nested more than {} levels deep", limits_.depth));
  throw Stop{};
}

void TreeBuilder::add(Node* node, std::size_t anchor) {
  if (anchor != 0) anchors_[anchor] = node;
  attach(node, node->mark);
}

// Hangs a finished node into the collection that is open.
void TreeBuilder::attach(const Node* node, const Mark& mark) {
  if (open_.empty()) {
    doc_.root = node;
    return;
  }
  Open& top = open_.back();
  top.node->size += node->size;
  top.node->height = std::max(top.node->height, node->height + 1);
  const bool many = doc_.nodes.size() > limits_.values;
  if (many || top.node->size > doc_.nodes.size() + limits_.nodes) {
    flaw(mark, many ? fmt::format("the scene has more than {} values", limits_.values)
                    : fmt::format("aliases add more than {} values", limits_.nodes));
    throw Stop{};
  }
  if (top.node->is_sequence()) {
    top.node->items.push_back(node);
  } else if (!top.key) {
    take_key(node, mark);
  } else {
    if (top.key != &placeholder_) top.node->entries.push_back({top.key, node});
    top.key = nullptr;
  }
}

void TreeBuilder::take_key(const Node* node, const Mark& mark) {
  if (!node->is_scalar()) flaw(mark, fmt::format("a key must be a name, not {}", describe(*node)));
  open_.back().key = node->is_scalar() ? node : &placeholder_;
  if (open_.size() == 1 && !is_root_key_(node->text) && ++unknown_root_keys_ > max_unknown_root_keys) {
    flaw(mark, fmt::format("more than {} unknown keys: this is no scene", max_unknown_root_keys));
    throw Stop{};
  }
}

// `<<: *defaults` adds the entries that the map does not have itself.
void TreeBuilder::merge(Node& map) {
  for (std::size_t i = 0; i < map.entries.size(); ++i) {
    if (map.entries[i].key->text != "<<" || map.entries[i].key->quoted) continue;
    const Entry from = map.entries[i];
    map.entries.erase(map.entries.begin() + static_cast<std::ptrdiff_t>(i));
    if (!from.value->is_map()) {
      flaw(from.key->mark,
           fmt::format("<< takes a mapping (an alias of one), not {}", describe(*from.value)));
      return;
    }
    for (const Entry& entry : from.value->entries)
      if (!map.find(entry.key->text)) map.entries.push_back(entry);
    return;
  }
}

void TreeBuilder::check_duplicates(const Node& map) {
  const auto twice = [&](const Node& key, const Node& first) {
    flaw(key.mark,
         fmt::format("\"{}\" is given twice; first on line {}", key.text.substr(0, 80), first.mark.line));
  };
  if (map.entries.size() <= few_keys) {
    for (auto it = map.entries.begin(); it != map.entries.end(); ++it)
      for (auto before = map.entries.begin(); before != it; ++before)
        if (before->key->text == it->key->text) {
          twice(*it->key, *before->key);
          break;
        }
    return;
  }
  seen_.clear();
  for (const Entry& entry : map.entries) {
    const auto [it, fresh] = seen_.emplace(entry.key->text, entry.key);
    if (!fresh) twice(*entry.key, *it->second);
  }
}

}  // namespace limber::scene
