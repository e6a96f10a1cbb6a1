// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_slices.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "codegen/c_run.h"
#include "codegen/c_state.h"
#include "support/text.h"

namespace aotc::codegen {

using plan::Program;
using plan::ProgramStep;
using plan::StorageKind;

namespace {

// What leads from the slices [from, to) to slice `old` leads to `now` instead.
void lead_to(std::vector<Slice>& slices, size_t from, size_t to, int old, int now) {
  for (size_t s = from; s < to; ++s)
    for (int* way : {&slices[s].next, &slices[s].otherwise})
      if (*way == old) *way = now;
}

int behind(const std::vector<Slice>& slices) { return static_cast<int>(slices.size()) + 1; }

void lay_out_loop(const ProgramStep& step, std::vector<Slice>& out) {
  const int first = behind(out);
  for (size_t j = 0; j < step.blocks[0].size(); ++j) {
    Slice& slice = out.emplace_back();
    slice.call = step.blocks[0][j].call;
    slice.next = behind(out);
    slice.repeat = &step;
    slice.number = j;
  }
  out.back().again = first;
}

void lay_out(const std::vector<ProgramStep>& steps, bool loops, std::vector<Slice>& out) {
  for (const ProgramStep& step : steps) {
    if (step.kind == ProgramStep::Kind::kRepeat) {
      if (loops) lay_out_loop(step, out);
      else
        for (const std::vector<ProgramStep>& turn : step.blocks) lay_out(turn, loops, out);
      continue;
    }
    const bool loop = step.kind == ProgramStep::Kind::kLoop;
    const int first = behind(out);
    if (loop) lay_out(step.blocks[0], loops, out);
    const size_t decision = out.size();
    out.emplace_back();
    out[decision].call = step.kind == ProgramStep::Kind::kCall ? step.call : -1;
    out[decision].condition = step.condition;
    out[decision].next = behind(out);
    if (step.kind == ProgramStep::Kind::kCall) continue;
    lay_out(step.blocks[loop ? 1 : 0], loops, out);
    const int end_of_block = behind(out);
    const size_t slices_of_block = out.size();
    if (!loop) {
      out[decision].otherwise = end_of_block;
      lay_out(step.blocks[1], loops, out);
    }
    const int after_block = loop ? first : behind(out);
    lead_to(out, decision + 1, slices_of_block, end_of_block, after_block);
    if (slices_of_block == decision + 1) out[decision].next = after_block;  // there is none in it
    if (loop) out[decision].otherwise = behind(out);
  }
}

}  // namespace

std::vector<Slice> lay_out_slices(const std::vector<ProgramStep>& body, bool loops) {
  std::vector<Slice> out;
  lay_out(body, loops, out);
  return out;
}

bool may_fail_above_zero(const Program& program, const CodegenOptions& options) {
  return options.convention != CallingConvention::kPlain || !context_devices(program).empty() ||
         std::any_of(program.functions.begin(), program.functions.end(),
                     [](const plan::ProgramFunction& f) { return f.external.has_value(); });
}

std::string begin_prototype(const Program& program, const std::string& p) {
  std::string run = run_prototype(program, p);
  const std::string name = fmt::format("{}_run(", p);
  run.replace(run.find(name), name.size(), fmt::format("{0}_begin(struct {0}_context *context, ", p));
  if (const std::string in = fmt::format("const struct {}_inputs *inputs, ", p); program.feeding)
    run.erase(run.find(in), in.size());
  return fold_prototype(run);
}

namespace {

// Calls but that of rows, whose parts are counted by events.
bool has_parts(const Program& program, const CodegenOptions& options) {
  for (size_t c = 0; c < options.bands.calls.size(); ++c)
    if (options.bands.calls[c].parts() > 1 && (!program.feeding || program.feeding->call != static_cast<int>(c)))
      return true;
  return false;
}

bool has_turns(const Program& program, const CodegenOptions& options) {
  return options.slices && prints_loops(program, options) &&
         std::any_of(program.body.begin(), program.body.end(),
                     [](const ProgramStep& step) { return step.kind == ProgramStep::Kind::kRepeat; });
}

}  // namespace

std::string context_members(const Program& program, const CodegenOptions& options) {
  const std::string& p = options.prefix;
  std::string s;
  if (!program.feeding && !struct_ports(program.graph.inputs, program.input_contract).empty())
    s += fmt::format("    struct {}_inputs inputs;\n", p);
  if (!struct_ports(program.graph.outputs, program.output_contract).empty())
    s += fmt::format("    struct {}_outputs outputs;\n", p);
  if (has_pools(program)) s += fmt::format("    struct {}_pools pools;\n", p);
  else if (program.arena_bytes > 0) s += "    void *arena;\n";
  if (has_state(program)) s += "    void *state;\n";
  if (!context_devices(program).empty()) s += fmt::format("    struct {}_devices devices;\n", p);
  if (program.feeding) s += "    int32_t row;      /* number of rows that were fed */\n";
  if (program.feeding && options.slices) s += "    int32_t event;    /* next event of the computation row by row */\n";
  if (has_parts(program, options))
    s += "    int32_t band;     /* number of finished parts of the call at `position` */\n";
  if (has_turns(program, options)) s += "    int32_t turn;     /* iteration of the loop that contains `position` */\n";
  s += "    int32_t position; /* 0: no run; above 0: the next slice; below 0: status of a failed run */\n";
  if (may_fail_above_zero(program, options))
    s += fmt::format("    int32_t status;   /* status that {}_run would have returned */\n", p);
  return s;
}

std::string slice_declarations(const Program& program, const CodegenOptions& options) {
  const std::string &p = options.prefix, up = upper(p);
  const bool keeps_ports = !struct_ports(program.graph.inputs, program.input_contract).empty() ||
                           !struct_ports(program.graph.outputs, program.output_contract).empty();
  std::string s = fmt::format(
      "\n/* Results of {0}_step: slices are left; the outputs are complete. */\n"
      "#define {1}_MORE 0\n#define {1}_DONE 1\n",
      p, up);
  if (may_fail_above_zero(program, options))
    s += fmt::format(
        "/* Result if an operator failed with a status above 0; context->status holds that status. */\n"
        "#define {}_ERROR_OPERATOR (-4)\n",
        up);
  s += fmt::format(
      "/* Number of positions in a run: operator calls{}, and decisions of branches and loops. */\n"
      "#define {}_SLICE_COUNT {}\n",
      has_parts(program, options)   ? " (long calls take several slices)"
      : has_turns(program, options) ? " (calls in loops take several slices)"
                                    : "",
      up, std::max<size_t>(1, lay_out_slices(program.body, prints_loops(program, options)).size()));
  if (options.longest_slice > 0)
    s += fmt::format(
        "/* Most instructions that one slice executes, by the cost model of {}. */\n"
        "#define {}_LONGEST_SLICE {}u\n",
        c_comment_text(options.cost_model), up, options.longest_slice);
  s += fmt::format(
      "\n/* State of one run. Only {0}_begin and {0}_step use its members. */\n"
      "struct {0}_context {{\n{1}}};\n",
      p, context_members(program, options));
  s += fmt::format(
      "\n/* Begins a run that {0}_step executes. Takes the arguments of {0}_run. Their memory belongs to the\n"
      " * run until it is complete{1}.\n"
      " * A run in progress is discarded{2}. Returns 0, or {3}_ERROR_ARGUMENT{4}. */\n{5};\n",
      p, keeps_ports ? "; the structs themselves are copied" : "",
      has_state(program) ? fmt::format("; then reset the state with {}_reset", p) : "", up,
      may_fail_above_zero(program, options) ? ", or the status of a device" : "", begin_prototype(program, p));
  s += fmt::format(
      "\n/* Runs the next slice. Returns {1}_MORE, {1}_DONE after the last slice, or a status below 0 if the\n"
      " * run failed; the outputs are then invalid. After the end of a run, further calls return the same\n"
      " * value and do nothing. Slices of contexts that share no memory may run in any order. */\n"
      "int32_t {0}_step(struct {0}_context *context);\n",
      p, up);
  return s;
}

// ---------------------------------------------------------------- NAME_begin and NAME_step

// The context is filled when all arguments are good; a failure leaves it without a run.
std::string RunPrinter::print_begin() {
  sliced_ = true;
  const std::string body = begin_body();
  line(begin_prototype(program_, p_));
  line("{");
  declare_memory();
  for (int d : context_devices(program_))
    if (body.find(context(d)) != std::string::npos)
      line(fmt::format("    void *const {} = devices != NULL ? devices->{} : NULL;", context(d),
                       program_.device_of(d).name));
  if (body.find("status = TVMDevice") != std::string::npos) line("    int32_t status = 0;");
  text_ += body;
  line("}");
  return std::move(text_);
}

std::string RunPrinter::begin_body() {
  line("");
  line("    if (context == NULL) {");
  line(fmt::format("        return {}_ERROR_ARGUMENT;", up_));
  line("    }");
  line("    context->position = 0;");
  check_arguments();
  for (const auto& [name, ports, contract] : {std::tuple{"inputs", &program_.graph.inputs, program_.input_contract},
                                              {"outputs", &program_.graph.outputs, program_.output_contract}})
    if (!struct_ports(*ports, contract).empty() && !(program_.feeding && ports == &program_.graph.inputs))
      line(fmt::format("    context->{0} = *{0};", name));
  if (has_pools(program_)) line("    if (pools != NULL) {\n        context->pools = *pools;\n    }");
  else if (program_.arena_bytes > 0) line("    context->arena = a;");
  if (has_state(program_)) line("    context->state = s;");
  for (int d : context_devices(program_))
    line(fmt::format("    context->devices.{0} = devices != NULL ? devices->{0} : NULL;", program_.device_of(d).name));
  if (has_parts(program_, options_)) line("    context->band = 0;");
  if (has_turns(program_, options_)) line("    context->turn = 0;");
  if (may_fail_above_zero(program_, options_)) line("    context->status = 0;");
  open_devices();
  if (program_.feeding) begin_rows();
  line("    context->position = 1;");
  const bool opened = text_.find("status = TVMDevice") != std::string::npos;
  line(opened ? "    return status;" : "    return 0;");
  // Only what was opened before a failure is given back here.
  while (!held_.empty() && !held_.back().jumped_to) held_.pop_back();
  if (jumps_to_done_ || !held_.empty()) {
    close_everything();
    line("    return status;");
  }
  return std::exchange(text_, {});
}

std::string RunPrinter::print_step(int lines_before, nlohmann::ordered_json& calls) {
  sliced_ = true;
  lines_ = 0;
  const std::vector<Slice> slices = lay_out_slices(program_.body, prints_loops(program_, options_));
  declare_call_locals();
  const std::string call_locals = std::exchange(text_, {});
  lines_ = 0;
  const std::string cases = step_cases(slices, calls);
  line(fmt::format("int32_t {0}_step(struct {0}_context *context)", p_));
  line("{");
  if (has_status_) line("    int32_t status = 0;");
  line("    int32_t next;");
  line("");
  line("    if (context == NULL || context->position == 0) {");
  line(fmt::format("        return {}_ERROR_ARGUMENT;", up_));
  line("    }");
  line("    if (context->position < 0) {");
  line("        return context->position;");
  line("    }");
  line(fmt::format("    if (context->position > {}_SLICE_COUNT) {{", up_));
  line(fmt::format("        return {}_DONE;", up_));
  line("    }");
  step_locals(cases);
  text_ += call_locals;
  line("    next = context->position + 1;");
  line("    switch (context->position) {");
  const auto above = lines_before + static_cast<int>(std::count(text_.begin(), text_.end(), '\n'));
  for (nlohmann::ordered_json& entry : calls) entry["line"] = entry["line"].get<int>() + above;
  text_ += cases;
  line("    default:");
  line("        break;");
  line("    }");
  line(fmt::format("    if ({}next <= {}_SLICE_COUNT) {{", has_status_ ? "status == 0 && " : "", up_));
  line("        context->position = next;");
  line(fmt::format("        return {}_MORE;", up_));
  line("    }");
  step_end();
  line("}");
  return std::move(text_);
}

// What the slices take from the context, under the names that calls give it.
void RunPrinter::step_locals(const std::string& cases) {
  auto used = [&](const std::string& text) { return cases.find(text) != std::string::npos; };
  for (const char* name : {"inputs", "outputs"})
    if (used(std::string(name) + "->"))
      line(fmt::format("    const struct {0}_{1} *const {1} = &context->{1};", p_, name));
  for (size_t i = 0; i < program_.pools.size(); ++i) {
    const std::string name = base(static_cast<int>(i));
    const std::string type = program_.pools[i].constants ? "const uint8_t" : "uint8_t";
    if (used(fmt::format("({} +", name)))  // what follows may be on the next line
      line(fmt::format("    {1} *const {0} = ({1} *)context->{2};", name, type,
                       has_pools(program_) ? "pools." + program_.pools[i].name : "arena"));
  }
  if (used("(s +")) line("    uint8_t *const s = (uint8_t *)context->state;");
  for (int d : context_devices(program_))
    if (used(context(d)) || closes(d))
      line(fmt::format("    void *const {} = context->devices.{};", context(d), program_.device_of(d).name));
}

std::string RunPrinter::step_cases(const std::vector<Slice>& slices, nlohmann::ordered_json& calls) {
  for (size_t i = 0; i < slices.size(); ++i) {
    const Slice& slice = slices[i];
    const int following = static_cast<int>(i) + 2;
    const bool parts = !slice.decides() && in_parts(static_cast<size_t>(slice.call));
    const bool rows = program_.feeding && slice.call == program_.feeding->call;
    const bool block = parts || rows || slice.repeat != nullptr;
    line(fmt::format("    case {}:{}", i + 1, block ? " {" : ""));
    ++depth_;
    forget_locals();
    if (slice.decides()) {
      line(fmt::format("    next = {} ? {} : {};", condition(slice.condition), slice.next, slice.otherwise));
    } else {
      if (parts) print_band(static_cast<size_t>(slice.call));
      if (rows) {
        calls.push_back(call_entry(static_cast<size_t>(slice.call)));
        print_slice_of_rows();
      } else if (slice.repeat != nullptr) {
        print_turn(slice);
      } else {
        print_call_itself(static_cast<size_t>(slice.call), calls);
      }
      if (slice.next != following) line(fmt::format("    next = {};", slice.next));
    }
    line("    break;");
    --depth_;
    if (block) line("    }");
  }
  forget_locals();
  return std::exchange(text_, {});
}

bool RunPrinter::in_parts(size_t call) const {
  if (program_.feeding && program_.feeding->call == static_cast<int>(call)) return false;
  return !options_.bands.calls.empty() && options_.bands.calls[call].parts() > 1;
}

std::vector<std::string> RunPrinter::band_arguments(size_t call) const {
  std::vector<std::string> out;
  if (options_.bands.calls.empty()) return out;
  const std::vector<plan::BandLevel>& levels = options_.bands.calls[call].levels;
  for (size_t i = 0; i < levels.size(); ++i)
    for (const auto& [name, whole] : {std::pair{"from", levels[i].begin}, {"to", levels[i].end}})
      out.push_back(sliced_ && levels[i].parts() > 1 ? fmt::format("{}{}", name, i) : std::to_string(whole));
  if (levels.size() < 2) return out;
  const bool parts = sliced_ && in_parts(call);
  out.push_back(parts ? "context->band == 0" : "1");
  out.push_back(parts ? fmt::format("context->band == {}", options_.bands.calls[call].parts() - 1) : "1");
  return out;
}

// context->band counts parts: the inner loop's within one of the outer loop's.
void RunPrinter::print_band(size_t call) {
  const std::vector<plan::BandLevel>& levels = options_.bands.calls[call].levels;
  int64_t inner = 1;
  for (size_t i = levels.size(); i-- > 0;) {
    const plan::BandLevel& level = levels[i];
    if (level.parts() <= 1) continue;
    std::string part = "context->band";
    if (inner > 1) part = fmt::format("({} / {})", part, inner);
    const bool is_outermost = std::all_of(levels.begin(), levels.begin() + static_cast<std::ptrdiff_t>(i),
                                          [](const plan::BandLevel& l) { return l.parts() <= 1; });
    if (!is_outermost) part = fmt::format("({} % {})", part, level.parts());
    const int64_t size = level.turns * level.step;
    const std::string plus = level.begin == 0 ? "" : fmt::format("{} + ", level.begin);
    line(fmt::format("    const int32_t from{} = {}{}{};", i, plus, part, size == 1 ? "" : fmt::format(" * {}", size)));
    line(fmt::format("    const int32_t to{0} = from{0} < {1} ? from{0} + {2} : {3};", i, level.end - size, size,
                     level.end));
    inner *= level.parts();
  }
}

// What follows is for the last part.
void RunPrinter::print_next_band(size_t call) {
  if (!in_parts(call)) return;
  line(fmt::format("    if (++context->band < {}) {{", options_.bands.calls[call].parts()));
  line("        next = context->position;\n        break;\n    }\n    context->band = 0;");
}

// The run is over, well or not: what was opened is given back in the reverse order.
void RunPrinter::step_end() {
  for (int d : context_devices(program_)) {
    for (const char* give : {"Deactivate", "Close"})
      if (program_.device_of(d).hooks.contains(give))
        held_.push_back(
            {"", fmt::format("TVMDevice{}{}({})", program_.device_of(d).camel_name(), give, context(d)), -1});
  }
  for (size_t h = held_.size(); h-- > 0;) {
    line("    {");
    line(fmt::format("        const int32_t released = {};", held_[h].release));
    line("        status = status != 0 ? status : released;");
    line("    }");
  }
  // Frames go on with the next one.
  const bool frames = program_.feeding && program_.feeding->period > 0;
  const std::string done = fmt::format("    context->position = {};", frames ? "1" : "next");
  if (!has_status_) {
    line(done);
    return line(fmt::format("    return {}_DONE;", up_));
  }
  line("    if (status != 0) {");
  keep_failure("        ");
  line("        return context->position;");
  line("    }");
  line(done);
  line(fmt::format("    return {}_DONE;", up_));
}

void RunPrinter::keep_failure(const std::string& indent) {
  if (!may_fail_above_zero(program_, options_)) return line(indent + "context->position = status;");
  line(indent + "context->status = status;");
  line(fmt::format("{}context->position = status < 0 ? status : {}_ERROR_OPERATOR;", indent, up_));
}

bool RunPrinter::closes(int device) const {
  return program_.device_of(device).hooks.contains("Close") || program_.device_of(device).hooks.contains("Deactivate");
}

}  // namespace aotc::codegen
