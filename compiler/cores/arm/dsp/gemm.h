// SPDX-License-Identifier: Apache-2.0
// Integer matrix products for cores that multiply two pairs of halfwords at once (SMLAD). A step of
// a product takes two elements k of every pixel, and two output channels a and b at a time: a word
// of the weight stream holds, in each half, 256 * b + a. The one thing to know: int8 activations are
// first spread into a panel of halfwords, [step][pixel], and the order of k within it is free as
// long as the stream follows the same order.
//
// Stream of a pair of channels: a bias and 256 times that of b plus it, one word a step, then for each
// channel its multiplier, offset and, with `sign`, what the offset is less by for negative
// accumulators. An output is saturate8(((acc << 8) * multiplier >> 32) + offset >> shift).
//
// 256 * b + a leaves a halfword if b is -128 and a is negative, which weights of PyTorch are. The stream then holds
// channel b negated: weights, bias and multiplier. The product of the sum and the multiplier is the same.
//
// The same with two words a step, one for each channel, whose halves are weights times 256: twice the
// bytes for one instruction less a step (two of a vector's kernel), and accumulators that are scaled
// already. "pairs" below is the first form, "words" the second.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "cores/arm/generated/dsp_gemm.h"
#include "cores/arm/lowering.h"
#include "ops/common/requantize.h"
#include "tir/builder.h"

namespace aotc::cores::arm {

// Layouts that meanings and implementations share.
struct PairGemm {
  // Steps written out in the loop over k; the loop is entered in its middle for what remains.
  static constexpr int kUnroll = 8;
  static constexpr int kGemvUnroll = 4;                         // of two words of the panel each
  static constexpr int kStepInstructions[] = {0, 5, 7, 9, 12};  // by pixels; 4 bytes each
  // Three pixels leave registers for the weights of three steps, which one instruction loads.
  static constexpr int kTripleUnroll = 6;  // of three steps each
  static constexpr int kTripleInstructions = 25, kTripleStep = 8;
  // Two pixels leave them for four steps, and for two pixels of two: of an even number of steps.
  static constexpr int kEvenUnroll = 3;  // of four steps each
  static constexpr int kEvenInstructions = 23, kEvenTwoSteps = 11;
  static constexpr int kGemvInstructions = 28;
  static constexpr int kGemvAhead = 2;  // words that are read behind a stream of gemv_sums, which has them
  static constexpr int kGemvChannels = 8;
  static constexpr int kWordsUnroll = 32, kWordsUnrollLess = 16;  // less where code is to be small
  static constexpr int kWordsStepInstructions[] = {0, 4, 6, 8, 11};
  static constexpr int kWordsGemvUnroll = 4;  // of kWordsGemvSteps words of the panel each
  static constexpr int kWordsGemvSteps = 4;
  static constexpr int kWordsGemvInstructions = 21;
  static constexpr int kWordsGemvChannels = 4;
  // Words of the table that gemm_pairs and gemv_pairs take as shape.
  enum Shape {
    kShapeSteps,
    kShapePairs,
    kShapeStride,
    kShapeEntry,
    kShapePanelBytes,
    kShapeStreamBytes,
    kShapeBack
  };  // of several steps' weights: bytes of them that the first load begins too early
  // Words of the table that pack_pixels takes.
  enum Pack { kPackPixelStride, kPackWords, kPackRows, kPackRowSkip };
  static constexpr int kLeft = 8;  // accumulators are requantised shifted left by this
};

// The elements k that the two halves of a step take, -1 for nothing.
using PairOrder = std::vector<std::array<int, 2>>;

// A requantisation as the kernels do it: every channel by one multiply and one shift for all. Kernels saturate to int8,
// and the lowering clamps the results (cores/arm/generated/dsp_clamp.h).
struct PairLines {
  LineFit fit;
  ops::ClampI32 clamp = {-128, 127};
  // By no line but by the FPU, which rounds as the reference does: the multiplier is the bits of a float32, the
  // offset the zero point, and there is no shift.
  bool even() const { return fit.shift == 0; }
  bool sign() const { return fit.with_sign; }
  // Pairs of channels that the FPU rounds while lines do the others, by channel; empty: none.
  std::vector<bool> floats = {};
  bool mixed() const { return !floats.empty(); }
  int64_t float_channels() const { return std::count(floats.begin(), floats.end(), true); }
  const LineFit::Channel& channel(int64_t c) const {
    return fit.channels[fit.channels.size() == 1 ? 0 : static_cast<size_t>(c)];
  }
};
// How, for descriptions: "shift 12, sign".
std::string form_text(const PairLines& lines);
// For accumulators shifted left by `left`. nullopt if the clamp is not within int8's range or no such form is exact.
// May change biases (fit_common_line). What is rounded to even is always exact with an FPU.
std::optional<PairLines> fit_pair_lines(const Requantization& what, std::vector<int32_t>& bias,
                                        int left = PairGemm::kLeft, bool fpu = false);

// The same where a kernel, or its caller, tells channels that the FPU rounds from others: `mixed`, or nothing where
// lines without signs do for all channels, or for none. `pairs`: both channels of a pair by the same, as gemm_stream
// has them.
std::optional<PairLines> fit_mixed_lines(const Requantization& what, std::vector<int32_t>& bias, bool pairs);
// Whether such lines may be taken: they need more bytes, and no equal time for equal groups of channels. `plain`: what
// fit_pair_lines finds.
bool mixes(const PairLines& plain, const TargetInfo& target);
// Whether they are worth it: a sign costs two instructions for every result, a float five where there is one.
bool mixing_pays(const PairLines& plain, const PairLines& mixed);

// Whether 256 * b + a fits 16 bits for the pairs of neighbouring channels of weights [channels][k], the last pair
// overlapping where their number is odd: streams of sums have the channels as they are.
bool pairs_fit(const std::vector<int8_t>& weights, int64_t channels, int64_t k);

// The same of groups of `size` channels that begin at channels `first`.
bool pairs_fit(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t size, int64_t k);

// The same of streams with lines: the second channel of a pair may be negated, if its line can be.
bool pairs_fit(const std::vector<int8_t>& weights, const std::vector<int64_t>& first, int64_t size, int64_t k,
               const PairLines& lines);
// Steps of the whole words of a row, its elements [begin, end): a multiple of four.
PairOrder row_order(int64_t begin, int64_t end);

// Streams for groups of so many channels, pairs of them one behind the other, that begin at channels `first`. Of
// kGemvChannels order.size() is even.
std::vector<int32_t> gemm_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                 const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                 const PairLines& lines, int64_t group = 2);

