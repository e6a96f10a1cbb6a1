// SPDX-License-Identifier: Apache-2.0
// Repeats of calls as loops: what differs from turn to turn stands in lists in front: offsets in the
// memory of the run, addresses of tables, and bytes of which small tables are made.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_layout.h"
#include "codegen/c_run.h"
#include "support/text.h"

namespace aotc::codegen {

using plan::Program;
using plan::ProgramCall;
using plan::RepeatLayout;

namespace {

bool alike(const plan::CallBands& a, const plan::CallBands& b) {
  return std::equal(a.levels.begin(), a.levels.end(), b.levels.begin(), b.levels.end(),
                    [](const plan::BandLevel& x, const plan::BandLevel& y) {
                      return std::tie(x.begin, x.end, x.step, x.turns) == std::tie(y.begin, y.end, y.step, y.turns);
                    });
}

// Are the calls that a loop stands for divided alike?
bool divided_alike(const plan::ProgramStep& step, const plan::Bands& bands) {
  if (step.kind != plan::ProgramStep::Kind::kRepeat || bands.calls.empty()) return true;
  for (const std::vector<plan::ProgramStep>& turn : step.blocks)
    for (size_t j = 0; j < turn.size(); ++j)
      if (!alike(bands.calls[static_cast<size_t>(turn[j].call)],
                 bands.calls[static_cast<size_t>(step.blocks[0][j].call)]))
        return false;
  return true;
}

// Beside devices: does the host call all of a loop, and wait for nothing in it? A copy that the plan made may be of
// any memory.
bool of_host_alone(const plan::ProgramStep& step, const Program& program) {
  if (step.kind != plan::ProgramStep::Kind::kRepeat || program.devices.size() <= 1) return true;
  auto at_host = [&](graph::TensorId id) { return !id.valid() || program.graph[id].device == 0; };
  auto called = [&](const plan::ProgramStep& inner) {
    const ProgramCall& call = program.calls[static_cast<size_t>(inner.call)];
    if (call.op_index < 0 || call.device != 0) return false;
    const graph::Op& op = program.graph.ops[static_cast<size_t>(call.op_index)];
    return std::all_of(op.operands.begin(), op.operands.end(), at_host) &&
           std::all_of(op.results.begin(), op.results.end(), at_host);
  };
  return std::all_of(step.blocks.begin(), step.blocks.end(),
                     [&](const auto& turn) { return std::all_of(turn.begin(), turn.end(), called); });
}

}  // namespace

bool prints_loops(const Program& program, const CodegenOptions& options) {
  return options.convention == CallingConvention::kPlain && options.memory == MemoryMode::kStatic &&
         std::all_of(program.body.begin(), program.body.end(), [&](const plan::ProgramStep& step) {
           return divided_alike(step, options.bands) && of_host_alone(step, program);
         });
}

bool reads_lists(const Program& program, const CodegenOptions& options) {
  return prints_loops(program, options) && plan::repeat_table_bytes(program) > 0;
}

namespace {

// "{a, b, c}," over as many lines as it takes.
std::string row_of(const std::vector<std::string>& items, const std::string& indent) {
  std::string out, text = indent + "{";
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "},");
    if (i > 0 && text.size() + item.size() >= kCColumns) {
      out += text + "\n";
      text = indent + " " + item;
    } else {
      text += (i > 0 ? " " : "") + item;
    }
  }
  return out + text;
}

// What a loop's calls are called: their first and last index, and how far they are apart.
std::string calls_of(size_t first, size_t number, size_t period, size_t turns) {
  const size_t begin = first + number;
  return fmt::format("calls {}, {} .. {}", begin, begin + period, begin + (turns - 1) * period);
}

}  // namespace

// In a model with slices two functions have the loop.
std::string RunPrinter::list_name(const char* what) const {
  return options_.slices ? fmt::format("{}_calls{}_{}", p_, repeat_first_, what) : what;
}

