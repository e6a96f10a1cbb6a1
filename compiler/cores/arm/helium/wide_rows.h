// SPDX-License-Identifier: Apache-2.0
// Products of int16 rows whose sums need more than 32 bits, or that the vector kernels cannot scale: the kernel for one
// pixel (cores/arm/helium/gemm.h) leaves sums in scratch, where a loop scales them. A row whose sums need more than 32
// bits is cut into chunks that do not, which the loop adds up.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cores/arm/helium/gemm.h"
#include "ops/common/wide_requantize.h"

namespace aotc::cores::arm {

class MveWideRows {
 public:
  // Weights [units][depth]. Makes constants of `f`, and its scratch unless `scratch_is_taken`: then eight units are
  // computed at a time, with their sums on the stack. `what` lives as long as this.
  MveWideRows(LoweringBuilder& f, const WideScaling& what, std::vector<int8_t> weights, int64_t units,
              const TargetInfo& target, bool scratch_is_taken);
  // Once at the top of the function.
  void begin() { requantizer_.begin(f_); }
  // The results of the row at x[at] to out[to].
  void run(const tir::BufferPtr& x, const tir::Ex& at, const tir::BufferPtr& out, const tir::Ex& to);
  std::string how() const;

 private:
  struct Chunk {
    int64_t begin, end;
    tir::BufferPtr stream;
    TurnTables shapes;
    tir::KernelPtr kernel;
  };
  bool fits(int64_t begin, int64_t end) const;
  void cut();
  void make(const TargetInfo& target);
  // Sums of so many units, whose stream begins with group `group`, to sums_[to].
  void multiply(const tir::BufferPtr& x, const tir::Ex& at, const tir::Ex& group, const tir::Ex& to, int64_t units);
  // The sum of unit first + i, which is stored at `i`.
  tir::Ex sum_of(const tir::Ex& first, const tir::Ex& i);
  // Results of so many units from `first` on.
  void scale(const tir::BufferPtr& out, const tir::Ex& to, const tir::Ex& first, int64_t units);

  LoweringBuilder& f_;
  const WideScaling& what_;
  std::vector<int8_t> weights_;
  int64_t units_, depth_, padded_;
  int64_t at_once_;  // units whose sums are stored at a time
  WideRequantizer requantizer_;
  std::vector<Chunk> chunks_;
  Turns turns_;
  int64_t blocks_ = 0;
  tir::BufferPtr sums_, bias_;
};

}  // namespace aotc::cores::arm
