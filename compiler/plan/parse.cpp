// SPDX-License-Identifier: Apache-2.0
// The text form of programs, read; print.cpp writes it, docs/ir.md describes it. The tree is read first, with the
// names of functions and places as they stand there, then the functions behind it, and then calls get what they name.
#include <algorithm>
#include <map>

#include "plan/parse_memory.h"
#include "plan/print.h"
#include "tir/parse.h"

namespace aotc::plan {

namespace {

// A call as it is written.
struct WrittenCall {
  struct Argument {
    Storage storage;
    graph::Shape shape;
    int64_t elements = 0;
  };
  struct Result {
    graph::Tensor tensor;
    std::optional<Storage> place;  // else where the call's only output is
    TextPosition at;
  };
  std::string function;
  TextPosition at;
  std::vector<Argument> in, out;
  std::vector<Result> results, rows;
  bool by_rows = false;
  int device = 0;
  std::vector<BandLevel> levels;
};

// What a plan says of a function beside its text.
struct WrittenFunction {
  TextPosition at;
  bool merged = false;
  int device = 0;
  std::optional<ops::ExternalFunction> external;
};

class Parser : private MemoryReader {
 public:
  Parser(const std::string& text, const std::string& file, Diagnostics& diags)
      : MemoryReader(text, file, diags), text_(text), diags_(diags) {}

  Result<ReadProgram> run() {
    if (!cursor_.accept_word("plan")) return fail("expected 'plan'");
    auto name = parse_string("the plan's name");
    if (!name || !expect('{')) return kFailure;
    program().graph.name = std::move(*name);
    if (!block(nullptr, program().body)) return kFailure;
    auto functions = tir::parse_functions(text_, cursor_.offset(), file_, diags_);
    if (!functions || !add_functions(*functions) || !add_calls()) return kFailure;
    return std::move(read_);
  }

 private:
  struct Form {
    std::string_view word;
    bool step;  // may stand in blocks
    Status (Parser::*read)();
  };
  // Every line begins with one of these words, or is a call, which begins with its number.
  static constexpr size_t kForms = 12;
  static const Form forms_[kForms];

  Status block(ProgramStep* loop, std::vector<ProgramStep>& into) {
    constexpr int kDeepest = 64;
    if (++depth_ > kDeepest) return fail(fmt::format("blocks are more than {} deep; here a next one begins", kDeepest));
    std::vector<ProgramStep> outer = std::exchange(steps_, {});
    ProgramStep* outer_loop = std::exchange(loop_, loop);
    while (!cursor_.accept('}'))
      if (!statement()) return kFailure;
    into = std::exchange(steps_, std::move(outer));
    loop_ = outer_loop;
    --depth_;
    return success();
  }

  Status statement() {
    TextPosition at = cursor_.position();
    std::string_view word = cursor_.word();
    if (word.empty()) return fail("expected a statement or '}'");
    if (word[0] >= '0' && word[0] <= '9') return call(word, at);
    for (const Form& form : forms_) {
      if (form.word != word) continue;
      if (!form.step && depth_ > 1) return fail_at(at, fmt::format("'{}' stands outside of all blocks", word));
      here_ = at;
      return (this->*form.read)();
    }
    return fail_at(at, fmt::format("expected a statement or '}}', found '{}'", shown(word)),
                   "statements begin with pool, state, program_tables, input, output, table, device, function, if, "
                   "loop, while, repeat or the number of a call");
  }

