// SPDX-License-Identifier: Apache-2.0
// From steps and variables to C: loops and conditions, names, declarations.
#include "cores/arm/helium/intrinsics.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "support/dtype.h"
#include "tir/visit.h"

namespace aotc::cores::arm {

namespace {

// A part of the text: a statement, or a loop or condition around others.
struct MveNode {
  enum Kind { kStep, kDoWhile, kForever, kIf, kBreak, kContinue } kind = kStep;
  size_t step = 0;       // of the statement, or the branch that has the condition; kForever has none
  bool negated = false;  // the condition
  std::vector<MveNode> body = {}, otherwise = {};
};

// ---------------------------------------------------------------- loops and conditions

class MveStructure {
 public:
  explicit MveStructure(const std::vector<MveStep>& steps) : steps_(steps) {}

  // nullopt if branches do not nest.
  std::optional<std::vector<MveNode>> run() {
    auto out = nodes(0, steps_.size(), {});
    if (failed_) return std::nullopt;
    return out;
  }

 private:
  struct Loop {
    std::optional<size_t> begin, end;  // the label of a loop without a condition; the step behind it
  };

  bool is_nothing(size_t i) const {
    return steps_[i].kind == MveStep::kLabel || steps_[i].kind == MveStep::kDropped || steps_[i].kind == MveStep::kNote;
  }
  // Whether nothing runs between both.
  bool same_place(size_t from, size_t to) const {
    for (size_t i = std::min(from, to); i < std::max(from, to); ++i)
      if (!is_nothing(i)) return false;
    return true;
  }

  std::vector<MveNode> nodes(size_t from, size_t to, const Loop& loop) {
    std::vector<MveNode> out;
    for (size_t i = from; i < to && !failed_; ++i) {
      const MveStep& s = steps_[i];
      if (s.kind == MveStep::kLabel) {
        i = std::max(i, loop_at(i, to, out));
      } else if (s.kind == MveStep::kBranch) {
        i = branch(i, to, loop, out);
      } else if (s.kind != MveStep::kDropped) {
        out.push_back({MveNode::kStep, i});
      }
    }
    return out;
  }

  // Adds the loop that begins at the label, if one does; returns its last step.
  size_t loop_at(size_t label, size_t to, std::vector<MveNode>& out) {
    size_t last = label;
    int jumps = 0;
    for (size_t i = label + 1; i < to; ++i)
      if (steps_[i].kind == MveStep::kBranch && steps_[i].backward && steps_[i].label == static_cast<int>(label)) {
        last = i;
        ++jumps;
      }
    if (jumps == 0) return label;
    const bool conditional = !steps_[last].text.empty();
    MveNode node;
    if (conditional && jumps == 1) {
      node = {MveNode::kDoWhile, last};
      node.body = nodes(label + 1, last, {std::nullopt, last + 1});
    } else {
      node = {MveNode::kForever, last};
      node.body = nodes(label + 1, last, {label, last + 1});
      if (conditional) node.body.push_back({MveNode::kBreak, last, true});
    }
    out.push_back(std::move(node));
    return last;
  }

  // Returns the last step that it covers.
  size_t branch(size_t i, size_t to, const Loop& loop, std::vector<MveNode>& out) {
    const MveStep& s = steps_[i];
    const auto target = static_cast<size_t>(s.label);
    if (s.backward) {
      failed_ = failed_ || !loop.begin || *loop.begin != target;
      out.push_back({MveNode::kContinue, i});
      return i;
    }
    if (target > to) {
      failed_ = failed_ || !loop.end || !same_place(target, *loop.end);
      out.push_back({MveNode::kBreak, i});
      return i;
    }
    if (s.text.empty()) {
      failed_ = failed_ || !same_place(i + 1, target);
      return i;
    }
    MveNode node{MveNode::kIf, i, true};
    size_t end = target;
    while (end > i + 1 && is_nothing(end - 1)) --end;
    const MveStep& last = steps_[end - 1];
    const bool has_else = end - 1 > i && last.kind == MveStep::kBranch && !last.backward && last.text.empty() &&
                          static_cast<size_t>(last.label) <= to;
    node.body = nodes(i + 1, has_else ? end - 1 : target, loop);
    if (has_else) node.otherwise = nodes(target, static_cast<size_t>(last.label), loop);
    out.push_back(std::move(node));
    return (has_else ? static_cast<size_t>(last.label) : target) - 1;
  }

