// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_layout.h"

#include <algorithm>
#include <vector>

namespace aotc::codegen {

namespace {

size_t indent_of(std::string_view line) {
  const size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? line.size() : first;
}

// Where a string, a character or a comment that begins at `at` ends; `at` if there is none.
size_t behind_literal(std::string_view line, size_t at) {
  if (line.substr(at, 2) == "/*") {
    const size_t end = line.find("*/", at + 2);
    return end == std::string_view::npos ? line.size() : end + 2;
  }
  if (line[at] != '"' && line[at] != '\'') return at;
  for (size_t i = at + 1; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == line[at]) {
      return i + 1;
    }
  }
  return line.size();
}

// Is the word in front of the space an operator of two operands, or does it end with what
// separates?
bool ends_well(std::string_view line, size_t space) {
  const size_t before = line.rfind(' ', space - 1);
  if (space == 0 || before == std::string_view::npos) return false;
  const std::string_view word = line.substr(before + 1, space - before - 1);
  if (word.empty()) return false;
  return word.back() == ',' || word.back() == ';' || word.find_first_not_of("+-*/%&|^=<>?:!") == std::string_view::npos;
}

// The space to break at: in as few brackets as possible, the last such one that fits. 0: none.
size_t place_to_break(std::string_view line, size_t from) {
  size_t best = 0, assigned = 0;
  int depth = 0, best_depth = 0;
  for (size_t i = from; i < line.size() && i <= kCColumns;) {
    if (const size_t behind = behind_literal(line, i); behind > i) {
      i = behind;
      continue;
    }
    const char c = line[i];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == ' ' && i > from && ends_well(line, i)) {
      // Little is won by a break behind "=" if what follows is too long for a line as well.
      if (line.substr(i - 2, 2) == " =" && line.size() - i + from + 4 > kCColumns) {
        assigned = i;
      } else if (best == 0 || depth <= best_depth) {
        best = i;
        best_depth = depth;
      }
    }
    ++i;
  }
  return best == 0 ? assigned : best;
}

// A line of a list: what it goes on with stands further in than it begins.
bool is_item(std::string_view comment) {
  const size_t text = comment.find_first_not_of("/* ");
  if (text == std::string_view::npos) return false;
  const std::string_view words = comment.substr(text);
  return words.starts_with("call ") || words.substr(0, words.find(' ')).ends_with(':');
}

std::string fold_comment(std::string_view line) {
  const size_t indent = indent_of(line);
  // Behind "/*" and " *" alike the words begin two columns in.
  const bool inside = line.substr(indent, 2) != "/*";
  std::string pad = std::string(inside ? indent : indent + 1, ' ') + "* ";
  if (is_item(line.substr(indent))) pad += "    ";
  std::string out, rest(line);
  for (size_t words = indent + 2; rest.size() > kCColumns; words = pad.size()) {
    const size_t space = rest.rfind(' ', kCColumns);
    if (space == std::string::npos || space <= words) break;
    out += rest.substr(0, space) + "\n";
    rest = pad + rest.substr(space + 1);
  }
  return out + rest;
}

}  // namespace

std::string fold_line(std::string_view line) {
  if (line.size() <= kCColumns) return std::string(line);
  const size_t indent = indent_of(line);
  if (indent == line.size() || line[indent] == '#') return std::string(line);
  if (line.substr(indent, 2) == "/*" && line.ends_with("*/")) return fold_comment(line);
  const std::string pad(indent + (line.ends_with('{') ? 8 : 4), ' ');
  std::string out, rest(line);
  size_t from = indent;
  while (rest.size() > kCColumns) {
    const size_t behind = place_to_break(rest, from);
    if (behind == 0) {
      // A name of the user's that is nearly as long as a line: what it is given begins on the next.
      const size_t bracket = rest.find('(', from);
      if (bracket == std::string::npos || bracket >= kCColumns || bracket + 1 <= pad.size()) break;
      out += rest.substr(0, bracket + 1) + "\n";
      rest = pad + rest.substr(bracket + 1);
    } else {
      out += rest.substr(0, behind) + "\n";
      rest = pad + rest.substr(behind + 1);
    }
    from = pad.size();
    if (rest.compare(from, 2, "/*") == 0) return out + fold_comment(rest);
  }
  return out + rest;
}

