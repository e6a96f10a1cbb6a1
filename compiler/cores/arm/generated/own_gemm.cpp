// SPDX-License-Identifier: Apache-2.0
// The price of a layer's own product, in cycles and bytes.
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "cores/arm/dsp/depthwise_lines.h"
#include "cores/arm/dsp/gemm.h"
#include "cores/arm/generated/dsp_block.h"
#include "cores/arm/generated/dsp_gemm.h"
#include "cores/arm/generated/dsp_tile.h"
#include "cores/arm/thumb_count.h"
#include "cores/arm/timings.h"
#include "cores/cpu.h"

namespace aotc::cores::arm {

namespace {

constexpr int kAnyShift = 12;  // texts of other shifts take as long

DspTile tile_of(const OwnGemm& own) { return {own.pixels, 2, own.words}; }

double block_cycles(const OwnGemm& own, int steps, bool first) {
  return DspText::find(tile_of(own).steps(steps, first), DspTile::kTemporaries)->cycles;
}

// Cycles of a pair of channels by the layer's own text, or by the one that layers share: by stepping through it for one
// pair and for two.
double stepped_cycles(const OwnGemm& layer, bool shared, int words_unroll, const machine::Timing& timing) {
  const int64_t pixels = layer.pixels, steps = layer.steps;
  const bool even = shared && takes_even(pixels, steps);
  const OwnGemm own = shared ? OwnGemm{} : layer;
  const auto text =
      implementation_of(layer.words ? *gemm_words_kernel(pixels, kAnyShift, false, words_unroll, false, own)
                                    : *gemm_pairs_kernel(pixels, kAnyShift, false, false, even, own));
  double cycles[2] = {};
  for (int64_t i : {0, 1}) {
    const std::vector<int32_t> table = layer.words
                                           ? gemm_words_shape(steps, 1 + i, layer.stride, pixels, false, words_unroll)
                                           : gemm_shape(steps, 1 + i, layer.stride, pixels, false, false, even);
    std::vector<uint8_t> bytes(table.size() * 4);
    std::memcpy(bytes.data(), table.data(), bytes.size());
    std::vector<CountArgument> arguments(4, {.pointer = true});
    arguments[3].table = bytes;
    cycles[i] = count_cycles(*text, arguments, timing).value_or(0);
  }
  return cycles[1] - cycles[0];
}

// The same, stepped through once for all layers.
double pair_cycles(OwnGemm layer, bool shared, int words_unroll = PairGemm::kWordsUnroll) {
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, int64_t, bool, bool, int>, double> known;
  const std::lock_guard lock(mutex);
  layer.stride = 2, layer.unroll = 0;
  const auto [found, added] = known.try_emplace({layer.pixels, layer.steps, layer.words, shared, words_unroll});
  if (added) found->second = stepped_cycles(layer, shared, words_unroll, kCortexM4);
  return found->second;
}

// Cycles of requantising and storing the results of a pair, and of its begin and end.
double result_cycles(OwnGemm own) {
  own.steps = 1;
  return pair_cycles(own, false) - block_cycles(own, 1, true);
}

// Cycles of a pair if no piece is in a loop.
double straight_cycles(const OwnGemm& own) {
  const DspTile tile = tile_of(own);
  return result_cycles(own) + block_cycles(own, tile.first_steps(own.steps), true) +
         static_cast<double>(own.pieces()) * block_cycles(own, tile.piece_steps(), false);
}

double loop_cycles(const OwnGemm& own) {
  constexpr int64_t kIterationEnd = 6, kNotTaken = 2;
  return static_cast<double>(own.iterations() > 0 ? own.iterations() * kIterationEnd - kNotTaken : 0);
}

// Bytes of a text without pieces, and of a piece.
struct TextBytes {
  static constexpr int64_t kInstruction = 4, kFrame = 66, kPixel = 28, kLoop = 10;

  explicit TextBytes(const OwnGemm& own) {
    const DspTile tile = tile_of(own);
    frame = kFrame + kPixel * own.pixels + kInstruction * tile.steps(tile.first_steps(own.steps), true).instructions();
    piece = kInstruction * tile.steps(tile.piece_steps(), false).instructions();
  }
  int64_t of(const OwnGemm& own) const {
    return frame + piece * (own.rest() + own.unroll) + (own.unroll > 0 ? kLoop : 0);
  }

  int64_t frame, piece;
};

}  // namespace

bool OwnGemm::fits() const {
  const bool tile = words ? pixels == kWordsPixels : kLeastPixels <= pixels && pixels <= kMostPixels;
  return tile && (pixels - 1) * stride <= kMostOffset;
}

int64_t OwnGemm::pieces() const { return (steps - 1) / tile_of(*this).piece_steps(); }

double OwnGemm::cycles() const { return straight_cycles(*this) + loop_cycles(*this); }

int64_t OwnGemm::bytes() const { return TextBytes(*this).of(*this); }

std::optional<OwnGemm> OwnGemm::best(const OwnGemm& all, int64_t groups, int64_t alike, const ops::TargetInfo& target) {
  constexpr double kWorth = 0.03, kCyclesPerByte = 2;  // at -O speed
  constexpr int64_t kMostPieces = 16;                  // in the text
  if (target.level == ops::Level::kSize || !all.fits() || all.pieces() == 0) return std::nullopt;
  const bool speed = target.level == ops::Level::kSpeed;
  const double per_byte =
      (speed ? kCyclesPerByte : target.instructions_per_byte) / (target.calls * static_cast<double>(alike));
  // Schedules take long to find: a layer needs some only if a fifth of its product is worth the shortest text.
  constexpr double kMostSaved = 0.2, kPairCycles = 100, kStepCycles = 20;  // at most
  const TextBytes bytes(all);
  OwnGemm shortest = all;
  shortest.unroll = all.pieces() > 1 ? 1 : 0;
  const double product = static_cast<double>(groups) * (kPairCycles + kStepCycles * static_cast<double>(all.steps));
  if (kMostSaved * product <= per_byte * static_cast<double>(bytes.of(shortest))) return std::nullopt;
  const int words_unroll = speed ? PairGemm::kWordsUnroll : PairGemm::kWordsUnrollLess;
  const double shared = pair_cycles(all, true, words_unroll);
  const double straight = straight_cycles(all);
  std::optional<OwnGemm> best;
  double least = shared * static_cast<double>(groups);
  for (int64_t unroll = 0; unroll <= all.pieces() / 2; ++unroll) {
    OwnGemm own = all;
    own.unroll = unroll;
    if (own.rest() + own.unroll > kMostPieces) continue;
    const double cycles = straight + loop_cycles(own);
    const double price = cycles * static_cast<double>(groups) + per_byte * static_cast<double>(bytes.of(own));
    if (shared - cycles < kWorth * shared || price >= least) continue;
    least = price;
    best = own;
  }
  // Texts are for Cortex-M4. On a core that loads pairs of words faster than lists, the shared one may be better.
  const machine::Timing* timing = timing_of(target.name);
  auto stepped = [&](const OwnGemm& own, bool of_all) { return stepped_cycles(own, of_all, words_unroll, *timing); };
  if (best && timing != nullptr && timing->load_pair != kCortexM4.load_pair &&
      stepped(*best, false) >= stepped(all, true))
    return std::nullopt;
  return best;
}

}  // namespace aotc::cores::arm
