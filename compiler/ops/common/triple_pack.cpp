// SPDX-License-Identifier: Apache-2.0
#include "ops/common/triple_pack.h"

#include <string>

namespace aotc::ops {

using tir::BufferPtr;
using tir::Ex;
using tir::FunctionBuilder;

int64_t TriplePack::unroll_for(int64_t elements, int64_t most) {
  for (int64_t n = most; n > 1; --n)
    if (elements % n == 0) return n;
  return 1;
}

tir::KernelPtr TriplePack::kernel() const {
  FunctionBuilder f("triple_pack");
  BufferPtr in = f.input("x", DType::kI8, 0);
  BufferPtr blank = f.constant("blank", DType::kI8, 0);
  BufferPtr panel = f.output("panel", DType::kI32, 0);
  BufferPtr table = f.input("table", DType::kI32, 0);
  std::array<Ex, TripleGemm::kPixels> first;
  for (size_t p = 0; p < first.size(); ++p) first[p] = f.let("at", load(table, kFirst + static_cast<int64_t>(p)));
  Ex pitch = f.let("pitch", load(table, kPitch));
  Ex count = f.let("count", load(table, kCount));
  Ex words = f.let("words", count * TripleGemm::kWords + (load(table, kSkip) >> 2));
  f.loop("row", 0, load(table, kRows), [&](const Ex& row) {
    f.loop("i", 0, count, [&](const Ex& i) {
      std::array<Ex, TripleGemm::kPixels> v;
      for (size_t p = 0; p < v.size(); ++p)
        v[p] = f.let("v", select(first[p] >= 0, load(in, first[p] + row * pitch + i), load(blank, i)));
      emit_triple(f, panel, row * words + i * TripleGemm::kWords, v);
    });
  });
  return f.finish_kernel(std::string(family), {{"unroll", unroll}});
}

std::vector<int32_t> TriplePack::table(int64_t distance, int64_t pitch, int64_t count, int64_t rows) {
  std::vector<int32_t> out(kTableWords);
  for (int64_t p = 0; p < TripleGemm::kPixels; ++p)
    out[static_cast<size_t>(kFirst + p)] = static_cast<int32_t>(p * distance);
  out[kPitch] = static_cast<int32_t>(pitch);
  out[kCount] = static_cast<int32_t>(count);
  out[kRows] = static_cast<int32_t>(rows);
  return out;
}

namespace {

struct Edges {
  Ex begin, end;  // of the steps of an axis that lie in the image
};

// Where a pixel's window enters or leaves the image behind `at`, or else ends.
Ex next_edge(FunctionBuilder& f, const std::array<Edges, TripleGemm::kPixels>& of, const Ex& at, const Ex& last) {
  Ex next = f.var("next", last);
  for (const Edges& pixel : of)
    for (const Ex& edge : {pixel.begin, pixel.end}) f.if_(edge > at && edge < next, [&] { f.assign(next, edge); });
  return f.let("next", next);
}

}  // namespace

std::vector<int32_t> TripleStrip::geometry(const WindowAxis& y, const WindowAxis& x, int64_t channels) {
  std::vector<int32_t> out;
  for (const WindowAxis* axis : {&y, &x})
    for (int64_t word : {axis->in, axis->out, axis->kernel, axis->stride, axis->pad_before})
      out.push_back(static_cast<int32_t>(word));
  out.push_back(static_cast<int32_t>(channels));
  return out;
}

tir::KernelPtr TripleStrip::kernel() {
  FunctionBuilder f("triple_strip");
  BufferPtr list = f.output("list", DType::kI32, 0);
  BufferPtr geometry = f.constant("geometry", DType::kI32, 0);
  Ex first = f.scalar("first"), row = f.scalar("row");
  auto word = [&](const char* name, int64_t axis, int64_t of) {
    return f.let(name, load(geometry, axis * kAxisWords + of));
  };
  Ex rows_in = word("rows_in", 0, kIn), columns_in = word("columns_in", 1, kIn),
     columns_out = word("columns_out", 1, kOut);
  Ex row_kernel = word("row_kernel", 0, kKernel), column_kernel = word("column_kernel", 1, kKernel);
  Ex row_stride = word("row_stride", 0, kStride), column_stride = word("column_stride", 1, kStride);
  Ex row_pad = word("row_pad", 0, kPad), column_pad = word("column_pad", 1, kPad);
  Ex channels = f.let("channels", load(geometry, kChannels));
  std::array<Edges, TripleGemm::kPixels> rows, columns;
  std::array<Ex, TripleGemm::kPixels> from;
  for (int64_t p = 0; p < TripleGemm::kPixels; ++p) {
    Ex pixel = f.let("pixel", first + p);
    Ex oy = f.let("oy", pixel / columns_out);
    Ex top = f.let("top", oy * row_stride - row_pad);
    Ex left = f.let("left", (pixel - oy * columns_out) * column_stride - column_pad);
    auto edges = [&](const Ex& start, const Ex& in, const Ex& kernel) {
      return Edges{f.let("begin", min(max(-start, 0), kernel)), f.let("end", max(min(in - start, kernel), 0))};
    };
    const auto at = static_cast<size_t>(p);
    rows[at] = edges(top, rows_in, row_kernel);
    columns[at] = edges(left, columns_in, column_kernel);
    from[at] = f.let("from", ((top + row) * columns_in + left) * channels);
  }
  Ex row_end = next_edge(f, rows, row, row_kernel);
  f.store(list, kNextRow, row_end);
  Ex count = f.var("count", 0), column = f.var("column", 0);
  f.loop("kx", 0, column_kernel, [&](const Ex& kx) {
    f.if_(column == kx, [&] {
      f.assign(column, next_edge(f, columns, kx, column_kernel));
      Ex to = f.let("to", count * kRectangleWords + int64_t{kRectangles});
      for (size_t p = 0; p < from.size(); ++p) {
        Ex inside = rows[p].begin <= row && row < rows[p].end && columns[p].begin <= kx && kx < columns[p].end;
        f.store(list, to + (TriplePack::kFirst + static_cast<int64_t>(p)),
                select(inside, from[p] + kx * channels, Ex(-1)));
      }
      Ex elements = f.let("elements", (column - kx) * channels), whole = f.let("whole", column_kernel * channels);
      f.store(list, to + TriplePack::kPitch, columns_in * channels);
      f.store(list, to + TriplePack::kCount, elements);
      f.store(list, to + TriplePack::kRows, row_end - row);
      f.store(list, to + TriplePack::kSkip, (whole - elements) * (4 * TripleGemm::kWords));
      f.store(list, to + kPlace, (row * whole + kx * channels) * TripleGemm::kWords);
      f.assign(count, count + 1);
    });
  });
  f.store(list, kCount, count);
  return f.finish_kernel("triple_strip", {});
}

}  // namespace aotc::ops
