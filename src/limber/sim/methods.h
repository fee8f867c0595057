// Which methods take a model: for each question what a method says against it, without running anything.
#pragma once

#include <string>
#include <vector>

#include "limber/model/features.h"
#include "limber/sim/options.h"

namespace limber::sim {

// What the method says against the model: from the table of features, or else from its own compile.
std::vector<Problem> objections(const Model& model, const RunOptions& options, Question question);

struct Verdict {
  Question question;
  std::vector<Problem> against;  // empty: the method takes it
  bool tried = true;  // false: only the table of features was asked, the model is too large to compile
};

// All of them, in the order of all_questions. Up to `most_bodies` bodies every method that has no objection
// from the table of features also compiles the model.
std::vector<Verdict> methods_for(const Model& model, const RunOptions& options,
                                 std::size_t most_bodies = 2000);

// By which method a scene comes to rest that names none for it: its own if that answers rests, the chain
// where there are beams and it takes them (it is faster and says more of beams), else articulated.
Method rest_method(const Model& model, const RunOptions& options);

// Told once with a run: what its method does not look at.
std::vector<std::string> notes(const Model& model, const RunOptions& options);

// A method to run a scene by, as a person chooses one.
struct MethodChoice {
  std::string name, label, reason;  // reason: why it does not apply
  bool applies = true;
};

// What a method says against a model can be hundreds of lines, one for each part: the first two, and how many
// more.
std::string short_reason(const std::vector<Problem>& against);

// Every method that runs; one that applies and has integrators appears once with each.
std::vector<MethodChoice> method_choices(const Model& model, const RunOptions& options);
std::string method_name(const RunOptions& options);                // "articulated:euler"
void choose_method(const std::string& name, RunOptions& options);  // throws std::invalid_argument

}  // namespace limber::sim
