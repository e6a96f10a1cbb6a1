// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_tile.h"

#include "cores/arm/generated/dsp_rows.h"

namespace aotc::cores::arm {

using kernelgen::Bank;

kernelgen::Value DspTile::load(Block& block, Value& pointer, int count, int stream) {
  return block.access(dsp::kLoadWords[count], pointer, {}, {}, stream);
}

kernelgen::Block DspTile::steps(int count, bool first) const {
  Block block;
  Value stream = block.live_in(Bank::kCore, kStreamPointer, false),
        panel = block.live_in(Bank::kCore, kPanelPointer, false);
  std::vector<Value> sums;
  if (first) {
    const Value biases = load(block, stream, channels_, kWords);
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(biases + i % channels_);
    // They become the sums of the last pixel in place.
    for (int i = 0; i < channels_; ++i) block.fix(biases + i, kFirstSum + (pixels_ - 1) * channels_ + i);
  } else {
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(block.live_in(Bank::kCore, kFirstSum + i, false));
  }
  if (channels_ == 8) one_pixel(block, stream, panel, sums, count);
  else several_pixels(block, stream, panel, sums, count, first);
  for (size_t i = 0; i < sums.size(); ++i) block.keep(sums[i], kFirstSum + static_cast<int>(i));
  block.keep(stream);
  block.keep(panel);
  return block;
}

// acc(b) takes the word, acc(a) its even bytes.
void DspTile::several_pixels(Block& block, Value& stream, Value& panel, std::vector<Value>& sums, int count,
                             bool first) const {
  const Value words = load(block, stream, count, kWords);
  const Value rows = pixels_ == 1 ? load(block, panel, count, kPanelStream) : kernelgen::kNoValue;
  for (int s = 0; s < count; ++s) {
    const Value x = pixels_ == 1 ? rows + s : load(block, panel, pixels_, kPanelStream);
    const Value both = words + s, low = block.add(dsp::kEvenBytes, {both});
    for (int p = 0; p < pixels_; ++p)
      for (int c = 0; c < 2; ++c) {
        Value& sum = sums[static_cast<size_t>(2 * p + c)];
        const Value w = c == 0 ? low : both;
        sum = first && s == 0 && p + 1 < pixels_ ? block.add(dsp::kDot, {x + p, w, sum})
                                                 : block.add(dsp::kDotAdd, {sum, x + p, w});
      }
  }
}

void DspTile::one_pixel(Block& block, Value& stream, Value& panel, std::vector<Value>& sums, int count) const {
  const Value x = load(block, panel, count, kPanelStream);
  for (int s = 0; s < count; ++s) {
    std::vector<Value> words;
    // When the first row's word has no reader left, its register takes weights.
    for (int size : count == 2 && s == 1 ? std::vector<int>{3, 1} : std::vector<int>{2, 2}) {
      const Value loaded = load(block, stream, size, kWords);
      for (int i = 0; i < size; ++i) words.push_back(loaded + i);
    }
    for (size_t pair = 0; pair < words.size(); ++pair) {
      Value &a = sums[2 * pair], &b = sums[2 * pair + 1];
      b = block.add(dsp::kDotAdd, {b, x + s, words[pair]});
      a = block.add(dsp::kDotAdd, {a, x + s, block.add(dsp::kEvenBytes, {words[pair]})});
    }
  }
}

}  // namespace aotc::cores::arm
