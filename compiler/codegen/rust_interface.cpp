// SPDX-License-Identifier: Apache-2.0
#include "codegen/rust_interface.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "codegen/c_run.h"
#include "codegen/c_state.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

using plan::Program;

// Keywords of Rust that c_identifier lets through; the last four cannot be written raw either.
std::string rust_name(const std::string& field) {
  static constexpr std::array kWords = {"abstract", "as",      "async", "await",    "become", "box",  "dyn",   "final",
                                        "fn",       "gen",     "impl",  "in",       "let",    "loop", "macro", "match",
                                        "mod",      "move",    "mut",   "override", "priv",   "pub",  "ref",   "trait",
                                        "type",     "unsized", "use",   "where",    "yield"};
  static constexpr std::array kNever = {"crate", "self", "super"};
  auto in = [&](const auto& list) { return std::find(list.begin(), list.end(), field) != list.end(); };
  return in(kNever) ? field + "_" : in(kWords) ? "r#" + field : field;
}

std::string type_of(DType t) {
  const std::string c(c_type_of(t));
  if (c == "float") return "f32";
  if (c == "double") return "f64";
  const bool is_unsigned = c.starts_with('u');
  return (is_unsigned ? "u" : "i") + c.substr(is_unsigned ? 4 : 3, c.size() - 2 - (is_unsigned ? 4 : 3));
}

// A float as a literal: Rust wants a point or an exponent.
std::string float_text(float value) {
  std::string out = fmt::format("{}", value);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

void port_constants(std::string& out, const std::string& start, const graph::Port& port, const graph::TensorType& t,
                    const plan::Storage& storage) {
  std::string dims;
  for (int64_t d : t.shape) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", d);
  out += fmt::format("\n/// {}\npub const {}_ELEMENTS: usize = {};\n", tensor_title(port.name, t), start, t.elements());
  out += fmt::format("pub const {0}_BYTES: usize = {1};\npub const {0}_DIMS: [usize; {2}] = [{3}];\n", start, t.bytes(),
                     t.shape.size(), dims);
  out += fmt::format("pub const {0}_SCALE: f32 = {1};\npub const {0}_ZERO_POINT: i32 = {2};\n", start,
                     float_text(t.scale()), t.zero_point());
  if (storage.kind == plan::StorageKind::kArena)
    out += fmt::format("/// Where it lies in the arena.\npub const {}_OFFSET: usize = {};\n", start, storage.offset);
}

void port_struct(std::string& out, const std::string& name, const Program& program, bool input, const ModelFiles& c) {
  const auto& all = input ? program.graph.inputs : program.graph.outputs;
  const auto& fields = input ? c.input_fields : c.output_fields;
  const auto ports = struct_ports(all, input ? program.input_contract : program.output_contract);
  out += fmt::format("\n#[repr(C)]\npub struct {} {{\n", name);
  for (size_t i = 0; i < ports.size(); ++i)
    out += fmt::format("    pub {}: *{} {},\n", rust_name(fields[i]), input ? "const" : "mut",
                       type_of(program.graph[ports[i].tensor].type.dtype));
  if (ports.empty())
    out += fmt::format("    /// {}: the pointer to this struct may be null.\n    pub none: u8,\n",
                       all.empty() ? "The model has none" : "They lie in the arena");
  out += "}\n";
}

std::string functions(const std::string& prefix, bool state) {
  std::string out = "\nextern \"C\" {\n";
  if (state)
    out += fmt::format(
        "    /// Makes {1}_STATE_SIZE bytes, aligned to {1}_STATE_ALIGN, ready for a first run.\n"
        "    pub fn {0}_init(state: *mut c_void) -> i32;\n    pub fn {0}_reset(state: *mut c_void) -> i32;\n",
        prefix, upper(prefix));
  out += fmt::format(
      "    /// Runs the network once. 0, or the status of the first operator that failed.\n"
      "    pub fn {0}_run(\n        inputs: *const {0}_inputs,\n        outputs: *const {0}_outputs,\n"
      "        arena: *mut c_void,\n{1}    ) -> i32;\n}}\n",
      prefix, state ? "        state: *mut c_void,\n" : "");
  return out;
}

}  // namespace

std::string rust_interface(const Program& program, const std::string& prefix, const ModelFiles& c) {
  const std::string up = upper(prefix);
  std::string out = fmt::format(
      "/// Bytes that the arena must have, and its alignment.\npub const {0}_ARENA_SIZE: usize = {1};\n"
      "pub const {0}_ARENA_ALIGN: usize = {2};\n"
      "/// Calls of operators in one run.\npub const {0}_CALL_COUNT: usize = {3};\n"
      "/// Status of a run called with a null or misaligned pointer.\npub const {0}_ERROR_ARGUMENT: i32 = -1;\n"
      "pub const {0}_INPUT_IN_ARENA: bool = {4};\npub const {0}_OUTPUT_IN_ARENA: bool = {5};\n",
      up, program.arena_bytes, Program::kArenaAlignment, program.calls.size(),
      program.input_contract == plan::Contract::kOverwrite, program.output_contract == plan::Contract::kOverwrite);
  const bool state = has_state(program);
  if (state)
    out += fmt::format(
        "/// What the model keeps from run to run.\npub const {0}_STATE_SIZE: usize = {1};\n"
        "pub const {0}_STATE_ALIGN: usize = {2};\n",
        up, program.state_bytes, Program::kArenaAlignment);
  for (bool input : {true, false}) {
    const auto& ports = input ? program.graph.inputs : program.graph.outputs;
    const auto& fields = input ? c.input_fields : c.output_fields;
    for (size_t i = 0; i < ports.size(); ++i)
      port_constants(out, fmt::format("{}_{}_{}", up, input ? "INPUT" : "OUTPUT", upper(fields[i])), ports[i],
                     program.graph[ports[i].tensor].type, (input ? program.inputs : program.outputs)[i]);
  }
  port_struct(out, prefix + "_inputs", program, true, c);
  port_struct(out, prefix + "_outputs", program, false, c);
  out += fmt::format(
      "\n/// Memory with the size and alignment of the arena.\n#[repr(C, align({}))]\n"
      "pub struct {}_arena(pub [u8; {}_ARENA_SIZE]);\n",
      Program::kArenaAlignment, prefix, up);
  if (state)
    out += fmt::format(
        "\n/// Memory with the size and alignment of the state.\n#[repr(C, align({}))]\n"
        "pub struct {}_state(pub [u8; {}_STATE_SIZE]);\n",
        Program::kArenaAlignment, prefix, up);
  out += functions(prefix, state);
  out.pop_back();  // the line that this takes the place of ends itself
  return out;
}

}  // namespace aotc::codegen
