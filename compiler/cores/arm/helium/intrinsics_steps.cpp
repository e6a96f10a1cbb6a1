// SPDX-License-Identifier: Apache-2.0
// From instructions to steps: what each of them defines or stores, in C.
#include <array>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cores/arm/helium/intrinsics.h"
#include "cores/arm/thumb_text.h"

namespace aotc::cores::arm {

namespace {

constexpr int kSp = 13, kLr = 14;

MveType lanes_of(int bits) { return bits == 8 ? MveType::kI8 : bits == 16 ? MveType::kI16 : MveType::kI32; }

class MveReader {
 public:
  std::optional<std::vector<MveStep>> run(const std::vector<std::string>& lines, int parameters) {
    for (int p = 0; p < parameters; ++p) define(p, MveType::kWord, "", {});
    for (const std::string& line : written_out(lines)) {
      if (is_unwinding(line)) continue;
      if (is_comment(line)) {
        note(line.substr(2));
      } else if (line.back() == ':') {
        MveStep& label = add(MveStep::kLabel);
        label.label = std::atoi(line.c_str());
        if (pending_tail_ > 0) begin_tail();
      } else if (!instruction(line)) {
        return std::nullopt;
      }
    }
    if (!match_labels()) return std::nullopt;
    return std::move(steps_);
  }

 private:
  struct Comparison {
    MveUse left, right;
    bool immediate = true;  // the right side
    int64_t number = 0;
    bool known = false;
  };

  MveStep& add(MveStep::Kind kind) {
    steps_.emplace_back();
    steps_.back().kind = kind;
    return steps_.back();
  }

  MveStep& define(int to, MveType type, std::string text, std::vector<MveUse> uses) {
    MveStep& s = add(MveStep::kDefine);
    odd_lanes_.erase(to);
    s.to = to;
    s.type = type;
    s.text = std::move(text);
    s.uses = std::move(uses);
    return s;
  }

  void copy(int to, int from) {
    MveStep& s = define(to, MveType::kWord, "$0", {{from}});
    s.copy = s.sum = true;
  }

  // A pointer or an integer.
  void sum(int to, std::string text, std::vector<MveUse> uses, bool minus = false) {
    MveStep& s = define(to, MveType::kWord, std::move(text), std::move(uses));
    s.sum = true;
    s.minus = minus;
  }

  void advance(int base, int64_t by) {
    if (by != 0) advance(base, base, by);
  }

  void advance(int to, int from, int64_t by) {
    if (by == 0) return copy(to, from);
    sum(to, "", {{from}});
    steps_.back().moves = true;
    steps_.back().offset = by;
  }

  static int slot(int64_t offset) { return place::kStack + static_cast<int>(offset / 4); }
  static int vec(const std::string& text) { return place::kVector + (text[1] - '0'); }

  // Notes name registers; what is said of these is left out.
  void note(const std::string& text) {
    if (text.starts_with("taken at most")) return;
    std::string kept;
    size_t from = 0;
    while (from < text.size()) {
      size_t to = text.find(". ", from);
      to = to == std::string::npos ? text.size() : to + 1;
      std::string sentence = text.substr(from, to - from);
      from = to + 1;
      size_t mention = std::string::npos;
      for (size_t i = 0; i + 1 < sentence.size() && mention == std::string::npos; ++i) {
        const bool begins = i == 0 || sentence[i - 1] == ' ';
        const char c = sentence[i], next = sentence[i + 1];
        if (begins && ((c == 'r' || c == 'q') ? next >= '0' && next <= '9' : c == 'l' && next == 'r')) mention = i;
      }
      if (mention != std::string::npos) {
        const size_t cut = sentence.find_last_of(":,;", mention);
        if (cut == std::string::npos || cut > mention) continue;
        sentence = sentence.substr(0, cut) + ".";
      }
      kept += (kept.empty() ? "" : " ") + sentence;
    }
    if (!kept.empty() && kept != "On entry.") add(MveStep::kNote).text = kept;
  }

  // ---------------------------------------------------------------- instructions

