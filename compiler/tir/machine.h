// SPDX-License-Identifier: Apache-2.0
// Machine: the state of the TIR interpreter, which is its registers, its buffers and the trap that ended the run. A
// member function that returns false has set trap_; describe() returns the text of the trap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tir/program.h"

namespace aotc::tir {

enum class TrapCode { kNone, kIndex, kUndefined, kArithmetic, kSum, kFit, kFloatFit, kLoop, kRange, kOverlap, kFail };

// True for a buffer for which the interpreter tracks which elements have been written.
inline bool tracked(const Buffer& b) { return b.role == Role::kLocal || b.role == Role::kScratch; }

// A buffer during execution. `defined`: one byte for each element of a tracked buffer; null for other buffers.
struct Live {
  uint8_t* data = nullptr;
  int64_t elements = 0;
  uint8_t* defined = nullptr;
  int64_t size = 0;  // bytes of an element
  DType type = DType::kI8;
  int param = -1;
};

struct Trap {
  TrapCode code = TrapCode::kNone;
  size_t at = 0;
  int buffer = 0;
  int64_t value = 0;
  int64_t other = 0;
  double real = 0;
};

class Machine {
 public:
  Machine(const Program& program, const std::vector<Memory>& memory, AccessObserver* observer);
  bool run();
  // The text of the trap.
  std::string describe() const;
  std::string loop_values() const;
  const Stmt* statement() const { return program_.origin[trap_.at]; }

 private:
  bool slow_load(const Instr& in);
  bool slow_store(const Instr& in);
  bool call(const Instr& in);
  bool copy_bytes(const Instr& in);
  bool set_bytes(const Instr& in);
  // Checks that a memory function may access `bytes` bytes of a buffer from element `index` on. `reads`: also checks
  // that the elements have been written. If a check fails, sets the trap and returns false.
  bool check_span(int buffer, int64_t index, int64_t bytes, bool reads);
  void mark_written(Live& b, int64_t index, int64_t bytes);
  bool trap(TrapCode code, int64_t value = 0, int64_t other = 0, double real = 0, int buffer = 0) {
    trap_ = {code, trap_.at, buffer, value, other, real};
    return false;
  }

  const Program& program_;
  std::vector<Register> registers_;
  std::vector<Live> live_;
  std::vector<uint64_t> local_memory_;
  std::vector<uint8_t> shadow_;
  AccessObserver* observer_;
  Trap trap_;
};

}  // namespace aotc::tir