  const std::vector<MveStep>& steps_;
  bool failed_ = false;
};

// ---------------------------------------------------------------- C

const char* c_type_of(MveType type) {
  switch (type) {
    case MveType::kPredicate: return "mve_pred16_t";
    case MveType::kCarry: return "uint32_t";
    case MveType::kI8: return "int8x16_t";
    case MveType::kI16: return "int16x8_t";
    case MveType::kI32: return "int32x4_t";
    default: return "int32_t";
  }
}

int bits_of(MveType type) {
  return type == MveType::kI8 ? 8 : type == MveType::kI16 ? 16 : type == MveType::kI32 ? 32 : 0;
}

// The names that a kernel's meaning gives to words of its tables, by parameter and word.
std::map<std::pair<const tir::Buffer*, int64_t>, std::string> word_names(const tir::Function& meaning) {
  std::map<std::pair<const tir::Buffer*, int64_t>, std::string> out;
  tir::for_each_stmt(*meaning.body, [&](const tir::Stmt& s) {
    if (s.kind != tir::StmtKind::kDeclare) return;
    const auto& declared = static_cast<const tir::Declare&>(s);
    std::vector<const tir::Load*> loads;
    auto find = [&](auto& self, const tir::Expr& e) -> void {
      if (e.kind == tir::ExprKind::kLoad) loads.push_back(static_cast<const tir::Load*>(&e));
      else tir::for_each_operand(e, [&](const tir::Expr& part) { self(self, part); });
    };
    find(find, *declared.init);
    const tir::Expr* value = declared.init.get();
    if (value->kind == tir::ExprKind::kBinary && static_cast<const tir::Binary*>(value)->op == tir::BinaryOp::kShr)
      value = static_cast<const tir::Binary*>(value)->lhs.get();
    if (loads.size() != 1 || value != loads[0] || loads[0]->index->kind != tir::ExprKind::kIntImm) return;
    out.try_emplace({loads[0]->buffer.get(), static_cast<const tir::IntImm&>(*loads[0]->index).value},
                    declared.var->name);
  });
  return out;
}

class MvePrinter {
 public:
  MvePrinter(const tir::Function& meaning, std::vector<MveStep> steps, std::vector<MveValue> values)
      : meaning_(meaning), steps_(std::move(steps)), values_(std::move(values)), words_(word_names(meaning)) {
    parameter_of_.assign(values_.size(), -1);
    declared_.assign(values_.size(), false);
    names_.resize(values_.size());
    lanes_.resize(values_.size());
    const size_t parameters = meaning_.params.size() + meaning_.scalars.size();
    for (size_t p = 0; p < parameters; ++p) {
      used_.insert(parameter_name(p));
      if (steps_[p].kind != MveStep::kDropped)
        parameter_of_[static_cast<size_t>(steps_[p].value)] = static_cast<int>(p);
    }
  }

  std::vector<std::string> run(std::vector<MveNode> nodes) {
    find_tables();
    name_values();
    for (size_t p = 0; p < meaning_.params.size() + meaning_.scalars.size(); ++p)
      if (steps_[p].kind == MveStep::kDropped) line("(void){};", parameter_name(p));
    blocks_.push_back({-1, 0});
    place_uses(nodes, 0);
    find_blocks();
    print(nodes, 0);
    return std::move(lines_);
  }

 private:
  struct BlockPlace {
    int parent = -1;
    size_t node = 0;  // of the parent, that the block is part of
  };
  // Where a value is used or defined.
  struct Occurrence {
    int block = 0;
    size_t node = 0;
    bool defines = false;  // and nothing else
  };

  template <typename... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    lines_.push_back(std::string(static_cast<size_t>(4 * depth_), ' ') +
                     fmt::format(text, std::forward<Args>(args)...));
  }

  const MveValue& value(int number) const { return values_[static_cast<size_t>(number)]; }
  std::string& name(int number) { return names_[static_cast<size_t>(number)]; }

  // ---- parameters

  std::string parameter_name(size_t p) const {
    return p < meaning_.params.size() ? meaning_.params[p]->name : meaning_.scalars[p - meaning_.params.size()]->name;
  }
  bool is_constant(size_t p) const {
    return meaning_.params[p]->role == tir::Role::kInput || meaning_.params[p]->role == tir::Role::kConstant;
  }
  int64_t element_bytes(size_t p) const { return size_of(meaning_.params[p]->dtype); }
  // Intrinsics take pointers to signed integers.
  bool is_signed(size_t p) const {
    const DType type = meaning_.params[p]->dtype;
    return type == DType::kI8 || type == DType::kI16 || type == DType::kI32;
  }
  bool is_pointer(size_t p) const { return p < meaning_.params.size(); }

