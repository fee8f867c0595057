// A scene's text as dictionaries, lists, numbers and texts, to be edited and written again (limber/_yaml.py).
#include <nanobind/stl/string.h>

#include <charconv>

#include "limber/scene/document.h"
#include "limber/scene/expression.h"
#include "scene.h"

namespace limber::python {

namespace nb = nanobind;

namespace {

nb::object scalar_of(const scene::Node& node) {
  const std::string_view text = node.text;
  if (!node.quoted) {
    if (text == "true") return nb::bool_(true);
    if (text == "false") return nb::bool_(false);
    long whole = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), whole);
    if (read.ec == std::errc() && read.ptr == text.data() + text.size()) return nb::int_(whole);
    if (const auto number = scene::parse_number(text)) return nb::float_(*number);
  }
  return nb::str(text.data(), text.size());
}

nb::object object_of(const scene::Node& node) {
  switch (node.kind) {
    case scene::NodeKind::null:
      return nb::none();
    case scene::NodeKind::scalar:
      return scalar_of(node);
    case scene::NodeKind::sequence: {
      nb::list out;
      for (const scene::Node* item : node.items) out.append(object_of(*item));
      return out;
    }
    case scene::NodeKind::map: {
      nb::dict out;
      for (const scene::Entry& e : node.entries)
        out[nb::str(e.key->text.data(), e.key->text.size())] = object_of(*e.value);
      return out;
    }
  }
  return nb::none();
}

// Aliases are expanded; what a hostile text would make of them ends at the limits.
nb::object read_tree(const std::string& text, const std::string& name) {
  scene::Limits limits;
  limits.values = 2'000'000;
  const std::string normal = scene::normalize_text(text);
  if (const scene::TextProblem problem = scene::check_text(normal); !problem.message.empty()) {
    const scene::Mark mark = scene::mark_at(normal, problem.offset);
    throw scene::SceneError({{name, mark.line, mark.column, "", problem.message}});
  }
  const scene::Document doc = scene::read_document(normal, limits, [](std::string_view) { return true; });
  std::vector<scene::Diagnostic> wrong;
  for (const scene::Flaw& f : doc.flaws) wrong.push_back({name, f.mark.line, f.mark.column, "", f.message});
  if (!wrong.empty()) throw scene::SceneError(std::move(wrong));
  return doc.root ? object_of(*doc.root) : nb::none();
}

}  // namespace

void bind_tree(nb::module_& m) {
  m.def("read_tree", &read_tree, nb::arg("text"), nb::arg("name"),
        "The text of a scene as dictionaries, lists, numbers and texts.");
}

}  // namespace limber::python
