// SPDX-License-Identifier: Apache-2.0
// A command line as data. Each command and option is declared once; parsing, help, completion, man pages and the tables
// of the documentation are derived from the declarations. A declaration points at the variable that a parse sets. The
// value of that variable at the time of the declaration is the default that help shows.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace aotc::options {

// One of some words; see one_of.
struct Choice {
  std::vector<std::string> words;
  std::string preset;  // empty: said in the help
  std::function<void(const std::string&)> set;
};

// A flag that does something else than becoming true.
struct Action {
  std::function<void()> act;
};

// What reads each value of a list.
using Setter = std::function<void(const std::string&)>;

// Takes the place of the command: nothing else is asked for, and what it returns is the exit code.
struct Instead {
  std::function<int(const std::string&)> run;
};

// An option takes one value; a list collects those of each time it is given, and an argument that is a
// list takes all that are left.
using Target = std::variant<bool*, int*, int64_t*, uint32_t*, uint64_t*, std::string*, std::vector<std::string>*,
                            Choice, Action, Setter, Instead>;

// What a shell offers for a value that is no word of a list.
enum class Takes { kAnything, kFile, kDirectory };

struct Range {
  int64_t least = 0, most = 0;
};

struct Option {
  std::string names;       // "-o,--directory"; "MODEL", without dashes, is an argument: a value by its place
  std::string value = {};  // what help calls the value: "NAME"; none for flags and choices
  Target target = {};
  std::string help = {};  // without default and choices, which are added; the first word as in a sentence
  bool required = false;
  std::optional<Range> range = std::nullopt;
  std::vector<std::string> excludes = {};  // names that it cannot stand beside
  Takes takes = Takes::kAnything;
  // What is offered for the value, where that is known: names of boards.
  std::function<std::vector<std::string>()> offers = nullptr;
  std::string see = {};  // where the documentation says more: "emitted-c.md#pools"
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
  // Empty if there is none, or none that is worth saying.
  std::string default_text() const;
  // "default: 600", "may be repeated"; empty if there is nothing to add to the help.
  std::string remark() const;
  // "Seconds (default: 600)."
  std::string full_help() const;
  // What a value can be, as far as that is a list.
  std::vector<std::string> words() const;
};

// A heading with options below it. A shared one is in several commands, and documented once.
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
  std::function<int()> run = nullptr;  // after all variables are set; the exit code
  // Everything behind the command goes here unread, --help too.
  std::vector<std::string>* rest = nullptr;
  std::string version = {};               // of a program: what --version prints
  std::vector<ExitCode> exit_codes = {};  // of a program

  // Of all groups, those of none first.
  std::vector<const Option*> all_options() const;
  // nullptr if there is none.
  const Command* find(const std::string& name) const;
};

// The program and the subcommand, ...: never empty.
using Path = std::vector<const Command*>;
// "aotc mlf inspect".
std::string title_of(const Path& path);

// The words and what they mean; what `target` holds now is the default.
template <typename T>
Choice one_of(T* target, std::vector<std::pair<std::string, std::type_identity_t<T>>> meanings) {
  Choice out;
  for (const auto& [word, meaning] : meanings) {
    out.words.push_back(word);
    if (meaning == *target && out.preset.empty()) out.preset = word;
  }
  out.set = [target, meanings = std::move(meanings)](const std::string& given) {
    for (const auto& [word, meaning] : meanings)
      if (word == given) *target = meaning;
  };
  return out;
}

// The word itself.
Choice one_of(std::string* target, std::vector<std::string> words);

constexpr int kUsage = 2;
// Options on the first help screen, --help among them.
constexpr size_t kMostShown = 12;

// Reads the arguments behind the program's name, fills the variables, runs the command, and gives
// its exit code; kUsage after a message on standard error for what cannot be read.
int run(const Command& program, const std::vector<std::string>& args);

// What `run` says for something wrong with a command line: "TITLE: error: TEXT [usage]" and how to
// get help, on standard error. Gives kUsage.
int usage_error(const std::string& title, const std::string& text, const std::vector<std::string>& helps = {});

}  // namespace aotc::options
