// load and parse: text → document → parts → model, with every diagnostic in the file's order. Places are
// wanted after an error alone: the text is read again then, and a table of them made.
#include "limber/scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "limber/result/recording.h"
#include "limber/scene/fields.h"
#include "limber/sim/option_table.h"

namespace limber::scene {

namespace {

constexpr std::size_t max_reported = 50;

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += (text.empty() ? "" : "\n") + to_string(d);
  return text;
}

// Columns count characters, not bytes.
void count_characters(const std::string& text, const std::string& file,
                      std::vector<Diagnostic>& diagnostics) {
  std::vector<std::size_t> starts{0};
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  for (Diagnostic& d : diagnostics) {
    if (d.file != file || d.line < 1 || d.column < 1) continue;
    if (d.line > static_cast<int>(starts.size())) {
      d.line = static_cast<int>(starts.size());
      d.column = 1;
    }
    const std::size_t begin = starts[d.line - 1];
    const std::size_t end = std::min(text.size(), begin + static_cast<std::size_t>(d.column) - 1);
    for (std::size_t i = begin; i < end; ++i)
      d.column -= (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  }
}

// In the file's order, each once, and no more than a reader wants.
std::vector<Diagnostic> arrange(std::vector<Diagnostic> list, std::size_t dropped, const std::string& text,
                                const std::string& file) {
  count_characters(text, file, list);
  const auto order = [&](const Diagnostic& d) {
    return std::tuple<bool, std::string_view, int, int, std::string_view>(d.file != file, d.file, d.line,
                                                                          d.column, d.message);
  };
  std::stable_sort(list.begin(), list.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  list.erase(std::unique(list.begin(), list.end(),
                         [&](const auto& a, const auto& b) { return order(a) == order(b); }),
             list.end());
  if (list.size() > max_reported) {
    const std::size_t more = list.size() - max_reported + dropped;
    Diagnostic last = list[max_reported];
    list.resize(max_reported);
    last.path.clear();
    last.message = fmt::format("and {} more", more);
    list.push_back(std::move(last));
  }
  return list;
}

[[noreturn]] void fail(std::vector<Diagnostic> list, std::size_t dropped, const std::string& text,
                       const std::string& file) {
  throw SceneError(arrange(std::move(list), dropped, text, file));
}

// The entry "a.b" of a map: of b in a, or of as much of it as is written.
const Entry* entry_of(const Node& node, std::string_view field) {
  const Entry* found = nullptr;
  const Node* at = &node;
  while (!field.empty() && at->is_map()) {
    const std::string_view name = field.substr(0, field.find('.'));
    field.remove_prefix(std::min(field.size(), name.size() + 1));
    const Entry* entry = at->find(std::string(name));
    if (!entry) break;
    found = entry;
    at = entry->value;
  }
  return found;
}

// Where the model's own complaint belongs: its key, its entity, or the short form that made it.
Diagnostic place_of(const Reader& reader, const Problem& problem) {
  std::string name = problem.name;
  auto found = reader.origins.find(fmt::format("{} {}", problem.kind, name));
  while (found == reader.origins.end() && !name.empty()) {
    for (const char* kind : {"joint", "short form", "body", "beam"}) {
      found = reader.origins.find(fmt::format("{} {}", kind, name));
      if (found != reader.origins.end()) break;
    }
    if (found != reader.origins.end()) break;
    const std::size_t dot = name.rfind('.');
    name = dot == std::string::npos ? "" : name.substr(0, dot);
  }
  if (found == reader.origins.end()) return {reader.file, 1, 1, "", to_string(problem)};
  const Origin& origin = found->second;
  const bool of_scene = origin.path.empty() && problem.field.empty();
  const std::string said = name != problem.name || of_scene ? to_string(problem) : problem.message;
  Diagnostic d = reader.diagnostic(origin.mark, origin.path, said);
  const Entry* entry = entry_of(*origin.node, problem.field);
  if (entry) {
    const Mark& mark = entry->value->kind == NodeKind::null ? entry->key->mark : entry->value->mark;
    d.line = mark.line;
    d.column = mark.column;
    d.path += (d.path.empty() ? "" : ".") + problem.field;
  } else if (!problem.field.empty() && name == problem.name) {
    d.message = fmt::format("{}: {}", problem.field, d.message);
  }
  return d;
}

std::vector<Diagnostic> places_of(const Reader& reader, const ModelError& error, const std::string& text) {
  std::vector<Diagnostic> list;
  const std::size_t kept = std::min<std::size_t>(error.problems().size(), 1000);
  for (std::size_t i = 0; i < kept; ++i) list.push_back(place_of(reader, error.problems()[i]));
  return arrange(std::move(list), error.problems().size() - kept, text, reader.file);
}

// Keys that have a better name now. The old one is read for a release, with a line that says the new one.
struct OldWord {
  std::string_view mapping, was, is;  // "": at the root
};
const std::vector<OldWord>& old_words() {
  static const std::vector<OldWord> words = [] {
    std::vector<OldWord> all{{"", "chains", "linkages"}};
    for (const sim::RunKey& key : sim::run_keys())
      if (key.section.empty() && !key.option().was.empty())
        all.push_back({"run", key.option().was, key.option().key});
    return all;
  }();
  return words;
}

bool is_scene_key(std::string_view name) {
  return find_key(object_of(ObjectType::scene), name) != nullptr ||
         std::ranges::any_of(old_words(),
                             [&](const OldWord& w) { return w.mapping.empty() && w.was == name; });
}

const Node* mapping_at(const Document& document, std::string_view name) {
  const Node* at = document.root;
  if (at && at->is_map() && !name.empty()) {
    const Entry* entry = at->find(name);
    at = entry ? entry->value : nullptr;
  }
  return at && at->is_map() ? at : nullptr;
}

// Old words become new ones, unless both are there: then the old one is unknown.
std::vector<std::string> rename_old_words(Document& document, const std::string& file) {
  std::vector<std::string> notes;
  for (const OldWord& w : old_words()) {
    const Node* mapping = mapping_at(document, w.mapping);
    const Entry* old = mapping ? mapping->find(w.was) : nullptr;
    if (!old || mapping->find(w.is)) continue;
    for (Node& node : document.nodes)
      if (&node == old->key) node.text = w.is;
    notes.push_back(fmt::format("{}:{}:{}: {}: is called {}: now; the old word is read in this release only",
                                file, old->key->mark.line, old->key->mark.column, w.was, w.is));
  }
  return notes;
}

// What is read as it is written: no ${…} there. False: a parameter is wrong.
bool read_heading(Reader& reader, const Fields& scene) {
  const std::size_t before = reader.diagnostics.size();
  const int version = scene.integer("limber", 1);
  if (version != 1 && reader.diagnostics.size() == before)
    scene.error("limber", fmt::format("this limber reads version 1 of the scene language, not {}", version));
  reader.parts.title = scene.text("title");
  scene.text("description");
  const std::size_t errors = reader.diagnostics.size();
  reader.read_parameters(scene.has("parameters") ? &scene.node("parameters") : nullptr,
                         scene.path("parameters"));
  return reader.diagnostics.size() == errors;
}

void read_scene(Reader& reader, const Node& written) {
  const Path path;
  const Fields heading(reader, written, ObjectType::scene, path, written.mark);
  if (!written.is_map()) return;
  const bool parameters_good = read_heading(reader, heading);
  const Node* expanded = expand_repeats(reader, written, parameters_good);
  if (!expanded) return;
  const Node& root = *(reader.root = expanded);
  reader.remember("scene", "", root, root.mark, path);
  const Fields scene(reader, root, ObjectType::scene, path, root.mark);
  read_materials(scene);
  read_sections(scene);
  read_contact_surfaces(scene);
  read_bodies(scene);
  read_short_forms(scene);
  read_joints(scene);
  read_drives(scene);
  read_beams(scene);
  hang_joints_on_beams(scene);
  read_springs(scene);
  read_bushings(scene);
  read_couplings(scene);
  read_cables(scene);
  read_loops(scene);
  read_ties(scene);
  read_changes(scene);
  read_contact(scene);
  read_loads(scene);
  read_riders(scene);
  read_probes(scene);
  read_controls(scene);
  read_run(scene);
  if (reader.parts.bodies.empty() && reader.parts.beams.empty() && reader.diagnostics.empty())
    reader.error(root.mark, path, "the scene has no bodies and no beams");
}

}  // namespace

// A text as it was read, with what it says.
struct PlacesData {
  std::string text;  // normalised
  LoadOptions options;
  Document document;
  std::vector<std::string> notes;
  Reader reader;

  PlacesData(std::string normalized, const std::string& file, const LoadOptions& load,
             const std::filesystem::path& folder, const std::vector<sim::SourceFile>* embedded)
      : text(std::move(normalized)),
        options(load),
        document(read_document(text, options.limits, is_scene_key)),
        notes(rename_old_words(document, file)),
        reader(document, file, options, folder, embedded) {
    reader.keeps_places = options.keep_places;
    for (const Flaw& flaw : document.flaws) reader.error(flaw.mark, {}, flaw.message);
    if (document.root)
      read_scene(reader, *document.root);
    else if (document.flaws.empty())
      reader.error(Mark{1, 1}, {}, "the file is empty; a scene begins with \"limber: 1\"");
  }
};

namespace {

std::shared_ptr<const PlacesData> read_for_places(const std::string& source, const std::string& file,
                                                  LoadOptions options, const std::filesystem::path& folder,
                                                  const std::vector<sim::SourceFile>* embedded) {
  options.keep_places = true;
  return std::make_shared<PlacesData>(normalize_text(source), file, options, folder, embedded);
}

}  // namespace

Places::Places(const Scene& scene)
    : data_(scene.places ? scene.places
                         : read_for_places(scene.sources.front().text, scene.file, scene.options, {},
                                           &scene.sources)) {}

std::vector<Diagnostic> Places::of(const ModelError& error) const {
  return places_of(data_->reader, error, data_->text);
}

std::vector<Diagnostic> locate(const Scene& scene, const ModelError& error) {
  return Places(scene).of(error);
}

Variations::Variations(const Scene& scene)
    : data_(std::make_shared<PlacesData>(normalize_text(scene.sources.front().text), scene.file,
                                         scene.options, std::filesystem::path(), &scene.sources)) {}

std::optional<elastic::ModelNumbers> Variations::with(const std::string& name, const std::string& text) {
  Reader& reader = data_->reader;
  if (!reader.root || !reader.has_parameter(name)) return {};
  for (const std::string& user : reader.users_of(name))
    if (user != "materials" && user != "sections" && user != "loads" && user != "gravity") return {};
  reader.vary(name, text);
  ModelParts& parts = reader.parts;
  parts.materials.clear(), parts.sections.clear(), parts.point_loads.clear();
  parts.distributed_loads.clear();
  reader.material_names.clear(), reader.section_names.clear();
  const Path path;
  const Fields scene(reader, *reader.root, ObjectType::scene, path, reader.root->mark);
  read_materials(scene);
  read_sections(scene);
  read_loads(scene);
  if (!reader.diagnostics.empty()) throw SceneError(std::exchange(reader.diagnostics, {}));
  return elastic::ModelNumbers{std::move(parts.materials), std::move(parts.sections),
                               std::move(parts.point_loads), std::move(parts.distributed_loads),
                               parts.gravity};
}

std::string to_string(const Diagnostic& d) {
  std::string text = d.file;
  if (d.line > 0) text += fmt::format(":{}:{}", d.line, d.column);
  if (!text.empty()) text += ": ";
  if (!d.path.empty()) text += d.path + ": ";
  return text + d.message;
}

SceneError::SceneError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

Scene parse(const std::string& source, const std::string& file_name, const std::filesystem::path& folder,
            const LoadOptions& options, const std::vector<sim::SourceFile>* embedded) {
  const std::size_t bytes = source.size();
  if (bytes > options.limits.file_bytes)
    fail(
        {{file_name, 1, 1, "",
          fmt::format("the file has {} bytes, more than the limit of {}", bytes, options.limits.file_bytes)}},
        0, "", file_name);
  std::string text = normalize_text(source);
  if (const TextProblem problem = check_text(text); !problem.message.empty()) {
    const Mark mark = mark_at(text, problem.offset);
    fail({{file_name, mark.line, mark.column, "", problem.message}}, 0, text, file_name);
  }
  const auto data = std::make_shared<PlacesData>(std::move(text), file_name, options, folder, embedded);
  Reader& reader = data->reader;
  if (!reader.diagnostics.empty()) fail(std::move(reader.diagnostics), reader.dropped, data->text, file_name);
  try {
    Scene scene{Model(std::move(reader.parts)),
                reader.run,
                reader.parameter_list(),
                {{file_name, source}},
                file_name,
                options,
                std::move(data->notes),
                options.keep_places ? data : nullptr};
    for (sim::SourceFile& file : reader.files) scene.sources.push_back(std::move(file));
    return scene;
  } catch (const ModelError& error) {
    const auto again =
        options.keep_places ? data : read_for_places(source, file_name, options, folder, embedded);
    throw SceneError(places_of(again->reader, error, again->text));
  }
}

Scene load(const std::filesystem::path& file, const LoadOptions& options) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(file, failed);
  if (!failed && size > options.limits.file_bytes)
    fail({{file.string(), 1, 1, "",
           fmt::format("the file has {} bytes, more than the limit of {}", size, options.limits.file_bytes)}},
         0, "", file.string());
  const std::string text = result::read_file(file);
  Scene scene = parse(text, file.string(), file.parent_path(), options);
  scene.sources[0].path = file.filename().string();
  return scene;
}

}  // namespace limber::scene
