// SPDX-License-Identifier: Apache-2.0
#include "codegen/c_header.h"

#include <algorithm>

#include <fmt/format.h>

#include "codegen/c_constants.h"
#include "codegen/c_feed.h"
#include "codegen/c_function.h"
#include "codegen/c_layout.h"
#include "codegen/c_run.h"
#include "codegen/c_slices.h"
#include "codegen/c_state.h"
#include "codegen/c_support.h"
#include "support/text.h"

namespace aotc::codegen {

namespace {

using plan::Program;

class HeaderPrinter {
 public:
  HeaderPrinter(const Program& program, const CodegenOptions& options, const ModelFiles& names)
      : program_(program), options_(options), out_(names), p_(options.prefix), up_(upper(options.prefix)) {}

  std::string header(const std::string& kernels) {
    const graph::Graph& g = program_.graph;
    std::string guard = up_ + "_H";
    std::string h = banner("Interface of a neural network.", program_.graph.name, options_);
    h += fmt::format("#ifndef {0}\n#define {0}\n\n#include <stdint.h>\n\n", guard);
    h += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
    bool workspace = options_.memory == MemoryMode::kWorkspace;
    int64_t arena = workspace ? 0 : program_.arena_bytes;
    if (has_pools(program_)) {
      // One behind the other they take so much.
      arena = 0;
      for (const plan::Pool& pool : program_.pools) arena += Program::aligned(pool.bytes);
    }
    h += workspace             ? "/* Intermediate tensors come from TVMBackendAllocWorkspace; no arena is needed. */\n"
         : has_pools(program_) ? "/* Total bytes of all pools, and the alignment of each pool. */\n"
                               : "/* Bytes and alignment of the arena that you pass to the run function. */\n";
    h += fmt::format("#define {0}_ARENA_SIZE {1}u\n#define {0}_ARENA_ALIGN {2}u\n", up_, arena,
                     Program::kArenaAlignment);
    if (workspace)
      h += fmt::format(
          "/* Peak of the workspace in bytes; each allocation is rounded up to a multiple of 16. */\n"
          "#define {}_WORKSPACE_SIZE {}u\n",
          up_, workspace_bytes(program_));
    h += fmt::format("#define {}_INPUT_COUNT {}\n#define {}_OUTPUT_COUNT {}\n", up_, g.inputs.size(), up_,
                     g.outputs.size());
    h += fmt::format("/* Operator calls in one run. */\n#define {}_CALL_COUNT {}\n", up_, program_.calls.size());
    h += kernels;
    h += fmt::format(
        "/* Status of a run if a pointer, as argument or in a struct, is null or misaligned. */\n"
        "#define {}_ERROR_ARGUMENT (-1)\n",
        up_);
    if (workspace)
      h += fmt::format(
          "/* Status of a run whose workspace is exhausted. */\n"
          "#define {}_ERROR_WORKSPACE (-2)\n",
          up_);
    h += state_macros(program_, p_);
    if (has_image(options_)) h += image_macros(program_, options_);
    if (std::any_of(program_.functions.begin(), program_.functions.end(),
                    [](const auto& f) { return f.body && tir::can_fail(f.body->body); }))
      h += fmt::format(
          "/* Status of a run if an operator is not defined for its data, such as a\n"
          " * division by zero. The outputs are then invalid. */\n"
          "#define {}_ERROR_DATA ({})\n",
          up_, tir::kFailStatus);
    h += port_comment();
    for (size_t i = 0; i < g.inputs.size(); ++i)
      tensor_macros(h, "INPUT", out_.input_fields[i], g.inputs[i], program_.inputs[i]);
    for (size_t i = 0; i < g.outputs.size(); ++i)
      tensor_macros(h, "OUTPUT", out_.output_fields[i], g.outputs[i], program_.outputs[i]);
    ports_and_prototypes(h);
    return h + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  }

