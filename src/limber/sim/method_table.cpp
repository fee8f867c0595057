#include "limber/sim/method_table.h"

#include <algorithm>
#include <cassert>

#include "limber/chain/chain.h"
#include "limber/sim/driver.h"
#include "limber/sim/option_table.h"
#include "limber/sim/reduce.h"
#include "limber/sim/static_parts.h"

namespace limber::sim {
namespace {

template <class Method, class... Arguments>
Driver driver_by(const Arguments&... arguments) {
  return Driver(Driver::Variant(std::in_place_type<Method>, arguments...));
}

template <class System>
std::optional<CompiledSizes> sizes_of(const System& s) {
  return CompiledSizes{s.model().bodies().size(), s.model().joints().size(),
                       static_cast<std::size_t>(s.dof_count())};
}

// What articulated refuses does not depend on its linear solver; to close loops it must have the one that
// runs, else it can do without looking for an order of elimination.
articulated::Options cheap(const Model& model, const RunOptions& options) {
  articulated::Options out = options.articulated;
  if (model.loops().empty() && model.ties().empty() && model.events().empty())
    out.solver = articulated::Solver::pcg;
  return out;
}

// Where a method's options stand in scenes: in `run` itself, or in a section of its name.
enum class Keys { in_run, in_section };

// The options that a member of RunOptions describes, as options of the whole.
template <auto member, Keys keys>
OptionGroup group_of(Method method) {
  using Options = std::remove_cvref_t<decltype(std::declval<RunOptions>().*member)>;
  const OptionTable<Options>& table = options_of<Options>();
  OptionGroup out{method, keys == Keys::in_run ? "" : to_string(method), table.about, table.example, {}};
  for (const Option<Options>& option : table.options) {
    RunOption& lifted = out.options.emplace_back();
    static_cast<OptionInfo&>(lifted) = option;
    lifted.get = [&option](const RunOptions& o) { return option.get(o.*member); };
    lifted.set = [&option](RunOptions& o, const OptionValue& value) { option.set(o.*member, value); };
  }
  return out;
}

const MethodInfo rows[] = {
    {.method = Method::articulated,
     .about = "dynamics",
     .run = Question::articulated_run,
     .rest = Question::articulated_static,
     .options = group_of<&RunOptions::articulated, Keys::in_run>,
     .compile = [](const Model& m,
                   const RunOptions& o) { return sizes_of(articulated::compile(m, cheap(m, o))); },
     .make =
         [](const Model& m, const RunOptions& o) {
           return driver_by<ArticulatedDriver>(m, o.articulated, o.from_static);
         },
     .statics = &articulated_statics},
    {.method = Method::adaptive,
     .about = "quasi-statics of large trees, moving only what the error asks for",
     .run = Question::adaptive_run,
     .rest = {},
     .options = group_of<&RunOptions::adaptive, Keys::in_run>,
     .compile = [](const Model& m,
                   const RunOptions& o) { return sizes_of(adaptive::compile(m, o.adaptive)); },
     .make = [](const Model& m, const RunOptions& o) { return driver_by<AdaptiveDriver>(m, o.adaptive); }},
    {.method = Method::thread,
     .about = "every beam is a thread, with contact",
     .run = Question::thread_run,
     .rest = Question::thread_static,
     .options = group_of<&RunOptions::thread, Keys::in_section>,
     .compile = [](const Model& m, const RunOptions& o) { return sizes_of(thread::compile(m, o.thread)); },
     .make = [](const Model& m,
                const RunOptions& o) { return driver_by<ThreadDriver>(m, o.thread, o.from_static); },
     .statics = &thread_statics},
    {.method = Method::rom,
     .about = "mechanisms reduced to their end effectors, with contact",
     .run = Question::rom_run,
     .rest = {},
     .options = group_of<&RunOptions::rom, Keys::in_section>,
     .compile =
         [](const Model& m, const RunOptions& o) {
           if (o.reduced) return sizes_of(rom::compile(m, *o.reduced, o.rom));
           check_reducible(m, o.rom);
           return std::optional<CompiledSizes>();
         },
     .make = [](const Model& m, const RunOptions& o) { return driver_by<RomDriver>(m, o); }},
    {.method = Method::chain,
     .about = "where beams come to rest (limber static); it does not run",
     .run = {},
     .rest = Question::chain_static,
     .compile =
         [](const Model& m, const RunOptions&) {
           refuse_without_potential(m);
           chain::compile(m);
           return std::optional<CompiledSizes>();
         },
     .statics = &chain_statics},
};

template <class Predicate>
const MethodInfo* find_row(const Predicate& is) {
  const auto* found = std::find_if(std::begin(rows), std::end(rows), is);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace

std::span<const MethodInfo> method_table() { return rows; }

const MethodInfo& info_of(Method method) {
  const MethodInfo* found = find_row([&](const MethodInfo& m) { return m.method == method; });
  assert(found);
  return *found;
}

const MethodInfo& info_of(Question question) {
  const MethodInfo* found =
      find_row([&](const MethodInfo& m) { return m.run == question || m.rest == question; });
  assert(found);
  return *found;
}

const MethodInfo* find_method(std::string_view name) {
  return find_row([&](const MethodInfo& m) { return m.name() == name; });
}

const char* to_string(Method method) { return info_of(method).name(); }

Question question_of(Method method) {
  const MethodInfo& info = info_of(method);
  return info.run ? *info.run : *info.rest;
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> out;
  for (const MethodInfo& m : rows) out.emplace_back(m.name());
  return out;
}

std::vector<std::string> names_of_methods(bool that_rest) {
  std::vector<std::string> out;
  for (const MethodInfo& m : rows)
    if (that_rest ? m.rest : m.run) out.emplace_back(m.name());
  return out;
}

}  // namespace limber::sim
