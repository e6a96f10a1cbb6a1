// SPDX-License-Identifier: Apache-2.0
// Declares a command line as data: parsing, help, completion, man pages and the tables of the documentation are derived
// from one declaration of each command and option. A declaration points at the variable that a parse sets; the
// variable's value at the time of the declaration is the default that help shows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace aotc::options {

// One of a list of words; see one_of.
struct Choice {
  std::vector<std::string> words;
  std::string preset;  // empty: the help states the default
  std::function<void(const std::string&)> set;
  std::function<std::string()> get = nullptr;  // the word of the present value
};

// A flag that runs a function instead of setting a bool.
struct Action {
  std::function<void()> act;
};

// The function that parses each value of a list, and the text of all values so far, which it parses as well.
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

// The completion that a shell offers for a value that is not from a list of words.
enum class Takes { kAnything, kFile, kDirectory };

struct Range {
  int64_t least = 0, most = 0;
};

struct Option {
  std::string names;       // "-o,--directory"; "MODEL", without dashes, is a positional argument
  std::string value = {};  // the value's name in help: "NAME"; empty for flags and choices
  Target target = {};
  std::string help = {};  // without default and choices, which are appended; the first word as in a sentence
  bool required = false;
  std::optional<Range> range = std::nullopt;
  std::vector<std::string> excludes = {};  // names of options with which it cannot be combined
  Takes takes = Takes::kAnything;
  // Completions for the value, if they are known: names of boards.
  std::function<std::vector<std::string>()> offers = nullptr;
  std::string see = {};  // the section of the documentation with details: "emitted-c.md#pools"
  // The key of the value where a project stores it (stored.h); empty if no project does.
  std::string key = {};
  // True: --help of a command with more than kMostShown options shows it; --help-all shows every option.
  bool common = false;

  bool is_argument() const { return !names.starts_with("-"); }
  bool is_flag() const;
  bool is_list() const;
  // "-o", "--directory"; the name of an argument.
  std::vector<std::string> all_names() const;
  std::string long_name() const { return all_names().back(); }
  // "-o, --directory DIRECTORY", "--input overwrite|preserve".
  std::string usage() const;
  // "FILE", "on|off"; empty for flags.
  std::string value_text() const;
  // Empty if there is no default, or none worth showing.
  std::string default_text() const;
  // "default: 600", "may be repeated"; empty if nothing is added to the help.
  std::string remark() const;
  // "Seconds (default: 600)."
  std::string full_help() const;
  // The possible values, if they are a list.
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
  // Receives every argument behind the command unparsed, --help too.
  std::vector<std::string>* rest = nullptr;
  std::string version = {};               // only for the program: the output of --version
  std::vector<ExitCode> exit_codes = {};  // only for the program

  // The options of all groups; those without a group first.
  std::vector<const Option*> all_options() const;
  // Every name that the command takes, --help and --help-all first.
  std::vector<std::string> option_names() const;
  // nullptr if there is none.
  const Command* find(const std::string& name) const;
};

// The program and the subcommand, ...: never empty.
using Path = std::vector<const Command*>;
// "aotc mlf inspect".
std::string title_of(const Path& path);

// The words and their values; the present value of `target` is the default.
template <typename T>
Choice one_of(T* target, std::vector<std::pair<std::string, std::type_identity_t<T>>> meanings) {
  Choice out;
  for (const auto& [word, meaning] : meanings) {
    out.words.push_back(word);
    if (meaning == *target && out.preset.empty()) out.preset = word;
  }
  // Both functions share the list: commands are declared at every start.
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
// Options on the first help screen, --help among them.
constexpr size_t kMostShown = 12;

// Parses the arguments behind the program's name, sets the variables, runs the command and returns its exit code;
// kUsage after a message on standard error if the arguments are invalid.
int run(const Command& program, const std::vector<std::string>& args);

// Prints the message for an invalid command line on standard error: "TITLE: error: TEXT [usage]" and how to get help.
// Returns kUsage.
int usage_error(const std::string& title, const std::string& text, const std::vector<std::string>& helps = {});

}  // namespace aotc::options
