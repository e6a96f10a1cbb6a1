// SPDX-License-Identifier: Apache-2.0
// Lowering of int8 conv_2d onto the pair kernels (target/arm/dsp/gemm.h), and of int16 onto those of
// halves (target/arm/dsp/gemm16.h), with weights of 4 bits onto that of target/arm/dsp/nibbles.h. The
// windows of a tile of neighbouring outputs are spread into a panel of halfwords, then one kernel call makes all their channels. Elements of a window's row are taken a word
// at a time, four or two; what remains of each row comes last, two to a step.
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "ops/common/conv_order.h"
#include "ops/common/nibbles.h"
#include "ops/conv_2d/shape.h"
#include "target/arm/dsp/gemm16.h"
#include "target/arm/dsp/lowerings.h"
#include "target/arm/dsp/nibbles.h"
#include "target/arm/dsp/row_product.h"
#include "target/arm/dsp/window_sums.h"

namespace aotc::target::arm {

using tir::BufferPtr;
using tir::Ex;

namespace {

class DspConvLowering {
 public:
  DspConvLowering(const OpView& op, const TargetInfo& target)
      : op_(op),
        conv_(op),
        f_(op, "conv_2d"),
        target_(target),
        int16_(op.operand(0).dtype == DType::kI16),
        lanes_(int16_ ? 2 : 4) {
    const WindowAxis& x = conv_.window.x;
    row_elements_ = x.kernel * conv_.in_channels;
    row_words_ = row_elements_ / lanes_;
    row_rest_ = row_elements_ % lanes_;
    zero_ = op.operand(0).zero_point();
  }

