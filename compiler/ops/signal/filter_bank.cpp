// SPDX-License-Identifier: Apache-2.0
// signal_filter_bank: sums of a spectrum's energy in overlapping triangles.
// signal_filter_bank_square_root.
#include <fmt/format.h>

#include "ops/signal/attributes.h"
#include "ops/signal/signal.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

namespace bank {
constexpr size_t kInput = 0, kWeights = 1, kUnweights = 2, kFrequencies = 3, kStarts = 4, kWidths = 5, kOperands = 6;
}  // namespace bank

class SignalFilterBank final : public SignalFunction {
 public:
  SignalFilterBank()
      : SignalFunction({.name = "signal_filter_bank",
                        .summary = "sums of energies in overlapping triangles",
                        .operands = {{.name = "x",
                                      .types = {{DType::kU32, "result uint64; constant tables of int16"}},
                                      .ranks = {1, 1}},
                                     {.name = "weights", .types = {DType::kI16}, .constant = true, .ranks = {1, 1}},
                                     {.name = "unweights", .types = {DType::kI16}, .constant = true, .ranks = {1, 1}},
                                     {.name = "frequencies", .types = {DType::kI16}, .constant = true, .ranks = {1, 1}},
                                     {.name = "starts", .types = {DType::kI16}, .constant = true, .ranks = {1, 1}},
                                     {.name = "widths", .types = {DType::kI16}, .constant = true, .ranks = {1, 1}}},
                        .results = {{.name = "y", .types = {DType::kI64}}},
                        .shapes = Shapes::kOwn,
                        .attributes = make_attributes<FilterBankAttrs>}) {}

  int64_t macs(const OpView& op) const override {
    int64_t sum = 0;
    for (int16_t width : op.constant(bank::kWidths)->to_vector<int16_t>()) sum += 2 * std::max<int64_t>(width, 0);
    return sum;
  }

  // A channel's sum begins with what the one before left: each bin is read once for both.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_filter_bank");
    BufferPtr in = f.operand(bank::kInput), weights = f.operand(bank::kWeights),
              unweights = f.operand(bank::kUnweights), frequencies = f.operand(bank::kFrequencies),
              starts = f.operand(bank::kStarts), widths = f.operand(bank::kWidths), out = f.result();
    Ex sum = f.var("sum", tir::i64(0)), next = f.var("next", tir::i64(0));
    f.loop("i", 0, op.attrs<FilterBankAttrs>().num_channels + 1, [&](const Ex& i) {
      Ex bin = f.let("bin", load(frequencies, i)), weight = f.let("weight", load(starts, i));
      f.loop("j", 0, f.let("width", load(widths, i)), [&](const Ex& j) {
        Ex energy = f.let("energy", cast(DType::kI64, load(in, bin + j)));
        auto product = [&](const BufferPtr& table) {
          return mul_wrapping(energy, cast(DType::kI64, load(table, weight + j)));
        };
        f.assign(sum, add_wrapping(sum, product(weights)));
        f.assign(next, add_wrapping(next, product(unweights)));
      });
      f.if_(i > Ex(0), [&] { f.store(out, i - 1, sum); });
      f.assign(sum, next);
      f.assign(next, tir::i64(0));
    });
    return f.finish();
  }

 protected:
  Result<std::vector<graph::Shape>> shapes(const OpView& op, Diagnostics&) const override {
    return std::vector<graph::Shape>{{op.attrs<FilterBankAttrs>().num_channels}};
  }

  bool check(const OpView& op, Diagnostics& diags) const override { return check_bands(op, diags); }

 private:
  static bool check_bands(const OpView& op, Diagnostics& diags) {
    const int64_t channels = op.attrs<FilterBankAttrs>().num_channels;
    if (channels < 1) return bad_attribute(op, diags, fmt::format("num_channels {}", channels));
    for (size_t i : {bank::kFrequencies, bank::kStarts, bank::kWidths})
      if (op.operand(i).elements() <= channels)
        return bad_shape(op, diags,
                         fmt::format("operand {} has {} entries, {} channels take one more than channels", i,
                                     op.operand(i).elements(), channels));
    const auto bins = op.constant(bank::kFrequencies)->to_vector<int16_t>();
    const auto starts = op.constant(bank::kStarts)->to_vector<int16_t>();
    const auto widths = op.constant(bank::kWidths)->to_vector<int16_t>();
    const int64_t weights = std::min(op.operand(bank::kWeights).elements(), op.operand(bank::kUnweights).elements());
    for (size_t i = 0; i <= static_cast<size_t>(channels); ++i) {
      if (widths[i] <= 0) continue;
      if (bins[i] < 0 || bins[i] + widths[i] > op.operand(bank::kInput).elements() || starts[i] < 0 ||
          starts[i] + widths[i] > weights)
        return bad_attribute(
            op, diags,
            fmt::format("channel {} reads {} bins from {} and weights from {}: there are "
                        "{} bins and {} weights",
                        i, widths[i], bins[i], starts[i], op.operand(bank::kInput).elements(), weights));
    }
    return true;
  }
};

