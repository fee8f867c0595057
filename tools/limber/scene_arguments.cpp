#include "scene_arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/result/recording.h"
#include "limber/scene/expression.h"
#include "terminal.h"

namespace limber::cli {

void add_set_option(CLI::App& sub, std::vector<std::string>& set) {
  sub.add_option("--set", set, "give a parameter of the scene another value; may be repeated")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::vector<std::pair<std::string, std::string>> parse_set(const std::vector<std::string>& set) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& item : set) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("--set: expected NAME=VALUE, got '{}'", item));
    pairs.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return pairs;
}

scene::Scene load_scene(const SceneArguments& arguments, bool keep_places) {
  scene::LoadOptions options;
  options.keep_places = keep_places;
  options.set = parse_set(arguments.set);
  // A reduced model carries its scene along.
  if (std::filesystem::path(arguments.file).extension() == ".rom") {
    if (!options.set.empty())
      throw UsageError(
          "--set: a reduced model has no parameters left; set them when it is made (limber reduce)");
    rom::ModelFile file;
    try {
      file = rom::load(result::read_file(arguments.file));
    } catch (const std::invalid_argument& e) {
      throw UsageError(fmt::format("{}: {}", arguments.file, e.what()));
    }
    const std::string name = std::filesystem::path(arguments.file).stem().string() + ".yaml";
    scene::Scene scene = scene::parse(file.scene, name, {}, options);
    scene.run.reduced = std::make_shared<rom::ReducedModel>(std::move(file.model));
    return scene;
  }
  scene::Scene scene = scene::load(arguments.file, options);
  for (const std::string& note : scene.notes) message(note);
  return scene;
}

double parse_quantity(const std::string& option, const std::string& text, const scene::Dimension& dimension) {
  const auto unknown = [](std::string_view, std::string&) { return std::optional<scene::Quantified>(); };
  const auto parsed = scene::compile_expression(text, unknown, false);
  if (!parsed.expression) throw UsageError(fmt::format("{} '{}': {}", option, text, parsed.error));
  if (!parsed.expression->loose && !scene::agree(parsed.expression->dimension, dimension))
    throw UsageError(scene::agree(dimension, scene::dimension::number)
                         ? fmt::format("{} '{}': expected a number without a unit", option, text)
                         : fmt::format("{} '{}': expected {}, got {}", option, text,
                                       scene::name_of(dimension),
                                       scene::name_of(parsed.expression->dimension)));
  return parsed.expression->value;
}

double parse_time(const std::string& option, const std::string& text) {
  const double value = parse_quantity(option, text, scene::dimension::time);
  if (!(value >= 0))
    throw UsageError(fmt::format("{} '{}': expected a time that is not negative", option, text));
  return value;
}

std::string describe(const sim::CompiledSizes& s) {
  return fmt::format("{}, {}, {}", format_count(s.bodies, "body", "bodies"),
                     format_count(s.joints, "joint", "joints"),
                     format_count(s.dofs, "degree of freedom", "degrees of freedom"));
}

}  // namespace limber::cli
