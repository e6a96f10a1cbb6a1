// SPDX-License-Identifier: Apache-2.0
// Schedules as data: how an operator was lowered, what a file given with --schedules may ask for
// instead, and the cost model that chooses when nobody asks. The one thing to know: a lowering takes
// what is asked for as a wish; the planner compares the schedule that came out with the wish and
// reports an error where they differ, so that nothing asked for is dropped silently.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace aotc::ops {

struct Schedule {
  std::string algorithm;                   // "tiles", "pairs", "winograd"; empty: no choice made
  std::map<std::string, int64_t> numbers;  // "pixels": 4
  std::string note;                        // what follows from the choice, for people
  double instructions = 0, cycles = 0;     // what the cost model expects of a run; 0: it says nothing
  // Of a faster way that takes more flash: the further bytes of its tables, and the instructions of a run that it
  // saves.
  double more_bytes = 0, saved_instructions = 0;
  bool operator==(const Schedule& o) const { return algorithm == o.algorithm && numbers == o.numbers; }
  // True if it has the algorithm and the numbers that were asked for.
  bool meets(const Schedule& asked) const;
  // "pairs: pixels 4, steps 32; shift 14"
  std::string text() const;
};

// An operator of a program, named by the model's file.
struct OperatorKey {
  int op_index = -1;  // in the model's file
  // The compiler may make several operators of one; this counts them from 0, in the order in which they run. -1: all.
  int part = -1;
  OperatorKey(int index, int which = -1) : op_index(index), part(which) {}
  auto operator<=>(const OperatorKey&) const = default;
};
// A schedule for all parts of an operator is for those that can have it.
using Schedules = std::map<OperatorKey, Schedule>;

// The schedule of one part: its own, or that for all parts; null if there is none.
const Schedule* find_schedule(const Schedules& schedules, int op_index, int part);

// Instructions of one kind that a stretch of code runs.
struct Work {
  double load = 0, store = 0;  // words, halfwords or bytes
  double alu = 0;              // adds, shifts, moves, extensions, saturations
  double multiply = 0;         // 32 x 32 to 32 bits, with or without an addend
  double dual = 0;             // two halfword products and an addend
  double high = 0;             // high word of a 64-bit product
  double divide = 0;
  double branch = 0;  // taken
  double vector = 0;  // on a vector, whichever

  Work& operator+=(const Work& o);
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(Work a, double n);
};

// What one instruction of each kind costs, in instructions (1 each, unless a kind takes several on
// this CPU) or in cycles.
struct Costs {
  double load = 1, store = 1, alu = 1, multiply = 1, dual = 1, high = 1, divide = 1, branch = 1, vector = 1;
  double of(const Work& w) const;
};

}  // namespace aotc::ops
