// One option of a struct, described: key, type, unit, range, default, words, one sentence, and how to get and
// set it. Readers, writers, run.json, the schema, --help and the tests go over such descriptions and know no
// option by name.
//
// A struct describes itself beside its fields:
//
//   struct Options {
//     double bend = 0.35;  // [rad] …
//     template <class Table>
//     static void describe(Table& t) {
//       t.add("bend", &Options::bend, "of an element: it is split
//       beyond").measured_in("rad").above(0).below(2);
//     }
//   };
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "limber/math/types.h"
#include "limber/sim/range.h"

namespace limber::sim {

// What an option is set to. A word of a choice is text; names, the three numbers of a vector and records are
// lists; a record is the list of its fields' values.
struct OptionValue {
  using List = std::vector<OptionValue>;
  std::variant<bool, int, double, std::string, List> is;

  OptionValue() = default;
  OptionValue(bool x) : is(x) {}
  OptionValue(int x) : is(x) {}
  OptionValue(double x) : is(x) {}
  OptionValue(std::string x) : is(std::move(x)) {}
  OptionValue(List x) : is(std::move(x)) {}
  // Not inline: GCC 12 takes a moved variant's other alternatives for uninitialised.
  OptionValue(const OptionValue&);
  OptionValue(OptionValue&&) noexcept;
  OptionValue& operator=(const OptionValue&);
  OptionValue& operator=(OptionValue&&) noexcept;
  ~OptionValue();

  bool operator==(const OptionValue&) const = default;
  const List& list() const { return std::get<List>(is); }
  const std::string& text() const { return std::get<std::string>(is); }
};

enum class OptionType : unsigned char { number, integer, boolean, choice, name, names, vector, records };

struct OptionInfo {
  std::string key;  // in scenes; "range.force" stands in a mapping of its own
  std::string was;  // its short key before: read for a release, with a line that says the new one
  OptionType type = OptionType::number;
  std::string doc;      // one sentence: what it is
  std::string details;  // what its words mean
  std::string unit;     // SI, as scenes write it; "": a pure number
  std::string example;
  Range range;
  std::vector<std::string> words;  // of a choice
  std::string refers;              // of names: to what
  std::string command;             // "run", "reduce": whose command line may override it
  bool machine = false;            // how the computer works: results do not depend on it
  bool required = false;           // wherever its mapping is given
  std::vector<OptionInfo> fields;  // of records
  OptionValue initial;             // the default

  std::string short_key() const { return key.substr(key.rfind('.') + 1); }  // npos + 1 = 0

  // Written after one another in describe().
  OptionInfo& measured_in(const char* si) { return unit = si, *this; }
  OptionInfo& above(double x) { return range.low = x, range.open_low = true, *this; }
  OptionInfo& at_least(double x) { return range.low = x, *this; }
  OptionInfo& below(double x) { return range.high = x, range.open_high = true, *this; }
  OptionInfo& at_most(double x) { return range.high = x, *this; }
  OptionInfo& meaning(std::string text) { return details = std::move(text), *this; }
  OptionInfo& like(const char* text) { return example = text, *this; }
  OptionInfo& naming(const char* kind) { return refers = kind, *this; }
  OptionInfo& formerly(const char* short_key) { return was = short_key, *this; }
  OptionInfo& needed() { return required = true, *this; }
  OptionInfo& on_command_line(const char* of = "run") { return command = of, *this; }
  OptionInfo& of_machine() { return machine = true, *this; }
};

// Everything that is wrong with a value by the description alone: out of range, not finite, an unknown word.
// Empty: it may be used.
std::string objection(const OptionInfo& option, const OptionValue& value);

std::string to_text(const OptionValue& value);  // for people: "0.35", "static", "[a, b]"

template <class S>
struct Option : OptionInfo {
  std::function<OptionValue(const S&)> get;
  std::function<void(S&, const OptionValue&)> set;
};

// All options of a struct, as its describe() adds them.
template <class S>
class OptionTable {
 public:
  std::string about, example;  // of all of them, for the reference page
  std::vector<Option<S>> options;

  OptionTable() { S::describe(*this); }