namespace {

// Words of a comment's line that goes on with the sentence of the line before; nothing if it begins one.
std::string_view words_that_go_on(std::string_view line, size_t indent) {
  if (indent_of(line) != indent || line.substr(indent, 2) != "* " || line.size() < indent + 3) return {};
  const std::string_view words = line.substr(indent + 2);
  return words[0] >= 'a' && words[0] <= 'z' && !is_item(words) ? words : std::string_view();
}

// What does not fit in a comment's line begins the next one, where that goes on with the sentence: true. The next
// line then is `next`.
bool hand_on_words(std::string& line, std::string& next) {
  const bool first = line.compare(indent_of(line), 2, "/*") == 0;
  const size_t indent = indent_of(line) + (first ? 1 : 0), words = indent_of(line) + (first ? 3 : 2);
  if (line.size() <= words || line[words] == ' ' || is_item(std::string_view(line).substr(indent_of(line))))
    return false;
  const std::string_view behind = words_that_go_on(next, indent);
  const size_t space = line.rfind(' ', kCColumns);
  if (behind.empty() || space == std::string::npos || space <= words) return false;
  next = std::string(indent, ' ') + "* " + line.substr(space + 1) + " " + std::string(behind);
  line.resize(space);
  return true;
}

// A line of a directive that goes on behind the end of a line, or of one that began above.
std::string fold_continued(std::string_view line) {
  const bool goes_on = line.ends_with('\\');
  if (goes_on) line.remove_suffix(line.ends_with(" \\") ? 2 : 1);
  std::string out;
  for (const char c : fold_line(line)) out += c == '\n' ? " \\\n" : std::string(1, c);
  return out + (goes_on ? " \\" : "");
}

}  // namespace

std::string fold_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t from = 0; from <= text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    lines.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  std::string out;
  bool in_comment = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    std::string& line = lines[i];
    const size_t opened = line.rfind("/*"), closed = line.rfind("*/");
    const bool open = opened != std::string::npos, close = closed != std::string::npos;
    const bool was_in_comment = in_comment;
    if (open || close) in_comment = open && (!close || opened > closed);
    const bool comment = was_in_comment || (line.compare(indent_of(line), 2, "/*") == 0 && in_comment);
    const bool continued = i > 0 && lines[i - 1].ends_with('\\');
    if (comment && in_comment && line.size() > kCColumns && i + 1 < lines.size()) hand_on_words(line, lines[i + 1]);
    out += continued && line.size() > kCColumns ? fold_continued(line)
           : comment && line.size() > kCColumns ? fold_comment(line)
                                                : fold_line(line);
    if (i + 1 < lines.size()) out += '\n';
  }
  return out;
}

std::string fold_prototype(const std::string& prototype) {
  std::vector<std::string> parameters;
  const size_t first = prototype.find('(') + 1;
  size_t longest = 0;
  for (size_t at = first; at < prototype.size();) {
    const size_t end = std::min(prototype.find(", ", at), prototype.size() - 1) + 1;
    parameters.push_back(prototype.substr(at, end - at));
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  const std::string pad(first + longest > kCColumns ? 8 : first, ' ');
  std::string out = prototype.substr(0, first);
  size_t column = first;
  bool is_first = true;
  for (const std::string& parameter : parameters) {
    const bool fits = column + (is_first ? 0 : 1) + parameter.size() <= kCColumns;
    if (!fits) out += "\n" + pad;
    else if (!is_first) out += " ";
    column = (fits ? column + (is_first ? 0 : 1) : pad.size()) + parameter.size();
    out += parameter;
    is_first = false;
  }
  return out;
}

}  // namespace aotc::codegen
