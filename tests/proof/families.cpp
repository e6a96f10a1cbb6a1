// SPDX-License-Identifier: Apache-2.0
#include "families.h"

#include <cstring>
#include <map>

#include "cores/arm/dsp/trees.h"
#include "cores/arm/generated/dsp_gates.h"
#include "cores/arm/generated/lstm_kernels.h"
#include "tir/builder.h"

namespace aotc::tests::proof {

namespace {

constexpr int32_t kWordBits = 32, kHalfBits = 16, kByteBits = 8;

// Elements of `size` bits are numbers of `bits` bits.
Bit extended(Bit bit, int32_t size, int32_t bits) {
  if (bit.index % size >= bits) bit.index = bit.index / size * size + bits - 1;
  return bit;
}

int64_t parameter_of(const KernelCase& c, std::string_view name) {
  for (const auto& [key, value] : c.kernel->parameters)
    if (key == name) return value;
  return 0;
}

int32_t word_of(const Buffer& from, size_t word) {
  int32_t out = 0;
  std::memcpy(&out, from.bytes.data() + 4 * word, sizeof out);
  return out;
}

using Assumed = std::function<Bit(size_t parameter, Bit)>;

// New values of a state are of its type.
Assumed of_svdf(const KernelCase& c) {
  constexpr size_t kValues = 3;
  const int32_t bits = parameter_of(c, "bytes") != 0 ? kByteBits : kHalfBits;
  return [bits](size_t parameter, Bit bit) { return parameter == kValues ? extended(bit, kWordBits, bits) : bit; };
}

// The panel's halfwords are bytes. Biases are less than kMostSum; that of the second channel is stored as 256 times
// itself and the first.
Assumed of_gates(const KernelCase& c) {
  constexpr size_t kStream = 0, kPanel = 1;
  constexpr int32_t kSumBits = 24;
  static_assert(arm::DspGateProducts::kMostSum == 1 << (kSumBits - 1));
  const arm::DspGateProducts g = arm::DspGateProducts::of(*c.kernel);
  const auto channels = static_cast<int32_t>(g.channels),
             group_words = static_cast<int32_t>(g.channels + g.steps() * g.channels / 2);
  return [channels, group_words](size_t parameter, Bit bit) {
    if (parameter == kPanel) return extended(bit, kHalfBits, kByteBits);
    const int32_t word = bit.index / kWordBits % group_words;
    if (parameter != kStream || word >= channels) return bit;
    if (word % 2 == 0) return extended(bit, kWordBits, kSumBits);
    if (bit.index % kWordBits < kByteBits) bit.index -= kWordBits;
    return bit;
  };
}

// Results of sigmoid are not negative: those of some rows of gates.
Assumed of_rows(const KernelCase& c, int32_t first, int32_t end) {
  constexpr size_t kGates = 0, kTable = 2;
  const int32_t row_bits = kByteBits * word_of(c.buffers[kTable], arm::LstmCellTable::kStride);
  return [=](size_t parameter, Bit bit) {
    const int32_t row = bit.index / row_bits;
    const bool is_sign = bit.index % kHalfBits == kHalfBits - 1;
    return parameter == kGates && row >= first && row < end && is_sign ? Bit{} : bit;
  };
}
// Input, forget and output gate, but not the cell gate.
Assumed of_cells(const KernelCase& c) { return of_rows(c, 0, 3); }
// The output gate.
Assumed of_hidden(const KernelCase& c) { return of_rows(c, 2, 3); }

// All words of the table of trees but thresholds.
bool is_known_of_trees(const KernelCase& c, size_t parameter, int64_t word) {
  constexpr size_t kTable = 0;
  if (parameter != kTable) return false;
  const arm::TreeBlock block{parameter_of(c, "levels"), parameter_of(c, "below") > 0};
  const arm::TreeTable table{block.below, parameter_of(c, "shared") != 0};
  auto word_at = [&](int64_t at) { return word_of(c.buffers[kTable], static_cast<size_t>(at)); };
  if (block.below && word >= word_at(table.below_at()) / 4 && word < word_at(table.children_at()) / 4) return false;
  const int64_t in_blocks = word - table.header();
  if (in_blocks < 0 || in_blocks >= word_at(0) * block.stride()) return true;
  const int64_t node = in_blocks % block.stride() + (block.below ? 0 : 1);
  return node < 1 || node > block.nodes();
}

const std::map<std::string_view, Family>& families() {
  static const std::map<std::string_view, Family> kFamilies = {
      {"dsp_gates", {.rules = {.bytes_of_words = true, .signs = true}, .tables = {3}, .assumed = of_gates}},
      {"dsp_lstm_cell", {.data_decides = true, .rules = {.signs = true}, .tables = {2}, .assumed = of_cells}},
      {"dsp_lstm_hidden", {.data_decides = true, .rules = {.signs = true}, .tables = {2}, .assumed = of_hidden}},
      {"dsp_lstm_sigmoid", {.data_decides = true, .rules = {.all_values = true}, .most_scalars = {2}}},
      {"dsp_lstm_tanh", {.data_decides = true, .rules = {.all_values = true}, .most_scalars = {2}}},
      {"svdf_time", {.assumed = of_svdf}},
      {"quads_rv32", {.data_decides = true}},
      {"triples_rv32", {.data_decides = true, .rules = {.low_bits_of_sums = true}}},
      {"winograd_triples_rv32", {.data_decides = true, .rules = {.low_bits_of_sums = true}}},
      {"tree_sums", {.data_decides = true, .rules = {.choices = true}, .is_known = is_known_of_trees}},
      {"triples_thumb1", {.data_decides = true, .rules = {.low_bits_of_sums = true, .high_words_of_halves = true}}},
      {"triples_thumb2", {.rules = {.low_bits_of_sums = true}}},
  };
  return kFamilies;
}

}  // namespace

const Family& family_of(std::string_view name) {
  static const Family kUsual;
  const auto found = families().find(name);
  return found != families().end() ? found->second : kUsual;
}

}  // namespace aotc::tests::proof
