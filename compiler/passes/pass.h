// SPDX-License-Identifier: Apache-2.0
// Pass: a function that transforms a graph. A pass tests properties of operators (ops::Traits and functions of
// ops::Operator), never their names. Afterwards ops::verify_graph accepts the graph, and its outputs are bit-identical
// to those before. pipeline.h lists the passes in their order.
#pragma once

#include <string_view>

#include "graph/graph.h"
#include "support/diagnostics.h"

namespace aotc::passes {

struct DeviceSet;  // passes/devices.h

// Statistics of passes, for reports.
struct PassStatistics {
  int64_t channels_cut_tensors = 0;  // tensors that lost channels
  int64_t constant_channels = 0;     // channels removed because their value is constant
  int64_t unread_channels = 0;       // channels removed because nothing reads them
};

// Options of passes. strip_boundary_float and remove_rounding are off by default, because they change the model's
// interface or outputs.
struct PassOptions {
  // Null if there are no devices other than the host.
  const DeviceSet* devices = nullptr;
  // Makes the model's interface quantised: float inputs and outputs that the model itself quantises or dequantises
  // become the quantised tensors.
  bool strip_boundary_float = false;
  // Removes quantize followed by dequantize. Such a pair rounds, so outputs then differ from the model's.
  bool remove_rounding = false;
  // Disables the removal of constant and unread channels.
  bool keep_dead_channels = false;
  // Receives statistics if not null.
  PassStatistics* statistics = nullptr;
  // Limit on the steps of the pass move-transposes, over all its searches; the default takes about a second.
  int64_t transpose_work = int64_t{1} << 22;
};

struct Pass {
  std::string_view name;    // name for the options --pass= and --dump-after=
  std::string_view reason;  // one line: why it is in the pipeline
  Status (*run)(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);
};

// Removes operators that no output needs. Operators with side effects stay: those that access variables or have no
// results.
Status remove_dead_code(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Assigns operators to the devices in devices.json. An operator is assigned to the first device whose patterns match
// it, or to the fallback device if none matches. A view is assigned to the device of its operand. If the model's file
// already assigns an operator to a device other than the host, the operator stays there.
Status annotate_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Makes the model's interface quantised, if PassOptions::strip_boundary_float is set. A float input whose readers only
// quantise it is replaced by the quantised tensor. A float output that dequantises a tensor is replaced by that tensor.
// The names of inputs and outputs stay, so callers see the same fields with another type.
Status strip_boundary_float(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Evaluates operators whose operands are all constant, with the operators' reference implementation, and replaces them
// by constants. An operator is not folded if its result would increase flash or its evaluation would take the compiler
// too long.
Status fold_constants(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Removes operators that return their operand unchanged: empty padding, slices of the whole tensor, reshapes to the
// same shape, clamps without effect. A view of a view becomes a view of the first tensor. An operator stays if its
// removal would make an output port refer to an input or a constant, because the caller's buffers are distinct.
Status remove_identities(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Removes conversions to another representation and back, such as dequantize followed by quantize with the same
// parameters. The pass evaluates the round trip for every 8- or 16-bit value to prove that it changes nothing. Quantize
// followed by dequantize rounds, so it is removed only with PassOptions::remove_rounding. The pass removes only the
// second operator of a pair; the dead code pass removes the first one if nothing else reads its result.
Status remove_conversions(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Moves transposes through operators that can work in any order of dimensions, until pairs of transposes cancel. For
// example, the parts of a model in NCHW order between NHWC operators become NHWC. Outputs stay bit-identical, and the
// number of transposed elements never increases. A tensor that gets an order in which the model does not have it gets a
// name that ends in kOtherOrder, the order, and ')'.
inline constexpr std::string_view kOtherOrder = " (order ";
Status move_transposes(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Replaces an operator by a more general one, if it is a special case of that operator: a depthwise convolution of one
// channel becomes a convolution. Results stay bit-identical, also in float.
Status generalize(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Fuses a pad operator with real value 0 into the operator that reads its result, as padding attributes
// (Traits::zero_pads), also through a view that adds or removes dimensions of size 1. Float weights must be finite
// constants, because 0 times infinity is NaN.
Status fuse_padding(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Fuses the addition of a constant to a float matrix product into the product, as its bias. The product adds its bias
// last, so results stay bit-identical. A product that clamps its results before the addition is not fused.
Status fuse_addition(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Fuses an activation into the operator that computes its operand: the activation becomes an attribute of that
// operator, also if views are between the two. In float, both forms clamp equally. A quantised activation is fused only
// if its operand and result have the same type and the fused clamp is proven equal for every value.
Status fuse_activation(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Replaces elementwise functions of one byte tensor by a table: SiLU as a product of x and its sigmoid, or an
// activation between two changes of scale. The pass evaluates the operators for all 256 values of the tensor. It
// replaces only the last operator, if nothing else reads the result of one before it; the dead code pass removes that.
Status tabulate(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Splits a matrix product with constant weights into several products if its result is read only in parts. Each new
// product has the weights of one part and runs when the part is needed. Exporters compute queries, keys and values of
// attention in one such product. Results stay bit-identical, because each element is computed as before.
Status split_products(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Removes channels of int8 tensors that have the same value for all inputs of the network, or that nothing reads. The
// operators that produce and read these channels become smaller, and outputs stay bit-identical. Tensors that lose
// channels get the suffix kLiveChannelsSuffix.
Status remove_dead_channels(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Reorders an unrolled recurrent network, so that the operators of each time step are adjacent and in the same order.
// It applies if several operators read the same weights. The new order must give more repeats or a lower peak of live
// tensors, and neither may be worse than before.
Status order_repeats(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// If a tensor is read on another device, inserts a device_copy that all readers on that device share. Outputs are
// copied to the host. Afterwards every operator except device_copy reads and writes only tensors of its own device.
Status partition_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Lets the host work while an asynchronous device runs. It moves independent operators of the host behind a launch, and
// delays the copy that waits for the launch as much as possible.
Status order_devices(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

// Removes unreferenced tensors and renumbers the others (graph::compact). No other pass changes tensor ids.
Status compact_tensors(graph::Graph& graph, const PassOptions& options, Diagnostics& diags);

}  // namespace aotc::passes
