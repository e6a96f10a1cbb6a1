// SPDX-License-Identifier: Apache-2.0
// Scripts that complete command lines in bash, zsh and fish. Each finds the subcommand that the
// words before the cursor name ("/mlf/inspect"), and offers values behind an option that takes one,
// names of options behind a dash, and else subcommands or files.
#include <map>

#include <fmt/format.h>

#include "options/options.h"
#include "support/text.h"

namespace aotc::options {

namespace {

std::string key_of(const Path& path) {
  std::string out;
  for (size_t i = 1; i < path.size(); ++i) out += "/" + path[i]->name;
  return out;
}

// In single quotes, for the three shells.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

// What may stand where a value is wanted.
enum class Offer { kNothing, kFiles, kDirectories, kWords };

Offer offer_of(const Option& o) {
  if (!o.words().empty()) return Offer::kWords;
  return o.takes == Takes::kFile ? Offer::kFiles : o.takes == Takes::kDirectory ? Offer::kDirectories : Offer::kNothing;
}

// Patterns "KEY:NAME" of all options that take a value, by what is offered for it.
struct Values {
  std::vector<std::string> files, directories, nothing;
  std::map<std::string, std::vector<std::string>> words;  // by the list
};

Values values_of(const Command& program) {
  Values out;
  for (const Path& path : all_paths(program))
    for (const Option* o : path.back()->all_options()) {
      if (o->is_argument() || o->is_flag()) continue;
      for (const std::string& name : o->all_names()) {
        const std::string pattern = key_of(path) + ":" + name;
        switch (offer_of(*o)) {
          case Offer::kWords:
            out.words[joined(o->words())].push_back(pattern);
            break;
          case Offer::kFiles:
            out.files.push_back(pattern);
            break;
          case Offer::kDirectories:
            out.directories.push_back(pattern);
            break;
          case Offer::kNothing:
            out.nothing.push_back(pattern);
            break;
        }
      }
    }
  return out;
}

// The first argument that the command takes by its place.
const Option* argument_of(const Command& command) {
  for (const Option* o : command.all_options())
    if (o->is_argument()) return o;
  return nullptr;
}

// "case KEY/WORD in" arms that lead from a command to the one below it.
std::string paths_pattern(const Command& program) {
  std::vector<std::string> keys;
  for (const Path& path : all_paths(program))
    if (path.size() > 1) keys.push_back(key_of(path));
  return joined(keys, "|");
}

// An arm of a case; the body is a command of the shell.
std::string arm(const std::vector<std::string>& patterns, const std::string& body) {
  return patterns.empty() ? "" : fmt::format("    {}) {} ;;\n", joined(patterns, "|"), body);
}

// What bash and zsh have in common: the arms for values behind an option.
std::string value_arms(const Command& program, const std::string& words, const std::string& files,
                       const std::string& directories) {
  const Values values = values_of(program);
  std::string out;
  for (const auto& [list, patterns] : values.words) out += arm(patterns, fmt::format("{} {}; return", words, list));
  out += arm(values.files, fmt::format("{}; return", files));
  out += arm(values.directories, fmt::format("{}; return", directories));
  return out + arm(values.nothing, "return");
}

std::string bash(const Command& program) {
  const std::string words = fmt::format("_{}_words", program.name), files = fmt::format("_{}_files", program.name),
                    directories = fmt::format("_{}_directories", program.name);
  std::string out = fmt::format("# bash completion of {0}: eval \"$({0} completion bash)\"\n", program.name);
  out += fmt::format(R"(_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} command= i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command/${{COMP_WORDS[i]}}" in
      {1}) command="$command/${{COMP_WORDS[i]}}" ;;
    esac
  done
  # '--option=value' comes as three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  _{0}_words() {{ mapfile -t COMPREPLY < <(compgen -W "$*" -- "$cur"); }}
  _{0}_files() {{ mapfile -t COMPREPLY < <(compgen -f -- "$cur"); }}
  _{0}_directories() {{ mapfile -t COMPREPLY < <(compgen -d -- "$cur"); }}
  case "$command:$prev" in
{2}  esac
  case "$command:$cur" in
)",
                     program.name, paths_pattern(program), value_arms(program, words, files, directories));
  for (const Path& path : all_paths(program))
    out += arm({key_of(path) + ":-*"}, words + " " + joined(path.back()->option_names()));
  for (const Path& path : all_paths(program)) {
    const Command& command = *path.back();
    std::vector<std::string> below;
    for (const Command& c : command.commands) below.push_back(c.name);
    std::string body = files;
    if (!below.empty()) {
      body = words + " " + joined(below);
      // A model without a command is made a project of.
      if (path.size() == 1) body += "; if [[ ${#COMPREPLY[@]} -eq 0 ]]; then " + files + "; fi";
    } else if (const Option* o = argument_of(command)) {
      const Offer offer = offer_of(*o);
      body = offer == Offer::kWords         ? words + " " + joined(o->words())
             : offer == Offer::kDirectories ? directories
             : offer == Offer::kFiles       ? files
                                            : ":";
    }
    out += arm({key_of(path) + ":*"}, body);
  }
  return out + fmt::format("  esac\n}}\ncomplete -o filenames -F _{0} {0}\n", program.name);
}

