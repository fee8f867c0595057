// Mutated scenes: whatever the bytes, parse returns or throws SceneError, quickly.
//
//   scene_fuzz RUNS [SEED]     deterministic; mutates the shipped scenes
// With LIMBER_FUZZ and clang the same check is a libFuzzer target.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "limber/scene/scene.h"

#ifndef LIMBER_LIBFUZZER
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#endif

namespace {

using namespace limber::scene;

// True if the text loads. Small limits keep one case short; a diagnostic without a place is a failure.
bool check(const std::string& text) {
  static const std::vector<limber::sim::SourceFile> no_files;
  LoadOptions options;
  options.limits.entities = 20'000;
  try {
    const Scene scene = parse(text, "fuzz.yaml", {}, options, &no_files);
    if (scene.model.bodies().size() > 300) return true;
    const Scene again = parse(write_yaml(scene.model, scene.run), "written.yaml", {}, options, &no_files);
    if (again.model.bodies().size() != scene.model.bodies().size()) {
      std::fprintf(stderr, "a written scene has another number of bodies\n");
      std::abort();
    }
    return true;
  } catch (const SceneError& error) {
    for (const Diagnostic& d : error.diagnostics())
      if (d.line < 1 || d.column < 1 || d.message.empty() || d.file != "fuzz.yaml") {
        std::fprintf(stderr, "a diagnostic without a place: %s\n", to_string(d).c_str());
        std::abort();
      }
    return false;
  }
}

}  // namespace

#ifdef LIMBER_LIBFUZZER

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

#else

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_;
};

