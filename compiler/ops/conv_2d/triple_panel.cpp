// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/triple_panel.h"

#include <algorithm>

#include "ops/common/inside.h"
#include "ops/common/price.h"

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kWords = TripleGemm::kWords;
// Of fewer channels, rectangles are too small for calls of their own.
constexpr int64_t kLeastChannels = 4;

}  // namespace

TriplePanel::TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero)
    : f_(f), conv_(conv), zero_(zero), row_elements_(conv.window.x.kernel * conv.in_channels) {}

TriplePanel::TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero, const TargetInfo& target)
    : TriplePanel(f, conv, zero) {
  const TripleText& text = target.triple_kernel;
  kernel_.family = text.pack;
  kernel_.unroll = TriplePack::unroll_for(by_rectangles() ? conv.in_channels : row_elements_, text.most_packed);
  if (!kernel_.family.empty() && !pays(target)) kernel_.family = {};
  banded_ = wants_band(target);
}

// Windows reach beyond the image.
bool TriplePanel::clips() const {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  // Three pixels that begin in a row and end in the next are no row of the image either.
  return !conv_.pointwise && (y.reaches_beyond() || x.reaches_beyond() || x.out % TripleGemm::kPixels != 0);
}

// Windows of few channels are read from a copy of their rows that has padding, unless their pixels are of two rows.
bool TriplePanel::wants_band(const TargetInfo& target) const {
  constexpr int64_t kMostBytes = 640;
  const WindowAxis& x = conv_.window.x;
  return target.spends_memory() && target.slice == 0 && !conv_.pointwise && conv_.in_channels < kLeastChannels &&
         x.out > 2 * TripleGemm::kPixels && x.start(0) < x.in && x.start(x.out - 1) + x.kernel > 0 &&
         (x.start(0) < 0 || x.start(x.out - 1) + x.kernel > x.in) &&
         band_rows() * band_row() <= std::min(kMostBytes, 4 * conv_.k * kWords);
}

// The band has the rows of two rows of outputs, those that are new in the place of those that are done with. The kernel
// wants the rows of one in their order.
bool TriplePanel::turns_band() const {
  const WindowAxis& y = conv_.window.y;
  return kernel_.family.empty() && y.dilation == 1 && y.stride < y.kernel;
}
int64_t TriplePanel::band_rows() const { return conv_.window.y.kernel + (turns_band() ? conv_.window.y.stride : 0); }

// Bytes of a row, and of what stands before the image there.
int64_t TriplePanel::band_from() const { return (conv_.window.x.pad_before * conv_.in_channels + 3) / 4 * 4; }
int64_t TriplePanel::band_row() const {
  const WindowAxis& x = conv_.window.x;
  return (band_from() + std::max(x.in, x.start(x.out - 1) + x.kernel) * conv_.in_channels + 3) / 4 * 4;
}

void TriplePanel::begin() {
  if (!banded_) return;
  band_ = f_.local("band", DType::kI8, band_rows() * band_row());
  f_.fill_bytes(band_, 0, zero_ & 0xFF, band_rows() * band_row());
}

// Place of the first row that a row of outputs looks at.
Ex TriplePanel::band_turn(const Ex& row) {
  return turns_band() ? f_.let("turn", row * conv_.window.y.stride % band_rows()) : Ex(0);
}
// And of the window's row ky.
Ex TriplePanel::band_place(const Ex& turn, const Ex& ky) {
  if (!turns_band()) return ky;
  Ex place = f_.let("place", turn + ky);
  return f_.let("place", select(place >= band_rows(), place - band_rows(), place));
}

