// Repetitions written out, before anything of a scene but its parameters is read.
//
// An entry of a named section, or a mapping in a list, with `repeat: {i: 30, j: i + 1}` stands for one copy
// for every pair of indices. Its copies carry the indices in their marks: expressions in them may use them,
// and messages about them name them. `${expression}` in a text is replaced by its value. What cannot depend
// on an index is shared by the copies.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <unordered_map>
#include <utility>

#include "limber/scene/keys.h"
#include "limber/scene/reader.h"

namespace limber::scene {

namespace {

constexpr double max_index = 1e9;
constexpr std::size_t max_indices = 4;

bool is_index_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (name.empty() || name.size() > 60 || !letter(name[0]) || is_reserved_name(name)) return false;
  for (const char c : name)
    if (!letter(c) && !(c >= '0' && c <= '9')) return false;
  return true;
}

// As it can be read again. `alone`: nothing else stands in the text.
std::string value_text(const Quantified& q, bool alone) {
  const double x = q.value == 0 ? 0 : q.value;  // no −0
  const std::string number =
      std::floor(x) == x && std::abs(x) < 1e15 ? fmt::format("{:.0f}", x) : fmt::format("{}", x);
  const std::string unit = q.loose ? "" : si_unit_of(q.dimension);
  if (unit.empty()) return number;
  const UnitParse parsed = parse_unit(unit);
  if (!parsed.unit || !(parsed.unit->dimension == q.dimension)) return number;
  return alone ? fmt::format("{} {}", number, unit) : fmt::format("({} {})", number, unit);
}

class Expander {
 public:
  explicit Expander(Reader& reader) : reader_(reader) {}

  const Node* run(const Node& root, bool parameters_good) {
    const std::size_t before = count_errors();
    Node& out = make(root, root.mark.scope);
    for (Entry& entry : out.entries) {
      const Key* key = find_key(object_of(ObjectType::scene), entry.key->text);
      if (!key || key->type == Type::parameters || key->type == Type::text) continue;
      const Path path{nullptr, entry.key->text};
      entry.value = key->type == Type::object_map && entry.value->is_map()
                        ? section(*entry.value, path)
                        : copy(*entry.value, path, nullptr);
    }
    // With a wrong parameter the copies are the wrong ones.
    if (count_errors() > before || (repeated_ && !parameters_good)) return nullptr;
    return &out;
  }

 private:
  std::size_t count_errors() const { return reader_.diagnostics.size() + reader_.dropped; }

  Node& make(const Node& like, const Scope* scope) {
    Node& node = reader_.made_nodes.emplace_back(like);
    node.mark.scope = scope;
    return node;
  }

  // The entries of a named section; names that come out twice are reported.
  const Node* section(const Node& map, const Path& path) {
    Node& out = make(map, nullptr);
    out.entries.clear();
    struct First {
      const Node* key;
      bool made;
    };
    std::unordered_map<std::string_view, First> seen;
    const Entry* told = nullptr;  // once an entry
    const auto add = [&](const Entry& entry, const Scope* scope, bool drop_repeat) {
      const Path at{&path, entry.key->text};
      const Node* key = copy(*entry.key, at, scope);
      const Path to{&path, key->text};
      const Node* value =
          drop_repeat ? without_repeat(*entry.value, to, scope) : copy(*entry.value, to, scope);
      const bool made = key != entry.key;  // two as written were reported with the document
      const auto [it, fresh] = seen.emplace(key->text, First{key, made});
      if (!fresh && (made || it->second.made) && std::exchange(told, &entry) != &entry)
        reader_.error(
            *key, at,
            fmt::format("makes {} again; first on line {}", quoted(key->text), it->second.key->mark.line));
      out.entries.push_back({key, value});
    };
    for (const Entry& entry : map.entries) {
      if (!entry.value->is_map() || !entry.value->find("repeat"))
        add(entry, nullptr, false);
      else
        repeat(*entry.value, {&path, entry.key->text}, nullptr,
               [&](const Scope* scope) { add(entry, scope, true); });
      if (stop_) break;
    }
    return &out;
  }

