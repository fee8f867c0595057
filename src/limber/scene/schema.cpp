// The table of keys as a JSON Schema (draft 7), for completion and checks while typing.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "limber/scene/keys.h"
#include "limber/scene/scene.h"

namespace limber::scene {

namespace {

using Json = nlohmann::ordered_json;

// A name, with ${…} in it or not.
constexpr const char* name_pattern =
    "^([A-Za-z_]|\\$\\{[^}]*\\})([A-Za-z0-9_-]|\\$\\{[^}]*\\})*(\\.([A-Za-z0-9_-]|\\$\\{[^}]*\\})+)*$";
constexpr const char* index_pattern = "^[A-Za-z_][A-Za-z0-9_]*$";

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }
Json reference(ObjectType type) { return reference(std::string("object_") + object_of(type).name); }
Json any_of(std::vector<Json> list) { return {{"anyOf", std::move(list)}}; }
Json list_of(Json item) { return {{"type", "array"}, {"items", std::move(item)}}; }
Json list_of(Json item, int count) {
  return {{"type", "array"}, {"items", std::move(item)}, {"minItems", count}, {"maxItems", count}};
}
Json map_of(Json item) {
  return {{"type", "object"},
          {"propertyNames", {{"pattern", name_pattern}}},
          {"additionalProperties", std::move(item)}};
}

Json bound(double x) {  // 0, not 0.0
  return std::floor(x) == x ? Json(static_cast<int>(x)) : Json(x);
}

// A number where it is plain can be checked while typing; text may hold a unit or an expression.
Json quantity(const Range& range) {
  Json number = {{"type", "number"}};
  if (std::isfinite(range.low)) number[range.open_low ? "exclusiveMinimum" : "minimum"] = bound(range.low);
  if (std::isfinite(range.high)) number[range.open_high ? "exclusiveMaximum" : "maximum"] = bound(range.high);
  return any_of({number, {{"type", "string"}}});
}

Json integer(const Range& range) {
  Json schema = quantity(range);
  schema["anyOf"][0]["type"] = "integer";
  return schema;
}

Json one_or_list(Json item) { return any_of({item, list_of(item)}); }

Json value_schema(const Key& key) {
  switch (key.type) {
    case Type::quantity:
      return quantity(key.range);
    case Type::integer:
      return integer(key.range);
    case Type::boolean:
      return {{"type", "boolean"}};
    case Type::text:
      return {{"type", Json::array({"string", "number"})}};
    case Type::name:
      return {{"type", "string"}};
    case Type::names:
      return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case Type::choice: {
      Json choices = Json::array();
      for (const std::string_view c : split_choices(key)) choices.push_back(std::string(c));
      return {{"enum", choices}};
    }
    case Type::place:
      return key.name == "at" ? any_of({reference("place"), list_of(quantity(Range::any), 3)})
                              : reference("place");
    case Type::places:
      return list_of(reference("place"), 2);
    case Type::vector:
      return list_of(quantity(key.range), key.count);
    case Type::vectors:
      return list_of(list_of(quantity(Range::any)));
    case Type::outlines:
      return list_of(list_of(list_of(quantity(Range::any), 2)));
    case Type::vector_map:
      return map_of(list_of(quantity(Range::any), 3));
    case Type::axis:
      return list_of(quantity(Range::any), 3);
    case Type::rotation:
      return any_of({list_of(quantity(Range::any), 3), list_of(list_of(quantity(Range::any), 3), 3),
                     reference(ObjectType::turn)});
    case Type::values:
      return one_or_list(quantity(key.range));
    case Type::joint_limits:
      return one_or_list(one_or_list(quantity(Range::any)));
    case Type::function:
      return reference("function");
    case Type::law:
      return reference("law");
    case Type::laws:
      return one_or_list(reference("law"));
    case Type::matrix:
      return any_of({list_of(quantity(Range::any), 6), list_of(list_of(quantity(Range::any), 6), 6)});
    case Type::functions:
      return one_or_list(reference("function"));
    case Type::vector_function:
      return any_of({list_of(reference("function"), 3), reference(ObjectType::function_table)});
    case Type::color:
      return any_of({Json{{"type", "string"}, {"pattern", "^#[0-9A-Fa-f]{6}$"}},
                     list_of(quantity(Range::fraction), 3)});
    case Type::inertia:
      return {{"type", "array"}, {"items", quantity(Range::any)}, {"minItems", 3}, {"maxItems", 6}};
    case Type::polyline:
      return any_of({list_of(list_of(quantity(Range::any), 3)),
                     {{"type", "object"},
                      {"properties",
                       {{"arc", reference(ObjectType::arc)}, {"helix", reference(ObjectType::helix_path)}}},
                      {"additionalProperties", false}}});
    case Type::parameters:
      return map_of(quantity(Range::any));
    case Type::probes:
      return list_of(any_of({Json{{"type", "string"}}, reference(ObjectType::probe)}));
    case Type::repeat:
      return reference("repeat");
    case Type::road:
      return any_of({Json{{"type", "string"}}, list_of(reference(key.object))});
    case Type::object:
      return reference(key.object);
    case Type::object_map:
      return map_of(reference(key.object));
    case Type::object_list:
      return list_of(reference(key.object));
  }
  return Json::object();
}

std::string description(const Key& key) {
  std::string text = key.doc;
  const std::string unit = si_unit_of(key.dimension);
  if (!unit.empty()) text += fmt::format("{}[{}]", text.empty() ? "" : " ", unit);
  if (!key.fallback.empty()) text += fmt::format("{}(default: {})", text.empty() ? "" : " ", key.fallback);
  if (!key.example.empty()) text += fmt::format("{}Example: {}", text.empty() ? "" : ". ", key.example);
  return text;
}

Json object_schema(const Object& object) {
  Json properties = Json::object(), required = Json::array();
  for (const Key& key : object.keys) {
    // Siblings of $ref are ignored in draft 7, so it is wrapped.
    Json value = value_schema(key);
    if (value.contains("$ref")) value = Json{{"allOf", Json::array({value})}};
    Json property = {{"description", description(key)}};
    property.update(value);
    properties[key.name] = property;
    if (key.required) required.push_back(key.name);
  }
  Json schema = {{"type", "object"}};
  if (!object.doc.empty()) schema["description"] = object.doc;
  schema["properties"] = properties;
  if (!required.empty()) schema["required"] = required;
  schema["additionalProperties"] = false;
  Json both = Json::array();
  for (const OneOf& group : object.groups) {
    Json options = Json::array();
    for (const char* key : group.keys) options.push_back(Json{{"required", Json::array({key})}});
    if (group.required) both.push_back(Json{{"oneOf", options}});
  }
  if (!both.empty()) schema["allOf"] = both;
  if (!*object.shorthand) return schema;
  return any_of({value_schema(*find_key(object, object.shorthand)), schema});
}

}  // namespace

std::string schema_json() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "limber scene"}};
  schema.update(object_schema(object_of(ObjectType::scene)));
  Json definitions = Json::object();
  definitions["function"] =
      any_of({Json{{"type", Json::array({"number", "string"})}}, reference(ObjectType::function_table)});
  definitions["law"] =
      any_of({Json{{"type", Json::array({"number", "string"})}}, reference(ObjectType::law_table)});
  definitions["repeat"] = {
      {"type", "object"},
      {"minProperties", 1},
      {"maxProperties", 4},
      {"propertyNames", {{"pattern", index_pattern}}},
      {"additionalProperties", any_of({integer(Range::non_negative), list_of(integer(Range::any), 2)})}};
  definitions["place"] = any_of({Json{{"type", "string"}}, reference(ObjectType::place)});
  for (const Object& object : key_table())
    if (object.type != ObjectType::scene)
      definitions[std::string("object_") + object.name] = object_schema(object);
  schema["definitions"] = definitions;
  return schema.dump(1) + "\n";
}

}  // namespace limber::scene
