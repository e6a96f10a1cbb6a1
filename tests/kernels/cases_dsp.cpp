// SPDX-License-Identifier: Apache-2.0
// Kernels of cores/arm/dsp/gemm.h, gemm16.h and winograd.h.
#include "cases.h"
#include "cores/arm/dsp/gemm16.h"
#include "cores/arm/dsp/gemm_fours.h"
#include "cores/arm/dsp/gemv_quads.h"
#include "cores/arm/dsp/nibbles.h"
#include "cores/arm/dsp/winograd.h"

namespace aotc::tests {

namespace {

constexpr int kShift = 3, kEven = 0;

void add_vector_cases(std::vector<KernelCase>& to, bool words, bool sign, int shift) {
  using arm::PairGemm;
  int64_t size = words ? PairGemm::kWordsGemvChannels : PairGemm::kGemvChannels;
  for (Pattern pattern : kPatterns)
    for (int64_t steps : words ? std::vector<int64_t>{4, 16, 20, 28, 36} : std::vector<int64_t>{2, 8, 10, 14, 18})
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + groups));
        std::vector<int32_t> stream;
        for (int64_t g = 0; g < groups; ++g) {
          data.add_words(stream, size + steps * (words ? size : size / 2));
          for (int64_t c = 0; c < size; ++c) data.add_line(stream, sign, shift);
        }
        auto shape = words ? arm::gemv_words_shape(steps, groups, sign) : arm::gemv_shape(steps, groups, sign);
        to.push_back({words ? arm::gemv_words_kernel(shift, sign) : arm::gemv_pairs_kernel(shift, sign),
                      {table(stream), data.words(steps), data.bytes(groups * size), table(shape)},
                      {}});
      }
}

void add_quads_cases(std::vector<KernelCase>& to, bool sign, int shift, const arm::QuadsForm& form) {
  for (Pattern pattern : kPatterns)
    for (int64_t words : {1, 3, 4, 5, 8})
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(words * 10 + groups));
        std::vector<int32_t> stream;
        for (int64_t g = 0; g < groups; ++g) {
          data.add_words(stream, 4 + words * 4);
          for (int64_t c = 0; c < 4; ++c) data.add_line(stream, sign, shift);
        }
        to.push_back({arm::gemv_quads_kernel(shift, sign, form),
                      {table(stream), data.bytes(words * 4 + 1, 1), data.bytes(groups * 4, 3),
                       table(arm::quads_shape(words, groups, sign, form))},
                      {}});
      }
}

void add_sums_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {2, 8, 10, 14, 18})
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + groups));
        std::vector<int32_t> stream;
        data.add_words(stream, groups * steps * 4 + arm::PairGemm::kGemvAhead);
        to.push_back(
            {arm::gemv_sums_kernel(),
             {table(stream), data.words(steps), data.words(groups * 8), table(arm::gemv_sums_shape(steps, groups))},
             {}});
      }
  for (Pattern pattern : kPatterns)
    for (int64_t pixels = 1; pixels <= 4; ++pixels)
      for (int64_t steps : {1, 2, 8, 9, 10, 27})
        for (int64_t pairs : {1, 3}) {
          Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
          int64_t stride = 2 * pairs + 1;
          for (arm::SumsForm form : {arm::SumsForm{}, arm::SumsForm{true, 0}, arm::SumsForm{false, 16}}) {
            std::vector<int32_t> stream;
            const bool words = form.words > 0;
            // A step, and loops that are entered in the middle.
            if ((words || form.biased) && (pairs == 1 || (steps != 1 && steps != 10 && steps != 27))) continue;
            data.add_words(stream, pairs * (steps * (words ? 2 : 1) + (words || form.biased ? 2 : 0)));
            to.push_back({arm::gemm_sums_kernel(pixels, form),
                          {table(stream), data.words(steps * pixels), data.words(pixels * stride),
                           table(arm::gemm_sums_shape(steps, pairs, stride * 4, pixels, form))},
                          {}});
          }
        }
}

