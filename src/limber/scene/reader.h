// The state of reading one scene: diagnostics, parameters, names, and the model's parts as they grow.
#pragma once

#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "limber/scene/document.h"
#include "limber/scene/expression.h"
#include "limber/scene/keys.h"
#include "limber/scene/scene.h"

namespace limber::scene {

// Where in the document: "beams.finger.path[1]", put together only when a message needs it.
struct Path {
  const Path* up = nullptr;
  std::string_view name;
  int index = -1;
  std::string text() const;
};

// An entity's node, to find the place of what the model's own checks report.
struct Origin {
  const Node* node = nullptr;
  Mark mark;  // of its name
  std::string path;
};

// Bodies prefix.0 … prefix.(count−1) and their joints, made by a short form, one after the other in the
// parts.
struct Series {
  std::string name;
  int first_body = 0, first_joint = 0, count = 0;
  int first_leaf = -1;  // of a tree, counted from first_body
  const Node* node = nullptr;
};

class Reader {
 public:
  Reader(const Document& document, std::string file_name, const LoadOptions& load_options,
         std::filesystem::path scene_folder, const std::vector<sim::SourceFile>* embedded_files);

  // --- diagnostics
  void error(const Mark& mark, const Path& path, std::string message);
  void error(const Node& node, const Path& path, std::string message) {
    error(node.mark, path, std::move(message));
  }
  void command_line_error(const std::string& name, std::string message);
  Diagnostic diagnostic(const Mark& mark, std::string path, std::string message) const;
  bool many_errors() const {
    return diagnostics.size() > 50;
  }  // suggestions are not worth their time any more
  std::vector<Diagnostic> diagnostics;
  std::size_t dropped = 0;  // beyond what is kept

  // --- scalars (reader.cpp)
  std::optional<Expression> expression(const Node& node, const Path& path, const Dimension& expected,
                                       const Variable& variable);
  std::optional<Expression> expression(const Node& node, const Path& path, const Dimension& expected,
                                       bool allow_time) {
    return expression(node, path, expected, allow_time ? Variable{"t", dimension::time} : Variable{});
  }
  // One number of `expected` dimension within `range`; infinite ones only if allowed.
  std::optional<double> quantity(const Node& node, const Path& path, const Dimension& expected,
                                 Range range = Range::any, bool infinite = false);
  std::optional<std::vector<double>> quantities(const Node& node, const Path& path, const Dimension& expected,
                                                int count, Range range = Range::any);
  std::optional<Vec3> vector(const Node& node, const Path& path, const Dimension& expected,
                             Range range = Range::any);
  std::optional<Vec3> axis(const Node& node, const Path& path);  // unit
  std::optional<Mat3> rotation(const Node& node, const Path& path);
  bool check_name(const Node& key, const Path& path);
  // The value of the expression that stands `offset` bytes into the text of `node`, in `scope`.
  std::optional<Quantified> value_within(const Node& node, const Path& path, std::string_view text,
                                         std::size_t offset, const Scope* scope);

  // --- parameters (parameters.cpp)
  // Another value of one parameter, all others as they were read; evaluates all of them again.
  void vary(const std::string& name, std::string text);
  // Which lists of the scene a parameter has a say in ("sections"), by itself and through other parameters;
  // "": somewhere else.
  std::set<std::string> users_of(const std::string& name) const;
  void read_parameters(const Node* node, const Path& path);
  std::vector<Parameter> parameter_list() const;
  bool has_parameter(std::string_view name) const { return parameters_.count(std::string(name)) > 0; }

  // --- functions of time (functions.cpp); `ramp` 0: none
  TimeFunction function(const Node& node, const Path& path, const Dimension& expected, double ramp = 0);
  VectorFunction vector_function(const Node& node, const Path& path, const Dimension& expected,
                                 double ramp = 0);

  // --- laws: a force by x (a stretch) or v (a rate)
  Law law(const Node& node, const Path& path, const Dimension& expected, const Variable& variable);

  // The text of a file in the scene's folder, remembered among `files`.
  std::optional<std::string> file_text(const Node& node, const Path& path);