  // A parameter is read as a table if it never changes and all addresses are those of its elements.
  void find_tables() {
    tables_.assign(values_.size(), -1);
    for (size_t v = 0; v < values_.size(); ++v)
      if (const int p = parameter_of_[v]; p >= 0 && is_pointer(static_cast<size_t>(p)) && values_[v].definitions == 1 &&
                                          is_signed(static_cast<size_t>(p)))
        tables_[v] = p;
    for (const MveStep& s : steps_)
      for (size_t u = 0; u < s.uses.size() && s.kind != MveStep::kDropped; ++u) {
        const int v = s.uses[u].value;
        if (v < 0 || tables_[static_cast<size_t>(v)] < 0) continue;
        const auto elements = element_bytes(static_cast<size_t>(tables_[static_cast<size_t>(v)]));
        if (u != 0 || s.bytes != elements || s.offset % elements != 0) tables_[static_cast<size_t>(v)] = -1;
      }
  }

  // Whether the variable is the parameter itself, which addresses bytes.
  bool is_parameter(int v) const {
    const int p = parameter_of_[static_cast<size_t>(v)];
    if (p < 0) return false;
    if (!is_pointer(static_cast<size_t>(p)) || tables_[static_cast<size_t>(v)] >= 0) return true;
    return meaning_.params[static_cast<size_t>(p)]->dtype == DType::kI8 &&
           is_constant(static_cast<size_t>(p)) == is_constant_pointer(v);
  }

  bool is_constant_pointer(int v) const {
    for (size_t p = 0; p < meaning_.params.size(); ++p)
      if ((value(v).parameters >> p & 1) != 0 && is_constant(p)) return true;
    return false;
  }

  // ---- names

  std::string unique(const std::string& base) {
    std::string out = base;
    for (int n = 2; !used_.insert(out).second; ++n) out = fmt::format("{}{}", base, n);
    return out;
  }

  std::string pointer_name(int v) const {
    for (size_t p = 0; p < meaning_.params.size(); ++p)
      if ((value(v).parameters >> p & 1) != 0) return parameter_name(p) + "_at";
    return "at";
  }

  // By what a variable is first.
  std::string base_name(const MveStep& s) {
    const int v = s.value;
    if (value(v).pointer) return pointer_name(v);
    switch (value(v).type) {
      case MveType::kPredicate: return "lanes";
      case MveType::kCarry: return "carry";
      case MveType::kLanes: return "rows";
      case MveType::kWord: break;
      default:
        if (s.text.starts_with("vld") && s.uses[0].value >= 0 && value(s.uses[0].value).parameters != 0) {
          const std::string from = pointer_name(s.uses[0].value);
          return from.substr(0, from.size() - 3) + "_v";
        }
        return "v";
    }
    if (s.text.starts_with("vmladav")) return "sum";
    if (s.copy && s.uses[0].value >= 0) {
      const std::string& from = name(s.uses[0].value);
      return from.empty() || from[0] <= '9' ? "left" : from + "_left";
    }
    if (s.text.starts_with("*") && s.uses[0].value >= 0) {
      const int p = tables_[static_cast<size_t>(s.uses[0].value)];
      if (p >= 0) {
        const auto found = words_.find({meaning_.params[static_cast<size_t>(p)].get(), s.offset / 4});
        return found != words_.end() ? found->second
                                     : fmt::format("{}{}", parameter_name(static_cast<size_t>(p)), s.offset / 4);
      }
      return "word";
    }
    return "n";
  }

  void name_values() {
    for (MveStep& s : steps_) {
      if (s.value < 0 || s.kind == MveStep::kDropped) continue;
      const auto v = static_cast<size_t>(s.value);
      if (s.constant && values_[v].definitions == 1) {
        names_[v] = s.text;
        s.kind = MveStep::kDropped;
        continue;
      }
      if (!s.lanes.empty()) lanes_[v] = s.lanes;
      if (!names_[v].empty()) continue;
      names_[v] = is_parameter(s.value) ? parameter_name(static_cast<size_t>(parameter_of_[v])) : unique(base_name(s));
    }
  }

