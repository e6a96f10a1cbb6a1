// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_feed.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_layout.h"
#include "codegen/c_run.h"
#include "codegen/c_slices.h"
#include "codegen/c_state.h"
#include "support/text.h"

namespace aotc::codegen {

using plan::Feeding;
using plan::Program;

namespace {

const graph::TensorType& input_type(const Program& program) {
  return program.graph[program.graph.inputs[0].tensor].type;
}

bool one_slot(const Feeding& fed) {
  return std::all_of(fed.slots.begin(), fed.slots.end(), [&](int64_t slot) { return slot == fed.slots[0]; });
}

std::string constants_of_rows(const Program& program, const CodegenOptions& options) {
  const std::string &p = options.prefix, up = upper(p);
  const Feeding& fed = *program.feeding;
  const int64_t unread = input_type(program).bytes() / fed.row_bytes - fed.rows();
  std::string s =
      fed.period > 0
          ? fmt::format(
                "\n/* The input is a stream of frames of {0}_ROW_BYTES bytes, the oldest first. The first result\n"
                " * needs {0}_ROWS frames; each later result needs {0}_STEP more. {0}_KEPT_SIZE bytes of\n"
                " * the arena are kept between frames. */\n"
                "#define {0}_ROWS {1}\n#define {0}_STEP {2}\n#define {0}_ROW_BYTES {3}u\n#define {0}_KEPT_SIZE {4}u\n",
                up, fed.rows(), fed.step, fed.row_bytes, fed.kept_bytes)
          : fmt::format(
                "\n/* Number of rows that you feed, from the top of the input{2}, and bytes of each. */\n"
                "#define {0}_ROWS {1}\n#define {0}_ROW_BYTES {3}u\n",
                up, fed.rows(), unread > 0 ? fmt::format(", without the {} unread at its end", unread) : "",
                fed.row_bytes);
  s += fmt::format(
      "/* Number of later rows that you may fill before you feed the row that {1}_row points to. */\n"
      "#define {0}_AHEAD 0\n"
      "/* Results of {1}_feed: it needs the next row; the outputs are complete{2}. */\n"
      "#define {0}_NEXT_ROW 0\n#define {0}_DONE 1\n{3}"
      "/* Status of {1}_feed if it cannot take a row: {4}. */\n"
      "#define {0}_ERROR_ROW (-5)\n",
      up, p, options.slices ? fmt::format("; {}_step has work left", p) : "",
      options.slices ? fmt::format("#define {}_MORE 2\n", up) : "",
      options.slices ? "all rows were fed, or slices are left" : "all rows were fed");
  if (may_fail_above_zero(program, options))
    s += fmt::format(
        "/* Result if an operator failed with a status above 0; context->status holds that status. */\n"
        "#define {}_ERROR_OPERATOR (-4)\n",
        up);
  if (options.longest_feed > 0)
    s += fmt::format(
        "/* Most instructions that one call of {1}_feed{2} executes, by the cost model of {3}: for "
        "row {4}. */\n"
        "#define {0}_LONGEST_FEED {5}u\n",
        up, p, options.slices ? fmt::format(" with all its slices") : "", c_comment_text(options.cost_model),
        options.longest_feed_row, options.longest_feed);
  if (!options.slices) return s;
  s += fmt::format(
      "/* Number of positions in a run: one for all rows, then one for each later operator call. */\n"
      "#define {}_SLICE_COUNT {}\n",
      up, lay_out_slices(program.body, prints_loops(program, options)).size());
  if (options.longest_slice > 0)
    s += fmt::format(
        "/* Most instructions that one slice executes, by the cost model of {}. */\n"
        "#define {}_LONGEST_SLICE {}u\n",
        c_comment_text(options.cost_model), up, options.longest_slice);
  return s;
}

std::string step_of_feed(const CodegenOptions& options) {
  if (!options.slices) return "";
  return fmt::format(
      "\n/* Runs the next slice of the work that {0}_feed left. Returns the results of {0}_feed: {1}_MORE\n"
      " * while slices are left before the next row. */\nint32_t {0}_step(struct {0}_context *context);\n",
      options.prefix, upper(options.prefix));
}

}  // namespace

std::string feed_declarations(const Program& program, const CodegenOptions& options) {
  const std::string &p = options.prefix, up = upper(p);
  std::string s = constants_of_rows(program, options);
  s += fmt::format(
      "\n/* State of one run. Only the functions below use its members. */\n"
      "struct {0}_context {{\n{1}}};\n",
      p, context_members(program, options));
  s += fmt::format(
      "\n/* Begins a run whose input you feed row by row, with the arguments of {0}_run except the\n"
      " * inputs. The arena stores rows between feeds: do not use it for anything else until the last\n"
      " * row is fed{1}. A run in progress is discarded{2}.\n"
      " * Returns 0, or {3}_ERROR_ARGUMENT. */\n{4};\n",
      p, options.slices ? " and its last slice has run" : "",
      has_state(program) ? fmt::format("; then reset the state with {}_reset", p) : "", up,
      begin_prototype(program, p));
  s += fmt::format(
      "\n/* Address for the next row of {0}_ROW_BYTES bytes, which DMA may write. It is valid until the\n"
      " * next {1}_feed. Null if no row is needed. */\n{2} *{1}_row(const struct {1}_context *context);\n",
      up, p, c_type_of(input_type(program).dtype));
  if (program.feeding->period > 0)
    return s +
           fmt::format(
               "\n/* Takes the frame at the address from {0}_row, and computes all that depends on it.\n"
               " * Returns {1}_DONE if the outputs for the last {1}_ROWS frames are complete; else\n"
               " * {1}_NEXT_ROW,{2} or a status below 0, which ends the run. After {1}_DONE feed the next\n"
               " * frame: no new {0}_begin is needed. */\n"
               "int32_t {0}_feed(struct {0}_context *context);\n",
               p, up, options.slices ? fmt::format(" {}_MORE,", up) : "") +
           step_of_feed(options);
  s += fmt::format(
      "\n/* Takes the row at the address from {0}_row, and computes all that depends on it.\n"
      " * Returns {1}_NEXT_ROW,{2} {1}_DONE if all {1}_ROWS rows were fed and the outputs\n"
      " * are complete, or a status below 0. {1}_ERROR_ROW changes nothing; any other error ends the\n"
      " * run, and the outputs are then invalid. */\n"
      "int32_t {0}_feed(struct {0}_context *context);\n",
      p, up, options.slices ? fmt::format(" {}_MORE,", up) : "");
  return s + step_of_feed(options);
}

namespace {

// A table of NAME_ROWS + `more` values.
std::string table(const std::string& comment, const std::string& type, const std::string& name, const std::string& rows,
                  const std::vector<int64_t>& values, int64_t more) {
  const std::string declarator = fmt::format("{}[{}{}] = {{", name, rows, more > 0 ? fmt::format(" + {}", more) : "");
  const std::string start = "static const " + type;
  std::string s = fmt::format("/* {} */\n{}{}{}\n", comment, start,
                              start.size() + 1 + declarator.size() > kCColumns ? "\n    " : " ", declarator);
  std::string text = "   ";
  for (int64_t v : values) {
    const std::string value = fmt::format(" {},", v);
    if (text.size() + value.size() > kCColumns) s += std::exchange(text, "   ") + "\n";
    text += value;
  }
  return s + text + "\n};\n";
}

}  // namespace

std::string feed_tables(const Program& program, const CodegenOptions& options) {
  const std::string& p = options.prefix;
  const Feeding& fed = *program.feeding;
  const std::string rows = upper(p) + "_ROWS";
  std::string s = table("First event (computation step) that needs each row. The last element is the number of events.",
                        "uint16_t", p + "_row_events", rows + " + 1", fed.begins, fed.period);
  if (!one_slot(fed))
    s += table("Slot of each row in the window of rows.", "uint8_t", p + "_row_slots", rows, fed.slots, fed.period);
  return s + "\n";
}

// ---------------------------------------------------------------- the functions

// The events [from, to) of the first call.
void RunPrinter::print_events(const std::string& from, const std::string& to) {
  const auto call = static_cast<size_t>(program_.feeding->call);
  std::vector<std::string> arguments;
  for (size_t a = 1; a < program_.calls[call].arguments.size(); ++a) arguments.push_back(argument(call, a));
  arguments.push_back(from);
  arguments.push_back(to);
  list(fmt::format("    {}(", names_.function_names[static_cast<size_t>(program_.calls[call].function)]), arguments);
}

// What NAME_begin does for rows, with the context filled.
void RunPrinter::begin_rows() {
  line("    context->row = 0;");
  if (options_.slices) line(fmt::format("    context->event = {};", program_.feeding->begins[0]));
  if (program_.feeding->prepares) print_events("0", std::to_string(program_.feeding->begins[0]));
}

std::string RunPrinter::print_row() {
  const Feeding& fed = *program_.feeding;
  const std::string type(c_type_of(input_type(program_).dtype));
  line(fmt::format("{1} *{0}_row(const struct {0}_context *context)", p_, type));
  line("{");
  line("    if (context == NULL || context->position != 1) {\n        return NULL;\n    }");
  if (options_.slices)
    line(fmt::format("    if (context->event != {0}_row_events[context->row]{1}) {{\n        return NULL;\n    }}", p_,
                     fed.period > 0 ? "" : fmt::format(" || context->row == {}_ROWS", up_)));
  const std::string memory =
      has_pools(program_) ? "pools." + program_.pools[static_cast<size_t>(fed.place.pool)].name : "arena";
  std::string place = fmt::format("(uint8_t *)context->{} + {}u", memory,
                                  fed.place.offset + (one_slot(fed) ? fed.slots[0] * fed.row_bytes : 0));
  if (!one_slot(fed)) place += fmt::format(" + (uint32_t){}_row_slots[context->row] * {}_ROW_BYTES", p_, up_);
  line(fmt::format("    return ({} *)(void *)({});", type, place));
  line("}");
  return std::move(text_);
}

void RunPrinter::check_context() {
  line("    if (context == NULL || context->position == 0) {");
  line(fmt::format("        return {}_ERROR_ARGUMENT;", up_));
  line("    }");
  line("    if (context->position < 0) {\n        return context->position;\n    }");
}

// Behind the frames of a period those of the next stand where they stood, and so are counted.
void RunPrinter::print_period() {
  const Feeding& fed = *program_.feeding;
  if (fed.period == 0) return;
  line(fmt::format("    if (context->row == {0}_ROWS + {1}) {{\n        context->row = {0}_ROWS;", up_, fed.period));
  if (options_.slices) line(fmt::format("        context->event = {}_row_events[context->row];", p_));
  line("    }");
  if (fed.step > 1)
    line(fmt::format("    if ((context->row - {0}_ROWS) % {0}_STEP != 0) {{\n        return {0}_NEXT_ROW;\n    }}",
                     up_));
}

// With slices the row is taken, and NAME_step does the rest.
std::string RunPrinter::print_feed(int lines_before, nlohmann::ordered_json& calls) {
  feeding_ = true;
  std::string body;
  if (!options_.slices) {
    const auto first = static_cast<size_t>(program_.feeding->call);
    line("");
    line(fmt::format("    /* call {}: row by row up to {} */", first,
                     operator_title(program_, program_.calls[first], 60)));
    calls.push_back(call_entry(first));
    print_events(fmt::format("{}_row_events[context->row]", p_), fmt::format("{}_row_events[context->row + 1]", p_));
    line(fmt::format("    if (++context->row < {0}_ROWS) {{\n        return {0}_NEXT_ROW;\n    }}", up_));
    print_period();
    print_trace(first);
    print_steps({program_.body.begin() + 1, program_.body.end()}, calls);
    line("");
    body = std::exchange(text_, {});
  }
  line(fmt::format("int32_t {0}_feed(struct {0}_context *context)", p_));
  line("{");
  if (jumps_to_failed_) line("    int32_t status = 0;\n");
  check_context();
  if (options_.slices) {
    line(fmt::format("    if ({}_row(context) == NULL) {{", p_));
    line(fmt::format("        return {}_ERROR_ROW;\n    }}", up_));
    line(fmt::format("    ++context->row;\n    return {}_step(context);\n}}", p_));
    return std::move(text_);
  }
  line(fmt::format("    if (context->position != 1) {{\n        return {}_ERROR_ROW;\n    }}", up_));
  return finish_feed(std::move(body), lines_before, calls);
}

std::string RunPrinter::finish_feed(std::string body, int lines_before, nlohmann::ordered_json& calls) {
  step_locals(body);
  const auto above = lines_before + static_cast<int>(std::count(text_.begin(), text_.end(), '\n'));
  for (nlohmann::ordered_json& entry : calls) entry["line"] = entry["line"].get<int>() + above;
  text_ += body;
  if (program_.feeding->period == 0) line("    context->position = 2;");
  line(fmt::format("    return {}_DONE;", up_));
  if (jumps_to_failed_) {
    line("\nfailed:");
    keep_failure("    ");
    line("    return context->position;");
  }
  line("}");
  return std::move(text_);
}

// A slice of the rows, in NAME_step: as many events as may be, up to where the next row is wanted.
void RunPrinter::print_slice_of_rows() {
  const auto call = static_cast<size_t>(program_.feeding->call);
  int64_t turns = program_.feeding->begins.back();
  if (!options_.bands.calls.empty() && !options_.bands.calls[call].levels.empty())
    turns = options_.bands.calls[call].levels[0].turns;
  const bool whole = turns >= program_.feeding->begins.back();
  line(fmt::format("    const int32_t end = {}_row_events[context->row];", p_));
  line("    const int32_t from0 = context->event;");
  line(whole ? "    const int32_t to0 = end;"
             : fmt::format("    const int32_t to0 = end - from0 > {0} ? from0 + {0} : end;", turns));
  // Behind a result, with no frame fed since.
  if (program_.feeding->period > 0)
    line(fmt::format("\n    if (from0 == end) {{\n        return {}_NEXT_ROW;\n    }}", up_));
  line(fmt::format("    /* call {}: row by row up to {} */", call, operator_title(program_, program_.calls[call], 60)));
  print_events("from0", "to0");
  line("    context->event = to0;");
  if (!whole) line(fmt::format("    if (to0 < end) {{\n        return {}_MORE;\n    }}", up_));
  line(fmt::format("    if (context->row < {0}_ROWS) {{\n        return {0}_NEXT_ROW;\n    }}", up_));
  print_period();
  print_trace(call);
}

// NAME_run feeds the rows of the caller's input.
std::string RunPrinter::print_run_by_rows() {
  const std::string input = "inputs->" + names_.input_fields[0];
  const DType type = input_type(program_).dtype;
  std::string wrong = fmt::format("inputs == NULL || {} == NULL", input);
  if (size_of(type) > 1) wrong += fmt::format(" || {}_MISALIGNED({}, {})", up_, input, c_type_of(type));
  line(run_prototype(program_, p_));
  line("{");
  line(fmt::format("    struct {}_context context;", p_));
  line("    const uint8_t *from;\n    int32_t row;\n    int32_t status;\n");
  line(fmt::format("    if ({}) {{\n        return {}_ERROR_ARGUMENT;\n    }}", wrong, up_));
  line(fmt::format("    from = (const uint8_t *){};", input));
  line(fmt::format("    status = {}_begin(&context, outputs, {}{});", p_, has_pools(program_) ? "pools" : "arena",
                   has_state(program_) ? ", state" : ""));
  line(fmt::format("    for (row = 0; row < {}_ROWS && status == 0; ++row) {{", up_));
  line(
      fmt::format("        memcpy({0}_row(&context), from, {1}_ROW_BYTES);\n        from += {1}_ROW_BYTES;\n"
                  "        status = {0}_feed(&context);",
                  p_, up_));
  if (options_.slices)
    line(
        fmt::format("        while (status == {1}_MORE) {{\n            status = "
                    "{0}_step(&context);\n        }}",
                    p_, up_));
  line("    }");
  if (may_fail_above_zero(program_, options_))
    line(fmt::format("    if (status == {}_ERROR_OPERATOR) {{\n        return context.status;\n    }}", up_));
  line(fmt::format("    return status == {}_DONE ? 0 : status;", up_));
  line("}");
  return std::move(text_);
}

}  // namespace aotc::codegen
