#include "limber/scene/csv.h"

#include <fmt/format.h>

#include <optional>

#include "limber/scene/expression.h"

namespace limber::scene {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\"");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\"") - first + 1);
}

// Numbers of one line; nullopt if anything else is in it.
std::optional<std::vector<double>> row_of(std::string_view line) {
  std::vector<double> row;
  while (!line.empty()) {
    const std::size_t n = line.find_first_of(",; \t");
    const std::string_view word = line.substr(0, n);
    if (!word.empty()) {
      const auto value = parse_number(word);
      if (!value) return std::nullopt;
      row.push_back(*value);
    }
    line.remove_prefix(n == std::string_view::npos ? line.size() : n + 1);
  }
  return row;
}

Csv::Name name_of_cell(std::string_view cell) {
  cell = trimmed(cell);
  const std::size_t open = cell.find_last_of("[(");
  const bool square = open != std::string_view::npos && cell[open] == '[';
  if (open == std::string_view::npos || open == 0 || cell.back() != (square ? ']' : ')'))
    return {std::string(cell), "", false};
  return {std::string(trimmed(cell.substr(0, open))),
          std::string(trimmed(cell.substr(open + 1, cell.size() - open - 2))), square};
}

// By commas or semicolons; a line without them by tabs, or else by blanks.
std::vector<Csv::Name> names_of(std::string_view line) {
  const char* marks = line.find_first_of(",;") != std::string_view::npos ? ",;"
                      : line.find('\t') != std::string_view::npos        ? "\t"
                                                                         : " ";
  std::vector<Csv::Name> names;
  while (true) {
    const std::size_t n = line.find_first_of(marks);
    const std::string_view cell = line.substr(0, n);
    if (*marks != ' ' || !trimmed(cell).empty()) names.push_back(name_of_cell(cell));
    if (n == std::string_view::npos) return names;
    line.remove_prefix(n + 1);
  }
}

}  // namespace

Csv parse_csv(std::string_view text) {
  Csv out;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t n = text.find('\n');
    std::string_view line = text.substr(0, n);
    text.remove_prefix(n == std::string_view::npos ? text.size() : n + 1);
    line = line.substr(0, line.find_first_of("#\r"));
    if (line.find_first_not_of(" \t,;") == std::string_view::npos) continue;
    auto row = row_of(line);
    if (!row && out.rows.empty()) {
      out.names = names_of(line);
      out.names_line = number;
      continue;
    }
    if (!row) throw CsvError(number, "expected numbers");
    if (!out.rows.empty() && row->size() != out.rows.front().size())
      throw CsvError(number, fmt::format("expected {} numbers, as in the rows before, got {}",
                                         out.rows.front().size(), row->size()));
    out.rows.push_back(std::move(*row));
    out.lines.push_back(number);
  }
  return out;
}

}  // namespace limber::scene