std::string repeat(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

class Mutator {
 public:
  Mutator(const std::vector<std::string>& corpus, Random& random) : corpus_(corpus), random_(random) {}

  std::string make() {
    text_ = pick(corpus_);
    for (std::size_t n = 1 + random_.below(4); n > 0; --n) mutate();
    return text_;
  }

 private:
  const std::string& pick(const std::vector<std::string>& list) { return list[random_.below(list.size())]; }
  std::size_t place() { return random_.below(text_.size() + 1); }
  std::size_t line_start() {
    const std::size_t at = text_.rfind('\n', place());
    return at == std::string::npos ? 0 : at + 1;
  }
  std::size_t line_length(std::size_t start) {
    return std::min(text_.find('\n', start), text_.size()) - start;
  }

  void mutate() {
    static const std::vector<std::string> tokens = {"nan",
                                                    "inf",
                                                    "-inf",
                                                    "1e999",
                                                    "-1",
                                                    "0",
                                                    "1e-320",
                                                    "99999999999999999999",
                                                    "2147483648",
                                                    "-0.0",
                                                    "1e9",
                                                    "true",
                                                    "null",
                                                    "~",
                                                    "''",
                                                    "[]",
                                                    "{}",
                                                    "*a",
                                                    "&a ",
                                                    "!!str ",
                                                    "!x ",
                                                    "|\n",
                                                    ">\n",
                                                    "? ",
                                                    ": ",
                                                    "- ",
                                                    "#",
                                                    "%",
                                                    "@",
                                                    "`",
                                                    "\t",
                                                    "\r\n",
                                                    "\\",
                                                    "---\n",
                                                    "...\n",
                                                    "<<: *a",
                                                    "=t",
                                                    "=1/0",
                                                    "sin(",
                                                    "if(1,2,3)",
                                                    "2 mm",
                                                    "3 s",
                                                    "kg",
                                                    "world",
                                                    "\xef\xbb\xbf",
                                                    "\xc2\xb5",
                                                    "\xff",
                                                    std::string(1, '\0'),
                                                    "\x04",
                                                    "\"",
                                                    "'",
                                                    "0x7f",
                                                    "1_000",
                                                    "1:30",
                                                    "%YAML 1.2\n",
                                                    "%TAG ! a\n",
                                                    "{a: &b [*b]}",
                                                    "position",
                                                    "${i}",
                                                    "${",
                                                    "${1/0}",
                                                    "${links - 1}",
                                                    "repeat: {i: 3}, ",
                                                    "repeat: {i: [1, 4], j: i}, ",
                                                    "{i: 1e9}",
                                                    "EA"};
    static const std::vector<std::string> open = {"[",   "{",   "{a: ", "- ",  "? ", "(",
                                                  "'\"", "\n ", "[\n",  "- [", "!",  "&a "};
    switch (random_.below(12)) {
      case 0:
        text_.insert(place(), pick(tokens));
        break;
      case 1:
        flip();
        break;
      case 2:
        text_.erase(std::min(place(), text_.size()), 1 + random_.below(20));
        break;
      case 3:
        replace_number(pick(tokens));
        break;
      case 4:
        duplicate_line();
        break;
      case 5:
        erase_line();
        break;
      case 6:
        splice();
        break;
      case 7:
        text_.insert(place(), repeat(pick(open), 1 + random_.below(200)));
        break;
      case 8:
        swap_lines();
        break;
      case 9:
        text_.resize(place());
        break;
      case 10:
        alias();
        break;
      default:
        replace_word(pick(tokens));
        break;
    }
    if (text_.size() > 50'000) text_.resize(50'000);
  }

  void flip() {
    if (text_.empty()) return;
    char& c = text_[random_.below(text_.size())];
    c = static_cast<char>(c ^ (1 << random_.below(8)));
  }
  void replace_number(const std::string& with) {
    const std::size_t begin = text_.find_first_of("0123456789", place());
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text_.find_first_not_of("0123456789.e", begin), text_.size());
    text_.replace(begin, end - begin, with);
  }
  void replace_word(const std::string& with) {
    const std::size_t begin = text_.find(' ', place());
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text_.find_first_of(" ,]}\n", begin + 1), text_.size());
    text_.replace(begin + 1, end - begin - 1, with);
  }
  void duplicate_line() {
    const std::size_t start = line_start();
    const std::string line = text_.substr(start, line_length(start)) + "\n";
    text_.insert(line_start(), repeat(line, 1 + random_.below(3)));
  }
  void erase_line() {
    const std::size_t start = line_start();
    text_.erase(start, line_length(start) + 1);
  }
  void swap_lines() {
    const std::size_t start = line_start();
    const std::string line = text_.substr(start, line_length(start)) + "\n";
    text_.erase(start, line.size());
    text_.insert(line_start(), line);
  }
  void splice() {
    const std::string& other = pick(corpus_);
    const std::size_t from = random_.below(other.size());
    text_.insert(place(), other.substr(from, random_.below(300)));
  }
  // An anchor on one value, an alias for another.
  void alias() {
    const std::size_t a = text_.find(": ", place());
    if (a == std::string::npos) return;
    text_.insert(a + 2, "&z ");
    const std::size_t b = text_.find(": ", a + 6);
    if (b == std::string::npos) return;
    const std::size_t end = std::min(text_.find_first_of(",}\n", b), text_.size());
    text_.replace(b + 2, end > b + 2 ? end - b - 2 : 0, "*z");
  }

  const std::vector<std::string>& corpus_;
  Random& random_;
  std::string text_;
};

// What the shipped scenes do not have.
const char* const more_scenes[] = {
    R"(limber: 1
materials: {m: {E: 3 GPa, density: 1200 kg/m3}}
sections: {p: {polygon: {outline: [[0, 0], [1, 0], [1, 1]]}}, t: {tube: {outer: 2 mm, inner: 1 mm}}, e: {ellipse: {a: 1, b: 2}}}
bodies: {a: {sphere: 1, fixed: true}, b: {cylinder: {radius: 1, length: 2}, at: [0, 0, 3], velocity: [1, 0, 0]}}
beams: {f: {from: a, path: {arc: {radius: 1, angle: 1}}, material: m, section: p}, g: {from: f.tip, path: {helix: {radius: 1, pitch: 1, turns: 2}}, material: m, section: t}}
springs: {s: {between: [a, b], stiffness: 4 kN/m, tension_only: true}}
loads: {l: {on: g@0.5, force: [{table: [[0, 1], [2, 3]], periodic: true}, sin(t), 0]}, d: {along: f, force_per_length: [0, 0, 1]}}
probes: [s.tension, f.tip.position, {name: x, quantity: joint_position, joint: b.joint}]
)",
    R"(limber: 1
