// SPDX-License-Identifier: Apache-2.0
#include "plan/repeats.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "support/repeats.h"

namespace aotc::plan {

namespace {

constexpr size_t kLeastTurns = 3;
// Bytes of Thumb-2 code, as gcc -Os makes them of unrolled networks: a call with its test of the
// status, an argument in the arena and one that is a table, and more of each where it is read from
// a list.
constexpr int64_t kCallBytes = 8, kPlaceBytes = 3, kTableBytes = 6, kReadBytes = 3;
// A value that is made of a row.
constexpr int64_t kEntryBytes = 8;
constexpr int64_t kLoopBytes = 40, kVariantBytes = 8, kTurnOfVariantBytes = 4;
// A loop is harder to read than some calls.
constexpr int64_t kLeastGain = 200;

// Values of a table that is made anew in each turn: the scales of an operator, not those of its channels.
constexpr int64_t kMostPacked = 16;

using Value = RepeatLayout::Value;

template <typename T>
std::vector<int64_t> widened(const std::vector<uint8_t>& bytes) {
  std::vector<int64_t> out;
  for (size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, &bytes[at], sizeof(T));
    out.push_back(value);
  }
  return out;
}

std::vector<int64_t> numbers_of(const ops::Constant& c) {
  if (c.dtype == DType::kI8) return widened<int8_t>(c.bytes);
  return c.dtype == DType::kI16 ? widened<int16_t>(c.bytes) : widened<int32_t>(c.bytes);
}

class RepeatColumns {
 public:
  RepeatColumns(const Program& program, size_t first, size_t period, size_t turns) : program_(program), first_(first) {
    out_.period = period;
    out_.turns = turns;
  }

  RepeatLayout run() {
    for (size_t j = 0; j < out_.period; ++j) {
      std::vector<Value> values;
      for (size_t a = 0; a < call(j, 0).arguments.size(); ++a) values.push_back(value_of(j, a));
      out_.arguments.push_back(std::move(values));
      out_.variants.push_back(variants_of(j));
    }
    return std::move(out_);
  }

 private:
  const ProgramCall& call(size_t j, size_t turn) const { return program_.calls[first_ + turn * out_.period + j]; }

  Value value_of(size_t j, size_t a) {
    std::vector<int64_t> list;
    const bool table = call(j, 0).arguments[a].storage.kind == StorageKind::kConstant;
    for (size_t turn = 0; turn < out_.turns; ++turn) {
      const Storage& s = call(j, turn).arguments[a].storage;
      list.push_back(table ? s.index : s.offset);
    }
    Value value;
    const int64_t stride = list[1] - list[0];
    bool straight = !table || stride == 0;
    for (size_t t = 1; t < list.size(); ++t) straight = straight && list[t] - list[t - 1] == stride;
    if (straight) {
      value.kind = stride == 0 ? Value::kSame : Value::kStride;
      value.stride = stride;
      return value;
    }
    if (table && packable(list)) return pack(list);
    value.kind = table ? Value::kTable : Value::kPlace;
    auto& columns = table ? table_columns_ : place_columns_;
    auto [at, fresh] = columns.emplace(list, columns.size());
    value.column = at->second;
    if (fresh && table) out_.tables.emplace_back(list.begin(), list.end());
    if (fresh && !table) out_.places.push_back(list);
    return value;
  }

  const ops::Constant& constant(int64_t index) const { return program_.constants[static_cast<size_t>(index)].data; }

  // Few whole numbers, as many in all turns, in memory that is read like other memory.
  bool packable(const std::vector<int64_t>& list) const {
    if (program_.constant_pool >= 0 || program_.program_tables) return false;
    const ops::Constant& first = constant(list[0]);
    const bool whole = first.dtype == DType::kI8 || first.dtype == DType::kI16 || first.dtype == DType::kI32;
    const auto bytes = static_cast<int64_t>(first.bytes.size());
    return whole && bytes > 0 && bytes <= kMostPacked * size_of(first.dtype) &&
           std::all_of(list.begin(), list.end(), [&](int64_t index) {
             const ops::Constant& c = constant(index);
             return c.dtype == first.dtype && c.bytes.size() == first.bytes.size() && c.alignment <= size_of(c.dtype);
           });
  }

