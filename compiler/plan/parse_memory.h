// SPDX-License-Identifier: Apache-2.0
// What the reader of programs (plan/parse.cpp) knows of memory: places, and the statements that say what there is.
// The one thing to know: a place is not compared with the memory that there is; `verify` does that.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph/text_reader.h"
#include "plan/print.h"

namespace aotc::plan {

using graph::TextPosition;

class MemoryReader : protected graph::TextReader {
 protected:
  static constexpr int64_t kMostBytes = INT32_MAX;

  MemoryReader(const std::string& text, const std::string& file, Diagnostics& diags)
      : TextReader(text, file, "program-parse", diags) {
    program().graph.source_file = file;
    program().devices = passes::DeviceSet().devices;
  }

  Program& program() { return read_.program; }

  Status expect_word(const char* word) {
    return cursor_.accept_word(word) ? success() : Status(fail(fmt::format("expected '{}'", word)));
  }

  Result<int64_t> number(const char* what, int64_t least = 0, int64_t most = kMostBytes) {
    TextPosition at = cursor_.position();
    auto value = parse_int<int64_t>(what);
    if (value && (*value < least || *value > most))
      return fail_at(at, fmt::format("{} is a number from {} to {}", what, least, most));
    return value;
  }

  template <typename T>
  Status number_into(const char* what, T& to, int64_t least = 0, int64_t most = kMostBytes) {
    auto value = number(what, least, most);
    if (!value) return kFailure;
    to = static_cast<T>(*value);
    return success();
  }

  Status offset_into(Storage& to) { return expect('+') ? number_into("an offset", to.offset) : Status(kFailure); }

  Result<Storage> place() {
    TextPosition at = cursor_.position();
    const std::string_view word = cursor_.word();
    Storage s;
    if (word == "nothing") return s;
    for (const auto& [kind, name] : {std::pair{StorageKind::kInput, "input"},
                                     {StorageKind::kOutput, "output"},
                                     {StorageKind::kConstant, "table"}}) {
      if (word != name) continue;
      s.kind = kind;
      s.pool = kind == StorageKind::kConstant ? -1 : 0;
      if (!number_into("an index", s.index)) return kFailure;
      return s;
    }
    s.kind = word == "state" ? StorageKind::kState : StorageKind::kArena;
    if (word == "pool") {
      if (!number_into("a pool", s.pool)) return kFailure;
    } else if (word != "state") {
      const auto known =
          std::find_if(program().pools.begin(), program().pools.end(), [&](const Pool& p) { return p.name == word; });
      if (known == program().pools.end())
        return fail_at(at, fmt::format("expected a place such as 'arena + 8', found '{}'", shown(word)),
                       "places are pools with an offset, 'state + 8', 'input 0', 'output 0', 'table 0' and 'nothing'");
      s.pool = static_cast<int>(known - program().pools.begin());
    }
    if (!offset_into(s)) return kFailure;
    return s;
  }

  Status bounded(const graph::Shape& shape, TextPosition at) {
    int64_t elements = 1;
    for (int64_t dim : shape) {
      if (dim < 0 || dim > kMostBytes || (elements *= std::max<int64_t>(dim, 1)) > kMostBytes)
        return fail_at(at, "a shape has more elements than fit into any memory");
    }
    return success();
  }

  Status type(graph::TensorType& to) {
    TextPosition at = cursor_.position();
    return parse_type(to) ? bounded(to.shape, at) : Status(kFailure);
  }

  // "name" type at PLACE
  Status declared(graph::Tensor& tensor, Storage& storage) {
    auto name = parse_string("a name");
    if (!name || !type(tensor.type)) return kFailure;
    tensor.name = std::move(*name);
    if (!expect_word("at")) return kFailure;
    auto where = place();
    if (!where) return kFailure;
    storage = *where;
    return success();
  }

  graph::TensorId add_tensor(graph::Tensor tensor, const Storage& storage) {
    program().tensors.push_back(storage);
    return program().graph.add_tensor(std::move(tensor));
  }