ladders: {l: {rungs: 3, spacing: 30 cm, width: 40 cm}}
helices: {h: {links: 9, coil: 1, pitch: 1, turns: 2, joint: universal}}
linkages: {c: {from: l.left.tip, links: 4, length: 1, alternate: true, limits: [-1, 1]}}
joints: {k: {type: planar, child: x, parent: c.last, limits: [[-1, 1], [-1, 1], 1]}}
bodies: {x: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], com: [0, 0, 1]}}
loops: {o: {type: spherical, a: x, b: h.last, at: h.tip}}
drives: [{joint: c.0.joint, servo: {target: t, kp: 1, kd: 2}}]
motions: [{joint: c.1.joint, position: 20 deg * sin(2*pi*t)}]
wind: {velocity: {table: [[0, 1, 2, 3], [1, 2, 3, 4]]}}
)",
    R"(limber: 1
parameters: {n: 4}
linkages: {"c${i}": {repeat: {i: 2}, links: n + i, length: 1, bend: 3 deg, first_joint: {stiffness: 1}}}
bodies: {"b.${l}.${k}": {repeat: {l: 3, k: 2^l}, shapes: [{repeat: {m: k + 1}, box: [1, 1, 1 + m]}], at: [l, k, 0]}}
springs: {"s.${l}.${k}": {repeat: {l: [1, 2], k: 2^l}, between: ["b.${l}.${k}", "b.${l-1}.${floor(k/2)}"], EA: 3 N}}
riders: {r: {on: c1, mass: 3 kg, position: 2*t}, q: {on: [{repeat: {i: 3}, body: "c0.${i}", from: [0, 0, 0], to: [1, 0, 0]}], mass: 1, position: 0}}
probes: [r.position, "c1.${n - 1}.position", {repeat: {i: 3}, name: "p${i}", quantity: position, on: "c0.${i}"}]
)"};

}  // namespace

int main(int argc, char** argv) {
  const long runs = argc > 1 ? std::atol(argv[1]) : 1000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::vector<std::string> corpus(std::begin(more_scenes), std::end(more_scenes));
  for (const auto& entry : std::filesystem::directory_iterator(LIMBER_SCENES)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ifstream in(entry.path());
    std::ostringstream text;
    text << in.rdbuf();
    std::string scene = text.str();
    // The largest scenes at a size that a case can afford.
    for (const auto& [large, small] : {std::pair{"bodies: 50000", "bodies: 50"}, {"legs: 1000", "legs: 5"}})
      if (const auto at = scene.find(large); at != std::string::npos)
        scene.replace(at, std::string_view(large).size(), small);
    corpus.push_back(std::move(scene));
  }
  std::sort(corpus.begin(), corpus.end());
  for (const std::string& text : corpus)
    if (!check(text)) {
      std::fprintf(stderr, "a scene of the corpus does not load:\n%s", text.c_str());
      return 1;
    }

  Random random(seed);
  Mutator mutator(corpus, random);
  long good = 0, slow = 0;
  double slowest = 0;
  const char* keep = std::getenv("SCENE_FUZZ_KEEP");  // a file for the case at hand, to look at after a crash
  for (long i = 0; i < runs; ++i) {
    const std::string text = mutator.make();
    if (keep) std::ofstream(keep, std::ios::binary) << text;
    const std::clock_t start = std::clock();
    good += check(text);
    const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    slowest = std::max(slowest, seconds);
    if (seconds > 1) {
      ++slow;
      std::fprintf(stderr, "case %ld took %.2f s\n", i, seconds);
    }
  }
  std::printf("%ld cases, seed %llu: %ld loaded, %ld refused, %ld slow, slowest %.3f s\n", runs,
              static_cast<unsigned long long>(seed), good, runs - good, slow, slowest);
  return slow > runs / 1000 ? 1 : 0;
}

#endif
