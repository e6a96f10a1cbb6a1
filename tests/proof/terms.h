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
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace aotc::tests::proof {

using Term = int32_t;

// Operations that are no sums of products. The numbers are operands that are constants.
enum class Operation : uint8_t {
  kBase,      // the address of region numbers[0]
  kHighWord,  // (a * b + numbers[0]) >> numbers[1] of signed words, of which the lowest 32 bits
  kClamp,     // to numbers[0] .. numbers[1]
  kLess,      // a < b of signed words
  kMinimum,
  kMaximum,
  kAnd,
  kOr,
  kXor,
  kProduct,  // of more factors than a monomial has
  kSelect,   // a != 0 ? b : c
  kIsZero,
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

// The least and the largest value of a signed word.
struct Range {
  int64_t low = INT32_MIN, high = INT32_MAX;
  bool within(int64_t from, int64_t to) const { return from <= low && high <= to; }
  bool is_word() const { return within(INT32_MIN, INT32_MAX); }
  friend bool operator==(const Range&, const Range&) = default;
};

// VCVTR.S32.F32: rounds to nearest, ties to even, and saturates; 0 of NaN.
int32_t nearest_even(float v);

class Terms {
 public:
  // Rules that cost time and that few kernels need.
  struct Rules {
    bool bytes_of_words = false;        // a difference of halfwords and their low bytes is a multiple of 256
    bool low_bits_of_sums = false;      // the lowest bits of a sum need no more than those of its parts
    bool all_values = false;            // terms of 16 bits are compared by their values
    bool signs = false;                 // terms are compared in all cases of signs
    bool choices = false;               // what data chooses is a tree of conditions, in one order
    bool high_words_of_halves = false;  // the high word of a product is made of four products of halves
  };
  explicit Terms(const Rules& rules);

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

  Term high_word(Term a, Term b, int64_t addend = 0, int shift = 32);
  Term clamp(Term a, int32_t low, int32_t high);
  Term minimum(Term a, Term b);
  Term maximum(Term a, Term b);
  Term less(Term a, Term b);
  Term select(Term condition, Term a, Term b);
  Term is_zero(Term a);
  Term opposite(Term truth) { return subtract(constant(1), truth); }
  Term base(int32_t region) { return operation(Operation::kBase, {}, {region, 0}); }
  Term operation(Operation op, const std::vector<Term>& operands, std::array<int64_t, 2> numbers = {});
  // A float that is less than `high`, or that; clamps are one operation.
  Term float_minimum(Term a, Term high);
  // The integer of a float that is clamped to +-1024 and rounded to nearest, ties to even, by adding and subtracting
  // 1.5 * 2^23: nullopt if it is not made so.
  std::optional<Term> whole_of_rounded(Term t);
  // Rules about floats that hold only for the lines of a float's kernels (docs/soundness.md) were used.
  bool used_float_rules() const { return float_rules_; }

  // A truth that holds, or does not, as long as the object lives.
  class Assumption {
   public:
    Assumption(Terms& terms, Term truth, bool holds) : terms_(terms) { terms.assume(truth, holds); }
    ~Assumption() { terms_.assumed_.pop_back(); }
    Assumption(const Assumption&) = delete;
    Assumption& operator=(const Assumption&) = delete;

   private:
    Terms& terms_;
  };
  bool has_choices() const { return rules_.choices; }
  // f of each value that conditions choose for t, and the conditions around the results.
  Term by_cases(Term t, const std::function<Term(Term)>& f);
  // What is left of the choices in t by what is assumed.
  Term simplified(Term t);

  // A new source of unlimited length.
  int32_t new_source(std::string name);
  // A new word with values of a range.
  Term new_word(Range range);
  // Values that the term can have, by intervals.
  Range range_of(Term t);
  // Whether terms with other normal forms are equal: by all values of at most 16 bits, or in all cases of signs.
  bool equal(Term a, Term b) {
    return a == b || (rules_.all_values && equal_for_all_values(a, b)) || (rules_.signs && equal_by_signs(a, b, 0));
  }

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
    size_t terms, atoms, sources, bits, ranges;
  };
  Mark mark() const {
    return {terms_.size(), atoms_.size(), source_names_.size(), bits_order_.size(), range_order_.size()};
  }
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
  Range range_of_atom(int32_t atom);
  Range range_of_source(int32_t source);
  Bits own_bits(int32_t source);
  std::optional<Bits> bits_above_own_low(Term t);
  std::optional<Term> multiple_of_bytes(Term t);
  Term word_of_source(int32_t source);
  Term low_bits(Term t, int count);
  Term high_word_of_halves(Term a, Term b);
  Term saturated_byte(Term condition, Term a, Term b);
  bool equal_for_all_values(Term a, Term b);
  bool equal_by_signs(Term a, Term b, int depth);
  const Atom* only_operation(Term t) const;
  bool reaches_top(const Monomial& m) const;
  Term lengthened(const Monomial& m);
  std::optional<Bits> pieces(Term t);
  std::optional<Bits> high_and_low(Term t);
  struct Choice {
    Term condition, yes, no;
  };
  std::optional<Choice> choice_of(Term t);
  bool is_chosen(Term t);
  void assume(Term truth, bool holds);
  std::optional<bool> truth_of(Term t, size_t known) const;
  std::optional<bool> truth_of_select(const Atom& atom, size_t known) const;
  bool is_possible() const;
  Term ordered_select(Term condition, Term a, Term b);
  struct Case;
  std::optional<Case> undecided_sign(Term t);
  Term rebuilt(Term t, Case& one);
  Term rebuilt_atom(int32_t number, Case& one);
  static uint32_t value(Operation op, const std::array<uint32_t, 3>& v, const std::array<int64_t, 2>& numbers);
  struct Values;
  using Column = std::vector<uint32_t>;  // a value for each assignment of unknown bits
  bool has_values(Term t) const;
  const Column& column(Term t, Values& values);
  void add_column(int32_t atom, Values& values, Column& product);

  const Rules rules_;
  std::vector<Sum> terms_;
  std::unordered_multimap<size_t, Term> term_of_;
  std::vector<size_t> hashes_;
  std::vector<Atom> atoms_;
  std::unordered_map<Atom, int32_t, HashAtom> atom_of_;
  std::unordered_map<Term, Bits> bits_;
  std::vector<Term> bits_order_;           // keys of bits_, as they were added
  std::vector<std::string> source_names_;  // of sources 2 * i + 1
  std::unordered_map<int32_t, Range> source_ranges_;
  std::unordered_map<Term, Range> ranges_;
  std::vector<Term> range_order_;  // keys of ranges_, as they were added
  std::vector<std::pair<Term, bool>> assumed_;
  bool float_rules_ = false;
};

}  // namespace aotc::tests::proof
