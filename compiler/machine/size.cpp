// SPDX-License-Identifier: Apache-2.0
#include "machine/size.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machine/value.h"
#include "support/files.h"
#include "support/json.h"
#include "support/text.h"

namespace aotc::machine {

namespace {

using Json = nlohmann::ordered_json;

// What is shorter and between two rows is there to align the second.
constexpr uint32_t kLargestPadding = 8;

struct Span {
  uint32_t begin = 0, end = 0;
  std::string name;
};

ByteKind kind_of(const Section& s) {
  if (s.executable()) return s.has_bytes() ? ByteKind::kCode : ByteKind::kZero;
  if (!s.writable()) return s.has_bytes() ? ByteKind::kConstants : ByteKind::kZero;
  return s.has_bytes() ? ByteKind::kData : ByteKind::kZero;
}

// Functions and objects of a section, in order, none over another. Labels of assembly without a size go to the
// next symbol.
std::vector<Span> named_spans(const Elf& elf, int section) {
  const Section& s = elf.sections()[static_cast<size_t>(section)];
  std::vector<const Symbol*> symbols;
  for (const Symbol& symbol : elf.symbols())
    if (symbol.section == section && symbol.kind != SymbolKind::kFile && s.contains(symbol.address))
      symbols.push_back(&symbol);
  std::vector<Span> out;
  uint32_t covered = s.address;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const Symbol& symbol = *symbols[i];
    uint32_t size = symbol.size;
    const bool label = size == 0 && symbol.kind == SymbolKind::kFunction;
    if (label) {
      size = s.address + s.size - symbol.address;
      for (size_t n = i + 1; n < symbols.size(); ++n)
        if (symbols[n]->address > symbol.address) {
          size = symbols[n]->address - symbol.address;
          break;
        }
    }
    const uint64_t end = std::min<uint64_t>(uint64_t{symbol.address} + size, uint64_t{s.address} + s.size);
    const uint32_t begin = std::max(covered, symbol.address);
    if (end <= begin) continue;
    out.push_back({begin, static_cast<uint32_t>(end), symbol.name});
    covered = static_cast<uint32_t>(end);
  }
  return out;
}

bool is_library(const std::string& object) { return object.find(".a(") != std::string::npos; }

bool is_start(const std::string& object, const std::string& section) {
  const std::string file = object.substr(object.rfind('/') + 1);
  return file.starts_with("crt") || section.find("vector") != std::string::npos || section == ".init" ||
         section == ".fini" || section == ".ARM.exidx" || section.starts_with(".eh_frame");
}

// "conv.constprop.0" and "conv.part.1" are of conv.
std::string base_name(const std::string& name) { return name.substr(0, name.find('.')); }

class Sizing {
 public:
  Sizing(const Elf& elf, const LinkerMap& map, const ModelFunctions& model) : elf_(elf), map_(map), model_(model) {
    for (size_t i = 0; i < elf.sections().size(); ++i)
      if (elf.sections()[i].allocated() && elf.sections()[i].size > 0) add_section(static_cast<int>(i));
    std::stable_sort(out_.rows.begin(), out_.rows.end(),
                     [](const SizeRow& a, const SizeRow& b) { return a.bytes > b.bytes; });
  }

  SizeReport take() { return std::move(out_); }

 private:
  void add_section(int section) {
    const Section& s = elf_.sections()[static_cast<size_t>(section)];
    uint32_t at = s.address;
    for (const Span& span : named_spans(elf_, section)) {
      unnamed(section, at, span.begin);
      add(section, span.name, span.begin, span.end);
      at = span.end;
    }
    unnamed(section, at, s.address + s.size);
  }

  // The linker's input section around an address, or the map's end.
  LinkerMap::const_iterator input_at(uint32_t address) const {
    auto behind = map_.upper_bound(address);
    if (behind == map_.begin()) return map_.end();
    auto input = std::prev(behind);
    return address - input->first < input->second.size ? input : map_.end();
  }

  // Between symbols: the linker's input sections, and what fills up.
  void unnamed(int section, uint32_t from, uint32_t to) {
    while (from < to) {
      auto behind = map_.upper_bound(from);
      uint32_t end = behind == map_.end() ? to : std::min(to, behind->first);
      if (auto input = input_at(from); input != map_.end()) {
        end = std::min(end, input->first + input->second.size);
        add(section, end - from < kLargestPadding ? "" : input->second.name, from, end);
      } else {
        add(section, end - from < kLargestPadding ? "" : "?", from, end);
      }
      from = end;
    }
  }