// `unroll`: of words.
void add_matrix_cases(std::vector<KernelCase>& to, bool words, bool sign, int shift, int64_t pixels,
                      int unroll = arm::PairGemm::kWordsUnroll) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : words ? std::vector<int64_t>{1, 2, unroll, unroll + 1, unroll + 2, 2 * unroll + 4}
                               : std::vector<int64_t>{1, 2, 4, 6, 8, 9, 10, 12, 14, 27})
      for (int64_t pairs : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
        std::vector<int32_t> stream;
        for (int64_t p = 0; p < pairs; ++p) {
          data.add_words(stream, 2 + steps * (words ? 2 : 1));
          for (int c = 0; c < 2; ++c) data.add_line(stream, sign, shift);
        }
        int64_t stride = 2 * pairs + 1;
        const bool even = arm::takes_even(pixels, steps);
        auto shape = words ? arm::gemm_words_shape(steps, pairs, stride, pixels, sign, unroll)
                           : arm::gemm_shape(steps, pairs, stride, pixels, sign, false, even);
        to.push_back({words ? arm::gemm_words_kernel(pixels, shift, sign, unroll)
                            : arm::gemm_pairs_kernel(pixels, shift, sign, false, even),
                      {table(stream), data.words(steps * pixels), data.bytes(pixels * stride, 1), table(shape)},
                      {}});
      }
}

// For any number of steps, and for those that a form writes out.
void add_fours_cases(std::vector<KernelCase>& to, bool sign, int shift, const arm::FoursForm& form) {
  const int64_t n = form.written;
  const auto counts = n == 0      ? std::vector<int64_t>{1, 2, 16, 17, 18, 35}
                      : form.loop ? std::vector<int64_t>{1 + 2 * n, 1 + 3 * n}
                                  : std::vector<int64_t>{1 + n};
  for (Pattern pattern : kPatterns)
    for (int64_t steps : counts)
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + groups));
        std::vector<int32_t> stream;
        for (int64_t g = 0; g < groups; ++g) {
          data.add_words(stream, 4 + 2 * steps);
          for (int c = 0; c < arm::FourGemm::kChannels; ++c) data.add_line(stream, sign, shift);
        }
        const int64_t stride = arm::FourGemm::kChannels * groups + 1;
        to.push_back(
            {arm::gemm_fours_kernel(shift, sign, form),
             {table(stream), data.words(steps * arm::FourGemm::kPixels), data.bytes(arm::FourGemm::kPixels * stride, 1),
              table(arm::fours_shape(steps, groups, stride, sign))},
             {}});
      }
}

// The kernels of one layer, without a loop, and with some pieces before it.
void add_own_cases(std::vector<KernelCase>& to, bool sign, int shift, const arm::OwnGemm& tile) {
  constexpr int64_t kStride = 7;
  constexpr int kUnroll = arm::PairGemm::kWordsUnroll;
  const int64_t pixels = tile.pixels;
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {6, 7, 21, 32})
      for (int64_t unroll : {0, 2}) {
        const int64_t pairs = steps == 6 ? 1 : 3;
        Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
        std::vector<int32_t> stream;
        for (int64_t p = 0; p < pairs; ++p) {
          data.add_words(stream, 2 + steps * (tile.words ? 2 : 1));
          for (int c = 0; c < 2; ++c) data.add_line(stream, sign, shift);
        }
        const arm::OwnGemm own{steps, kStride, unroll, pixels, tile.words};
        to.push_back({tile.words ? arm::gemm_words_kernel(pixels, shift, sign, kUnroll, false, own)
                                 : arm::gemm_pairs_kernel(pixels, shift, sign, false, false, own),
                      {table(stream), data.words(steps * pixels), data.bytes(pixels * kStride, 1),
                       table(tile.words ? arm::gemm_words_shape(steps, pairs, kStride, pixels, sign)
                                        : arm::gemm_shape(steps, pairs, kStride, pixels, sign))},
                      {}});
      }
}

// Pairs by lines and by floats, in turn.
void add_mixed_cases(std::vector<KernelCase>& to, int64_t pixels, bool words) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {1, 2, 8, 9, 30})
      for (int64_t pairs : {1, 4}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
        std::vector<int32_t> stream;
        for (int64_t p = 0; p < pairs; ++p) {
          const bool floats = (p + steps) % 2 != 0;
          data.add_words(stream, 2 + steps * (words ? 2 : 1));
          stream.push_back(floats ? 1 : 0);
          for (int c = 0; c < 2; ++c) data.add_line(stream, false, floats ? kEven : kShift);
        }
        const int64_t stride = 2 * pairs + 1;
        const bool even = arm::takes_even(pixels, steps);
        constexpr int kLess = arm::PairGemm::kWordsUnrollLess;
        to.push_back({words ? arm::gemm_words_kernel(pixels, kShift, false, kLess, true)
                            : arm::gemm_pairs_kernel(pixels, kShift, false, true, even),
                      {table(stream), data.words(steps * pixels), data.bytes(pixels * stride, 1),
                       table(words ? arm::gemm_words_shape(steps, pairs, stride, pixels, false, kLess, true)
                                   : arm::gemm_shape(steps, pairs, stride, pixels, false, true, even))},
                      {}});
      }
}

