// SPDX-License-Identifier: Apache-2.0
// Windows of images with few channels, whose rows are shorter than a vector. The input rows that a row of
// outputs looks at, a band, are woven: a plane is two or four neighbouring rows, of which bytes that lie
// above each other follow each other. A window's part of a plane is then one block of mve_gemm, that of
// the next pixel begins a few bytes further on, and each row is gathered once for all windows. Padding
// is in the planes: columns that nothing is woven into, and a row that is woven for rows outside of the image.
// Where two rows of a window are longer than a vector, the band is one plane by columns: the pixels that lie
// above each other follow each other. Then a window has no gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cores/arm/helium/gemm.h"
#include "ops/common/window.h"

namespace aotc::cores::arm {

struct MveBand {
  // For a convolution's windows; nothing where planes are too far from each other for one step of a load, or
  // offsets of columns take more than a byte.
  static std::optional<MveBand> of(const ops::Window& window, int64_t channels);

  bool columns = false;
  int64_t channels = 1;
  int64_t ways = 2;  // rows of a plane
  int64_t planes = 1;
  int64_t bytes = 0;  // of an input row
  int64_t rows = 0;   // of a window
  int64_t row = 0;    // bytes of a window's row
  int64_t pixel = 0;  // from a window in a plane to the next
  int64_t lead = 0;   // from the begin of a plane to where the input is woven
  int64_t first = 0;  // and to the first window
  int64_t pitch = 0;  // from plane to plane
  // Where the number of columns is odd, pairs of outputs are those of two rows, each with its band.
  int64_t bands = 1;

  // The panel: a row of padding, then the planes.
  int64_t padding() const;
  int64_t band_bytes() const { return planes * pitch; }
  int64_t panel_bytes() const;
  MveBlocks blocks() const;
  // Weights [of][rows][row] in the order of the blocks.
  std::vector<int8_t> arranged(const std::vector<int8_t>& weights, int64_t of) const;
  // Instructions that weave one band.
  int64_t cost() const;

  // By columns, a row is stored in vectors that begin with a pixel, `vectors` of them, `step` bytes from each other,
  // and one that ends with the row. Where bytes of the first ones go, and of the last one.
  int64_t step() const { return 16 / channels * channels; }
  int64_t vectors() const { return (bytes - 16) / step() + 1; }
  int64_t column() const { return ways * channels; }
  std::vector<uint8_t> offsets() const;

 private:
  bool by_columns(const ops::Window& window);
};

// (x, panel, to, live): planes to panel + to. Of the rows, the first live >> 16 are padding, then there are
// live & 0xFFFF from x, at least one, and the rest is padding: the row that the panel begins with.
tir::KernelPtr mve_planes_kernel(const MveBand& band);
// (x, panel, offsets, live): the same by columns.
tir::KernelPtr mve_columns_kernel(const MveBand& band);

}  // namespace aotc::cores::arm
