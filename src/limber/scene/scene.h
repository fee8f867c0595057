// Scenes: YAML text in, a Model and the options to run it out. Errors carry file, line and column, all of
// them at once.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "limber/elastic/number_rates.h"
#include "limber/model/model.h"
#include "limber/sim/options.h"
#include "limber/sim/run.h"

namespace limber::scene {

struct Diagnostic {
  std::string file;
  int line = 0, column = 0;  // from 1; 0: not in a file (a --set on the command line)
  std::string path;          // "beams.finger.length"
  std::string message;       // "expected a positive length, got -0.3"; may end with a suggestion
};
std::string to_string(const Diagnostic& d);  // arm.yaml:14:7: beams.finger.length: expected …

class SceneError : public std::runtime_error {
 public:
  explicit SceneError(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

// Guards against hostile files; generous for honest ones.
struct Limits {
  std::size_t file_bytes = 64u << 20;
  int depth = 64;
  std::size_t values = 10'000'000;   // of the file itself: 50,000 bodies written out in full have 5e6
  std::size_t nodes = 4'000'000;     // that aliases or repetition add
  std::size_t entities = 2'000'000;  // bodies, joints, springs, … that short forms may make
};

struct LoadOptions {
  std::vector<std::pair<std::string, std::string>>
      set;  // parameters: name, value as written in a scene ("3 mm")
  Limits limits;
  bool keep_places = false;  // for who will ask for them (Places), so that the text is not read again
};

struct PlacesData;

struct Parameter {
  std::string name, text;  // as written
  double value = 0;        // SI
  std::string unit;        // SI unit of the value, "" for a pure number
};

struct Scene {
  Model model;
  sim::RunOptions run;
  std::vector<Parameter> parameters;
  std::vector<sim::SourceFile> sources;      // the scene file first, then the files it names
  std::string file;                          // its name in diagnostics
  LoadOptions options;                       // it was read with
  std::vector<std::string> notes;            // for who wrote it: words that have a new name
  std::shared_ptr<const PlacesData> places;  // if it was read to keep them
};

Scene load(const std::filesystem::path& file,
           const LoadOptions& options = {});  // SceneError, result::IoError
// The same from text; files it names are looked for in `folder`, or, when `embedded` is given, only there.
Scene parse(const std::string& text, const std::string& file_name, const std::filesystem::path& folder = {},
            const LoadOptions& options = {}, const std::vector<sim::SourceFile>* embedded = nullptr);

// Where in the file the things of a scene stand; if the scene has not kept them its text is read again, once
// for any number of questions.
class Places {
 public:
  explicit Places(const Scene& scene);  // which must outlive it
  // What a method says against the scene's model, each at the place that it is about.
  std::vector<Diagnostic> of(const ModelError& error) const;

 private:
  std::shared_ptr<const PlacesData> data_;
};
std::vector<Diagnostic> locate(const Scene& scene, const ModelError& error);  // the same, for one

// A scene with a parameter a little different, without reading all of it again.
class Variations {
 public:
  explicit Variations(const Scene& scene);
  // What the parameter has a say in; nothing where that is more than numbers of materials, sections, loads
  // and gravity. `text`: its value, as written in a scene. Throws SceneError where the value is wrong.
  std::optional<elastic::ModelNumbers> with(const std::string& name, const std::string& text);

 private:
  std::shared_ptr<PlacesData> data_;
};

std::string schema_json();         // JSON Schema (draft 7) for editors, from the table of keys
std::string reference_markdown();  // docs/scene.md, from the same table

// The model and options written out as a scene without short forms or parameters; reading it back gives the
// same model.
std::string write_yaml(const Model& model, const sim::RunOptions& run);

}  // namespace limber::scene