  Value pack(const std::vector<int64_t>& list) {
    Value value;
    value.kind = Value::kRow;
    auto [at, fresh] = packed_columns_.emplace(list, out_.packed.size());
    value.column = at->second;
    if (!fresh) return value;
    RepeatLayout::Packed packed;
    packed.dtype = constant(list[0]).dtype;
    packed.constants.assign(list.begin(), list.end());
    std::vector<std::vector<int64_t>> numbers;
    for (int64_t index : list) numbers.push_back(numbers_of(constant(index)));
    for (size_t i = 0; i < numbers[0].size(); ++i) {
      std::vector<int64_t> column;
      for (const auto& turn : numbers) column.push_back(turn[i]);
      packed.entries.push_back(entry_of(column));
    }
    out_.packed.push_back(std::move(packed));
    return value;
  }

  RepeatLayout::Packed::Entry entry_of(std::vector<int64_t> column) {
    const auto [least, most] = std::minmax_element(column.begin(), column.end());
    RepeatLayout::Packed::Entry entry{.base = *least};
    const int64_t range = *most - *least;
    if (range == 0) return entry;
    int64_t bits = 0;
    for (int64_t v : column) bits |= v - entry.base;
    while ((bits >> entry.shift & 1) == 0) ++entry.shift;
    entry.bytes = 1;
    while (range >> entry.shift >> (8 * entry.bytes) != 0) ++entry.bytes;
    // Sums of a base and a larger number would leave int32 on the way.
    if (entry.bytes >= 4 || range > INT32_MAX) entry = {.base = 0, .bytes = 4};
    for (int64_t& v : column) v = (v - entry.base) >> entry.shift;
    out_.rows.resize(out_.turns);
    auto [at, fresh] = row_columns_.emplace(column, out_.rows[0].size());
    entry.at = at->second;
    for (size_t turn = 0; fresh && turn < out_.turns; ++turn)
      for (int b = 0; b < entry.bytes; ++b)
        out_.rows[turn].push_back(static_cast<uint8_t>(static_cast<uint64_t>(column[turn]) >> (8 * b)));
    return entry;
  }

  std::vector<RepeatLayout::Variant> variants_of(size_t j) const {
    std::vector<RepeatLayout::Variant> out;
    for (size_t turn = 0; turn < out_.turns; ++turn) {
      const int function = call(j, turn).function;
      auto known = std::find_if(out.begin(), out.end(), [&](const auto& v) { return v.function == function; });
      if (known == out.end()) known = out.insert(out.end(), {function, {}});
      known->turns.push_back(turn);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.turns.size() < b.turns.size(); });
    return out;
  }

  const Program& program_;
  size_t first_;
  RepeatLayout out_;
  std::map<std::vector<int64_t>, size_t> place_columns_, table_columns_, packed_columns_, row_columns_;
};

int64_t argument_bytes(const Storage& s) { return s.kind == StorageKind::kConstant ? kTableBytes : kPlaceBytes; }

int64_t call_bytes(const ProgramCall& call) {
  int64_t bytes = kCallBytes;
  for (const CallArgument& a : call.arguments) bytes += argument_bytes(a.storage);
  return bytes;
}

