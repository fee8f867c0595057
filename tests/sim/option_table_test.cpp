// Every option, from its description: ranges are kept, run.json gives it back, and what decides results is in
// the hash of a run.
#include "limber/sim/option_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "limber/sim/method_table.h"
#include "limber/sim/run_json.h"
#include "tests/support/option_values.h"

namespace limber::sim {
namespace {

template <class Visit>
void each_option(const Visit& visit) {
  for (const OptionGroup& group : option_groups())
    for (const RunOption& option : group.options) {
      SCOPED_TRACE(fmt::format("{}.{}", group.method ? to_string(*group.method) : "run", option.key));
      visit(group, option);
    }
}

StoredRun stored(const RunOptions& options) {
  StoredRun run;
  run.options = options;
  run.version = "test";
  return run;
}

TEST(OptionTable, EveryDescriptionIsComplete) {
  std::size_t count = 0;
  each_option([&](const OptionGroup&, const RunOption& o) {
    ++count;
    EXPECT_FALSE(o.doc.empty());
    EXPECT_EQ(objection(o, o.initial), "");
    EXPECT_EQ(o.get(RunOptions()), o.initial);
    EXPECT_EQ(o.words.empty(), o.type != OptionType::choice);
    const OptionValue other = testing::other_value(o);
    EXPECT_NE(other, o.initial);
    EXPECT_EQ(objection(o, other), "");
    RunOptions options;
    o.set(options, other);
    EXPECT_EQ(o.get(options), other);
  });
  EXPECT_GE(count, 40u);
  std::set<std::pair<std::string, std::string>> keys;
  for (const RunKey& key : run_keys())
    EXPECT_TRUE(keys.insert({key.section, key.option().key}).second) << key.option().key;
}

// Setting one option changes no other.
TEST(OptionTable, OptionsAreApart) {
  each_option([](const OptionGroup&, const RunOption& o) {
    RunOptions options;
    o.set(options, testing::other_value(o));
    each_option([&](const OptionGroup&, const RunOption& p) {
      if (&p == &o) return;
      EXPECT_EQ(p.get(options), p.initial);
    });
  });
}

TEST(OptionTable, BoundsAreTakenAndWhatIsBeyondIsRefused) {
  each_option([](const OptionGroup& group, const RunOption& o) {
    for (const testing::Bound& bound : testing::bounds_of(o)) {
      RunOptions options = testing::room_for(group.method, o);
      o.set(options, bound.inside);
      EXPECT_TRUE(range_problems(options).empty()) << to_text(bound.inside);
      o.set(options, bound.outside);
      const auto problems = range_problems(options);
      ASSERT_EQ(problems.size(), 1u) << to_text(bound.outside);
      EXPECT_EQ(problems[0].key, o.key);
      EXPECT_THROW(validate(options), std::invalid_argument);
    }
    if (o.type != OptionType::number) return;
    for (const double x : {HUGE_VAL, -HUGE_VAL, std::nan("")}) EXPECT_NE(objection(o, {x}), "");
  });
}

TEST(OptionTable, RunJsonGivesEveryOptionBack) {
  each_option([](const OptionGroup& group, const RunOption& o) {
    RunOptions options = testing::room_for(group.method, o);
    const RunOptions before = options;
    o.set(options, testing::other_value(o));
    const StoredRun again = parse_run_json(run_json(stored(options)));
    if (o.machine) {  // it stands in wall_clock, and a resumed run may have another
      EXPECT_EQ(run_hash(stored(options)), run_hash(stored(before)));
      return;
    }
    EXPECT_EQ(o.get(again.options), testing::other_value(o));
    EXPECT_NE(run_hash(stored(options)), run_hash(stored(before)));
    EXPECT_EQ(run_hash(again), run_hash(stored(options)));
  });
}

// Runs of older versions have fewer keys, and keys of other methods.
TEST(OptionTable, KeysThatAnOlderRunLacksKeepTheirDefaults) {
  each_option([](const OptionGroup& group, const RunOption& o) {
    if (!group.method || o.machine) return;
    RunOptions options = testing::room_for(group.method, o);
    auto json = nlohmann::ordered_json::parse(run_json(stored(options)));
    ASSERT_EQ(json["options"][to_string(*group.method)].erase(o.short_key()), 1u);
    json["options"]["articulated"]["integrator"] = "midpoint";
    const StoredRun again = parse_run_json(json.dump());
    EXPECT_EQ(o.get(again.options), o.initial);
  });
}

TEST(OptionTable, RunJsonRefusesWordsAndNumbersThatItCannotHold) {
  auto json = nlohmann::ordered_json::parse(run_json(stored({})));
  for (const auto& [key, value] : {std::pair<std::string, nlohmann::ordered_json>("method", "magic"),
                                   {"step", -1.0},
                                   {"time", "long"},
                                   {"from", 3}}) {
    auto changed = json;
    changed["options"][key] = value;
    EXPECT_THROW(parse_run_json(changed.dump()), std::invalid_argument) << key;
  }
  json["options"].erase("method");
  EXPECT_THROW(parse_run_json(json.dump()), std::invalid_argument);
}

TEST(OptionTable, WhatDoesNotGoTogetherIsNamed) {
  const auto said = [](const RunOptions& o) {
    const auto list = combination_problems(o);
    return list.empty() ? "" : list.front().text();
  };
  RunOptions o;
  EXPECT_EQ(said(o), "");
  o.step = 10;
  EXPECT_EQ(said(o), "step: is longer than the whole run");
  o = {};
  o.thread.error = 1e-3;
  EXPECT_EQ(said(o), "thread.error: expected `levels` of 1 or more with it");
  o.thread.levels = 1, o.thread.element = thread::Element::green;
  EXPECT_EQ(said(o), "thread.error: expected `element: log` with it");
  o = {};
  o.method = Method::rom;
  EXPECT_NE(said(o).find("end effectors"), std::string::npos);
}

}  // namespace
}  // namespace limber::sim
