// SPDX-License-Identifier: Apache-2.0
// Attributes the bytes of a linked program to functions and objects. Every byte of every section is in exactly one row,
// so the sum of the rows equals the output of `size -A`. Bytes without a name have rows of their own.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "machine/elf.h"

namespace aotc::machine {

enum class ByteKind { kCode, kConstants, kData, kZero };  // kData occupies both flash and RAM

struct SizeRow {
  std::string name;    // of a function, object or linker input section; or "padding"
  std::string object;  // object file of the bytes, if the linker's map file names it
  int section = 0;
  int64_t bytes = 0;
  ByteKind kind = ByteKind::kCode;
  std::vector<std::string> layers;  // layers of the model to which the function belongs
  std::string part;                 // "model", "library", "start-up", "application", "padding", "unknown"
};

struct SizeTotals {
  int64_t code = 0, constants = 0, data = 0, zero = 0;
  int64_t flash() const { return code + constants + data; }
  int64_t ram() const { return data + zero; }
};

struct SizeReport {
  std::vector<SizeRow> rows;  // sorted by size, largest first
  SizeTotals totals;
};

// An input section in the map file that GNU ld writes (-Wl,-Map). LinkerMap: input sections by address.
struct InputSection {
  std::string name, object;
  uint32_t size = 0;
};
using LinkerMap = std::map<uint32_t, InputSection>;
LinkerMap parse_linker_map(const std::string& text);

// The functions of the emitted C and the layers that call them, read from aotc's source map (NAME.map.json).
struct ModelFunctions {
  std::string prefix;
  std::map<std::string, std::vector<std::string>> layers;
  std::vector<std::string> calls;      // the layer of each operator call
  std::vector<std::string> functions;  // the function of each operator call
};
// Reports [source-map-invalid].
Result<ModelFunctions> read_model_functions(const std::string& path, Diagnostics& diags);

SizeReport size_of(const Elf& elf, const LinkerMap& map, const ModelFunctions& model);

const char* word_for(ByteKind kind);
std::string size_text(const Elf& elf, const SizeReport& report, size_t most_rows);
nlohmann::ordered_json size_json(const Elf& elf, const SizeReport& report);
// The change of a function's size from an older program. `changes` sorts by absolute change, largest first.
struct SizeChange {
  std::string name;
  int64_t before = 0, now = 0;
};
std::vector<SizeChange> changes(const Elf& old_elf, const SizeReport& before, const Elf& elf, const SizeReport& now);

}  // namespace aotc::machine
