// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "signature.h"
#include "support/json.h"

namespace aotc::analyze {

namespace {

using Json = nlohmann::ordered_json;

std::string_view convention_of(const Function& f) { return f.convention ? name_of(*f.convention) : "other"; }

const char* name_of(Linkage l) {
  return l == Linkage::kExternal ? "external" : l == Linkage::kStatic ? "static" : "c++";
}

const char* name_of(Severity s) {
  return s == Severity::kError ? "error" : s == Severity::kWarning ? "warning" : "note";
}

// Safe to show on a line of a terminal, with quotes as they are.
std::string shown(const std::string& text) {
  std::string out;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find('\'', begin), text.size());
    out += escape_for_display(text.substr(begin, end - begin), 4000);
    if (end < text.size()) out += '\'';
    begin = end + 1;
  }
  return out;
}

Json json_of(const Function& f) {
  Json parameters = Json::array();
  for (const Parameter& p : f.parameters)
    parameters.push_back(
        {{"name", p.name}, {"type", p.type}, {"pointee", p.pointee}, {"const", p.is_const}, {"element", p.element}});
  Json out = {{"name", f.name},
              {"file", f.file},
              {"line", f.line},
              {"column", f.column},
              {"convention", convention_of(f)},
              {"linkage", name_of(f.linkage)},
              {"definition", f.definition},
              {"weak", f.weak},
              {"returns", f.returns},
              {"parameters", std::move(parameters)}};
  if (f.unit != f.file) out["unit"] = f.unit;
  if (!f.why.empty()) out["why"] = f.why;
  return out;
}

}  // namespace

std::string json_text(const Findings& findings) {
  Json functions = Json::array();
  for (const Function& f : findings.functions) functions.push_back(json_of(f));
  Json messages = Json::array();
  for (const SourceMessage& m : findings.messages) {
    messages.push_back({{"file", m.file},
                        {"line", m.line},
                        {"column", m.column},
                        {"severity", name_of(m.severity)},
                        {"message", shown(m.message)}});
    if (!m.slug.empty()) messages.back()["slug"] = m.slug;
  }
  Json all = {{"functions", std::move(functions)}, {"diagnostics", std::move(messages)}};
  // Names and messages may quote bytes of a source that are no UTF-8.
  return aotc::json_text(all, 1) + "\n";
}

std::string lines_text(const Findings& findings) {
  std::string out;
  for (const Function& f : findings.functions) {
    std::string notes = f.why.empty() ? "" : f.why;
    auto add = [&](const char* text) { notes += (notes.empty() ? "" : "; ") + std::string(text); };
    if (f.linkage == Linkage::kStatic) add("static");
    if (!f.definition) add("only declared");
    if (f.weak) add("weak");
    out += shown(fmt::format("{}:{}: {}: {}{}, {}", f.file, f.line, f.name, convention_of(f),
                             notes.empty() ? "" : " (" + notes + ")", prototype_of(f)));
    out += "\n";
  }
  return out;
}

Diagnostics diagnostics_of(const Findings& findings) {
  Diagnostics diags;
  Diagnostic* last = nullptr;
  for (const SourceMessage& m : findings.messages) {
    Location where;
    where.file = m.file;
    where.line = m.line;
    where.column = m.column;
    std::string text = shown(m.message);
    if (m.severity == Severity::kNote) {
      if (last != nullptr) last->note(fmt::format("{}: {}", where.str(), text));
      continue;
    }
    last = m.severity == Severity::kError ? &diags.error(where, m.slug, text) : &diags.warning(where, m.slug, text);
    if (m.message.ends_with("file not found"))
      last->help("name the directory of the header with -I ('aotc analyze ranges': --operator-include)");
  }
  return diags;
}

}  // namespace aotc::analyze
