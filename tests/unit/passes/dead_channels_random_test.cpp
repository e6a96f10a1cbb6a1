// SPDX-License-Identifier: Apache-2.0
// dead-channels on random pruned networks: the same outputs, byte for byte, on random and extreme
// inputs.
#include <fmt/format.h>

#include "passes/channels.h"
#include "test_operators.h"

namespace aotc::passes {
namespace {

class Network {
 public:
  explicit Network(unsigned seed) : random_(seed) {}

  std::string make() {
    text_ = "graph \"g\" {\n";
    current_ = {next_++, 3 + below(5), 3 + below(5), 1 + below(4), quant()};
    text_ += fmt::format("  input %{} \"x\" {}\n", current_.id, type(current_));
    conv();
    for (int64_t layers = 2 + below(6); layers > 0; --layers) {
      switch (below(7)) {
        case 0: depthwise(); break;
        case 1: pool(); break;
        case 2: relu(); break;
        case 3: add(); break;
        case 4: branch(); break;
        default: conv();
      }
    }
    if (below(2) == 0) dense();
    else conv();
    return text_ + fmt::format("  output %{}\n}}\n", current_.id);
  }

 private:
  struct Value {
    int id;
    int64_t h, w, c;
    std::string quant;
  };

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  std::string quant() {
    const char* scales[] = {"0.02", "0.1", "0.3", "1"};
    return fmt::format("quant({}, {})", scales[below(4)], below(3) == 0 ? -128 : below(256) - 128);
  }
  static std::string type(const Value& v) { return fmt::format("i8[1x{}x{}x{}] {}", v.h, v.w, v.c, v.quant); }

  // [outer x taps x inner]; whole slices along the first and the last axis are zeros.
  std::string pruned(int64_t outer, int64_t taps, int64_t inner) {
    std::vector<bool> first, last;
    for (int64_t i = 0; i < outer; ++i) first.push_back(below(4) == 0);
    for (int64_t i = 0; i < inner; ++i) last.push_back(below(4) == 0);
    std::string out;
    for (int64_t i = 0; i < outer * taps * inner; ++i) {
      bool zero = below(3) == 0 || first[static_cast<size_t>(i / inner / taps)] || last[static_cast<size_t>(i % inner)];
      out += fmt::format("{}{}", i > 0 ? ", " : "", zero ? 0 : below(255) - 127);
    }
    return "[" + out + "]";
  }

  int constant(const std::string& type, const std::string& values) {
    text_ += fmt::format("  const %{} \"c\" {} = {}\n", next_, type, values);
    return next_++;
  }
  std::string weight_quant(int64_t channels, int axis) {
    if (below(2) == 0 || channels < 2) return "quant(0.02, 0)";
    std::string scales;
    const char* each[] = {"0.001", "0.02", "0.1", "1e-12", "3"};
    for (int64_t c = 0; c < channels; ++c) scales += fmt::format("{}{}", c > 0 ? ", " : "", each[below(5)]);
    return fmt::format("quant(axis {}, [{}])", axis, scales);
  }
  // ", %n" or nothing.
  std::string bias(int64_t channels) {
    if (below(4) == 0) return "";
    std::string values;
    for (int64_t c = 0; c < channels; ++c)
      values += fmt::format("{}{}", c > 0 ? ", " : "", below(3) == 0 ? 0 : below(20000) - 10000);
    return fmt::format(", %{}", constant(fmt::format("i32[{}]", channels), "[" + values + "]"));
  }

  void define(const Value& to, const std::string& right) {
    text_ += fmt::format("  %{} \"t{}\" {} = {}\n", to.id, to.id, type(to), right);
    current_ = to;
  }
  Value value(int64_t h, int64_t w, int64_t c, const std::string& quant) { return {next_++, h, w, c, quant}; }

  // Attributes of a window of k x k that fits, and the size it leaves.
  std::string window(int64_t k, int64_t& h, int64_t& w) {
    int64_t top = below(2) * below(k), left = below(2) * below(k), stride = 1 + below(2);
    h = (h + top - k) / stride + 1;
    w = (w + left - k) / stride + 1;
    const char* activations[] = {"none", "relu", "relu6"};
    return fmt::format("stride_h = {}, stride_w = {}, pad_top = {}, pad_left = {}, activation = {}", stride, stride,
                       top, left, activations[below(3)]);
  }
  int64_t kernel() { return 1 + below(std::min<int64_t>({3, current_.h, current_.w})); }

