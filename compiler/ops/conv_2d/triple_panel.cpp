// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/triple_panel.h"

#include <algorithm>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;

namespace {

constexpr int64_t kPixels = TripleGemm::kPixels;
constexpr int64_t kWords = TripleGemm::kWords;
constexpr int64_t kWordBytes = 4;
// Of fewer channels, rectangles are too small for calls of their own.
constexpr int64_t kLeastChannels = 4;

}  // namespace

TriplePanel::TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero)
    : f_(f), conv_(conv), zero_(zero), row_elements_(conv.window.x.kernel * conv.in_channels) {}

TriplePanel::TriplePanel(LoweringBuilder& f, const ConvShape& conv, int32_t zero, const TargetInfo& target)
    : TriplePanel(f, conv, zero) {
  const TripleText& text = target.triple_kernel;
  banded_ = wants_band(target);
  kernel_.family = text.pack;
  kernel_.unroll = TriplePack::unroll_for(by_rectangles() ? conv.in_channels : row_elements_, text.most_packed);
  // Where addresses do not move on with an access, short rows are not worth a kernel that can do any.
  constexpr int64_t kShort = 16;
  if (target.multiply_add > 1 && (kernel_.unroll < 4 || (row_elements_ < kShort && !by_rectangles()))) kernel_.family = {};
}

// Windows reach beyond the image.
bool TriplePanel::clips() const {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  auto beyond = [](const WindowAxis& a) { return a.start(0) < 0 || a.start(a.out - 1) + a.effective_kernel() > a.in; };
  // Three pixels that begin in a row and end in the next are no row of the image either.
  return !conv_.pointwise && (beyond(y) || beyond(x) || x.out % kPixels != 0);
}

// Windows of few channels are read from a copy of their rows that has padding, unless their pixels are of two rows.
bool TriplePanel::wants_band(const TargetInfo& target) const {
  constexpr int64_t kMostBytes = 512;
  const WindowAxis& x = conv_.window.x;
  return target.level != Level::kSize && !target.prefer_ram && target.slice == 0 && !conv_.pointwise &&
         conv_.in_channels < kLeastChannels && x.out > 2 * kPixels && x.start(0) < x.in && x.start(x.out - 1) + x.kernel > 0 &&
         (x.start(0) < 0 || x.start(x.out - 1) + x.kernel > x.in) && conv_.window.y.kernel * band_row() <= kMostBytes;
}

// Bytes of a row, and of what stands before the image there.
int64_t TriplePanel::band_from() const { return (conv_.window.x.pad_before * conv_.in_channels + 3) / 4 * 4; }
int64_t TriplePanel::band_row() const {
  const WindowAxis& x = conv_.window.x;
  return (band_from() + std::max(x.in, x.start(x.out - 1) + x.kernel) * conv_.in_channels + 3) / 4 * 4;
}

void TriplePanel::begin() {
  if (!banded_) return;
  band_ = f_.local("band", DType::kI8, conv_.window.y.kernel * band_row());
  f_.fill_bytes(band_, 0, zero_ & 0xFF, conv_.window.y.kernel * band_row());
}

// Rows of the image from `top` on.
void TriplePanel::fill_band(const Ex& top) {
  const WindowAxis& y = conv_.window.y;
  const int64_t row_elements = conv_.window.x.in * conv_.in_channels;
  f_.loop("ky", 0, y.kernel, [&](Ex ky) {
    Ex iy = f_.let("iy", top + ky * y.dilation);
    Ex to = f_.let("to", ky * band_row() + band_from());
    f_.if_(
        iy >= 0 && iy < y.in, [&] { f_.copy(band_, to, in_, iy * row_elements, row_elements); },
        [&] { f_.fill_bytes(band_, to, zero_ & 0xFF, row_elements); });
  });
}

