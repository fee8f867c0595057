// limber completion: scripts for shells, made from the command line's own description, so they never lag
// behind it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "app.h"
#include "bench.h"
#include "terminal.h"

namespace limber::cli {

namespace {

struct OptionWords {
  std::vector<std::string> names;    // "--out", "-q"; empty: a positional argument
  std::vector<std::string> choices;  // fixed words that it takes
  std::string about;
  bool takes_value = false, folder = false;
};

struct CommandWords {
  std::string name, about;
  std::vector<OptionWords> options;
};

// The words of a check like {csv,glb}, as the option prints it.
std::vector<std::string> choices_of(const std::string& type) {
  const auto open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords w;
  for (const std::string& name : option.get_lnames()) w.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) w.names.push_back("-" + name);
  const std::string type = option.get_type_name();
  w.choices = choices_of(type);
  w.about = option.get_description();
  std::ranges::replace(w.about, '\n', ' ');
  w.takes_value = option.get_items_expected_max() > 0;
  w.folder = type == "DIR";
  return w;
}

std::vector<CommandWords> commands_of(const CLI::App& app) {
  std::vector<CommandWords> commands;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
    CommandWords c{sub->get_name(), sub->get_description(), {}};
    for (const CLI::Option* option : sub->get_options())
      if (!option->get_group().empty()) c.options.push_back(words_of(*option));
    commands.push_back(std::move(c));
  }
  // Suites are checked against their registry, not by the parser.
  for (CommandWords& c : commands)
    for (OptionWords& o : c.options)
      if (c.name == "bench" && o.names.empty())
        for (const Suite& suite : suites()) o.choices.emplace_back(suite.name);
  return commands;
}

std::string option_names(const CommandWords& c) {
  std::vector<std::string> names;
  for (const OptionWords& o : c.options) names.insert(names.end(), o.names.begin(), o.names.end());
  return fmt::format("{}", fmt::join(names, " "));
}

std::string command_names(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  for (const CommandWords& c : commands) names.push_back(c.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Calls visit(command, patterns of option names, option) for options that take a value.
template <class Visit>
void each_valued_option(const std::vector<CommandWords>& commands, Visit visit) {
  for (const CommandWords& c : commands)
    for (const OptionWords& o : c.options)
      if (o.takes_value && !o.names.empty()) visit(c, o);
}

// What both bash and zsh run: fills `candidates` for the word being typed, or leaves it empty for a file
// name.
std::string choose_words(const std::vector<CommandWords>& commands) {
  std::string text = "  case \"$command:$previous\" in\n";
  each_valued_option(commands, [&](const CommandWords& c, const OptionWords& o) {
    for (const std::string& name : o.names)
      text +=
          fmt::format("    {}:{}) {} return ;;\n", c.name, name,
                      o.folder ? "kind=folder;" : fmt::format("candidates='{}';", fmt::join(o.choices, " ")));
  });
  text += "  esac\n  case \"$current\" in\n    -*)\n      case \"$command\" in\n";
  for (const CommandWords& c : commands)
    text += fmt::format("        {}) candidates='{}' ;;\n", c.name, option_names(c));
  text += "      esac\n      return ;;\n  esac\n  case \"$command\" in\n";
  for (const CommandWords& c : commands)
    for (const OptionWords& o : c.options)
      if (o.names.empty() && (o.folder || !o.choices.empty()))
        text +=
            fmt::format("    {}) {} ;;\n", c.name,
                        o.folder ? "kind=folder" : fmt::format("candidates='{}'", fmt::join(o.choices, " ")));
  return text + "  esac\n";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  return fmt::format(R"(# bash completion of limber: source <(limber completion bash)
_limber_words() {{
{}}}
_limber() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  local candidates='' kind=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    candidates='{} --help --version'
  else
    _limber_words
  fi
  if [ -n "$candidates" ]; then
    COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  elif [ "$kind" = folder ]; then
    COMPREPLY=($(compgen -d -- "$current"))
  fi
}}
complete -o bashdefault -o default -F _limber limber
)",
                     choose_words(commands), command_names(commands));
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  return fmt::format(R"(#compdef limber
# zsh completion of limber: source <(limber completion zsh), after compinit
_limber_words() {{
{}}}
_limber() {{
  local current="${{words[CURRENT]}}" previous="${{words[CURRENT-1]}}" command="${{words[2]}}"
  local candidates='' kind=''
  if (( CURRENT == 2 )); then
    candidates='{} --help --version'
  else
    _limber_words
  fi
  if [[ -n "$candidates" ]]; then
    compadd -- ${{=candidates}}
  elif [[ "$kind" = folder ]]; then
    _files -/
  else
    _files
  fi
}}
compdef _limber limber
)",
                     choose_words(commands), command_names(commands));
}

std::string quoted(std::string text) {  // for fish, in single quotes
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\'' || text[i] == '\\') text.insert(i++, "\\");
  return "'" + text + "'";
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# fish completion of limber: limber completion fish | source\n";
  for (const CommandWords& c : commands)
    text +=
        fmt::format("complete -c limber -n __fish_use_subcommand -f -a {} -d {}\n", c.name, quoted(c.about));
  for (const CommandWords& c : commands)
    for (const OptionWords& o : c.options) {
      text += fmt::format("complete -c limber -n '__fish_seen_subcommand_from {}'", c.name);
      for (const std::string& name : o.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (o.takes_value && !o.names.empty()) text += o.choices.empty() ? " -r" : " -x";
      if (o.names.empty() && !o.choices.empty()) text += " -f";
      if (!o.choices.empty())
        text += fmt::format(" -a {}", quoted(fmt::format("{}", fmt::join(o.choices, " "))));
      if (o.choices.empty() && o.folder) text += " -a '(__fish_complete_directories)'";
      text += fmt::format(" -d {}\n", quoted(o.about));
    }
  return text;
}

}  // namespace

void add_completion(CLI::App& app, int& code) {
  auto shell = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("completion", "print a completion script for a shell");
  sub->add_option("shell", *shell, "shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  sub->footer("Example (bash; put it into ~/.bashrc to keep it):\n  source <(limber completion bash)");
  sub->callback([shell, &app, &code] {
    const std::vector<CommandWords> commands = commands_of(app);
    out(*shell == "bash"  ? bash_script(commands)
        : *shell == "zsh" ? zsh_script(commands)
                          : fish_script(commands));
    code = ExitCode::done;
  });
}

}  // namespace limber::cli
