// Functions of time and laws: constants, expressions, tables, files; and which files a scene may read.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

#include "limber/result/recording.h"
#include "limber/scene/csv.h"
#include "limber/scene/fields.h"

namespace limber::scene {

namespace {

namespace fs = std::filesystem;

TimeFunction apply_ramp(const Expression& e, double ramp) {
  if (ramp <= 0) return e.constant ? TimeFunction(e.value) : TimeFunction::expression(e.program);
  if (e.constant && e.value == 0) return 0;
  math::Program program = e.program;
  if (e.constant && program.size() == 0) program.push_constant(e.value);
  return TimeFunction::expression(ramped(program, ramp));
}

// Is `inner` (canonical) inside `outer` (canonical)?
bool inside(const fs::path& inner, const fs::path& outer) {
  auto i = inner.begin();
  for (const fs::path& part : outer) {
    if (part.empty()) continue;
    if (i == inner.end() || *i != part) return false;
    ++i;
  }
  return true;
}

bool stays_below(const fs::path& path) {
  if (path.is_absolute() || path.has_root_name() || path.empty()) return false;
  for (const fs::path& part : path.lexically_normal())
    if (part == "..") return false;
  return true;
}

}  // namespace

std::optional<std::string> Reader::file_text(const Node& node, const Path& path) {
  const auto refuse = [&](std::string why) {
    error(node, path, std::move(why));
    return std::nullopt;
  };
  const fs::path relative = fs::path(std::string(node.text)).lexically_normal();
  const std::string name = relative.generic_string();
  if (!stays_below(relative))
    return refuse(fmt::format("{} leads out of the scene's folder", quoted(node.text)));
  for (const sim::SourceFile& source : files)
    if (source.path == name) return source.text;
  if (embedded) {
    for (const sim::SourceFile& source : *embedded)
      if (source.path == name) {
        files.push_back(source);
        return source.text;
      }
    return refuse(fmt::format("there is no file {}", quoted(node.text)));
  }
  std::error_code failed;
  const fs::path home = fs::canonical(folder.empty() ? fs::path(".") : folder, failed);
  if (failed) return refuse(fmt::format("the scene's folder cannot be read: {}", failed.message()));
  const fs::path full = fs::canonical(home / relative, failed);
  if (failed) return refuse(fmt::format("cannot read {}: {}", quoted(node.text), failed.message()));
  if (!inside(full, home))
    return refuse(fmt::format("{} leads out of the scene's folder", quoted(node.text)));
  if (!fs::is_regular_file(full, failed)) return refuse(fmt::format("{} is not a file", quoted(node.text)));
  if (const auto size = fs::file_size(full, failed); failed || size > options.limits.file_bytes)
    return refuse(fmt::format("{} has more than {} bytes", quoted(node.text), options.limits.file_bytes));
  try {
    files.push_back({name, result::read_file(full)});
  } catch (const std::exception& e) {
    return refuse(e.what());
  }
  return files.back().text;
}

// Rows of a table: what its first column is, and how many there are.
struct Reader::TableKind {
  std::size_t columns = 2;
  ObjectType object = ObjectType::function_table;
  Dimension first = dimension::time;
  const char *name = "time", *names = "times";
};

// Which columns of a file are meant: those that `columns` names, or all of them in their order.
static std::optional<std::vector<std::size_t>> chosen_columns(const Fields& fields, const Csv& csv,
                                                              std::size_t wanted) {
  std::string listed;
  for (const Csv::Name& n : csv.names) listed += (listed.empty() ? "" : ", ") + n.text;
  std::vector<std::size_t> out;
  if (!fields.has("columns")) {
    const std::size_t there = csv.rows.empty() ? wanted : csv.rows.front().size();
    for (std::size_t i = 0; i < wanted; ++i) out.push_back(i);
    if (there == wanted) return out;
    fields.error(
        "file", fmt::format("the file has {} columns, {} are wanted: say which by `columns`{}", there, wanted,
                            listed.empty() ? "" : fmt::format(" (it has {})", listed)));
    return std::nullopt;
  }
  const std::vector<std::string> asked = fields.names("columns");
  if (asked.size() != wanted || csv.names.empty()) {
    fields.error("columns", csv.names.empty()
                                ? "no line of the file names its columns"
                                : fmt::format("expected {} names, got {}", wanted, asked.size()));
    return std::nullopt;
  }
  for (const std::string& name : asked) {
    const auto found = std::ranges::find(csv.names, name, &Csv::Name::text);
    out.push_back(static_cast<std::size_t>(found - csv.names.begin()));
    if (found != csv.names.end()) continue;
    fields.error("columns", fmt::format("the file has no column {} (it has {})",
                                        quoted(std::string_view(name)), listed));
    return std::nullopt;
  }
  return out;
}

// The factor to SI of a column, by the key `units` or by its name in the file; reports a unit that is none or
// does not fit.
std::optional<double> Reader::unit_factor(const Fields& fields, const std::string& given, const Csv& csv,
                                          std::size_t column, const Dimension& expected) {
  const Csv::Name* named = column < csv.names.size() ? &csv.names[column] : nullptr;
  const std::string text = !given.empty() ? given : named ? named->unit : "";
  if (text.empty()) return 1;
  const std::optional<Unit> unit = parse_unit(text).unit;
  if (unit && agree(unit->dimension, expected)) return unit->factor;
  if (!unit && given.empty() && !named->certain) return 1;  // a remark
  const std::string why =
      fmt::format("{} {}: expected {}", quoted(std::string_view(text)), unit ? "does not fit" : "is no unit",
                  expected_text(expected, Range::any));
  if (!given.empty())
    fields.error("units", why);
  else
    diagnostics.push_back({fields.text("file"), csv.names_line, 1, "", why});
  return std::nullopt;
}

bool Reader::rows_of_file(const Fields& fields, const std::string& text, const Dimension& expected,
                          const TableKind& kind, std::vector<std::vector<double>>& rows) {
  const std::string name = fields.text("file");
  try {
    const Csv csv = parse_csv(text);
    const auto columns = chosen_columns(fields, csv, kind.columns);
    if (!columns) return false;
    std::vector<std::string> units = fields.names("units");
    if (!units.empty() && units.size() != kind.columns) {
      fields.error("units", fmt::format("expected {} units, got {}", kind.columns, units.size()));
      return false;
    }
    units.resize(kind.columns);
    std::vector<double> factors;
    for (std::size_t c = 0; c < kind.columns; ++c) {
      const auto factor = unit_factor(fields, units[c], csv, (*columns)[c], c == 0 ? kind.first : expected);
      if (!factor) return false;
      factors.push_back(*factor);
    }
    for (std::size_t i = 0; i < csv.rows.size(); ++i) {
      std::vector<double> row;
      for (std::size_t c = 0; c < kind.columns; ++c) {
        if ((*columns)[c] >= csv.rows[i].size())
          throw CsvError(csv.lines[i], fmt::format("expected {} numbers", (*columns)[c] + 1));
        row.push_back(factors[c] * csv.rows[i][(*columns)[c]]);
      }
      if (!rows.empty() && !(row[0] > rows.back()[0]))
        throw CsvError(csv.lines[i], fmt::format("{} must increase from row to row", kind.names));
      rows.push_back(std::move(row));
    }
    return true;
  } catch (const CsvError& e) {
    diagnostics.push_back({name, e.line, 1, "", e.what()});
    return false;
  }
}

std::optional<std::vector<std::vector<double>>> Reader::table_rows(const Node& node, const Path& path,
                                                                   const Dimension& expected,
                                                                   const TableKind& kind, bool& periodic) {
  const std::size_t before = diagnostics.size() + dropped, columns = kind.columns;
  const Fields fields(*this, node, kind.object, path, node.mark);
  periodic = fields.boolean("periodic");
  std::vector<std::vector<double>> rows;
  const auto check = [&](const Mark& mark, const Path& where, const std::string& file_name) {
    if (rows.size() < 2 || rows.back()[0] > rows[rows.size() - 2][0]) return true;
    Diagnostic d{file_name, mark.line, mark.column, where.text(),
                 fmt::format("{} must increase from row to row", kind.names)};
    if (diagnostics.size() < 2000) diagnostics.push_back(std::move(d));
    return false;
  };
  if (fields.has("table")) {
    for (const char* key : {"columns", "units"})
      if (fields.has(key)) fields.error(key, "is for a file");
    const Node& table = fields.node("table");
    const Path at = fields.path("table");
    if (!table.is_sequence() || table.items.empty()) {
      fields.error("table", "expected a list of rows");
      return std::nullopt;
    }
    for (std::size_t i = 0; i < table.items.size(); ++i) {
      const Node& item = *table.items[i];
      const Path where{&at, {}, static_cast<int>(i)};
      if (!item.is_sequence() || item.items.size() != columns) {
        error(item, where,
              fmt::format("expected a row of {} numbers: the {} and {}", columns, kind.name,
                          columns == 2 ? "a value" : "three values"));
        continue;
      }
      std::vector<double> row;
      for (std::size_t c = 0; c < columns; ++c)
        row.push_back(
            quantity(*item.items[c], {&where, {}, static_cast<int>(c)}, c == 0 ? kind.first : expected)
                .value_or(0));
      rows.push_back(std::move(row));
      if (diagnostics.size() + dropped == before) check(item.mark, where, file);
    }
  } else if (fields.has("file")) {
    const auto text =
        fields.node("file").is_scalar() ? file_text(fields.node("file"), fields.path("file")) : std::nullopt;
    if (!text || !rows_of_file(fields, *text, expected, kind, rows)) return std::nullopt;
    if (rows.empty()) fields.error("file", "the file has no rows of numbers");
  }
  if (periodic && rows.size() == 1) fields.error("periodic", "a periodic table needs two rows or more");
  if (diagnostics.size() + dropped != before || rows.empty()) return std::nullopt;
  return rows;
}

TimeFunction Reader::function(const Node& node, const Path& path, const Dimension& expected, double ramp) {
  if (!node.is_map()) {
    const std::optional<Expression> e = expression(node, path, expected, true);
    if (!e) return 0;
    // A function of time must have a value at the start; what comes later is the run's to check.
    const double zero = 0;
    const double start = e->constant ? e->value : e->program.evaluate(&zero);
    if (!std::isfinite(start)) {
      error(node, path,
            fmt::format("expected {}, got {} at t = 0", expected_text(expected, Range::any), start));
      return 0;
    }
    try {
      return apply_ramp(*e, ramp);
    } catch (const std::invalid_argument&) {
      error(node, path, "the expression is nested too deeply");
      return 0;
    }
  }
  if (ramp > 0) {
    error(node, path, "a table cannot be combined with ramp; let the table itself rise");
    return 0;
  }
  bool periodic = false;
  const auto rows = table_rows(node, path, expected, {}, periodic);
  if (!rows) return 0;
  std::vector<double> times, values;
  for (const auto& row : *rows) times.push_back(row[0]), values.push_back(row[1]);
  try {
    return TimeFunction::table(std::move(times), std::move(values), periodic);
  } catch (const std::invalid_argument& e) {
    error(node, path, e.what());
    return 0;
  }
}

Law Reader::law(const Node& node, const Path& path, const Dimension& expected, const Variable& variable) {
  if (!node.is_map()) {
    const std::optional<Expression> e = expression(node, path, expected, variable);
    if (!e || (e->constant && e->value == 0)) return {};
    math::Program program = e->program;
    if (e->constant && program.size() == 0) program.push_constant(e->value);
    const double zero = 0;
    if (const double start = program.evaluate(&zero); !std::isfinite(start)) {
      error(node, path,
            fmt::format("expected {}, got {} at {} = 0", expected_text(expected, Range::any), start,
                        variable.name));
      return {};
    }
    return Law::expression(std::move(program));
  }
  const bool by_rate = variable.name == "v";
  const TableKind kind{2, ObjectType::law_table, variable.dimension, by_rate ? "rate" : "stretch",
                       by_rate ? "rates" : "stretches"};
  bool periodic = false;
  const auto rows = table_rows(node, path, expected, kind, periodic);
  if (!rows) return {};
  std::vector<double> x, y;
  for (const auto& row : *rows) x.push_back(row[0]), y.push_back(row[1]);
  if (x.size() < 2) {
    error(node, path, "a law by points needs two rows or more");
    return {};
  }
  try {
    if (periodic && y.front() != y.back()) {
      error(node, path,
            fmt::format("a periodic law ends with the value that it begins with, got {:.6g} and {:.6g}",
                        y.front(), y.back()));
      return {};
    }
    return Law::table(std::move(x), std::move(y), periodic);
  } catch (const std::invalid_argument& e) {
    error(node, path, e.what());
    return {};
  }
}

VectorFunction Reader::vector_function(const Node& node, const Path& path, const Dimension& expected,
                                       double ramp) {
  VectorFunction out;
  if (node.is_sequence() && node.items.size() == 3) {
    for (int i = 0; i < 3; ++i) out.c[i] = function(*node.items[i], {&path, {}, i}, expected, ramp);
    return out;
  }
  if (!node.is_map()) {
    error(node, path,
          fmt::format("expected a list of three ({} each), or a table or file, got {}",
                      expected_text(expected, Range::any),
                      node.is_sequence() ? fmt::format("{} items", node.items.size()) : describe(node)));
    return out;
  }
  if (ramp > 0) {
    error(node, path, "a table cannot be combined with ramp; let the table itself rise");
    return out;
  }
  bool periodic = false;
  const auto rows = table_rows(node, path, expected, {.columns = 4}, periodic);
  if (!rows) return out;
  std::array<std::vector<double>, 4> columns;
  for (const auto& row : *rows)
    for (int c = 0; c < 4; ++c) columns[c].push_back(row[c]);
  try {
    for (int i = 0; i < 3; ++i) out.c[i] = TimeFunction::table(columns[0], columns[i + 1], periodic);
  } catch (const std::invalid_argument& e) {
    error(node, path, e.what());
  }
  return out;
}

}  // namespace limber::scene
