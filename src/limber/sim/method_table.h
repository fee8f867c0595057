// The only list of methods: what each is called, which questions it answers, and how it is made. Whoever
// wants to know something of a method asks here; a new method is its folder, its questions in
// model/features.h, and one row.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limber/model/features.h"
#include "limber/sim/options.h"

namespace limber::sim {

class Driver;
struct StaticAbility;  // equilibrium.h
struct OptionGroup;

// Of a model as a method sees it, beams replaced by links.
struct CompiledSizes {
  std::size_t bodies = 0, joints = 0, dofs = 0;
};

struct MethodInfo {
  Method method;
  const char* about;                         // one line, for people who choose
  std::optional<Question> run, rest;         // what it answers
  OptionGroup (*options)(Method) = nullptr;  // null: it has none
  // Throws ModelError with all that it refuses; nullopt: it does not know the sizes yet.
  std::optional<CompiledSizes> (*compile)(const Model&, const RunOptions&) = nullptr;
  Driver (*make)(const Model&, const RunOptions&) = nullptr;  // null: it does not run
  const StaticAbility* statics = nullptr;                     // null: it finds no rests

  const char* name() const { return method_of(run ? *run : *rest); }
};

std::span<const MethodInfo> method_table();
const MethodInfo& info_of(Method method);
const MethodInfo& info_of(Question question);
const MethodInfo* find_method(std::string_view name);  // null: there is none

// What a scene asks of the method: a run, or a rest if it does not run.
Question question_of(Method method);

std::vector<std::string> names_of_methods();
std::vector<std::string> names_of_methods(bool that_rest);  // that answer rests, or that run

}  // namespace limber::sim
