// SPDX-License-Identifier: Apache-2.0
// Repeats of calls as loops: what differs from turn to turn stands in two lists in front, offsets
// in the memory of the run and addresses of tables.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_run.h"

namespace aotc::codegen {

using plan::Program;
using plan::ProgramCall;
using plan::RepeatLayout;

bool prints_loops(const Program& program, const CodegenOptions& options, bool sliced) {
  return !sliced && options.convention == CallingConvention::kPlain &&
         options.memory == MemoryMode::kStatic && options.bands.calls.empty() &&
         program.devices.size() <= 1 && context_devices(program).empty() &&
         program.constant_pool < 0 && !program.program_tables;
}

namespace {

// "{a, b, c}," over as many lines as it takes.
std::string row_of(const std::vector<std::string>& items) {
  std::string out, text = "            {";
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : "},");
    if (i > 0 && text.size() + item.size() >= kCColumns) {
      out += text + "\n";
      text = std::string(13, ' ') + item;
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

void RunPrinter::print_lists() {
  auto list = [&](const char* type, const char* name, size_t columns, auto&& item) {
    if (columns == 0) return;
    line(
        fmt::format("        static const {}{}[{}][{}] = {{", type, name, repeat_->turns, columns));
    for (size_t turn = 0; turn < repeat_->turns; ++turn) {
      std::vector<std::string> row;
      for (size_t c = 0; c < columns; ++c) row.push_back(item(c, turn));
      line(row_of(row));
    }
    line("        };");
  };
  list(repeat_->place_bytes() == 2 ? "uint16_t " : "uint32_t ", "places", repeat_->places.size(),
       [&](size_t c, size_t turn) { return std::to_string(repeat_->places[c][turn]); });
  list("void *const ", "tables", repeat_->tables.size(), [&](size_t c, size_t turn) {
    return names_.constant_names[static_cast<size_t>(repeat_->tables[c][turn])];
  });
}

void RunPrinter::print_repeat(const plan::ProgramStep& step, nlohmann::ordered_json& calls) {
  const RepeatLayout layout = plan::lay_out_repeat(program_, step);
  repeat_ = &layout;
  repeat_first_ = static_cast<size_t>(step.blocks[0][0].call);
  line("");
  line(fmt::format("    /* Calls {} to {}: {} times the same {}. */", repeat_first_,
                   repeat_first_ + layout.period * layout.turns - 1, layout.turns, layout.period));
  line("    {");
  print_lists();
  line(fmt::format("        for (int32_t turn = 0; turn < {}; ++turn) {{", layout.turns));
  if (!layout.places.empty())
    line(fmt::format("            const {} *const place = places[turn];",
                     layout.place_bytes() == 2 ? "uint16_t" : "uint32_t"));
  if (!layout.tables.empty()) line("            const void *const *const table = tables[turn];");
  depth_ += 2;
  std::vector<nlohmann::ordered_json> entries(layout.period * layout.turns);
  for (size_t j = 0; j < layout.period; ++j) print_repeated_call(j, entries);
  for (const nlohmann::ordered_json& entry : entries) calls.push_back(entry);
  depth_ -= 2;
  line("        }");
  line("    }");
  repeat_ = nullptr;
}

void RunPrinter::print_repeated_call(size_t number, std::vector<nlohmann::ordered_json>& entries) {
  const size_t period = repeat_->period, first = repeat_first_ + number;
  const ProgramCall& call = program_.calls[first];
  line("");
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
        condition += fmt::format("{}turn == {}", condition.empty() ? "" : " || ", turn);
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
    const bool fails = may_fail(first + variant.turns.front() * period);
    may = may || fails;
    list(fmt::format("    {}{}(", fails ? "status = " : "",
                     names_.function_names[static_cast<size_t>(variant.function)]),
         arguments);
    if (variants.size() > 1) --depth_;
  }
  if (variants.size() > 1) line("    }");
  if (may) fail_if_status();
  print_trace(first);
}

std::string RunPrinter::repeated_argument(size_t call, size_t argument) const {
  const plan::Storage& s = program_.calls[call].arguments[argument].storage;
  const RepeatLayout::Value& value = repeat_->arguments[call - repeat_first_][argument];
  switch (value.kind) {
    case RepeatLayout::Value::kSame:
      break;
    case RepeatLayout::Value::kStride:
      return fmt::format("(void *)({} + {} {} {} * turn)", base(s.pool), s.offset,
                         value.stride < 0 ? "-" : "+", std::abs(value.stride));
    case RepeatLayout::Value::kPlace:
      return fmt::format("(void *)({} + place[{}])", base(s.pool), value.column);
    case RepeatLayout::Value::kTable:
      return fmt::format("table[{}]", value.column);
  }
  return pointer(s, call);
}

}  // namespace aotc::codegen
