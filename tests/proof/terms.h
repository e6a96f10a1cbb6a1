// SPDX-License-Identifier: Apache-2.0
// Terms: values of 32 bits over unknown data, in a normal form. Both sides of a proof, the instructions and the meaning
// of a kernel, compute with the same terms, and equal terms have equal numbers.
//
// A term is a sum of products modulo 2^32. The factors are atoms: signed or unsigned runs of bits of a source, and
// results of operations that are no sums of products. Bits that are moved, masked and joined again become the longest
// runs there are, so a halfword has one form, however it was taken out of its word.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace aotc::tests::proof {

using Term = int32_t;

// Operations that are no sums of products. The numbers are operands that are constants.
enum class Operation : uint8_t {
  kBase,      // the address of region numbers[0]
  kHighWord,  // (a * b + numbers[0]) >> 32 of signed words
  kClamp,     // to numbers[0] .. numbers[1]
  kLess,      // a < b of signed words
  kMinimum,
  kMaximum,
  kAnd,
  kOr,
  kXor,
  kProduct,  // of more factors than a monomial has
  kSelect,   // a != 0 ? b : c
  kFloatOfInt,
  kFloatProduct,
  kFloatSum,
  kFloatDifference,
  kFloatClamp,   // b .. c, with a < b ? b : a, then a > c ? c : a
  kNearestEven,  // a float as an integer, ties to even, saturated
};

// One bit: of a source, or a constant (source kConstant, whose index is the bit).
struct Bit {
  static constexpr int32_t kConstant = -1;
  int32_t source = kConstant, index = 0;
  friend bool operator==(const Bit&, const Bit&) = default;
};
using Bits = std::array<Bit, 32>;

// VCVTR.S32.F32: rounds to nearest, ties to even, and saturates; 0 of NaN.
int32_t nearest_even(float v);

class Terms {
 public:
  Terms();

  Term constant(uint32_t value);
  std::optional<uint32_t> value_of(Term t) const;  // nullopt if it is no constant

  Term add(Term a, Term b) { return sum(a, b, 1); }
  Term subtract(Term a, Term b) { return sum(a, b, ~uint32_t{0}); }
  Term sum(Term a, Term b, uint32_t factor);  // a + factor * b
  Term scale(Term a, uint32_t factor);
  Term multiply(Term a, Term b);

  // Bits are known if they are those of sources; other sums are sources of their own.
  const Bits& bits(Term t);
  Term of_bits(const Bits& bits);
  // Bits [low, low + count), extended.
  Term slice(Term t, int low, int count, bool is_signed);
  Term shift_left(Term t, int by) { return by > 31 ? constant(0) : scale(t, uint32_t{1} << by); }
  Term shift_right(Term t, int by, bool is_signed);
  Term bit_operation(Operation op, Term a, Term b);

  Term high_word(Term a, Term b, int64_t addend = 0);
  Term clamp(Term a, int32_t low, int32_t high);
  Term minimum(Term a, Term b);
  Term maximum(Term a, Term b);
  Term less(Term a, Term b);
  Term select(Term condition, Term a, Term b);
  Term base(int32_t region) { return operation(Operation::kBase, {}, {region, 0}); }
  Term operation(Operation op, const std::vector<Term>& operands, std::array<int64_t, 2> numbers = {});
  // A float that is less than `high`, or that; clamps are one operation.
  Term float_minimum(Term a, Term high);
  // The integer of a float that is clamped to +-1024 and rounded to nearest, ties to even, by adding and subtracting
  // 1.5 * 2^23: nullopt if it is not made so.
  std::optional<Term> whole_of_rounded(Term t);
  // Rules about floats that hold only for the lines of a float's kernels (docs/soundness.md) were used.
  bool used_float_rules() const { return float_rules_; }

  // A new source of unlimited length.
  int32_t new_source(std::string name);

  // A region and the offset of an address; nullopt if the term is none.
  struct Address {
    int32_t region;
    int64_t offset;
  };
  std::optional<Address> address_of(Term t) const;
  // Sources that a term depends on, with the bits of each.
  void add_bits_below(Term t, std::vector<Bit>& out) const;

  // For messages, to some depth.
  std::string text(Term t, int depth = 6) const;

  // Forgets all terms that were made since.
  struct Mark {
    size_t terms, atoms, sources, bits;
  };
  Mark mark() const { return {terms_.size(), atoms_.size(), source_names_.size(), bits_order_.size()}; }
  void forget(const Mark& mark);

 private:
  static constexpr size_t kDegree = 4;
  static constexpr int32_t kNone = -1;
  // Sorted atoms, kNone behind them.
  using Factors = std::array<int32_t, kDegree>;
  struct Monomial {
    Factors factors;
    uint32_t coefficient;
    friend bool operator==(const Monomial&, const Monomial&) = default;
  };
  using Sum = std::vector<Monomial>;  // sorted by factors; no coefficient is 0
  struct Atom {
    bool is_operation = false;
    // A run of bits.
    int32_t source = 0, low = 0, count = 0;
    bool is_signed = false;
    // An operation.
    Operation op = Operation::kBase;
    std::array<Term, 3> operands = {kNone, kNone, kNone};
    std::array<int64_t, 2> numbers = {};
    friend bool operator==(const Atom&, const Atom&) = default;
  };
  struct HashAtom {
    size_t operator()(const Atom& a) const;
  };

  Term intern(Sum sum);
  int32_t intern(const Atom& atom);
  Term of_atom(int32_t atom, uint32_t coefficient = 1);
  Term run(int32_t source, int low, int count, bool is_signed, uint32_t coefficient);
  int32_t source_of_term(Term t) { return t * 2; }
  int width_of_source(int32_t source) const;
  const Atom* only_operation(Term t) const;
  bool reaches_top(const Monomial& m) const;
  Term lengthened(const Monomial& m);
  std::optional<Bits> pieces(Term t);
  std::optional<Bits> high_and_low(Term t);

  std::vector<Sum> terms_;
  std::unordered_multimap<size_t, Term> term_of_;
  std::vector<size_t> hashes_;
  std::vector<Atom> atoms_;
  std::unordered_map<Atom, int32_t, HashAtom> atom_of_;
  std::unordered_map<Term, Bits> bits_;
  std::vector<Term> bits_order_;           // keys of bits_, as they were added
  std::vector<std::string> source_names_;  // of sources 2 * i + 1
  bool float_rules_ = false;
};

}  // namespace aotc::tests::proof
