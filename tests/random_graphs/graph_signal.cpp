// SPDX-License-Identifier: Apache-2.0
#include "graph_signal.h"

#include <cstring>

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
  if (count > 200 || !g.add("reshape", {in}, {{"shape", "[" + digits(count) + "]"}}, {g.of(in)})) return {};
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
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<int16_t>(g.random.pick(least, most)));
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
    case 1: return g.add("signal_fft_auto_scale", {in}, {}, {same, plain_type(DType::kI32, {})});
    default:
      return g.add("signal_energy", {in},
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
      if (!g.add("signal_rfft", {in}, {{"fft_length", digits(length)}}, {plain_type(type, {})})) return false;
      return g.random.chance(50) ||
             g.add("signal_irfft", {g.last()}, {{"fft_length", digits(length)}}, {plain_type(type, {})});
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
  if (!g.add("signal_filter_bank", operands, {{"num_channels", digits(channels)}}, {plain_type(DType::kI64, {})}))
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
    case 0: return filters(g, in);
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
                   {in, g.random.chance(50) ? in : g.constant(type), table(g, random_table(g, 125, -32768, 32767))},
                   {{"snr_shift", number(32)}}, {type});
    default:
      return g.add("signal_filter_bank_log", {in},
                   {{"input_correction_bits", number(31)}, {"output_scale", number(100000)}},
                   {plain_type(DType::kI16, {})});
  }
}

// What is kept of earlier runs is some constant here.
bool streams(GraphMaker& g) {
  TensorId in = row_of(g, DType::kI16);
  if (!in.valid()) return false;
  const int64_t count = g.of(in).elements();
  const TensorType same = plain_type(DType::kI16, {}), flag = plain_type(DType::kBool, {}),
                   runs = plain_type(DType::kI32, {});
  auto kept = [&](int64_t samples) { return plain_type(DType::kI16, {1, samples}); };
  auto counter = [&] {
    graph::Tensor tensor;
    tensor.name = "runs" + digits(static_cast<int64_t>(g.made.tensors.size()));
    tensor.type = runs;
    const auto value = static_cast<uint8_t>(g.random.pick(0, 2));
    tensor.constant =
        graph::own_bytes(g.random.chance(30) ? std::vector<uint8_t>(4, 255) : std::vector<uint8_t>{value, 0, 0, 0});
    return g.made.add_tensor(std::move(tensor));
  };
  switch (g.random.pick(0, 2)) {
    case 0: {
      const int64_t length = g.random.pick(1, 2 * count);
      return g.add("signal_delay", {in, g.constant(kept(length))}, {{"delay_length", digits(length)}},
                   {same, kept(length)});
    }
    case 1: {
      int64_t step = g.random.pick(1, count);
      while (count % step != 0) --step;
      const bool prefill = g.random.chance(50);
      const int64_t size = step + g.random.pick(1, 2 * step);
      const TensorType held = kept(prefill ? size - step : (size - 1) / step * step);
      const Attributes attributes = {
          {"frame_size", digits(size)}, {"frame_step", digits(step)}, {"prefill", prefill ? "true" : "false"}};
      if (prefill) return g.add("signal_framer", {in, g.constant(held)}, attributes, {same, flag, held});
      return g.add("signal_framer", {in, counter(), g.constant(held)}, attributes, {same, flag, runs, held});
    }
    default: {
      const int64_t left = g.random.pick(0, 2), right = g.random.pick(1, 2), frames = left + right + 1;
      const TensorType held = kept((frames - 1) * count);
      return g.add("signal_stacker", {in, counter(), g.constant(held)},
                   {{"num_channels", digits(count)},
                    {"stacker_left_context", digits(left)},
                    {"stacker_right_context", digits(right)},
                    {"stacker_step", digits(g.random.pick(1, frames))}},
                   {same, flag, runs, held});
    }
  }
}

