// The whole matrix of features and questions: every cell is proven by a pair of scenes, one that uses the
// feature and one that does not. Honoured: the answers differ. Refused: at the place where it is written.
// Without effect: the answers are the same. Told: the run says that nothing looked at it.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "feature_cases.h"
#include "limber/sim/driver.h"
#include "limber/sim/equilibrium.h"
#include "limber/sim/methods.h"
#include "limber/sim/static_inverse.h"
#include "scene_support.h"

namespace limber::scene {
namespace {

constexpr int steps = 60;
constexpr double static_time = 0.5;  // [s] whose loads act on a rest

std::string clean(std::string text) {
  for (std::size_t at; (at = text.find("§")) != std::string::npos;) text.erase(at, std::string("§").size());
  return text;
}

struct Position {
  int line = 1, column = 1;
  bool operator==(const Position&) const = default;
};
std::optional<Position> marked(const std::string& text) {
  const std::size_t at = text.find("§");
  if (at == std::string::npos) return std::nullopt;
  Position p;
  for (std::size_t i = 0; i < at; ++i) {
    ++p.column;
    if (text[i] == '\n') ++p.line, p.column = 1;
  }
  return p;
}

// Everything an answer says, by name.
struct Given {
  std::string failure;  // why there is none
  std::map<std::string, std::vector<double>> shape;
  std::map<std::string, double> scalars;
};

void take(const result::Layout& layout, const result::Snapshot& shot, Given& out, const std::string& prefix) {
  const auto put = [](std::vector<double>& to, const Vec3& x) { to.insert(to.end(), {x.x(), x.y(), x.z()}); };
  for (std::size_t i = 0; i < layout.frames.size(); ++i) {
    auto& to = out.shape[prefix + layout.frames[i].name];
    put(to, shot.positions[i]);
    put(to, shot.rotations[i].vec());
  }
  std::size_t next = 0;
  for (const auto& line : layout.polylines)
    for (int k = 0; k < line.points; ++k) put(out.shape[prefix + "line " + line.name], shot.points[next++]);
  for (std::size_t i = 0; i < layout.scalars.size(); ++i) {
    const std::string& name = layout.scalars[i].name;
    // Not what a method counts of its own work.
    if (!name.starts_with("adaptive.") && !name.starts_with("rom."))
      out.scalars[prefix + name] = shot.scalars[i];
  }
}

void check(const result::SolveReport& report) {
  if (!report.ok()) throw std::runtime_error(report.message);
}

void run(const Scene& scene, sim::Method method, Given& out) {
  sim::RunOptions options = scene.run;
  options.method = method;
  sim::Driver driver(scene.model, options);
  result::Snapshot shot;
  for (int i = 0; i < steps; ++i) {
    check(driver.step(options.step));
    driver.set_clock(i + 1, (i + 1) * options.step);
    if (i + 1 == steps / 2 || i + 1 == steps) {
      driver.observe(shot);
      take(driver.layout(), shot, out, i + 1 == steps ? "" : "half-way ");
    }
  }
}

// What has no potential is solved by the published sweeps only, an option of the command.
bool by_sweeps(const Scene& scene, Question question) {
  return question == Question::chain_static && !scene.model.beams().empty() &&
         scene.model.beams()[0].recipe == Recipe::published_1r;
}

void swept_rest(const Scene& scene, Given& out) {
  const sim::SweepResult r = sim::published_sweeps(scene.model, "linear_12", 1, static_time);
  if (!r.report.converged) throw std::runtime_error("the sweeps do not settle");
  for (const sim::SweptTip& t : r.tips) out.shape["tip " + t.beam] = {t.tip.x(), t.tip.y(), t.tip.z()};
}

void rest(const Scene& scene, Question question, Given& out) {
  if (by_sweeps(scene, question)) return swept_rest(scene, out);
  sim::StaticOptions options;
  options.method = sim::info_of(question).method;
  options.time = static_time;
  const sim::Equilibrium e = sim::find_equilibrium(scene.model, scene.run, options);
  check(e.report);
  take(e.layout, e.after, out, "");
  for (const sim::BeamRest& beam : e.beams) {
    out.shape["tip " + beam.name] = {beam.tip.x(), beam.tip.y(), beam.tip.z()};
    for (const sim::SectionForce& s : beam.sections) {
      const std::string at = fmt::format("{} {:.4f} ", beam.name, s.s);
      if (std::isfinite(s.safety)) out.scalars[at + "safety"] = s.safety;
      out.scalars[at + "breaks"] = s.breaks;
    }
  }
}

Given answer_of(const Scene& scene, Question question) {
  Given out;
  try {
    switch (question) {
      case Question::chain_static:
      case Question::articulated_static:
      case Question::thread_static:
        rest(scene, question, out);
        break;
      case Question::articulated_run:
        run(scene, sim::Method::articulated, out);
        break;
      case Question::thread_run:
        run(scene, sim::Method::thread, out);
        break;
      case Question::rom_run:
        run(scene, sim::Method::rom, out);
        break;
      case Question::adaptive_run:
        run(scene, sim::Method::adaptive, out);
        break;
    }
  } catch (const std::exception& error) {
    out = {};
    out.failure = error.what();
  }
  return out;
}

// What differs first, or nothing. Shapes are held against their size, scalars against each other.
std::string difference(const Given& a, const Given& b, double tolerance) {
  double size = 0;
  for (const Given* g : {&a, &b})
    for (const auto& [name, list] : g->shape)
      for (const double x : list) size = std::max(size, std::abs(x));
  for (const auto& [name, list] : a.shape) {
    const auto other = b.shape.find(name);
    if (other == b.shape.end()) continue;
    if (list.size() != other->second.size()) return name + " has another size";
    for (std::size_t i = 0; i < list.size(); ++i)
      if (!(std::abs(list[i] - other->second[i]) <= tolerance * size))
        return fmt::format("{}: {:.9g} and {:.9g}", name, list[i], other->second[i]);
  }
  for (const auto& [name, x] : a.scalars) {
    if (name.ends_with("energy.remainder")) continue;  // rounding
    const auto other = b.scalars.find(name);
    if (other == b.scalars.end()) {
      if (std::isfinite(x)) return "only one has " + name;
      continue;
    }
    const double y = other->second, scale = std::max(std::abs(x), std::abs(y));
    if (!(std::abs(x - y) <= 1e3 * tolerance * scale + tolerance))
      return fmt::format("{}: {:.9g} and {:.9g}", name, x, y);
  }
  return "";
}

bool has_place(const std::vector<Problem>& problems, const Place& p) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& x) {
    return x.kind == p.kind && x.name == p.name && x.field == p.field;
  });
}