 private:
  void tensor_macros(std::string& h, const char* kind, const std::string& field, const graph::Port& port,
                     const plan::Storage& storage) {
    const graph::TensorType& t = program_.graph[port.tensor].type;
    std::string m = fmt::format("{}_{}_{}", up_, kind, upper(field));
    h += fmt::format("\n/* {} */\n", tensor_title(port.name, t));
    h += fmt::format("#define {}_BYTES {}u\n#define {}_ELEMENTS {}u\n", m, t.bytes(), m, t.elements());
    std::string dims;
    for (int64_t d : t.shape) dims += fmt::format("{}{}", dims.empty() ? "" : ", ", d);
    h += fmt::format("#define {}_RANK {}\n", m, t.shape.size());
    if (!t.shape.empty()) h += fmt::format("#define {}_DIMS {{ {} }}\n", m, dims);
    h += fmt::format("#define {}_SCALE {}\n#define {}_ZERO_POINT {}\n", m, scale_text(t), m, zero_text(t));
    if (storage.kind != plan::StorageKind::kArena) return;
    h += fmt::format("/* Offset in the arena in bytes. */\n#define {}_OFFSET {}u\n", m, storage.offset);
  }
  static std::string scale_text(const graph::TensorType& t) { return c_float(t.scale(), DType::kF32); }
  static std::string zero_text(const graph::TensorType& t) {
    return t.zero_point() < 0 ? fmt::format("({})", t.zero_point()) : std::to_string(t.zero_point());
  }

  void x_macro(std::string& h, const char* kind, const std::vector<graph::Port>& ports,
               const std::vector<std::string>& fields) {
    h += fmt::format("#define {}_FOR_EACH_{}(X)", up_, kind);
    for (size_t i = 0; i < ports.size(); ++i) {
      const graph::TensorType& t = program_.graph[ports[i].tensor].type;
      h += fmt::format(" \\\n    X({}, {}, {}, {}, {})", fields[i], c_type_of(t.dtype), t.elements(), scale_text(t),
                       zero_text(t));
    }
    h += "\n";
  }

  // Pointers to what lies in the arena: TYPE *PREFIX_input_FIELD(void *arena).
  void accessors(std::string& h, bool is_input) {
    const auto& ports = is_input ? program_.graph.inputs : program_.graph.outputs;
    const auto& fields = is_input ? out_.input_fields : out_.output_fields;
    const auto& storage = is_input ? program_.inputs : program_.outputs;
    for (size_t i = 0; i < ports.size(); ++i) {
      if (storage[i].kind != plan::StorageKind::kArena) continue;
      const graph::TensorType& t = program_.graph[ports[i].tensor].type;
      const char *qualifier = is_input ? "" : "const ", *kind = is_input ? "input" : "output";
      std::string base = fmt::format("({}uint8_t *)arena", qualifier);
      std::string memory = fmt::format("{}void *arena", qualifier);
      if (has_pools(program_)) {
        memory = fmt::format("const struct {}_pools *pools", p_);
        base =
            fmt::format("({}uint8_t *)pools->{}", qualifier, program_.pools[static_cast<size_t>(storage[i].pool)].name);
      }
      if (has_own_arena(program_, options_)) base = fmt::format("(arena != 0 ? {} : {})", base, arena_name(options_));
      h += fmt::format(
          "\n/* {} */\nstatic inline {}{} *{}_{}_{}({})\n{{\n"
          "    return ({}{} *)({}void *)({} + {}_{}_{}_OFFSET);\n}}\n",
          describe(t), qualifier, c_type_of(t.dtype), p_, kind, fields[i], memory, qualifier, c_type_of(t.dtype),
          qualifier, base, up_, upper(kind), upper(fields[i]));
    }
  }

  // When a result in the arena is over.
  std::string next_run() const {
    return options_.program.empty() ? "the next run"
                                    : fmt::format("the next run of any model of {} in that arena", options_.program);
  }

  std::string port_comment() const {
    std::string h;
    const bool alone = options_.program.empty();
    if (!program_.graph.inputs.empty())
      h += program_.input_contract == plan::Contract::kOverwrite
               ? alone ? "/* Inputs are in the arena. Fill them before every run, because a run overwrites them. */\n"
                       : fmt::format(
                             "/* Inputs are in the arena. Fill them right before every run, because a run of this\n"
                             " * model, or of another model of {} in that arena, overwrites them. */\n",
                             options_.program)
               : "/* You provide the memory of the inputs; a run only reads it. */\n";
    h += fmt::format("#define {}_INPUT_IN_ARENA {}\n", up_,
                     program_.input_contract == plan::Contract::kOverwrite ? 1 : 0);
    if (!program_.graph.outputs.empty())
      h += program_.output_contract == plan::Contract::kOverwrite
               ? fmt::format("/* Outputs are in the arena and are valid until {}. */\n", next_run())
               : "/* You provide the memory of the outputs; every run writes it. */\n";
    h += fmt::format("#define {}_OUTPUT_IN_ARENA {}\n", up_,
                     program_.output_contract == plan::Contract::kOverwrite ? 1 : 0);
    return h;
  }

