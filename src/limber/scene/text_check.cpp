// Is it a text file at all? Checked before the YAML scanner sees it: UTF-8 (RFC 3629), no control characters.
#include <fmt/format.h>

#include <algorithm>

#include "limber/scene/document.h"

namespace limber::scene {

namespace {

// The length of the UTF-8 sequence at the start of `s`, 0 if it is broken, overlong, a surrogate or past
// U+10FFFF.
std::size_t sequence_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned char b = byte(0);
  const std::size_t n = b < 0x80 ? 1 : b < 0xc2 ? 0 : b < 0xe0 ? 2 : b < 0xf0 ? 3 : b < 0xf5 ? 4 : 0;
  if (n == 0 || n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if (b == 0xe0 && byte(1) < 0xa0) return 0;
  if (b == 0xed && byte(1) > 0x9f) return 0;
  if (b == 0xf0 && byte(1) < 0x90) return 0;
  if (b == 0xf4 && byte(1) > 0x8f) return 0;
  return n;
}

}  // namespace

TextProblem check_text(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return {0, "the file is UTF-16; save it as UTF-8"};
  for (std::size_t i = 0; i < text.size();) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
      return {i, fmt::format("the control character 0x{:02x} does not belong in a text file", c)};
    const std::size_t n = sequence_length(text.substr(i));
    if (n == 0) return {i, fmt::format("byte 0x{:02x} is not UTF-8", c)};
    i += n;
  }
  return {};
}

std::string normalize_text(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else {
      out += '\n';
      if (i + 1 < text.size() && text[i + 1] == '\n') ++i;
    }
  }
  return out;
}

Mark mark_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t last = before.rfind('\n');
  const std::size_t column = last == std::string_view::npos ? before.size() : before.size() - last - 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(column) + 1};
}

}  // namespace limber::scene
