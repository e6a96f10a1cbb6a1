// SPDX-License-Identifier: Apache-2.0
// ProgramForm reads or writes the plan, which is the text of a program without functions. It reads places and names of
// functions as they are written; when the functions after the plan are read, `finish` resolves them.
#include "plan/text.h"

#include <algorithm>
#include <map>

#include "graph/type_form.h"
#include "support/text.h"
#include "support/text_form.h"
#include "support/text_value.h"
#include "tir/text.h"

namespace aotc::plan {

namespace {

constexpr int64_t kMostBytes = INT32_MAX;
constexpr std::pair<const char*, StorageKind> kIndexedPlaces[] = {
    {"input ", StorageKind::kInput}, {"output ", StorageKind::kOutput}, {"table ", StorageKind::kConstant}};

// A call as it is written.
struct WrittenCall {
  struct Argument {
    Storage storage;
    graph::Shape shape;
    int64_t elements = -1;  // -1: no shape is written
  };
  struct Result {
    std::string name;
    graph::TensorType type;
    std::optional<Storage> place;  // nullopt: that of the call's only output
    TextPlace at;
  };
  std::string function;
  TextPlace at;
  std::vector<Argument> in, out;
  std::vector<Result> results, rows;
  bool by_rows = false;
  int device = 0;
  std::vector<BandLevel> levels;
};

// Facts of a function that its own text does not have.
struct WrittenFunction {
  TextPlace at;
  bool merged = false;
  int device = 0;
  std::optional<ops::ExternalFunction> external;
  bool operator==(const WrittenFunction& o) const {
    return merged == o.merged && device == o.device && external == o.external;
  }
};

bool is_output(const tir::BufferPtr& parameter) { return parameter->role == tir::Role::kOutput; }

// The type without its quantisation, which a program does not have.
graph::TensorType unquantised(const graph::TensorType& type) { return {type.dtype, type.shape, {}}; }

// Different names for all functions.
std::vector<std::string> function_names(const Program& program) {
  constexpr size_t kLongest = 48;
  UniqueNames unique;
  std::vector<std::string> out;
  for (const ProgramFunction& f : program.functions)
    out.push_back(unique.make(tir::text_identifier(f.body->name).substr(0, kLongest)));
  return out;
}

class ProgramForm {
 public:
  // Writes.
  ProgramForm(const Program& program, const PrintOptions& options)
      : program_(program), options_(options), names_(function_names(program)) {}
  // Reads.
  ProgramForm(const std::string& text, const std::string& file, Diagnostics& diags)
      : f_(kDialect, text, file, diags), program_(read_.program) {
    read_.program.graph.source_file = file;
    read_.program.devices = passes::DeviceSet().devices;
  }

  TextForm& text_form() { return f_; }

  void plan() {
    std::string name = program_.graph.name;
    f_.text("plan ");
    f_.string("the plan's name", name);
    f_.text(" ");
    read_.program.graph.name = name;
    std::vector<ProgramStep> body = program_.body;
    block(body, [&] {
      write_memory();
      for (ProgramStep& s : body) step(s);
    });
    f_.write("\n");
    read_.program.body = std::move(body);
  }

  void write_functions() {
    for (size_t i = 0; i < names_.size(); ++i) {
      const Bands* bands = options_.bands;
      const bool divided = bands != nullptr && !bands->functions.empty() && bands->functions[i] != nullptr;
      tir::Function named = divided ? *bands->functions[i] : *program_.functions[i].body;
      named.name = names_[i];
      if (program_.functions[i].external) named.body = std::make_shared<tir::Block>(std::vector<tir::StmtPtr>());
      f_.write(tir::print(named));
    }
  }

  ReadProgram finish(const std::vector<tir::FunctionPtr>& functions) {
    add_functions(functions);
    add_calls();
    return std::move(read_);
  }

 private:
  static constexpr TextDialect kDialect{"program-parse"};
  static constexpr int kDeepest = 64;

  // ---------------------------------------------------------------- numbers, places and types

  template <typename T>
  void number(const char* what, T& value, int64_t least = 0, int64_t most = kMostBytes) {
    f_.number(what, value, least, most);
  }

