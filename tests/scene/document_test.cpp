// What a file may look like as text and as YAML.
#include "limber/scene/document.h"

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

bool any_key(std::string_view) { return true; }

bool same(const Node& a, const Node& b) {
  if (a.kind != b.kind || a.quoted != b.quoted || a.text != b.text || a.size != b.size ||
      a.height != b.height)
    return false;
  if (a.mark.line != b.mark.line || a.mark.column != b.mark.column) return false;
  if (a.items.size() != b.items.size() || a.entries.size() != b.entries.size()) return false;
  for (std::size_t i = 0; i < a.items.size(); ++i)
    if (!same(*a.items[i], *b.items[i])) return false;
  for (std::size_t i = 0; i < a.entries.size(); ++i)
    if (!same(*a.entries[i].key, *b.entries[i].key) || !same(*a.entries[i].value, *b.entries[i].value))
      return false;
  return true;
}

// What the quick reader takes, the whole one reads to the same nodes at the same places. True: it took it.
bool agree(const std::string& text) {
  const std::optional<Document> plain = read_plain_document(text, {}, any_key);
  if (!plain) return false;
  const Document whole = read_whole_document(text, {}, any_key);
  EXPECT_TRUE(whole.flaws.empty()) << whole.flaws[0].message << "\n" << text;
  if (!whole.flaws.empty() || !whole.root) return false;
  EXPECT_TRUE(same(*plain->root, *whole.root)) << text;
  return true;
}

TEST(Document, TheQuickReaderReadsAsTheWholeOne) {
  for (const char* text :
       {"a: 1\n", "a: {b: [1, 2], c: 'x y'}\nd: -3 mm # far\n",
        "a:\n  - 1\n  - b: 2\n    c: {}\n  - []\ne: x:y\n", "a:\n- 1\n- [2,\n   3] # more\nb: 4\n",
        "\"a b\": {\"c\": 1,\n  d: \"=2*t\"}\n\n# end",
        "leg.${i}: {repeat: {i: 3}, at: [\"${i}\", -1, .5]}\n", "a: 2*(t - 1 s)\nb: https://x.y/z#w\n"})
    EXPECT_TRUE(agree(text)) << text;
  int taken = 0;
  for (const auto& path : shipped_scenes()) taken += agree(normalize_text(slurp(path)));
  EXPECT_GE(taken, 0.8 * static_cast<double>(shipped_scenes().size()));
}

TEST(Document, TheQuickReaderLeavesTheRestToTheWholeOne) {
  for (const char* text : {"",
                           "a",
                           "- a\n",
                           "a:\n",
                           "a: ~\n",
                           "a: null\n",
                           "a: &x 1\n",
                           "a: *x\n",
                           "a: !t 1\n",
                           "a: |\n  b\n",
                           "a: >\n  b\n",
                           "a: \"x\\n\"\n",
                           "a: 'it''s'\n",
                           "a: b\n  c\n",
                           "a: {b}\n",
                           "a: {b: 1,}\n",
                           "a: [1 2\n",
                           "a: [b: 1]\n",
                           "a: 1\n b: 2\n",
                           "  a: 1\nb: 2\n",
                           "---\na: 1\n",
                           "a: 1\n...\n",
                           "? a\n: b\n",
                           "a: b: c\n",
                           "a:\tb\n",
                           "a: {b: 1}#x\n",
                           "a: [1]: 2\n",
                           "a : 1\n",
                           "<<: {a: 1}\nb: *c\n",
                           "a: 1\na: 2\n",
                           "a: \"x\n  y\"\n",
                           "a: {b: c\n  d}\n",
                           "a: @x\n"})
    EXPECT_FALSE(read_plain_document(text, {}, any_key)) << text;
}

// Scenes with characters taken out, put in and doubled: the quick reader may decline, but not read otherwise.
TEST(Document, TheQuickReaderNeverReadsOtherwise) {
  constexpr std::string_view often = " \n:,-#{}[]\"'&*!|>?%~ab1.";
  Random random(7);
  const auto below = [&](std::size_t n) { return random.below(n); };
  int taken = 0, tried = 0;
  for (const auto& path : shipped_scenes()) {
    std::string scene = normalize_text(slurp(path));
    for (int k = 0; k < 60; ++k) {
      const std::size_t begin = scene.rfind('\n', below(scene.size())) + 1;
      std::string text = scene.substr(begin, 400);
      for (std::size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
        const std::size_t at = below(text.size());
        if (const std::size_t how = below(3); how == 0)
          text.erase(at, 1);
        else
          text.insert(at, 1, how == 1 ? often[below(often.size())] : text[at]);
      }
      ++tried, taken += agree(text);
    }
  }
  EXPECT_GT(taken, tried / 20);  // enough that it says something
}

}  // namespace
}  // namespace limber::scene