// Form of the streams of gemm_sums.
struct SumsForm {
  bool biased = false;  // a pair's stream begins with biases, as those of results do
  int words = 0;        // not 0: a stream of words with biases; the kernel writes out so many words
};
// Streams without lines, for sums as they are: of pairs, and of kGemvChannels.
std::vector<int32_t> gemm_sums_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                      const std::vector<int64_t>& first, SumsForm form = {},
                                      const std::vector<int32_t>& bias = {});
std::vector<int32_t> gemv_sums_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                      const std::vector<int64_t>& first);

// Streams of words. Of kWordsGemvChannels order.size() is a multiple of kWordsGemvSteps.
std::vector<int32_t> gemm_words_stream(const std::vector<int8_t>& weights, int64_t k, const PairOrder& order,
                                       const std::vector<int64_t>& first, const std::vector<int32_t>& bias,
                                       const PairLines& lines, int64_t group = 2);

// Shape tables. `stride` is the distance of pixels in the output, in bytes.
std::vector<int32_t> gemm_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, bool sign,
                                bool mixed = false, bool even = false);
std::vector<int32_t> gemv_shape(int64_t steps, int64_t groups, bool sign);
std::vector<int32_t> gemv_sums_shape(int64_t steps, int64_t groups);
std::vector<int32_t> gemm_sums_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, SumsForm form = {});
std::vector<int32_t> gemm_words_shape(int64_t steps, int64_t pairs, int64_t stride, int64_t pixels, bool sign,
                                      int unroll = PairGemm::kWordsUnroll, bool mixed = false);
std::vector<int32_t> gemv_words_shape(int64_t steps, int64_t groups, bool sign);

