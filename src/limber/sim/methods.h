// Which methods take a model: for each question what a method says against it, without running anything.
#pragma once

#include <string>
#include <vector>

#include "limber/model/features.h"
#include "limber/sim/method_table.h"

namespace limber::sim {

// What stands against the method: options that do not go together with it, what the table of features
// refuses, or else what its own compile does. A run that starts at rest asks for the rest too.
std::vector<Problem> objections(const Model& model, const RunOptions& options, Question question);

// Without compiling: from the options and the table alone.
std::vector<Problem> table_objections(const Model& model, const RunOptions& options, Question question);
// What the method's rest refuses of a run that is to start there, and frames that its events do not tell.
std::vector<Problem> start_refusals(const Model& model, const RunOptions& options);

struct Verdict {
  Question question;
  std::vector<Problem> against;        // empty: the method takes it
  std::optional<CompiledSizes> sizes;  // as the method sees it, where it takes it and its compile tells
};

// All of them, in the order of all_questions; each method that has no objection from options and table
// compiles the model once.
std::vector<Verdict> methods_for(const Model& model, const RunOptions& options);

// By which method a scene comes to rest that names none for it: its own if that answers rests, the chain
// where there are beams and it takes them (it is faster and says more of beams) or only its sweeps would,
// else articulated.
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
