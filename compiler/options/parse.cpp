// SPDX-License-Identifier: Apache-2.0
// Reading of command lines, by CLI11. This is the only file that includes it: it takes ten seconds
// to compile.
#include <algorithm>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "options/options.h"
#include "support/diagnostics.h"
#include "support/streams.h"
#include "support/text.h"

namespace aotc::options {

namespace {

// Thrown through CLI11 by what ends a command before it begins: --help, --version.
struct Stop {
  int code;
};

// What CLI11 takes for 0.
std::string number_missing(const std::string& text) {
  return text.find_first_not_of(" \t\r\n") == std::string::npos ? "needs a number" : "";
}

template <typename T>
CLI::Option* add(CLI::App& app, const Option& o, T* target) {
  CLI::Option* added = app.add_option(o.names, *target)->check(number_missing);
  return o.range ? added->check(CLI::Range(o.range->least, o.range->most)) : added;
}

struct Adder {
  CLI::App& app;
  const Option& o;

  CLI::Option* operator()(bool* target) const { return app.add_flag(o.names, *target); }
  CLI::Option* operator()(int* target) const { return add(app, o, target); }
  CLI::Option* operator()(int64_t* target) const { return add(app, o, target); }
  CLI::Option* operator()(uint32_t* target) const { return add(app, o, target); }
  CLI::Option* operator()(uint64_t* target) const { return add(app, o, target); }
  CLI::Option* operator()(std::string* target) const { return app.add_option(o.names, *target); }
  CLI::Option* operator()(std::vector<std::string>* target) const {
    return app.add_option(o.names, *target)->allow_extra_args(o.is_argument());
  }
  CLI::Option* operator()(const Choice& choice) const {
    return app.add_option_function<std::string>(o.names, choice.set)
        ->check([words = choice.words](const std::string& given) {
          if (std::find(words.begin(), words.end(), given) != words.end()) return std::string();
          return fmt::format("{} is not one of {}", given, fmt::join(words, ", "));
        });
  }
  CLI::Option* operator()(const Action& action) const {
    return app.add_flag_function(o.names, [act = action.act](int64_t) { act(); });
  }
  CLI::Option* operator()(const Setter& set) const {
    return app
        .add_option_function<std::vector<std::string>>(o.names,
                                                       [set = set.set](const std::vector<std::string>& given) {
                                                         for (const std::string& text : given) set(text);
                                                       })
        ->allow_extra_args(o.is_argument());
  }
  CLI::Option* operator()(const Instead& instead) const {
    // Other options have their values by then, and nothing was found missing yet.
    return app.add_option_function<std::string>(o.names,
                                                [f = instead.run](const std::string& given) { throw Stop{f(given)}; });
  }
};

// Commands that the arguments do not name have their name alone: to make the options of all takes a third of the time
// of a small compilation.
void build(CLI::App& app, const std::vector<std::string>& args, Path path) {
  const Command& command = *path.back();
  app.set_help_flag();
  if (command.rest != nullptr) {
    app.prefix_command();
    return;
  }
  auto stop_with = [&](const char* names, std::function<std::string()> text) {
    app.add_flag_function(names,
                          [text = std::move(text)](int64_t) {
                            write_out(text());
                            throw Stop{0};
                          })
        ->trigger_on_parse();
  };
  stop_with("-h,--help", [path] { return help_text(path); });
  stop_with("--help-all", [path] { return help_text(path, true); });
  if (!command.version.empty()) stop_with("-V,--version", [&command] { return command.version + "\n"; });
  for (const Option* o : command.all_options()) {
    CLI::Option* added = std::visit(Adder{app, *o}, o->target);
    if (o->required) added->required();
  }
  for (const Option* o : command.all_options())
    for (const std::string& other : o->excludes) app.get_option(o->long_name())->excludes(app.get_option(other));
  if (!command.commands.empty()) app.require_subcommand(1);
  for (const Command& sub : command.commands) {
    CLI::App* added = app.add_subcommand(sub.name);
    if (std::find(args.begin(), args.end(), sub.name) == args.end()) continue;
    Path below = path;
    below.push_back(&sub);
    build(*added, args, below);
  }
}

// The command that the arguments are about, as far as they name one.
Path path_of(const Command& program, const std::vector<std::string>& args) {
  Path path = {&program};
  for (const std::string& arg : args) {
    const Command* below = path.back()->find(arg);
    if (below == nullptr) break;
    path.push_back(below);
  }
  return path;
}

// What to write where several values stand behind an option that is given once for each; else nothing.
std::string repeated_text(const Option& option, const std::vector<std::string>& args) {
  const std::vector<std::string> names = option.all_names();
  auto is_value = [](const std::string& arg) { return !arg.starts_with("-"); };
  for (size_t i = 0; i + 2 < args.size(); ++i)
    if (std::find(names.begin(), names.end(), args[i]) != names.end() && is_value(args[i + 1]) && is_value(args[i + 2]))
      return fmt::format("'{0}' takes one value each time: {0} {1} {0} {2}", args[i], args[i + 1], args[i + 2]);
  return "";
}

// The option that a text of CLI11 begins with; null for an argument and for none.
const Option* option_of(const Command& command, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  for (const Option* o : command.all_options()) {
    const std::vector<std::string> names = o->all_names();
    if (!o->is_argument() && std::find(names.begin(), names.end(), name) != names.end()) return o;
  }
  return nullptr;
}

// What CLI11 says where none of the commands is given.
constexpr const char* kNoCommand = "A subcommand is required";

// What the mistake is, and what was perhaps meant.
int explain(const Command& program, const std::vector<std::string>& args, const std::string& what, bool too_many) {
  const Path path = path_of(program, args);
  const Command& command = *path.back();
  std::vector<std::string> helps;
  const std::vector<std::string> names = command.option_names();
  auto near = [&](const std::string& wrong, const std::vector<std::string>& candidates, const char* kind) {
    for (const std::string& found : closest(wrong, candidates, 1))
      helps.push_back(fmt::format("did you mean the {} '{}'?", kind, found));
  };
  for (const std::string& arg : args) {
    const std::string name = arg.substr(0, arg.find('='));
    if (name.starts_with("--") && name.size() > 2 && std::find(names.begin(), names.end(), name) == names.end()) {
      near(name, names, "option");
      too_many = false;
    }
  }
  for (const Option* o : command.all_options())
    if (too_many && !o->is_argument() && o->is_list())
      if (const std::string repeated = repeated_text(*o, args); !repeated.empty()) helps.push_back(repeated);
  std::string text = what;
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && (text.back() == ' ' || text.back() == '.')) text.pop_back();
  text = escape_for_display(text, 400);
  if (const Option* o = option_of(command, text); o != nullptr && !o->value_text().empty()) {
    if (text.ends_with(" missing")) text = fmt::format("option '{}' needs a value", o->long_name());
    helps.push_back(fmt::format("write {} {}", o->long_name(), o->value_text()));
  }
  if (!command.commands.empty() && args.size() >= path.size() && !args[path.size() - 1].starts_with("-")) {
    const std::string& given = args[path.size() - 1];
    std::vector<std::string> below;
    for (const Command& c : command.commands) below.push_back(c.name);
    near(given, below, "command");
    if (what == kNoCommand) text = fmt::format("there is no command '{}'", escape_for_display(given, 100));
  } else if (what == kNoCommand) {
    text = "a command is required";
  }
  helps.push_back(fmt::format("'{} --help' shows how to use it", title_of(path)));
  return usage_error(title_of(path), text, helps);
}

}  // namespace

int run(const Command& program, const std::vector<std::string>& args) {
  CLI::App app("", program.name);
  try {
    build(app, args, {&program});
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const Stop& stop) {
    return stop.code;
  } catch (const CLI::ParseError& e) {
    return explain(program, args, e.what(), dynamic_cast<const CLI::ExtrasError*>(&e) != nullptr);
  }
  const Command* command = &program;
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) {
    at = at->get_subcommands().front();
    command = command->find(at->get_name());
  }
  if (command->rest != nullptr) *command->rest = at->remaining();
  return command->run();
}

}  // namespace aotc::options