  // function NAME [merged] [on DEVICE] [external "symbol" CONVENTION [context] [flatten]]
  Status function() {
    const std::string name(cursor_.word());
    if (name.empty()) return fail("expected the function's name");
    WrittenFunction made;
    made.at = here_;
    made.merged = cursor_.accept_word("merged");
    if (cursor_.accept_word("on") && !number_into("a device", made.device)) return kFailure;
    if (cursor_.accept_word("external")) {
      auto symbol = parse_string("the function's symbol");
      if (!symbol) return kFailure;
      TextPosition at = cursor_.position();
      const auto convention = calling_convention_from(cursor_.word());
      if (!convention) return fail_at(at, "expected a calling convention");
      made.external = {std::move(*symbol), *convention};
      made.external->context = cursor_.accept_word("context");
      made.external->flatten = cursor_.accept_word("flatten");
    }
    if (!functions_.emplace(name, std::move(made)).second)
      return fail_at(here_, fmt::format("function '{}' is declared twice", shown(name)));
    return success();
  }

  // ---------------------------------------------------------------- what runs when

  Status condition_into(ProgramStep& step) {
    auto where = place();
    if (!where) return kFailure;
    step.condition = *where;
    return success();
  }

  Status branch() {
    ProgramStep step;
    step.kind = ProgramStep::Kind::kBranch;
    step.blocks.resize(2);
    if (!condition_into(step) || !expect('{') || !block(nullptr, step.blocks[0])) return kFailure;
    if (!expect_word("else") || !expect('{') || !block(nullptr, step.blocks[1])) return kFailure;
    steps_.push_back(std::move(step));
    return success();
  }

  Status loop() {
    const TextPosition at = here_;
    ProgramStep step;
    std::vector<ProgramStep> body;
    step.kind = ProgramStep::Kind::kLoop;
    if (!cursor_.accept('{')) {
      auto count = number("a count or '{'", 0);
      if (!count || !expect_word("times") || !expect('{')) return kFailure;
      step.trip_count = *count;
    }
    if (!block(&step, body)) return kFailure;
    if (step.blocks.empty()) return fail_at(at, "a loop has no line that begins with 'while'");
    step.blocks.push_back(std::move(body));
    steps_.push_back(std::move(step));
    return success();
  }

  // What stands in front of it in the loop is what the condition comes from.
  Status while_line() {
    if (loop_ == nullptr || !loop_->blocks.empty()) return fail_at(here_, "'while' stands in a loop, once");
    loop_->blocks.push_back(std::exchange(steps_, {}));
    return condition_into(*loop_);
  }

  Status repeat() {
    const TextPosition at = here_;
    auto turns = number("a count", 1);
    std::vector<ProgramStep> all;
    if (!turns || !expect_word("times") || !expect('{') || !block(nullptr, all)) return kFailure;
    if (all.empty() || static_cast<int64_t>(all.size()) % *turns != 0)
      return fail_at(at, fmt::format("{} steps are not those of {} turns", all.size(), *turns));
    ProgramStep step;
    step.kind = ProgramStep::Kind::kRepeat;
    const size_t period = all.size() / static_cast<size_t>(*turns);
    for (auto next = all.begin(); next != all.end(); next += static_cast<std::ptrdiff_t>(period))
      step.blocks.emplace_back(next, next + static_cast<std::ptrdiff_t>(period));
    steps_.push_back(std::move(step));
    return success();
  }

  // N: function(place [shape], ...) -> place [shape] as "name" type, ... on 1 parts from 0 to 8 step 1 turns 2
  Status call(std::string_view digits, TextPosition at) {
    int64_t index = 0;
    if (!graph::parse_number(digits, index) || index != static_cast<int64_t>(calls_.size()))
      return fail_at(at, fmt::format("the next call is {}, not {}", calls_.size(), shown(digits)));
    WrittenCall made;
    if (!expect(':')) return kFailure;
    made.at = cursor_.position();
    made.function = std::string(cursor_.word());
    if (made.function.empty()) return fail("expected a function");
    if (!expect('(')) return kFailure;
    while (!cursor_.accept(')'))
      if ((!made.in.empty() && !expect(',')) || !argument(made.in)) return kFailure;
    if (!expect('-') || !expect('>')) return kFailure;
    do
      if (!argument(made.out)) return kFailure;
    while (cursor_.accept(','));
    // 'nothing' alone is no argument.
    if (made.out.size() == 1 && made.out[0].elements < 0) made.out.clear();
    if (cursor_.accept_word("as")) {
      do
        if (!result(made.results)) return kFailure;
      while (cursor_.accept(','));
    }
    if (cursor_.accept_word("rows")) {
      do
        if (!result(made.rows)) return kFailure;
      while (cursor_.accept(','));
      made.by_rows = true;
    }
    if (cursor_.accept_word("by_rows")) made.by_rows = true;
    if (cursor_.accept_word("on") && !number_into("a device", made.device)) return kFailure;
    if (cursor_.accept_word("parts") && !levels(made.levels)) return kFailure;
    ProgramStep step;
    step.call = static_cast<int>(calls_.size());
    steps_.push_back(step);
    calls_.push_back(std::move(made));
    return success();
  }