  // `node` with every ${…} replaced; the node itself if it has nothing that the scope could change.
  const Node* copy(const Node& node, const Path& path, const Scope* scope) {
    switch (node.kind) {
      case NodeKind::null:
        return &node;
      case NodeKind::scalar:
        if (node.text.find("${") != std::string_view::npos) return substitute(node, path, scope);
        return scope && !parse_number(node.text) ? &make(node, scope) : &node;
      case NodeKind::sequence:
        return copy_list(node, path, scope);
      case NodeKind::map:
        return copy_map(node, path, scope, false);
    }
    return &node;
  }

  const Node* copy_list(const Node& node, const Path& path, const Scope* scope) {
    std::vector<const Node*> items;
    bool changed = false;
    for (std::size_t i = 0; i < node.items.size() && !stop_; ++i) {
      const Node& item = *node.items[i];
      const Path at{&path, {}, static_cast<int>(i)};
      if (item.is_map() && item.find("repeat")) {
        changed = true;
        repeat(item, at, scope,
               [&](const Scope* inner) { items.push_back(without_repeat(item, at, inner)); });
      } else {
        items.push_back(copy(item, at, scope));
        changed = changed || items.back() != &item;
      }
    }
    if (!changed) return &node;
    Node& out = make(node, scope);
    out.items = std::move(items);
    return &out;
  }

  const Node* without_repeat(const Node& node, const Path& path, const Scope* scope) {
    return copy_map(node, path, scope, true);
  }
  const Node* copy_map(const Node& node, const Path& path, const Scope* scope, bool drop_repeat) {
    std::vector<Entry> entries;
    bool changed = drop_repeat;
    for (const Entry& entry : node.entries) {
      if (drop_repeat && entry.key->text == "repeat") continue;
      const Path at{&path, entry.key->text};
      const bool computed = entry.key->text.find("${") != std::string_view::npos;
      entries.push_back(
          {computed ? substitute(*entry.key, at, scope) : entry.key, copy(*entry.value, at, scope)});
      changed = changed || entries.back().key != entry.key || entries.back().value != entry.value;
    }
    if (!changed) return &node;
    Node& out = make(node, scope);
    out.entries = std::move(entries);
    return &out;
  }

  const Node* substitute(const Node& node, const Path& path, const Scope* scope) {
    repeated_ = true;
    std::string text;
    std::size_t at = 0;
    for (;;) {
      const std::size_t begin = node.text.find("${", at);
      text += node.text.substr(at, begin - at);
      if (begin == std::string_view::npos) break;
      const std::size_t end = node.text.find('}', begin);
      if (end == std::string_view::npos) {
        Mark mark = node.mark;
        mark.scope = scope;
        reader_.error(mark, path, fmt::format("in {}: a ${{ is not closed", quoted(node.text)));
        return &node;
      }
      const std::string_view inner = node.text.substr(begin + 2, end - begin - 2);
      const auto value = reader_.value_within(node, path, inner, begin + 2, scope);
      if (!value) return &node;
      text += value_text(*value, begin == 0 && end + 1 == node.text.size());
      at = end + 1;
    }
    Node& out = make(node, scope);
    out.text = reader_.made_texts.emplace_back(std::move(text));
    out.quoted = true;  // columns in it are not those of the file
    return &out;
  }

  // --- the loops over indices

  using Each = std::function<void(const Scope*)>;

  void repeat(const Node& node, const Path& path, const Scope* outer, const Each& each) {
    repeated_ = true;
    const Node& indices = *node.find("repeat")->value;
    const Path at{&path, "repeat"};
    if (!indices.is_map() || indices.entries.empty() || indices.entries.size() > max_indices) {
      reader_.error(
          indices.kind == NodeKind::null ? node.mark : indices.mark, at,
          fmt::format("expected 1 to {} indices, as in {{i: 30}} or {{i: [1, 29], j: 4}}", max_indices));
      return;
    }
    Scope scope = outer ? *outer : Scope{};
    for (const Entry& index : indices.entries)
      if (!check_index(index, {&at, index.key->text}, scope)) return;
    loop({indices, 0, static_cast<double>(node.size), at, each}, scope);
  }

