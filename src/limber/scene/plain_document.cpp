#include "limber/scene/plain_document.h"

#include <cstring>

namespace limber::scene {

namespace {

// As the whole reader allows (document.cpp): of one value that is not a block.
constexpr std::size_t max_flow_bytes = 4u << 20, max_flow_nodes = 200'000;
constexpr std::size_t max_key = 1000;  // bytes

class PlainReader {
 public:
  PlainReader(std::string_view text, TreeBuilder& out) : text_(text), out_(out) {}

  bool read() {
    if (std::memchr(text_.data(), '\t', text_.size()) != nullptr) return false;
    if (!next_line() || column() != 0) return false;
    return block_map() && at_ == text_.size();
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\n'; }
  static bool is_blank(char c) { return c == ' ' || c == '\n'; }
  int column() const { return static_cast<int>(at_ - line_start_); }  // from 0
  Mark mark() const { return {line_, column() + 1}; }

  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  // To the first thing that is neither blank nor a comment, over any number of lines; false: there is none.
  bool skip_space() {
    for (;;) {
      skip_blanks();
      if (at_ < text_.size() && text_[at_] == '#' && (column() == 0 || text_[at_ - 1] == ' ')) {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end;
      }
      if (at_ >= text_.size()) return false;
      if (text_[at_] != '\n') return true;
      line_start_ = ++at_;
      ++line_;
    }
  }
  // The rest of the line is empty, and the next thing stands on another one or there is none.
  bool end_line() {
    const int line = line_;
    return next_line() ? line_ > line : true;
  }
  bool next_line() {
    const bool more = skip_space();
    if (!more) at_ = text_.size();
    return more;
  }

  // --- blocks: `at_` is where the first thing of a line stands

  bool is_item() const { return peek() == '-' && is_blank(peek(1)); }

  bool block() { return is_item() ? block_list() : block_map(); }

  bool block_map() {
    const int indent = column();
    out_.open(NodeKind::map, mark());
    do {
      if (is_item() || !block_key() || !block_value(indent, true)) return false;
    } while (at_ < text_.size() && column() == indent);
    out_.close();
    return at_ >= text_.size() || column() < indent;
  }

  bool block_list() {
    const int indent = column();
    out_.open(NodeKind::sequence, mark());
    do {
      ++at_;  // the dash
      if (!block_value(indent, false)) return false;
    } while (at_ < text_.size() && column() == indent && is_item());
    out_.close();
    return at_ >= text_.size() || column() <= indent;
  }

  bool block_key() {
    const std::size_t begin = at_;
    if (!text_here(false) || at_ - begin > max_key) return false;
    return take_colon();
  }

  // After "key:" or "-", of a block that stands at `indent`: on the same line, or a block below it.
  bool block_value(int indent, bool of_map) {
    const int line = line_;
    if (!skip_space()) return false;
    if (line_ == line) return inline_value(indent, of_map);
    const bool same_place = of_map && column() == indent && is_item();
    return (column() > indent || same_place) && block();
  }

  bool inline_value(int indent, bool of_map) {
    if (peek() == '{' || peek() == '[') {
      flow_begin_ = at_, flow_nodes_ = 0;
      if (!flow()) return false;
    } else if (!of_map && opens_map()) {
      return !is_item() && block_map();
    } else if (!text_here(false)) {
      return false;
    }
    // What is further in would go on with the value.
    return end_line() && (at_ >= text_.size() || column() <= indent);
  }

  // "- key: …": a mapping that begins behind the dash.
  bool opens_map() const {
    for (std::size_t i = at_; i < text_.size() && text_[i] != '\n'; ++i)
      if (text_[i] == ':' && (i + 1 == text_.size() || is_blank(text_[i + 1]))) return true;
    return false;
  }

  bool take_colon() {
    if (peek() != ':' || !is_blank(peek(1))) return false;
    ++at_;
    return true;
  }

  // --- texts: a node is made of what stands here; `at_` is behind it

  bool text_here(bool in_flow) {
    const char c = peek();
    if (c == '"' || c == '\'') return quoted_text(c);
    if (is_blank(c) || std::strchr(",[]{}#&*!|>%@`?", c) != nullptr) return false;
    if ((c == '-' || c == ':') && is_blank(peek(1))) return false;
    const Mark begin_mark = mark();
    const std::size_t begin = at_;
    if (!(in_flow ? plain_end_in_flow() : plain_end())) return false;
    std::size_t end = at_;
    while (text_[end - 1] == ' ') --end;
    const std::string_view plain = text_.substr(begin, end - begin);
    if (plain == "~" || plain == "null" || plain == "Null" || plain == "NULL") return false;
    if (begin == line_start_ && (plain.starts_with("---") || plain.starts_with("..."))) return false;
    out_.scalar(begin_mark, plain, false);
    return true;
  }

  bool plain_end() {
    for (; peek() != '\n'; ++at_) {
      if (peek() == ':' && is_blank(peek(1))) return text_[at_ - 1] != ' ';
      if (peek() == ' ' && peek(1) == '#') return true;
    }
    return true;
  }

  bool plain_end_in_flow() {
    for (; peek() != '\n'; ++at_) {
      const char c = peek();
      if (c == ',' || c == ']' || c == '}') return true;
      if (c == '[' || c == '{' || c == '?') return false;
      if (c == ':' && is_blank(peek(1))) return text_[at_ - 1] != ' ';
      if (c == ':' && std::strchr(",]}", peek(1)) != nullptr) return false;
      if (c == ' ' && peek(1) == '#') return true;
    }
    return true;
  }

  bool quoted_text(char quote) {
    const Mark begin_mark = mark();
    const std::size_t begin = ++at_;
    for (; peek() != quote; ++at_)
      if (peek() == '\n' || peek() == '\\') return false;
    out_.scalar(begin_mark, text_.substr(begin, at_ - begin), true);
    ++at_;
    return peek() != quote;  // two quotes stand for one
  }

  // --- flow: { } and [ ], over any number of lines

  bool flow_space() {
    const int line = line_;
    if (!skip_space()) return false;
    return line_ == line || column() > 0;
  }

  bool flow() {
    const bool is_map = peek() == '{';
    const char closing = is_map ? '}' : ']';
    out_.open(is_map ? NodeKind::map : NodeKind::sequence, mark());
    ++at_;
    if (!flow_space()) return false;
    if (peek() != closing)
      while (true) {
        if (is_map && !(text_here(true) && take_colon() && flow_space())) return false;
        if (!flow_value()) return false;
        if (peek() == closing) break;
        if (peek() != ',') return false;
        ++at_;
        if (!flow_space()) return false;
      }
    ++at_;
    out_.close();
    return true;
  }

  bool flow_value() {
    if (++flow_nodes_ > max_flow_nodes || at_ - flow_begin_ > max_flow_bytes) return false;
    const bool collection = peek() == '{' || peek() == '[';
    return (collection ? flow() : text_here(true)) && flow_space();
  }

  std::string_view text_;
  TreeBuilder& out_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  std::size_t flow_begin_ = 0, flow_nodes_ = 0;
};

}  // namespace

bool read_plain(std::string_view text, TreeBuilder& out) { return PlainReader(text, out).read(); }

}  // namespace limber::scene
