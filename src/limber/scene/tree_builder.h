// Nodes as they come out of a text, one after the other: hung into the tree of a document under its limits.
#pragma once

#include <unordered_map>

#include "limber/scene/document.h"

namespace limber::scene {

class TreeBuilder {
 public:
  struct Stop {};  // thrown when nothing further is worth reading; the last flaw says why

  TreeBuilder(Document& doc, const Limits& limits, bool (*is_root_key)(std::string_view))
      : doc_(doc), limits_(limits), is_root_key_(is_root_key) {}

  // `anchor` 0: none.
  void null(const Mark& mark, std::size_t anchor = 0) { add(&make(NodeKind::null, mark), anchor); }
  void scalar(const Mark& mark, std::string_view text, bool quoted, std::size_t anchor = 0);
  void open(NodeKind kind, const Mark& mark, std::size_t anchor = 0);
  void close();  // the collection that was opened last
  void alias(const Mark& mark, std::size_t anchor);

  void flaw(const Mark& mark, std::string message);

 private:
  struct Open {
    Node* node;
    std::size_t anchor;
    const Node* key = nullptr;  // waiting for its value
  };

  Node& make(NodeKind kind, const Mark& mark);
  void too_deep(const Mark& mark);
  void add(Node* node, std::size_t anchor);
  void attach(const Node* node, const Mark& mark);
  void take_key(const Node* node, const Mark& mark);
  void merge(Node& map);
  void check_duplicates(const Node& map);

  Document& doc_;
  const Limits& limits_;
  bool (*is_root_key_)(std::string_view);
  std::vector<Open> open_;
  std::unordered_map<std::size_t, const Node*> anchors_;
  std::unordered_map<std::string_view, const Node*> seen_;
  Node placeholder_;
  int unknown_root_keys_ = 0;
};

}  // namespace limber::scene