// Windows that reach beyond the image are rectangles of elements and of padding, each the kernel's.
bool TriplePanel::by_rectangles() const {
  return !kernel_.family.empty() && clips() && conv_.in_channels >= kLeastChannels && conv_.window.y.dilation == 1;
}

// Columns of outputs with which three windows begin that lie in the image.
WindowAxis::Range TriplePanel::columns_inside() const {
  WindowAxis::Range columns = conv_.window.x.inside();
  columns.high -= kPixels - 1;
  return columns;
}

bool TriplePanel::has_inside() const { return !columns_inside().empty() && !conv_.window.y.inside().empty(); }

void TriplePanel::make_tables() {
  if (kernel_.family.empty()) return;
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  blank_ = f_.constant("blank", DType::kI8, std::vector<int8_t>(by_rectangles() ? static_cast<size_t>(row_elements_) : 1,
                                                               static_cast<int8_t>(zero_)), 1);
  if (!conv_.pointwise && !banded_ && !by_rectangles() && !has_inside()) return;
  inside_ = f_.constant("inside", DType::kI32,
                        conv_.pointwise
                            ? TriplePack::table(conv_.k, 0, conv_.k, 1)
                            : TriplePack::table(x.stride * conv_.in_channels,
                                                banded_ ? band_row() : y.dilation * x.in * conv_.in_channels, row_elements_,
                                                y.kernel));
}

void TriplePanel::use(BufferPtr in, BufferPtr panel) {
  in_ = std::move(in);
  panel_ = std::move(panel);
}

void TriplePanel::pack(const Ex& first) {
  if (conv_.pointwise)
    pack_inside(in_, f_.let("from", first * conv_.k), 0);
  else
    pack_windows(first);
}

// Windows that lie in the image, or in the band, from element `at` on; `pitch` is from a row to the next.
void TriplePanel::pack_inside(const BufferPtr& from, const Ex& at, int64_t pitch) {
  if (!kernel_.family.empty())
    return f_.run(kernel_.kernel(), {address(from, at), address(blank_, 0), address(panel_, 0), address(inside_, 0)});
  if (conv_.pointwise) return pack_run(from, at, conv_.k, conv_.k, 0);
  f_.loop("ky", 0, conv_.window.y.kernel, [&](Ex ky) {
    pack_run(from, f_.let("at", at + ky * pitch), conv_.window.x.stride * conv_.in_channels, row_elements_,
             f_.let("to", ky * row_elements_));
  });
}

// `count` elements of three pixels that lie `distance` apart, to step `to` of the panel.
void TriplePanel::pack_run(const BufferPtr& of, const Ex& from, int64_t distance, int64_t count, const Ex& to) {
  int64_t unroll = count % 4 == 0 ? 4 : count % 3 == 0 ? 3 : count % 2 == 0 ? 2 : 1;
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
  if (banded_) {
    // The first pixels of a row that are not with the last of the row before it.
    f_.if_(column < kPixels, [&] { fill_band(f_.let("top", row * y.stride - y.pad_before)); });
    auto fast = [&] {
      pack_inside(band_, f_.let("from", (column * x.stride - x.pad_before) * conv_.in_channels + band_from()), band_row());
    };
    return f_.if_(column <= x.out - kPixels, fast, slow);
  }
  if (!has_inside()) return slow();
  const WindowAxis::Range rows = y.inside(), columns = columns_inside();
  auto fast = [&] {
    Ex top = row * y.stride - y.pad_before, left = column * x.stride - x.pad_before;
    pack_inside(in_, f_.let("from", (top * x.in + left) * conv_.in_channels), y.dilation * x.in * conv_.in_channels);
  };
  f_.if_(row >= rows.low && row <= rows.high && column >= columns.low && column <= columns.high, fast, slow);
}

