// SPDX-License-Identifier: Apache-2.0
// Help for terminals, and the tables of the documentation.
#include <fmt/format.h>

#include "options/options.h"
#include "support/text.h"

namespace aotc::options {

namespace {

constexpr size_t kWidth = 80;
constexpr size_t kColumn = 28;  // where the meaning begins

// The words of `text` in lines, each with `indent` spaces before it but the first, which begins at
// `column`.
std::string wrapped(const std::string& text, size_t indent, size_t column) {
  std::string out;
  size_t at = column;
  for (size_t i = 0; i < text.size();) {
    size_t end = std::min(text.find_first_of(" \n", i), text.size());
    const size_t length = end - i;
    if (at > indent && at + 1 + length > kWidth) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent && length > 0) {
      out += ' ';
      ++at;
    }
    out += text.substr(i, length);
    at += length;
    if (end < text.size() && text[end] == '\n') {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    }
    i = end + 1;
  }
  return out;
}

std::string row(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  if (out.size() + 2 > kColumn)
    out += "\n" + std::string(kColumn, ' ');
  else
    out += std::string(kColumn - out.size(), ' ');
  return out + wrapped(right, kColumn, kColumn) + "\n";
}

std::string rows(const std::string& title, const std::vector<const Option*>& options) {
  std::string out;
  for (const Option* o : options) out += row(o->usage(), o->full_help());
  return out.empty() ? out : "\n" + title + ":\n" + out;
}

std::vector<const Option*> of_kind(const std::vector<Option>& options, bool arguments) {
  std::vector<const Option*> out;
  for (const Option& o : options)
    if (o.is_argument() == arguments) out.push_back(&o);
  return out;
}

std::vector<const Option*> options_of(const Command& command) {
  std::vector<const Option*> out = command.all_options();
  std::erase_if(out, [](const Option* o) { return o->is_argument(); });
  return out;
}

// --help itself is one of those that are counted.
bool is_short(const Command& command) { return options_of(command).size() < kMostShown; }

std::string common_options(const Path& path) {
  std::vector<const Option*> shown = options_of(*path.back());
  const size_t count = shown.size();
  std::erase_if(shown, [](const Option* o) { return !o->common; });
  std::string out = rows("Common options", shown);
  out += row("-h, --help", "Show this text");
  return out + fmt::format("\n'{} --help-all' shows {} more options.\n", title_of(path), count - shown.size());
}

// "aotc check [OPTIONS] MODEL".
std::string usage_line(const Path& path) {
  const Command& command = *path.back();
  std::string out = title_of(path);
  if (command.rest != nullptr) return out + " ...";
  if (!command.commands.empty()) return out + " COMMAND ...";
  bool options = false;
  std::string required, arguments;
  for (const Option* o : command.all_options()) {
    if (o->is_argument())
      arguments += o->required ? " " + o->usage() : " [" + o->usage() + "]";
    else if (o->required)
      required += " " + o->long_name() + " " + o->value_text();
    else
      options = true;
  }
  return out + (options ? " [OPTIONS]" : "") + required + arguments;
}

std::string cell(std::string text) {
  std::string out;
  for (char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string table(const std::vector<const Option*>& options) {
  std::string out = "| option | |\n|---|---|\n";
  for (const Option* o : options) {
    out += fmt::format("| `{}` | {}", cell(o->usage()), cell(o->help));
    if (const std::string preset = o->default_text(); !preset.empty())
      out += fmt::format(" (default: `{}`)", cell(preset));
    else if (const std::string more = o->remark(); !more.empty())
      out += fmt::format(" ({})", more);
    if (!o->see.empty()) out += fmt::format("; [more]({})", o->see);
    out += " |\n";
  }
  return out;
}

}  // namespace

std::vector<Path> all_paths(const Command& program) {
  std::vector<Path> out = {{&program}};
  for (size_t i = 0; i < out.size(); ++i) {
    const Path path = out[i];
    size_t behind = i + 1;
    for (const Command& below : path.back()->commands) {
      Path longer = path;
      longer.push_back(&below);
      out.insert(out.begin() + static_cast<ptrdiff_t>(behind++), longer);
    }
  }
  return out;
}

std::string help_text(const Path& path, bool all) {
  const Command& command = *path.back();
  std::string out = wrapped(command.summary + ".", 0, 0) + "\n";
  out += "\nUsage: " + usage_line(path) + "\n";
  if (!command.description.empty()) out += "\n" + wrapped(command.description, 0, 0) + "\n";
  if (!command.commands.empty()) {
    out += "\nCommands:\n";
    for (const Command& c : command.commands) out += row(c.name, c.summary);
  }
  out += rows("Arguments", of_kind(command.options, true));
  if (!all && !is_short(command)) {
    out += common_options(path);
  } else {
    out += rows("Options", of_kind(command.options, false));
    if (of_kind(command.options, false).empty()) out += "\nOptions:\n";
    out += row("-h, --help", is_short(command) ? "Show this text" : "Show the common options");
    if (!is_short(command)) out += row("--help-all", "Show this text");
    if (!command.version.empty()) out += row("-V, --version", "Show the version");
    for (const Group& g : command.groups) out += rows(g.title, of_kind(g.options, false));
  }
  if (!command.exit_codes.empty()) {
    std::string codes;
    for (const ExitCode& e : command.exit_codes)
      codes += fmt::format("{}{} {}", codes.empty() ? "" : ", ", e.code, e.meaning);
    out += "\n" + wrapped("Exit codes: " + codes + ".", 0, 0) + "\n";
  }
  return out;
}

std::string markdown(const Command& program) {
  std::string out, commands;
  std::vector<std::string> done;
  for (const Path& path : all_paths(program)) {
    const Command& command = *path.back();
    commands += fmt::format("### {}\n\n{}.\n\n```\n{}\n```\n\n", title_of(path), command.summary, usage_line(path));
    std::vector<const Option*> own;
    std::string shared;
    for (const Option& o : command.options) own.push_back(&o);
    for (const Group& g : command.groups) {
      if (!g.shared) {
        for (const Option& o : g.options) own.push_back(&o);
        continue;
      }
      shared += fmt::format("{}*{}*", shared.empty() ? "" : ", ", g.title);
      if (std::find(done.begin(), done.end(), g.title) != done.end()) continue;
      done.push_back(g.title);
      std::vector<const Option*> options;
      for (const Option& o : g.options) options.push_back(&o);
      out += fmt::format("### {}\n\n{}\n", g.title, table(options));
    }
    if (!own.empty()) commands += table(own) + "\n";
    if (!shared.empty()) commands += fmt::format("It also takes the options of {}.\n\n", shared);
  }
  return out + commands;
}

}  // namespace aotc::options