  bool instruction(const std::string& line) {
    const size_t space = std::min(line.find(' '), line.size());
    name_ = line.substr(0, space);
    texts_ = pieces_of(line.substr(space));
    operands_.clear();
    for (const std::string& text : texts_) operands_.push_back(operand_of(text));
    if (name_ == "push" || name_ == "pop") return texts_[0].ends_with("-r11, lr}") || texts_[0].ends_with("-r11,lr}");
    if (name_[0] == 'v') return vector();
    if (name_ == "b" || (name_[0] == 'b' && name_.size() == 3 && name_ != "bic" && name_ != "bfi")) return branch();
    if (name_.starts_with("dls") || name_.starts_with("wls") || name_ == "le" || name_ == "letp") return loop();
    if (name_.starts_with("ldr") || name_.starts_with("str") || name_ == "ldmia" || name_ == "stmia") return memory();
    return scalar();
  }

  const TextOperand& operand(size_t i) const { return operands_[i]; }
  int reg(size_t i) const { return operands_[i].reg; }
  bool is_reg(size_t i) const { return i < operands_.size() && operands_[i].kind == TextOperand::kRegister; }

  bool scalar() {
    if (operands_.empty() || !is_reg(0)) return false;
    const int d = reg(0);
    if (name_ == "cmp") {
      compared_ = {{d}, {}, !is_reg(1), operand(1).number, true};
      if (is_reg(1)) compared_.right = {reg(1)};
      compared_.left.since = compared_.right.since = static_cast<int>(steps_.size());
      return true;
    }
    if (d == kSp) return name_ == "add" || name_ == "sub";
    if (name_ == "mov" || name_ == "movw") {
      if (is_reg(1)) {
        if (reg(1) == kSp) return false;
        copy(d, reg(1));
      } else {
        define(d, MveType::kWord, std::to_string(operand(1).number), {}).constant = true;
      }
      return true;
    }
    for (size_t i = 1; i < operands_.size(); ++i)
      if (is_reg(i) && reg(i) == kSp) return false;
    if (name_ == "add" || name_ == "sub" || name_ == "subs") {
      const bool add = name_ == "add";
      const char* sign = add ? "+" : "-";
      if (!is_reg(2)) {
        advance(d, reg(1), add ? operand(2).number : -operand(2).number);
      } else if (operands_.size() > 3) {
        if (!texts_[3].starts_with("lsl")) return false;
        sum(d, fmt::format("$0 {} $1 * {}", sign, int64_t{1} << operand(3).number), {{reg(1)}, {reg(2)}}, !add);
      } else {
        sum(d, fmt::format("$0 {} $1", sign), {{reg(1)}, {reg(2)}}, !add);
      }
      if (name_ == "subs") {
        compared_ = {{d}, {}, true, 0, true};
        compared_.left.since = static_cast<int>(steps_.size());
      }
      return true;
    }
    if (name_ == "mls") {
      sum(d, "$2 - $0 * $1", {{reg(1)}, {reg(2)}, {reg(3)}});
      return true;
    }
    if (name_ == "csel") {
      auto [text, uses] = condition(texts_[3], 2);
      if (text.empty()) return false;
      uses.insert(uses.begin(), {{reg(1)}, {reg(2)}});
      sum(d, text + " ? $0 : $1", std::move(uses));
      return true;
    }
    if (operands_.size() == 2 && name_ == "uxth") return word(d, "$0 & 0xFFFF", {{reg(1)}});
    if (operands_.size() != 3 || !is_reg(1)) return false;
    const std::string other = is_reg(2) ? "$1" : std::to_string(operand(2).number);
    std::vector<MveUse> uses = {{reg(1)}};
    if (is_reg(2)) uses.push_back({reg(2)});
    if (name_ == "lsl") return word(d, fmt::format("(int32_t)((uint32_t)$0 << {})", other), std::move(uses));
    if (name_ == "lsr") return word(d, fmt::format("(int32_t)((uint32_t)$0 >> {})", other), std::move(uses));
    if (name_ == "asr") return word(d, fmt::format("$0 >> {}", other), std::move(uses));
    if (name_ == "mul") return word(d, fmt::format("$0 * {}", other), std::move(uses));
    if (name_ == "and") return word(d, fmt::format("$0 & {}", other), std::move(uses));
    return false;
  }

  bool word(int to, std::string text, std::vector<MveUse> uses) {
    define(to, MveType::kWord, std::move(text), std::move(uses));
    return true;
  }