  // --- names (references.cpp)
  bool names_beam(const Node& node) const;  // "arm.tip", "arm.root" or "arm@…" of a beam of the scene
  std::optional<BodyId> find_body(std::string_view name) const;
  std::optional<JointId> find_joint(std::string_view name) const;
  std::optional<Attachment> find_place(std::string_view text, std::string& note) const;
  std::optional<BodyId> body(const Node& node, const Path& path, bool allow_world = true);
  std::optional<JointId> joint(const Node& node, const Path& path);
  std::optional<Attachment> place(const Node& node, const Path& path);
  std::string suggest_body(std::string_view name) const;
  std::string suggest_joint(std::string_view name) const;
  std::string suggest_spring(std::string_view name) const;
  std::string suggest_rider(std::string_view name) const;
  std::string suggest_chain(std::string_view name) const;
  void remember(const char* kind, std::string_view name, const Node& node, const Mark& mark,
                const Path& path);
  const Series* find_series(std::string_view name) const;
  void add_series(Series series);
  bool claim_entities(double count, const Mark& mark, const Path& path);  // false: over the limit, reported

  // The pose of a body with all joints at 0, found by climbing to a written pose.
  Pose reference_pose(BodyId id);
  // Its pose at t = 0; once all joints are read.
  Pose start_pose(BodyId id);

  const Document& document;
  std::string file;
  const LoadOptions& options;
  std::filesystem::path folder;
  const std::vector<sim::SourceFile>* embedded;
  std::vector<sim::SourceFile> files;  // read besides the scene

  // What repetitions made (repeat.cpp).
  std::deque<Node> made_nodes;
  std::deque<std::string> made_texts;
  std::deque<Scope> scopes;

  ModelParts parts;
  sim::RunOptions run;
  struct BodyExtra {
    Pose written;             // at, rotate
    bool has_pose = false;    // one of them was given
    int relative_joint = -1;  // a joint with explicit frames
    int own_joint = -1;       // made for it because it floats or is fixed: "body.joint"
  };
  std::vector<BodyExtra> extras;                 // of each body
  std::vector<int> joint_of;                     // of each body, -1: none; once all joints are read
  std::set<std::string, std::less<>> beam_keys;  // names under `beams`, before these are read
  struct JointOnBeam {
    std::string name;
    const Node* node;
    Mark mark;
    bool given;  // its frames
  };
  std::vector<JointOnBeam> joints_on_beams;
  std::unordered_map<std::string_view, int> body_names, joint_names, beam_names, spring_names, material_names,
      section_names, surface_names, rider_names;
  const Node* root = nullptr;                       // with repetitions written out
  std::string_view reading;                         // the list at hand; "": none
  bool keeps_places = false;                        // else there are no origins
  std::unordered_map<std::string, Origin> origins;  // by "kind name"

 private:
  struct ParameterState {
    enum { fresh, active, done, failed } state = fresh;
    const Node* node = nullptr;
    Mark mark;
    std::string text;
    bool from_command_line = false;
    Quantified value;
    std::set<std::string, std::less<>> users;  // lists, and parameters as "parameters.name"
  };
  std::optional<Quantified> look_up(std::string_view name, std::string& note);
  Lookup lookup_in(const Scope* scope);  // indices, then parameters
  void evaluate(const std::string& name, ParameterState& parameter);
  std::string suggest_parameter(std::string_view name) const;
  struct TableKind;
  std::optional<std::vector<std::vector<double>>> table_rows(const Node& node, const Path& path,
                                                             const Dimension& expected, const TableKind& kind,
                                                             bool& periodic);

  bool rows_of_file(const class Fields& fields, const std::string& text, const Dimension& expected,
                    const TableKind& kind, std::vector<std::vector<double>>& rows);
  std::optional<double> unit_factor(const class Fields& fields, const std::string& given,
                                    const struct Csv& csv, std::size_t column, const Dimension& expected);

  std::unordered_map<std::string_view, Unit> units_;  // behind numbers so far: " mm"
  std::vector<std::string> parameter_order_;
  std::unordered_map<std::string, ParameterState> parameters_;
  int parameter_depth_ = 0;
  struct Varied {
    std::string name, text;
    bool from_command_line = false;
  };
  std::optional<Varied> varied_;  // as it was read
  std::string active_parameter_;
  std::vector<Series> series_;
  std::unordered_map<std::string, int> series_names_;
  double entities_ = 0;
  std::vector<Pose> reference_;
  std::vector<char> reference_state_;  // 0 unknown, 1 climbing, 2 known
  std::vector<Pose> start_;
  std::vector<char> start_known_;
};

// The scene with its repetitions written out and every ${…} replaced (repeat.cpp); null: an error was
// reported.
const Node* expand_repeats(Reader& reader, const Node& root, bool parameters_good);

std::string expected_text(const Dimension& dimension, Range range);
std::string quoted(std::string_view text);  // "…", cut if long

}  // namespace limber::scene
