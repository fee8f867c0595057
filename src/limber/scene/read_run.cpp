// How to run: every key of `run` is an option of the table (sim/option_table.h).
#include <deque>
#include <map>

#include "limber/scene/fields.h"
#include "limber/sim/option_table.h"

namespace limber::scene {

namespace {

using sim::OptionType;
using sim::OptionValue;

std::optional<OptionValue> read_option(const Fields& f, const std::string& name, const sim::OptionInfo& o,
                                       const std::string& path);

OptionValue read_record(const Fields& item, const sim::OptionInfo& o, const std::string& path) {
  OptionValue::List record;
  for (const sim::OptionInfo& field : o.fields)
    record.push_back(read_option(item, field.key, field, path + "." + field.key).value_or(field.initial));
  return {std::move(record)};
}

// nullopt: not given, or not usable, which was said.
std::optional<OptionValue> read_option(const Fields& f, const std::string& name, const sim::OptionInfo& o,
                                       const std::string& path) {
  if (!f.has(name)) return std::nullopt;
  OptionValue::List list;
  switch (o.type) {
    case OptionType::number: {
      const std::optional<double> x = f.quantity(name);
      return x ? std::optional(OptionValue{*x}) : std::nullopt;
    }
    case OptionType::integer:
      return OptionValue{f.integer(name, std::get<int>(o.initial.is))};
    case OptionType::boolean:
      return OptionValue{f.boolean(name)};
    case OptionType::choice:
      return OptionValue{o.words[f.choice(name, 0)]};
    case OptionType::name:
      return OptionValue{std::string(f.node(name).text)};
    case OptionType::names:
      for (std::string& item : f.names(name)) list.push_back({std::move(item)});
      return OptionValue{std::move(list)};
    case OptionType::vector:
      for (const double x : f.vector(name)) list.push_back({x});
      return OptionValue{std::move(list)};
    case OptionType::records:
      for_each_item(f, name, run_object(path),
                    [&](const Fields& item) { list.push_back(read_record(item, o, path)); });
      return OptionValue{std::move(list)};
  }
  return std::nullopt;
}

// The mappings of `run`, each opened once: that checks its keys.
class RunFields {
 public:
  explicit RunFields(const Fields& scene)
      : run_(scene.reader, scene.node("run"), ObjectType::run, scene.path("run"), scene.mark("run")) {}
  const Fields& run() const { return run_; }

  // "rom.range"; null: it is not given.
  const Fields* at(const std::string& path) {
    if (path.empty()) return &run_;
    if (const auto found = inner_.find(path); found != inner_.end()) return &found->second;
    const auto dot = path.rfind('.');
    const std::string name = path.substr(dot + 1);
    const Fields* outer = at(dot == std::string::npos ? "" : path.substr(0, dot));
    if (!outer || !outer->has(name)) return nullptr;
    // The name in a Path is a view: of the map's key, which stays.
    const auto& [key, fields] = *inner_
                                     .try_emplace(path, outer->reader, outer->node(name), run_object(path),
                                                  outer->path(names_.emplace_back(name)), outer->mark(name))
                                     .first;
    return &fields;
  }

 private:
  Fields run_;
  std::deque<std::string> names_;
  std::map<std::string, Fields> inner_;
};

}  // namespace

void read_run(const Fields& scene) {
  if (!scene.has("run")) return;
  Reader& reader = scene.reader;
  const std::size_t before = reader.diagnostics.size();
  RunFields fields(scene);
  reader.remember("run", "", fields.run().self(), fields.run().mark(), fields.run().path());
  for (const sim::RunKey& key : sim::run_keys()) {
    const std::string full = (key.section.empty() ? "" : key.section + ".") + key.option().key;
    const auto dot = full.rfind('.');
    const Fields* mapping = fields.at(dot == std::string::npos ? "" : full.substr(0, dot));
    if (!mapping) continue;
    if (const auto value = read_option(*mapping, key.option().short_key(), key.option(), full))
      key.set(reader.run, *value);
  }
  if (reader.diagnostics.size() > before) return;
  for (const sim::OptionProblem& p : sim::combination_problems(reader.run)) {
    const Fields* mapping = fields.at(p.section);
    if (mapping)
      mapping->error(p.key, p.message);
    else
      fields.run().error(p.section, p.message);
  }
}

}  // namespace limber::scene