  Status argument(std::vector<WrittenCall::Argument>& out) {
    auto where = place();
    if (!where) return kFailure;
    WrittenCall::Argument made{*where, {}, -1};
    if (where->kind != StorageKind::kNone || cursor_.next_is('[')) {
      TextPosition at = cursor_.position();
      if (!parse_shape(made.shape) || !bounded(made.shape, at)) return kFailure;
      made.elements = graph::element_count(made.shape);
      if (cursor_.accept_word("count") && !number_into("a count", made.elements)) return kFailure;
    }
    out.push_back(std::move(made));
    return success();
  }

  Status result(std::vector<WrittenCall::Result>& out) {
    WrittenCall::Result made;
    made.at = cursor_.position();
    auto name = parse_string("the tensor's name");
    if (!name || !type(made.tensor.type)) return kFailure;
    made.tensor.name = std::move(*name);
    if (cursor_.accept_word("at")) {
      auto where = place();
      if (!where) return kFailure;
      made.place = *where;
    }
    out.push_back(std::move(made));
    return success();
  }

  Status levels(std::vector<BandLevel>& out) {
    struct Bound {
      const char* word;
      int64_t BandLevel::* field;
      int64_t least;
    };
    do {
      BandLevel& level = out.emplace_back();
      for (Bound n : {Bound{"from", &BandLevel::begin, 0}, Bound{"to", &BandLevel::end, 0},
                      Bound{"step", &BandLevel::step, 1}, Bound{"turns", &BandLevel::turns, 1}}) {
        if (!expect_word(n.word) || !number_into("a bound", level.*n.field, n.least)) return kFailure;
      }
    } while (cursor_.accept(','));
    return success();
  }

  // ---------------------------------------------------------------- functions and calls together

  Status add_functions(const std::vector<tir::FunctionPtr>& functions) {
    for (const tir::FunctionPtr& f : functions) {
      const auto index = static_cast<int>(program().functions.size());
      if (!indices_.emplace(f->name, index).second)
        return fail(fmt::format("two functions are called '{}'; at the end", shown(f->name)));
      ProgramFunction made;
      made.body = f;
      if (const auto said = functions_.find(f->name); said != functions_.end()) {
        made.merged = said->second.merged;
        made.device = said->second.device;
        made.external = said->second.external;
        functions_.erase(said);
      }
      program().functions.push_back(std::move(made));
    }
    for (const auto& [name, said] : functions_)
      return fail_at(said.at, fmt::format("there is no function '{}' behind the plan", shown(name)));
    return success();
  }

