// Every option of a run, from its description: scenes read it, keep its range, and write it back; the schema
// and the reference page say it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "limber/scene/keys.h"
#include "limber/sim/option_table.h"
#include "scene_support.h"
#include "tests/support/option_values.h"

namespace limber::scene {
namespace {

using sim::OptionInfo;
using sim::OptionType;
using sim::OptionValue;
using sim::RunKey;
using sim::RunOption;
using sim::RunOptions;

const std::string ball = "bodies: {hand: {sphere: 1}}\n";

template <class Visit>
void each_key(const Visit& visit) {
  for (const RunKey& key : sim::run_keys())
    for (const auto& [method, option] : key.of) {
      SCOPED_TRACE(fmt::format("{}.{} of {}", key.section, option->key, method ? to_string(*method) : "run"));
      visit(key, method, *option);
    }
}

Scene again(const RunOptions& run) {
  const Scene scene = parse_text(ball);
  const std::string text = write_yaml(scene.model, run);
  try {
    return parse(text, "written.yaml");
  } catch (const SceneError& error) {
    ADD_FAILURE() << error.what() << "\n" << text;
    return scene;
  }
}

TEST(RunOptions, EveryOneSurvivesTheRoundTrip) {
  each_key([](const RunKey& key, const auto& method, const RunOption& option) {
    RunOptions run = sim::testing::room_for(method, option);
    key.set(run, sim::testing::other_value(option));
    const RunOptions back = again(run).run;
    each_key([&](const RunKey&, const auto&, const RunOption& o) { EXPECT_EQ(o.get(back), o.get(run)); });
  });
}

// A scene may carry options for methods other than its own.
TEST(RunOptions, ThoseOfOtherMethodsAreWrittenToo) {
  each_key([](const RunKey& key, const auto& method, const RunOption& option) {
    for (const sim::Method other : {sim::Method::articulated, sim::Method::adaptive}) {
      RunOptions run = sim::testing::room_for(method, option);
      key.set(run, sim::testing::other_value(option));
      run.method = other, run.from_static = false;
      const RunOptions back = again(run).run;
      EXPECT_EQ(option.get(back), option.get(run));
    }
  });
  const std::string text = write_yaml(parse_text(ball).model, {});
  EXPECT_EQ(text.find("thread: "), std::string::npos)
      << "defaults of other methods are not written: " << text;
}

// "run: {thread: {bend: 2}}"
std::string with_value(const std::string& path, const std::string& value) {
  const auto dot = path.find('.');
  const std::string name = path.substr(0, dot);
  if (dot == std::string::npos) return fmt::format("{{{}: {}}}", name, value);
  const std::string ends = name == "rom" ? "ends: [hand], " : "";
  return fmt::format("{{{}: {{{}{}}}", name, ends, with_value(path.substr(dot + 1), value).substr(1));
}

TEST(RunOptions, BoundsAreTakenAndWhatIsBeyondIsRefusedAtItsPlace) {
  each_key([](const RunKey& key, const auto&, const RunOption& option) {
    const std::string path = (key.section.empty() ? "" : key.section + ".") + option.key;
    const auto said = [&](const OptionValue& value) {
      std::string run = with_value(path, sim::to_text(value));
      if (path == "thread.error") run.insert(run.find("error"), "levels: 1, ");
      if (path == "step") run.insert(1, "time: 0, ");  // no step is too short for it, or too long
      return all_text(diagnose("limber: 1\n" + ball + "run: " + run + "\n"));
    };
    for (const sim::testing::Bound& bound : sim::testing::bounds_of(option)) {
      EXPECT_EQ(said(bound.inside), "");
      const std::string text = said(bound.outside);
      EXPECT_NE(text.find("run." + path + ": expected"), std::string::npos) << text;
      EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    }
    if (option.type != OptionType::choice) return;
    EXPECT_NE(said({std::string("magic")}), "");
  });
}

TEST(RunOptions, SchemaAndReferenceSayEveryOne) {
  const auto schema = nlohmann::json::parse(schema_json())["definitions"];
  const std::string page = reference_markdown();
  each_key([&](const RunKey& key, const auto&, const RunOption& option) {
    std::string path = key.section;
    if (const auto dot = option.key.find('.'); dot != std::string::npos)
      path += "." + option.key.substr(0, dot);
    const Object& object = object_of(run_object(path));
    const auto& property = schema.at("object_" + object.name).at("properties").at(option.short_key());
    EXPECT_NE(property.at("description").get<std::string>().find(option.doc), std::string::npos);
    for (const std::string& word : option.words) EXPECT_NE(property.dump().find(word), std::string::npos);
    EXPECT_NE(page.find(option.doc), std::string::npos);
  });
}

}  // namespace
}  // namespace limber::scene