  // "pool N" for a pool with a name that means another place.
  void place(Storage& s) {
    const TextPlace at = f_.place();
    if (f_.option("nothing", s.kind == StorageKind::kNone)) return;
    for (const auto& [word, kind] : kIndexedPlaces) {
      if (!f_.option(word, s.kind == kind)) continue;
      s = {kind, s.index, 0, kind == StorageKind::kConstant ? -1 : 0};
      return number("an index", s.index);
    }
    if (f_.option("state", s.kind == StorageKind::kState)) {
      s.kind = StorageKind::kState;
    } else {
      s.kind = StorageKind::kArena;
      pool_of(s, at);
    }
    f_.text(" + ");
    number("an offset", s.offset);
  }

  void pool_of(Storage& s, TextPlace at) {
    constexpr std::string_view kWords[] = {"pool", "input", "output", "table", "state", "nothing"};
    std::string name = f_.reading() ? "" : program_.pools[static_cast<size_t>(s.pool)].name;
    if (f_.option("pool ", std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords)))
      return number("a pool", s.pool);
    if (!f_.reading()) return f_.write(name);
    name = f_.word();
    for (size_t i = 0; i < program_.pools.size(); ++i) {
      if (program_.pools[i].name != name) continue;
      s.pool = static_cast<int>(i);
      return;
    }
    f_.fail_at(at, fmt::format("expected a place such as 'arena + 8', found '{}'", TextForm::shown(name)),
               "places are pools with an offset, 'state + 8', 'input 0', 'output 0', 'table 0' and 'nothing'");
  }

  void bounded(const graph::Shape& shape, TextPlace at) {
    int64_t elements = 1;
    for (int64_t dim : shape)
      if (f_.reading() && (dim < 0 || dim > kMostBytes || (elements *= std::max<int64_t>(dim, 1)) > kMostBytes))
        return f_.fail_at(at, "a shape has more elements than fit into any memory");
  }

  // "name" type
  void tensor(const char* what, std::string& name, graph::TensorType& type) {
    f_.string(what, name);
    f_.text(" ");
    const TextPlace at = f_.place();
    form(f_, type);
    bounded(type.shape, at);
  }

  // "name" type at PLACE
  void declared(graph::Tensor& t, Storage& where) {
    tensor("a name", t.name, t.type);
    f_.text(" at ");
    place(where);
  }

  graph::TensorId add_tensor(graph::Tensor tensor, const Storage& storage) {
    read_.program.tensors.push_back(storage);
    return read_.program.graph.add_tensor(std::move(tensor));
  }

  // ---------------------------------------------------------------- memory

  template <typename F>
  void statement(std::string_view word, F&& rest) {
    f_.line([&] {
      f_.write(word);
      rest();
    });
  }

  void write_memory() {
    for (Pool p : program_.pools) statement("pool ", [&] { pool(p); });
    if (program_.state_bytes > 0) statement("state ", [&] { state_bytes(program_.state_bytes); });
    if (program_.program_tables) statement("program_tables", [] {});
    for (bool in : {true, false}) {
      const auto& ports = in ? program_.graph.inputs : program_.graph.outputs;
      for (size_t i = 0; i < ports.size(); ++i) {
        graph::Tensor t{ports[i].name, unquantised(program_.graph[ports[i].tensor].type), {}, 0};
        Storage where = (in ? program_.inputs : program_.outputs)[i];
        statement(in ? "input " : "output ", [&] { declared(t, where); });
      }
    }
    for (size_t i = 0; i < program_.graph.states.size(); ++i) {
      graph::State s = program_.graph.states[i];
      const graph::Tensor& named = program_.graph[s.before];
      graph::Tensor t{named.name, unquantised(named.type), {}, 0};
      Storage where = program_.states[i];
      statement("state ", [&] { state(t, where, s.initial); });
    }
    for (size_t i = 0; i < program_.constants.size(); ++i) {
      ProgramConstant c = program_.constants[i];
      statement("table ", [&] { table(c, i); });
    }
    for (size_t i = 1; i < program_.devices.size(); ++i) {
      std::string name = program_.devices[i].name;
      statement("device ", [&] { device(name, i); });
    }
    for (size_t i = 0; i < program_.functions.size(); ++i) {
      const ProgramFunction& f = program_.functions[i];
      WrittenFunction w{{}, f.merged, f.device, f.external};
      if (w != WrittenFunction()) statement("function ", [&] { function(names_[i], w); });
    }
  }