  void conv() {
    int64_t k = below(2) == 0 ? 1 : kernel(), out = 1 + below(7), h = current_.h, w = current_.w;
    int weights = constant(fmt::format("i8[{}x{}x{}x{}] {}", out, k, k, current_.c, weight_quant(out, 0)),
                           pruned(out, k * k, current_.c));
    std::string operands = fmt::format("%{}, %{}{}", current_.id, weights, bias(out));
    std::string attributes = window(k, h, w);
    define(value(h, w, out, quant()), fmt::format("conv_2d({}) {{{}}}", operands, attributes));
  }
  void depthwise() {
    int64_t k = kernel(), h = current_.h, w = current_.w, c = current_.c;
    int weights = constant(fmt::format("i8[1x{}x{}x{}] {}", k, k, c, weight_quant(c, 3)), pruned(1, k * k, c));
    std::string operands = fmt::format("%{}, %{}{}", current_.id, weights, bias(c));
    std::string attributes = window(k, h, w);
    define(value(h, w, c, quant()), fmt::format("depthwise_conv_2d({}) {{{}}}", operands, attributes));
  }
  void pool() {
    int64_t k = kernel(), h = current_.h, w = current_.w;
    std::string attributes = window(k, h, w);
    define(value(h, w, current_.c, current_.quant),
           fmt::format("{}_pool_2d(%{}) {{filter_h = {}, filter_w = {}, {}}}", below(2) == 0 ? "max" : "average",
                       current_.id, k, k, attributes));
  }
  void relu() {
    int from = current_.id;
    define(value(current_.h, current_.w, current_.c, quant()), fmt::format("relu(%{})", from));
  }
  // With a constant per channel.
  void add() {
    std::string values;
    for (int64_t c = 0; c < current_.c; ++c) values += fmt::format("{}{}", c > 0 ? ", " : "", below(256) - 128);
    int other = constant(fmt::format("i8[{}] quant(0.1, 3)", current_.c), "[" + values + "]");
    int from = current_.id;
    define(value(current_.h, current_.w, current_.c, quant()),
           fmt::format("{}(%{}, %{})", below(2) == 0 ? "add" : "sub", from, other));
  }
  // Two pointwise convolutions of the same tensor and their sum.
  void branch() {
    Value from = current_;
    int64_t out = 1 + below(7);
    int sides[2];
    for (int& side : sides) {
      int weights =
          constant(fmt::format("i8[{}x1x1x{}] {}", out, from.c, weight_quant(out, 0)), pruned(out, 1, from.c));
      std::string operands = fmt::format("%{}, %{}{}", from.id, weights, bias(out));
      define(value(from.h, from.w, out, quant()), fmt::format("conv_2d({})", operands));
      side = current_.id;
    }
    define(value(from.h, from.w, out, quant()), fmt::format("add(%{}, %{})", sides[0], sides[1]));
  }
  void dense() {
    int64_t rows = current_.h * current_.w, c = current_.c;
    int flat = next_++, result = next_ + 1;
    text_ += fmt::format("  %{} \"flat\" i8[{}x{}] {} = reshape(%{}) {{shape = [{}, {}]}}\n", flat, rows, c,
                         current_.quant, current_.id, rows, c);
    int weights = constant(fmt::format("i8[4x{}] quant(0.02, 0)", c), pruned(4, 1, c));
    next_ = result + 1;
    text_ +=
        fmt::format("  %{} \"z\" i8[{}x4] quant(0.3, 1) = fully_connected(%{}, %{})\n", result, rows, flat, weights);
    current_.id = result;
  }

  std::mt19937 random_;
  std::string text_;
  int next_ = 0;
  Value current_{};
};

std::vector<uint8_t> input_of(size_t bytes, int kind, std::mt19937& random) {
  std::vector<uint8_t> out(bytes);
  for (size_t i = 0; i < bytes; ++i) {
    if (kind == 0) out[i] = 0x80;
    else if (kind == 1) out[i] = 0x7f;
    else if (kind == 2) out[i] = random() % 2 == 0 ? 0x80 : 0x7f;
    else out[i] = static_cast<uint8_t>(random());
  }
  return out;
}

TEST(DeadChannels, KeepsOutputsOfRandomNetworks) {
  PassStatistics counts;
  int cut_networks = 0, compared = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::string text = Network(seed).make();
    Diagnostics diags;
    auto parsed = graph::parse(text, "t.air", find_definition, diags);
    ASSERT_TRUE(parsed.ok()) << diags.str() << text;
    // Scales and windows are random: some networks are not possible.
    if (!ops::verify_graph(*parsed, diags)) continue;
    graph::Graph graph = *parsed;
    PassStatistics own;
    RunOptions run;
    run.passes.statistics = &own;
    run.verify_each = true;
    ASSERT_TRUE(run_pipeline(graph, run, diags)) << diags.str() << text;
    cut_networks += own.channels_cut_tensors > 0;
    counts.constant_channels += own.constant_channels;
    counts.unread_channels += own.unread_channels;
    ++compared;
    std::mt19937 random(seed);
    for (int kind = 0; kind < 6; ++kind) {
      auto bytes = static_cast<size_t>((*parsed)[parsed->inputs[0].tensor].type.bytes());
      std::vector<std::vector<uint8_t>> inputs = {input_of(bytes, kind, random)};
      auto before = ops::evaluate_graph(*parsed, inputs);
      auto after = ops::evaluate_graph(graph, inputs);
      ASSERT_EQ(after[static_cast<size_t>(graph.outputs[0].tensor.value)],
                before[static_cast<size_t>(parsed->outputs[0].tensor.value)])
          << "seed " << seed << "\n"
          << text;
    }
  }
  // The test is worth something only if the pass acts.
  EXPECT_GE(compared, 200);
  EXPECT_GE(cut_networks, 100);
  EXPECT_GE(counts.constant_channels, 200);
  EXPECT_GE(counts.unread_channels, 100);
}

}  // namespace
}  // namespace aotc::passes