bool overlaps(GraphMaker& g) {
  const DType type = g.random.chance(50) ? DType::kI16 : DType::kF32;
  TensorId in = row_of(g, type);
  if (!in.valid()) return false;
  const int64_t count = g.of(in).elements();
  int64_t size = g.random.pick(1, count);
  while (count % size != 0) --size;
  const TensorType frames = plain_type(type, {count / size, size});
  if (!g.add("reshape", {in}, {{"shape", "[" + digits(count / size) + ", " + digits(size) + "]"}}, {frames}))
    return false;
  in = g.last();
  const int64_t step = g.random.pick(1, size);
  std::vector<TensorId> operands = {in};
  std::vector<TensorType> results = {plain_type(type, {})};
  if (step < size) {
    results.push_back(plain_type(type, {1, size - step}));
    operands.push_back(g.constant(results.back()));
  }
  return g.add("signal_overlap_add", operands, {{"frame_step", digits(step)}}, results);
}

bool rows_kept(GraphMaker& g) {
  TensorId in = row_of(g, DType::kI8);
  if (!in.valid() || g.of(in).quantization.per_channel()) return false;
  TensorType row = g.of(in);
  row.shape = {1, 1, 1, row.elements()};
  if (!g.add("reshape", {in}, {{"shape", "[1, 1, 1, " + digits(row.elements()) + "]"}}, {row})) return false;
  in = g.last();
  TensorType rows = row, runs = plain_type(DType::kI32, {});
  rows.shape[1] = g.random.pick(1, 4);
  const int64_t every = g.random.pick(1, 3), cycles = g.random.pick(1, 3);
  const Attributes attributes = {{"cycles", digits(cycles)}, {"every", digits(every)}};
  if (every == 1) return g.add("circular_buffer", {in, g.constant(rows)}, attributes, {rows});
  graph::Tensor left;
  left.name = "runs" + digits(static_cast<int64_t>(g.made.tensors.size()));
  left.type = runs;
  left.constant = graph::own_bytes({static_cast<uint8_t>(g.random.pick(1, every)), 0, 0, 0});
  return g.add("circular_buffer", {in, g.constant(rows), g.made.add_tensor(left)}, attributes, {rows, runs});
}

// Sizes of anchors are positive: others have no corners, and the run ends.
bool detections(GraphMaker& g) {
  TensorId in = row_of(g, DType::kF32);
  if (!in.valid() || g.of(in).elements() < 4) return false;
  const int64_t boxes = g.of(in).elements() / 4, classes = g.random.pick(1, 4), most = g.random.pick(1, 5);
  if (g.of(in).elements() % 4 != 0) return false;
  if (!g.add("reshape", {in}, {{"shape", "[1, " + digits(boxes) + ", 4]"}}, {g.of(in)})) return false;
  in = g.last();
  graph::Tensor anchors;
  anchors.name = "anchors" + digits(static_cast<int64_t>(g.made.tensors.size()));
  anchors.type = plain_type(DType::kF32, {boxes, 4});
  std::vector<float> numbers;
  for (int64_t i = 0; i < boxes * 4; ++i) numbers.push_back(static_cast<float>(g.random.pick(1, 64)) / 64.0f);
  std::vector<uint8_t> bytes(numbers.size() * sizeof(float));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  anchors.constant = graph::own_bytes(std::move(bytes));
  const TensorId scores = g.constant(g.random.chance(50) ? g.type(DType::kU8, {1, boxes, classes})
                                                         : plain_type(DType::kF32, {1, boxes, classes}));
  return g.add("detection_postprocess", {in, scores, g.made.add_tensor(anchors)},
               {{"max_detections", digits(most)},
                {"max_classes_per_detection", digits(g.random.pick(1, 3))},
                {"detections_per_class", digits(g.random.pick(1, 4))},
                {"num_classes", digits(classes)},
                {"use_regular_nms", g.random.chance(50) ? "true" : "false"},
                {"nms_score_threshold", g.random.chance(50) ? "-1000" : "0.5"},
                {"nms_iou_threshold", "0.4"},
                {"y_scale", "10"},
                {"x_scale", "10"},
                {"h_scale", "5"},
                {"w_scale", "5"}},
               std::vector<TensorType>(4, plain_type(DType::kF32, {})));
}

}  // namespace

bool make_signal(GraphMaker& graph) {
  switch (graph.random.pick(0, 6)) {
    case 5: return rows_kept(graph);
    case 6: return detections(graph);
    case 3: return streams(graph);
    case 4: return overlaps(graph);
    case 0: return samples(graph);
    case 1: return spectrum(graph);
    default: return channels(graph);
  }
}

}  // namespace aotc::tests