class SignalSquareRoot final : public SignalFunction {
 public:
  SignalSquareRoot()
      : SignalFunction({.name = "signal_filter_bank_square_root",
                        .summary = "rounded square roots, shifted to the right",
                        .operands = {{.name = "x", .types = {{DType::kI64, "uint64, result uint32"}}, .ranks = {1, 1}},
                                     {.name = "shift", .types = {DType::kI32}, .ranks = {0, 0}}},
                        .results = {{.name = "y", .types = {DType::kU32}}}}) {}

  // What fits in 32 bits takes the shorter way, whose last root is 65535.
  Lowered lower(const OpView& op, const TargetInfo&) const override {
    LoweringBuilder f(op, "signal_square_root");
    BufferPtr in = f.operand(0), scale = f.operand(1), out = f.result();
    Ex shift = f.let("shift", cast(DType::kU32, load(scale, 0) & Ex(31)));
    f.loop("i", 0, op.result().elements(), [&](const Ex& i) {
      Ex x = f.let("x", load(in, i));
      Ex root = f.var("root", u32(0));
      f.if_((x >> tir::i64(32)) == tir::i64(0), [&] { emit_root(f, cast_wrapping(DType::kU32, x), 16, root); },
            [&] { emit_root(f, x, 32, root); });
      f.store(out, i, root >> shift);
    });
    return f.finish();
  }

 private:
  // Bit by bit from the highest of `bits`. The rest of a word of 64 bits has its sign bit for a
  // while.
  static void emit_root(LoweringBuilder& f, const Ex& x, int64_t bits, const Ex& result) {
    const DType type = x.type();
    auto number = [&](int64_t v) { return tir::imm(type, v); };
    Ex rest = f.var("rest", x), root = f.var("partial", number(0));
    Ex bit = f.var("bit", number(int64_t{1} << (2 * bits - 2)));
    f.loop("step", 0, bits, [&](const Ex&) {
      Ex next = f.let("next", root + bit);
      Ex fits = type == DType::kU32 ? rest >= next : (rest < number(0)) | (rest >= next);
      f.assign(root, root >> number(1));
      f.if_(fits, [&] {
        f.assign(rest, type == DType::kU32 ? rest - next : sub_wrapping(rest, next));
        f.assign(root, root + bit);
      });
      f.assign(bit, bit >> number(2));
    });
    Ex up = (rest > root) & (root != number((int64_t{1} << bits) - 1));
    f.assign(result, cast(DType::kU32, root) + cast(DType::kU32, up));
  }
};

}  // namespace

void add_signal_filter_bank(OperatorSet& set) { set.add(std::make_unique<SignalFilterBank>()); }
void add_signal_square_root(OperatorSet& set) { set.add(std::make_unique<SignalSquareRoot>()); }

}  // namespace aotc::ops