  std::string declaration(int v) const {
    if (value(v).pointer) return fmt::format("{}int8_t *", is_constant_pointer(v) ? "const " : "");
    if (value(v).type == MveType::kLanes) return lanes_[static_cast<size_t>(v)] + " ";
    return fmt::format("{} ", c_type_of(value(v).type));
  }

  // ---- declarations

  template <typename F>
  void for_each_value(const MveStep& s, F f) {
    for (const MveUse& use : s.uses)
      if (use.value >= 0) f(use.value);
  }

  void place_uses(const std::vector<MveNode>& nodes, int block) {
    for (size_t i = 0; i < nodes.size(); ++i) {
      const MveNode& node = nodes[i];
      auto inside = [&](const std::vector<MveNode>& body) {
        blocks_.push_back({block, i});
        place_uses(body, static_cast<int>(blocks_.size()) - 1);
      };
      if (node.kind == MveNode::kDoWhile || node.kind == MveNode::kForever) inside(node.body);
      if (node.kind != MveNode::kForever) {
        const MveStep& s = steps_[node.step];
        if (s.kind == MveStep::kDropped) continue;
        for_each_value(s, [&](int v) { occurrences_[v].push_back({block, i, false}); });
        if (s.kind == MveStep::kDefine) {
          bool reads = false;
          for_each_value(s, [&](int v) { reads = reads || v == s.value; });
          occurrences_[s.value].push_back({block, i, !reads});
        }
      }
      if (node.kind == MveNode::kIf) {
        inside(node.body);
        inside(node.otherwise);
      }
    }
  }

  // The common block of two occurrences, and the first one's node there.
  std::pair<int, size_t> common(int block, size_t node, const Occurrence& other) const {
    auto depth = [&](int b) {
      int out = 0;
      for (; b > 0; b = blocks_[static_cast<size_t>(b)].parent) ++out;
      return out;
    };
    auto up = [&](int& b, size_t& n) {
      n = blocks_[static_cast<size_t>(b)].node;
      b = blocks_[static_cast<size_t>(b)].parent;
    };
    int b = other.block;
    size_t n = other.node;
    while (depth(block) > depth(b)) up(block, node);
    while (depth(b) > depth(block)) up(b, n);
    while (b != block) {
      up(block, node);
      up(b, n);
    }
    return {block, std::min(node, n)};
  }

  // Where each variable has to be declared: at a definition, or before a node.
  void find_blocks() {
    for (const auto& [v, all] : occurrences_) {
      if (is_parameter(v) || name(v)[0] <= '9') continue;
      int block = all[0].block;
      size_t node = all[0].node;
      for (const Occurrence& o : all) std::tie(block, node) = common(block, node, o);
      const bool at_definition = all[0].block == block && all[0].node == node && all[0].defines;
      if (!at_definition) before_[{block, node}].push_back(v);
    }
  }

  // ---- text

  std::string used(const MveUse& use) {
    const int to = bits_of(use.type);
    if (use.value < 0) {
      if (to == 0) return "0";
      return fmt::format("vdupq_n_s{}(0)", to);
    }
    const std::string& n = name(use.value);
    const int from = bits_of(value(use.value).type);
    return to == 0 || to == from ? n : fmt::format("vreinterpretq_s{}_s{}({})", to, from, n);
  }

  std::string address(const MveStep& s, bool writes) {
    const int v = s.uses[0].value;
    if (v < 0) return "0";
    const std::string& n = name(v);
    const bool table = tables_[static_cast<size_t>(v)] >= 0;
    const int64_t offset = table ? s.offset / s.bytes : s.offset;
    const std::string at = offset == 0  ? n
                           : offset > 0 ? fmt::format("{} + {}", n, offset)
                                        : fmt::format("{} - {}", n, -offset);
    if (table || s.bytes == 1) return at;
    return fmt::format("({}int{}_t *){}", writes ? "" : "const ", 8 * s.bytes,
                       offset == 0 ? at : fmt::format("({})", at));
  }

