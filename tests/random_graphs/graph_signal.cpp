// SPDX-License-Identifier: Apache-2.0
#include "graph_signal.h"

namespace aotc::tests {

namespace {

using graph::Shape;
using graph::TensorId;
using graph::TensorType;

TensorType plain_type(DType dtype, Shape shape) {
  TensorType out;
  out.dtype = dtype;
  out.shape = std::move(shape);
  return out;
}

std::string digits(int64_t v) { return std::to_string(v); }

// Some tensor as one row of the type, by value.
TensorId row_of(GraphMaker& g, DType dtype) {
  TensorId in = g.any();
  for (int tries = 0; tries < 6 && g.of(in).elements() > 200; ++tries) in = g.any();
  const int64_t count = g.of(in).elements();
  if (count > 200 || !g.add("reshape", {in}, {{"shape", "[" + digits(count) + "]"}}, {g.of(in)}))
    return {};
  if (g.of(g.last()).dtype == dtype) return g.last();
  return g.add("cast", {g.last()}, {}, {plain_type(dtype, {})}) ? g.last() : TensorId{};
}

TensorId table(GraphMaker& g, const std::vector<int16_t>& values) {
  graph::Tensor tensor;
  tensor.name = "table" + digits(static_cast<int64_t>(g.made.tensors.size()));
  tensor.type = plain_type(DType::kI16, {static_cast<int64_t>(values.size())});
  std::vector<uint8_t> bytes;
  for (int16_t v : values)
    for (int part : {0, 8}) bytes.push_back(static_cast<uint8_t>(static_cast<uint16_t>(v) >> part));
  tensor.constant = graph::own_bytes(std::move(bytes));
  return g.made.add_tensor(std::move(tensor));
}

std::vector<int16_t> random_table(GraphMaker& g, int64_t count, int64_t least, int64_t most) {
  std::vector<int16_t> out;
  for (int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<int16_t>(g.random.pick(least, most)));
  return out;
}

bool samples(GraphMaker& g) {
  TensorId in = row_of(g, DType::kI16);
  if (!in.valid()) return false;
  const int64_t count = g.of(in).elements();
  int64_t width = g.random.pick(1, count);
  while (count % width != 0) --width;
  const TensorType same = plain_type(DType::kI16, {});
  switch (g.random.pick(0, 2)) {
    case 0:
      return g.add("signal_window", {in, table(g, random_table(g, width, -32768, 32767))},
                   {{"shift", digits(g.random.pick(0, 31))}}, {same});
    case 1:
      return g.add("signal_fft_auto_scale", {in}, {}, {same, plain_type(DType::kI32, {})});
    default:
      return g.add(
          "signal_energy", {in},
          {{"start_index", digits(g.random.pick(0, count / 4))}, {"end_index", digits(count / 2)}},
          {plain_type(DType::kU32, {})});
  }
}

bool spectrum(GraphMaker& g) {
  static const DType kTypes[] = {DType::kI16, DType::kI32, DType::kF32};
  const DType type = kTypes[g.random.pick(0, 2)];
  TensorId in = row_of(g, type);
  if (!in.valid()) return false;
  static const int64_t kLengths[] = {4, 6, 8, 10, 12, 18, 20, 30, 32, 36, 50, 64, 90, 128, 240};
  const int64_t count = g.of(in).elements();
  for (int64_t length : kLengths)
    if (length + 2 == count)
      return g.add("signal_irfft", {in}, {{"fft_length", digits(length)}}, {plain_type(type, {})});
  for (int64_t length : kLengths)
    if (length >= count && g.random.chance(60)) {
      if (!g.add("signal_rfft", {in}, {{"fft_length", digits(length)}}, {plain_type(type, {})}))
        return false;
      return g.random.chance(50) || g.add("signal_irfft", {g.last()},
                                          {{"fft_length", digits(length)}}, {plain_type(type, {})});
    }
  return false;
}

bool filters(GraphMaker& g, TensorId in) {
  const int64_t bins = g.of(in).elements(), channels = g.random.pick(1, 6);
  std::vector<int16_t> first, start, width;
  int64_t weights = 0;
  for (int64_t i = 0; i <= channels; ++i) {
    const int64_t wide = g.random.pick(0, std::min<int64_t>(bins, 9));
    first.push_back(static_cast<int16_t>(g.random.pick(0, bins - wide)));
    start.push_back(static_cast<int16_t>(weights));
    width.push_back(static_cast<int16_t>(wide));
    weights += wide;
  }
  const int64_t least = g.random.chance(20) ? -4096 : 0, held = std::max<int64_t>(weights, 1);
  std::vector<TensorId> operands = {in,
                                    table(g, random_table(g, held, least, 4096)),
                                    table(g, random_table(g, held, least, 4096)),
                                    table(g, first),
                                    table(g, start),
                                    table(g, width)};
  if (!g.add("signal_filter_bank", operands, {{"num_channels", digits(channels)}},
             {plain_type(DType::kI64, {})}))
    return false;
  TensorId sums = g.last();
  TensorId shift = g.any_of(plain_type(DType::kI32, {}));
  if (!shift.valid()) shift = g.constant(plain_type(DType::kI32, {}));
  return g.add("signal_filter_bank_square_root", {sums, shift}, {}, {plain_type(DType::kU32, {})});
}

bool channels(GraphMaker& g) {
  TensorId in = row_of(g, DType::kU32);
  if (!in.valid()) return false;
  const TensorType type = g.of(in);
  auto number = [&](int64_t most) { return digits(g.random.pick(0, most)); };
  switch (g.random.pick(0, 3)) {
    case 0:
      return filters(g, in);
    case 1: {
      TensorId noise = g.constant(type);
      return g.add("signal_filter_bank_spectral_subtraction", {in, noise},
                   {{"num_channels", digits(type.elements())},
                    {"smoothing", number(1 << 14)},
                    {"one_minus_smoothing", number(1 << 14)},
                    {"alternate_smoothing", number(1 << 14)},
                    {"alternate_one_minus_smoothing", number(1 << 14)},
                    {"min_signal_remaining", number(1 << 14)},
                    {"smoothing_bits", number(20)},
                    {"spectral_subtraction_bits", number(31)},
                    {"clamping", g.random.chance(50) ? "true" : "false"}},
                   {type, type});
    }
    case 2:
      return g.add("signal_pcan",
                   {in, g.random.chance(50) ? in : g.constant(type),
                    table(g, random_table(g, 125, -32768, 32767))},
                   {{"snr_shift", number(32)}}, {type});
    default:
      return g.add("signal_filter_bank_log", {in},
                   {{"input_correction_bits", number(31)}, {"output_scale", number(100000)}},
                   {plain_type(DType::kI16, {})});
  }
}

}  // namespace

bool make_signal(GraphMaker& graph) {
  switch (graph.random.pick(0, 2)) {
    case 0:
      return samples(graph);
    case 1:
      return spectrum(graph);
    default:
      return channels(graph);
  }
}

}  // namespace aotc::tests
