// SPDX-License-Identifier: Apache-2.0
// Kernels of cores/arm/dsp/depthwise_kernels.h.
#include "cases.h"
#include "cores/arm/dsp/depthwise_kernels.h"

namespace aotc::tests {

namespace {

constexpr int kShift = 3, kEven = 0;

void add_plane(std::vector<KernelCase>& to, Pattern pattern, int32_t columns, int64_t pitch) {
  for (int32_t rows : {1, 4}) {
    Data data(pattern, static_cast<uint32_t>(columns * 10 + rows));
    int32_t pixel = 3, row = columns * pixel + 5;
    to.push_back({arm::dw_plane_kernel(columns, pitch),
                  {data.bytes(rows * row, 1), data.words(rows * pitch / 2), table({pixel, row})},
                  {rows}});
  }
}

// A column kernel of one layer, or that of several.
void add_column(std::vector<KernelCase>& to, Pattern pattern, const arm::DepthwiseColumn& column, bool sign, int shift,
                bool nibbles, bool own = true) {
  Data data(pattern, static_cast<uint32_t>(column.rows * 10 + column.columns));
  std::vector<int32_t> stream;
  data.add_words(stream, nibbles ? 2 : 3);
  data.add_line(stream, sign, shift);
  arm::DepthwiseShape shape{.rows = column.rows,
                            .columns = column.columns,
                            .out_row = column.out_row,
                            .out_column = column.out_column,
                            .plane_row = 2 * column.pitch,
                            .plane_column = column.plane_column};
  arm::DepthwiseColumn shared{column.pitch, column.stride, column.turn};
  for (const arm::DepthwiseColumn& form : {shared, column}) {
    if (form.own() && !own) continue;
    to.push_back({arm::dw_column_kernel(form, shift, sign, nibbles),
                  {table(stream), data.words(column.rows_read() * column.pitch / 2),
                   data.bytes(column.rows * shape.out_row, 1), table(arm::dw_shape(column.stride, column.turn, shape))},
                  {}});
  }
}

// Outputs of an iteration that divide the rows, that do not, and all of them.
void add_columns(std::vector<KernelCase>& to, Pattern pattern) {
  for (int64_t stride : {1, 2})
    for (int64_t rows : {1, 2, 3, 4, 7, 12})
      for (int64_t turn : {1, 3, 4, 7})
        for (int64_t columns : {1, 2, 5})
          for (int64_t pitch : {14, 128}) {
            if (turn > rows || (pitch == 128 && columns != 2)) continue;
            const bool far = rows == 4 && columns == 2;  // distances that no single instruction adds
            const int64_t out_row = far ? 1365 : 3 * columns + 2;
            const arm::DepthwiseColumn c{pitch, stride, turn, rows, columns, out_row, 3, 2 * stride};
            for (bool sign : {false, true})
              for (bool nibbles : {false, true}) add_column(to, pattern, c, sign, kShift, nibbles);
            add_column(to, pattern, c, false, kEven, turn == 3);
          }
}

// Every entry into the outputs of an iteration.
void add_entries(std::vector<KernelCase>& to, Pattern pattern) {
  for (int64_t stride : {1, 2})
    for (int64_t turn : {3, 4, 7})
      for (int64_t rows = turn; rows < 2 * turn; ++rows)
        for (int64_t pitch : {14, 128})
          for (bool nibbles : {false, true}) {
            const arm::DepthwiseColumn c{pitch, stride, turn, rows, 2, 8, 3, 2 * stride};
            for (bool sign : {false, true}) add_column(to, pattern, c, sign, kShift, nibbles, false);
            if (nibbles == (turn == 3)) add_column(to, pattern, c, false, kEven, nibbles, false);
          }
}

void add_strided(std::vector<KernelCase>& to, Pattern pattern, const arm::StridedRows& rows, bool sign, int shift) {
  for (int32_t missing = arm::StridedShape::kNone; missing <= arm::StridedShape::kBottom; ++missing) {
    const int32_t count = missing == arm::StridedShape::kNone ? 3 : 1;
    Data data(pattern, static_cast<uint32_t>(rows.columns * 10 + missing));
    std::vector<int32_t> stream;
    data.add_words(stream, 3);
    data.add_line(stream, sign, shift);
    to.push_back({arm::dw_strided_kernel(rows, shift, sign),
                  {table(stream), data.bytes((2 * count + 1) * rows.row + 1, 1),
                   data.bytes(count * rows.columns * rows.out_pixel), table({count, missing})},
                  {}});
  }
}

void add_row(std::vector<KernelCase>& to, Pattern pattern, const arm::DepthwiseRow& row, bool sign, int shift) {
  constexpr int32_t kChannels = 2;
  Data data(pattern, static_cast<uint32_t>(row.columns * 10 + row.stride));
  std::vector<int32_t> stream;
  for (int32_t c = 0; c < kChannels; ++c) {
    data.add_words(stream, 3);
    data.add_line(stream, sign, shift);
  }
  to.push_back({arm::dw_row_kernel(row, shift, sign),
                {table(stream), data.bytes(3 * row.row, 1), data.bytes(row.columns * row.out_pixel)},
                {kChannels}});
}

void add_rows(std::vector<KernelCase>& to, Pattern pattern) {
  for (int64_t stride : {1, 2})
    for (int64_t columns : {2, 3, 5, 7, 8, 9, 12})
      for (bool left : {false, true})
        for (bool right : {false, true}) {
          const int64_t read = (columns - 1) * stride + 3 - (left ? 1 : 0) - (right ? 1 : 0);
          const int32_t zero = columns == 5 ? 0 : columns == 9 ? 7 : -9;
          const arm::DepthwiseRow row{read * 3 + 2, 3, 4, columns, stride, left, right, zero};
          add_row(to, pattern, row, left, kShift);
          if (columns == 3 || columns == 8) add_row(to, pattern, row, false, kEven);
        }
}

void add_taps(std::vector<KernelCase>& to, Pattern pattern, const arm::DepthwiseTaps& shape, bool sign, int shift) {
  constexpr int32_t kChannels = 2;
  Data data(pattern, static_cast<uint32_t>(shape.taps * 100 + shape.outputs));
  std::vector<int32_t> stream;
  for (int32_t c = 0; c < kChannels; ++c) {
    data.add_words(stream, static_cast<int>(arm::dw_taps_words(shape.taps, sign) - arm::line_words(sign)));
    data.add_line(stream, sign, shift);
  }
  to.push_back({arm::dw_taps_kernel(shape, shift, sign),
                {table(stream), data.bytes((shape.outputs + shape.taps - 1) * shape.pixel, 1),
                 data.bytes(shape.outputs * shape.pixel)},
                {kChannels}});
}

}  // namespace

void add_depthwise_cases(std::vector<KernelCase>& to) {
  for (Pattern pattern : kPatterns) {
    for (int64_t columns : {2, 3, 6})
      for (bool left : {false, true})
        for (bool right : {false, true}) {
          const arm::StridedRows rows{37, 3, columns + 1, columns, left, right, -9};
          add_strided(to, pattern, rows, left, kShift);
          if (columns == 3) add_strided(to, pattern, rows, false, kEven);
        }
    add_rows(to, pattern);
    for (int64_t taps : {2, 3, 5, 10, 12, 15, 16})
      for (int64_t outputs : {1, 2, 3, 4, 7, 8, 9}) {
        if (!arm::DepthwiseTaps{taps, outputs, 3}.fits()) continue;
        add_taps(to, pattern, {taps, outputs, 3}, outputs % 2 == 1, kShift);
        if (taps == 3) add_taps(to, pattern, {taps, outputs, 3}, false, kEven);
      }
    for (int32_t columns : {1, 5, 8}) add_plane(to, pattern, columns, 14);
    add_columns(to, pattern);
    add_entries(to, pattern);
  }
}

}  // namespace aotc::tests
