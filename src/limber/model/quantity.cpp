#include "limber/model/quantity.h"

#include <fmt/format.h>

#include <algorithm>

namespace limber {

const char* keys_of(Subject subject) {
  switch (subject) {
    case Subject::place:
      return "on";
    case Subject::joint:
      return "joint";
    case Subject::support:
      return "joint tie beam";
    case Subject::load:
      return "load";
    case Subject::spring:
      return "spring";
    case Subject::rider:
      return "rider";
    case Subject::coupling:
      return "coupling";
    case Subject::cable:
      return "cable";
    case Subject::whole:
      break;
  }
  return "";
}

bool has_word(const QuantityInfo& row, std::string_view word) {
  const std::string padded = fmt::format(" {} ", row.words);
  return padded.find(fmt::format(" {} ", word)) != std::string::npos;
}

std::string_view word_at_end(const QuantityInfo& row, std::string_view text) {
  std::string_view words = row.words;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (text.size() > word.size() + 1 && text.ends_with(word) && text[text.size() - word.size() - 1] == '.')
      return word;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return {};
}

std::string quantity_names() {
  std::string out;
  for (const QuantityInfo& row : quantity_table) out += (out.empty() ? "" : " ") + std::string(row.name);
  return out;
}

namespace {

// "`rope.length`": how a text names it.
std::string example_of(const QuantityInfo& row) {
  const auto thing = [&] {
    switch (row.told) {
      case Told::section:
      case Told::section_force:
        return "beam@0.5.";
      case Told::momentum:
      case Told::touch:
        return "body.";
      case Told::load_work:
        return "load.";
      case Told::spring:
        return "spring.";
      case Told::rider:
        return "rider.";
      case Told::coupling:
        return "coupling.";
      case Told::cable:
        return row.quantity == Quantity::cable_wrap || row.quantity == Quantity::cable_slip ? "cable.2."
                                                                                            : "cable.";
      default:
        return subject_of(row.told) == Subject::place   ? "place."
               : subject_of(row.told) == Subject::whole ? ""
                                                        : "joint.";
    }
  }();
  std::string out, words = row.words;
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    out += fmt::format("{}`{}{}`", out.empty() ? "" : ", ", thing, words.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string columns_of(const QuantityInfo& row) {
  return row.components == Components::xyz           ? "x, y, z"
         : row.components == Components::coordinates ? "one a coordinate"
                                                     : "1";
}

}  // namespace

std::string quantity_markdown() {
  std::string out = "| quantity | as a text | columns | unit | |\n|---|---|---|---|---|\n";
  for (const QuantityInfo& row : quantity_table)
    out += fmt::format("| `{}` | {} | {} | {}{}{} | {} |\n", row.name, example_of(row), columns_of(row),
                       row.unit, *row.unit_along ? ", " : "", row.unit_along, row.doc);
  return out;
}

}  // namespace limber