  std::string text_of(const MveStep& s) {
    if (s.text.starts_with("*") && s.uses[0].value >= 0 && tables_[static_cast<size_t>(s.uses[0].value)] >= 0)
      return fmt::format("{}[{}]", name(s.uses[0].value), s.offset / s.bytes);
    std::string out;
    for (size_t i = 0; i < s.text.size(); ++i) {
      if (s.text[i] != '$') {
        out += s.text[i];
        continue;
      }
      ++i;
      if (s.text[i] == 'A') {
        const std::string at = address(s, s.kind == MveStep::kStore);
        out += at;
        continue;
      }
      const bool is_unsigned = s.text[i] == 'U';
      if (is_unsigned) ++i;
      const MveUse& use = s.uses[static_cast<size_t>(s.text[i] - '0')];
      if (is_unsigned && use.value >= 0 && !value(use.value).pointer) out += "(uint32_t)";
      out += used(use);
    }
    if (s.kind == MveStep::kDefine && bits_of(s.type) != 0 && bits_of(s.type) != bits_of(value(s.value).type))
      out = fmt::format("vreinterpretq_s{}_s{}({})", bits_of(value(s.value).type), bits_of(s.type), out);
    return out;
  }

  std::string condition(const MveNode& node) {
    const MveStep& s = steps_[node.step];
    std::string text = text_of(s);
    if (!node.negated) return text;
    static constexpr std::pair<const char*, const char*> kOpposites[] = {
        {" == ", " != "}, {" != ", " == "}, {" <= ", " > "}, {" >= ", " < "}, {" < ", " >= "}, {" > ", " <= "}};
    for (const auto& [operation, opposite] : kOpposites)
      if (const size_t at = text.find(operation); at != std::string::npos)
        return text.replace(at, std::string(operation).size(), opposite);
    return "!(" + text + ")";
  }

  // gcc moves the loads of many steps together and then lacks registers, unless a fence keeps it from that. Nothing is
  // to be ordered for other threads, so that it is no instruction.
  void fence(const MveStep& s) {
    constexpr int kTogether = 3;
    const bool computes = s.kind == MveStep::kDefine && s.text[0] == 'v';
    if (!computes) return;
    if (s.text.find("vld") == std::string::npos) {
      computed_ = true;
      return;
    }
    if (!std::exchange(computed_, false) || ++loads_ < kTogether) return;
    loads_ = 0;
    if (!std::exchange(fenced_, true))
      line("/* Compilers move no loads across fences, and so need fewer registers. */");
    line("__atomic_signal_fence(__ATOMIC_SEQ_CST);");
  }

  void statement(const MveStep& s) {
    if (s.kind == MveStep::kDropped) return;
    fence(s);
    if (s.kind == MveStep::kNote) return line("/* {} */", s.text);
    if (s.kind == MveStep::kStore) return line("{};", text_of(s));
    const int v = s.value;
    const bool entry = s.text.empty() && !s.moves;
    if (entry && is_parameter(v)) return;
    std::string text = entry ? "" : text_of(s);
    if (s.moves) {
      text = fmt::format("{} {} {}", used(s.uses[0]), s.offset < 0 ? '-' : '+', s.offset < 0 ? -s.offset : s.offset);
    } else if (entry) {
      const auto p = static_cast<size_t>(&s - steps_.data());
      text = fmt::format("({}int8_t *){}", is_constant_pointer(v) ? "const " : "", parameter_name(p));
    }
    if (is_parameter(v) || declared_[static_cast<size_t>(v)]) {
      const std::string self = name(v) + " ";
      if (text.starts_with(self + "+ ") || text.starts_with(self + "- "))
        return line("{}{}= {};", self, text[self.size()], text.substr(self.size() + 2));
      return line("{} = {};", name(v), text);
    }
    declared_[static_cast<size_t>(v)] = true;
    const bool constant = value(v).definitions == 1 && value(v).type != MveType::kCarry;
    const std::string type = declaration(v);
    if (value(v).pointer) return line("{}{}{} = {};", type, constant ? "const " : "", name(v), text);
    line("{}{}{} = {};", constant ? "const " : "", type, name(v), text);
  }

