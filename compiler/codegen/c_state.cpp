// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_state.h"

#include <fmt/format.h>

#include "codegen/c_function.h"
#include "support/text.h"

namespace aotc::codegen {

using plan::Program;

std::string state_macros(const Program& program, const std::string& prefix) {
  if (!has_state(program)) return "";
  return fmt::format(
      "/* Bytes of what the model keeps from run to run, and their alignment. */\n"
      "#define {0}_STATE_SIZE {1}u\n#define {0}_STATE_ALIGN {2}u\n",
      upper(prefix), program.state_bytes, Program::kArenaAlignment);
}

std::string state_prototypes(const Program& program, const std::string& prefix) {
  if (!has_state(program)) return "";
  return fmt::format(
      "\n/* Makes `state` ready for a first run: {1}_STATE_SIZE bytes, aligned to {1}_STATE_ALIGN. Every\n"
      " * instance of the model has a state of its own. Returns 0 or {1}_ERROR_ARGUMENT. */\n"
      "int32_t {0}_init(void *state);\n"
      "\n/* Forgets all runs: the next one is a first run. The same as {0}_init. */\n"
      "int32_t {0}_reset(void *state);\n",
      prefix, upper(prefix));
}

std::string state_definitions(const Program& program, const CodegenOptions& options, const ModelFiles& names) {
  if (!has_state(program)) return "";
  const std::string &p = options.prefix, up = upper(p);
  std::string s = fmt::format(
      "\n#include <stddef.h>\n#include <string.h>\n\n"
      "int32_t {0}_init(void *state)\n{{\n    return {0}_reset(state);\n}}\n\n"
      "int32_t {0}_reset(void *state)\n{{\n    uint8_t *const s = (uint8_t *)state;\n\n"
      "    if (s == NULL || ((uintptr_t)s & ({1}_STATE_ALIGN - 1u)) != 0) {{\n"
      "        return {1}_ERROR_ARGUMENT;\n    }}\n",
      p, up);
  for (size_t i = 0; i < program.states.size(); ++i) {
    const graph::State& state = program.graph.states[i];
    const graph::Tensor& tensor = program.graph[state.before];
    int table = program.initial_values[i];
    std::string to = fmt::format("s + {}", program.states[i].offset);
    s += fmt::format("    /* {} */\n", tensor_title(tensor.name, tensor.type));
    if (table < 0)
      s += fmt::format("    (void)memset({}, {}, {}u);\n", to, state.initial.bytes.empty() ? 0 : state.initial.bytes[0],
                       tensor.type.bytes());
    else
      s += fmt::format("    (void){}({}, {}, {}u);\n", program.program_tables ? "memcpy_P" : "memcpy", to,
                       names.constant_names[static_cast<size_t>(table)], tensor.type.bytes());
  }
  return s + "    return 0;\n}\n";
}

}  // namespace aotc::codegen
