// SPDX-License-Identifier: Apache-2.0
#include "options/options.h"

#include "support/streams.h"
#include "support/text.h"

namespace aotc::options {

namespace {

bool has_letters(const std::string& text) { return text.find_first_not_of("0123456789") != std::string::npos; }

}  // namespace

bool Option::is_flag() const { return std::holds_alternative<bool*>(target) || std::holds_alternative<Action>(target); }

bool Option::is_list() const {
  return std::holds_alternative<std::vector<std::string>*>(target) || std::holds_alternative<Setter>(target);
}

std::vector<std::string> Option::all_names() const {
  std::vector<std::string> out(1);
  for (char c : names) {
    if (c == ',') out.emplace_back();
    else out.back() += c;
  }
  return out;
}

std::string Option::value_text() const {
  if (is_flag()) return "";
  if (const Choice* choice = std::get_if<Choice>(&target)) return joined(choice->words, "|");
  return value.empty() ? "VALUE" : value;
}

std::string Option::usage() const {
  if (is_argument()) return names + (is_list() ? "..." : "");
  const std::string text = value_text();
  return joined(all_names(), ", ") + (text.empty() ? "" : " " + text);
}

std::string Option::default_text() const {
  if (const Choice* choice = std::get_if<Choice>(&target)) return choice->preset;
  if (auto* text = std::get_if<std::string*>(&target)) return **text;
  std::string number;
  if (auto* i = std::get_if<int*>(&target)) number = std::to_string(**i);
  if (auto* i = std::get_if<int64_t*>(&target)) number = std::to_string(**i);
  if (auto* i = std::get_if<uint32_t*>(&target)) number = std::to_string(**i);
  if (auto* i = std::get_if<uint64_t*>(&target)) number = std::to_string(**i);
  // A negative number, or the largest, stands for "not given".
  return has_letters(number) || number.size() > 18 ? "" : number;
}

std::string Option::remark() const {
  if (is_list() && !is_argument()) return "may be repeated";
  const std::string preset = default_text();
  return preset.empty() ? "" : "default: " + preset;
}

std::string Option::full_help() const {
  const std::string more = remark();
  return more.empty() ? help : help + " (" + more + ")";
}

std::vector<std::string> Option::words() const {
  if (const Choice* choice = std::get_if<Choice>(&target)) return choice->words;
  return offers ? offers() : std::vector<std::string>();
}

std::vector<const Option*> Command::all_options() const {
  std::vector<const Option*> out;
  for (const Option& o : options) out.push_back(&o);
  for (const Group& g : groups)
    for (const Option& o : g.options) out.push_back(&o);
  return out;
}

std::vector<std::string> Command::option_names() const {
  std::vector<std::string> out = {"--help", "--help-all"};
  if (!version.empty()) out.push_back("--version");
  for (const Option* o : all_options())
    if (!o->is_argument())
      for (const std::string& spelling : o->all_names()) out.push_back(spelling);
  return out;
}

const Command* Command::find(const std::string& wanted) const {
  for (const Command& c : commands)
    if (c.name == wanted) return &c;
  return nullptr;
}

std::string title_of(const Path& path) {
  std::string out;
  for (const Command* c : path) out += (out.empty() ? "" : " ") + c->name;
  return out;
}

Choice one_of(std::string* target, std::vector<std::string> words) {
  return {std::move(words), *target, [target](const std::string& given) { *target = given; },
          [target] { return *target; }};
}

int usage_error(const std::string& title, const std::string& text, const std::vector<std::string>& helps) {
  print_err("{}: error: {} [usage]\n", title, text);
  for (const std::string& help : helps) print_err("  help: {}\n", help);
  return kUsage;
}

}  // namespace aotc::options
