// SPDX-License-Identifier: Apache-2.0
// Lowering of conv_2d by products of halves (int16) and of nibbles (weights of 4 bits).
#include <algorithm>

#include <fmt/format.h>

#include "cores/arm/dsp/conv_2d_lowering.h"

namespace aotc::cores::arm {

std::optional<Lowered> DspConvLowering::run_nibbles() {
  if (conv_.out_channels < 4) return std::nullopt;
  std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
  auto [folded, scaling] = ConvScaling(op_, conv_);
  auto lines = fit_nibble_lines(scaling, folded.bias);
  if (!lines) return std::nullopt;
  order_steps();
  NibbleTile tile = choose_nibbles(lines->lines.sign());
  tile.bias = !lines->bias.empty();
  in_ = f_.operand(0);
  make_nibbles(w, *lines, tile);
  return finish("nibbles",
                fmt::format("{} channels, {} steps, shift {}{}", group_, steps(), lines->lines.fit.shift,
                            lines->lines.sign() ? ", sign" : ""),
                lines->lines.clamp);
}

// Two pixels by four channels, or one by eight (by four where there are no eight).
NibbleTile DspConvLowering::choose_nibbles(bool sign) {
  const int64_t most = std::min<int64_t>(2, pixels());
  auto tile_of = [&](int64_t p) { return NibbleTile{p, p == 2 || conv_.out_channels < 8 ? 4 : 8, true}; };
  auto work = [&](int64_t p) {
    NibbleTile tile = tile_of(p);
    int64_t groups = (conv_.out_channels + tile.channels - 1) / tile.channels;
    return work_of(p, nibble_work(tile, steps(), groups, sign));
  };
  tile_ = most;
  if (most == 2 && target_.level != Level::kSize && target_.costs.of(work(1)) < target_.costs.of(work(2))) tile_ = 1;
  tile_ = target_.wish("pixels", tile_, 1, most);
  work_ = work(tile_);
  return tile_of(tile_);
}

void DspConvLowering::make_nibbles(const std::vector<int8_t>& w, const NibbleLines& lines, const NibbleTile& tile) {
  group_ = tile.channels;
  std::vector<int64_t> first = tile_starts(conv_.out_channels, group_);
  bool sign = lines.lines.sign();
  use_stream(nibble_stream(w, conv_.k, order_, first, group_, lines), first.size());
  gemm_ = gemm_nibbles_kernel(tile, lines.lines.fit.shift, sign);
  auto shape = [&](int64_t groups) { return nibble_shape(steps(), groups, conv_.out_channels, tile, sign); };
  make_shapes(nibble_work(tile, steps(), 1, sign), shape);
  spread_.make_tables(tile_);
}

std::optional<Lowered> DspConvLowering::run_int16() {
  if (conv_.out_channels < 2 || !target_.allows("halves")) return std::nullopt;
  const WideScaling wide = conv_wide_scaling(op_, conv_);
  auto scaling = fit_halves(wide);
  if (!scaling) return std::nullopt;
  order_steps();
  choose_tile();
  in_ = f_.operand(0);
  make_halves(*scaling, {wide.bias.begin(), wide.bias.end()});
  return finish("halves", fmt::format("{} steps", steps()));
}

// The pixels per tile of int16.
void DspConvLowering::choose_tile() {
  const int64_t most = std::min<int64_t>(4, pixels());
  auto work = [&](int64_t p) { return work_of(p, halves_work(p, steps(), (conv_.out_channels + 1) / 2)); };
  tile_ = most;
  for (int64_t p = most; p >= (target_.level == Level::kSize ? most : 1); --p)
    if (target_.costs.of(work(p)) < target_.costs.of(work(tile_))) tile_ = p;
  tile_ = target_.wish("pixels", tile_, 1, most);
  work_ = work(tile_);
}

void DspConvLowering::make_halves(const HalvesScaling& scaling, const std::vector<int32_t>& bias) {
  std::vector<int64_t> first = tile_starts(conv_.out_channels, group_);
  use_stream(halves_stream(op_.constant(1)->to_vector<int8_t>(), conv_.k, order_, first, bias, scaling), first.size());
  gemm_ = gemm_halves_kernel(tile_, scaling.relu, scaling.shift);
  int64_t stride = conv_.out_channels * 2;
  make_shapes(halves_work(tile_, steps(), 1),
              [&](int64_t pairs) { return halves_shape(steps(), pairs, stride, tile_); });
  spread_.make_tables(tile_);
}

}  // namespace aotc::cores::arm