  bool memory() {
    const bool loads = name_[0] == 'l';
    std::vector<int> registers;
    size_t at = 1;
    if (name_.ends_with("mia")) {
      at = 0;
      registers = operand(1).list;
    } else if (name_ == "ldrd" || name_ == "strd") {
      at = 2;
      registers = {reg(0), reg(1)};
    } else if (name_ == "ldr" || name_ == "str") {
      registers = {reg(0)};
    } else {
      return false;
    }
    const TextOperand& where = operand(at);
    if (where.kind == TextOperand::kAddress && where.index >= 0) return false;
    const int base = where.reg;
    int64_t offset = where.number;
    const bool many = at == 0;
    if (many) offset = 0;
    const bool before = !many && where.write_back;
    const int64_t after = many ? (where.write_back ? 4 * static_cast<int64_t>(registers.size()) : 0)
                               : (operands_.size() > at + 1 ? operand(at + 1).number : 0);
    if (base == kSp) {
      if (before || after != 0) return false;
      for (size_t i = 0; i < registers.size(); ++i) {
        const int there = slot(offset + 4 * static_cast<int64_t>(i));
        loads ? copy(registers[i], there) : copy(there, registers[i]);
      }
      return true;
    }
    if (!loads) return false;
    if (before) advance(base, std::exchange(offset, 0));
    // The base comes last if it is loaded, too.
    for (const bool last : {false, true})
      for (size_t i = 0; i < registers.size(); ++i) {
        if ((registers[i] == base) != last) continue;
        MveStep& s = define(registers[i], MveType::kWord, "*$A", {{base}});
        s.bytes = 4;
        s.offset = offset + 4 * static_cast<int64_t>(i);
      }
    advance(base, after);
    return true;
  }

  // ---------------------------------------------------------------- branches

  // Text and uses, of which the first is number `first`; empty if it is unknown what was compared.
  std::pair<std::string, std::vector<MveUse>> condition(const std::string& name, int first) const {
    static const std::map<std::string, const char*> kSigned = {{"eq", "=="}, {"ne", "!="}, {"gt", ">"}, {"ge", ">="},
                                                               {"lt", "<"},  {"le", "<="}, {"mi", "<"}, {"pl", ">="}};
    static const std::map<std::string, const char*> kUnsigned = {{"lo", "<"}, {"hs", ">="}, {"hi", ">"}, {"ls", "<="}};
    if (!compared_.known) return {};
    const bool is_unsigned = kUnsigned.contains(name);
    const auto& operators = is_unsigned ? kUnsigned : kSigned;
    const auto found = operators.find(name);
    if (found == operators.end()) return {};
    const char* mark = is_unsigned ? "$U" : "$";
    std::string right = fmt::format("{}{}", compared_.number, is_unsigned ? "u" : "");
    std::vector<MveUse> uses = {compared_.left};
    if (!compared_.immediate) {
      right = fmt::format("{}{}", mark, first + 1);
      uses.push_back(compared_.right);
    }
    return {fmt::format("{}{} {} {}", mark, first, found->second, right), std::move(uses)};
  }

  bool branch() {
    std::pair<std::string, std::vector<MveUse>> when;
    if (name_.size() > 1) {
      when = condition(name_.substr(1), 0);
      if (when.first.empty()) return false;
    }
    jump(std::move(when.first), std::move(when.second), texts_[0]);
    return true;
  }

  void jump(std::string text, std::vector<MveUse> uses, const std::string& label) {
    MveStep& s = add(MveStep::kBranch);
    s.text = std::move(text);
    s.uses = std::move(uses);
    s.label = std::atoi(label.c_str());
    s.backward = label.back() == 'b';
  }

  bool loop() {
    if (name_ == "le" || name_ == "letp") {
      advance(kLr, name_ == "le" ? -1 : -tail_);
      jump(name_ == "le" ? "$0 != 0" : "$0 > 0", {{kLr}}, texts_[1]);
      if (name_ == "letp") tail_ = 0;
      return true;
    }
    copy(kLr, reg(1));
    if (name_.starts_with("wls")) jump(name_ == "wls" ? "$0 == 0" : "$0 <= 0", {{kLr}}, texts_[2]);
    if (const size_t dot = name_.find('.'); dot != std::string::npos)
      pending_tail_ = 128 / std::atoi(name_.c_str() + dot + 1);
    return true;
  }

  // The lanes of an iteration of a tail-predicated loop.
  void begin_tail() {
    tail_ = std::exchange(pending_tail_, 0);
    lanes(place::kTail, 128 / tail_, kLr);
  }

  void lanes(int to, int bits, int count) {
    define(to, MveType::kPredicate, fmt::format("vctp{}q((uint32_t)$0)", bits), {{count}});
  }