std::string row_helpers(const Program& program, const CodegenOptions& options) {
  if (!prints_loops(program, options)) return "";
  std::array<bool, 5> used{};
  for (const plan::ProgramStep& step : program.body) {
    if (step.kind != plan::ProgramStep::Kind::kRepeat) continue;
    for (const RepeatLayout::Packed& packed : plan::lay_out_repeat(program, step).packed)
      for (const auto& entry : packed.entries) used[static_cast<size_t>(entry.bytes)] = true;
  }
  std::string s;
  std::string sum = "(uint32_t)at[0]";
  for (size_t bytes = 2; bytes <= 4; ++bytes) {
    sum += fmt::format(" | (uint32_t)at[{}] << {}", bytes - 1, 8 * (bytes - 1));
    if (used[bytes])
      s += fmt::format(
          "/* {0} bytes of a row as a little-endian number. */\n"
          "static inline int32_t {1}_row{2}(const uint8_t *at)\n{{\n    return (int32_t)({3});\n}}\n\n",
          bytes == 2   ? "Two"
          : bytes == 3 ? "Three"
                       : "Four",
          options.prefix, 8 * bytes, sum);
  }
  return s;
}

// Tables in a pool are told by their offsets in it.
std::string RunPrinter::type_of_tables() const {
  if (program_.constant_pool < 0) return "void *const ";
  const bool small = program_.pools[static_cast<size_t>(program_.constant_pool)].bytes <= UINT16_MAX;
  return small ? "uint16_t " : "uint32_t ";
}

void RunPrinter::print_lists(const std::string& indent) {
  auto list = [&](const std::string& type, const char* name, size_t columns, auto&& item) {
    if (columns == 0) return;
    line(fmt::format("{}static const {}{}[{}][{}]{} = {{", indent, type, list_name(name), repeat_->turns, columns,
                     program_.program_tables ? " PROGMEM" : ""));
    for (size_t turn = 0; turn < repeat_->turns; ++turn) {
      std::vector<std::string> row;
      for (size_t c = 0; c < columns; ++c) row.push_back(item(c, turn));
      line(row_of(row, indent + "    "));
    }
    line(indent + "};");
  };
  list(repeat_->place_bytes() == 2 ? "uint16_t " : "uint32_t ", "places", repeat_->places.size(),
       [&](size_t c, size_t turn) { return std::to_string(repeat_->places[c][turn]); });
  list(type_of_tables(), "tables", repeat_->tables.size(), [&](size_t c, size_t turn) {
    const auto table = static_cast<size_t>(repeat_->tables[c][turn]);
    return program_.constant_pool < 0 ? names_.constant_names[table] : std::to_string(program_.constants[table].offset);
  });
  list("uint8_t ", "rows", repeat_->rows.empty() ? 0 : repeat_->rows[0].size(),
       [&](size_t c, size_t turn) { return std::to_string(repeat_->rows[turn][c]); });
}

// A value of the row of the turn.
std::string RunPrinter::row_value(const RepeatLayout::Packed::Entry& entry) const {
  const auto literal = [](int64_t value) {
    return value == INT32_MIN ? std::string("(-2147483647 - 1)") : std::to_string(value);
  };
  if (entry.bytes == 0) return literal(entry.base);
  // An int may have 16 bits.
  const bool small = entry.shift == 0 && std::abs(entry.base) < 16384;
  std::string read = entry.bytes == 1 ? fmt::format("{}row[{}]", small ? "" : "(int32_t)", entry.at)
                                      : fmt::format("{}_row{}(&row[{}])", p_, 8 * entry.bytes, entry.at);
  if (entry.shift > 0) read += fmt::format(" * {}", int64_t{1} << entry.shift);
  if (entry.base == INT32_MIN) return fmt::format("{} + {}", literal(entry.base), read);
  if (entry.base != 0) read += fmt::format(" {} {}", entry.base < 0 ? '-' : '+', std::abs(entry.base));
  return read;
}

// The small tables of the turn, in front of the call that reads them.
void RunPrinter::print_row_tables(size_t number) {
  const auto& values = repeat_->arguments[number];
  for (size_t a = 0; a < values.size(); ++a) {
    if (values[a].kind != RepeatLayout::Value::kRow) continue;
    const RepeatLayout::Packed& packed = repeat_->packed[values[a].column];
    const bool narrow = packed.dtype != DType::kI32;
    const std::string type(c_type_of(packed.dtype));
    std::string head = fmt::format("    const {} {}[{}] = {{", type, row_table(number, a), packed.entries.size());
    std::vector<std::string> items;
    for (const auto& entry : packed.entries) {
      const std::string value = row_value(entry);
      items.push_back(narrow && entry.bytes > 0 ? fmt::format("({})({})", type, value) : value);
    }
    std::string text = head;
    for (size_t i = 0; i < items.size(); ++i) {
      const std::string item = items[i] + (i + 1 < items.size() ? ", " : "};");
      if (text.size() + item.size() > width()) {
        line(text.substr(0, text.find_last_not_of(' ') + 1));
        text = "        ";
      }
      text += item;
    }
    line(text);
  }
}