// The rows that a row of outputs looks at, but for those that are there already.
void TriplePanel::fill_band(const Ex& row) {
  const WindowAxis& y = conv_.window.y;
  const int64_t row_elements = conv_.window.x.in * conv_.in_channels;
  Ex top = f_.let("top", row * y.stride - y.pad_before), turn = band_turn(row);
  Ex begin = turns_band() ? f_.let("begin", select(row == 0, Ex(0), Ex(y.kernel - y.stride))) : Ex(0);
  f_.loop("ky", begin, y.kernel, [&](Ex ky) {
    Ex iy = f_.let("iy", top + ky * y.dilation);
    Ex to = f_.let("to", band_place(turn, ky) * band_row() + band_from());
    f_.if_(
        iy >= 0 && iy < y.in, [&] { copy_row(to, f_.let("from", iy * row_elements), row_elements); },
        [&] { f_.fill_bytes(band_, to, zero_ & 0xFF, row_elements); });
  });
}

// So few bytes at a time that a C library's own way, which may be one by one, is hardly less.
void TriplePanel::copy_row(const Ex& to, const Ex& from, int64_t elements) {
  constexpr int64_t kUnroll = 8;
  if (!turns_band() || elements % kUnroll != 0) return f_.copy(band_, to, in_, from, elements);
  f_.loop(
      "i", 0, elements,
      [&](Ex i) {
        for (int64_t u = 0; u < kUnroll; ++u) f_.store(band_, to + i + u, load(in_, from + i + u));
      },
      kUnroll);
}

// Element of the band that a window begins with, in the band's row 0.
Ex TriplePanel::in_band(const Ex& column) {
  return f_.let("from", (column * conv_.window.x.stride - conv_.window.x.pad_before) * conv_.in_channels + band_from());
}

void TriplePanel::pack_band(const Ex& first, const Ex& row, const Ex& column) {
  const WindowAxis& x = conv_.window.x;
  auto fast = [&] { pack_inside(band_, in_band(column), band_row(), band_turn(row)); };
  if (!turns_band()) {
    // The first pixels of a row that are not with the last of the row before it.
    f_.if_(column < TripleGemm::kPixels, [&] { fill_band(row); });
    return f_.if_(column <= x.out - TripleGemm::kPixels, fast, [&] { pack_any(first); });
  }
  // Once the first pixel of a row is one of the three.
  f_.if_(column == 0, [&] { fill_band(row); });
  f_.if_(column <= x.out - TripleGemm::kPixels, fast, [&] {
    Ex next = f_.let("next", row + 1);
    fill_band(next);
    Triple from, turn;
    for (int64_t p = 0; p < TripleGemm::kPixels; ++p) {
      const auto at = static_cast<size_t>(p);
      Ex own = f_.let("own", column + p);
      from[at] = in_band(f_.let("own", select(own >= x.out, own - x.out, own)));
      turn[at] = band_turn(f_.let("at_row", select(own >= x.out, next, row)));
    }
    f_.loop("ky", 0, conv_.window.y.kernel, [&](Ex ky) {
      Triple at;
      for (size_t p = 0; p < at.size(); ++p) at[p] = f_.let("at", from[p] + band_place(turn[p], ky) * band_row());
      Ex to = f_.let("to", ky * row_elements_);
      f_.loop("i", 0, row_elements_, [&](Ex i) {
        emit_triple(f_, panel_, (to + i) * kWords,
                    {load(band_, at[0] + i), load(band_, at[1] + i), load(band_, at[2] + i)});
      });
    });
  });
}

// Is what the kernel saves worth its bytes? Those of the other convolutions that share it are not known here. As
// counted, C takes two instructions more for an element of windows that lie in the image, and a call of the kernel 40;
// where addresses do not move on with an access, C takes no more. By rectangles an element of windows that reach beyond
// the image takes 14 less.
bool TriplePanel::pays(const TargetInfo& target) const {
  constexpr int64_t kElement = 2, kCall = 40, kClipped = 14, kBytes = 550, kBytesOfRectangles = 600, kShort = 16,
                    kManyRows = 4;
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  const int64_t calls = (conv_.window.batch * y.out * x.out + TripleGemm::kPixels - 1) / TripleGemm::kPixels;
  // Short rows are no gain where there are many of them, and where addresses do not move on none are, nor single ones.
  const bool is_short = row_elements_ < kShort && !by_rectangles();
  if (is_short && y.kernel > kManyRows) return false;
  if (target.multiply_add > 1 && (y.kernel == 1 || kernel_.unroll < 4 || is_short)) return false;
  int64_t inside = calls, clipped = 0;
  if (clips()) {
    const WindowAxis::Range rows = y.inside(), columns = columns_inside();
    inside = has_inside() ? calls * (rows.high - rows.low + 1) * (columns.high - columns.low + 1) / (y.out * x.out) : 0;
    if (by_rectangles()) clipped = calls - inside;
  }
  int64_t saved = clipped * kClipped * conv_.k;
  if (target.multiply_add == 1) saved += inside * (kElement * conv_.k - kCall);
  return is_worth_flash(target, static_cast<double>(saved),
                        static_cast<double>(by_rectangles() ? kBytesOfRectangles : kBytes));
}

