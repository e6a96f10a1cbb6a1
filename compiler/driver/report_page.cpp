// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <fmt/format.h>

#include "project/embedded.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// A file of driver/page without its first line, which is the licence's; the page has one of its own.
std::string part(const char* name) {
  const project::EmbeddedFile* file = project::find_embedded(std::string("compiler/driver/page/") + name);
  return file == nullptr ? "" : std::string(file->content.substr(file->content.find('\n') + 1));
}

// Into a place that is there once.
void put(std::string& page, const std::string& mark, const std::string& text) {
  if (const size_t at = page.find(mark); at != std::string::npos) page.replace(at, mark.size(), text);
}

// No "</script" and no "<!--" whatever a string says; the same value when it is parsed.
std::string inside_script(const std::string& json) {
  std::string out;
  out.reserve(json.size() + json.size() / 32);
  for (char c : json)
    if (c == '<') out += "\\u003c";
    else out += c;
  return out;
}

// Indentation by tabs takes a quarter of the bytes.
constexpr const char* kBlanks = "    ";

// C as text within a script: nothing that ends one or begins a comment.
std::string source_script(const std::string& c, bool tabs) {
  std::string out;
  out.reserve(c.size());
  for (size_t i = 0; i < c.size(); ++i) {
    const bool begins = i == 0 || c[i - 1] == '\n';
    for (; begins && tabs && c.compare(i, 4, kBlanks) == 0; i += 4) out += '\t';
    if (i == c.size()) break;
    out += c[i];
    if (c[i] == '<' && i + 1 < c.size() && std::string_view("/!\\").find(c[i + 1]) != std::string_view::npos)
      out += '\\';
  }
  return out;
}

