// SPDX-License-Identifier: Apache-2.0
// Man pages, in the macros of man(7).
#include <fmt/format.h>

#include "options/options.h"
#include "support/text.h"

namespace aotc::options {

namespace {

// Text that roff takes as it is.
std::string roff(const std::string& text) {
  std::string out;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// Paragraphs, with empty lines between them.
std::string paragraphs(const std::string& text) {
  std::string out = roff(text);
  for (size_t at = 0; (at = out.find("\n\n", at)) != std::string::npos;) out.replace(at, 2, "\n.PP\n");
  return out;
}

// "aotc-mlf-inspect".
std::string page_name(const Path& path) {
  std::string out;
  for (const Command* c : path) out += (out.empty() ? "" : "-") + c->name;
  return out;
}

std::string entry(const std::string& what, const std::string& meaning) {
  return fmt::format(".TP\n.B {}\n{}\n", roff(what), roff(meaning));
}

std::string synopsis(const Path& path) {
  const Command& command = *path.back();
  std::string out = fmt::format(".B {}\n", roff(title_of(path)));
  if (!command.commands.empty()) return out + ".I COMMAND\n.RI [ ARGUMENTS ]\n";
  if (command.rest != nullptr) return out + ".RI [ ARGUMENTS ]\n";
  out += ".RI [ OPTIONS ]\n";
  for (const Option* o : command.all_options())
    if (o->is_argument())
      out += o->required ? fmt::format(".I {}\n", roff(o->usage())) : fmt::format(".RI [ {} ]\n", roff(o->usage()));
  return out;
}

}  // namespace

std::string man_page(const Path& path) {
  const Command& command = *path.back();
  const Command& program = *path.front();
  const std::string name = page_name(path);
  std::string out = fmt::format(".TH {} 1 \"\" \"{}\" \"User Commands\"\n", roff(upper(name)), roff(program.version));
  out += fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.summary));
  out += ".SH SYNOPSIS\n" + synopsis(path);
  if (!command.description.empty()) out += fmt::format(".SH DESCRIPTION\n{}\n", paragraphs(command.description));
  if (!command.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const Command& c : command.commands) out += entry(c.name, c.summary);
  }
  out += ".SH OPTIONS\n";
  for (const Option& o : command.options) out += entry(o.usage(), o.full_help());
  out += entry("-h, --help", "Short help");
  if (!command.version.empty()) out += entry("-V, --version", "The version");
  for (const Group& g : command.groups) {
    out += fmt::format(".SS {}\n", roff(g.title));
    for (const Option& o : g.options) out += entry(o.usage(), o.full_help());
  }
  if (!program.exit_codes.empty()) {
    out += ".SH EXIT STATUS\n";
    for (const ExitCode& e : program.exit_codes) out += entry(std::to_string(e.code), e.meaning);
  }
  if (path.size() > 1)
    out += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", roff(page_name(Path(path.begin(), path.end() - 1))));
  return out;
}

}  // namespace aotc::options