void add_nibble_cases(std::vector<KernelCase>& to, const arm::NibbleTile& tile, bool sign) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {1, 2, 8, 9, 15, 27})
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + groups));
        std::vector<int32_t> stream;
        for (int64_t g = 0; g < groups; ++g) {
          data.add_words(stream, (tile.bias ? tile.channels : 0) + steps * (tile.channels / 4));
          for (int64_t c = 0; c < tile.channels; ++c) data.add_line(stream, sign);
        }
        int64_t stride = tile.channels * groups + 1;
        to.push_back({arm::gemm_nibbles_kernel(tile, kShift, sign),
                      {table(stream), data.words(steps * tile.pixels), data.bytes(tile.pixels * stride, 1),
                       table(arm::nibble_shape(steps, groups, stride, tile, sign))},
                      {}});
      }
}

void add_halves_cases(std::vector<KernelCase>& to, bool relu, int64_t pixels, int shift) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {1, 2, 8, 9, 10, 27})
      for (int64_t pairs : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
        std::vector<int32_t> stream;
        for (int64_t p = 0; p < pairs; ++p) {
          data.add_words(stream, 2 + steps);
          for (int32_t multiplier : {(1 << 30) + 77, 12345 << 8}) stream.push_back(multiplier);
        }
        int64_t stride = 2 * pairs + 1;
        to.push_back({arm::gemm_halves_kernel(pixels, relu, shift),
                      {table(stream), data.words(steps * pixels), data.bytes(2 * pixels * stride, 2),
                       table(arm::halves_shape(steps, pairs, 2 * stride, pixels))},
                      {}});
      }
}

void add_halves_vector_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : kPatterns)
    for (int64_t steps : {1, 3, 4, 5, 7, 18})
      for (int64_t groups : {1, 3}) {
        Data data(pattern, static_cast<uint32_t>(steps * 10 + groups));
        std::vector<int32_t> stream;
        data.add_words(stream, groups * (8 + 4 * steps));
        to.push_back({arm::gemv_halves_kernel(),
                      {table(stream), data.bytes(4 * steps + 2, 2), data.words(groups * 8),
                       table(arm::halves_vector_shape(steps, groups))},
                      {}});
      }
}

}  // namespace

void add_gemm_cases(std::vector<KernelCase>& to) {
  add_sums_cases(to);
  add_halves_vector_cases(to);
  for (bool bias : {false, true})
    for (bool sign : {false, true})
      for (const arm::NibbleTile& tile :
           {arm::NibbleTile{1, 4, bias}, arm::NibbleTile{2, 4, bias}, arm::NibbleTile{1, 8, bias}})
        add_nibble_cases(to, tile, sign);
  for (bool relu : {false, true})
    for (int64_t pixels = 1; pixels <= 4; ++pixels)
      for (int shift : {0, 8}) add_halves_cases(to, relu, pixels, shift);
  for (bool words : {false, true})
    for (bool sign : {false, true}) {
      for (int shift : sign ? std::vector<int>{kShift} : std::vector<int>{kShift, kEven}) {
        add_vector_cases(to, words, sign, shift);
        for (const arm::QuadsForm& form : {arm::QuadsForm{}, arm::QuadsForm{true, 5}, arm::QuadsForm{true, 0}})
          if (!words) add_quads_cases(to, sign, shift, form);
        for (const arm::FoursForm& form : {arm::FoursForm{}, arm::FoursForm{3, false}, arm::FoursForm{8, true}})
          if (!words) add_fours_cases(to, sign, shift, form);
        for (int64_t pixels = 1; pixels <= 4; ++pixels)
          if (const arm::OwnGemm tile{1, 1, 0, pixels, words}; tile.fits()) add_own_cases(to, sign, shift, tile);
        for (int64_t pixels = 1; pixels <= 4; ++pixels) {
          add_matrix_cases(to, words, sign, shift, pixels);
          if (words) add_matrix_cases(to, words, sign, shift, pixels, arm::PairGemm::kWordsUnrollLess);
        }
      }
    }
  for (bool words : {false, true})
    for (int64_t pixels = 1; pixels <= 4; ++pixels) add_mixed_cases(to, pixels, words);
}