  void pool(Pool& p) {
    f_.name("the pool's name", p.name);
    for (const Pool& known : read_.program.pools)
      if (known.name == p.name)
        return f_.fail_at(here_, fmt::format("pool '{}' is declared twice", TextForm::shown(p.name)));
    f_.text(" ");
    number("a size", p.bytes);
    f_.text(" bytes");
    if (f_.option(" limit ", p.limit >= 0)) number("a limit", p.limit);
    f_.flag(" fast", p.fast);
    f_.flag(" constants", p.constants);
  }

  void read_pool() {
    Program& to = read_.program;
    Pool p;
    pool(p);
    if (p.constants) to.constant_pool = static_cast<int>(to.pools.size());
    to.arena_bytes += p.bytes;
    to.pools.push_back(std::move(p));
  }

  void state_bytes(int64_t bytes) {
    number("a size", bytes);
    f_.text(" bytes");
    read_.program.state_bytes = bytes;
  }

  void state(graph::Tensor& t, Storage& where, graph::ConstantView& initial) {
    declared(t, where);
    form(f_, t.type.dtype, initial, options_.constants_limit);
  }

  // state N bytes, or state "name" type at state + 0 = value
  void read_state() {
    if (!f_.is("\"")) return state_bytes(0);
    graph::Tensor t;
    Storage where;
    graph::ConstantView initial;
    state(t, where, initial);
    where.index = static_cast<int>(read_.program.states.size());
    const graph::TensorId id = add_tensor(std::move(t), where);
    read_.program.graph.states.push_back({id, id, initial});
    read_.program.states.push_back(where);
    read_.program.initial_values.push_back(-1);
  }

  void read_program_tables() { read_.program.program_tables = true; }

  void read_port(std::vector<graph::Port>& ports, std::vector<Storage>& places, Contract& contract) {
    graph::Tensor t;
    Storage where;
    declared(t, where);
    if (where.kind == StorageKind::kArena) contract = Contract::kOverwrite;
    const std::string name = t.name;
    ports.push_back({add_tensor(std::move(t), where), name});
    places.push_back(where);
  }
  void read_input() { read_port(read_.program.graph.inputs, read_.program.inputs, read_.program.input_contract); }
  void read_output() { read_port(read_.program.graph.outputs, read_.program.outputs, read_.program.output_contract); }

  void next_index(const char* what, size_t next) {
    auto index = static_cast<int64_t>(next);
    number(what, index);
    if (index != static_cast<int64_t>(next))
      f_.fail_at(here_, fmt::format("the next is {} {}, not {}", what, next, index));
    f_.text(" ");
  }

  void table(ProgramConstant& c, size_t next) {
    graph::TensorType type{c.data.dtype, {static_cast<int64_t>(c.data.bytes.size()) / size_of(c.data.dtype)}, {}};
    graph::ConstantView bytes{nullptr, c.data.bytes};
    if (f_.reading()) type.shape.clear();
    next_index("table", next);
    tensor("the table's name", c.name, type);
    f_.text(" align ");
    number("an alignment", c.data.alignment, 1, 1 << 20);
    if (f_.option(" at ", program_.constant_pool >= 0)) number("an offset", c.offset);
    const TextPlace at = f_.place();
    form(f_, type.dtype, bytes, options_.constants_limit);
    if (!f_.reading() || f_.failed()) return;
    c.data = {c.name, type.dtype, {bytes.bytes.begin(), bytes.bytes.end()}, c.data.alignment};
    if (static_cast<int64_t>(c.data.bytes.size()) != type.bytes())
      f_.fail_at(at, fmt::format("the table has {} bytes, and its type {}", c.data.bytes.size(), type.bytes()));
  }
  void read_table() {
    ProgramConstant c;
    table(c, read_.program.constants.size());
    read_.program.constants.push_back(std::move(c));
  }

  void device(std::string& name, size_t next) {
    next_index("device", next);
    f_.string("the device's name", name);
  }
  void read_device() {
    std::string name;
    device(name, read_.program.devices.size());
    read_.program.devices.emplace_back().name = name;
  }

