// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/thumb_text.h"

#include <cstdlib>
#include <utility>

namespace aotc::cores::arm {

int register_of(const std::string& text) {
  if (text == "sp") return 13;
  if (text == "lr") return 14;
  if (text == "pc") return 15;
  if (text.size() < 2 || text[0] != 'r') return -1;
  return std::atoi(text.c_str() + 1);
}

namespace {

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of(' '), to = text.find_last_not_of(' ');
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

}  // namespace

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> out;
  std::string piece;
  int depth = 0;
  for (char c : text) {
    depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    if (c == ',' && depth == 0) out.push_back(trimmed(std::exchange(piece, {})));
    else piece += c;
  }
  if (!trimmed(piece).empty()) out.push_back(trimmed(piece));
  return out;
}

std::vector<std::string> written_out(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  std::vector<std::pair<size_t, int64_t>> repeats;  // where each begins, and how often; one may hold others
  for (const std::string& line : lines) {
    if (line.starts_with(".rept ")) {
      repeats.emplace_back(out.size(), std::atoll(line.c_str() + 6));
    } else if (line == ".endr" && !repeats.empty()) {
      const auto [begin, times] = repeats.back();
      repeats.pop_back();
      const std::vector<std::string> body(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
      for (int64_t t = 1; t < times; ++t) out.insert(out.end(), body.begin(), body.end());
    } else {
      out.push_back(line);
    }
  }
  return out;
}

namespace {

TextOperand address_of(const std::string& inside) {
  TextOperand out;
  out.kind = TextOperand::kAddress;
  const std::vector<std::string> parts = pieces_of(inside);
  out.reg = register_of(parts[0]);
  if (parts.size() > 1 && parts[1][0] == '#') out.number = std::atoll(parts[1].c_str() + 1);
  if (parts.size() > 1 && parts[1][0] != '#') out.index = register_of(parts[1]);
  return out;
}

TextOperand list_of(const std::string& inside) {
  TextOperand out;
  out.kind = TextOperand::kList;
  for (const std::string& part : pieces_of(inside)) {
    ++out.number;
    const size_t dash = part.find('-');
    const int first = register_of(part.substr(0, dash));
    const int last = dash == std::string::npos ? first : register_of(part.substr(dash + 1));
    for (int r = first; r <= last; ++r) out.list.push_back(r);
  }
  return out;
}

}  // namespace

TextOperand operand_of(const std::string& text) {
  TextOperand out;
  if (text[0] == '[') {
    out = address_of(text.substr(1, text.find(']') - 1));
    out.write_back = text.back() == '!';
    return out;
  }
  if (text[0] == '{') return list_of(text.substr(1, text.find('}') - 1));
  if (text[0] == '#') {
    out.number = std::atoll(text.c_str() + 1);
    return out;
  }
  out.write_back = text.back() == '!';
  out.reg = register_of(out.write_back ? text.substr(0, text.size() - 1) : text);
  out.kind = out.reg >= 0                       ? TextOperand::kRegister
             : text[0] >= '0' && text[0] <= '9' ? TextOperand::kLabel
                                                : TextOperand::kShift;
  if (const size_t sharp = text.find('#'); out.kind == TextOperand::kShift && sharp != std::string::npos)
    out.number = std::atoll(text.c_str() + sharp + 1);
  return out;
}

}  // namespace aotc::cores::arm
