// The schema and the reference page in the repository are those of the table.
#include <gtest/gtest.h>

#include <set>

#include "limber/model/features.h"
#include "limber/scene/keys.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

TEST(Generated, SchemaIsUpToDate) {
  EXPECT_EQ(slurp(std::filesystem::path(LIMBER_SCENES) / "limber.schema.json"), schema_json())
      << "run: limber schema > scenes/limber.schema.json";
}

TEST(Generated, ReferenceIsUpToDate) {
  EXPECT_EQ(slurp(std::filesystem::path(LIMBER_DOCS) / "scene.md"), reference_markdown())
      << "run: limber schema --reference > docs/scene.md";
}

TEST(Generated, MethodsAreUpToDate) {
  EXPECT_EQ(slurp(std::filesystem::path(LIMBER_DOCS) / "methods.md"), methods_markdown())
      << "run: limber schema --methods > docs/methods.md";
}

TEST(Generated, SchemaDefinesWhatItRefersTo) {
  const std::string text = schema_json();
  EXPECT_NE(text.find("\"$schema\": \"http://json-schema.org/draft-07/schema#\""), std::string::npos);
  const std::string marker = "#/definitions/";
  std::set<std::string> names;
  for (std::size_t at = 0; (at = text.find(marker, at)) != std::string::npos;) {
    at += marker.size();
    names.insert(text.substr(at, text.find('"', at) - at));
  }
  EXPECT_GT(names.size(), 20u);
  for (const std::string& name : names)
    EXPECT_NE(text.find("\"" + name + "\": {"), std::string::npos) << name;
}

TEST(Table, IsConsistent) {
  std::set<std::string> names;
  for (const Object& object : key_table()) {
    EXPECT_TRUE(names.insert(object.name).second) << object.name;
    std::set<std::string> keys;
    for (const Key& key : object.keys) {
      EXPECT_TRUE(keys.insert(key.name).second) << object.name << "." << key.name;
      EXPECT_TRUE((key.type == Type::object || key.type == Type::object_map ||
                   key.type == Type::object_list || key.type == Type::road) ==
                  (key.object != ObjectType::none))
          << object.name << "." << key.name;
      if (key.type == Type::choice) {
        EXPECT_FALSE(split_choices(key).empty());
      }
    }
    for (const OneOf& group : object.groups)
      for (const char* key : group.keys) EXPECT_TRUE(keys.count(key)) << object.name << "." << key;
  }
}

TEST(Table, ExamplesOfWholeScenesLoad) {
  const Object& scene = object_of(ObjectType::scene);
  EXPECT_EQ(all_text(diagnose(scene.example)), "");
}

}  // namespace
}  // namespace limber::scene