std::string html_text(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string number_of(const ReportJson& object, const char* key) {
  auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? with_commas(it->get<int64_t>()) : "";
}

std::string shape_of(const ReportJson& layer) {
  std::string out;
  if (!layer.contains("results") || layer["results"].empty()) return out;
  for (const ReportJson& d : layer["results"][0]["shape"])
    out += (out.empty() ? "" : "x") + std::to_string(d.get<int64_t>());
  return out.empty() ? "scalar" : out;
}

std::string tensor_of(const ReportJson& layer) {
  return layer.contains("results") && !layer["results"].empty() ? text_at(layer["results"][0], "tensor") : "";
}

// In a cell of a table: as text, on one line.
std::string cell(const std::string& text) {
  std::string out;
  for (char c : html_text(text)) {
    if (std::string_view("\\`*_[]|~#!").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// A name that a spreadsheet would take for a formula begins with an apostrophe.
std::string field(const std::string& name) {
  const std::string text =
      !name.empty() && std::string_view("=+-@\t\r").find(name[0]) != std::string_view::npos ? "'" + name : name;
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string markdown_of_difference(const ReportJson& d) {
  std::string out = fmt::format("\n### Difference to {}, {}\n\n| figure | old | new | change |\n|---|---:|---:|---:|\n",
                                cell(text_at(d["old"], "model")), cell(text_at(d["old"], "options")));
  for (const ReportJson& f : d["totals"]) {
    const auto a = f["old"].get<int64_t>(), b = f["new"].get<int64_t>();
    out += fmt::format("| {} | {} | {} | {}{} |\n", figure_title(f["figure"]), with_commas(a), with_commas(b),
                       b > a ? "+" : "", with_commas(b - a));
  }
  size_t changed = d["layers"].size();
  out += fmt::format("\n{} layers are the same, {} differ.\n", d["same_layers"].get<size_t>(), changed);
  return out;
}

}  // namespace

std::string report_page(const ReportJson& report) {
  std::string page = "<!-- SPDX-License-Identifier: 0BSD -->\n<!DOCTYPE html>\n" + part("page.html");
  put(page, "@TITLE@", html_text(text_at(report, "prefix")));
  put(page, "@CSS@", part("page.css"));
  put(page, "@JS@", part("words.js") + part("page.js") + part("page_more.js"));
  ReportJson data = report;
  std::string source;
  if (data.contains("source") && data["source"].is_object()) {
    source = text_at(data["source"], "text");
    data["source"].erase("text");
  }
  const bool tabs = source.find('\t') == std::string::npos;
  put(page, "@BLANKS@", std::to_string(tabs ? std::string_view(kBlanks).size() : 0));
  put(page, "@SOURCE@", source_script(source, tabs));  // first: its place is behind that of the data
  put(page, "@DATA@", inside_script(json_text(data)));
  return page;
}

std::string report_markdown(const ReportJson& r) {
  const std::string target = !text_at(r, "board").empty() ? text_at(r, "board")
                             : !text_at(r, "cpu").empty() ? text_at(r, "cpu")
                                                          : "any CPU";
  const bool per_iteration = r.value("per_iteration", false);
  std::string out =
      fmt::format("## {} on {}\n\n| figure | value |\n|---|---:|\n", cell(text_at(r, "prefix")), cell(target));
  for (const char* key : {"arena_bytes", "state_bytes", "constants_bytes", "code_bytes", "macs", "estimated_cycles",
                          "estimated_instructions"})
    if (const std::string value = number_of(r, key); !value.empty())
      out += fmt::format("| {}{} | {}{} |\n", figure_title(key),
                         per_iteration && !std::string(key).ends_with("_bytes") ? " per iteration" : "", value,
                         std::string(key).ends_with("_bytes") ? " bytes" : "");
  if (r.contains("counted"))
    out += fmt::format("| cycles, counted in the emulator | {} |\n", number_of(r["counted"], "cycles"));
  if (r.contains("stack"))
    out += fmt::format("| stack, {} | {} bytes |\n", text_at(r["stack"], "state"), number_of(r["stack"], "bytes"));
  if (r.contains("peak")) out += "\nPeak: " + cell(text_at(r["peak"], "text")) + ".\n";
  if (!r["next"].empty()) out += "\n";
  for (const ReportJson& n : r["next"])
    out += fmt::format("- `{}`: {}\n", text_at(n, "option"), cell(text_at(n, "text")));
  if (r.contains("difference")) out += markdown_of_difference(r["difference"]);
  out +=
      "\n<details><summary>Layers</summary>\n\n"
      "| call | operator | result | MACs | cycles, estimated | instructions, estimated | live | scratch | constants |\n"
      "|---:|---|---|---:|---:|---:|---:|---:|---:|\n";
  for (const ReportJson& l : r["layers"])
    out +=
        fmt::format("| {} | {}{} | {} | {} | {} | {} | {} | {} | {} |\n", number_of(l, "call"),
                    cell(text_at(l, "op_type")), l.value("per_iteration", false) ? " (per iteration)" : "", shape_of(l),
                    number_of(l, "macs"), number_of(l, "estimated_cycles"), number_of(l, "estimated_instructions"),
                    number_of(l, "live_bytes"), number_of(l, "scratch_bytes"), number_of(l, "constants_bytes"));
  return out + "\n</details>\n";
}

std::string report_csv(const ReportJson& r) {
  const std::string unit = text_at(r, "unit");
  std::vector<std::string> columns = {"macs",       "estimated_cycles", "estimated_instructions",
                                      "live_bytes", "scratch_bytes",    "constants_bytes"};
  if (!unit.empty()) columns.push_back(unit);
  if (r.contains("counted")) columns.push_back("counted_cycles");
  std::string out = "call,op_index,op_type,function,tensor,shape," + joined(columns, ",") + ",schedule\r\n";
  for (const ReportJson& l : r["layers"]) {
    auto plain = [&](const std::string& key) {
      auto it = l.find(key);
      return it != l.end() && it->is_number_integer() ? std::to_string(it->get<int64_t>()) : "";
    };
    out += plain("call") + "," + plain("op_index") + "," + field(text_at(l, "op_type")) + "," +
           field(text_at(l, "function")) + "," + field(tensor_of(l)) + "," + shape_of(l);
    for (const std::string& c : columns) out += "," + plain(c);
    out += "," + field(text_at(l, "schedule")) + "\r\n";
  }
  return out;
}

}  // namespace aotc::driver