// Whether the kernel of so many pixels is the one for even numbers of steps, which is faster.
inline bool takes_even(int64_t pixels, int64_t steps) { return pixels == 2 && steps % 2 == 0; }
// (stream, panel, out, shape): `pixels` rows of out, two channels a pair. `mixed`: before the lines of a pair stands
// whether they are floats and zero points. `even`: the steps are (takes_even). `own`: for one layer.
tir::KernelPtr gemm_pairs_kernel(int64_t pixels, int shift, bool sign, bool mixed = false, bool even = false,
                                 const OwnGemm& own = {});
// (stream, panel, out, shape): one pixel, eight channels a group.
tir::KernelPtr gemv_pairs_kernel(int shift, bool sign);
// Both with the sums themselves, of 24 bits, in out.
tir::KernelPtr gemm_sums_kernel(int64_t pixels, SumsForm form = {});
tir::KernelPtr gemv_sums_kernel();
// The same over streams of words, four channels a group.
tir::KernelPtr gemm_words_kernel(int64_t pixels, int shift, bool sign, int unroll = PairGemm::kWordsUnroll,
                                 bool mixed = false, const OwnGemm& own = {});
tir::KernelPtr gemv_words_kernel(int shift, bool sign);
// (x, panel, shape): rows of words of 4 elements of `pixels` neighbours into the panel. `written`, 1, 2 or 4: so many
// words of two pixels are written out, for rows of a multiple of them, with stores that take a cycle less for two
// words, and one instruction more.
tir::KernelPtr pack_pixels_kernel(int64_t pixels, int64_t written = 0);
// The same of one pixel into a panel of `pixels`.
tir::KernelPtr pack_pixel_kernel(int64_t pixels);
// (x, panel, words): `words` words of 4 elements of one pixel into a panel of `pixels`.
tir::KernelPtr pack_run_kernel(int64_t pixels);

// A word of each of `rows` rows of an image into one pixel of a panel of `pixels`: (x, panel, rows, shift). Where the
// word reaches beyond the row by n elements, x is at the row's first or last four and shift is 8 n, negative at the
// row's end; the elements outside are `zero`. Rows are `row` bytes apart in x, and `steps` steps in the panel.
struct EdgeRows {
  int64_t pixels = 1, row = 0, steps = 2;
  int32_t zero = 0;
};
tir::KernelPtr pack_edge_kernel(const EdgeRows& rows);

// ---- what calls of the kernels run, for choosing among them

// One call of gemm_pairs, or of gemm_words.
Work gemm_work(bool words, int64_t pixels, int64_t steps, int64_t pairs, bool sign);
// What a `mixed` call of gemm_pairs takes more, of which so many pairs go by floats.
Work mixed_work(int64_t pixels, int64_t pairs, int64_t floats);
// One call of pack_pixels for `rows` rows of `words` words, with its caller's work. Without words there is no call.
Work pack_work(int64_t pixels, int64_t words, int64_t rows);
// One call of gemv_pairs (for groups of eight), or of gemv_words (of four).
Work gemv_work(bool words, int64_t steps, int64_t groups, bool sign);
// The product of `pixels` windows, each of `rows` rows of `words` words of four elements and `rest`
// single elements, with the weights of `channels`, in tiles of `tile` pixels.
struct GemmShape {
  int64_t pixels, rows, words, rest, channels;
  Work work(bool as_words, int64_t tile, bool sign) const;
  // With the best tile.
  double least_cost(const Costs& costs, bool as_words, bool sign) const;
};
// Whether the weights may take twice their bytes.
inline bool words_allowed(const TargetInfo& target) {
  bool asked = target.asked && target.asked->algorithm == "words";
  return asked || (target.level == Level::kSpeed && target.allows("words"));
}
// What `lower` makes where it makes words at -O speed, or the pairs that it makes elsewhere, if by the core's cycles
// these are no slower: where every word that is loaded takes a cycle, twice the bytes may cost more than they save.
std::optional<Lowered> faster_form(const OpView& op, const TargetInfo& target,
                                   std::optional<Lowered> (*lower)(const OpView& op, const TargetInfo& target));