  // NAME [merged] [on DEVICE] [external "symbol" CONVENTION [context] [flatten]]
  void function(std::string& name, WrittenFunction& w) {
    f_.name("the function's name", name);
    f_.flag(" merged", w.merged);
    if (f_.option(" on ", w.device != 0)) number("a device", w.device);
    if (!f_.option(" external ", w.external.has_value())) return;
    if (!w.external) w.external.emplace();
    f_.string("the function's symbol", w.external->symbol);
    f_.text(" ");
    f_.write(name_of(w.external->convention));
    if (f_.reading()) {
      const TextPlace at = f_.place();
      const auto convention = calling_convention_from(f_.word());
      if (!convention) return f_.fail_at(at, "expected a calling convention");
      w.external->convention = *convention;
    }
    f_.flag(" context", w.external->context);
    f_.flag(" flatten", w.external->flatten);
  }
  void read_function() {
    std::string name;
    WrittenFunction w;
    w.at = here_;
    function(name, w);
    if (!functions_.emplace(name, std::move(w)).second)
      f_.fail_at(here_, fmt::format("function '{}' is declared twice", TextForm::shown(name)));
  }

  // ---------------------------------------------------------------- steps

  // Reads steps into `into`; `write_all` writes them.
  template <typename F>
  void block(std::vector<ProgramStep>& into, F&& write_all, ProgramStep* loop = nullptr) {
    auto* const outer = std::exchange(steps_, &into);
    ProgramStep* const outer_loop = std::exchange(loop_, loop);
    ++depth_;
    f_.block([&] { read_statement(); }, write_all);
    --depth_;
    steps_ = outer;
    loop_ = outer_loop;
  }
  void block(std::vector<ProgramStep>& steps) {
    block(steps, [&] { std::for_each(steps.begin(), steps.end(), [&](ProgramStep& s) { step(s); }); });
  }

  void read_statement() {
    struct Word {
      std::string_view word;
      bool step;  // allowed in blocks
      void (ProgramForm::*read)();
    };
    static constexpr Word kWords[] = {
        {"pool", false, &ProgramForm::read_pool},
        {"state", false, &ProgramForm::read_state},
        {"program_tables", false, &ProgramForm::read_program_tables},
        {"input", false, &ProgramForm::read_input},
        {"output", false, &ProgramForm::read_output},
        {"table", false, &ProgramForm::read_table},
        {"device", false, &ProgramForm::read_device},
        {"function", false, &ProgramForm::read_function},
        {"if", true, &ProgramForm::read_step<ProgramStep::Kind::kBranch>},
        {"loop", true, &ProgramForm::read_step<ProgramStep::Kind::kLoop>},
        {"while", true, &ProgramForm::read_while},
        {"repeat", true, &ProgramForm::read_step<ProgramStep::Kind::kRepeat>},
    };
    if (depth_ > kDeepest)
      return f_.fail(fmt::format("blocks are more than {} deep; here a next one begins", kDeepest));
    const TextPlace at = f_.place();
    const std::string_view word = f_.word();
    if (word.empty()) return f_.fail("expected a statement or '}'");
    here_ = at;
    if (word[0] >= '0' && word[0] <= '9') return read_call(word);
    for (const Word& w : kWords) {
      if (w.word != word) continue;
      if (!w.step && depth_ > 1) return f_.fail_at(at, fmt::format("'{}' stands outside of all blocks", word));
      return (this->*w.read)();
    }
    f_.fail_at(at, fmt::format("expected a statement or '}}', found '{}'", TextForm::shown(word)),
               "statements begin with pool, state, program_tables, input, output, table, device, function, if, "
               "loop, while, repeat or the number of a call");
  }

  void step(ProgramStep& s) {
    switch (s.kind) {
      case ProgramStep::Kind::kCall: {
        WrittenCall c = written(static_cast<size_t>(s.call));
        return statement(fmt::format("{}: ", s.call), [&] { call(c); });
      }
      case ProgramStep::Kind::kBranch: return statement("if ", [&] { branch(s); });
      case ProgramStep::Kind::kLoop: return statement("loop ", [&] { loop(s); });
      case ProgramStep::Kind::kRepeat: return statement("repeat ", [&] { repeat(s); });
    }
  }

  template <ProgramStep::Kind kKind>
  void read_step() {
    ProgramStep s;
    s.kind = kKind;
    s.blocks.resize(kKind == ProgramStep::Kind::kBranch ? 2 : 0);
    if constexpr (kKind == ProgramStep::Kind::kBranch) branch(s);
    if constexpr (kKind == ProgramStep::Kind::kLoop) loop(s);
    if constexpr (kKind == ProgramStep::Kind::kRepeat) repeat(s);
    steps_->push_back(std::move(s));
  }