// What a loop saves: the calls but the first turn's, less what it reads and what reading takes.
int64_t saved_bytes(const Program& program, size_t first, const Repeat& r) {
  const RepeatLayout layout = lay_out_repeat(program, first + r.begin, r.period, r.count);
  int64_t saved = -kLoopBytes - layout.table_bytes();
  for (size_t c = r.period; c < r.period * r.count; ++c) saved += call_bytes(program.calls[first + r.begin + c]);
  for (const RepeatLayout::Packed& packed : layout.packed) {
    saved -= kEntryBytes * static_cast<int64_t>(packed.entries.size());
    const std::set<int> tables(packed.constants.begin(), packed.constants.end());
    saved += static_cast<int64_t>(tables.size() * packed.entries.size()) * size_of(packed.dtype);
  }
  for (size_t j = 0; j < r.period; ++j) {
    for (const Value& v : layout.arguments[j])
      if (v.kind != Value::kSame) saved -= kReadBytes;
    for (size_t v = 0; v + 1 < layout.variants[j].size(); ++v)
      saved -= kVariantBytes + call_bytes(program.calls[first + r.begin + j]) +
               kTurnOfVariantBytes * static_cast<int64_t>(layout.variants[j][v].turns.size());
  }
  return saved;
}

// What must be equal for two calls to be the same call of a loop: everything but functions of the
// same operator, places in one pool, and tables.
std::string kind_of(const Program& program, size_t index) {
  const ProgramCall& call = program.calls[index];
  if (program.functions[static_cast<size_t>(call.function)].external) return fmt::format("alone {}", index);
  std::string out =
      call.op_index < 0 ? "copy" : std::string(program.graph.ops[static_cast<size_t>(call.op_index)].name());
  for (const CallArgument& a : call.arguments) {
    const Storage& s = a.storage;
    out += fmt::format(";{}.{}", static_cast<int>(s.kind), static_cast<int>(a.dtype));
    if (s.kind == StorageKind::kArena) out += fmt::format(".{}", s.pool);
    if (s.kind != StorageKind::kArena && s.kind != StorageKind::kConstant)
      out += fmt::format(".{}.{}", s.index, s.offset);
  }
  for (size_t r = 0; r < call.results.size(); ++r) {
    const bool unused = program.tensors[static_cast<size_t>(call.results[r].value)].kind == StorageKind::kNone;
    const int argument = argument_of_result(program, index, r);
    // A result that lies somewhere and is no argument is told by its own place.
    if (argument < 0 && !unused) return fmt::format("alone {}", index);
    out += fmt::format("|{}.{}", argument, program.graph[call.results[r]].type.bytes());
  }
  if (call.results.empty())
    out += fmt::format("|{}", call.arguments.back().elements * size_of(call.arguments.back().dtype));
  return out;
}

// Steps [begin, end) of `body` are calls.
void roll(Program& program, size_t begin, size_t end, std::vector<ProgramStep>& out) {
  std::vector<ProgramStep>& body = program.body;
  const auto first = static_cast<size_t>(body[begin].call);
  std::map<std::string, int> known;
  std::vector<int> kinds;
  for (size_t s = begin; s < end; ++s)
    kinds.push_back(known.emplace(kind_of(program, static_cast<size_t>(body[s].call)), static_cast<int>(known.size()))
                        .first->second);
  auto gain = [&](const Repeat& r) { return saved_bytes(program, first, r) - kLeastGain; };
  size_t next = begin;
  for (const Repeat& r : find_repeats(kinds, kLeastTurns, gain)) {
    for (; next < begin + r.begin; ++next) out.push_back(std::move(body[next]));
    ProgramStep step;
    step.kind = ProgramStep::Kind::kRepeat;
    for (size_t turn = 0; turn < r.count; ++turn) {
      step.blocks.emplace_back();
      for (size_t j = 0; j < r.period; ++j) step.blocks.back().push_back(std::move(body[next++]));
    }
    out.push_back(std::move(step));
  }
  for (; next < end; ++next) out.push_back(std::move(body[next]));
}

template <typename Visit>
void each_repeat(const Program& program, const Visit& visit) {
  for (const ProgramStep& step : program.body)
    if (step.kind == ProgramStep::Kind::kRepeat) visit(step);
}

}  // namespace

