// What a file may look like as text and as YAML.
#include <gtest/gtest.h>

#include "limber/scene/suggest.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

const std::string ball = "limber: 1\nbodies: {ball: {sphere: 1}}\n";

TEST(Document, AcceptsByteOrderMarkAndLineEndings) {
  EXPECT_EQ(all_text(diagnose("\xef\xbb\xbf" + ball)), "");
  EXPECT_EQ(all_text(diagnose("limber: 1\r\nbodies:\r\n  ball:\r\n    sphere: 1\r\n")), "");
  EXPECT_EQ(all_text(diagnose("limber: 1\rbodies:\r  ball:\r    sphere: 1\r")), "");
  EXPECT_EQ(all_text(diagnose("---\n" + ball + "...\n")), "");
  EXPECT_EQ(all_text(diagnose("{\"limber\": 1, \"bodies\": {\"ball\": {\"sphere\": 1}}}")), "");
}

TEST(Document, KeepsPositionsAfterByteOrderMarkAndCarriageReturns) {
  const auto list = diagnose("\xef\xbb\xbflimber: 1\r\nbodies: {ball: {sphere: -1}}\r\n");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].line, 2);
  EXPECT_EQ(list[0].column, 25);
}

TEST(Document, CountsColumnsInCharacters) {
  const auto list = diagnose("limber: 1\ntitle: ok\nbodies: {ball: {sphere: 1, color: \"äöü\", mass: -1}}\n");
  ASSERT_EQ(list.size(), 2u) << all_text(list);
  EXPECT_EQ(list[1].column, 48);
}

TEST(Document, RefusesWhatIsNoText) {
  for (const std::string& text :
       {std::string("limber\0: 1", 10), std::string("limber: \x01"), std::string("\xff\xfel\0i\0", 6),
        std::string("title: \xc3\x28"), std::string("title: \xed\xa0\x80"), std::string("\x04")}) {
    const auto list = diagnose(text);
    ASSERT_EQ(list.size(), 1u);
    EXPECT_GE(list[0].line, 1);
    EXPECT_GE(list[0].column, 1);
  }
}

TEST(Document, RefusesEmptyAndSeveralDocuments) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n"})
    EXPECT_NE(all_text(diagnose(text)).find("test.yaml:"), std::string::npos) << text;
  EXPECT_NE(all_text(diagnose(ball + "---\n" + ball)).find("one document"), std::string::npos);
}

TEST(Document, ReportsDuplicatesAtTheSecond) {
  const auto list = diagnose("limber: 1\nbodies:\n  a: {sphere: 1}\n  a: {sphere: 2}\n");
  ASSERT_GE(list.size(), 1u);
  EXPECT_EQ(list[0].line, 4);
  EXPECT_EQ(list[0].column, 3);
  EXPECT_NE(list[0].message.find("first on line 3"), std::string::npos);
}

TEST(Document, SharesAnchorsAndMerges) {
  const Scene scene = parse_text(
      "bodies:\n"
      "  a: &a {sphere: 1, density: 10, at: [0, 0, 1]}\n"
      "  b: {<<: *a, at: [0, 0, 5]}\n"
      "  c: *a\n");
  ASSERT_EQ(scene.model.bodies().size(), 3u);
  EXPECT_EQ(scene.model.bodies()[1].inertia.m, scene.model.bodies()[0].inertia.m);
  EXPECT_EQ(scene.model.initial_poses()[1].p.z(), 5);
  EXPECT_EQ(scene.model.initial_poses()[2].p.z(), 1);
}

TEST(Suggestion, FindsTheNearest) {
  EXPECT_EQ(edit_distance("stiffness", "stifness", 2), 1);
  EXPECT_EQ(edit_distance("ab", "ba", 2), 1);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3);
  EXPECT_EQ(edit_distance("", "ab", 2), 2);
  Suggestion suggestion("stifness");
  for (const char* name : {"damping", "stiffness", "rest"}) suggestion.offer(name);
  EXPECT_EQ(suggestion.best(), "stiffness");
  Suggestion far("xyz");
  for (const char* name : {"damping", "stiffness", "rest"}) far.offer(name);
  EXPECT_EQ(far.best(), "");
}

}  // namespace
}  // namespace limber::scene