  void branch(ProgramStep& s) {
    place(s.condition);
    f_.text(" ");
    block(s.blocks[0]);
    f_.text(" else ");
    block(s.blocks[1]);
  }

  // The body, blocks[1], has the line with 'while' after the steps that compute its condition, blocks[0].
  void loop(ProgramStep& s) {
    const TextPlace at = here_;
    if (f_.reading() ? !f_.is("{") : s.trip_count >= 0) {
      number("a count or '{'", s.trip_count);
      f_.text(" times ");
    }
    std::vector<ProgramStep> body;
    block(
        body,
        [&] {
          for (ProgramStep& inner : s.blocks[0]) step(inner);
          statement("while ", [&] { place(s.condition); });
          for (ProgramStep& inner : s.blocks[1]) step(inner);
        },
        &s);
    if (f_.reading() && s.blocks.empty()) return f_.fail_at(at, "a loop has no line that begins with 'while'");
    if (f_.reading()) s.blocks.push_back(std::move(body));
  }

  void read_while() {
    if (loop_ == nullptr || !loop_->blocks.empty()) return f_.fail_at(here_, "'while' stands in a loop, once");
    loop_->blocks.push_back(std::exchange(*steps_, {}));
    place(loop_->condition);
  }

  // The steps of all iterations.
  void repeat(ProgramStep& s) {
    const TextPlace at = here_;
    auto turns = static_cast<int64_t>(s.blocks.size());
    std::vector<ProgramStep> all;
    for (const auto& turn : s.blocks) all.insert(all.end(), turn.begin(), turn.end());
    number("a count", turns, 1);
    f_.text(" times ");
    block(all);
    if (!f_.reading()) return;
    if (all.empty() || static_cast<int64_t>(all.size()) % turns != 0)
      return f_.fail_at(at, fmt::format("{} steps are not those of {} turns", all.size(), turns));
    const auto period = static_cast<std::ptrdiff_t>(all.size()) / turns;
    for (auto next = all.begin(); next != all.end(); next += period) s.blocks.emplace_back(next, next + period);
  }

  // ---------------------------------------------------------------- calls

  // function(place [shape], ...) -> place [shape] as "name" type, ... on 1 parts from 0 to 8 step 1 turns 2
  void call(WrittenCall& c) {
    c.at = f_.place();
    f_.name("a function", c.function);
    f_.text("(");
    f_.list(c.in, ")", [&](auto& a) { argument(a); });
    f_.text(" -> ");
    f_.list(c.out, "", [&](auto& a) { argument(a); });
    // A single 'nothing' is no argument.
    if (c.out.size() == 1 && c.out[0].elements < 0) c.out.clear();
    const auto result_form = [&](auto& r) { result(r); };
    if (f_.option(" as ", !c.results.empty())) f_.list(c.results, "", result_form);
    const bool rows = f_.option(" rows ", !c.rows.empty());
    if (rows) f_.list(c.rows, "", result_form);
    c.by_rows = f_.option(" by_rows", c.by_rows && !rows) || rows;
    if (f_.option(" on ", c.device != 0)) number("a device", c.device);
    if (f_.option(" parts ", !c.levels.empty())) f_.list(c.levels, "", [&](BandLevel& level) { band(level); });
  }

  void read_call(std::string_view digits) {
    int64_t index = 0;
    if (!text_value::parse(digits, index) || index != static_cast<int64_t>(calls_.size()))
      return f_.fail_at(here_, fmt::format("the next call is {}, not {}", calls_.size(), TextForm::shown(digits)));
    WrittenCall c;
    f_.text(":");
    call(c);
    ProgramStep s;
    s.call = static_cast<int>(calls_.size());
    steps_->push_back(s);
    calls_.push_back(std::move(c));
  }

  void argument(WrittenCall::Argument& a) {
    place(a.storage);
    if (f_.reading() ? a.storage.kind == StorageKind::kNone && !f_.is("[") : a.elements < 0) return;
    f_.text(" ");
    const TextPlace at = f_.place();
    graph::form(f_, a.shape);
    bounded(a.shape, at);
    if (f_.failed()) return;
    const int64_t elements = graph::element_count(a.shape);
    if (f_.option(" count ", elements != a.elements)) {
      number("a count", a.elements);
    } else {
      a.elements = elements;
    }
  }