  // Numbers labels by where they are: one number may be put down several times.
  bool match_labels() {
    std::map<int, int> last;
    for (size_t i = 0; i < steps_.size(); ++i) {
      MveStep& s = steps_[i];
      if (s.kind == MveStep::kLabel) last[s.label] = static_cast<int>(i);
      if (s.kind != MveStep::kBranch) continue;
      if (s.backward) {
        if (!last.contains(s.label)) return false;
        s.label = last[s.label];
        continue;
      }
      size_t to = i + 1;
      while (to < steps_.size() && (steps_[to].kind != MveStep::kLabel || steps_[to].label != s.label)) ++to;
      if (to == steps_.size()) return false;
      s.label = static_cast<int>(to);
    }
    for (size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].kind == MveStep::kLabel) steps_[i].label = static_cast<int>(i);
    return true;
  }

  // ---------------------------------------------------------------- vectors

  bool vector() {
    const size_t dot = name_.find('.');
    std::string op = name_.substr(0, dot), type = dot == std::string::npos ? "" : name_.substr(dot + 1);
    const bool is_signed = type.empty() || type[0] != 'u';
    const int bits = type.empty() ? 32 : std::atoi(type.c_str() + (type[0] >= '0' && type[0] <= '9' ? 0 : 1));
    if (op.starts_with("vps") && op != "vpsel") {
      predicated_ = static_cast<int>(op.size()) - 3;
      return true;
    }
    if (op == "vpt") return compare_vectors(bits);
    if (op == "vctp") {
      lanes(place::kPredicate, bits, reg(0));
      return true;
    }
    const bool masked = predicated_ > 0;
    if (masked) {
      --predicated_;
      op.pop_back();
    }
    if (type.find("f32") != std::string::npos) return !masked && floats(op, type);
    if (op == "vldrb" || op == "vldrh" || op == "vldrw") return load(op, bits, masked);
    if (op == "vstrb" || op == "vstrh" || op == "vstrw") return store(op, bits, masked);
    if (op.starts_with("vld4") || op.starts_with("vst4") || op.starts_with("vst2")) return interleaved(op, bits);
    if (op == "vmladav" || op == "vmladava") return !masked && product(op, bits);
    if (op == "vmov" && type.empty()) return !masked && move();
    if (op == "vmov" && bits == 32 && texts_[0].back() == ']') return !masked && set_lane();
    return lanewise(op, bits, is_signed, masked);
  }

  bool compare_vectors(int bits) {
    const std::string condition = texts_[0];
    std::vector<MveUse> uses = {{vec(texts_[1]), lanes_of(bits)}};
    const std::string other = texts_[2] == "zr" ? "0" : argument(2, bits, true, uses);
    define(place::kPredicate, MveType::kPredicate,
           fmt::format("vcmp{}q{}_s{}($0, {})", condition, texts_[2][0] == 'q' ? "" : "_n", bits, other),
           std::move(uses));
    predicated_ = 1;
    return true;
  }

  // Adds the address of operand `i` to a step; its base is the first use.
  bool address(MveStep& s, size_t i, int bytes) {
    const TextOperand& where = operand(i);
    if (where.kind != TextOperand::kAddress || where.reg == kSp) return false;
    s.bytes = bytes;
    s.offset = where.write_back ? 0 : where.number;
    return true;
  }

  bool indexed(size_t i) const { return texts_[i].find('q') != std::string::npos; }
  // Where the vector of offsets of an indexed address is.
  MveUse offsets(size_t i, int bits) const { return {vec(texts_[i].substr(texts_[i].find('q'))), lanes_of(bits)}; }

  // The predicate of loads and stores, if they have one.
  std::optional<MveUse> mask(bool masked) const {
    if (masked) return MveUse{place::kPredicate, MveType::kPredicate};
    if (tail_ > 0) return MveUse{place::kTail, MveType::kPredicate};
    return std::nullopt;
  }

