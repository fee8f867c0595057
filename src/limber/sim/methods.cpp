#include "limber/sim/methods.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "limber/sim/closing.h"
#include "limber/sim/conductor.h"
#include "limber/sim/driver.h"
#include "limber/sim/method_table.h"
#include "limber/sim/option_table.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

// As if the method had been asked for it; a rest knows no time, and starts nowhere.
std::vector<Problem> objections_to_options(RunOptions options, Question question) {
  options.method = info_of(question).method;
  if (is_static(question)) {
    const RunOptions usual;
    options.from_static = false, options.time = usual.time, options.step = usual.step;
  }
  return as_problems(combination_problems(options));
}

// What a rest passes over and a run would start with.
std::vector<Place> velocities_at_start(const Model& model, Question rest) {
  std::vector<Place> out;
  for (const Feature& f : all_features())
    if (answer(f, rest) == Answer::without_effect) f.find(model, out);
  std::erase_if(out, [](const Place& p) { return p.field != "velocity"; });
  return out;
}

}  // namespace

std::vector<Problem> start_refusals(const Model& model, const RunOptions& options) {
  std::vector<Problem> out;
  const std::optional<Question> rest = info_of(options.method).rest;
  if (options.from_static && rest) out = refusals(model, *rest);
  // What happens later is not asked of the start.
  std::erase_if(out, [](const Problem& p) { return p.kind == "change" || p.kind == "event"; });
  if (options.from_static && rest)
    for (const Place& p : velocities_at_start(model, *rest))
      out.push_back({p.kind, p.name, p.field, "a run that starts at rest has no velocities to begin with"});
  if (options.frame != RunOptions().frame && options.frames_per_step() > 1 && Conductor::is_needed(model))
    out.push_back(
        {"run", "", "frame",
         "must not be shorter than the step: events and sampled controllers divide steps, and tell no "
         "frames within them"});
  return out;
}

std::vector<Problem> table_objections(const Model& model, const RunOptions& options, Question question) {
  std::vector<Problem> out = objections_to_options(options, question);
  const auto add = [&](const std::vector<Problem>& more) { out.insert(out.end(), more.begin(), more.end()); };
  add(refusals(model, question));
  if (is_static(question) || !out.empty()) return out;
  RunOptions asked = options;
  asked.method = info_of(question).method;
  add(start_refusals(model, asked));
  return out;
}

namespace {

struct Compiled {
  std::vector<Problem> against;
  std::optional<CompiledSizes> sizes;
};

// What events and sampled controllers read are columns of a run that is made.
std::vector<Problem> objections_of_conductor(const Model& model, RunOptions options,
                                             const MethodInfo& method) {
  options.method = method.method, options.from_static = false;
  return Conductor::objections(model, method.make(model, options).layout(), method.name());
}

// What its own compile says against the model, and else its sizes.
Compiled compiled(const Model& model, const RunOptions& options, const MethodInfo& method) {
  Compiled out;
  try {
    out.sizes = method.compile(model, options);
    if (out.sizes && method.make && Conductor::is_needed(model))  // else it is too long a way
      out.against = objections_of_conductor(model, options, method);
  } catch (const ModelError& error) {
    out.against = error.problems();
  } catch (const std::invalid_argument& error) {
    out.against = {{"run", "", "", error.what()}};
  }
  return out;
}

}  // namespace

std::vector<Problem> objections(const Model& model, const RunOptions& options, Question question) {
  std::vector<Problem> out = table_objections(model, options, question);
  return out.empty() ? compiled(model, options, info_of(question)).against : out;
}

std::vector<Verdict> methods_for(const Model& model, const RunOptions& options) {
  std::vector<Verdict> out;
  std::map<Method, Compiled> done;  // a run and a rest by one method are compiled alike
  for (const Question question : all_questions) {
    Verdict& v = out.emplace_back(Verdict{question, table_objections(model, options, question), {}});
    if (!v.against.empty()) continue;
    const MethodInfo& method = info_of(question);
    auto found = done.find(method.method);
    if (found == done.end()) found = done.emplace(method.method, compiled(model, options, method)).first;
    v.against = found->second.against;
    v.sizes = found->second.sizes;
  }
  return out;
}

Method rest_method(const Model& model, const RunOptions& options) {
  if (options.method != RunOptions().method && info_of(options.method).rest) return options.method;
  const bool chained = !model.beams().empty() && (solved_by_sweeps(model) ||
                                                  objections(model, options, Question::chain_static).empty());
  return chained ? Method::chain : Method::articulated;
}

std::vector<std::string> notes(const Model& model, const RunOptions& options) {
  std::vector<std::string> out;
  for (const Problem& p : not_looked_at(model, question_of(options.method))) out.push_back(to_string(p));
  // A run by articulated says what it moved.
  if (options.method != Method::articulated)
    for (std::string& text : closing_notes(model)) out.push_back(std::move(text));
  const double end = static_cast<double>(options.steps()) * options.step;
  if (std::abs(end - options.time) > 1e-6 * options.step)
    out.push_back(fmt::format("time: {:g} s is no whole number of steps of {:g} s: it runs to {:g} s",
                              options.time, options.step, end));
  const double frame = options.frame_interval();
  if (options.frame != RunOptions().frame && std::abs(frame - options.frame) > 1e-6 * options.step)
    out.push_back(
        fmt::format("frame: {:g} s is no whole number{} of steps of {:g} s: it records every {:g} s",
                    options.frame, options.frames_per_step() > 1 ? " or part" : "", options.step, frame));
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
