// SPDX-License-Identifier: Apache-2.0
// Calls that are the same again and again, in other places and with other tables, as an unrolled
// LSTM's are: the program's tree has them as one step with a block for each turn, and codegen may
// print them as a loop. The one thing to know: the calls stay in the program, each with its
// arguments; only how they are printed differs.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/program.h"

namespace aotc::plan {

// What is different from turn to turn, and where an argument is found.
struct RepeatLayout {
  struct Value {
    enum Kind : uint8_t {
      kSame,    // as in the first turn
      kStride,  // `stride` bytes further on each turn
      kPlace,   // at the offset in column `column` of `places`
      kTable,   // the constant in column `column` of `tables`
      kRow,     // values of the turn's row, as `packed[column]` says
    };
    Kind kind = kSame;
    int64_t stride = 0;
    size_t column = 0;
  };
  size_t period = 0, turns = 0;
  std::vector<std::vector<Value>> arguments;  // by call of the body
  std::vector<std::vector<int64_t>> places;   // by column: offsets by turn
  std::vector<std::vector<int>> tables;       // by column: constants by turn
  // A small table whose values are made of bytes of the turn's row: base + (bytes << shift), the lowest byte first.
  struct Packed {
    struct Entry {
      int64_t base = 0;
      int bytes = 0;  // 0: the same in all turns; 4: the value itself
      size_t at = 0;  // in the row
      int shift = 0;
    };
    DType dtype = DType::kI32;
    std::vector<Entry> entries;
    std::vector<int> constants;  // by turn
  };
  std::vector<Packed> packed;
  std::vector<std::vector<uint8_t>> rows;  // by turn; equal columns are there once
  // By call of the body: functions with the turns that call them, that of most turns last.
  struct Variant {
    int function;
    std::vector<size_t> turns;
  };
  std::vector<std::vector<Variant>> variants;

  int place_bytes() const;      // of one entry of `places`: 2 or 4
  int64_t table_bytes() const;  // of all lists, with addresses of 4 bytes
};

// Of the calls [first, first + period * turns).
RepeatLayout lay_out_repeat(const Program& program, size_t first, size_t period, size_t turns);
RepeatLayout lay_out_repeat(const Program& program, const ProgramStep& repeat);

// The argument that holds a result of a call: -1 if none does.
int argument_of_result(const Program& program, size_t call, size_t result);

// Makes repeats of the calls of the outermost sequence where the code is smaller with them.
void roll_calls(Program& program);

// Calls as they stand in the run function, where repeats are loops.
int64_t printed_calls(const Program& program);
// Bytes of what its loops read.
int64_t repeat_table_bytes(const Program& program);
// By constant: is it nowhere but in rows of loops, so that there need not be a table of it?
std::vector<bool> constants_in_rows(const Program& program);

}  // namespace aotc::plan