  bool load(const std::string& op, int bits, bool masked) {
    const TextOperand& where = operand(1);
    const int element = op == "vldrb" ? 1 : op == "vldrh" ? 2 : 4;
    if (where.kind != TextOperand::kAddress || where.reg == kSp) return false;
    if (where.write_back) advance(where.reg, where.number);
    std::vector<MveUse> uses = {{where.reg}};
    const char* form = "";
    std::string more;
    if (indexed(1)) {
      if (element != 4) return false;
      form = "_gather_offset";
      more = ", vreinterpretq_u32_s32($1)";
      uses.push_back(offsets(1, 32));
    }
    if (const auto m = mask(masked)) {
      if (indexed(1)) return false;
      form = "_z";
      more += fmt::format(", ${}", uses.size());
      uses.push_back(*m);
    }
    MveStep& s =
        define(vec(texts_[0]), lanes_of(bits), fmt::format("{}q{}_s{}($A{})", op, form, bits, more), std::move(uses));
    s.bytes = element;
    s.offset = where.write_back || indexed(1) ? 0 : where.number;
    if (operands_.size() > 2) advance(where.reg, operand(2).number);
    return true;
  }

  bool store(const std::string& op, int bits, bool masked) {
    const TextOperand& where = operand(1);
    if (where.kind != TextOperand::kAddress || where.reg == kSp || where.write_back) return false;
    std::string form = indexed(1) ? "_scatter_offset" : "", between;
    std::vector<MveUse> uses = {{where.reg}};
    if (indexed(1)) {
      between = fmt::format(", vreinterpretq_u{0}_s{0}($1)", bits);
      uses.push_back(offsets(1, bits));
    }
    between += fmt::format(", ${}", uses.size());
    uses.push_back({vec(texts_[0]), lanes_of(bits)});
    if (const auto m = mask(masked)) {
      form += "_p";
      between += fmt::format(", ${}", uses.size());
      uses.push_back(*m);
    }
    MveStep& s = add(MveStep::kStore);
    s.text = fmt::format("{}q{}_s{}($A{})", op, form, bits, between);
    s.uses = std::move(uses);
    s.bytes = op == "vstrb" ? 1 : op == "vstrh" ? 2 : 4;
    s.offset = indexed(1) ? 0 : where.number;
    if (operands_.size() > 2) advance(where.reg, operand(2).number);
    return true;
  }

  // The parts of one access are one intrinsic, which stands where the last part does.
  bool interleaved(const std::string& op, int bits) {
    const int count = op[3] - '0', part = op[4] - '0';
    if (part != count - 1) return true;
    const int first = vec(texts_[0].substr(1)), base = operand(1).reg;
    const std::string whole = op.substr(0, 4);
    std::vector<MveUse> each;
    std::string values;
    for (int i = 0; i < count; ++i) {
      each.push_back({first + i, lanes_of(bits)});
      values += fmt::format("{}${}", i > 0 ? ", " : "", i);
    }
    if (op[1] == 'l') {
      MveStep& s = define(place::kLanes, MveType::kLanes, fmt::format("{}q_s{}($A)", whole, bits), {{base}});
      s.bytes = bits / 8;
      s.lanes = fmt::format("int{}x{}x{}_t", bits, 128 / bits, count);
      for (int i = 0; i < count; ++i)
        define(first + i, lanes_of(bits), fmt::format("$0.val[{}]", i), {{place::kLanes, MveType::kLanes}});
    } else {
      MveStep& v = define(place::kLanes, MveType::kLanes, "{{" + values + "}}", std::move(each));
      v.lanes = fmt::format("int{}x{}x{}_t", bits, 128 / bits, count);
      MveStep& s = add(MveStep::kStore);
      s.text = fmt::format("{}q_s{}($A, $1)", whole, bits);
      s.uses = {{base}, {place::kLanes, MveType::kLanes}};
      s.bytes = bits / 8;
    }
    if (operand(1).write_back) advance(base, count * 16);
    return true;
  }

  bool product(const std::string& op, int bits) {
    const MveType lanes = lanes_of(bits);
    std::vector<MveUse> uses = {{vec(texts_[1]), lanes}, {vec(texts_[2]), lanes}};
    std::string text = fmt::format("{}q_s{}($0, $1)", op, bits);
    if (op.back() == 'a' && op != "vmladav") {
      uses.insert(uses.begin(), {reg(0)});
      text = fmt::format("{}q_s{}($0, $1, $2)", op, bits);
    }
    return word(reg(0), std::move(text), std::move(uses));
  }