struct Loaded {
  const FeatureCase* source;
  Scene with, without;
  std::vector<Place> places;
};

class Features : public testing::Test {
 protected:
  static std::string first(const std::vector<Problem>& problems) { return to_string(problems.front()); }

  static std::string objection(const Loaded& c, Question q) {
    if (auto found = sim::objections(c.without.model, c.without.run, q); !found.empty())
      return "without it: " + first(found);
    if (by_sweeps(c.with, q)) return "";
    if (auto found = sim::objections(c.with.model, c.with.run, q); !found.empty())
      return "with it: " + first(found);
    return "";
  }

  // Empty: they are the same. nullopt: no answer.
  static std::optional<std::string> compare(const Loaded& c, Question q, double tolerance, std::string& why) {
    if (why = objection(c, q); !why.empty()) return std::nullopt;
    const Given a = answer_of(c.with, q), b = answer_of(c.without, q);
    if (!a.failure.empty() || !b.failure.empty()) {
      why = "fails: " + a.failure + " / " + b.failure;
      return std::nullopt;
    }
    return difference(a, b, tolerance);
  }

  // The columns that a probe asks for; empty: they are not there.
  static std::string column_of(const Loaded& c, Question q, std::string& why) {
    const std::string& name = c.places[0].name;
    std::string found;
    for (const auto& [column, x] : answer_of(c.with, q).scalars) {
      if (column != name && !column.starts_with(name + ".")) continue;
      if (!std::isfinite(x)) return why = column + " is not finite", "";
      found = column;
    }
    if (found.empty()) why = "there is no column " + name;
    return found;
  }