  // Nothing where the kernels do not apply.
  std::optional<Lowered> run() {
    bool one_image = conv_.pointwise || conv_.window.batch == 1;
    if (conv_.grouped() || !one_image || conv_.window.x.dilation != 1 || row_words_ == 0) return std::nullopt;
    if (int16_) return run_int16();
    if (packs_nibbles(op_, target_)) return run_nibbles();
    order_ = window_steps(conv_.window.y.kernel, row_elements_, lanes_);
    auto stored = weights_with_sums(op_, conv_.out_channels, conv_.k, order_);
    if (!stored) return std::nullopt;
    stored_k_ = stored->k, sum_steps_ = stored->steps;
    const std::vector<int8_t>& w = stored->weights;
    bool pairs = pairs_fit(w, conv_.out_channels, stored_k_);
    bool applies = (pairs && target_.allows("pairs")) || words_allowed(target_);
    if (conv_.out_channels < 2 || !applies) return std::nullopt;
    auto [folded, scaling] = ConvScaling(op_, conv_);
    auto lines = fit_pair_lines(scaling, folded.bias, PairGemm::kLeft, target_.fpu);
    if (!lines) return std::nullopt;
    choose_kernel(pairs, lines->sign());
    in_ = f_.operand(0);
    make_tables(w, folded.bias, *lines);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    out_ = f_.result(0);
    emit();
    f_.algorithm(words_ ? "words" : "pairs");
    f_.choice("pixels", tile_);
    if (rest_ > 0) f_.choice("rest", 1);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} steps{}, {}, {}", steps(), sum_steps_ > 0 ? " with sums of inputs" : "",
                                 form_text(*lines), estimate_text(work_, target_)));
  }

 private:
  std::optional<Lowered> run_nibbles() {
    if (conv_.out_channels < 4) return std::nullopt;
    std::vector<int8_t> w = op_.constant(1)->to_vector<int8_t>();
    auto [folded, scaling] = ConvScaling(op_, conv_);
    auto lines = fit_nibble_lines(scaling, folded.bias);
    if (!lines) return std::nullopt;
    order_ = window_steps(conv_.window.y.kernel, row_elements_, lanes_);
    NibbleTile tile = choose_nibbles(lines->lines.sign());
    tile.bias = !lines->bias.empty();
    in_ = f_.operand(0);
    make_nibbles(w, *lines, tile);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    out_ = f_.result(0);
    emit();
    f_.algorithm("nibbles");
    f_.choice("pixels", tile_);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} channels, {} steps, shift {}{}, {}", group_, steps(),
                                 lines->lines.fit.shift, lines->lines.sign() ? ", sign" : "",
                                 estimate_text(work_, target_)));
  }

  // Two pixels by four channels, or one by eight (by four where there are no eight).
  NibbleTile choose_nibbles(bool sign) {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(2, pixels());
    auto tile_of = [&](int64_t p) { return NibbleTile{p, p == 2 || conv_.out_channels < 8 ? 4 : 8, true}; };
    auto work = [&](int64_t p) {
      NibbleTile tile = tile_of(p);
      Work element{.load = 1, .store = 1, .alu = 4};
      int64_t groups = (conv_.out_channels + tile.channels - 1) / tile.channels;
      Work one = nibble_work(tile, steps(), groups, sign) + pack_work(p, row_words_, rows) +
                 element * static_cast<double>(rows * row_rest_ * p);
      return one * static_cast<double>((pixels() + p - 1) / p);
    };
    tile_ = most;
    if (most == 2 && target_.level != Level::kSize &&
        target_.costs.of(work(1)) < target_.costs.of(work(2)))
      tile_ = 1;
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = work(tile_);
    return tile_of(tile_);
  }

  void make_nibbles(const std::vector<int8_t>& w, const NibbleLines& lines, const NibbleTile& tile) {
    group_ = tile.channels;
    pairs_ = conv_.out_channels / group_;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, group_);
    bool sign = lines.lines.sign();
    std::vector<int32_t> stream = nibble_stream(w, conv_.k, order_, first, group_, lines);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    gemm_ = gemm_nibbles_kernel(tile, lines.lines.fit.shift, sign);
    auto shape = [&](int64_t groups) { return nibble_shape(steps(), groups, conv_.out_channels, tile, sign); };
    make_shapes(nibble_work(tile, steps(), 1, sign), shape);
    make_pack_tables();
  }

  std::optional<Lowered> run_int16() {
    if (conv_.out_channels < 2 || !target_.allows("halves")) return std::nullopt;
    auto scaling = fit_halves(conv_wide_scaling(op_, conv_));
    if (!scaling) return std::nullopt;
    order_ = window_steps(conv_.window.y.kernel, row_elements_, lanes_);
    choose_tile();
    in_ = f_.operand(0);
    make_halves(*scaling);
    panel_ = f_.scratch("panel", DType::kI32, steps() * tile_, 4);
    out_ = f_.result(0);
    emit();
    f_.algorithm("halves");
    f_.choice("pixels", tile_);
    f_.estimate(work_, target_);
    return f_.finish(fmt::format("{} steps, {}", steps(), estimate_text(work_, target_)));
  }

  int64_t steps() const { return static_cast<int64_t>(order_.size()); }
  int64_t pixels() const { return conv_.pixels(); }
  // Elements of a row of the image.
  int64_t row_size() const { return conv_.window.x.in * conv_.in_channels; }
  // Steps of a word, and of the words of a window's row.
  int64_t word_steps() const { return lanes_ / 2; }
  int64_t row_steps() const { return word_steps() * row_words_; }
  tir::KernelPtr pack_kernel() const {
    return int16_ ? pack_halves_kernel(tile_) : pack_pixels_kernel(tile_);
  }
  tir::KernelPtr run_kernel() const {
    return int16_ ? pack_halves_run_kernel(tile_) : pack_run_kernel(tile_);
  }

  // The form of the weights, the pixels per tile, and whether those that are left over have a kernel of their own.
  void choose_kernel(bool pairs_fit, bool sign) {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(4, pixels());
    GemmShape shape{pixels(), rows, row_words_, rows * row_rest_, conv_.out_channels};
    auto apart = [&](bool words, int64_t tile) {
      GemmShape whole = shape, rest = shape;
      rest.pixels = pixels() % tile;
      whole.pixels -= rest.pixels;
      return whole.work(words, tile, sign) + rest.work(words, rest.pixels, sign);
    };
    double least = 0;
    for (bool words : {false, true}) {
      if (words ? !words_allowed(target_) : !(pairs_fit && target_.allows("pairs"))) continue;
      // For size all layers share the kernel of the largest tile.
      for (int64_t p = most; p >= (target_.level == Level::kSize ? most : 1); --p) {
        double cost = target_.costs.of(shape.work(words, p, sign));
        if (least > 0 && cost >= least) continue;
        least = cost;
        tile_ = p;
        words_ = words;
      }
    }
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = shape.work(words_, tile_, sign);
    // A second kernel must be worth its bytes.
    constexpr double kWorthIt = 0.95;
    auto worth = [&](int64_t tile) {
      return pixels() % tile != 0 && target_.costs.of(apart(words_, tile)) < kWorthIt * target_.costs.of(work_);
    };
    int64_t tile = tile_;
    if (target_.level != Level::kSize && !target_.asked)
      for (int64_t p = most; p > 1; --p)
        if (worth(p) && (!worth(tile) || target_.costs.of(apart(words_, p)) < target_.costs.of(apart(words_, tile)))) tile = p;
    const bool better = target_.level != Level::kSize && worth(tile);
    if (pixels() % tile == 0 || target_.wish("rest", better ? 1 : 0, 0, 1) == 0) return;
    tile_ = tile;
    rest_ = pixels() % tile;
    work_ = apart(words_, tile_);
  }

  // The pixels per tile of int16.
  void choose_tile() {
    int64_t rows = conv_.window.y.kernel, most = std::min<int64_t>(4, pixels());
    auto work = [&](int64_t p) {
      Work element{.load = 1, .store = 1, .alu = 4};
      Work one = halves_work(p, steps(), (conv_.out_channels + 1) / 2) +
                 pack_halves_work(p, row_words_, rows) + element * static_cast<double>(rows * row_rest_ * p);
      return one * static_cast<double>((pixels() + p - 1) / p);
    };
    tile_ = most;
    for (int64_t p = most; p >= (target_.level == Level::kSize ? most : 1); --p)
      if (target_.costs.of(work(p)) < target_.costs.of(work(tile_))) tile_ = p;
    tile_ = target_.wish("pixels", tile_, 1, most);
    work_ = work(tile_);
  }

  void make_halves(const HalvesScaling& scaling) {
    pairs_ = conv_.out_channels / 2;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, 2);
    std::vector<int32_t> bias;
    for (int64_t c = 0; c < conv_.out_channels; ++c)
      bias.push_back(static_cast<int32_t>(wide_bias_at(op_, c)));
    std::vector<int32_t> stream = halves_stream(op_.constant(1)->to_vector<int8_t>(), conv_.k, order_,
                                                first, bias, scaling);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    gemm_ = gemm_halves_kernel(tile_, scaling.relu);
    int64_t stride = conv_.out_channels * 2;
    make_shapes(halves_work(tile_, steps(), 1),
                [&](int64_t pairs) { return halves_shape(steps(), pairs, stride, tile_); });
    make_pack_tables();
  }

  void make_tables(const std::vector<int8_t>& w, const std::vector<int32_t>& bias,
                   const PairLines& lines) {
    pairs_ = conv_.out_channels / 2;
    std::vector<int64_t> first = tile_starts(conv_.out_channels, 2);
    bool sign = lines.sign();
    auto make_stream = words_ ? gemm_words_stream : gemm_stream;
    auto make_shape = words_ ? gemm_words_shape : gemm_shape;
    std::vector<int32_t> stream = make_stream(w, stored_k_, order_, first, bias, lines);
    stream_words_ = static_cast<int64_t>(stream.size() / first.size());
    stream_ = f_.constant("stream", DType::kI32, stream);
    auto of_tile = [&] {
      gemm_ = words_ ? gemm_words_kernel(tile_, lines.fit.shift, sign)
                     : gemm_pairs_kernel(tile_, lines.fit.shift, sign);
      make_shapes(gemm_work(words_, tile_, steps(), 1, sign),
                  [&](int64_t pairs) { return make_shape(steps(), pairs, conv_.out_channels, tile_, sign); });
    };
    if (rest_ > 0) {
      for_tile(rest_, of_tile);
      of_rest_ = {gemm_, shapes_, last_shape_};
    }
    of_tile();
    make_pack_tables();
  }

  // What `body` does for a tile of so many pixels.
  template <typename Body>
  void for_tile(int64_t pixels, Body body) {
    const int64_t before = std::exchange(tile_, pixels);
    body();
    tile_ = before;
  }

  // Tables for turns of groups of channels, of which one takes `group`.
  void make_shapes(const Work& group, const std::function<std::vector<int32_t>(int64_t groups)>& shape) {
    turns_ = turns_of(pairs_, target_.costs.of(group), target_);
    shapes_ = TurnTables(f_, turns_, "shape", shape);
    // Last channels that are no whole group are made again with the ones before them.
    if (conv_.out_channels % group_ != 0) last_shape_ = f_.constant("last_shape", DType::kI32, shape(1));
  }

  // A table for every number of rows of a window that may lie inside of the image.
  void make_pack_tables() {
    const WindowAxis& y = conv_.window.y;
    int64_t rows = conv_.pointwise ? 1 : y.kernel;
    clips_rows_ = !conv_.pointwise && y.dilation == 1 && row_rest_ == 0 &&
                  (y.start(0) < 0 || y.start(y.out - 1) + y.kernel > y.in) &&
                  y.start(0) + y.kernel > 0 && y.start(y.out - 1) < y.in;
    std::vector<int32_t> all;
    edges_ = has_edges();
    const bool any_rows = clips_rows_ || (!conv_.pointwise && edges_);
    for (int64_t n = any_rows ? 1 : rows; n <= rows; ++n) {
      std::vector<int32_t> pack(4);
      pack[PairGemm::kPackPixelStride] =
          static_cast<int32_t>(conv_.window.x.stride * conv_.in_channels * bytes_);
      pack[PairGemm::kPackWords] = static_cast<int32_t>(row_words_);
      pack[PairGemm::kPackRows] = static_cast<int32_t>(n);
      pack[PairGemm::kPackRowSkip] =
          static_cast<int32_t>(conv_.pointwise ? 0 : y.dilation * row_size() * bytes_ - row_words_ * 4);
      all.insert(all.end(), pack.begin(), pack.end());
    }
    pack_shape_ = f_.constant("pack", DType::kI32, all);
    all_rows_ = any_rows ? 4 * (rows - 1) : 0;
  }

  void emit() {
    // Where the result is larger than the input, from the last pixel to the first, so that it can
    // be written over the input from behind.
    bool backwards = conv_.pointwise && conv_.out_channels > conv_.in_channels;
    PixelBytes bytes{conv_.in_channels * bytes_, conv_.out_channels * bytes_};
    auto order = conv_.pointwise ? pointwise_order(pixels(), tile_, bytes, backwards, false)
                            : window_order(conv_.window, tile_, bytes);
    if (order) f_.publish(std::move(*order));
    // The pixels that are left over come last, wherever they are: less than the order above says is read and written.
    const int64_t whole = pixels() - rest_;
    f_.loop(
        "p", 0, whole,
        [&](Ex p) {
          Ex start = backwards ? Ex(pixels() - tile_) - p : p;
          if (whole % tile_ != 0)
            start = backwards ? max(start, 0) : min(start, Ex(pixels() - tile_));
          emit_tile(f_.let("pixel", start));
        },
        tile_);
    if (rest_ == 0) return;
    std::tie(gemm_, shapes_, last_shape_) = of_rest_;
    for_tile(rest_, [&] { emit_tile(f_.let("pixel", backwards ? 0 : whole)); });
  }

  void emit_tile(const Ex& first) {
    if (conv_.pointwise) {
      pack_fast(f_.let("from", first * conv_.in_channels));
    } else {
      pack_windows(first);
    }
    multiply(first);
  }

  void multiply(const Ex& first) {
    emit_window_sums(f_, {panel_, tile_, steps() - sum_steps_, sum_steps_});
    Ex to = f_.let("to", first * conv_.out_channels);
    f_.take_turns(turns_, [&](const Ex& pair, int64_t pairs) {
      f_.run(gemm_, {address(stream_, pair * stream_words_), address(panel_, 0), address(out_, to + pair * group_),
                     address(shapes_.of(pairs), 0)});
    });
    if (conv_.out_channels % group_ != 0)
      f_.run(gemm_, {address(stream_, pairs_ * stream_words_), address(panel_, 0),
                     address(out_, to + (conv_.out_channels - group_)), address(last_shape_, 0)});
  }

  // All pixels of a tile that lie in one row with windows inside of the image; `from` is the first
  // element of the first window.
  void pack_fast(const Ex& from) {
    f_.run(pack_kernel(),
           {address(in_, from), address(panel_, 0), address(pack_shape_, all_rows_)});
    if (row_rest_ == 0) return;
    for (int64_t p = 0; p < tile_; ++p)
      store_rest(p, [&](int64_t ky, int64_t j) {
        int64_t at = ky * conv_.window.y.dilation * row_size() + row_words_ * lanes_ + j;
        return load(in_, from + (p * conv_.window.x.stride * conv_.in_channels + at));
      });
  }

  // The steps that follow the words of all rows; `element` gives one of row ky.
  template <typename Element>
  void store_rest(const Ex& p, Element element) {
    std::vector<Ex> rest;
    for (int64_t ky = 0; ky < conv_.window.y.kernel; ++ky)
      for (int64_t j = 0; j < row_rest_; ++j) rest.push_back(element(ky, j));
    if (rest.size() % 2 == 1) rest.push_back(0);
    int64_t step = row_steps() * conv_.window.y.kernel;
    for (size_t i = 0; i < rest.size(); i += 2, ++step)
      f_.store(panel_, p + step * tile_, pair_word(rest[i], rest[i + 1]));
  }

  void pack_windows(const Ex& first) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    Ex row = f_.let("row", first / x.out);
    Ex column = f_.let("column", first - row * x.out);
    WindowAxis::Range rows = y.inside(), columns = x.inside();
    columns.high -= tile_ - 1;
    auto fast = [&] {
      Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
      if (clips_rows_) {
        pack_clipped(f_.let("top", top), f_.let("left", left));
      } else {
        pack_fast(f_.let("from", (top * x.in + left) * conv_.in_channels));
      }
    };
    auto slow = [&] {
      f_.loop("i", 0, tile_, [&](Ex i) { pack_one(first + i, i); });
    };
    if (columns.empty() || (!clips_rows_ && rows.empty())) return slow();
    Ex whole = column >= columns.low && column <= columns.high;
    if (!clips_rows_) whole = row >= rows.low && row <= rows.high && whole;
    f_.if_(whole, fast, slow);
  }

  // All pixels of a tile whose windows reach beyond the image above or below only.
  void pack_clipped(const Ex& top, const Ex& left) {
    const WindowAxis& y = conv_.window.y;
    int64_t words = row_steps() * tile_;
    Ex before = f_.let("above", max(-top, 0));
    Ex after = f_.let("below", max(top + (y.kernel - y.in), 0));
    Ex rows = f_.let("rows", Ex(y.kernel) - before - after);
    fill_words(0, before * words);
    fill_words((before + rows) * words, after * words);
    f_.run(pack_kernel(),
           {address(in_, ((top + before) * conv_.window.x.in + left) * conv_.in_channels),
            address(panel_, before * words), address(pack_shape_, rows * 4 - 4)});
  }

  // One pixel's window wherever it lies, into column i of the panel.
  void pack_one(const Ex& pixel, const Ex& i) {
    const WindowAxis& y = conv_.window.y;
    const WindowAxis& x = conv_.window.x;
    Ex at = f_.let("at", pixel);
    Ex oy = f_.let("oy", at / x.out);
    Ex top = f_.let("top", oy * y.stride - y.pad_before);
    Ex left = f_.let("left", (at - oy * x.out) * x.stride - x.pad_before);
    if (edges_) {
      pack_edges(top, left, i);
    } else {
      pack_rows(top, left, i);
    }
    if (row_rest_ == 0) return;
    store_rest(i, [&](int64_t ky, int64_t j) {
      // Elements of windows larger than the image that no output has inside.
      auto outside = [](const WindowAxis& a, int64_t tap) {
        int64_t least = a.start(0) + tap * a.dilation;
        return least >= a.in || least + (a.out - 1) * a.stride < 0;
      };
      if (outside(y, ky) || outside(x, (row_words_ * lanes_ + j) / conv_.in_channels)) return Ex(zero_);
      Ex iy = f_.let("iy", top + ky * y.dilation);
      return f_.let("v", element(iy, f_.let("q", left * conv_.in_channels + (row_words_ * lanes_ + j)), true));
    });
  }

  // Whether words that reach beyond a row are taken by the kernel for them.
  bool has_edges() const {
    constexpr int64_t kMostPanelRow = 4095;
    return !int16_ && conv_.in_channels % lanes_ != 0 && conv_.window.y.dilation == 1 && row_size() >= lanes_ &&
           row_steps() * tile_ * 4 <= kMostPanelRow;
  }

  // The words of all rows of a window of any channels.
  void pack_edges(const Ex& top, const Ex& left, const Ex& i) {
    const WindowAxis& y = conv_.window.y;
    Ex before = f_.let("above", min(max(-top, 0), y.kernel));
    Ex after = f_.let("below", min(max(top + (y.kernel - y.in), 0), Ex(y.kernel) - before));
    Ex rows = f_.let("rows", Ex(y.kernel) - before - after);
    fill(i, before * row_steps());
    fill((before + rows) * (row_steps() * tile_) + i, after * row_steps());
    auto whole = [&] {
      f_.run(pack_pixel_kernel(tile_),
             {address(in_, (top + before) * row_size() + left * conv_.in_channels),
              address(panel_, before * (row_steps() * tile_) + i), address(pack_shape_, rows * 4 - 4)});
    };
    auto edges = [&] {
      Ex from = f_.let("from", (top + before) * row_size());
      const tir::KernelPtr edge = pack_edge_kernel({tile_, row_size(), row_steps(), zero_});
      f_.loop("word", 0, row_words_, [&](Ex word) {
        Ex q = f_.let("q", left * conv_.in_channels + word * lanes_);
        Ex at = f_.let("in_row", min(max(q, 0), row_size() - lanes_));
        f_.run(edge, {address(in_, from + at), address(panel_, (before * row_steps() + word * 2) * tile_ + i), rows,
                      min(max(at - q, -lanes_), lanes_) * 8});
      });
    };
    auto inside = [&] {
      f_.if_(left >= 0 && left <= conv_.window.x.in - conv_.window.x.kernel, whole, edges);
    };
    f_.if_(rows > 0, inside);
  }

  void pack_rows(const Ex& top, const Ex& left, const Ex& i) {
    const WindowAxis& y = conv_.window.y;
    f_.loop("ky", 0, y.kernel, [&](Ex ky) {
      Ex iy = f_.let("iy", top + ky * y.dilation);
      Ex to = f_.let("to", ky * (row_steps() * tile_) + i);
      auto blank = [&] { fill(to, row_steps()); };
      auto row = [&] {
        if (conv_.in_channels % lanes_ == 0) {
          pack_taps(iy, left, to);
        } else {
          pack_elements(iy, left, to);
        }
      };
      f_.if_(iy >= 0 && iy < y.in, row, blank);
    });
  }

  // Two elements outside of the image.
  Ex blank() const {
    auto half = static_cast<uint32_t>(zero_) & 0xFFFF;
    return static_cast<int64_t>(static_cast<int32_t>(half << 16 | half));
  }
  // Steps of one pixel.
  void fill(const Ex& to, const Ex& steps) {
    f_.loop("s", 0, steps, [&](Ex s) { f_.store(panel_, to + s * tile_, blank()); });
  }
  // Words of the panel one after the other; `count` is a multiple of the tile's steps of a word.
  void fill_words(const Ex& to, const Ex& count) {
    int64_t words = word_steps() * tile_;
    f_.loop(
        "s", 0, count,
        [&](Ex s) {
          for (int64_t i = 0; i < words; ++i) f_.store(panel_, to + s + i, blank());
        },
        words);
  }

  // A row of a window whose taps are whole words: blanks, the taps inside of the image, blanks.
  void pack_taps(const Ex& iy, const Ex& left, const Ex& to) {
    const WindowAxis& x = conv_.window.x;
    Ex before = f_.let("before", min(max(-left, 0), x.kernel));
    Ex after = f_.let("after", min(max(left + x.kernel - x.in, 0), Ex(x.kernel) - before));
    Ex taps = f_.let("taps", Ex(x.kernel) - before - after);
    int64_t steps = conv_.in_channels / 2;
    fill(to, before * steps);
    f_.if_(taps > 0, [&] {
      f_.run(run_kernel(),
             {address(in_, (iy * x.in + left + before) * conv_.in_channels),
              address(panel_, to + before * (steps * tile_)), taps * (conv_.in_channels / lanes_)});
    });
    fill(to + (before + taps) * (steps * tile_), after * steps);
  }

  // A row of a window of any channels: the words that lie in the image whole, and element by element
  // those before and behind them.
  void pack_elements(const Ex& iy, const Ex& left, const Ex& to) {
    Ex begin = f_.let("begin", left * conv_.in_channels);
    if (row_words_ == 1) return pack_words(iy, begin, to, 0, 1);
    int log2 = int16_ ? 1 : 2;  // of the elements of a word
    Ex first = f_.let("first", min(max(Ex(lanes_ - 1) - begin, 0) >> log2, row_words_));
    Ex last = f_.let("last", max(min((Ex(row_size()) - begin) >> log2, row_words_), first));
    pack_words(iy, begin, to, 0, first);
    f_.if_(first < last, [&] {
      f_.run(run_kernel(),
             {address(in_, iy * row_size() + begin + first * lanes_),
              address(panel_, to + first * (word_steps() * tile_)), last - first});
    });
    pack_words(iy, begin, to, last, row_words_);
  }

  void pack_words(const Ex& iy, const Ex& begin, const Ex& to, const Ex& first, const Ex& end) {
    f_.loop("word", first, end, [&](Ex word) {
      std::vector<Ex> v;
      for (int64_t j = 0; j < lanes_; ++j)
        v.push_back(f_.let("v", element(iy, f_.let("q", begin + word * lanes_ + j), false)));
      Ex at = f_.let("step", to + word * (word_steps() * tile_));
      f_.store(panel_, at, pair_word(v[0], v[static_cast<size_t>(lanes_ / 2)]));
      if (!int16_) f_.store(panel_, at + tile_, pair_word(v[1], v[3]));
    });
  }

  // Element q of an image row; the zero point outside of it.
  Ex element(const Ex& iy, const Ex& q, bool check_row) {
    Ex in_row = q >= 0 && q < row_size();
    Ex inside = check_row ? (iy >= 0 && iy < conv_.window.y.in) && in_row : in_row;
    return select(inside, load(in_, iy * row_size() + q), zero_);
  }

  const OpView& op_;
  const ConvShape conv_;
  LoweringBuilder f_;
  const TargetInfo& target_;
  bool int16_;
  int lanes_;  // elements of a word
  int64_t row_elements_, row_words_, row_rest_;
  int64_t bytes_ = int16_ ? 2 : 1;
  int64_t group_ = 2;  // channels at a time
  int64_t tile_ = 4, pairs_ = 1, stream_words_ = 0;
  int64_t rest_ = 0;  // pixels behind the tiles that have a kernel of their own
  int64_t stored_k_ = 0, sum_steps_ = 0;  // with the sums of windows (target/arm/dsp/window_sums.h)
  Work work_;
  int32_t zero_;
  bool words_ = false, clips_rows_ = false, edges_ = false;
  PairOrder order_;
  tir::KernelPtr gemm_;
  Turns turns_;  // of pairs_
  TurnTables shapes_;
  std::tuple<tir::KernelPtr, TurnTables, BufferPtr> of_rest_;
  BufferPtr in_, out_, panel_, stream_, last_shape_, pack_shape_;
  int64_t all_rows_ = 0;  // where pack_shape_ has the table of a window with all rows
};

}  // namespace

