// SPDX-License-Identifier: Apache-2.0
// Generated kernels of cores/arm/generated for Thumb-2 with the DSP extension.
#include <algorithm>

#include "cases.h"
#include "cores/arm/generated/dsp_clamp.h"
#include "cores/arm/generated/dsp_gates.h"
#include "cores/arm/generated/lstm_kernels.h"

namespace aotc::tests {

namespace {

Buffer halves(const std::vector<int32_t>& values) {
  Buffer out;
  for (int32_t v : values)
    for (int shift : {0, 8}) out.bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(v) >> shift));
  return out;
}

int32_t byte_of(const Buffer& from, int64_t i) { return static_cast<int8_t>(from.bytes[static_cast<size_t>(i)]); }

// The panel has bytes as halfwords; weights are from -127.
void add_gate_cases(std::vector<KernelCase>& to, int64_t pixels, int64_t channels, bool add) {
  for (Pattern pattern : kPatterns)
    for (int64_t depth : {1, 4, 6, 27, 48})
      for (int64_t unroll : {1, 3})
        for (int shift : {-5, 0, 2}) {
          const arm::DspGateProducts g{pixels, channels, depth, add, std::max(shift, 0), shift < 0, 40, unroll};
          Data data(pattern, static_cast<uint32_t>(depth * 10 + unroll));
          const int64_t rows = 2 * channels;
          const Buffer drawn = data.bytes(rows * depth), x = data.bytes(g.panel_halves());
          std::vector<int8_t> weights;
          for (int64_t i = 0; i < rows * depth; ++i)
            weights.push_back(static_cast<int8_t>(std::max(byte_of(drawn, i), -127)));
          std::vector<int32_t> bias, panel;
          for (int64_t r = 0; r < rows; ++r) bias.push_back(static_cast<int32_t>(r * 977 - 5000));
          for (int64_t i = 0; i < g.panel_halves(); ++i) panel.push_back(byte_of(x, i));
          const QuantizedMultiplier scale{shift == 0 ? 1 << 30 : 0x5A82799A, shift};
          to.push_back({g.kernel(),
                        {table(g.stream(weights, bias)), halves(panel), data.words(pixels * 20 + rows),
                         table(g.table(scale, rows))},
                        {}});
        }
}

// Every 13th input, and those around 0 and at the ends.
void add_activation_cases(std::vector<KernelCase>& to) {
  std::vector<int32_t> values = {-32768, -32767, -2, -1, 0, 1, 2, 32766, 32767};
  for (int32_t v = -32768; v <= 32767; v += 13) values.push_back(v);
  const auto count = static_cast<int32_t>(values.size());
  to.push_back({arm::lstm_sigmoid_kernel("dsp"), {halves(values)}, {count}});
  for (int bits = 0; bits <= 6; ++bits) to.push_back({arm::lstm_tanh_kernel("dsp", bits), {halves(values)}, {count}});
}

// Gates but the last are not negative, as sigmoid makes them.
void add_cell_cases(std::vector<KernelCase>& to, Pattern pattern) {
  constexpr int64_t kCells = 19, kStride = 24;
  Data data(pattern, 5);
  std::vector<int32_t> gates, cell, words;
  data.add_words(words, 5 * kStride);
  for (int64_t i = 0; i < 4 * kStride; ++i)
    gates.push_back(i < 3 * kStride ? words[static_cast<size_t>(i)] & 0x7FFF
                                    : std::max<int32_t>(static_cast<int16_t>(words[static_cast<size_t>(i)]), -32767));
  for (int64_t i = 0; i < kCells; ++i)
    cell.push_back(static_cast<int16_t>(words[static_cast<size_t>(4 * kStride + i)]));
  for (int exponent = -15; exponent <= -9; ++exponent)
    for (int32_t clip : {0, 9999})
      to.push_back({arm::lstm_cell_kernel("dsp", exponent, clip),
                    {halves(gates), halves(cell), table(arm::LstmCellTable{kStride, kCells, {}, 0}.words())},
                    {}});
  // What tanh made of the cell.
  for (int64_t i = 0; i < kStride; ++i) {
    int32_t& shown = gates[static_cast<size_t>(i)];
    shown = i % 2 == 0 ? shown : -shown;
  }
  for (int right : {0, 1, 7, 22, 23})
    for (int32_t zero_point : {-128, 3, 127}) {
      const arm::LstmCellTable shape{kStride, kCells, {0x6A09E668, -right}, zero_point};
      to.push_back(
          {arm::lstm_hidden_kernel("dsp", right > 0), {halves(gates), data.bytes(kCells), table(shape.words())}, {}});
    }
}

}  // namespace

void add_generated_cases(std::vector<KernelCase>& to) {
  for (bool add : {false, true})
    for (auto [pixels, channels] : {std::pair(1, 8), std::pair(1, 2), std::pair(3, 2)})
      add_gate_cases(to, pixels, channels, add);
  add_activation_cases(to);
  for (Pattern pattern : kPatterns) {
    add_cell_cases(to, pattern);
    Data data(pattern, 9);
    for (const ops::ClampI32 range : {ops::ClampI32{-128, 5}, {0, 127}, {-100, 100}})
      for (int64_t words : {1, 4})
        for (int32_t blocks : {1, 3}) {
          const int64_t bytes = 4 * words * blocks;
          to.push_back({arm::dsp_clamp_kernel(range, words), {data.bytes(bytes, 1)}, {blocks}});
          to.push_back(
              {arm::dsp_clamp_kernel(range, words, true), {data.bytes(bytes, 1), data.bytes(bytes, 3)}, {blocks}});
        }
    for (int64_t pixels : {1, 3})
      for (int32_t words : {1, 5})
        to.push_back(
            {arm::dsp_pack_kernel(pixels), {data.bytes(words * 4 + 1, 1), data.words(words * 2 * pixels)}, {words}});
  }
}

}  // namespace aotc::tests