// "name:what it does" for _describe.
std::string described(const std::string& name, const std::string& what) {
  std::string plain;
  for (char c : name) plain += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(plain + ":" + what);
}

std::string zsh(const Command& program) {
  std::string out = fmt::format(
      "#compdef {0}\n# zsh completion of {0}: a file _{0} in a folder of $fpath, "
      "or eval \"$({0} completion zsh)\"\n",
      program.name);
  out += fmt::format(R"(_{0}() {{
  local command= previous=${{words[CURRENT-1]}} i
  local -a offered
  for ((i = 2; i < CURRENT; i++)); do
    case "$command/${{words[i]}}" in
      {1}) command="$command/${{words[i]}}" ;;
    esac
  done
  if [[ $PREFIX == --*=* ]]; then
    previous=${{PREFIX%%=*}}
    compset -P '*='
  fi
  case "$command:$previous" in
{2}  esac
  case "$command:$PREFIX" in
)",
                     program.name, paths_pattern(program), value_arms(program, "compadd --", "_files", "_files -/"));
  for (const Path& path : all_paths(program)) {
    std::string list = described("--help", "Short help") + " " + described("--help-all", "All options");
    for (const Option* o : path.back()->all_options())
      if (!o->is_argument())
        for (const std::string& name : o->all_names()) list += " " + described(name, o->help);
    out += arm({key_of(path) + ":-*"}, fmt::format("offered=({}); _describe -o option offered", list));
  }
  for (const Path& path : all_paths(program)) {
    const Command& command = *path.back();
    std::string body = "_files";
    if (!command.commands.empty()) {
      std::string list;
      for (const Command& c : command.commands) list += (list.empty() ? "" : " ") + described(c.name, c.summary);
      body = fmt::format("offered=({}); _describe command offered{}", list, path.size() == 1 ? "; _files" : "");
    } else if (const Option* o = argument_of(command)) {
      const Offer offer = offer_of(*o);
      body = offer == Offer::kWords         ? "compadd -- " + joined(o->words())
             : offer == Offer::kDirectories ? "_files -/"
             : offer == Offer::kFiles       ? "_files"
                                            : ":";
    }
    out += arm({key_of(path) + ":*"}, body);
  }
  return out + fmt::format(
                   "  esac\n}}\nif [[ ${{funcstack[1]}} == _{0} ]]; then\n  _{0} \"$@\"\nelse\n"
                   "  compdef _{0} {0}\nfi\n",
                   program.name);
}

std::string fish(const Command& program) {
  std::vector<std::string> keys;
  for (const Path& path : all_paths(program))
    if (path.size() > 1) keys.push_back(quoted(key_of(path)));
  std::string out = fmt::format("# fish completion of {0}: {0} completion fish | source\n", program.name);
  out += fmt::format(R"(function __{0}_at
  set -l command ''
  for word in (commandline -opc)[2..-1]
    if contains -- "$command/$word" {1}
      set command "$command/$word"
    end
  end
  test "$command" = "$argv[1]"
end
)",
                     program.name, joined(keys));
  for (const Path& path : all_paths(program)) {
    const Command& command = *path.back();
    const std::string begin = fmt::format("complete -c {0} -n '__{0}_at \"{1}\"'", program.name, key_of(path));
    if (!command.commands.empty() && path.size() > 1) out += begin + " -f\n";
    for (const Command& c : command.commands) out += fmt::format("{} -a {} -d {}\n", begin, c.name, quoted(c.summary));
    out += begin + " -s h -l help -d 'Short help'\n";
    out += begin + " -l help-all -d 'All options'\n";
    if (!command.version.empty()) out += begin + " -s V -l version -d 'The version'\n";
    for (const Option* o : command.all_options()) {
      std::string line = begin;
      const std::vector<std::string> words = o->words();
      if (!o->is_argument()) {
        for (const std::string& name : o->all_names())
          line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (!o->is_flag()) line += offer_of(*o) == Offer::kFiles ? " -r" : " -x";
        line += " -d " + quoted(o->help);
      } else if (words.empty()) {
        continue;
      } else {
        line += " -f";
      }
      if (!words.empty()) line += " -a " + quoted(joined(words));
      if (offer_of(*o) == Offer::kDirectories) line += " -a '(__fish_complete_directories)'";
      out += line + "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(const Command& program, const std::string& shell) {
  return shell == "zsh" ? zsh(program) : shell == "fish" ? fish(program) : bash(program);
}

}  // namespace aotc::options