// Windows that reach beyond the image are rectangles of elements and of padding, each the kernel's.
bool TriplePanel::by_rectangles() const {
  return !kernel_.family.empty() && clips() && conv_.in_channels >= kLeastChannels && conv_.window.y.dilation == 1;
}

// Columns of outputs with which three windows begin that lie in the image.
WindowAxis::Range TriplePanel::columns_inside() const {
  WindowAxis::Range columns = conv_.window.x.inside();
  columns.high -= TripleGemm::kPixels - 1;
  return columns;
}

bool TriplePanel::has_inside() const { return !columns_inside().empty() && !conv_.window.y.inside().empty(); }

void TriplePanel::make_tables() {
  if (kernel_.family.empty()) return;
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  blank_ = f_.constant(
      "blank", DType::kI8,
      std::vector<int8_t>(by_rectangles() ? static_cast<size_t>(row_elements_) : 1, static_cast<int8_t>(zero_)), 1);
  if (by_rectangles()) geometry_ = f_.constant("geometry", DType::kI32, TripleStrip::geometry(y, x, conv_.in_channels));
  if (!conv_.pointwise && !banded_ && !has_inside()) return;
  inside_ =
      f_.constant("inside", DType::kI32,
                  conv_.pointwise ? TriplePack::table(conv_.k, 0, conv_.k, 1)
                                  : TriplePack::table(x.stride * conv_.in_channels,
                                                      banded_ ? band_row() : y.dilation * x.in * conv_.in_channels,
                                                      row_elements_, y.kernel));
}

void TriplePanel::use(BufferPtr in, BufferPtr panel) {
  in_ = std::move(in);
  panel_ = std::move(panel);
}

void TriplePanel::pack(const Ex& first) {
  if (conv_.pointwise) pack_inside(in_, f_.let("from", first * conv_.k), 0);
  else pack_windows(first);
}

// Windows that lie in the image, or in the band, from element `at` on; `pitch` is from a row to the next, and `turn`
// the place of the first row in the band.
void TriplePanel::pack_inside(const BufferPtr& from, const Ex& at, int64_t pitch, const Ex& turn) {
  if (!kernel_.family.empty())
    return f_.run(kernel_.kernel(), {address(from, at), address(blank_, 0), address(panel_, 0), address(inside_, 0)});
  if (conv_.pointwise) return pack_run(from, at, conv_.k, conv_.k, 0);
  f_.loop("ky", 0, conv_.window.y.kernel, [&](Ex ky) {
    Ex place = from == in_ ? ky : band_place(turn, ky);
    pack_run(from, f_.let("at", at + place * pitch), conv_.window.x.stride * conv_.in_channels, row_elements_,
             f_.let("to", ky * row_elements_));
  });
}

// `count` elements of three pixels that lie `distance` apart, to step `to` of the panel.
void TriplePanel::pack_run(const BufferPtr& of, const Ex& from, int64_t distance, int64_t count, const Ex& to) {
  const int64_t unroll = TriplePack::unroll_for(count, 4);
  f_.loop(
      "i", 0, count,
      [&](Ex i) {
        for (int64_t u = 0; u < unroll; ++u) {
          auto x = [&](int64_t p) { return load(of, from + i + (p * distance + u)); };
          emit_triple(f_, panel_, (to + i) * kWords + u * kWords, {x(0), x(1), x(2)});
        }
      },
      unroll);
}

