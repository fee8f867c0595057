// limber schema: every key of a scene, for editors or for people.
#include <CLI/CLI.hpp>

#include "app.h"
#include "limber/model/features.h"
#include "limber/scene/scene.h"
#include "terminal.h"

namespace limber::cli {

void add_schema(CLI::App& app, int& code) {
  auto reference = std::make_shared<bool>(false), methods = std::make_shared<bool>(false);
  CLI::App* sub = app.add_subcommand(
      "schema", "print the JSON Schema of scenes, their reference page, or what each method takes");
  auto* page = sub->add_flag("--reference", *reference, "the reference page (Markdown) instead");
  sub->add_flag("--methods", *methods, "the table of features and methods (Markdown) instead")
      ->excludes(page);
  sub->footer(
      "With the YAML extension of an editor, the first line '# yaml-language-server: "
      "$schema=limber.schema.json'\n"
      "of a scene brings completion and checks while typing.\n\nExample:\n  limber schema > "
      "limber.schema.json");
  sub->callback([reference, methods, &code] {
    const std::string text = *methods     ? methods_markdown()
                             : *reference ? scene::reference_markdown()
                                          : scene::schema_json();
    out(text);
    if (!text.ends_with('\n')) out("\n");
    code = ExitCode::done;
  });
}

}  // namespace limber::cli