int RepeatLayout::place_bytes() const {
  int64_t most = 0;
  for (const auto& column : places)
    for (int64_t offset : column) most = std::max(most, offset);
  return most <= UINT16_MAX ? 2 : 4;
}

int64_t RepeatLayout::table_bytes() const {
  return static_cast<int64_t>(turns * (places.size() * static_cast<size_t>(place_bytes()) + tables.size() * 4 +
                                       (rows.empty() ? 0 : rows[0].size())));
}

RepeatLayout lay_out_repeat(const Program& program, size_t first, size_t period, size_t turns) {
  return RepeatColumns(program, first, period, turns).run();
}

RepeatLayout lay_out_repeat(const Program& program, const ProgramStep& repeat) {
  return lay_out_repeat(program, static_cast<size_t>(repeat.blocks[0][0].call), repeat.blocks[0].size(),
                        repeat.blocks.size());
}

int argument_of_result(const Program& program, size_t call, size_t result) {
  const ProgramCall& c = program.calls[call];
  const Storage& wanted = program.tensors[static_cast<size_t>(c.results[result].value)];
  for (size_t a = 0; a < c.arguments.size(); ++a)
    if (c.arguments[a].storage == wanted) return static_cast<int>(a);
  return -1;
}

void roll_calls(Program& program) {
  std::vector<ProgramStep> out;
  for (size_t s = 0; s < program.body.size();) {
    size_t end = s;
    while (end < program.body.size() && program.body[end].kind == ProgramStep::Kind::kCall) ++end;
    if (end > s) roll(program, s, end, out);
    if (end < program.body.size()) out.push_back(std::move(program.body[end]));
    s = end + 1;
  }
  program.body = std::move(out);
}

int64_t printed_calls(const Program& program) {
  auto count = static_cast<int64_t>(program.calls.size());
  each_repeat(program, [&](const ProgramStep& step) {
    const RepeatLayout layout = lay_out_repeat(program, step);
    count -= static_cast<int64_t>(layout.period * layout.turns);
    for (const auto& variants : layout.variants) count += static_cast<int64_t>(variants.size());
  });
  return count;
}

int64_t repeat_table_bytes(const Program& program) {
  int64_t bytes = 0;
  each_repeat(program, [&](const ProgramStep& step) { bytes += lay_out_repeat(program, step).table_bytes(); });
  return bytes;
}

std::vector<bool> constants_in_rows(const Program& program) {
  std::vector<bool> in_rows(program.constants.size(), false), elsewhere = in_rows;
  auto read = [&](const Storage& s) {
    // A constant that no call reads has no table.
    if (s.kind == StorageKind::kConstant && s.index >= 0) elsewhere[static_cast<size_t>(s.index)] = true;
  };
  std::vector<bool> in_loop(program.calls.size(), false);
  each_repeat(program, [&](const ProgramStep& step) {
    const RepeatLayout layout = lay_out_repeat(program, step);
    for (const RepeatLayout::Packed& packed : layout.packed)
      for (int constant : packed.constants) in_rows[static_cast<size_t>(constant)] = true;
    const auto first = static_cast<size_t>(step.blocks[0][0].call);
    for (size_t c = 0; c < layout.period * layout.turns; ++c) {
      in_loop[first + c] = true;
      for (size_t a = 0; a < program.calls[first + c].arguments.size(); ++a)
        if (layout.arguments[c % layout.period][a].kind != Value::kRow)
          read(program.calls[first + c].arguments[a].storage);
    }
  });
  for (size_t c = 0; c < program.calls.size(); ++c)
    for (const CallArgument& a : program.calls[c].arguments)
      if (!in_loop[c]) read(a.storage);
  for (const Storage& s : program.tensors) read(s);
  for (int table : program.initial_values)
    if (table >= 0) elsewhere[static_cast<size_t>(table)] = true;
  for (size_t i = 0; i < in_rows.size(); ++i) in_rows[i] = in_rows[i] && !elsewhere[i];
  return in_rows;
}

}  // namespace aotc::plan
