#include "limber/scene/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>
#include <string_view>
#include <unordered_map>

namespace limber::scene {

namespace {

// What the scanner may read before it must have delivered an event. It queues a whole flow collection, about
// 250 bytes an indicator, until it knows that no ':' follows.
constexpr std::size_t max_pending_indicators = 500'000;
constexpr std::size_t max_pending_bytes = 4u << 20;
constexpr std::size_t max_flaws = 200;
constexpr int max_unknown_root_keys = 50;

struct Stop {};  // thrown through yaml-cpp when nothing further is worth reading

Mark to_mark(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Feeds the text and watches how much goes in without an event. Only xsgetn is used for more than the first
// bytes.
class WatchedBuffer : public std::streambuf {
 public:
  explicit WatchedBuffer(const std::string& text) {
    char* begin = const_cast<char*>(text.data());  // a streambuf wants char*; nothing writes
    setg(begin, begin, begin + text.size());
  }
  void delivered() { pending_bytes_ = pending_indicators_ = 0; }
  bool overfull() const {
    return pending_bytes_ > max_pending_bytes || pending_indicators_ > max_pending_indicators;
  }
  std::size_t offset() const { return static_cast<std::size_t>(gptr() - eback()); }

 protected:
  std::streamsize xsgetn(char* out, std::streamsize n) override {
    const std::ptrdiff_t count = std::min<std::ptrdiff_t>(n, egptr() - gptr());
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const char c = gptr()[i];
      out[i] = c;
      pending_indicators_ += c == '[' || c == '{' || c == ',' || c == ':';
    }
    setg(eback(), gptr() + count, egptr());
    pending_bytes_ += static_cast<std::size_t>(count);
    if (overfull()) throw Stop{};
    return count;
  }

 private:
  std::size_t pending_bytes_ = 0, pending_indicators_ = 0;
};

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Document& doc, std::string_view text, const Limits& limits,
              bool (*is_root_key)(std::string_view), WatchedBuffer& buffer)
      : doc_(doc), text_(text), limits_(limits), is_root_key_(is_root_key), buffer_(buffer) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      flaw(to_mark(mark), "a scene file holds one document; this is a second one");
      throw Stop{};
    }
  }
  void OnDocumentEnd() override { buffer_.delivered(); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(make(NodeKind::null, mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node* node = make(NodeKind::scalar, mark);
    check_tag(node->mark, tag);
    node->quoted = tag == "!";
    if (node->quoted) check_closed(mark);
    node->text = doc_.texts.emplace_back(value);
    add(node, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(NodeKind::sequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(NodeKind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    merge(*open_.back().node);
    check_duplicates(*open_.back().node);
    close();
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      flaw(to_mark(mark), "the alias refers to something that contains it");
      throw Stop{};
    }
    if (static_cast<int>(open_.size()) + found->second->height > limits_.depth) too_deep(to_mark(mark));
    attach(found->second, to_mark(mark));
  }

 private:
  struct Open {
    Node* node;
    YAML::anchor_t anchor;
    const Node* key = nullptr;  // waiting for its value
  };

  Node* make(NodeKind kind, const YAML::Mark& mark) {
    buffer_.delivered();
    Node* node = &doc_.nodes.emplace_back();
    node->kind = kind;
    node->mark = to_mark(mark);
    return node;
  }

  void flaw(const Mark& mark, std::string message) {
    doc_.flaws.push_back({mark, std::move(message)});
    if (doc_.flaws.size() > max_flaws) throw Stop{};
  }

  void check_tag(const Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      flaw(mark, fmt::format("tags like {} are not used in scenes", tag));
  }

  // yaml-cpp takes the end of the file for a closing quote.
  void check_closed(const YAML::Mark& mark) {
    std::size_t i = static_cast<std::size_t>(mark.pos);
    if (i >= text_.size() || (text_[i] != '"' && text_[i] != '\'')) return;  // a block scalar
    const char quote = text_[i];
    for (++i; i < text_.size() && text_[i] != quote; ++i) i += quote == '"' && text_[i] == '\\';
    if (i >= text_.size()) {
      flaw(to_mark(mark), "the quote is not closed");
      throw Stop{};
    }
  }

  void too_deep(const Mark& mark) {
    flaw(mark, fmt::format("nested more than {} levels deep", limits_.depth));
    throw Stop{};
  }

  void open(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    Node* node = make(kind, mark);
    check_tag(node->mark, tag);
    if (static_cast<int>(open_.size()) >= limits_.depth) too_deep(node->mark);
    open_.push_back({node, anchor});
  }

  void close() {
    const Open done = open_.back();
    open_.pop_back();
    add(done.node, done.anchor);
  }

  void add(Node* node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    attach(node, node->mark);
  }

  // Hangs a finished node into the collection that is open.
  void attach(const Node* node, const Mark& mark) {
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
      if (!node->is_scalar()) flaw(mark, fmt::format("a key must be a name, not {}", describe(*node)));
      top.key = node->is_scalar() ? node : &placeholder_;
      if (open_.size() == 1 && !is_root_key_(node->text) && ++unknown_root_keys_ > max_unknown_root_keys) {
        flaw(mark, fmt::format("more than {} unknown keys: this is no scene", max_unknown_root_keys));
        throw Stop{};
      }
    } else {
      if (top.key != &placeholder_) top.node->entries.push_back({top.key, node});
      top.key = nullptr;
    }
  }

  // `<<: *defaults` adds the entries that the map does not have itself.
  void merge(Node& map) {
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

  void check_duplicates(const Node& map) {
    if (map.entries.size() < 2) return;
    seen_.clear();
    for (const Entry& entry : map.entries) {
      const auto [it, fresh] = seen_.emplace(entry.key->text, entry.key);
      if (!fresh)
        flaw(entry.key->mark, fmt::format("\"{}\" is given twice; first on line {}",
                                          entry.key->text.substr(0, 80), it->second->mark.line));
    }
  }

  Document& doc_;
  std::string_view text_;
  const Limits& limits_;
  bool (*is_root_key_)(std::string_view);
  WatchedBuffer& buffer_;
  std::vector<Open> open_;
  std::unordered_map<YAML::anchor_t, const Node*> anchors_;
  std::unordered_map<std::string_view, const Node*> seen_;
  Node placeholder_;
  int documents_ = 0, unknown_root_keys_ = 0;
};

bool is_tab_indented(std::string_view text, const Mark& mark) {
  std::size_t start = 0;
  for (int line = 1; line < mark.line && start < text.size(); ++line)
    start = std::min(text.find('\n', start), text.size()) + 1;
  while (start < text.size() && text[start] == ' ') ++start;
  return start < text.size() && text[start] == '\t';
}

// yaml-cpp's messages, in words that say what to do.
std::string explain(const std::string& message) {
  static const std::pair<const char*, const char*> table[] = {
      {YAML::ErrorMsg::END_OF_MAP, "the indentation does not fit here, or a ':' is missing"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a { is not closed, or a ',' is missing"},
      {YAML::ErrorMsg::END_OF_SEQ, "the indentation does not fit here, or a '-' is missing"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a [ is not closed, or a ',' is missing"},
      {YAML::ErrorMsg::MAP_VALUE, "a ':' does not belong here; quote text that contains one"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab in the indentation; use spaces"},
      {YAML::ErrorMsg::UNKNOWN_ANCHOR, "the alias refers to an anchor that does not exist before it"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is not closed"},
      {YAML::ErrorMsg::FLOW_END, "a ] or } without its opening bracket"},
  };
  for (const auto& [theirs, ours] : table)
    if (message == theirs) return ours;
  return message;
}

}  // namespace

const Entry* Node::find(std::string_view name) const {
  for (const Entry& entry : entries)
    if (entry.key->text == name) return &entry;
  return nullptr;
}

const char* describe(const Node& node) {
  switch (node.kind) {
    case NodeKind::null:
      return "nothing";
    case NodeKind::scalar:
      return "text";
    case NodeKind::sequence:
      return "a list";
    case NodeKind::map:
      return "a mapping";
  }
  return "";
}

Document read_document(const std::string& text, const Limits& limits, bool (*is_root_key)(std::string_view)) {
  Document doc;
  if (text.size() > limits.file_bytes) {
    doc.flaws.push_back(
        {{1, 1},
         fmt::format("the file has {} bytes, more than the limit of {}", text.size(), limits.file_bytes)});
    return doc;
  }
  WatchedBuffer buffer(text);
  TreeBuilder builder(doc, text, limits, is_root_key, buffer);
  try {
    std::istream in(&buffer);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    if (buffer.overfull())
      doc.flaws.push_back(
          {mark_at(text, buffer.offset()),
           "a [ ] or { } or a value is too large; write large data one entry a line, or in a file"});
    doc.root = nullptr;
  } catch (const YAML::Exception& error) {
    const Mark mark = error.mark.is_null() ? Mark{1, 1} : to_mark(error.mark);
    doc.flaws.push_back(
        {mark, is_tab_indented(text, mark) ? "a tab in the indentation; use spaces" : explain(error.msg)});
    doc.root = nullptr;
  }
  return doc;
}

}  // namespace limber::scene
