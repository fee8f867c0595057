// What the command line may override, from the descriptions: --help says it, a value reaches its option, and
// a method that does not have it refuses it.
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "errors.h"
#include "limber/sim/method_table.h"
#include "run_overrides.h"
#include "tests/support/option_values.h"

namespace limber::cli {
namespace {

std::string flag_name(const sim::OptionInfo& o) {
  std::string out = "--" + o.short_key();
  std::ranges::replace(out, '_', '-');
  return out;
}

// Parses and applies; throws what the command would print.
sim::RunOptions with(const std::string& command, sim::RunOptions options,
                     std::vector<std::string> arguments) {
  CLI::App app;
  RunOverrides overrides{command, {}};
  add_overrides(app, overrides);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  app.parse(arguments);
  apply(overrides, options);
  return options;
}

template <class Visit>
void each_override(const Visit& visit) {
  for (const sim::OptionGroup& group : sim::option_groups())
    for (const sim::RunOption& option : group.options) {
      if (option.command.empty()) continue;
      SCOPED_TRACE(fmt::format("{} of {}", option.key, group.method ? to_string(*group.method) : "run"));
      visit(group, option);
    }
}

std::string as_argument(const sim::OptionValue& value) {
  std::string text = sim::to_text(value);
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  std::erase(text, ' ');
  return text;
}

TEST(Overrides, HelpSaysEveryOne) {
  each_override([](const sim::OptionGroup&, const sim::RunOption& option) {
    CLI::App app;
    RunOverrides overrides{option.command, {}};
    add_overrides(app, overrides);
    std::string help = app.help();
    std::erase(help, '\n'), std::erase(help, ' ');
    std::string doc = option.doc;
    std::erase(doc, ' ');
    EXPECT_NE(help.find(flag_name(option)), std::string::npos);
    EXPECT_NE(help.find(doc), std::string::npos);
    if (option.key == "method") return;  // only those that run
    for (const std::string& word : option.words) EXPECT_NE(help.find(word), std::string::npos) << word;
  });
}

TEST(Overrides, EveryOneReachesItsOption) {
  each_override([](const sim::OptionGroup& group, const sim::RunOption& option) {
    const sim::OptionValue value = sim::testing::other_value(option);
    const auto set = with(option.command, sim::testing::room_for(group.method, option),
                          {flag_name(option), as_argument(value)});
    EXPECT_EQ(option.get(set), value);
  });
}

TEST(Overrides, WhatIsOutOfRangeIsRefused) {
  each_override([](const sim::OptionGroup& group, const sim::RunOption& option) {
    for (const sim::testing::Bound& bound : sim::testing::bounds_of(option))
      EXPECT_THROW(with(option.command, sim::testing::room_for(group.method, option),
                        {flag_name(option), as_argument(bound.outside)}),
                   UsageError)
          << as_argument(bound.outside);
  });
}

TEST(Overrides, AMethodRefusesWhatItDoesNotHave) {
  each_override([](const sim::OptionGroup& group, const sim::RunOption& option) {
    if (!group.method || option.machine || option.command != "run") return;
    for (const sim::MethodInfo& m : sim::method_table()) {
      const sim::RunOption* own = sim::find_option(m.method, option.key);
      const sim::OptionValue value = sim::testing::other_value(option);
      sim::RunOptions options = sim::testing::room_for(m.method, option);
      const std::vector<std::string> arguments{flag_name(option), as_argument(value)};
      if (own && sim::objection(*own, value).empty()) {
        EXPECT_EQ(own->get(with("run", options, arguments)), value) << m.name();
      } else {
        EXPECT_THROW(with("run", options, arguments), UsageError) << m.name();
      }
    }
  });
}

// For a release, hidden; both words at once are one option given twice.
TEST(Overrides, AnOldWordIsTaken) {
  EXPECT_EQ(with("run", {}, {"--threads", "3"}).articulated.cpu_threads, 3);
  EXPECT_THROW(with("run", {}, {"--threads", "3", "--cpu-threads", "3"}), UsageError);
  EXPECT_THROW(with("run", {}, {"--threads", "0"}), UsageError);
  CLI::App app;
  RunOverrides overrides;
  add_overrides(app, overrides);
  EXPECT_EQ(app.help().find("--threads"), std::string::npos);
}

TEST(Overrides, UnitsAreChecked) {
  EXPECT_EQ(with("run", {}, {"--step", "2 ms"}).step, 0.002);
  EXPECT_THROW(with("run", {}, {"--step", "2 mm"}), UsageError);
  sim::RunOptions thread;
  thread.method = sim::Method::thread, thread.thread.levels = 2;
  EXPECT_EQ(with("run", thread, {"--error", "2 mm"}).thread.error, 0.002);
  EXPECT_THROW(with("run", {}, {"--error", "2 mm"}), UsageError);
}

}  // namespace
}  // namespace limber::cli