  void add(int section, const std::string& name, uint32_t from, uint32_t to) {
    const Section& s = elf_.sections()[static_cast<size_t>(section)];
    SizeRow row;
    row.section = section;
    row.bytes = int64_t{to} - from;
    row.kind = kind_of(s);
    row.name = name.empty() ? "padding" : name == "?" ? "unnamed in " + s.name : name;
    if (auto input = input_at(from); input != map_.end()) row.object = input->second.object;
    row.part = part_of(row, name, s);
    (row.kind == ByteKind::kCode        ? out_.totals.code
     : row.kind == ByteKind::kConstants ? out_.totals.constants
     : row.kind == ByteKind::kData      ? out_.totals.data
                                        : out_.totals.zero) += row.bytes;
    merge(std::move(row));
  }

  std::string part_of(SizeRow& row, const std::string& name, const Section& s) const {
    if (name.empty()) return "padding";
    auto layers = model_.layers.find(base_name(name));
    if (layers != model_.layers.end()) row.layers = layers->second;
    // Constants of one call: kws_call3_stream.
    const std::string call = model_.prefix + "_call";
    if (name.starts_with(call)) {
      const size_t end = name.find('_', call.size());
      auto index = number_in(name.substr(call.size(), end == std::string::npos ? end : end - call.size()));
      if (index && *index >= 0 && static_cast<size_t>(*index) < model_.calls.size())
        row.layers = {model_.calls[static_cast<size_t>(*index)]};
    }
    if (!model_.prefix.empty() && name.starts_with(model_.prefix + "_")) return "model";
    if (is_start(row.object, s.name)) return "start-up";
    if (is_library(row.object)) return "library";
    // A whole section that is reserved, such as a stack or an arena, has the section's name.
    if (name == "?" && s.size == row.bytes) {
      row.name = s.name;
      return "application";
    }
    return name == "?" ? "unknown" : "application";
  }

  // All padding of a section is one row.
  void merge(SizeRow row) {
    if (row.part == "padding")
      for (SizeRow& r : out_.rows)
        if (r.part == row.part && r.section == row.section) {
          r.bytes += row.bytes;
          return;
        }
    out_.rows.push_back(std::move(row));
  }

  const Elf& elf_;
  const LinkerMap& map_;
  const ModelFunctions& model_;
  SizeReport out_;
};

std::optional<uint32_t> address_in(const std::string& word) {
  auto value = word.starts_with("0x") ? number_in(word) : std::nullopt;
  if (!value || *value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(*value);
}

std::string row_label(const SizeRow& row) {
  std::string out = escape_for_display(row.name, 60);
  if (!row.layers.empty()) out += " (" + joined(row.layers, ", ") + ")";
  return out;
}

}  // namespace

const char* word_for(ByteKind kind) {
  switch (kind) {
    case ByteKind::kCode: return "code";
    case ByteKind::kConstants: return "constants";
    case ByteKind::kData: return "data";
    case ByteKind::kZero: break;
  }
  return "zero";
}

// " .text.main  0x00008000  0x1c main.o"; long names have a line of their own.
LinkerMap parse_linker_map(const std::string& text) {
  LinkerMap out;
  size_t begin = text.find("Linker script and memory map");
  if (begin == std::string::npos) return out;
  std::istringstream lines(text.substr(begin));
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, address, size, object;
    const bool starts = line.size() > 2 && line[0] == ' ' && line[1] != ' ';
    const bool goes_on = !name.empty() && line.starts_with("                ");
    if (!starts && !goes_on) {
      name.clear();
      continue;
    }
    if (starts) {
      words >> first;
      name = first;
    }
    if (!(words >> address)) continue;
    words >> size >> std::ws;
    std::getline(words, object);
    auto at = address_in(address), bytes = address_in(size);
    if (at && bytes && *bytes > 0 && !object.empty() && name[0] != '*') out[*at] = {name, object, *bytes};
    name.clear();
  }
  return out;
}

Result<ModelFunctions> read_model_functions(const std::string& path, Diagnostics& diags) {
  auto bytes = read_file(path, diags);
  if (!bytes) return kFailure;
  Location where;
  where.file = path;
  ModelFunctions out;
  Json j;
  const bool is_map = !parse_json(std::string_view(reinterpret_cast<const char*>(bytes->data()), bytes->size()), j) &&
                      j.is_object() && j.contains("file") && j["file"].is_string() && j.contains("calls") &&
                      j["calls"].is_array();
  if (!is_map) {
    diags.error(where, "source-map-invalid", "the file is not a source map")
        .help("aotc writes the source map beside the C as NAME.map.json");
    return kFailure;
  }
  out.prefix = base_name(j["file"].get<std::string>());
  for (const Json& call : j["calls"]) {
    auto text = [&](const char* key) {
      return call.is_object() && call.contains(key) && call[key].is_string() ? call[key].get<std::string>() : "";
    };
    const Json index = call.is_object() && call.contains("op_index") ? call["op_index"] : Json();
    const std::string layer = (index.is_number_integer() ? fmt::format("op {} ", index.get<int64_t>()) : "") +
                              escape_for_display(text("op_type"), 40);
    out.layers[text("function")].push_back(layer);
    out.calls.push_back(layer);
    out.functions.push_back(text("function"));
  }
  return out;
}

