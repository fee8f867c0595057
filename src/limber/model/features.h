// Features: what a model uses, and what each method does with it. One table: a row a feature, a column a
// question.
//
// A method answers a question (a run, a rest) only about models whose every feature it honours; all others
// are refused at their places before anything is computed, with the methods that honour them. What is in no
// row cannot be said in a scene; a new row is refused by every method until its letter says otherwise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "limber/model/model.h"

namespace limber {

enum class Question : std::uint8_t {
  chain_static,
  articulated_run,
  articulated_static,
  thread_run,
  thread_static,
  rom_run,
  adaptive_run
};
inline constexpr Question all_questions[] = {
    Question::chain_static,  Question::articulated_run, Question::articulated_static, Question::thread_run,
    Question::thread_static, Question::rom_run,         Question::adaptive_run};
const char* method_of(Question question);  // "articulated"
bool is_static(Question question);         // else a run
std::string to_string(Question question);  // "limber static --method chain"

enum class Answer : char {
  honoured = 'y',
  refused = '.',
  without_effect = 'o',  // it cannot matter to this question: what is at rest has no damping
  told = 't'             // the motion does not depend on it; the run says that nothing looked at it
};

// Where a model uses a feature: a Problem's kind, name and field.
struct Place {
  std::string kind, name, field;
};
struct Feature {
  const char* name;     // "limits of a joint"
  const char* answers;  // a letter for each of all_questions
  void (*find)(const Model& model, std::vector<Place>& out);
  std::optional<Told> probes = {};  // of a row about probes: which
};
std::span<const Feature> all_features();
Answer answer(const Feature& feature, Question question);
Answer answer(Told told, Question question);  // of probes

// What the method does not honour, each at its place with the methods that do.
std::vector<Problem> refusals(const Model& model, Question question);
// What the method does not look at although the motion does not depend on it.
std::vector<Problem> not_looked_at(const Model& model, Question question);
// Throws ModelError with all refusals.
void require(const Model& model, Question question);

std::string methods_markdown();  // docs/methods.md

}  // namespace limber
