#include "limber/sim/methods.h"

#include <fmt/format.h>

#include <cmath>

#include "limber/sim/method_table.h"
#include "limber/sim/option_table.h"

namespace limber::sim {
std::vector<Problem> objections(const Model& model, const RunOptions& options, Question question) {
  std::vector<Problem> out = refusals(model, question);
  if (out.empty()) try {
      info_of(question).compile(model, options);
    } catch (const ModelError& error) {
      out = error.problems();
    } catch (const std::invalid_argument& error) {
      out = {{"run", "", "", error.what()}};
    }
  return out;
}

std::vector<Verdict> methods_for(const Model& model, const RunOptions& options, std::size_t most_bodies) {
  std::vector<Verdict> out;
  const bool tried = model.bodies().size() <= most_bodies;
  for (const Question question : all_questions)
    out.push_back(
        {question, tried ? objections(model, options, question) : refusals(model, question), tried});
  return out;
}

Method rest_method(const Model& model, const RunOptions& options) {
  if (options.method != RunOptions().method && info_of(options.method).rest) return options.method;
  const bool chained = !model.beams().empty() && objections(model, options, Question::chain_static).empty();
  return chained ? Method::chain : Method::articulated;
}

std::vector<std::string> notes(const Model& model, const RunOptions& options) {
  std::vector<std::string> out;
  for (const Problem& p : not_looked_at(model, question_of(options.method))) out.push_back(to_string(p));
  const double end = static_cast<double>(options.steps()) * options.step;
  if (std::abs(end - options.time) > 1e-6 * options.step)
    out.push_back(fmt::format("time: {:g} s is no whole number of steps of {:g} s: it runs to {:g} s",
                              options.time, options.step, end));
  const double frame = static_cast<double>(options.steps_per_frame()) * options.step;
  if (options.frame != RunOptions().frame && std::abs(frame - options.frame) > 1e-6 * options.step)
    out.push_back(fmt::format("frame: {:g} s is no whole number of steps of {:g} s: it records every {:g} s",
                              options.frame, options.step, frame));
  return out;
}

std::string short_reason(const std::vector<Problem>& against) {
  std::string out;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, against.size()); ++i)
    out += (i > 0 ? "; " : "") + to_string(against[i]);
  if (against.size() > 2) out += fmt::format("; and {} more", against.size() - 2);
  return out;
}

std::string method_name(const RunOptions& options) {
  const std::string integrator = integrator_of(options);
  return integrator.empty() ? to_string(options.method)
                            : fmt::format("{}:{}", to_string(options.method), integrator);
}

void choose_method(const std::string& name, RunOptions& options) {
  const auto colon = name.find(':');
  const MethodInfo* method = find_method(name.substr(0, colon));
  if (!method || !method->run) throw std::invalid_argument(fmt::format("there is no method \"{}\"", name));
  if (colon != std::string::npos) {
    const OptionValue word{name.substr(colon + 1)};
    const RunOption* integrator = find_option(method->method, "integrator");
    if (!integrator || !objection(*integrator, word).empty())
      throw std::invalid_argument(fmt::format("there is no method \"{}\"", name));
    integrator->set(options, word);
  }
  options.method = method->method;
}

std::vector<MethodChoice> method_choices(const Model& model, const RunOptions& options) {
  std::vector<MethodChoice> out;
  for (const MethodInfo& method : method_table()) {
    if (!method.run) continue;
    const std::string reason = short_reason(objections(model, options, *method.run));
    const RunOption* integrator = find_option(method.method, "integrator");
    if (!reason.empty() || !integrator) {
      out.push_back({method.name(), method.name(), reason, reason.empty()});
      continue;
    }
    for (const std::string& word : integrator->words)
      out.push_back(
          {fmt::format("{}:{}", method.name(), word), fmt::format("{}, {}", method.name(), word), "", true});
  }
  return out;
}

}  // namespace limber::sim