// Windows wherever they lie.
void TriplePanel::pack_any(const Ex& first) {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  Triple top, left;
  for (size_t p = 0; p < top.size(); ++p) {
    Ex pixel = f_.let("at", first + static_cast<int64_t>(p));
    Ex oy = f_.let("oy", pixel / x.out);
    top[p] = f_.let("top", oy * y.stride - y.pad_before);
    left[p] = f_.let("left", (pixel - oy * x.out) * x.stride - x.pad_before);
  }
  by_rectangles() ? pack_rectangles(top, left) : pack_elements(top, left);
}

// An element is in the image if its row is and it is in the row.
void TriplePanel::pack_elements(const Triple& top, const Triple& left_tap) {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  Triple left;
  for (size_t p = 0; p < left.size(); ++p) left[p] = f_.let("left", left_tap[p] * conv_.in_channels);
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

TriplePanel::Inside TriplePanel::inside(const WindowAxis& axis, const Ex& start) {
  return {f_.let("begin", min(max(-start, 0), axis.kernel)), f_.let("end", max(min(Ex(axis.in) - start, axis.kernel), 0))};
}

// Where a pixel's window enters or leaves the image behind `at`, or else ends.
Ex TriplePanel::next_edge(const std::array<Inside, kPixels>& of, const Ex& at, int64_t last) {
  Ex next = f_.var("next", last);
  for (const Inside& pixel : of)
    for (const Ex& edge : {pixel.begin, pixel.end}) f_.if_(edge > at && edge < next, [&] { f_.assign(next, edge); });
  return f_.let("next", next);
}

// Between two such rows and two such columns each of the three windows is in the image or padding. Ends of loops are
// loaded: compilers would write such short ones out.
void TriplePanel::pack_rectangles(const Triple& top, const Triple& left) {
  const WindowAxis& y = conv_.window.y;
  const WindowAxis& x = conv_.window.x;
  const int64_t channels = conv_.in_channels, step_bytes = kWords * kWordBytes;
  if (!rectangle_) rectangle_ = f_.local("rectangle", DType::kI32, TriplePack::kTableWords);
  std::array<Inside, kPixels> rows, columns;
  Triple from;
  for (size_t p = 0; p < rows.size(); ++p) {
    rows[p] = inside(y, top[p]);
    columns[p] = inside(x, left[p]);
    from[p] = f_.let("from", (top[p] * x.in + left[p]) * channels);
  }
  f_.store(rectangle_, TriplePack::kPitch, x.in * channels);
  Ex row = f_.var("row", 0), column = f_.var("column", 0);
  Ex row_count = f_.let("rows", load(inside_, TriplePack::kRows)), elements = f_.let("elements", load(inside_, TriplePack::kCount));
  f_.loop("ky", 0, row_count, [&](Ex ky) {
    f_.if_(row == ky, [&] {
      f_.assign(row, next_edge(rows, ky, y.kernel));
      f_.store(rectangle_, TriplePack::kRows, row - ky);
      f_.assign(column, 0);
      f_.loop("kx", 0, elements / channels, [&](Ex kx) {
        f_.if_(column == kx, [&] {
          f_.assign(column, next_edge(columns, kx, x.kernel));
          for (size_t p = 0; p < from.size(); ++p) {
            Ex in_image = rows[p].begin <= ky && ky < rows[p].end && columns[p].begin <= kx && kx < columns[p].end;
            f_.store(rectangle_, TriplePack::kFirst + static_cast<int64_t>(p),
                     select(in_image, from[p] + (ky * x.in + kx) * channels, Ex(-1)));
          }
          Ex count = f_.let("count", (column - kx) * channels);
          f_.store(rectangle_, TriplePack::kCount, count);
          f_.store(rectangle_, TriplePack::kSkip, (Ex(row_elements_) - count) * step_bytes);
          f_.run(kernel_.kernel(), {address(in_, 0), address(blank_, 0),
                                    address(panel_, (ky * row_elements_ + kx * channels) * kWords), address(rectangle_, 0)});
        });
      });
    });
  });
}

}  // namespace aotc::ops
