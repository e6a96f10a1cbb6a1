// SPDX-License-Identifier: Apache-2.0
// help, man, completion: what the program says of itself.
#include <memory>

#include "driver/commands.h"
#include "options/options.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

using options::Command;
using options::Path;

// The command that the words name; an empty path after a message.
Path find_path(const std::string& title, const std::vector<std::string>& words) {
  static const Command program = command_line();
  Path path = {&program};
  for (const std::string& word : words) {
    const Command* below = path.back()->find(word);
    if (below == nullptr) {
      std::vector<std::string> names, helps;
      for (const Command& c : path.back()->commands) names.push_back(c.name);
      for (const std::string& near : closest(word, names, 1))
        helps.push_back("did you mean the command '" + near + "'?");
      helps.push_back("'" + options::title_of(path) + " --help' shows how to use it");
      options::usage_error(title, options::title_of(path) + " has no command '" + escape_for_display(word) + "'",
                           helps);
      return {};
    }
    path.push_back(below);
  }
  return path;
}

std::vector<std::string> command_names() {
  std::vector<std::string> out;
  for (const Command& c : command_line().commands) out.push_back(c.name);
  return out;
}

options::Option command_argument(std::vector<std::string>& words) {
  return {.names = "COMMAND",
          .target = &words,
          .help = "A command, and its subcommand if it has any (default: aotc itself)",
          .offers = command_names};
}

Command help() {
  struct State {
    std::vector<std::string> words;
    bool tables = false;
  };
  auto s = std::make_shared<State>();
  return {.name = "help",
          .summary = "Show the help of a command",
          .options = {command_argument(s->words),
                      {.names = "--markdown",
                       .target = &s->tables,
                       .help = "Print all commands and their options as Markdown tables"}},
          .run = [s]() -> int {
            Path path = find_path("aotc help", s->words);
            if (path.empty()) return kExitUsage;
            write_out(s->tables ? options::markdown(*path.front()) : options::help_text(path));
            return kExitDone;
          }};
}

Command man() {
  auto words = std::make_shared<std::vector<std::string>>();
  return {.name = "man",
          .summary = "Write a man page to standard output: aotc man check | man -l -",
          .options = {command_argument(*words)},
          .run = [words]() -> int {
            Path path = find_path("aotc man", *words);
            if (path.empty()) return kExitUsage;
            write_out(options::man_page(path));
            return kExitDone;
          }};
}

Command completion() {
  auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .summary = "Write a completion script for a shell",
          .description =
              "bash: eval \"$(aotc completion bash)\" in ~/.bashrc.\n"
              "zsh: aotc completion zsh > FOLDER/_aotc, for a folder of $fpath.\n"
              "fish: aotc completion fish > ~/.config/fish/completions/aotc.fish.",
          .options = {{.names = "SHELL",
                       .target = options::one_of(shell.get(), options::kShells),
                       .help = "bash, zsh or fish",
                       .required = true}},
          .run = [shell]() -> int {
            write_out(options::completion_script(*find_path("", {}).front(), *shell));
            return kExitDone;
          }};
}

}  // namespace

void add_manual_commands(Command& program) {
  program.commands.push_back(help());
  program.commands.push_back(man());
  program.commands.push_back(completion());
}

}  // namespace aotc::driver