  Status add_calls() {
    const bool sliced = std::any_of(program().functions.begin(), program().functions.end(),
                                    [](const ProgramFunction& f) { return !f.body->scalars.empty(); });
    if (sliced) read_.bands.functions.resize(program().functions.size());
    for (WrittenCall& written : calls_) {
      const auto found = indices_.find(written.function);
      if (found == indices_.end())
        return fail_at(written.at, fmt::format("there is no function '{}' behind the plan", shown(written.function)));
      ProgramFunction& f = program().functions[static_cast<size_t>(found->second)];
      ProgramCall made;
      made.function = found->second;
      made.device = written.device;
      if (!add_arguments(written, *f.body, made) || !add_results(written, made)) return kFailure;
      if (sliced) {
        read_.bands.calls.push_back({written.levels, 0});
        if (!f.body->scalars.empty()) read_.bands.functions[static_cast<size_t>(found->second)] = f.body;
      }
      if (f.body->scalars.empty() != written.levels.empty())
        return fail_at(written.at, "a call has parts if its function has scalars, and else none");
      f.calls.push_back(static_cast<int>(program().calls.size()));
      read_.calls.push_back(location_of(written.at));
      program().calls.push_back(std::move(made));
    }
    return success();
  }

  // Those of outputs stand behind the arrow, the others in front of it, both in the order of parameters.
  Status add_arguments(const WrittenCall& written, const tir::Function& f, ProgramCall& call) {
    size_t in = 0, out = 0;
    for (const tir::BufferPtr& param : f.params) {
      const bool output = param->role == tir::Role::kOutput;
      const auto& list = output ? written.out : written.in;
      size_t& next = output ? out : in;
      if (next == list.size()) break;
      const WrittenCall::Argument& a = list[next++];
      call.arguments.push_back({resolved(a.storage), param->dtype, std::max<int64_t>(a.elements, 0), a.shape});
      if (param->role != tir::Role::kScratch) continue;
      call.scratch_offset = a.storage.offset;
      call.scratch_pool = a.storage.pool;
      call.scratch_bytes = a.elements * size_of(param->dtype);
    }
    if (call.arguments.size() == f.params.size() && in == written.in.size() && out == written.out.size())
      return success();
    const auto outputs =
        std::count_if(f.params.begin(), f.params.end(), [](const auto& p) { return p->role == tir::Role::kOutput; });
    return fail_at(written.at, fmt::format("'{}' takes {} arguments and gives {}, not {} and {}", shown(f.name),
                                           f.params.size() - static_cast<size_t>(outputs), outputs, written.in.size(),
                                           written.out.size()));
  }

  Status add_results(WrittenCall& written, ProgramCall& call) {
    for (WrittenCall::Result& r : written.results) {
      if (!r.place && written.out.size() != 1)
        return fail_at(r.at, "where it lies is only known without 'at' if the call gives one thing");
      call.results.push_back(add_tensor(std::move(r.tensor), resolved(r.place ? *r.place : written.out[0].storage)));
    }
    call.by_rows = written.by_rows;
    for (WrittenCall::Result& r : written.rows) call.rows.push_back(add_tensor(std::move(r.tensor), Storage()));
    return success();
  }

  const std::string& text_;
  Diagnostics& diags_;
  std::map<std::string, WrittenFunction> functions_;
  std::map<std::string, int> indices_;  // of functions
  std::vector<WrittenCall> calls_;
  std::vector<ProgramStep> steps_;  // of the block that is read
  ProgramStep* loop_ = nullptr;     // whose block it is
  int depth_ = 0;
};

const Parser::Form Parser::forms_[kForms] = {
    {"pool", false, &Parser::pool},
    {"state", false, &Parser::state},
    {"program_tables", false, &Parser::program_tables},
    {"input", false, &Parser::input},
    {"output", false, &Parser::output},
    {"table", false, &Parser::table},
    {"device", false, &Parser::device},
    {"function", false, &Parser::function},
    {"if", true, &Parser::branch},
    {"loop", true, &Parser::loop},
    {"while", true, &Parser::while_line},
    {"repeat", true, &Parser::repeat},
};

}  // namespace

Result<ReadProgram> parse(const std::string& text, const std::string& file, Diagnostics& diags) {
  return Parser(text, file, diags).run();
}

}  // namespace aotc::plan
