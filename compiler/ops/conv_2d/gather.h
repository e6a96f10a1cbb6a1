// SPDX-License-Identifier: Apache-2.0
// Windows of an image copied into rows of a panel, where padding is elements too: the products over
// them then have no border case.
#pragma once

#include <functional>

#include "ops/conv_2d/shape.h"

namespace aotc::ops {

struct Windows {
  const ConvShape& conv;
  tir::BufferPtr image, panel;
  // Fills elements of the panel from `to` on with what padding is.
  std::function<void(const tir::Ex& to, int64_t elements)> blank;
};

// Of output (oy, ox) of batch n, the channels of group g.
struct WindowPlace {
  tir::Ex n, oy, ox, g;
};

// Copies the window into panel[to .. to + conv.k).
void gather_window(tir::FunctionBuilder& f, const Windows& windows, const WindowPlace& at, const tir::Ex& to);

}  // namespace aotc::ops
