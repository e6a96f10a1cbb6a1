// SPDX-License-Identifier: Apache-2.0
// Repeats of calls as loops: what differs from turn to turn stands in two lists in front, offsets
// in the memory of the run and addresses of tables.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_run.h"

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
  return std::all_of(step.blocks.begin(), step.blocks.end(), [&](const auto& turn) {
    return std::all_of(turn.begin(), turn.end(), called);
  });
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
}

std::string RunPrinter::print_lists() {
  if (!prints_loops(program_, options_)) return "";
  for (const plan::ProgramStep& step : program_.body) {
    if (step.kind != plan::ProgramStep::Kind::kRepeat) continue;
    const RepeatLayout layout = plan::lay_out_repeat(program_, step);
    repeat_ = &layout;
    repeat_first_ = static_cast<size_t>(step.blocks[0][0].call);
    if (layout.places.empty() && layout.tables.empty()) continue;
    line(fmt::format("/* What calls {} to {} read in each turn of their loop: places in the arena, tables. */",
                     repeat_first_, repeat_first_ + layout.period * layout.turns - 1));
    print_lists("");
    line("");
  }
  repeat_ = nullptr;
  lines_ = 0;
  return std::exchange(text_, {});
}

// The row of the turn.
void RunPrinter::print_columns(const std::string& indent, bool places, bool tables) {
  if (places)
    line(fmt::format("{}const {} *const place = {}[{}];", indent,
                     repeat_->place_bytes() == 2 ? "uint16_t" : "uint32_t", list_name("places"), turn()));
  if (tables)
    line(fmt::format("{}const {}*const table = {}[{}];", indent, type_of_tables(), list_name("tables"), turn()));
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
  line(fmt::format("    /* Calls {} to {}: {} times the same {}. */", repeat_first_,
                   repeat_first_ + layout.period * layout.turns - 1, layout.turns, layout.period));
  line("    {");
  if (!options_.slices) print_lists("        ");
  line(fmt::format("        for (int32_t turn = 0; turn < {}; ++turn) {{", layout.turns));
  print_columns("            ", !layout.places.empty(), !layout.tables.empty());
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
  print_columns("    ", reads(RepeatLayout::Value::kPlace), reads(RepeatLayout::Value::kTable));
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
  line(fmt::format("    /* {}: the first is {} */",
                   calls_of(repeat_first_, number, period, repeat_->turns),
                   operator_title(program_, call, 60)));
  const auto& variants = repeat_->variants[number];
  bool may = false;
  for (size_t v = 0; v < variants.size(); ++v) {
    const RepeatLayout::Variant& variant = variants[v];
    if (variants.size() > 1) {
      std::string condition;
      for (size_t turn : variant.turns)
        condition += fmt::format("{}{} == {}", condition.empty() ? "" : " || ", this->turn(), turn);
      if (v + 1 == variants.size())
        line("    } else {");
      else
        line(fmt::format("    {}if ({}) {{", v > 0 ? "} else " : "", condition));
      ++depth_;
    }
    for (size_t turn : variant.turns)
      entries[turn * period + number] = call_entry(first + turn * period);
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
  if (may) fail_if_status();
  if (sliced_) print_next_band(first);
  print_trace(first);
}

std::string RunPrinter::repeated_argument(size_t call, size_t argument) const {
  const plan::Storage& s = program_.calls[call].arguments[argument].storage;
  const RepeatLayout::Value& value = repeat_->arguments[call - repeat_first_][argument];
  switch (value.kind) {
    case RepeatLayout::Value::kSame:
      break;
    case RepeatLayout::Value::kStride:
      return fmt::format("(void *)({} + {} {} {} * {})", base(s.pool), s.offset,
                         value.stride < 0 ? "-" : "+", std::abs(value.stride), turn());
    case RepeatLayout::Value::kPlace:
      return fmt::format("(void *)({} + {})", base(s.pool), entry("place", value.column, repeat_->place_bytes() > 2));
    case RepeatLayout::Value::kTable:
      return table_of_row(value.column);
  }
  return pointer(s, call);
}

}  // namespace aotc::codegen