  void port_struct(std::string& h, const char* kind, bool is_input, const std::vector<graph::Port>& all,
                   plan::Contract contract, const std::vector<std::string>& fields) {
    const std::vector<graph::Port> ports = struct_ports(all, contract);
    h += fmt::format("struct {}_{} {{\n", p_, kind);
    for (size_t i = 0; i < ports.size(); ++i) {
      const graph::TensorType& t = program_.graph[ports[i].tensor].type;
      h +=
          fmt::format("    {}{} *{}; /* {} */\n", is_input ? "const " : "", c_type_of(t.dtype), fields[i], describe(t));
    }
    if (ports.empty())
      h += fmt::format("    char none; /* {} */\n",
                       all.empty() ? "the model has no such tensors" : "these tensors are in the arena");
    h += "};\n";
  }

  // What programs read and call behind the figures.
  void ports_and_prototypes(std::string& h) {
    const graph::Graph& g = program_.graph;
    h += "\n/* X(field, c_type, elements, scale, zero_point) for every input and output. */\n";
    x_macro(h, "INPUT", g.inputs, out_.input_fields);
    x_macro(h, "OUTPUT", g.outputs, out_.output_fields);
    h += "\n";
    port_struct(h, "inputs", true, g.inputs, program_.input_contract, out_.input_fields);
    h += "\n";
    port_struct(h, "outputs", false, g.outputs, program_.output_contract, out_.output_fields);
    h += pools_and_devices();
    if (has_own_arena(program_, options_))
      h += options_.program.empty()
               ? fmt::format(
                     "\n/* The model's own arena, in {0}_data.c. */\n#define {1}_OWN_ARENA 1\n"
                     "extern uint8_t {0}_arena[{1}_ARENA_SIZE];\n",
                     p_, up_)
               : fmt::format(
                     "\n/* The arena that all models share, in {1}_data.c. */\n#define {0}_OWN_ARENA 1\n"
                     "extern uint8_t {1}_arena[];\n",
                     up_, options_.program);
    accessors(h, true);
    accessors(h, false);
    h += state_prototypes(program_, p_);
    if (has_image(options_)) h += image_prototypes(options_);
    h += run_comment();
    h += run_prototype(program_, p_) + ";\n";
    if (program_.feeding) h += feed_declarations(program_, options_);
    else if (options_.slices) h += slice_declarations(program_, options_);
    h += fmt::format(
        "\n#ifdef {0}_TRACE\n"
        "/* Defined by the application: receives each result right after the call that computes it. */\n"
        "void {1}_trace(int32_t call, int32_t result, const void *data, uint32_t bytes);\n#endif\n",
        up_, p_);
  }