namespace {

// A convolution whose only window is the whole image, of so many multiplications that the kernel for it is worth its bytes.
bool is_row_product(const OpView& op, const ConvShape& conv) {
  constexpr int64_t kLeast = 8192;
  const WindowAxis &y = conv.window.y, &x = conv.window.x;
  const bool dilated = y.dilation * x.dilation != 1 && conv.k > conv.in_channels;
  return op.operand(0).dtype == DType::kI8 && !conv.grouped() && !dilated && conv.pixels() == 1 && conv.window.batch == 1 &&
         y.pad_before == 0 && x.pad_before == 0 && op.operand(0).elements() == conv.k && conv.k % 4 == 0 &&
         conv.k * conv.out_channels >= kLeast;
}

std::optional<Lowered> lower_as_row(const OpView& op, const TargetInfo& target) {
  const ConvShape conv(op);
  const bool words = row_product_words(conv.k, target);
  if (target.level == Level::kSize || !is_row_product(op, conv) || packs_nibbles(op, target) || (!words && !target.allows("pairs")) ||
      conv.out_channels < row_product_group(words) || target.wish("pixels", 0, 0, 1) != 0)
    return std::nullopt;
  auto [folded, scaling] = ConvScaling(op, conv);
  return lower_row_product(op, target, {"conv_2d", conv.out_channels, conv.k, 1, folded, scaling});
}

}  // namespace

std::optional<Lowered> lower_conv_2d_dsp(const OpView& op, const TargetInfo& target) {
  if (auto row = faster_form(op, target, lower_as_row)) return row;
  return faster_form(op, target, [](const OpView& o, const TargetInfo& t) { return DspConvLowering(o, t).run(); });
}

}  // namespace aotc::target::arm
