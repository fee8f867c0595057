// Who honours what, and how refusals are said: what is read off the table of features.
#include <fmt/format.h>

#include <algorithm>

#include "limber/model/features.h"

namespace limber {
namespace {

constexpr struct {
  const char* method;
  bool is_static;
} questions[] = {{"chain", true},  {"articulated", false}, {"articulated", true}, {"thread", false},
                 {"thread", true}, {"rom", false},         {"adaptive", false}};

// "method articulated, or thread (run only)": who honours it.
std::string who_honours(const Feature& f) {
  std::vector<std::string> names;
  for (const Question q : all_questions) {
    if (answer(f, q) != Answer::honoured) continue;
    const std::string name = method_of(q);
    const auto same = std::find_if(all_questions, std::end(all_questions),
                                   [&](Question other) { return other != q && name == method_of(other); });
    const bool other_too = same == std::end(all_questions) || answer(f, *same) != Answer::refused;
    const std::string text =
        same == std::end(all_questions) || other_too ? name : name + (is_static(q) ? " (static)" : " (run)");
    if (std::find(names.begin(), names.end(), text) == names.end()) names.push_back(text);
  }
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i)
    out += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return out;
}

std::vector<Problem> places_with(const Model& model, Question question, Answer wanted) {
  std::vector<Problem> out;
  std::vector<Place> places;
  for (const Feature& f : all_features()) {
    if (answer(f, question) != wanted) continue;
    places.clear();
    f.find(model, places);
    for (Place& p : places) {
      const std::string others = who_honours(f);
      std::string text =
          fmt::format("{} by method {} does not {} it ({})", is_static(question) ? "a rest" : "a run",
                      method_of(question), wanted == Answer::refused ? "honour" : "look at", f.name);
      if (!others.empty()) text += fmt::format("; {} does", others);
      out.push_back({std::move(p.kind), std::move(p.name), std::move(p.field), std::move(text)});
    }
  }
  return out;
}

}  // namespace

const char* method_of(Question question) { return questions[static_cast<int>(question)].method; }
bool is_static(Question question) { return questions[static_cast<int>(question)].is_static; }
std::string to_string(Question question) {
  return fmt::format("limber {} --method {}", is_static(question) ? "static" : "run", method_of(question));
}

Answer answer(const Feature& feature, Question question) {
  return static_cast<Answer>(feature.answers[static_cast<int>(question)]);
}

Answer answer(Told told, Question question) {
  for (const Feature& f : all_features())
    if (f.probes == told) return answer(f, question);
  return Answer::refused;
}

std::vector<Problem> refusals(const Model& model, Question question) {
  return places_with(model, question, Answer::refused);
}
std::vector<Problem> not_looked_at(const Model& model, Question question) {
  return places_with(model, question, Answer::told);
}
void require(const Model& model, Question question) {
  if (auto found = refusals(model, question); !found.empty()) throw ModelError(std::move(found));
}

std::string methods_markdown() {
  std::string out =
      "<!-- Made by `limber schema --methods` from the table in src/limber/model/features.cpp; a test keeps "
      "it so. -->\n"
      "# What each method takes\n\n"
      "What a scene says is honoured by a method or refused at its line, before anything is computed. "
      "`limber check` says\n"
      "which methods take a scene and why the others do not.\n\n"
      "| | meaning |\n|---|---|\n"
      "| yes | honoured: it changes the result |\n"
      "| – | refused, at its line, with the methods that take it |\n"
      "| · | cannot matter to that question: what is at rest has no velocity and no damping |\n"
      "| told | the motion does not depend on it, and a warning says that nothing looked at it |\n\n"
      "Methods refuse further combinations for reasons of their own, such as a beam of which method `thread` "
      "finds no node\n"
      "where it is clamped; these stand at their lines too.\n\n| feature |";
  for (const Question q : all_questions)
    out += fmt::format(" {} {} |", method_of(q), is_static(q) ? "static" : "run");
  out += "\n|---|";
  for (std::size_t i = 0; i < std::size(all_questions); ++i) out += "---|";
  for (const Feature& f : all_features()) {
    out += fmt::format("\n| {} |", f.name);
    for (const Question q : all_questions) {
      const Answer a = answer(f, q);
      out += a == Answer::honoured  ? " yes |"
             : a == Answer::refused ? " – |"
             : a == Answer::told    ? " told |"
                                    : " · |";
    }
  }
  return out + "\n";
}

}  // namespace limber