void TriplePanel::pack_windows(const Ex& first) {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  Ex row = f_.let("row", first / x.out);
  Ex column = f_.let("column", first - row * x.out);
  auto slow = [&] { pack_any(first); };
  if (banded_) return pack_band(first, row, column);
  if (!has_inside()) return slow();
  const WindowAxis::Range rows = y.inside(), columns = columns_inside();
  auto fast = [&] {
    Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
    pack_inside(in_, f_.let("from", (top * x.in + left) * conv_.in_channels), y.dilation * x.in * conv_.in_channels);
  };
  f_.if_(both(lies_in(row, rows, conv_.window.batch * y.out), lies_in(column, columns, x.out)), fast, slow);
}

// Windows wherever they lie: an element is in the image if its row is and it is in the row.
void TriplePanel::pack_any(const Ex& first) {
  if (by_rectangles()) return pack_rectangles(first);
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  Triple top, left;
  for (size_t p = 0; p < top.size(); ++p) {
    Ex pixel = f_.let("at", first + static_cast<int64_t>(p));
    Ex oy = f_.let("oy", pixel / x.out);
    top[p] = f_.let("top", oy * y.stride - y.pad_before);
    left[p] = f_.let("left", ((pixel - oy * x.out) * x.stride - x.pad_before) * conv_.in_channels);
  }
  int64_t row_bytes = x.in * conv_.in_channels;
  Ex zero(zero_);
  f_.loop("ky", 0, y.kernel, [&](Ex ky) {
    std::array<Ex, 3> begin, bytes;  // of the image's row; none for a row outside of it
    std::array<bool, 3> never{};     // no element is in the image
    for (size_t p = 0; p < 3; ++p) {
      Ex iy = f_.let("iy", top[p] + ky * y.dilation);
      int64_t known = 0;
      never[p] = (iy.is_imm(&known) && (known < 0 || known >= y.in)) ||
                 (left[p].is_imm(&known) && (known >= row_bytes || known + row_elements_ <= 0));
      begin[p] = f_.let("begin", iy * row_bytes);
      bytes[p] = f_.let("bytes", select(iy >= 0 && iy < y.in, Ex(row_bytes), Ex(0)));
    }
    Ex to = f_.let("to", ky * row_elements_);
    f_.loop("i", 0, row_elements_, [&](Ex i) {
      Triple v;
      for (size_t p = 0; p < 3; ++p) {
        Ex q = f_.let("q", left[p] + i);
        Ex in_row = cast_wrapping(DType::kU32, q) < cast_wrapping(DType::kU32, bytes[p]);
        v[p] = never[p] ? zero : f_.let("v", select(in_row, load(in_, begin[p] + q), zero));
      }
      emit_triple(f_, panel_, (to + i) * kWords, v);
    });
  });
}

void TriplePanel::pack_rectangles(const Ex& first) {
  if (!list_) list_ = f_.local("list", DType::kI32, TripleStrip::kListWords);
  Ex row = f_.var("row", 0);
  // The end is loaded, since compilers would write so short a loop out.
  f_.loop("ky", 0, f_.let("rows", load(geometry_, TripleStrip::kKernel)), [&](Ex ky) {
    f_.if_(row == ky, [&] {
      f_.run(TripleStrip::kernel(), {address(list_, 0), address(geometry_, 0), first, ky});
      f_.assign(row, load(list_, TripleStrip::kNextRow));
      f_.loop("i", 0, f_.let("rectangles", load(list_, TripleStrip::kCount)), [&](Ex i) {
        Ex at = f_.let("at", i * TripleStrip::kRectangleWords + int64_t{TripleStrip::kRectangles});
        f_.run(kernel_.kernel(),
               {address(in_, 0), address(blank_, 0),
                address(panel_, f_.let("place", load(list_, at + TripleStrip::kPlace))), address(list_, at)});
      });
    });
  });
}

}  // namespace aotc::ops
