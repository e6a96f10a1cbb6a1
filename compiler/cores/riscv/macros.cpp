// SPDX-License-Identifier: Apache-2.0
#include "cores/riscv/macros.h"

#include <algorithm>
#include <map>

#include "cores/implementation.h"

namespace aotc::cores::riscv {

namespace {

constexpr std::string_view kEscape = "\\\\";  // of a macro's parameter, as the C string has it

struct Macro {
  std::vector<std::string> parameters, lines;
};

void replace(std::string& text, const std::string& what, const std::string& by) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

void put(const std::string& line, const std::map<std::string, Macro>& macros, std::vector<std::string>& out) {
  if (line.empty() || is_comment(line) || line[0] == '.') return;
  const auto [name, rest] = in_two(line);
  auto macro = macros.find(name);
  if (macro == macros.end()) {
    out.push_back(line);
    return;
  }
  const std::vector<std::string> operands = split(rest, ',');
  const std::vector<std::string>& parameters = macro->second.parameters;
  for (std::string text : macro->second.lines) {
    for (size_t p = 0; p < std::min(operands.size(), parameters.size()); ++p)
      replace(text, std::string(kEscape) + parameters[p], operands[p]);
    put(text, macros, out);
  }
}

}  // namespace

std::vector<std::string> without_macros(const std::vector<std::string>& lines) {
  std::map<std::string, Macro> macros;
  Macro* open = nullptr;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const auto [word, rest] = in_two(line);
    if (word == ".macro") {
      const auto [name, parameters] = in_two(rest);
      open = &macros[name];
      *open = {split(parameters, ','), {}};
    } else if (word == ".endm") {
      open = nullptr;
    } else if (open != nullptr) {
      open->lines.push_back(line);
    } else {
      put(line, macros, out);
    }
  }
  return out;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    const size_t to = std::min(text.find(at, from), text.size());
    out.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

std::pair<std::string, std::string> in_two(const std::string& line) {
  const size_t space = std::min(line.find(' '), line.size());
  return {line.substr(0, space), space < line.size() ? line.substr(space + 1) : ""};
}

}  // namespace aotc::cores::riscv