// The two elements' halfwords as a word of a panel.
tir::Ex pair_word(const tir::Ex& low, const tir::Ex& high);

// ---- of meanings

// What kernels of products are given, and what their shape says first; `groups` is what groups of channels are called.
struct GemmParameters {
  tir::BufferPtr stream, panel, out, shape;
  tir::Ex steps, groups;
};
GemmParameters gemm_parameters(tir::FunctionBuilder& f, DType result, const char* groups);
// Sign-extended halves of a word.
tir::Ex low_half(const tir::Ex& word);
tir::Ex high_half(const tir::Ex& word);
// acc + x.low * w.low + x.high * w.high in 32 bits, of two words.
tir::Ex dot_words(const tir::Ex& acc, const tir::Ex& x, const tir::Ex& w);
// The same with bytes 0 and 2 of w.
tir::Ex dot_low_bytes(const tir::Ex& acc, const tir::Ex& x, const tir::Ex& w);
// Bytes from a loop's begin to where `steps` of it remain to be done, as a Thumb address; a turn is of
// `unroll` steps of so many instructions of 4 bytes.
int64_t loop_entry(int64_t steps, int64_t unroll, int64_t instructions);
// A table's words.
std::vector<int32_t> as_words(std::initializer_list<int64_t> list);
// Words of requantisation per channel.
constexpr int64_t line_words(bool sign) { return sign ? 3 : 2; }
// The output for an accumulator shifted left, with the channel's line at stream[at].
tir::Ex line_output(tir::FunctionBuilder& f, const tir::Ex& acc, const tir::BufferPtr& stream, const tir::Ex& at,
                    int shift, bool sign);
// The same with the channel's line in variables.
struct LineValues {
  tir::Ex multiplier, offset;
  std::optional<tir::Ex> sign;
};
LineValues let_line(tir::FunctionBuilder& f, const tir::BufferPtr& stream, const tir::Ex& at, bool sign);
tir::Ex line_output(tir::FunctionBuilder& f, const tir::Ex& acc, const LineValues& line, int shift);
// acc + the lower half of `low` * the upper half of `high`.
tir::Ex mla_low_high(const tir::Ex& acc, const tir::Ex& low, const tir::Ex& high);
// Where the sum of channel c begins if it is to come out shifted left.
inline int32_t shifted_bias(const std::vector<int32_t>& bias, int64_t c, int left) {
  return static_cast<int32_t>(static_cast<uint32_t>(bias[static_cast<size_t>(c)]) << left);
}
// The factor of channel a + 1 in a stream of pairs, 1 or -1, with which 256 * b + a fits 16 bits for all weights
// [channels][k] of channels a and a + 1. 0: neither fits.
int pair_factor(const std::vector<int8_t>& weights, int64_t k, int64_t a);
// The same of each of `group` channels that begin at channel a: 1 of the first of a pair.
std::vector<int> group_factors(const std::vector<int8_t>& weights, int64_t k, int64_t a, int64_t group);
// Of a stream of pairs: elements `step` of channels a and a + 1, of weights [channels][k], a + 1 times `factor`.
int32_t stream_word(const std::vector<int8_t>& weights, int64_t k, const std::array<int, 2>& step, int64_t a,
                    int factor = 1);
// Channel a + 1's sum is 256 times its own plus channel a's, the biases as well.
void put_biases(std::vector<int32_t>& out, const std::vector<int32_t>& bias, int64_t a, int factor = 1);
// gemm_sums_kernel over words.
tir::KernelPtr gemm_words_sums_kernel(int64_t pixels, int unroll);
// A word of a stream of words has elements `step` of channel c.
int32_t scaled_word(const std::vector<int8_t>& weights, int64_t k, const std::array<int, 2>& step, int64_t c);
// Appends a channel's line; with a factor of -1, the one for the negated sum, which there is (negated_line).
void put_line(std::vector<int32_t>& stream, const PairLines& lines, int64_t channel, int factor = 1);
// The line that makes of each negated sum what the channel's line makes of the sum. nullopt if there is none: a sum of
// 0 has the offset of positive sums in both.
std::optional<LineFit::Channel> negated_line(const PairLines& lines, int64_t channel);

}  // namespace aotc::cores::arm