void add_pack_cases(std::vector<KernelCase>& to) {
  using arm::PairGemm;
  for (Pattern pattern : kPatterns)
    for (int64_t pixels = 1; pixels <= 4; ++pixels)
      for (int64_t words : {1, 3, 8}) {
        Data data(pattern, static_cast<uint32_t>(pixels * 10 + words));
        to.push_back({arm::pack_run_kernel(pixels),
                      {data.bytes(words * 4 + 3, 3), data.words(words * 2 * pixels)},
                      {static_cast<int32_t>(words)}});
        to.push_back({arm::pack_halves_run_kernel(pixels),
                      {data.bytes(words * 4 + 2, 2), data.words(words * pixels)},
                      {static_cast<int32_t>(words)}});
        for (int64_t row : {7, 301})
          for (int32_t outside = -4; outside <= 4; ++outside)
            if (words == 3)
              to.push_back({arm::pack_edge_kernel({pixels, row, 4, -128}),
                            {data.bytes(2 * row + 5, 1), data.words(12 * pixels)},
                            {3, 8 * outside}});
        for (int64_t rows : {1, 3}) {
          int64_t stride = words * 4 - 1, skip = 5;
          std::vector<int32_t> shape(4);
          shape[PairGemm::kPackPixelStride] = static_cast<int32_t>(stride);
          shape[PairGemm::kPackWords] = static_cast<int32_t>(words);
          shape[PairGemm::kPackRows] = static_cast<int32_t>(rows);
          shape[PairGemm::kPackRowSkip] = static_cast<int32_t>(skip);
          int64_t bytes = 1 + rows * (words * 4 + skip) + pixels * stride;
          to.push_back({arm::pack_pixels_kernel(pixels),
                        {data.bytes(bytes, 1), data.words(rows * words * 2 * pixels), table(shape)},
                        {}});
          for (int64_t written : {1, 2, 4})
            if (pixels == 2 && words % written == 0)
              to.push_back({arm::pack_pixels_kernel(pixels, written),
                            {data.bytes(bytes, 1), data.words(rows * words * 2 * pixels), table(shape)},
                            {}});
          to.push_back({arm::pack_pixel_kernel(pixels),
                        {data.bytes(bytes, 1), data.words(rows * words * 2 * pixels), table(shape)},
                        {}});
          shape[PairGemm::kPackPixelStride] = static_cast<int32_t>(stride + 3);
          shape[PairGemm::kPackRowSkip] = static_cast<int32_t>(skip + 1);
          to.push_back({arm::pack_halves_kernel(pixels),
                        {data.bytes(bytes + 3 * pixels + rows + 1, 2), data.words(rows * words * pixels), table(shape)},
                        {}});
        }
      }
}

namespace {

void add_product_cases(std::vector<KernelCase>& to, Pattern pattern, int64_t steps, bool sign) {
  using arm::Winograd;
  for (int64_t pairs : {1, 3}) {
    Data data(pattern, static_cast<uint32_t>(steps * 10 + pairs));
    std::vector<int32_t> stream;
    for (int64_t p = 0; p < pairs; ++p) {
      data.add_words(stream, 16 + Winograd::kProducts * steps * 2);
      for (int c = 0; c < 2; ++c) data.add_line(stream, sign);
    }
    std::vector<int32_t> panel;
    data.add_words(panel, Winograd::places_at(steps));
    int64_t channels = 2 * pairs + 1, row = 9 * channels;
    for (int32_t tile : {0, 2, 4, 7}) {  // first columns, two rows of 9 pixels
      panel.push_back(static_cast<int32_t>(tile * channels));
      panel.push_back(0);
    }
    to.push_back({arm::winograd_pairs_kernel(steps, kShift, sign),
                  {table(stream), table(panel), data.bytes(2 * row),
                   table(arm::winograd_shape(steps, pairs, channels, row, sign))},
                  {}});
  }
}

}  // namespace

void add_winograd_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : kPatterns) {
    for (int32_t words : {1, 2, 5}) {
      Data data(pattern, static_cast<uint32_t>(words));
      for (bool top : {false, true})
        for (bool bottom : {false, true}) {
          int32_t row = words * 4 + 3;
          to.push_back({arm::winograd_rows_kernel(top, bottom, -77),
                        {data.bytes(1 + 4 * row, 1), data.words(words * 8)},
                        {row, words}});
        }
      int32_t column = words * 8 + 8;
      to.push_back({arm::winograd_tile_kernel(), {data.words(4 * column), data.words(words * 128)}, {column, words}});
    }
    for (int64_t steps : {2, 6, 16, 18, 36})
      for (bool sign : {false, true}) add_product_cases(to, pattern, steps, sign);
  }
}

}  // namespace aotc::tests