  void result(WrittenCall::Result& r) {
    r.at = f_.place();
    tensor("the tensor's name", r.name, r.type);
    if (!f_.option(" at ", r.place.has_value())) return;
    if (!r.place) r.place.emplace();
    place(*r.place);
  }

  void band(BandLevel& level) {
    for (auto [word, field, least] : {std::tuple{"from ", &BandLevel::begin, 0},
                                      {" to ", &BandLevel::end, 0},
                                      {" step ", &BandLevel::step, 1},
                                      {" turns ", &BandLevel::turns, 1}}) {
      f_.text(word);
      number("a bound", level.*field, least);
    }
  }

  // Call `index` of the program as it is written.
  WrittenCall written(size_t index) const {
    const ProgramCall& c = program_.calls[index];
    const auto& params = program_.functions[static_cast<size_t>(c.function)].body->params;
    WrittenCall w;
    w.function = names_[static_cast<size_t>(c.function)];
    w.by_rows = c.by_rows;
    w.device = c.device;
    for (size_t a = 0; a < c.arguments.size(); ++a)
      (is_output(params[a]) ? w.out : w.in)
          .push_back({c.arguments[a].storage, c.arguments[a].shape, c.arguments[a].elements});
    if (w.out.empty()) w.out.emplace_back();
    for (graph::TensorId id : c.results) {
      const Storage& storage = program_.tensors[static_cast<size_t>(id.value)];
      const bool is_only_output = w.out.size() == 1 && w.out[0].elements >= 0 && same_place(w.out[0].storage, storage);
      w.results.push_back({program_.graph[id].name, unquantised(program_.graph[id].type), {}, {}});
      if (!is_only_output) w.results.back().place = storage;
    }
    for (graph::TensorId id : c.rows)
      w.rows.push_back({program_.graph[id].name, unquantised(program_.graph[id].type), {}, {}});
    if (options_.bands != nullptr && options_.bands->has(c)) w.levels = options_.bands->calls[index].levels;
    return w;
  }

  // True if the text of both places is equal.
  static bool same_place(const Storage& a, const Storage& b) {
    if (a.kind != b.kind || a.kind == StorageKind::kNone) return a.kind == b.kind;
    if (a.kind == StorageKind::kState) return a.offset == b.offset;
    return a.kind == StorageKind::kArena ? a.pool == b.pool && a.offset == b.offset : a.index == b.index;
  }

  // ---------------------------------------------------------------- functions and calls together

  void add_functions(const std::vector<tir::FunctionPtr>& functions) {
    for (const tir::FunctionPtr& body : functions) {
      if (!indices_.emplace(body->name, static_cast<int>(read_.program.functions.size())).second)
        return f_.fail(fmt::format("two functions are called '{}'; at the end", TextForm::shown(body->name)));
      const auto w = functions_.extract(body->name);
      const WrittenFunction facts = w ? w.mapped() : WrittenFunction();
      read_.program.functions.push_back({body, {}, facts.merged, facts.device, facts.external});
    }
    for (const auto& [name, w] : functions_)
      f_.fail_at(w.at, fmt::format("there is no function '{}' behind the plan", TextForm::shown(name)));
  }

  void add_calls() {
    auto& functions = read_.program.functions;
    const bool sliced =
        std::any_of(functions.begin(), functions.end(), [](auto& f) { return !f.body->scalars.empty(); });
    if (sliced) read_.bands.functions.resize(functions.size());
    for (const WrittenCall& w : calls_) {
      const auto found = indices_.find(w.function);
      if (found == indices_.end())
        return f_.fail_at(w.at, fmt::format("there is no function '{}' behind the plan", TextForm::shown(w.function)));
      const auto index = static_cast<size_t>(found->second);
      const tir::FunctionPtr& body = functions[index].body;
      ProgramCall made;
      made.function = found->second;
      made.device = w.device;
      add_arguments(w, *body, made);
      add_results(w, made);
      if (f_.failed()) return;
      if (sliced) read_.bands.calls.push_back({w.levels, 0});
      if (!body->scalars.empty()) read_.bands.functions[index] = body;
      if (body->scalars.empty() != w.levels.empty())
        return f_.fail_at(w.at, "a call has parts if its function has scalars, and else none");
      functions[index].calls.push_back(static_cast<int>(read_.program.calls.size()));
      read_.calls.push_back(f_.location(w.at));
      read_.program.calls.push_back(std::move(made));
    }
  }