  static std::string wrong_place(const Loaded& c, Question q) {
    const std::vector<Problem> found = refusals(c.with.model, q);
    for (const Place& p : c.places) {
      const auto at = std::find_if(found.begin(), found.end(), [&](const Problem& x) {
        return x.kind == p.kind && x.name == p.name && x.field == p.field;
      });
      if (at == found.end()) return "is not refused";
    }
    const auto wanted = marked(c.source->with);
    if (!wanted) return "has no mark";
    Problem first{c.places[0].kind, c.places[0].name, c.places[0].field, "x"};
    const auto located = locate(c.with, ModelError({first}));
    if (located.size() != 1) return "has no place";
    if (Position{located[0].line, located[0].column} == *wanted) return "";
    return fmt::format("stands at {}:{}, not {}:{}", wanted->line, wanted->column, located[0].line,
                       located[0].column);
  }
};

// Cells that no pair of scenes proves yet: "feature / question". It must only shrink.
const std::set<std::string> unproven = {};

TEST_F(Features, EveryFeatureMattersOrIsRefused) {
  const std::vector<FeatureCase> list = feature_cases();
  std::map<std::string, std::vector<Loaded>> by_feature;
  std::set<std::string> names;
  for (const Feature& f : all_features()) names.insert(f.name);
  for (const FeatureCase& c : list) {
    if (!names.contains(c.feature)) {
      ADD_FAILURE() << "no feature \"" << c.feature << "\"";
      continue;
    }
    try {
      by_feature[c.feature].push_back(
          {&c, parse(clean(c.with), "with.yaml"), parse(clean(c.without), "without.yaml"), {}});
    } catch (const SceneError& error) {
      ADD_FAILURE() << c.feature << ": " << error.what();
    }
  }
  std::map<char, int> proven, counted;
  int by_structure = 0;
  for (const Feature& f : all_features()) {
    std::vector<Loaded>& scenes = by_feature[f.name];
    for (Loaded& c : scenes) {
      f.find(c.with.model, c.places);
      std::vector<Place> other;
      f.find(c.without.model, other);
      EXPECT_FALSE(c.places.empty()) << f.name << " is not found in\n" << c.source->with;
      EXPECT_EQ(!other.empty(), c.source->in_both) << f.name << " is found in\n" << c.source->without;
    }
    std::erase_if(scenes, [](const Loaded& c) { return c.places.empty(); });
    for (const Question q : all_questions) {
      const Answer wanted = answer(f, q);
      const std::string cell = fmt::format("{} / {}", f.name, to_string(q));
      ++counted[static_cast<char>(wanted)];
      bool good = false, structural = true;
      std::string said, why;
      for (const Loaded& c : scenes) {
        why.clear();
        if (wanted == Answer::refused) {
          why = wrong_place(c, q);
          good = good || why.empty();
          if (!why.empty()) ADD_FAILURE() << cell << ": " << why << " in\n" << c.source->with;
        } else if (wanted == Answer::honoured) {
          auto d = compare(c, q, 1e-9, why);
          if (d && c.places[0].kind == "probe") d = column_of(c, q, why);
          good = good || (d && !d->empty());
          if (d && d->empty() && why.empty()) why = "changes nothing";
          if (d && d->empty() && !c.source->may_agree)
            ADD_FAILURE() << cell << ": " << why << " in\n" << c.source->with;
        } else {
          if (wanted == Answer::told && !has_place(not_looked_at(c.with.model, q), c.places[0])) {
            ADD_FAILURE() << cell << ": is not told";
            continue;
          }
          const auto d = compare(c, q, 1e-9, why);
          good = good || (d && d->empty());
          if (d && !d->empty()) {
            ADD_FAILURE() << cell << ": matters: " << *d << " in\n" << c.source->with;
            why = "matters";
          }
          structural = structural && why.starts_with("without it: ");
        }
        if (!why.empty()) said += "\n    " + why;
      }
      if (!good && structural && wanted == Answer::without_effect) good = true, ++by_structure;
      if (good) {
        ++proven[static_cast<char>(wanted)];
        EXPECT_FALSE(unproven.contains(cell)) << cell << " is proven: take it from the list";
      } else if (!unproven.contains(cell)) {
        ADD_FAILURE() << cell << ": '" << static_cast<char>(wanted) << "' is not proven" << said;
      }
    }
  }
  const std::size_t features = all_features().size();
  std::printf("%zu features x %zu questions: %zu cells\n", features, std::size(all_questions),
              features * std::size(all_questions));
  for (const auto& [letter, count] : counted)
    std::printf("  '%c': %d of %d\n", letter, proven[letter], count);
  std::printf("  of those 'o' %d are refused for other reasons whatever the scene\n", by_structure);
}

}  // namespace
}  // namespace limber::scene
