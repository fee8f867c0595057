// The list of methods: complete, consistent with the table of features, and asked by a run.
#include "limber/sim/method_table.h"

#include <gtest/gtest.h>

#include <set>

#include "limber/sim/methods.h"
#include "limber/sim/option_table.h"
#include "tests/sim/sim_support.h"

namespace limber::sim {
namespace {

TEST(MethodTable, EveryQuestionHasItsMethod) {
  std::set<std::string> names;
  std::size_t questions = 0;
  for (const MethodInfo& m : method_table()) {
    EXPECT_TRUE(names.insert(m.name()).second) << m.name();
    EXPECT_TRUE(m.run || m.rest) << m.name();
    EXPECT_EQ(m.run.has_value(), m.make != nullptr) << m.name();
    EXPECT_NE(m.compile, nullptr) << m.name();
    EXPECT_STRNE(m.about, "") << m.name();
    EXPECT_EQ(&info_of(m.method), &m);
    EXPECT_EQ(find_method(m.name()), &m);
    for (const auto& question : {m.run, m.rest}) {
      if (!question) continue;
      ++questions;
      EXPECT_STREQ(method_of(*question), m.name());
      EXPECT_EQ(is_static(*question), question == m.rest);
      EXPECT_EQ(&info_of(*question), &m);
    }
  }
  EXPECT_EQ(questions, std::size(all_questions));
  EXPECT_EQ(find_method("magic"), nullptr);
}

TEST(MethodTable, AMethodThatOnlyRestsDoesNotRun) {
  const Model model = testing::chain(1);
  RunOptions options;
  for (const MethodInfo& m : method_table()) {
    if (m.run) continue;
    options.method = m.method;
    try {
      measure(model, options);
      ADD_FAILURE() << m.name();
    } catch (const ModelError& error) {
      ASSERT_EQ(error.problems().size(), 1u);
      const Problem& p = error.problems()[0];
      EXPECT_EQ(std::tuple(p.kind, p.field), std::tuple("run", "method"));
      for (const std::string& name : names_of_methods(false))
        EXPECT_NE(p.message.find(name), std::string::npos) << p.message;
    }
  }
}

TEST(MethodTable, OnlyMethodsThatFindRestsStartThere) {
  for (const MethodInfo& m : method_table()) {
    RunOptions options;
    options.method = m.method;
    options.from_static = true;
    options.rom.ends = {"hand"};
    if (m.rest) {
      EXPECT_NO_THROW(validate(options)) << m.name();
    } else {
      EXPECT_THROW(validate(options), std::invalid_argument) << m.name();
    }
  }
}

// Options that do not go with a method are known without a run, each at its key.
TEST(MethodTable, ObjectionsKnowTheOptions) {
  const Model model = testing::chain(1);
  RunOptions options;
  options.from_static = true;
  for (const MethodInfo& m : method_table())
    for (const std::optional<Question> q : {m.run, m.rest}) {
      if (!q) continue;
      const auto against = objections(model, options, *q);
      const bool told =
          std::ranges::any_of(against, [](const Problem& p) { return p.kind == "run" && p.field == "from"; });
      EXPECT_EQ(told, !is_static(*q) && !m.rest) << to_string(*q);
    }
  options = {};
  options.thread.error = 1e-3;
  const auto against = objections(model, options, Question::articulated_run);
  ASSERT_EQ(against.size(), 1u);
  EXPECT_EQ(against[0].field, "thread.error");
}

TEST(MethodTable, ThreadsOfTheMethodThatRuns) {
  RunOptions options;
  set_cpu_threads(options, 3);
  for (const MethodInfo& m : method_table()) {
    options.method = m.method;
    EXPECT_EQ(cpu_threads_of(options), find_option(m.method, "cpu_threads") ? 3 : 1) << m.name();
  }
}

}  // namespace
}  // namespace limber::sim
