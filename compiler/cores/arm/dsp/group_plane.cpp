// SPDX-License-Identifier: Apache-2.0
#include "cores/arm/dsp/group_plane.h"

#include <algorithm>

#include "ops/common/gemm.h"

namespace aotc::cores::arm {

using tir::Ex;

GroupPlane::GroupPlane(LoweringBuilder& f, const ops::ConvShape& whole, int32_t zero, int64_t budget,
                       const TargetInfo& target)
    : f_(f), whole_(whole), zero_(zero) {
  const int64_t rows = whole_.window.y.out;
  for (int64_t bands = 1; height_ == 0 && bands <= rows; ++bands) {
    const int64_t height = (rows + bands - 1) / bands;
    if (plane_rows(height) * row_words() * 4 <= budget) height_ = height;
  }
  if (height_ > 0) height_ = target.wish("rows", height_, 1, rows);
}

ops::ConvShape GroupPlane::shape() const {
  ops::ConvShape out = whole_;
  out.in_channels = out.group_in;
  out.out_channels /= groups();
  out.window.y.out = height_;
  return out;
}

PairOrder GroupPlane::order() const {
  const auto n = static_cast<int>(whole_.group_in);
  PairOrder out;
  for (int at = 0; at < static_cast<int>(whole_.k); at += n)
    if (n % 4 == 0) {
      for (const auto& step : row_order(at, at + n)) out.push_back(step);
    } else {
      for (int i = 0; i < n; i += 2) out.push_back({at + i, i + 1 < n ? at + i + 1 : -1});
    }
  return out;
}

Work GroupPlane::work(int64_t tile) const {
  const Work word{.load = 1, .store = 1, .alu = 1}, row{.alu = 8, .branch = 2};
  const auto rows = static_cast<double>(whole_.window.y.kernel);
  return row * rows + word * static_cast<double>(tile * whole_.k / whole_.group_in * pixel_words());
}

void GroupPlane::make_tables() {
  if (whole_.group_in % 4 != 0) return;
  std::vector<int32_t> row(4);
  row[PairGemm::kPackWords] = static_cast<int32_t>(whole_.group_in / 4);
  row[PairGemm::kPackRows] = static_cast<int32_t>(copied());
  row[PairGemm::kPackRowSkip] = static_cast<int32_t>(whole_.in_channels - whole_.group_in);
  row_shape_ = f_.constant("row_shape", DType::kI32, row);
}

void GroupPlane::use(tir::BufferPtr in, tir::BufferPtr memory, int64_t at) {
  in_ = std::move(in), memory_ = std::move(memory), at_ = at;
}

void GroupPlane::for_each(const std::function<void(const Ex& group, const Ex& first)>& body) {
  const WindowAxis& y = whole_.window.y;
  f_.loop(
      "b", 0, y.out,
      [&](Ex b) {
        // The last band overlaps the one before it.
        const Ex row = f_.let("first_row", y.out % height_ == 0 ? b : min(b, Ex(y.out - height_)));
        const Ex top = f_.let("top", row * y.stride - y.pad_before);
        const Ex begin = f_.let("begin", max(-top, 0));
        const Ex end = f_.let("end", min(plane_rows(height_), Ex(y.in) - top));
        if (padded()) {
          const auto half = static_cast<uint32_t>(zero_) & 0xFFFF;
          const int64_t unroll = unroll_for(words(), 8);
          auto fill = [&](const Ex& i) {
            for (int64_t u = 0; u < unroll; ++u)
              f_.store(memory_, i + (at_ + u), static_cast<int64_t>(static_cast<int32_t>(half << 16 | half)));
          };
          f_.loop("i", 0, words(), fill, unroll);
        }
        const Ex first = f_.let("first", row * whole_.window.x.out);
        f_.loop("g", 0, groups(), [&](Ex g) {
          copy_rows(top, begin, end, g);
          body(g, first);
        });
      },
      height_);
}

void GroupPlane::copy_rows(const Ex& top, const Ex& begin, const Ex& end, const Ex& group) {
  if (copied() <= 0) return;
  const WindowAxis& x = whole_.window.x;
  f_.loop("r", begin, end, [&](Ex r) {
    const Ex from = f_.let("from", (top + r) * (x.in * whole_.in_channels) + group * whole_.group_in);
    copy_row(from, f_.let("to", r * row_words() + (at_ + x.pad_before * pixel_words())));
  });
}

void GroupPlane::copy_row(const Ex& from, const Ex& to) {
  const int64_t n = whole_.group_in;
  if (n % 4 == 0)
    return f_.run(pack_pixels_kernel(1), {address(in_, from), address(memory_, to), address(row_shape_, 0)});
  f_.loop("i", 0, copied(), [&](Ex i) {
    const Ex pixel = f_.let("pixel", from + i * whole_.in_channels), word = f_.let("word", to + i * pixel_words());
    f_.loop("j", 0, n / 2, [&](Ex j) {
      f_.store(memory_, word + j, pair_word(load(in_, pixel + j * 2), load(in_, pixel + j * 2 + 1)));
    });
    if (n % 2 != 0) f_.store(memory_, word + n / 2, pair_word(load(in_, pixel + (n - 1)), 0));
  });
}

void GroupPlane::pack(const Ex& first, int64_t tile) {
  const WindowAxis &y = whole_.window.y, &x = whole_.window.x;
  auto start = [&](const Ex& row, const Ex& column) {
    return f_.let("from", row * (y.stride * row_words()) + column * (x.stride * pixel_words()) + at_);
  };
  const Ex row = f_.let("row", first / x.out), column = f_.let("column", first - row * x.out);
  auto whole = [&] { pack_row(start(row, column), 0, tile, tile); };
  auto each = [&] {
    f_.loop("i", 0, tile, [&](Ex i) {
      const Ex of = f_.let("of", (first + i) / x.out);
      pack_row(start(of, first + i - of * x.out), i, 1, tile);
    });
  };
  if (x.out % tile == 0) return whole();
  if (x.out < tile) return each();
  f_.if_(column <= x.out - tile, whole, each);
}

void GroupPlane::pack_row(const Ex& from, const Ex& to, int64_t pixels, int64_t tile) {
  const WindowAxis &y = whole_.window.y, &x = whole_.window.x;
  constexpr int64_t kUnroll = 4;
  const int64_t step = x.stride * pixel_words(), parts = x.dilation == 1 ? 1 : x.kernel;
  const int64_t run = x.kernel / parts * pixel_words(), unroll = unroll_for(run, kUnroll);
  f_.loop("ky", 0, y.kernel, [&](Ex ky) {
    f_.loop("kx", 0, parts, [&](Ex kx) {
      const Ex source = f_.let("source", from + ky * (y.dilation * row_words()) + kx * (x.dilation * pixel_words()));
      const Ex target = f_.let("target", to + (ky * parts + kx) * (run * tile));
      f_.loop(
          "j", 0, run,
          [&](Ex j) {
            for (int64_t u = 0; u < unroll; ++u) {
              std::vector<Ex> v;
              for (int64_t p = 0; p < pixels; ++p) v.push_back(f_.let("v", load(memory_, source + j + (u + p * step))));
              for (int64_t p = 0; p < pixels; ++p)
                f_.store(memory_, target + j * tile + (u * tile + p), v[static_cast<size_t>(p)]);
            }
          },
          unroll);
    });
  });
}

}  // namespace aotc::cores::arm
