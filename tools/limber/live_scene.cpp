#include "live_scene.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "limber/result/layout_json.h"

namespace limber::cli {

using Json = nlohmann::ordered_json;

namespace {

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// "25 MN", "=2", "1e3": not an expression of other parameters.
bool is_literal(const scene::Parameter& p) {
  const std::string_view text(p.text);
  std::size_t i = text.find_first_not_of(" =+-");
  if (i == std::string_view::npos || !(std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.'))
    return false;
  while (i < text.size() && (std::isdigit(static_cast<unsigned char>(text[i])) || text[i] == '.')) ++i;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1;
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i]))) ++i;
  }
  // What follows is a unit: nothing that computes with parameters.
  return text.find_first_of("+-(", i) == std::string_view::npos &&
         (i == text.size() || text[i] == ' ' || p.unit != "");
}

}  // namespace

std::string live_scene_json(const LiveScene& s, const result::Layout& layout, const result::Fields& fields) {
  Json parameters = Json::array(), methods = Json::array(), kinds = Json::array();
  for (const scene::Parameter& p : s.parameters)
    parameters.push_back({{"name", p.name},
                          {"text", p.text},
                          {"value", p.value},
                          {"unit", p.unit},
                          {"literal", is_literal(p)}});
  for (const sim::MethodChoice& m : s.methods)
    methods.push_back({{"name", m.name}, {"label", m.label}, {"applies", m.applies}, {"reason", m.reason}});
  for (const result::Field& f : fields)
    kinds.push_back({{"name", f.name}, {"unit", f.unit}, {"on", result::to_string(f.on)}});
  return dump({{"type", "scene"},
               {"epoch", s.epoch},
               {"title", layout.title.empty() ? "limber" : layout.title},
               {"layout", Json::parse(result::layout_to_json(layout))},
               {"fields", kinds},
               {"parameters", parameters},
               {"methods", methods},
               {"method", s.method},
               {"step", s.step},
               {"control", s.control},
               {"strength", s.strength},
               {"holds", s.holds},
               {"reducible", s.reducible}});
}

std::string note_json(const std::string& text) { return dump({{"type", "note"}, {"text", text}}); }

}  // namespace limber::cli
