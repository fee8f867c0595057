// Every key of a scene, continued: `run` and the mappings in it, made from the descriptions of the options
// (sim/option_table.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "limber/scene/keys_parts.h"
#include "limber/scene/option_units.h"
#include "limber/sim/option_table.h"

namespace limber::scene {

namespace {

Type key_type(sim::OptionType type) {
  switch (type) {
    case sim::OptionType::number:
      return Type::quantity;
    case sim::OptionType::integer:
      return Type::integer;
    case sim::OptionType::boolean:
      return Type::boolean;
    case sim::OptionType::choice:
      return Type::choice;
    case sim::OptionType::name:
      return Type::name;
    case sim::OptionType::names:
      return Type::names;
    case sim::OptionType::vector:
      return Type::vector;
    case sim::OptionType::records:
      return Type::object_list;
  }
  return Type::text;
}

std::string default_text(const sim::OptionInfo& o) {
  if (o.required || o.type == sim::OptionType::names || o.type == sim::OptionType::records) return "";
  if (o.type != sim::OptionType::number) return sim::to_text(o.initial);
  const double x = std::get<double>(o.initial.is);
  std::string text = fmt::format("{}", x);
  if (text.size() > 8) text = fmt::format("{:.4g}", x);  // 1/30
  return x == 0 || o.unit.empty() ? text : text + " " + o.unit;
}

std::string doc_of(const sim::OptionInfo& o) {
  return o.details.empty() ? o.doc : fmt::format("{}. {}", o.doc, o.details);
}

// Said once where it is the same for all methods that have the key, else for each.
std::string joint_text(const sim::RunKey& key, std::string (*text)(const sim::OptionInfo&),
                       bool name_the_only) {
  const std::string first = text(key.option());
  const bool same = std::ranges::all_of(key.of, [&](const auto& o) { return text(*o.option) == first; });
  if (same && (key.of.size() > 1 || !name_the_only)) return first;
  std::string out;
  for (const auto& [method, option] : key.of)
    out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", to_string(*method), text(*option));
  return out;
}

class RunMappings {
 public:
  RunMappings() {
    const auto& groups = sim::option_groups();
    open("", "How to run it", groups.front().about, groups.front().example);
    for (const sim::OptionGroup& g : groups)
      if (!g.section.empty())
        open(g.section, fmt::format("Options of method {}", to_string(*g.method)), g.about, g.example);
    for (const sim::RunKey& key : sim::run_keys()) add(key);
    for (const sim::OptionGroup& g : groups)
      if (!g.section.empty()) objects_[0].keys.push_back(section_key(g));
  }
  const std::vector<Object>& objects() const { return objects_; }
  ObjectType type_of(std::string_view path) const {
    const auto found = std::ranges::find(paths_, path);
    return static_cast<ObjectType>(static_cast<int>(ObjectType::run) + (found - paths_.begin()));
  }

 private:
  std::size_t index_of(const std::string& path) const {
    return static_cast<std::size_t>(std::ranges::find(paths_, path) - paths_.begin());
  }

  ObjectType open(const std::string& path, std::string title, std::string about, std::string example) {
    std::string name = path.empty() ? "run" : "run_" + path;
    std::ranges::replace(name, '.', '_');
    paths_.push_back(path);
    Object& object = objects_.emplace_back();
    object.type = type_of(path);
    object.name = std::move(name), object.title = std::move(title);
    object.doc = std::move(about), object.example = std::move(example);
    return object.type;
  }

  Key section_key(const sim::OptionGroup& g) const {
    Key key{g.section, Type::object, fmt::format("options of method {}", to_string(*g.method))};
    key.object = type_of(g.section);
    return key;
  }

  void add(const sim::RunKey& key) {
    const sim::RunOption& o = key.option();
    std::string path = key.section;
    if (const auto dot = o.key.find('.'); dot != std::string::npos) path = inner(path, o.key.substr(0, dot));
    Key made = make(o, path, o.short_key());
    made.doc = joint_text(key, doc_of, key.section.empty() && key.of.front().method);
    made.fallback = joint_text(key, default_text, false);
    objects_[index_of(path)].keys.push_back(std::move(made));
  }

  // A mapping in a mapping, opened where the first key of it appears.
  std::string inner(const std::string& path, const std::string& name) {
    const std::string full = path.empty() ? name : path + "." + name;
    if (index_of(full) == paths_.size()) {
      const ObjectType type = open(full, objects_[index_of(path)].title + ": " + name, "", "");
      objects_[index_of(path)].keys.push_back(keys::object(name.c_str(), type, ""));
    }
    return full;
  }

  Key make(const sim::OptionInfo& o, const std::string& path, const std::string& name) {
    Key key{name, key_type(o.type), doc_of(o), dimension_of(o), o.range};
    key.choices = fmt::format("{}", fmt::join(o.words, " "));
    key.refers = o.refers, key.required = o.required;
    key.fallback = default_text(o), key.example = o.example;
    if (o.type != sim::OptionType::records) return key;
    const std::string full = path + "." + name;
    key.object = open(full, objects_[index_of(path)].title + ": " + name, "", "");
    for (const sim::OptionInfo& field : o.fields) {
      Key made = make(field, full, field.key);
      objects_[index_of(full)].keys.push_back(std::move(made));
    }
    return key;
  }

  std::vector<Object> objects_;
  std::vector<std::string> paths_;  // of the objects
};

const RunMappings& run_mappings() {
  static const RunMappings mappings;
  return mappings;
}

}  // namespace

ObjectType run_object(std::string_view path) { return run_mappings().type_of(path); }
std::vector<Object> keys::run_objects() { return run_mappings().objects(); }

Dimension dimension_of(const sim::OptionInfo& option) {
  return option.unit.empty() ? Dimension{} : parse_unit(option.unit).unit->dimension;
}

}  // namespace limber::scene
