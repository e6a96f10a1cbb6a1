// SPDX-License-Identifier: Apache-2.0
// Declares a command line as data. Parsing, help, completion, man pages and the tables of the documentation use the
// same declaration of each command and option. A declaration points to the variable that parsing sets. The value of the
// variable at the time of the declaration is the default, which help shows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace aotc::options {

// A value that is one of a list of words; see one_of.
struct Choice {
  std::vector<std::string> words;
  std::string preset;  // the default; empty: the help text states it
  std::function<void(const std::string&)> set;
  std::function<std::string()> get = nullptr;  // the word of the present value
};

// A flag that runs a function instead of setting a bool.
struct Action {
  std::function<void()> act;
};

// `set` parses each value of a list. `get` returns all values so far as one text, which `set` accepts too.
struct Setter {
  std::function<void(const std::string&)> set;
  std::function<std::string()> get = nullptr;
};

// A flag that replaces the command: nothing else is required, and the function returns the exit code.
struct Instead {
  std::function<int(const std::string&)> run;
};

// An option takes one value; a list collects the values of repeated options, and an argument that is a list takes all
// remaining arguments.
using Target = std::variant<bool*, int*, int64_t*, uint32_t*, uint64_t*, std::string*, std::vector<std::string>*,
                            Choice, Action, Setter, Instead>;

// The completion that a shell offers for a value, unless the value is one of a list of words.
enum class Takes { kAnything, kFile, kDirectory };

struct Range {
  int64_t least = 0, most = 0;
};

struct Option {
  std::string names;       // "-o,--directory"; "MODEL", without dashes, is a positional argument
  std::string value = {};  // the value's name in help: "NAME"; empty for flags and choices
  Target target = {};
  std::string help = {};  // a capitalised sentence; default and choices are appended
  bool required = false;
  std::optional<Range> range = std::nullopt;
  std::vector<std::string> excludes = {};  // names of options that cannot be combined with this one
  Takes takes = Takes::kAnything;
  // Completions for the value, such as names of boards; null: none.
  std::function<std::vector<std::string>()> offers = nullptr;
  std::string see = {};  // the section of the documentation with details: "emitted-c.md#pools"
  // JSON key under which projects store the value (stored_values); empty if no project stores it.
  std::string key = {};
  // True if --help shows the option even for a command with more than kMostShown options. --help-all shows every
  // option.
  bool common = false;

  bool is_argument() const { return !names.starts_with("-"); }
  bool is_flag() const;
  bool is_list() const;
  // "-o", "--directory"; for an argument, its name.
  std::vector<std::string> all_names() const;
  std::string long_name() const { return all_names().back(); }
  // "-o, --directory DIRECTORY", "--input overwrite|preserve".
  std::string usage() const;
  // "FILE", "on|off"; empty for flags.
  std::string value_text() const;
  // Empty if there is no default, or none worth showing.
  std::string default_text() const;
  // "default: 600", "may be repeated"; empty if help has no remark.
  std::string remark() const;
  // "Seconds (default: 600)."
  std::string full_help() const;
  // The words of a choice, or the completions that `offers` returns; empty if there are none.
  std::vector<std::string> words() const;
};

// A heading with options below it. A shared group belongs to several commands and is documented once.
struct Group {
  std::string title;
  std::vector<Option> options;
  bool shared = false;
};

struct ExitCode {
  int code;
  std::string meaning;
};

struct Command {
  std::string name;
  std::string summary;           // one sentence, without a full stop
  std::string description = {};  // paragraphs; may be empty
  std::vector<Option> options = {};
  std::vector<Group> groups = {};
  std::vector<Command> commands = {};
  std::function<int()> run = nullptr;  // runs after all variables are set; returns the exit code
  // If set, receives every argument after the command unparsed, even --help.
  std::vector<std::string>* rest = nullptr;
  std::string version = {};               // only for the program: the output of --version
  std::vector<ExitCode> exit_codes = {};  // only for the program

  // All options: first those without a group, then those of the groups.
  std::vector<const Option*> all_options() const;
  // Every option name that the command accepts; --help and --help-all are first.
  std::vector<std::string> option_names() const;
  // nullptr if there is none.
  const Command* find(const std::string& name) const;
};

// The program, its subcommand, and so on; never empty.
using Path = std::vector<const Command*>;
// "aotc mlf inspect".
std::string title_of(const Path& path);

// `meanings`: the words and their values. The present value of `target` is the default.
template <typename T>
Choice one_of(T* target, std::vector<std::pair<std::string, std::type_identity_t<T>>> meanings) {
  Choice out;
  for (const auto& [word, meaning] : meanings) {
    out.words.push_back(word);
    if (meaning == *target && out.preset.empty()) out.preset = word;
  }
  // Both functions share the list to save time: every start of aotc declares all commands.
  const auto shared = std::make_shared<const decltype(meanings)>(std::move(meanings));
  out.set = [target, shared](const std::string& given) {
    for (const auto& [word, meaning] : *shared)
      if (word == given) *target = meaning;
  };
  out.get = [target, shared]() -> std::string {
    for (const auto& [word, meaning] : *shared)
      if (meaning == *target) return word;
    return "";
  };
  return out;
}

// A choice whose value is the word itself.
Choice one_of(std::string* target, std::vector<std::string> words);

constexpr int kUsage = 2;
// Maximal number of options, including --help, for which --help shows all of them.
constexpr size_t kMostShown = 12;

// Parses the arguments after the program's name, sets the variables, runs the command and returns its exit code. If the
// arguments are invalid, prints a message on standard error and returns kUsage.
int run(const Command& program, const std::vector<std::string>& args);

// Prints the message for an invalid command line on standard error: "TITLE: error: TEXT [usage]" and how to get help.
// Returns kUsage.
int usage_error(const std::string& title, const std::string& text, const std::vector<std::string>& helps = {});

// Stores the values of options as JSON and restores them: one member for each option that has a key. A number is stored
// as a number, a text as a string, and a list of texts as an array. A flag, or a choice of on and off, is stored as a
// boolean. Any other choice is stored as its word.
//
// The present values, in the order of the declarations.
nlohmann::ordered_json stored_values(const std::vector<Group>& groups);
// Sets each option that `values` has, in the order of the declarations; members without an option are ignored. False if
// an option does not accept the type, word or number of its value; then later options are not set.
bool restore_values(const std::vector<Group>& groups, const nlohmann::json& values);
// The options of `to` that have another value than the option of `from` at the same index, as on a command line:
// "--stream max". Both groups must have the same declarations. A flag can differ only by being set in `to`.
std::vector<std::string> differences(const Group& from, const Group& to);

// Help, the manual's tables, man pages and shell completion depend on the declarations only, so they are the same
// everywhere.
//
// The text of --help, for 80 columns. A command with more than kMostShown options shows only its common ones, unless
// `all` is true.
std::string help_text(const Path& path, bool all = false);

// Tables in Markdown: shared groups once, then each command with its own options.
std::string markdown(const Command& program);

// A man page of section 1, with the macros of man(7).
std::string man_page(const Path& path);

inline const std::vector<std::string> kShells = {"bash", "zsh", "fish"};
// A completion script for one of kShells.
std::string completion_script(const Command& program, const std::string& shell);

// The paths of the program and of all its commands, in order of declaration.
std::vector<Path> all_paths(const Command& program);

}  // namespace aotc::options
