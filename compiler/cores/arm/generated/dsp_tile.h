// SPDX-License-Identifier: Apache-2.0
// DspTile: the blocks of a matrix product of int8 by SMLAD, for some pixels x some channels. The panel has words of two
// elements, [step][pixel]. Weights of two channels a and b share a word, 256 * b + a in each half, or, with `words`,
// each channel has a word, as in cores/arm/dsp/gemm.h. The stream of a group of channels is its biases and the words of
// all steps.
#pragma once

#include <vector>

#include "kernelgen/block.h"

namespace aotc::cores::arm {

class DspTile {
 public:
  using Block = kernelgen::Block;
  using Value = kernelgen::Value;

  // Registers that keep their meaning over all blocks, and those that blocks may use: r2 to r12 and lr.
  static constexpr int kStreamPointer = 0, kPanelPointer = 1, kFirstSum = 2;
  static constexpr kernelgen::Registers kTemporaries = 0x5FFC;

  // 1 to 3 pixels x 2 channels, or 1 pixel x 8 channels; with `words`, 4 pixels x 2 channels.
  DspTile(int64_t pixels, int64_t channels, bool words = false)
      : pixels_(static_cast<int>(pixels)), channels_(static_cast<int>(channels)), words_(words) {}

  // Steps of the loop's body.
  int piece_steps() const { return words_ ? 1 : channels_ == 8 ? 2 : pixels_ == 2 ? 4 : 3; }
  // Steps of the block in which the sums begin: from 1 to those of a piece.
  int first_steps(int64_t steps) const { return static_cast<int>((steps - 1) % piece_steps()) + 1; }
  // So many steps of a group. `first`: its sums begin here, with the biases.
  Block steps(int count, bool first) const;

 protected:
  enum Stream { kPanelStream, kWords, kOut, kFrame };

  int pixels_, channels_;
  bool words_;

 private:
  static std::vector<Value> load(Block& block, Value& pointer, int count, int stream);
  void two_channels(Block& block, const std::vector<Value>& words, Value& panel, std::vector<Value>& sums,
                    bool first) const;
  void one_pixel(Block& block, Value& stream, Value& panel, std::vector<Value>& sums, int count) const;
};

}  // namespace aotc::cores::arm
