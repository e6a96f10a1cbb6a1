// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/conv_panel.h"

#include <algorithm>

#include "cores/arm/dsp/gemm16.h"
#include "ops/common/inside.h"

namespace aotc::cores::arm {

using tir::Ex;

ConvPanel::ConvPanel(LoweringBuilder& f, const ops::ConvShape& conv, DType type, int32_t zero)
    : f_(f),
      conv_(conv),
      int16_(type == DType::kI16),
      lanes_(int16_ ? 2 : 4),
      zero_(zero),
      bytes_(int16_ ? 2 : 1),
      parts_(conv.window.x.dilation == 1 ? 1 : conv.window.x.kernel),
      row_elements_(conv.window.x.kernel / parts_ * conv.in_channels),
      row_words_(row_elements_ / lanes_),
      row_rest_(row_elements_ % lanes_) {}

tir::KernelPtr ConvPanel::pack_kernel() const {
  if (int16_) return pack_halves_kernel(tile_);
  const int64_t written = row_words_ % 4 == 0 ? 4 : row_words_ % 2 == 0 ? 2 : 1;
  return pack_pixels_kernel(tile_, saves_cycles_ && tile_ == 2 ? written : 0);
}
tir::KernelPtr ConvPanel::run_kernel() const { return int16_ ? pack_halves_run_kernel(tile_) : pack_run_kernel(tile_); }

Work ConvPanel::work(int64_t tile) const {
  const Work element{.load = 1, .store = 1, .alu = 4};
  return (int16_ ? pack_halves_work(tile, row_words_, rows()) : pack_work(tile, row_words_, rows())) +
         element * static_cast<double>(rows() * row_rest_ * tile);
}

void ConvPanel::pack(const Ex& first, int64_t tile) {
  tile_ = tile;
  if (conv_.pointwise) {
    pack_fast(f_.let("from", first * conv_.in_channels));
  } else {
    pack_windows(first);
  }
}

// A table for every number of rows of a window that may lie inside of the image.
void ConvPanel::make_tables(int64_t tile) {
  tile_ = tile;
  if (row_words_ == 0) return;
  const WindowAxis& y = conv_.window.y;
  const int64_t rows = conv_.pointwise ? 1 : parts_ > 1 ? parts_ : y.kernel;
  clips_rows_ = !conv_.pointwise && parts_ == 1 && y.dilation == 1 && row_rest_ == 0 &&
                (y.start(0) < 0 || y.start(y.out - 1) + y.kernel > y.in) && y.start(0) + y.kernel > 0 &&
                y.start(y.out - 1) < y.in;
  std::vector<int32_t> all;
  edges_ = has_edges();
  const bool any_rows = clips_rows_ || (!conv_.pointwise && edges_);
  for (int64_t n = any_rows ? 1 : rows; n <= rows; ++n) {
    std::vector<int32_t> pack(4);
    pack[PairGemm::kPackPixelStride] = static_cast<int32_t>(conv_.window.x.stride * conv_.in_channels * bytes_);
    pack[PairGemm::kPackWords] = static_cast<int32_t>(row_words_);
    pack[PairGemm::kPackRows] = static_cast<int32_t>(n);
    const int64_t stride = parts_ > 1 ? part_stride() : y.dilation * row_size();
    pack[PairGemm::kPackRowSkip] = static_cast<int32_t>(conv_.pointwise ? 0 : stride * bytes_ - row_words_ * 4);
    all.insert(all.end(), pack.begin(), pack.end());
  }
  pack_shape_ = f_.constant("pack", DType::kI32, all);
  all_rows_ = any_rows ? 4 * (rows - 1) : 0;
}

// All pixels of a tile that lie in one row with windows inside of the image; `from` is the first
// element of the first window.
void ConvPanel::pack_fast(const Ex& from) {
  const int64_t row = conv_.window.y.dilation * row_size();
  if (row_words_ > 0 && parts_ > 1)
    f_.loop("ky", 0, conv_.window.y.kernel, [&](Ex ky) {
      f_.run(pack_kernel(), {address(in_, from + ky * row), address(panel_, ky * (parts_ * row_steps() * tile_)),
                             address(pack_shape_, 0)});
    });
  else if (row_words_ > 0)
    f_.run(pack_kernel(), {address(in_, from), address(panel_, 0), address(pack_shape_, all_rows_)});
  if (row_rest_ == 0) return;
  for (int64_t p = 0; p < tile_; ++p)
    store_rest(p, [&](int64_t ky, int64_t kx, int64_t j) {
      int64_t at = ky * row + kx * part_stride() + row_words_ * lanes_ + j;
      return load(in_, from + (p * conv_.window.x.stride * conv_.in_channels + at));
    });
}

// The steps that follow the words of all rows.
template <typename Element>
void ConvPanel::store_rest(const Ex& p, Element element) {
  std::vector<Ex> rest;
  for (int64_t row = 0; row < rows(); ++row)
    for (int64_t j = 0; j < row_rest_; ++j) rest.push_back(element(row / parts_, row % parts_, j));
  if (rest.size() % 2 == 1) rest.push_back(0);
  int64_t step = row_steps() * rows();
  for (size_t i = 0; i < rest.size(); i += 2, ++step)
    f_.store(panel_, p + step * tile_, pair_word(rest[i], rest[i + 1]));
}

void ConvPanel::pack_windows(const Ex& first) {
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
  auto slow = [&] { f_.loop("i", 0, tile_, [&](Ex i) { pack_one(first + i, i); }); };
  if (columns.empty() || (!clips_rows_ && rows.empty())) return slow();
  Ex whole = ops::lies_in(column, columns, x.out);
  if (!clips_rows_) whole = ops::both(ops::lies_in(row, rows, conv_.window.batch * y.out), whole);
  f_.if_(whole, fast, slow);
}

// All pixels of a tile whose windows reach beyond the image above or below only.
void ConvPanel::pack_clipped(const Ex& top, const Ex& left) {
  const WindowAxis& y = conv_.window.y;
  int64_t words = row_steps() * tile_;
  Ex before = f_.let("above", max(-top, 0));
  Ex after = f_.let("below", max(top + (y.kernel - y.in), 0));
  Ex rows = f_.let("rows", Ex(y.kernel) - before - after);
  fill_words(0, before * words);
  fill_words((before + rows) * words, after * words);
  f_.run(pack_kernel(), {address(in_, ((top + before) * conv_.window.x.in + left) * conv_.in_channels),
                         address(panel_, before * words), address(pack_shape_, rows * 4 - 4)});
}

// One pixel's window wherever it lies, into column i of the panel.
void ConvPanel::pack_one(const Ex& pixel, const Ex& i) {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  Ex at = f_.let("at", pixel);
  Ex oy = f_.let("oy", at / x.out);
  Ex top = f_.let("top", oy * y.stride - y.pad_before);
  Ex left = f_.let("left", (at - oy * x.out) * x.stride - x.pad_before);
  if (edges_) {
    pack_edges(top, left, i);
  } else if (row_words_ > 0) {
    pack_rows(top, left, i);
  }
  if (row_rest_ == 0) return;
  store_rest(i, [&](int64_t ky, int64_t kx, int64_t j) {
    const int64_t in_row = kx * part_stride() + row_words_ * lanes_ + j;
    // Elements of windows larger than the image that no output has inside.
    auto outside = [](const WindowAxis& a, int64_t tap) {
      int64_t least = a.start(0) + tap * a.dilation;
      return least >= a.in || least + (a.out - 1) * a.stride < 0;
    };
    const int64_t tap = parts_ > 1 ? kx : in_row / conv_.in_channels;
    if (outside(y, ky) || outside(x, tap)) return Ex(zero_);
    Ex iy = f_.let("iy", top + ky * y.dilation);
    return f_.let("v", element(iy, f_.let("q", left * conv_.in_channels + in_row), true));
  });
}

// Whether words that reach beyond a row are taken by the kernel for them.
bool ConvPanel::has_edges() const {
  constexpr int64_t kMostPanelRow = 4095;
  return !int16_ && parts_ == 1 && conv_.in_channels % lanes_ != 0 && conv_.window.y.dilation == 1 &&
         row_size() >= lanes_ && row_steps() * tile_ * 4 <= kMostPanelRow;
}

// The words of all rows of a window of any channels.
void ConvPanel::pack_edges(const Ex& top, const Ex& left, const Ex& i) {
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
  auto inside = [&] { f_.if_(ops::lies_inside(left, conv_.window.x.kernel, conv_.window.x.in), whole, edges); };
  f_.if_(rows > 0, inside);
}

void ConvPanel::pack_rows(const Ex& top, const Ex& left, const Ex& i) {
  const WindowAxis& y = conv_.window.y;
  f_.loop("ky", 0, y.kernel, [&](Ex ky) {
    Ex iy = f_.let("iy", top + ky * y.dilation);
    Ex to = f_.let("to", ky * (parts_ * row_steps() * tile_) + i);
    auto blank = [&] { fill(to, parts_ * row_steps()); };
    auto row = [&] {
      if (parts_ > 1) {
        pack_parts(iy, left, to);
      } else if (conv_.in_channels % lanes_ == 0) {
        pack_taps(iy, left, to);
      } else {
        pack_elements(iy, left, to);
      }
    };
    f_.if_(iy >= 0 && iy < y.in, row, blank);
  });
}

// Taps of a dilated row, each inside of the image or outside.
void ConvPanel::pack_parts(const Ex& iy, const Ex& left, const Ex& to) {
  const WindowAxis& x = conv_.window.x;
  f_.loop("kx", 0, parts_, [&](Ex kx) {
    Ex ix = f_.let("ix", left + kx * x.dilation);
    Ex tap = f_.let("tap", to + kx * (row_steps() * tile_));
    auto inside = [&] {
      f_.run(run_kernel(), {address(in_, (iy * x.in + ix) * conv_.in_channels), address(panel_, tap), Ex(row_words_)});
    };
    f_.if_(ix >= 0 && ix < x.in, inside, [&] { fill(tap, row_steps()); });
  });
}

// Two elements outside of the image.
tir::Ex ConvPanel::blank() const {
  auto half = static_cast<uint32_t>(zero_) & 0xFFFF;
  return static_cast<int64_t>(static_cast<int32_t>(half << 16 | half));
}
// Steps of one pixel.
void ConvPanel::fill(const Ex& to, const Ex& steps) {
  f_.loop("s", 0, steps, [&](Ex s) { f_.store(panel_, to + s * tile_, blank()); });
}
// Words of the panel one after the other; `count` is a multiple of the tile's steps of a word.
void ConvPanel::fill_words(const Ex& to, const Ex& count) {
  int64_t words = word_steps() * tile_;
  f_.loop(
      "s", 0, count,
      [&](Ex s) {
        for (int64_t i = 0; i < words; ++i) f_.store(panel_, to + s + i, blank());
      },
      words);
}

// A row of a window whose taps are whole words: blanks, the taps inside of the image, blanks.
void ConvPanel::pack_taps(const Ex& iy, const Ex& left, const Ex& to) {
  const WindowAxis& x = conv_.window.x;
  Ex before = f_.let("before", min(max(-left, 0), x.kernel));
  Ex after = f_.let("after", min(max(left + x.kernel - x.in, 0), Ex(x.kernel) - before));
  Ex taps = f_.let("taps", Ex(x.kernel) - before - after);
  int64_t steps = conv_.in_channels / 2;
  fill(to, before * steps);
  f_.if_(taps > 0, [&] {
    f_.run(run_kernel(), {address(in_, (iy * x.in + left + before) * conv_.in_channels),
                          address(panel_, to + before * (steps * tile_)), taps * (conv_.in_channels / lanes_)});
  });
  fill(to + (before + taps) * (steps * tile_), after * steps);
}

// A row of a window of any channels: the words that lie in the image whole, and element by element
// those before and behind them.
void ConvPanel::pack_elements(const Ex& iy, const Ex& left, const Ex& to) {
  Ex begin = f_.let("begin", left * conv_.in_channels);
  if (row_words_ == 1) return pack_words(iy, begin, to, 0, 1);
  int log2 = int16_ ? 1 : 2;  // of the elements of a word
  Ex first = f_.let("first", min(max(Ex(lanes_ - 1) - begin, 0) >> log2, row_words_));
  Ex last = f_.let("last", max(min((Ex(row_size()) - begin) >> log2, row_words_), first));
  pack_words(iy, begin, to, 0, first);
  f_.if_(first < last, [&] {
    f_.run(run_kernel(), {address(in_, iy * row_size() + begin + first * lanes_),
                          address(panel_, to + first * (word_steps() * tile_)), last - first});
  });
  pack_words(iy, begin, to, last, row_words_);
}

void ConvPanel::pack_words(const Ex& iy, const Ex& begin, const Ex& to, const Ex& first, const Ex& end) {
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
tir::Ex ConvPanel::element(const Ex& iy, const Ex& q, bool check_row) {
  Ex in_row = q >= 0 && q < row_size();
  Ex inside = check_row ? (iy >= 0 && iy < conv_.window.y.in) && in_row : in_row;
  return select(inside, load(in_, iy * row_size() + q), zero_);
}

}  // namespace aotc::cores::arm
