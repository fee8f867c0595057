// A YAML file as a tree of nodes that know where they stand.
//
// yaml-cpp's events are turned into nodes under limits: bytes, depth, nodes after aliases are expanded, and
// what the scanner may hold back before it delivers an event. An alias shares the node of its anchor; the
// expanded size and height of every node are known, so that an alias bomb or a cycle ends at the alias and
// not in a walk. What most scenes consist of is read without yaml-cpp (plain_document.h), to the same nodes.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "limber/scene/scene.h"

namespace limber::scene {

// The values of a repetition's indices, for what it makes.
struct Scope {
  std::vector<std::pair<std::string, double>> indices;  // the outermost first
  std::string text() const;                             // "i = 3, j = 0"
};

struct Mark {
  int line = 0, column = 0;      // from 1; columns count bytes until a diagnostic is written
  const Scope* scope = nullptr;  // of a node that a repetition made
};

enum class NodeKind : std::uint8_t { null, scalar, sequence, map };

struct Node;
struct Entry {
  const Node* key;  // a scalar
  const Node* value;
};

struct Node {
  NodeKind kind = NodeKind::null;
  bool quoted = false;  // a scalar in quotes or a block scalar
  Mark mark;
  std::string_view text;           // scalar
  std::vector<const Node*> items;  // sequence
  std::vector<Entry> entries;      // map, in the order of the file
  std::uint64_t size = 1;          // nodes, aliases expanded
  int height = 1;

  bool is_scalar() const { return kind == NodeKind::scalar; }
  bool is_sequence() const { return kind == NodeKind::sequence; }
  bool is_map() const { return kind == NodeKind::map; }
  const Entry* find(std::string_view name) const;
};
const char* describe(const Node& node);  // "a list", "a mapping", "text", "nothing"

struct Flaw {
  Mark mark;
  std::string message;
};

struct Document {
  std::deque<Node> nodes;
  std::deque<std::string> texts;
  const Node* root = nullptr;  // null when the text could not be read at all
  std::vector<Flaw> flaws;
};

// Reads `text`; what is wrong with it as YAML is in `flaws`. Never throws for bad input. A flood of keys at
// the root that `is_root_key` does not know ends the reading: the file is something else.
Document read_document(const std::string& text, const Limits& limits, bool (*is_root_key)(std::string_view));
// Its two ways: the quick one, which does not know all of YAML and finds nothing wrong, and the whole one.
std::optional<Document> read_plain_document(const std::string& text, const Limits& limits,
                                            bool (*is_root_key)(std::string_view));
Document read_whole_document(const std::string& text, const Limits& limits,
                             bool (*is_root_key)(std::string_view));

// The first byte that no text file has (a control character, broken UTF-8), if any; see text_check.cpp.
struct TextProblem {
  std::size_t offset = 0;
  std::string message;  // empty: none
};
TextProblem check_text(std::string_view text);
// Without the byte-order mark, with \n for \r\n and \r.
std::string normalize_text(std::string_view text);
// The mark of a byte.
Mark mark_at(std::string_view text, std::size_t offset);

}  // namespace limber::scene
