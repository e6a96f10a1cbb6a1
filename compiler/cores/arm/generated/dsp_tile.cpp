// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/generated/dsp_tile.h"

#include <algorithm>

#include "cores/arm/generated/dsp_rows.h"

namespace aotc::cores::arm {

using kernelgen::Bank;

std::vector<kernelgen::Value> DspTile::load(Block& block, Value& pointer, int count, int stream) {
  std::vector<Value> out = {block.access(dsp::kLoadWords[count], pointer, {}, {}, stream)};
  while (out.size() < static_cast<size_t>(count)) out.push_back(out.back() + 1);
  return out;
}

kernelgen::Block DspTile::steps(int count, bool first) const {
  Block block;
  Value stream = block.live_in(Bank::kCore, kStreamPointer, false),
        panel = block.live_in(Bank::kCore, kPanelPointer, false);
  std::vector<Value> sums, words;
  // The words of two channels are loaded with their biases.
  if (channels_ == 2) words = load(block, stream, (first ? channels_ : 0) + (words_ ? 2 : 1) * count, kWords);
  if (first) {
    const std::vector<Value> biases = channels_ == 2 ? words : load(block, stream, channels_, kWords);
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(biases[static_cast<size_t>(i % channels_)]);
    // They become the sums of the last pixel in place.
    for (int i = 0; i < channels_; ++i)
      block.fix(biases[static_cast<size_t>(i)], kFirstSum + (pixels_ - 1) * channels_ + i);
    if (channels_ == 2) words.erase(words.begin(), words.begin() + channels_);
  } else {
    for (int i = 0; i < pixels_ * channels_; ++i) sums.push_back(block.live_in(Bank::kCore, kFirstSum + i, false));
  }
  if (channels_ == 2) two_channels(block, words, panel, sums, first);
  else one_pixel(block, stream, panel, sums, count);
  for (size_t i = 0; i < sums.size(); ++i) block.keep(sums[i], kFirstSum + static_cast<int>(i));
  block.keep(stream);
  block.keep(panel);
  return block;
}

// acc(b) takes the word, acc(a) its even bytes; or each takes its own word.
void DspTile::two_channels(Block& block, const std::vector<Value>& words, Value& panel, std::vector<Value>& sums,
                           bool first) const {
  const size_t each = words_ ? 2 : 1, count = words.size() / each, pixels = static_cast<size_t>(pixels_);
  // Steps whose words of the panel are loaded together. Four pixels leave registers for two.
  const size_t together = pixels_ == 1 ? count : pixels_ == 2 ? 2 : 1, most = pixels_ == 4 ? 2 : together * pixels;
  std::vector<Value> x;
  for (size_t s = 0; s < count; ++s) {
    const Value both = words[(s + 1) * each - 1], low = words_ ? words[2 * s] : block.add(dsp::kEvenBytes, {both});
    for (size_t p = 0; p < pixels; ++p) {
      const size_t at = (s % together * pixels + p) % most;
      if (at == 0) x = load(block, panel, static_cast<int>(std::min(most, (count - s) * pixels - p)), kPanelStream);
      for (size_t c = 0; c < 2; ++c) {
        Value& sum = sums[2 * p + c];
        const Value w = c == 0 ? low : both;
        sum = first && s == 0 && p + 1 < pixels ? block.add(dsp::kDot, {x[at], w, sum})
                                                : block.add(dsp::kDotAdd, {sum, x[at], w});
      }
    }
  }
}

void DspTile::one_pixel(Block& block, Value& stream, Value& panel, std::vector<Value>& sums, int count) const {
  const std::vector<Value> x = load(block, panel, count, kPanelStream);
  for (int s = 0; s < count; ++s) {
    std::vector<Value> words;
    // When the first row's word has no reader left, its register takes weights.
    for (int size : count == 2 && s == 1 ? std::vector<int>{3, 1} : std::vector<int>{2, 2}) {
      const std::vector<Value> loaded = load(block, stream, size, kWords);
      words.insert(words.end(), loaded.begin(), loaded.end());
    }
    for (size_t pair = 0; pair < words.size(); ++pair) {
      Value &a = sums[2 * pair], &b = sums[2 * pair + 1];
      b = block.add(dsp::kDotAdd, {b, x[static_cast<size_t>(s)], words[pair]});
      a = block.add(dsp::kDotAdd, {a, x[static_cast<size_t>(s)], block.add(dsp::kEvenBytes, {words[pair]})});
    }
  }
}

}  // namespace aotc::cores::arm