  // Statements, from behind their first word on.
  Status pool() {
    Pool made;
    made.name = std::string(cursor_.word());
    if (made.name.empty()) return fail("expected the pool's name");
    for (const Pool& known : program().pools)
      if (known.name == made.name) return fail_at(here_, fmt::format("pool '{}' is declared twice", shown(made.name)));
    if (!number_into("a size", made.bytes) || !expect_word("bytes")) return kFailure;
    if (cursor_.accept_word("limit") && !number_into("a limit", made.limit)) return kFailure;
    made.fast = cursor_.accept_word("fast");
    made.constants = cursor_.accept_word("constants");
    if (made.constants) program().constant_pool = static_cast<int>(program().pools.size());
    program().arena_bytes += made.bytes;
    program().pools.push_back(std::move(made));
    return success();
  }

  // state N bytes, or state "name" type at state + 0 = value
  Status state() {
    if (!cursor_.next_is('"')) {
      return number_into("a size", program().state_bytes) ? expect_word("bytes") : Status(kFailure);
    }
    graph::Tensor tensor;
    Storage where;
    std::vector<uint8_t> bytes;
    if (!declared(tensor, where) || !parse_value(tensor.type.dtype, bytes)) return kFailure;
    where.index = static_cast<int>(program().states.size());
    const graph::TensorId id = add_tensor(std::move(tensor), where);
    program().graph.states.push_back({id, id, graph::own_bytes(std::move(bytes))});
    program().states.push_back(where);
    program().initial_values.push_back(-1);
    return success();
  }

  Status program_tables() {
    program().program_tables = true;
    return success();
  }

  Status port(std::vector<graph::Port>& ports, std::vector<Storage>& places, Contract& contract) {
    graph::Tensor tensor;
    Storage where;
    if (!declared(tensor, where)) return kFailure;
    if (where.kind == StorageKind::kArena) contract = Contract::kOverwrite;
    const std::string name = tensor.name;
    ports.push_back({add_tensor(std::move(tensor), where), name});
    places.push_back(where);
    return success();
  }
  Status input() { return port(program().graph.inputs, program().inputs, program().input_contract); }
  Status output() { return port(program().graph.outputs, program().outputs, program().output_contract); }

  Status next_index(const char* what, size_t next) {
    auto index = number(what);
    if (index && *index != static_cast<int64_t>(next))
      return fail_at(here_, fmt::format("the next is {} {}, not {}", what, next, *index));
    return index ? success() : Status(kFailure);
  }

  Status table() {
    ProgramConstant made;
    graph::TensorType of;
    if (!next_index("table", program().constants.size())) return kFailure;
    auto name = parse_string("the table's name");
    if (!name || !type(of)) return kFailure;
    made.name = std::move(*name);
    made.data.name = made.name;
    made.data.dtype = of.dtype;
    if (!expect_word("align") || !number_into("an alignment", made.data.alignment, 1, 1 << 20)) return kFailure;
    if (cursor_.accept_word("at") && !number_into("an offset", made.offset)) return kFailure;
    TextPosition at = cursor_.position();
    if (!parse_value(of.dtype, made.data.bytes)) return kFailure;
    if (static_cast<int64_t>(made.data.bytes.size()) != of.bytes())
      return fail_at(at, fmt::format("the table has {} bytes, and its type {}", made.data.bytes.size(), of.bytes()));
    program().constants.push_back(std::move(made));
    return success();
  }

  Status device() {
    if (!next_index("device", program().devices.size())) return kFailure;
    auto name = parse_string("the device's name");
    if (!name) return kFailure;
    program().devices.emplace_back().name = std::move(*name);
    return success();
  }

  // What a place also says, once all statements are read.
  Storage resolved(Storage s) {
    if (s.kind == StorageKind::kConstant && program().constant_pool >= 0 &&
        s.index < static_cast<int>(program().constants.size())) {
      s.pool = program().constant_pool;
      s.offset = program().constants[static_cast<size_t>(s.index)].offset;
    }
    // The state in whose memory it is, or behind which what comes to its window lies.
    int64_t nearest = -1;
    for (size_t i = 0; s.kind == StorageKind::kState && i < program().states.size(); ++i) {
      const int64_t begin = program().states[i].offset;
      if (begin > s.offset || begin <= nearest) continue;
      nearest = begin;
      s.index = static_cast<int>(i);
    }
    return s;
  }

  ReadProgram read_;
  TextPosition here_;  // of the statement that is read
};

}  // namespace aotc::plan