// What a call's table is called that is made of the row.
std::string RunPrinter::row_table(size_t number, size_t argument) const {
  const ProgramCall& call = program_.calls[repeat_first_ + number];
  const auto& parameters = program_.functions[static_cast<size_t>(call.function)].body->params;
  const std::string name = c_identifier(parameters[argument]->name, "table") + "_now";
  for (size_t a = 0; a < argument; ++a)
    if (parameters[a]->name == parameters[argument]->name) return fmt::format("{}_{}", name, argument);
  return name;
}

std::string RunPrinter::print_lists() {
  if (!prints_loops(program_, options_)) return "";
  for (const plan::ProgramStep& step : program_.body) {
    if (step.kind != plan::ProgramStep::Kind::kRepeat) continue;
    const RepeatLayout layout = plan::lay_out_repeat(program_, step);
    repeat_ = &layout;
    repeat_first_ = static_cast<size_t>(step.blocks[0][0].call);
    if (layout.places.empty() && layout.tables.empty() && layout.rows.empty()) continue;
    line(
        fmt::format("/* Operands of calls {} to {} in each iteration of their loop: arena offsets, tables, numbers. */",
                    repeat_first_, repeat_first_ + layout.period * layout.turns - 1));
    print_lists("");
    line("");
  }
  repeat_ = nullptr;
  lines_ = 0;
  return std::exchange(text_, {});
}

// Does a table of the call differ from turn to turn? It may be of constants.
static bool reads_row(const RepeatLayout& layout, size_t number) {
  const auto& values = layout.arguments[number];
  return std::any_of(values.begin(), values.end(), [&](const RepeatLayout::Value& value) {
    if (value.kind != RepeatLayout::Value::kRow) return false;
    const auto& entries = layout.packed[value.column].entries;
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return entry.bytes > 0; });
  });
}

// The row of the turn.
void RunPrinter::print_columns(const std::string& indent, bool places, bool tables, bool rows) {
  if (places)
    line(fmt::format("{}const {} *const place = {}[{}];", indent, repeat_->place_bytes() == 2 ? "uint16_t" : "uint32_t",
                     list_name("places"), turn()));
  if (tables)
    line(fmt::format("{}const {}*const table = {}[{}];", indent, type_of_tables(), list_name("tables"), turn()));
  if (rows) line(fmt::format("{}const uint8_t *const row = {}[{}];", indent, list_name("rows"), turn()));
}

// An entry of a row; in program memory it is read as such.
std::string RunPrinter::entry(const char* row, size_t column, bool wide) const {
  if (!program_.program_tables) return fmt::format("{}[{}]", row, column);
  return fmt::format("pgm_read_{}(&{}[{}])", wide ? "dword" : "word", row, column);
}

std::string RunPrinter::table_of_row(size_t column) const {
  const std::string read = entry("table", column, false);
  if (program_.constant_pool >= 0) return fmt::format("(const void *)({} + {})", base(program_.constant_pool), read);
  return program_.program_tables ? fmt::format("(const void *){}", read) : read;
}

void RunPrinter::print_repeat(const plan::ProgramStep& step, nlohmann::ordered_json& calls) {
  const RepeatLayout layout = plan::lay_out_repeat(program_, step);
  repeat_ = &layout;
  repeat_first_ = static_cast<size_t>(step.blocks[0][0].call);
  line("");
  line(fmt::format("    /* Calls {} to {}: {} iterations of the same {} calls. */", repeat_first_,
                   repeat_first_ + layout.period * layout.turns - 1, layout.turns, layout.period));
  line("    {");
  if (!options_.slices) print_lists("        ");
  line(fmt::format("        for (int32_t turn = 0; turn < {}; ++turn) {{", layout.turns));
  print_columns("            ", !layout.places.empty(), !layout.tables.empty(), !layout.rows.empty());
  depth_ += 2;
  std::vector<nlohmann::ordered_json> entries(layout.period * layout.turns);
  for (size_t j = 0; j < layout.period; ++j) print_repeated_call(j, entries);
  for (const nlohmann::ordered_json& entry : entries) calls.push_back(entry);
  depth_ -= 2;
  line("        }");
  line("    }");
  repeat_ = nullptr;
}