  void print(const std::vector<MveNode>& nodes, int block) {
    computed_ = false;
    loads_ = 0;
    // Blocks are numbered in the order in which place_uses found them.
    for (size_t i = 0; i < nodes.size(); ++i) {
      const MveNode& node = nodes[i];
      if (const auto found = before_.find({block, i}); found != before_.end())
        for (const int v : found->second) {
          declared_[static_cast<size_t>(v)] = true;
          line("{}{};", declaration(v), name(v));
        }
      auto inside = [&](const std::vector<MveNode>& body) {
        ++depth_;
        print(body, ++last_block_);
        --depth_;
      };
      switch (node.kind) {
        case MveNode::kStep: statement(steps_[node.step]); break;
        case MveNode::kDoWhile:
          line("do {{");
          inside(node.body);
          line("}} while ({});", condition(node));
          break;
        case MveNode::kForever:
          line("for (;;) {{");
          inside(node.body);
          line("}}");
          break;
        case MveNode::kIf:
          line("if ({}) {{", condition(node));
          inside(node.body);
          if (!node.otherwise.empty()) line("}} else {{");
          inside(node.otherwise);
          line("}}");
          break;
        case MveNode::kBreak:
        case MveNode::kContinue: {
          const char* jump = node.kind == MveNode::kBreak ? "break" : "continue";
          if (steps_[node.step].text.empty()) line("{};", jump);
          else line("if ({}) {};", condition(node), jump);
          break;
        }
      }
    }
  }

  const tir::Function& meaning_;
  std::vector<MveStep> steps_;
  std::vector<MveValue> values_;
  std::map<std::pair<const tir::Buffer*, int64_t>, std::string> words_;
  std::vector<int> parameter_of_;  // of a value: the parameter that it is in the beginning
  std::vector<int> tables_;        // of a value: the parameter whose elements it gives
  std::vector<bool> declared_;
  std::vector<std::string> names_, lanes_;
  std::set<std::string> used_;
  std::vector<BlockPlace> blocks_;
  std::map<int, std::vector<Occurrence>> occurrences_;
  std::map<std::pair<int, size_t>, std::vector<int>> before_;
  std::vector<std::string> lines_;
  int depth_ = 1, last_block_ = 0;
  bool computed_ = false, fenced_ = false;  // since the last load or fence; in the text
  int loads_ = 0;                           // that began further computations since the last fence
};

}  // namespace

namespace {

std::optional<Implementation> translate(const tir::Kernel& kernel, const Implementation& assembly) {
  const tir::Function& meaning = *kernel.meaning;
  const int pointers = static_cast<int>(meaning.params.size());
  const int parameters = pointers + static_cast<int>(meaning.scalars.size());
  auto steps = mve_steps(assembly.lines, parameters);
  if (!steps) return std::nullopt;
  auto values = mve_values(*steps, parameters, pointers);
  if (!values) return std::nullopt;
  auto nodes = MveStructure(*steps).run();
  if (!nodes) return std::nullopt;
  Implementation out;
  out.condition = "defined(__GNUC__) && defined(__ARM_FEATURE_MVE) && !defined(__ARM_BIG_ENDIAN)";
  if (assembly.condition.ends_with("== 3")) out.condition += " && __ARM_FEATURE_MVE == 3";
  out.family = assembly.family;
  out.header = "arm_mve.h";
  out.body = MvePrinter(meaning, std::move(*steps), std::move(*values)).run(std::move(*nodes));
  out.stack_bytes = assembly.stack_bytes;
  // What gcc 12 makes of kws, vww and resnet takes 1.3 to 1.4 times the instructions of the assembly.
  constexpr double kOfAssembly = 1.35;
  out.count = [assembly](const Implementation&, const std::vector<CountArgument>& arguments) -> std::optional<int64_t> {
    const auto counted = assembly.count(assembly, arguments);
    if (!counted) return std::nullopt;
    return static_cast<int64_t>(static_cast<double>(*counted) * kOfAssembly);
  };
  out.cycles = [assembly](const Implementation&, const std::vector<CountArgument>& arguments,
                          const machine::Timing& timing) -> std::optional<double> {
    const auto counted = assembly.cycles(assembly, arguments, timing);
    return counted ? std::optional(*counted * kOfAssembly) : std::nullopt;
  };
  return out;
}

}  // namespace

// Estimates ask for one kernel many times.
std::optional<Implementation> mve_intrinsics(const tir::Kernel& kernel, const Implementation& assembly) {
  constexpr size_t kMostTexts = 256;
  thread_local std::unordered_map<std::string, std::optional<Implementation>> texts;
  std::string key = tir::name_of(kernel);
  for (const std::string& line : assembly.lines) key.append("\n").append(line);
  if (const auto found = texts.find(key); found != texts.end()) return found->second;
  if (texts.size() >= kMostTexts) texts.clear();
  return texts.emplace(std::move(key), translate(kernel, assembly)).first->second;
}

}  // namespace aotc::cores::arm