SizeReport size_of(const Elf& elf, const LinkerMap& map, const ModelFunctions& model) {
  return Sizing(elf, map, model).take();
}

std::string size_text(const Elf& elf, const SizeReport& report, size_t most_rows) {
  std::string out = fmt::format("{:<24} {:>10}  {:<10}\n", "section", "bytes", "address");
  for (const Section& s : elf.sections())
    if (s.allocated() && s.size > 0)
      out += fmt::format("{:<24} {:>10}  {:<#10x}  {}\n", escape_for_display(s.name, 24), with_commas(s.size),
                         s.address, word_for(kind_of(s)));
  const SizeTotals& t = report.totals;
  out += fmt::format("flash {} bytes: code {}, constants {}, data {}\n", with_commas(t.flash()), with_commas(t.code),
                     with_commas(t.constants), with_commas(t.data));
  out +=
      fmt::format("RAM {} bytes: data {}, zero {}\n", with_commas(t.ram()), with_commas(t.data), with_commas(t.zero));
  std::map<std::string, int64_t> parts;
  for (const SizeRow& r : report.rows)
    if (r.kind != ByteKind::kZero) parts[r.part] += r.bytes;
  out += "of the flash:";
  for (auto& [part, bytes] : parts)
    out += fmt::format(" {} {}{}", part, with_commas(bytes), part == parts.rbegin()->first ? "\n" : ",");
  for (size_t i = 0; i < std::min(most_rows, report.rows.size()); ++i) {
    const SizeRow& r = report.rows[i];
    out += fmt::format("{:>10}  {:<9} {:<11} {}\n", with_commas(r.bytes), word_for(r.kind), r.part, row_label(r));
  }
  if (report.rows.size() > most_rows) out += fmt::format("and {} more rows: --all\n", report.rows.size() - most_rows);
  return out;
}

nlohmann::ordered_json size_json(const Elf& elf, const SizeReport& report) {
  Json j;
  j["file"] = elf.file();
  j["sections"] = Json::array();
  for (const Section& s : elf.sections())
    if (s.allocated() && s.size > 0)
      j["sections"].push_back({{"name", escape_for_display(s.name)},
                               {"address", s.address},
                               {"bytes", s.size},
                               {"kind", word_for(kind_of(s))}});
  const SizeTotals& t = report.totals;
  j["totals"] = {{"code", t.code}, {"constants", t.constants}, {"data", t.data},
                 {"zero", t.zero}, {"flash", t.flash()},       {"ram", t.ram()}};
  j["rows"] = Json::array();
  for (const SizeRow& r : report.rows) {
    Json row = {{"name", escape_for_display(r.name)},
                {"section", escape_for_display(elf.sections()[static_cast<size_t>(r.section)].name)},
                {"bytes", r.bytes},
                {"kind", word_for(r.kind)},
                {"part", r.part}};
    if (!r.object.empty()) row["object"] = escape_for_display(r.object, 300);
    if (!r.layers.empty()) row["layers"] = r.layers;
    j["rows"].push_back(std::move(row));
  }
  return j;
}

std::vector<SizeChange> changes(const Elf& old_elf, const SizeReport& before, const Elf& elf, const SizeReport& now) {
  std::map<std::string, SizeChange> all;
  auto key = [](const Elf& of, const SizeRow& r) {
    return escape_for_display(r.name) + " in " + escape_for_display(of.sections()[static_cast<size_t>(r.section)].name);
  };
  for (const SizeRow& r : before.rows) all[key(old_elf, r)].before += r.bytes;
  for (const SizeRow& r : now.rows) all[key(elf, r)].now += r.bytes;
  std::vector<SizeChange> out;
  for (auto& [name, c] : all)
    if (c.before != c.now) out.push_back({name, c.before, c.now});
  std::stable_sort(out.begin(), out.end(), [](const SizeChange& a, const SizeChange& b) {
    return std::abs(a.now - a.before) > std::abs(b.now - b.before);
  });
  return out;
}

}  // namespace aotc::machine
