// SPDX-License-Identifier: Apache-2.0
#include "graph_states.h"

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

// A tensor of two dimensions, if some tries find one.
TensorId any_matrix(GraphMaker& g) {
  TensorId in = g.any();
  for (int tries = 0; tries < 12 && g.of(in).shape.size() != 2; ++tries) in = g.any();
  return in;
}

TensorType scaled_type(DType dtype, Shape shape, float scale) {
  TensorType out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  if (dtype != DType::kF32 && dtype != DType::kI32) {
    out.quantization.scale = {scale};
    out.quantization.zero_point = {0};
  }
  return out;
}

// A value of the type that is there, else a constant.
TensorId first_state(GraphMaker& g, const TensorType& wanted) {
  TensorId id = g.any_of(wanted);
  return id.valid() && g.random.chance(50) ? id : g.constant(wanted);
}

bool svdf(GraphMaker& g) {
  TensorId in = any_matrix(g);
  const TensorType type = g.of(in);
  const bool integer = type.dtype == DType::kI8;
  if (type.shape.size() != 2 || (!integer && type.dtype != DType::kF32)) return false;
  const int64_t rank = g.random.pick(1, 3), units = g.random.chance(40) ? 8 : g.random.pick(1, 5);
  const int64_t filters = rank * units, memory = g.random.chance(50) ? 4 * g.random.pick(1, 4) : g.random.pick(1, 9);
  const DType kept = !integer ? DType::kF32 : g.random.chance(50) ? DType::kI16 : DType::kI8;
  const float step = kept == DType::kI16 ? 0.0005f : 0.05f;
  TensorType state = scaled_type(kept, {type.shape[0], filters * memory}, g.random.real(step, 4 * step));
  if (kept == DType::kI8) state.quantization.zero_point = {g.random.pick(-40, 40)};
  const bool hybrid = !integer && g.random.chance(50);
  std::vector<TensorId> operands = {
      in,
      g.constant(scaled_type(hybrid ? DType::kI8 : type.dtype, {filters, type.shape[1]}, g.random.real(0.002f, 0.02f))),
      g.constant(scaled_type(hybrid ? DType::kI8 : kept, {filters, memory}, kept == DType::kI16 ? 0.00003f : 0.008f))};
  operands.push_back(g.random.chance(30) ? TensorId{}
                                         : g.constant(scaled_type(integer ? DType::kI32 : DType::kF32, {units}, 0)));
  operands.push_back(first_state(g, state));
  TensorType out = g.type(type.dtype, {});
  return g.add("svdf", operands,
               {{"rank", std::to_string(rank)},
                {"activation", g.random.chance(50) ? "relu" : "none"},
                {"asymmetric_rows", hybrid && g.random.chance(50) ? "true" : "false"}},
               {out, state});
}

}  // namespace

bool make_stateful(GraphMaker& graph) { return svdf(graph); }

}  // namespace aotc::tests