  void say(const char* text, const char* yaml) { about = text, example = yaml; }
  // A number, integer, boolean, name, list of names, vector or list of records, as the field's type says.
  template <class Access>
  OptionInfo& add(const char* key, Access access, const char* doc);
  // One of some words.
  template <class Access>
  OptionInfo& choice(
      const char* key, Access access,
      std::vector<std::pair<std::remove_cvref_t<std::invoke_result_t<Access, S&>>, std::string>> words,
      const char* doc);
  template <class Access, class Value, std::size_t n>
  OptionInfo& choice(const char* key, Access access, const Value (&values)[n], const char* doc) {
    std::vector<std::pair<Value, std::string>> words;
    for (const Value value : values) words.emplace_back(value, to_string(value));
    return choice(key, access, std::move(words), doc);
  }

 private:
  Option<S>& finish(const char* key, OptionType type, const char* doc, Option<S> option);
};

template <class S>
const OptionTable<S>& options_of() {
  static const OptionTable<S> table;
  return table;
}

// ---- how fields become values

namespace option_detail {

template <class T>
concept Scalar =
    std::same_as<T, bool> || std::same_as<T, int> || std::same_as<T, double> || std::same_as<T, std::string>;

template <class T>
constexpr OptionType type_of() {
  if constexpr (std::same_as<T, double>) return OptionType::number;
  if constexpr (std::same_as<T, int>) return OptionType::integer;
  if constexpr (std::same_as<T, bool>) return OptionType::boolean;
  if constexpr (std::same_as<T, std::string>) return OptionType::name;
  if constexpr (std::same_as<T, std::vector<std::string>>) return OptionType::names;
  if constexpr (std::same_as<T, Vec3>) return OptionType::vector;
  return OptionType::records;
}

template <class T>
OptionValue to_value(const T& x) {
  if constexpr (Scalar<T>) {
    return {x};
  } else if constexpr (std::same_as<T, Vec3>) {
    return {OptionValue::List{{x[0]}, {x[1]}, {x[2]}}};
  } else if constexpr (requires { typename T::value_type; }) {
    OptionValue::List list;
    for (const auto& item : x) list.push_back(to_value(item));
    return {std::move(list)};
  } else {  // a record
    OptionValue::List list;
    for (const Option<T>& field : options_of<T>().options) list.push_back(field.get(x));
    return {std::move(list)};
  }
}

template <class T>
void from_value(const OptionValue& value, T& x) {
  if constexpr (Scalar<T>) {
    x = std::get<T>(value.is);
  } else if constexpr (std::same_as<T, Vec3>) {
    for (int i = 0; i < 3; ++i) x[i] = std::get<double>(value.list().at(i).is);
  } else if constexpr (requires { typename T::value_type; }) {
    x.clear();
    for (const OptionValue& item : value.list()) from_value(item, x.emplace_back());
  } else {
    const auto& fields = options_of<T>().options;
    for (std::size_t i = 0; i < fields.size(); ++i) fields[i].set(x, value.list().at(i));
  }
}

}  // namespace option_detail

template <class S>
Option<S>& OptionTable<S>::finish(const char* key, OptionType type, const char* doc, Option<S> option) {
  option.key = key, option.type = type, option.doc = doc;
  option.initial = option.get(S{});
  return options.emplace_back(std::move(option));
}

template <class S>
template <class Access>
OptionInfo& OptionTable<S>::add(const char* key, Access access, const char* doc) {
  using T = std::remove_cvref_t<std::invoke_result_t<Access, S&>>;
  Option<S> option;
  option.get = [access](const S& s) { return option_detail::to_value<T>(std::invoke(access, s)); };
  option.set = [access](S& s, const OptionValue& value) {
    option_detail::from_value<T>(value, std::invoke(access, s));
  };
  constexpr OptionType type = option_detail::type_of<T>();
  if constexpr (type == OptionType::records)
    for (const auto& field : options_of<typename T::value_type>().options) option.fields.push_back(field);
  return finish(key, type, doc, std::move(option));
}

template <class S>
template <class Access>
OptionInfo& OptionTable<S>::choice(
    const char* key, Access access,
    std::vector<std::pair<std::remove_cvref_t<std::invoke_result_t<Access, S&>>, std::string>> words,
    const char* doc) {
  Option<S> option;
  for (const auto& [value, word] : words) option.words.push_back(word);
  option.get = [access, words](const S& s) -> OptionValue {
    for (const auto& [value, word] : words)
      if (std::invoke(access, s) == value) return {word};
    return {std::string("?")};
  };
  option.set = [access, words](S& s, const OptionValue& wanted) {
    for (const auto& [value, word] : words)
      if (wanted.text() == word) std::invoke(access, s) = value;
  };
  return finish(key, OptionType::choice, doc, std::move(option));
}

}  // namespace limber::sim
