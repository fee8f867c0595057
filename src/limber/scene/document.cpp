#include "limber/scene/document.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <streambuf>
#include <string_view>

#include "limber/scene/plain_document.h"

namespace limber::scene {

namespace {

// What the scanner may read before it must have delivered an event. It queues a whole flow collection, about
// 250 bytes an indicator, until it knows that no ':' follows.
constexpr std::size_t max_pending_indicators = 500'000;
constexpr std::size_t max_pending_bytes = 4u << 20;

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
    if (overfull()) throw TreeBuilder::Stop{};
    return count;
  }

 private:
  std::size_t pending_bytes_ = 0, pending_indicators_ = 0;
};

// yaml-cpp's events as nodes.
class Events : public YAML::EventHandler {
 public:
  Events(Document& doc, std::string_view text, TreeBuilder& tree, WatchedBuffer& buffer)
      : doc_(doc), text_(text), tree_(tree), buffer_(buffer) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) {
      tree_.flaw(to_mark(mark), "a scene file holds one document; this is a second one");
      throw TreeBuilder::Stop{};
    }
  }
  void OnDocumentEnd() override { buffer_.delivered(); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    buffer_.delivered();
    tree_.null(to_mark(mark), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    buffer_.delivered();
    check_tag(mark, tag);
    const bool quoted = tag == "!";
    if (quoted) check_closed(mark);
    tree_.scalar(to_mark(mark), doc_.texts.emplace_back(value), quoted, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(NodeKind::sequence, mark, tag, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(NodeKind::map, mark, tag, anchor);
  }
  void OnSequenceEnd() override { tree_.close(); }
  void OnMapEnd() override { tree_.close(); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override { tree_.alias(to_mark(mark), anchor); }

 private:
  void open(NodeKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    buffer_.delivered();
    check_tag(mark, tag);
    tree_.open(kind, to_mark(mark), anchor);
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!")
      tree_.flaw(to_mark(mark), fmt::format("tags like {} are not used in scenes", tag));
  }

  // yaml-cpp takes the end of the file for a closing quote.
  void check_closed(const YAML::Mark& mark) {
    std::size_t i = static_cast<std::size_t>(mark.pos);
    if (i >= text_.size() || (text_[i] != '"' && text_[i] != '\'')) return;  // a block scalar
    const char quote = text_[i];
    for (++i; i < text_.size() && text_[i] != quote; ++i) i += quote == '"' && text_[i] == '\\';
    if (i >= text_.size()) {
      tree_.flaw(to_mark(mark), "the quote is not closed");
      throw TreeBuilder::Stop{};
    }
  }

  Document& doc_;
  std::string_view text_;
  TreeBuilder& tree_;
  WatchedBuffer& buffer_;
  int documents_ = 0;
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

std::optional<Document> read_plain_document(const std::string& text, const Limits& limits,
                                            bool (*is_root_key)(std::string_view)) {
  Document doc;
  const std::string& kept = doc.texts.emplace_back(text);
  TreeBuilder tree(doc, limits, is_root_key);
  try {
    if (read_plain(kept, tree) && doc.flaws.empty()) return doc;
  } catch (const TreeBuilder::Stop&) {
  }
  return std::nullopt;
}

Document read_whole_document(const std::string& text, const Limits& limits,
                             bool (*is_root_key)(std::string_view)) {
  Document doc;
  WatchedBuffer buffer(text);
  TreeBuilder tree(doc, limits, is_root_key);
  Events events(doc, text, tree, buffer);
  try {
    std::istream in(&buffer);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(events)) {
    }
  } catch (const TreeBuilder::Stop&) {
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

Document read_document(const std::string& text, const Limits& limits, bool (*is_root_key)(std::string_view)) {
  if (text.size() > limits.file_bytes) {
    Document doc;
    doc.flaws.push_back(
        {{1, 1},
         fmt::format("the file has {} bytes, more than the limit of {}", text.size(), limits.file_bytes)});
    return doc;
  }
  if (std::optional<Document> plain = read_plain_document(text, limits, is_root_key))
    return *std::move(plain);
  return read_whole_document(text, limits, is_root_key);
}

}  // namespace limber::scene