// One call of the turn that the run is in.
void RunPrinter::print_turn(const Slice& slice) {
  const RepeatLayout layout = plan::lay_out_repeat(program_, *slice.repeat);
  repeat_ = &layout;
  repeat_first_ = static_cast<size_t>(slice.repeat->blocks[0][0].call);
  auto reads = [&](RepeatLayout::Value::Kind kind) {
    const auto& values = layout.arguments[slice.number];
    return std::any_of(values.begin(), values.end(), [&](const auto& value) { return value.kind == kind; });
  };
  print_columns("    ", reads(RepeatLayout::Value::kPlace), reads(RepeatLayout::Value::kTable),
                reads_row(layout, slice.number));
  std::vector<nlohmann::ordered_json> unused(layout.period * layout.turns);
  print_repeated_call(slice.number, unused);
  if (slice.again > 0) {
    line(fmt::format("    if (++context->turn < {}) {{", layout.turns));
    line(fmt::format("        next = {};\n        break;\n    }}\n    context->turn = 0;", slice.again));
  }
  repeat_ = nullptr;
}

void RunPrinter::print_repeated_call(size_t number, std::vector<nlohmann::ordered_json>& entries) {
  const size_t period = repeat_->period, first = repeat_first_ + number;
  const ProgramCall& call = program_.calls[first];
  if (!sliced_) line("");
  line(fmt::format("    /* {}: the first is {} */", calls_of(repeat_first_, number, period, repeat_->turns),
                   operator_title(program_, call, 60)));
  const auto& variants = repeat_->variants[number];
  const auto& values = repeat_->arguments[number];
  const bool block = !sliced_ && std::any_of(values.begin(), values.end(), [](const RepeatLayout::Value& value) {
    return value.kind == RepeatLayout::Value::kRow;
  });
  if (block) {
    line("    {");
    ++depth_;
  }
  print_row_tables(number);
  bool may = false;
  for (size_t v = 0; v < variants.size(); ++v) {
    const RepeatLayout::Variant& variant = variants[v];
    if (variants.size() > 1) {
      std::string condition;
      for (size_t turn : variant.turns)
        condition += fmt::format("{}{} == {}", condition.empty() ? "" : " || ", this->turn(), turn);
      if (v + 1 == variants.size()) line("    } else {");
      else line(fmt::format("    {}if ({}) {{", v > 0 ? "} else " : "", condition));
      ++depth_;
    }
    for (size_t turn : variant.turns) entries[turn * period + number] = call_entry(first + turn * period);
    std::vector<std::string> arguments;
    for (size_t a = 0; a < call.arguments.size(); ++a) arguments.push_back(argument(first, a));
    for (const std::string& bound : band_arguments(first)) arguments.push_back(bound);
    const bool fails = may_fail(first + variant.turns.front() * period);
    may = may || fails;
    list(fmt::format("    {}{}(", fails ? "status = " : "",
                     names_.function_names[static_cast<size_t>(variant.function)]),
         arguments);
    if (variants.size() > 1) --depth_;
  }
  if (variants.size() > 1) line("    }");
  if (block) {
    --depth_;
    line("    }");
  }
  if (may) fail_if_status();
  if (sliced_) print_next_band(first);
  print_trace(first);
}

std::string RunPrinter::repeated_argument(size_t call, size_t argument) const {
  const plan::Storage& s = program_.calls[call].arguments[argument].storage;
  const RepeatLayout::Value& value = repeat_->arguments[call - repeat_first_][argument];
  switch (value.kind) {
    case RepeatLayout::Value::kSame: break;
    case RepeatLayout::Value::kStride:
      return fmt::format("(void *)({} + {} {} {} * {})", base(s.pool), s.offset, value.stride < 0 ? "-" : "+",
                         std::abs(value.stride), turn());
    case RepeatLayout::Value::kPlace:
      return fmt::format("(void *)({} + {})", base(s.pool), entry("place", value.column, repeat_->place_bytes() > 2));
    case RepeatLayout::Value::kTable: return table_of_row(value.column);
    case RepeatLayout::Value::kRow: return row_table(call - repeat_first_, argument);
  }
  return pointer(s, call);
}

}  // namespace aotc::codegen