  // Vectors, and four words into the lanes of a vector: two instructions, of which the second completes the step.
  bool move() {
    if (operands_.size() == 2) {
      MveStep& s = define(vec(texts_[0]), MveType::kNone, "$0", {{vec(texts_[1]), MveType::kNone}});
      s.copy = true;
      return true;
    }
    const int d = vec(texts_[0]);
    if (texts_[0].substr(2) == "[2]") {
      even_lanes_ = {reg(2), reg(3)};
      return true;
    }
    if (texts_[0].substr(2) != "[3]") return false;
    define(d, MveType::kI32, "vsetq_lane_s32($3, vsetq_lane_s32($2, vsetq_lane_s32($1, vdupq_n_s32($0), 1), 2), 3)",
           {{even_lanes_[0]}, {reg(2)}, {even_lanes_[1]}, {reg(3)}});
    return true;
  }

  bool set_lane() {
    const int d = vec(texts_[0]);
    define(d, MveType::kI32, fmt::format("vsetq_lane_s32($1, $0, {})", texts_[0][3]), {{d, MveType::kI32}, {reg(1)}});
    return true;
  }

  // An operand as an argument: a vector, or a number that all lanes take.
  std::string argument(size_t i, int bits, bool is_signed, std::vector<MveUse>& uses) const {
    const size_t n = uses.size();
    if (texts_[i][0] == 'q') {
      uses.push_back({vec(texts_[i]), lanes_of(bits)});
      return is_signed ? fmt::format("${}", n) : fmt::format("vreinterpretq_u{0}_s{0}(${1})", bits, n);
    }
    if (!is_reg(i)) return std::to_string(operand(i).number);
    uses.push_back({reg(i)});
    if (bits == 32 && is_signed) return fmt::format("${}", n);
    return fmt::format("({}int{}_t)${}", is_signed ? "" : "u", bits, n);
  }

  // Lanes of float32 are bits of int32 between the instructions.
  bool floats(const std::string& op, const std::string& type) {
    std::vector<MveUse> uses;
    auto lanes = [&](size_t i) {
      const size_t n = uses.size();
      const bool vector = texts_[i][0] == 'q';
      uses.push_back(vector ? MveUse{vec(texts_[i]), MveType::kI32} : MveUse{reg(i)});
      return vector ? fmt::format("vreinterpretq_f32_s32(${})", n)
                    : fmt::format("vreinterpretq_f32_s32(vdupq_n_s32(${}))", n);
    };
    std::string text;
    if (op == "vcvt" && type == "f32.s32") {
      text = "vreinterpretq_s32_f32(vcvtq_f32_s32($0))";
      uses = {{vec(texts_[1]), MveType::kI32}};
    } else if (op == "vcvtn" && type == "s32.f32") {
      text = fmt::format("vcvtnq_s32_f32({})", lanes(1));
    } else if (op == "vmul" && type == "f32") {
      const std::string left = lanes(1);
      text = fmt::format("vreinterpretq_s32_f32(vmulq_f32({}, {}))", left, lanes(2));
    } else {
      return false;
    }
    define(vec(texts_[0]), MveType::kI32, std::move(text), std::move(uses));
    return true;
  }

