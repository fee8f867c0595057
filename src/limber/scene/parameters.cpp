// Named parameters: in any order, overridden by --set, evaluated when first needed.
#include <fmt/format.h>

#include "limber/scene/reader.h"
#include "limber/scene/suggest.h"

namespace limber::scene {

namespace {
constexpr int max_parameter_depth = 100;  // parameters that refer to parameters that …
}

void Reader::read_parameters(const Node* node, const Path& path) {
  if (node && !node->is_map() && node->kind != NodeKind::null)
    error(*node, path, fmt::format("expected a mapping of names to numbers, got {}", describe(*node)));
  if (node && node->is_map()) {
    for (const Entry& entry : node->entries) {
      const Path at{&path, entry.key->text};
      if (!check_name(*entry.key, at)) continue;
      if (is_reserved_name(entry.key->text) ||
          entry.key->text.find_first_of(".-") != std::string_view::npos) {
        error(*entry.key, at,
              fmt::format("{} cannot name a parameter: expressions would read it differently",
                          quoted(entry.key->text)));
        continue;
      }
      ParameterState& p = parameters_[std::string(entry.key->text)];
      parameter_order_.emplace_back(entry.key->text);
      p.node = entry.value;
      p.mark = entry.key->mark;
      p.text = entry.value->text;
    }
  }
  for (const auto& [name, value] : options.set) {
    const auto found = parameters_.find(name);
    if (found == parameters_.end()) {
      command_line_error(name, "the scene has no such parameter" + suggest_parameter(name));
      continue;
    }
    found->second.text = value;
    found->second.from_command_line = true;
  }
  for (const std::string& name : parameter_order_) evaluate(name, parameters_.at(name));
}

void Reader::evaluate(const std::string& name, ParameterState& p) {
  if (p.state != ParameterState::fresh) return;
  p.state = ParameterState::active;
  const std::string outer = std::exchange(active_parameter_, name), user = "parameters." + name;
  const std::string_view list = std::exchange(reading, user);
  ++parameter_depth_;
  Node typed;  // a --set value stands in for the file's
  typed.kind = NodeKind::scalar;
  typed.text = p.text;
  const Node& node = p.from_command_line ? typed : *p.node;
  const Lookup lookup = [this](std::string_view other, std::string& note) { return look_up(other, note); };
  const auto suggest = [this](std::string_view other) { return suggest_parameter(other); };

  const Path root{nullptr, "parameters"}, path{&root, name};
  std::string problem;
  Mark mark = node.kind == NodeKind::null ? p.mark : node.mark;
  if (!node.is_scalar()) {
    problem = fmt::format("expected a number, got {}", describe(node));
  } else {
    const ExpressionResult result = compile_expression(node.text, lookup, false, suggest);
    if (!result.expression) {
      problem = "expected a number: " + result.error;
      if (!node.quoted) mark.column += static_cast<int>(result.offset);
    } else if (result.expression->value != result.expression->value) {
      problem = "expected a number, got nan";
    } else {
      p.value = {result.expression->value, result.expression->dimension, result.expression->loose};
    }
  }
  --parameter_depth_;
  active_parameter_ = outer;
  reading = list;
  p.state = problem.empty() ? ParameterState::done : ParameterState::failed;
  if (problem.empty()) return;
  p.value = {1, {}, true};  // reported once; what uses it goes on
  if (p.from_command_line)
    command_line_error(name, problem);
  else
    error(mark, path, problem);
}

std::optional<Quantified> Reader::look_up(std::string_view name, std::string& note) {
  const auto found = parameters_.find(std::string(name));
  if (found == parameters_.end()) return std::nullopt;
  ParameterState& p = found->second;
  if (!p.users.contains(reading)) p.users.emplace(reading);
  if (p.state == ParameterState::active) {
    note = found->first == active_parameter_
               ? fmt::format("parameter \"{}\" refers to itself", name)
               : fmt::format("parameters \"{}\" and \"{}\" refer to each other", active_parameter_, name);
    return std::nullopt;
  }
  if (p.state == ParameterState::fresh) {
    if (parameter_depth_ >= max_parameter_depth) {
      note = fmt::format("parameters refer to each other more than {} levels deep", max_parameter_depth);
      return std::nullopt;
    }
    evaluate(found->first, p);
  }
  return p.value;
}

void Reader::vary(const std::string& name, std::string text) {
  entities_ = 0;
  for (auto& [key, p] : parameters_) p.state = ParameterState::fresh;
  if (varied_) {
    ParameterState& before = parameters_.at(varied_->name);
    before.text = varied_->text, before.from_command_line = varied_->from_command_line;
  }
  ParameterState& varied = parameters_.at(name);
  varied_ = {name, varied.text, varied.from_command_line};
  varied.text = std::move(text), varied.from_command_line = true;
  for (const std::string& key : parameter_order_) evaluate(key, parameters_.at(key));
}

std::set<std::string> Reader::users_of(const std::string& name) const {
  std::set<std::string> out;
  std::vector<std::string> walk{name};
  std::set<std::string> seen{name};
  while (!walk.empty()) {
    const std::string at = std::move(walk.back());
    walk.pop_back();
    for (const std::string& user : parameters_.at(at).users) {
      constexpr std::string_view other = "parameters.";
      if (!user.starts_with(other))
        out.insert(user);
      else if (const std::string next = user.substr(other.size()); seen.insert(next).second)
        walk.push_back(next);
    }
  }
  return out;
}

Lookup Reader::lookup_in(const Scope* scope) {
  return [this, scope](std::string_view name, std::string& note) -> std::optional<Quantified> {
    if (scope)
      for (const auto& [index, value] : scope->indices)
        if (index == name) return Quantified{value, {}, true};
    return look_up(name, note);
  };
}

std::string Reader::suggest_parameter(std::string_view name) const {
  if (many_errors()) return "";
  Suggestion suggestion(name);
  for (const std::string& known : parameter_order_) suggestion.offer(known);
  return suggestion.text();
}

std::vector<Parameter> Reader::parameter_list() const {
  std::vector<Parameter> list;
  for (const std::string& name : parameter_order_) {
    const ParameterState& p = parameters_.at(name);
    list.push_back({name, p.text, p.value.value, si_unit_of(p.value.dimension)});
  }
  return list;
}

}  // namespace limber::scene
