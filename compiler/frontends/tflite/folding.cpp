// SPDX-License-Identifier: Apache-2.0
// What becomes constants while operators are read: results of operators on constants, and float16
// weights, which the reader widens and a DEQUANTIZE only gives another name.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/operators.h"
#include "ops/constants.h"

namespace aotc::frontends {

void OperatorReader::evaluate(const graph::Op& op, int64_t steps, Build& build) {
  build.steps_left -= steps;
  ops::evaluate_to_constants(build.graph, op);
  for (graph::TensorId id : op.results)
    source_.constants.add(static_cast<uint64_t>(build.graph[id].type.bytes()) * kMostReads);
}

// Appends the operator, or makes its results constants.
bool OperatorReader::fold(size_t index, const graph::Op& op, Build& build, Diagnostics& told) {
  ops::OpView view{build.graph, op};
  bool lowers = resolved_[index].definition->has_lowering(view);
  // An output's bytes are the caller's, so somebody has to write them.
  bool possible = ops::can_evaluate(view) && !is_output(index);
  int64_t steps = possible ? ops::steps_of(view) : 0;
  if (possible && !lowers && steps > build.steps_left) {
    told.error(op.location, "tflite-limit", "the model's computations on constants need more steps than aotc allows")
        .help("the file may be damaged; otherwise export these tensors as constants");
    return false;
  }
  if (possible && steps <= build.steps_left && (!lowers || ops::growth_of(view) <= ops::kMostGrowth)) {
    evaluate(op, steps, build);
    return true;
  }
  if (possible)
    for (graph::TensorId id : op.results)
      build.pending[static_cast<size_t>(id.value)] = static_cast<int>(build.graph.ops.size());
  build.graph.ops.push_back(op);
  build.folded.push_back(false);
  return true;
}

// Operands that could be constants and were left to the device, because they are large. Are there
// new ones?
bool OperatorReader::fold_operands(const graph::Op& op, Build& build) {
  bool any = false;
  for (graph::TensorId id : op.operands) {
    if (!id.valid() || build.graph.is_constant(id)) continue;
    int pending = build.pending[static_cast<size_t>(id.value)];
    if (pending < 0) continue;
    const graph::Op& before = build.graph.ops[static_cast<size_t>(pending)];
    int64_t steps = ops::steps_of({build.graph, before});
    if (steps > build.steps_left) continue;
    evaluate(before, steps, build);
    build.folded[static_cast<size_t>(pending)] = true;
    any = true;
  }
  return any;
}

bool OperatorReader::is_widening(size_t index) const {
  const auto* operands = raw(index).inputs();
  return resolved_[index].builtin == kTfliteDequantize && length(operands) == 1 && operands->Get(0) >= 0 &&
         raw_tensor(operands->Get(0))->type() == tflite_schema::TensorType_FLOAT16;
}

// The operand's values are float32 already (tensors.h); both tensors share them.
void OperatorReader::build_widening(size_t index, Build& build) {
  graph::Op op;
  Diagnostics told;
  bool good = connect(index, build, op, told);
  if (good && op.results.size() == 1) {
    const graph::Tensor& from = build.graph[op.operands[0]];
    graph::Tensor& to = build.graph[op.results[0]];
    if (is_output(index)) {
      unsupported_.push_back({index, "converts a float16 constant to float32, but its result is an output"});
    } else if (to.type.dtype != DType::kF32 || to.type.shape != from.type.shape) {
      told.error(
              op.location, "tflite-invalid",
              fmt::format("the operator converts FLOAT16 to {} of shape {}, but the operand has shape {}",
                          name_of(to.type.dtype), graph::to_string(to.type.shape), graph::to_string(from.type.shape)))
          .help("the file is damaged; export the model again");
      good = false;
    } else {
      to.constant = from.constant;
    }
  }
  skip(index, build);
  if (!good) failed_.push_back({index, std::move(told)});
}

}  // namespace aotc::frontends
