// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_names.h"

#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "codegen/c_helpers.h"
#include "codegen/c_run.h"
#include "codegen/c_slices.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

void make_names(const plan::Program& program, const CodegenOptions& options, UniqueNames& functions, ModelFiles& out) {
  const std::string& p = options.prefix;
  std::unordered_map<int, int> first_calls;  // of each operator
  for (size_t c = 0; c < program.calls.size(); ++c) first_calls.emplace(program.calls[c].op_index, static_cast<int>(c));
  auto call_of_op = [&](int op) {
    auto found = first_calls.find(op);
    return found == first_calls.end() ? op : found->second;
  };
  UniqueNames fields_in, fields_out;
  for (const char* taken :
       {"run",         "init",        "reset",        "trace",           "inputs",     "outputs",
        "arena",       "min_i32",     "max_i32",      "min_f32",         "max_f32",    "min_i64",
        "max_i64",     "abs_i32",     "float_bits",   "float_from_bits", "keep",       "fence",
        "product",     "saturate_i8", "saturate_i16", "devices",         "pools",      "check_tensors",
        "tensor_data", "shapes",      "tensors",      "type_codes",      "names",      "functions",
        "hashes",      "offsets",     "registry",     "module",          "row16",      "row24",
        "row32",       "constants",   "load",         "loaded",          "image_head", "crc"})
    functions.reserve(fmt::format("{}_{}", p, taken));
  if (options.slices)
    for (const char* taken : {"begin", "step", "context"}) functions.reserve(fmt::format("{}_{}", p, taken));
  if (program.feeding)
    for (const char* taken : {"begin", "row", "feed", "step", "context", "row_events", "row_slots"})
      functions.reserve(fmt::format("{}_{}", p, taken));
  for (const std::string& taken : helper_names()) functions.reserve(fmt::format("{}_{}", p, taken));
  for (const auto& port : program.graph.inputs)
    out.input_fields.push_back(fields_in.make(c_identifier(port.name, "input")));
  for (const auto& port : program.graph.outputs)
    out.output_fields.push_back(fields_out.make(c_identifier(port.name, "output")));
  for (const std::string& f : out.input_fields) functions.reserve(fmt::format("{}_input_{}", p, f));
  for (const std::string& f : out.output_fields) functions.reserve(fmt::format("{}_output_{}", p, f));
  for (const auto& f : program.functions) {
    std::string on = f.device == 0 ? "" : program.device_of(f.device).name + "_";
    out.function_names.push_back(
        f.external ? f.external->symbol
                   : functions.make(fmt::format("{}_{}{}_{}", p, on, c_identifier(f.body->name, "op"), f.calls[0])));
  }
  for (const auto& c : program.constants) {
    std::string owner =
        c.op_index < 0 ? (c.name == "initial" ? "state" : "output") : fmt::format("call{}", call_of_op(c.op_index));
    out.constant_names.push_back(functions.make(fmt::format("{}_{}_{}", p, owner, c_identifier(c.name, "data"))));
  }
}

}  // namespace

ModelFiles name_model(const plan::Program& program, const CodegenOptions& options, UniqueNames& functions) {
  ModelFiles out;
  make_names(program, options, functions, out);
  const bool loops = prints_loops(program, options);
  out.printed_calls = loops ? plan::printed_calls(program) : static_cast<int64_t>(program.calls.size());
  out.loop_table_bytes = loops ? plan::repeat_table_bytes(program) : 0;
  out.is_row = loops ? plan::constants_in_rows(program) : std::vector<bool>(program.constants.size(), false);
  for (size_t i = 0; i < out.is_row.size(); ++i)
    if (out.is_row[i]) out.loop_table_bytes -= static_cast<int64_t>(program.constants[i].data.bytes.size());
  return out;
}

}  // namespace aotc::codegen