  // Outputs are after the arrow, other arguments before it, both in the order of parameters.
  void add_arguments(const WrittenCall& w, const tir::Function& f, ProgramCall& call) {
    size_t in = 0, out = 0;
    for (const tir::BufferPtr& param : f.params) {
      const auto& list = is_output(param) ? w.out : w.in;
      size_t& next = is_output(param) ? out : in;
      if (next == list.size()) break;
      const WrittenCall::Argument& a = list[next++];
      call.arguments.push_back({resolved(a.storage), param->dtype, std::max<int64_t>(a.elements, 0), a.shape});
      if (param->role != tir::Role::kScratch) continue;
      call.scratch_offset = a.storage.offset;
      call.scratch_pool = a.storage.pool;
      call.scratch_bytes = a.elements * size_of(param->dtype);
    }
    if (call.arguments.size() == f.params.size() && in == w.in.size() && out == w.out.size()) return;
    const auto outputs = std::count_if(f.params.begin(), f.params.end(), is_output);
    f_.fail_at(w.at, fmt::format("'{}' takes {} arguments and gives {}, not {} and {}", TextForm::shown(f.name),
                                 f.params.size() - static_cast<size_t>(outputs), outputs, w.in.size(), w.out.size()));
  }

  void add_results(const WrittenCall& w, ProgramCall& call) {
    for (const WrittenCall::Result& r : w.results) {
      if (!r.place && w.out.size() != 1)
        return f_.fail_at(r.at, "where it lies is only known without 'at' if the call gives one thing");
      call.results.push_back(add_tensor({r.name, r.type, {}, 0}, resolved(r.place ? *r.place : w.out[0].storage)));
    }
    call.by_rows = w.by_rows;
    for (const WrittenCall::Result& r : w.rows) call.rows.push_back(add_tensor({r.name, r.type, {}, 0}, Storage()));
  }

  // The place with the facts that are known when all statements are read.
  Storage resolved(Storage s) const {
    if (s.kind == StorageKind::kConstant && program_.constant_pool >= 0 &&
        s.index < static_cast<int>(program_.constants.size())) {
      s.pool = program_.constant_pool;
      s.offset = program_.constants[static_cast<size_t>(s.index)].offset;
    }
    // The state that has the memory, or after which the memory of its window begins.
    int64_t nearest = -1;
    for (size_t i = 0; s.kind == StorageKind::kState && i < program_.states.size(); ++i) {
      const int64_t begin = program_.states[i].offset;
      if (begin > s.offset || begin <= nearest) continue;
      nearest = begin;
      s.index = static_cast<int>(i);
    }
    return s;
  }

  TextForm f_;
  ReadProgram read_;
  const Program& program_;  // that is written; read_.program
  const PrintOptions options_ = {};
  std::vector<std::string> names_;  // of functions, while writing

  TextPlace here_;  // of the statement that is read
  std::map<std::string, WrittenFunction> functions_;
  std::map<std::string, int> indices_;  // of functions
  std::vector<WrittenCall> calls_;
  std::vector<ProgramStep>* steps_ = nullptr;  // of the block that is read
  ProgramStep* loop_ = nullptr;                // whose block it is
  int depth_ = 0;
};

}  // namespace

std::string print(const Program& program, const PrintOptions& options) {
  ProgramForm writing(program, options);
  writing.plan();
  if (options.functions) writing.write_functions();
  return writing.text_form().written();
}

std::string print_functions(const Program& program) {
  std::string out;
  for (const ProgramFunction& f : program.functions)
    if (!f.external) out += tir::print(*f.body) + "\n";
  return out;
}

Result<ReadProgram> parse(const std::string& text, const std::string& file, Diagnostics& diags) {
  ProgramForm reading(text, file, diags);
  reading.plan();
  if (reading.text_form().failed()) return kFailure;
  const auto functions = tir::parse_functions(text, reading.text_form().offset(), file, diags);
  if (!functions) return kFailure;
  ReadProgram program = reading.finish(*functions);
  if (reading.text_form().failed()) return kFailure;
  return program;
}

}  // namespace aotc::plan