  bool lanewise(const std::string& op, int bits, bool is_signed, bool masked) {
    // Operations whose destination is an operand, too, and results of another size.
    static const std::map<std::string, int> kReadsDestination = {{"vmla", 1},      {"vmlas", 1},    {"vqdmlash", 1},
                                                                 {"vqrdmlash", 1}, {"vqmovnb", -1}, {"vqmovnt", -1},
                                                                 {"vqrshrnb", -1}, {"vqrshrnt", -1}};
    static const std::map<std::string, const char*> kWidens = {
        {"vmullb", "vmullbq_int"}, {"vmullt", "vmulltq_int"}, {"vmovlb", "vmovlbq"}, {"vmovlt", "vmovltq"}};
    static const std::map<std::string, int> kOthers = {
        {"vadd", 3},   {"vsub", 3},  {"vmul", 3}, {"vqadd", 3}, {"vqdmulh", 3}, {"vqrdmulh", 3}, {"vmulh", 3},
        {"vrmulh", 3}, {"vmax", 3},  {"vmin", 3}, {"vhadd", 3}, {"vshl", 3},    {"vrshl", 3},    {"vshr", 3},
        {"vrshr", 3},  {"vqshl", 3}, {"vabs", 2}, {"vneg", 2},  {"vmvn", 2},    {"vdup", 2},     {"vmov", 2}};
    const int d = vec(texts_[0]);
    const std::string suffix = fmt::format("_{}{}", is_signed ? 's' : 'u', bits);
    std::vector<MveUse> uses;
    std::string text;
    MveType result = lanes_of(bits);
    if (op == "vpsel") {
      uses = {{vec(texts_[1]), MveType::kI8}, {vec(texts_[2]), MveType::kI8}, {place::kPredicate, MveType::kPredicate}};
      define(d, MveType::kI8, "vpselq_s8($0, $1, $2)", std::move(uses));
      return true;
    }
    if (op == "vshlc") {
      define(place::kCarry, MveType::kCarry, "(uint32_t)$0", {{reg(1)}});
      define(d, MveType::kI32, fmt::format("vshlcq_s32($0, &$1, {})", operand(2).number),
             {{d, MveType::kI32}, {place::kCarry, MveType::kCarry}});
      define(reg(1), MveType::kWord, "(int32_t)$0", {{place::kCarry, MveType::kCarry}});
      return true;
    }
    if (op == "vbic") {
      // The number is unsigned.
      define(d, result,
             fmt::format("vreinterpretq_s{0}_u{0}(vbicq_n_u{0}(vreinterpretq_u{0}_s{0}($0), {1}))", bits,
                         operand(1).number),
             {{d, result}});
      return true;
    }
    if (const auto reads = kReadsDestination.find(op); reads != kReadsDestination.end()) {
      if (masked) return false;
      const bool narrows = reads->second < 0;
      if (narrows) result = lanes_of(bits / 2);
      // The even lanes are written before the odd ones, which need not be anything before that.
      const bool begins = narrows && op.back() == 'b' && !odd_lanes_.contains(d);
      uses.push_back({begins ? vec(texts_[1]) : d, result});
      std::string arguments = "$0";
      for (size_t i = 1; i < texts_.size(); ++i) arguments += ", " + argument(i, bits, true, uses);
      const bool number = texts_.back()[0] != 'q';
      define(d, result, fmt::format("{}q{}{}({})", op, number ? "_n" : "", suffix, arguments), std::move(uses));
      if (narrows && op.back() == 't') odd_lanes_.insert(d);
      return true;
    }
    if (const auto widens = kWidens.find(op); widens != kWidens.end()) {
      if (masked) return false;
      std::string arguments;
      for (size_t i = 1; i < texts_.size(); ++i) arguments += (i > 1 ? ", " : "") + argument(i, bits, true, uses);
      define(d, lanes_of(2 * bits), fmt::format("{}{}({})", widens->second, suffix, arguments), std::move(uses));
      return true;
    }
    const auto other = kOthers.find(op);
    if (other == kOthers.end()) return false;
    // Without its first operand an instruction reads its destination.
    const bool same = static_cast<int>(texts_.size()) < other->second;
    std::string arguments;
    if (masked) {
      uses.push_back({d, result});
      arguments = is_signed ? "$0" : fmt::format("vreinterpretq_u{0}_s{0}($0)", bits);
    }
    for (size_t i = same ? 0 : 1; i < texts_.size(); ++i)
      arguments += (arguments.empty() ? "" : ", ") + argument(i, bits, is_signed, uses);
    const bool number = texts_.back()[0] != 'q';
    if (masked) {
      arguments += fmt::format(", ${}", uses.size());
      uses.push_back({place::kPredicate, MveType::kPredicate});
    }
    const std::string base = op == "vmov" ? "vdup" : op;
    // Shifts by a register have names of their own.
    const char* kind = !number ? "" : (op == "vshl" || op == "vqshl") && is_reg(texts_.size() - 1) ? "_r" : "_n";
    text = fmt::format("{}q{}{}{}({})", base, masked ? "_m" : "", kind, suffix, arguments);
    if (!is_signed) text = fmt::format("vreinterpretq_s{0}_u{0}({1})", bits, text);
    define(d, result, std::move(text), std::move(uses));
    return true;
  }

  std::vector<MveStep> steps_;
  std::string name_;
  std::vector<std::string> texts_;
  std::vector<TextOperand> operands_;
  Comparison compared_;
  std::array<int, 2> even_lanes_ = {};
  std::set<int> odd_lanes_;          // vectors whose odd lanes were narrowed last
  int predicated_ = 0;               // further instructions with the predicate
  int tail_ = 0, pending_tail_ = 0;  // lanes of the tail-predicated loop
};

}  // namespace

std::optional<std::vector<MveStep>> mve_steps(const std::vector<std::string>& lines, int parameters) {
  return MveReader().run(lines, parameters);
}

}  // namespace aotc::cores::arm