  bool check_index(const Entry& index, const Path& path, const Scope& outer) {
    const std::string_view name = index.key->text;
    std::string problem;
    if (!is_index_name(name)) problem = "cannot name an index: letters, digits and _, and no function";
    if (reader_.has_parameter(name)) problem = "is a parameter already";
    for (const auto& [other, value] : outer.indices)
      if (other == name) problem = "is an index already";
    if (!problem.empty()) reader_.error(*index.key, path, fmt::format("{} {}", quoted(name), problem));
    return problem.empty();
  }

  struct Loop {
    const Node& indices;
    std::size_t level;
    double size;  // nodes of a copy
    const Path& path;
    const Each& each;
  };
  void loop(const Loop& job, Scope& scope) {
    if (job.level == job.indices.entries.size()) return job.each(&reader_.scopes.emplace_back(scope));
    const Entry& index = job.indices.entries[job.level];
    const auto range = bounds(index, {&job.path, index.key->text}, scope);
    if (!range) return;
    const bool last = job.level + 1 == job.indices.entries.size();
    const double count = std::max(0.0, (*range)[1] - (*range)[0] + 1);
    if (!claim(count * (last ? job.size + 1 : 1), *index.value, {&job.path, index.key->text})) return;
    scope.indices.emplace_back(std::string(index.key->text), 0.0);
    for (double i = (*range)[0]; i <= (*range)[1] && !stop_; ++i) {
      scope.indices.back().second = i;
      loop({job.indices, job.level + 1, job.size, job.path, job.each}, scope);
    }
    scope.indices.pop_back();
  }

  // First and last value of an index: 0 … n − 1 for a count, or as given.
  std::optional<std::array<double, 2>> bounds(const Entry& index, const Path& path, const Scope& scope) {
    const Node& node = *index.value;
    if (node.is_scalar()) {
      const auto n = whole(node, path, scope);
      if (n && *n < 0) reader_.error(node, path, fmt::format("a count cannot be negative, got {}", *n));
      if (!n || *n < 0) return std::nullopt;
      return std::array<double, 2>{0, *n - 1};
    }
    if (!node.is_sequence() || node.items.size() != 2) {
      reader_.error(node.kind == NodeKind::null ? *index.key : node, path,
                    "expected a count or [first, last]");
      return std::nullopt;
    }
    const auto first = whole(*node.items[0], path, scope), last = whole(*node.items[1], path, scope);
    if (!first || !last) return std::nullopt;
    return std::array<double, 2>{*first, *last};
  }

  std::optional<double> whole(const Node& node, const Path& path, const Scope& scope) {
    Node scoped = node;
    scoped.mark.scope = scope.indices.empty() ? nullptr : &scope;
    const auto x = reader_.quantity(scoped, path, dimension::number);
    if (!x) return std::nullopt;
    if (std::floor(*x) == *x && std::abs(*x) <= max_index) return x;
    reader_.error(scoped, path,
                  fmt::format("expected a whole number, at most {:.0e}, got {}", max_index, *x));
    return std::nullopt;
  }

  bool claim(double nodes, const Node& node, const Path& path) {
    made_ += nodes;
    if (made_ <= static_cast<double>(reader_.options.limits.nodes)) return true;
    reader_.error(node, path,
                  fmt::format("the repetitions make {:.3g} values; the limit for a scene is {}", made_,
                              reader_.options.limits.nodes));
    stop_ = true;
    return false;
  }

  Reader& reader_;
  double made_ = 0;
  bool repeated_ = false;  // something depends on the values of parameters
  bool stop_ = false;      // over the limit
};

}  // namespace

std::string Scope::text() const {
  std::string out;
  for (const auto& [name, value] : indices)
    out += fmt::format("{}{} = {:.12g}", out.empty() ? "" : ", ", name, value);
  return out;
}

const Node* expand_repeats(Reader& reader, const Node& root, bool parameters_good) {
  return Expander(reader).run(root, parameters_good);
}

}  // namespace limber::scene