  // What the caller gives beside inputs and outputs: a struct of pools, contexts of devices.
  std::string pools_and_devices() const {
    std::string h;
    std::vector<int> devices = context_devices(program_);
    if (has_pools(program_)) {
      h += fmt::format("\n/* X(field, bytes) for every pool of intermediate tensors. */\n#define {}_FOR_EACH_POOL(X)",
                       up_);
      for (const plan::Pool& pool : program_.pools)
        if (!pool.constants) h += fmt::format(" \\\n    X({}, {}u)", pool.name, pool.bytes);
      h += "\n";
      if (program_.constant_pool >= 0)
        h += fmt::format(
            "/* The member for the pool of constants; {}_constants.h has the content of this pool. */\n"
            "#define {}_CONSTANT_POOL {}\n",
            p_, up_, program_.pools[static_cast<size_t>(program_.constant_pool)].name);
      for (const plan::Pool& pool : program_.pools)
        h += fmt::format("#define {}_POOL_{}_SIZE {}u\n", up_, upper(pool.name), pool.bytes);
      h += fmt::format(
          "\n/* Memory pools for intermediate tensors, each aligned to {}_ARENA_ALIGN. */\n"
          "struct {}_pools {{\n",
          up_, p_);
      for (const plan::Pool& pool : program_.pools)
        h += fmt::format("    {}void *{}; /* {} bytes{} */\n", pool.constants ? "const " : "", pool.name, pool.bytes,
                         pool.constants ? fmt::format(", filled with {}_CONSTANT_POOL_DATA", up_) : "");
      h += "};\n";
    }
    h += fmt::format("\n#define {}_DEVICE_COUNT {}\n", up_, devices.size());
    if (devices.empty()) return has_pools(program_) ? h : "";
    h += fmt::format(
        "/* X(field) for every device that has a context. */\n"
        "#define {}_FOR_EACH_DEVICE(X)",
        up_);
    for (int d : devices) h += fmt::format(" \\\n    X({})", program_.device_of(d).name);
    h += fmt::format("\n\n/* Contexts that the hooks of each device receive. */\nstruct {}_devices {{\n", p_);
    for (int d : devices) h += fmt::format("    void *{};\n", program_.device_of(d).name);
    return h + "};\n";
  }

  std::string run_comment() const {
    std::string c = "\n/* Runs the network once.";
    bool in = !program_.graph.inputs.empty(), out = !program_.graph.outputs.empty();
    bool own_in = in && program_.input_contract == plan::Contract::kPreserve;
    bool own_out = out && program_.output_contract == plan::Contract::kPreserve;
    if (own_in) c += " Inputs are only read.";
    if (in && !own_in) c += " Inputs in the arena are overwritten; `inputs` may be null.";
    if (own_out)
      c += own_in ? " Outputs must not overlap inputs or the arena." : "\n * Outputs must not overlap the arena.";
    if (out && !own_out) c += "\n * Outputs in the arena are valid until the next run; `outputs` may be null.";
    c += "\n";
    if (options_.memory == MemoryMode::kWorkspace) {
      c += " * `arena` is not used and may be null.\n";
    } else if (options_.arena == ArenaOwner::kModel && !options_.program.empty()) {
      c += fmt::format(
          " * If `arena` is null, the run uses {}_arena, which all models share; then only one of them\n"
          " * may run at a time.\n",
          options_.program);
    } else if (options_.arena == ArenaOwner::kModel) {
      c += fmt::format(
          " * If `arena` is null, the run uses the model's own {}_ARENA_SIZE bytes; then only one run\n"
          " * may be active at a time.\n",
          up_);
    } else if (has_pools(program_)) {
      c += fmt::format(
          " * Each of `pools` is aligned to {0}_ARENA_ALIGN. The {1}content of tensor pools is not kept\n"
          " * between runs and need not be initialised.\n",
          up_, in && !own_in ? "other " : "");
    } else {
      c += fmt::format(
          " * `arena` has {0}_ARENA_SIZE bytes, aligned to {0}_ARENA_ALIGN; its {1}content "
          "is not kept\n * between runs and need not be initialised.\n",
          up_, in && !own_in ? "other " : "");
      if (!options_.program.empty())
        c +=
            fmt::format(" * The models of {} may share one arena of {}_ARENA_SIZE bytes, if only one runs at a time.\n",
                        options_.program, upper(options_.program));
    }
    if (has_state(program_))
      c += fmt::format(
          " * `state` must be initialised by {}_init. The run reads the state, and updates\n"
          " * it for the next run.\n",
          p_);
    return c + " * Returns 0, or the status of the first operator that failed. */\n";
  }

  const Program& program_;
  const CodegenOptions& options_;
  const ModelFiles& out_;
  std::string p_, up_;
};

}  // namespace

std::string banner(const std::string& what, const std::string& model, const CodegenOptions& options) {
  return fmt::format("{}/* {}\n * Model: {}\n * Generated by aotc {}; do not edit. */\n", kLicenceLine, what,
                     c_comment_text(model), options.version);
}

std::string model_header(const Program& program, const CodegenOptions& options, const ModelFiles& names,
                         const std::string& kernels) {
  return fold_lines(HeaderPrinter(program, options, names).header(kernels));
}

}  // namespace aotc::codegen
