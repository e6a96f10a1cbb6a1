// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_2d/gather.h"

namespace aotc::ops {

using tir::Ex;

namespace {

void gather_taps(tir::FunctionBuilder& f, const Windows& w, const WindowPlace& at, const Ex& iy, const Ex& x0,
                 const Ex& to) {
  const WindowAxis& y = w.conv.window.y;
  const WindowAxis& x = w.conv.window.x;
  const int64_t depth = w.conv.group_in;
  f.loop("kx", 0, x.kernel, [&](Ex kx) {
    Ex ix = f.let("ix", x0 + kx * x.dilation);
    auto copy = [&] {
      f.copy(w.panel, to + kx * depth, w.image, ((at.n * y.in + iy) * x.in + ix) * w.conv.in_channels + at.g * depth,
             depth);
    };
    if (x.reaches_beyond()) {
      f.if_(ix >= 0 && ix < x.in, copy, [&] { w.blank(to + kx * depth, depth); });
    } else {
      copy();
    }
  });
}

}  // namespace

void gather_window(tir::FunctionBuilder& f, const Windows& w, const WindowPlace& at, const Ex& to) {
  const WindowAxis& y = w.conv.window.y;
  const WindowAxis& x = w.conv.window.x;
  Ex y0 = f.let("top", at.oy * y.stride - y.pad_before);
  Ex x0 = f.let("left", at.ox * x.stride - x.pad_before);
  bool rows_whole = !w.conv.grouped() && x.dilation == 1;
  int64_t row_elements = x.kernel * w.conv.group_in;
  f.loop("ky", 0, y.kernel, [&](Ex ky) {
    Ex iy = f.let("iy", y0 + ky * y.dilation);
    Ex row = f.let("to", to + ky * row_elements);
    auto copy_row = [&] {
      auto whole = [&] {
        f.copy(w.panel, row, w.image, ((at.n * y.in + iy) * x.in + x0) * w.conv.in_channels, row_elements);
      };
      auto by_taps = [&] { gather_taps(f, w, at, iy, x0, row); };
      if (!rows_whole) {
        by_taps();
      } else if (!x.reaches_beyond()) {
        whole();
      } else {
        f.if_(lies_inside(x0, x.kernel, x.in), whole, by_taps);
      }
    };
    if (y.reaches_beyond()) {
      f.if_(iy >= 0 && iy < y.in, copy_row, [&] { w.blank(row, row_elements); });
    } else {
      copy_row();
    }
  });
}

}  // namespace aotc::ops
