// limber new: a first scene, with comments.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "app.h"
#include "errors.h"
#include "limber/result/recording.h"
#include "templates.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct NewArguments {
  std::string name, kind, out;
  bool list = false, force = false;
};

const Template& find_template(const std::string& name) {
  for (const Template& t : templates())
    if (name == t.name) return t;
  throw UsageError(fmt::format("no template '{}'", name));
}

bool is_template(const std::string& name) {
  return std::ranges::any_of(templates(), [&](const Template& t) { return name == t.name; });
}

// NAME alone may be the name of a template.
std::string kind_of(const NewArguments& a) {
  return !a.kind.empty() ? a.kind : is_template(a.name) ? a.name : "chain";
}

std::filesystem::path file_of(const NewArguments& a) {
  if (!a.out.empty()) return a.out;
  const std::filesystem::path name = a.name.empty() ? kind_of(a) : a.name;
  return name.extension() == ".yaml" || name.extension() == ".yml"
             ? name
             : std::filesystem::path(name.string() + ".yaml");
}

int make_scene(const NewArguments& a) {
  if (a.list) {
    Rows rows;
    for (const Template& t : templates()) rows.emplace_back(t.name, t.about);
    out(format_rows(rows, ""));
    return ExitCode::done;
  }
  const Template& chosen = find_template(kind_of(a));
  const std::filesystem::path file = file_of(a);
  std::error_code error;
  if (!a.force && std::filesystem::exists(file, error))
    throw UsageError(
        fmt::format("{} exists already: choose another name, or replace it with --force", file.string()));
  result::write_atomically(file, chosen.text);
  message(fmt::format("wrote {}: {}\n\nNext:\n  limber run {}", file.string(), chosen.about, file.string()));
  return ExitCode::done;
}

}  // namespace

void add_new(CLI::App& app, int& code) {
  auto a = std::make_shared<NewArguments>();
  std::vector<std::string> names;
  for (const Template& t : templates()) names.emplace_back(t.name);
  CLI::App* sub = app.add_subcommand("new", "write a first scene, with comments");
  sub->add_option("name", a->name, "name of the scene; NAME.yaml is written");
  sub->add_option("--template", a->kind, "what to begin with (default: chain)")->check(CLI::IsMember(names));
  sub->add_option("--out", a->out, "file to write instead")->type_name("FILE");
  sub->add_flag("--list", a->list, "only list the templates");
  sub->add_flag("--force", a->force, "replace a file that exists");
  sub->footer("Example:\n  limber new arm --template beam");
  sub->callback([a, &code] { code = make_scene(*a); });
}

}  // namespace limber::cli
