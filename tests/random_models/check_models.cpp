// SPDX-License-Identifier: Apache-2.0
// The compiler's half of the random models lane: reads a batch of models with their inputs, takes
// each through everything that `aotc compile` does, and writes what became of it. Every operator's
// result is by reference evaluation of the graph as read; the passes, the plan and the loop
// programs are run over the same inputs and must give the same outputs, and so must the emitted C,
// which a compiler of this machine builds. What LiteRT gives is compared by lane.py.
//
//   check_models BATCH RESULTS --work DIR [--cc "gcc -O1"] [--damage relu | --damage emitted]
//
// All numbers are 32 bits, little endian; a text or a block of bytes begins with its length.
//   BATCH    count, then of each: name, variant, model, samples, of each: inputs, of each: bytes
//   RESULTS  of each: name, verdict, text, samples, of each: tensors, of each: name, type, bytes; the model's outputs
//            are tensors "output 0", "output 1", ...
// RESULTS is written as it comes about: after a crash the model behind the last record is to blame.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "../random_graphs/batches.h"
#include "../random_graphs/targets.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"
#include "passes/pipeline.h"
#include "plan/program.h"

namespace {

using namespace aotc;
using namespace aotc::tests;
using Values = Batches::Values;

enum class Verdict : uint32_t { kRefused = 0, kAccepted = 1, kBroken = 2, kEmitted = 3 };

class Bytes {
 public:
  explicit Bytes(std::vector<char> bytes) : bytes_(std::move(bytes)) {}
  uint32_t number() {
    uint32_t n = 0;
    if (at_ + 4 > bytes_.size()) std::abort();
    std::memcpy(&n, &bytes_[at_], 4);
    at_ += 4;
    return n;
  }
  std::vector<uint8_t> block() {
    size_t n = number();
    if (at_ + n > bytes_.size()) std::abort();
    auto begin = bytes_.begin() + static_cast<long>(at_);
    at_ += n;
    return {begin, begin + static_cast<long>(n)};
  }
  std::string text() {
    std::vector<uint8_t> b = block();
    return {b.begin(), b.end()};
  }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

class Results {
 public:
  explicit Results(const std::string& path) : out_(path, std::ios::binary) {}
  void number(uint32_t n) { out_.write(reinterpret_cast<const char*>(&n), 4); }
  template <typename T>
  void block(const T& bytes) {
    number(static_cast<uint32_t>(bytes.size()));
    out_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  void head(const std::string& name, Verdict verdict, const std::string& text) {
    block(name);
    number(static_cast<uint32_t>(verdict));
    block(text);
  }
  void flush() { out_.flush(); }

 private:
  std::ofstream out_;
};

bool is_nan(const uint8_t* at) {
  float f;
  std::memcpy(&f, at, 4);
  return std::isnan(f);
}

bool same(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b, DType dtype) {
  if (a == b) return true;
  if (a.size() != b.size() || dtype != DType::kF32) return false;
  for (size_t i = 0; i < a.size(); i += 4)
    if (std::memcmp(&a[i], &b[i], 4) != 0 && !(is_nan(&a[i]) && is_nan(&b[i]))) return false;
  return true;
}

// An int8 tensor in the place of a uint8 one; the top bit is the other.
constexpr std::string_view kAsInt8 = " (int8)";

// One model on its way through the compiler.
class Trial {
 public:
  Trial(std::string name, uint64_t variant, std::string damage)
      : name_(std::move(name)), variant_(variant), damage_(std::move(damage)) {}

  Verdict run(const std::vector<uint8_t>& model, const std::vector<Values>& samples) {
    auto read = frontends::read_tflite(model, name_, diags_);
    if (!read || !ops::verify_graph(*read, diags_)) return Verdict::kRefused;
    graph_ = std::move(*read);
    for (const Values& in : samples)
      if (!evaluate(in)) return Verdict::kBroken;
    optimised_ = graph_;
    if (!passes::run_pipeline(optimised_, {}, diags_)) return Verdict::kRefused;
    auto program = plan::plan_program(optimised_, plan_options_of(variant_), diags_);
    if (!program) return Verdict::kRefused;
    program_ = std::move(*program);
    for (const plan::ProgramFunction& f : program_.functions)
      if (!tir::verify(*f.body, diags_)) return broken("TIR does not verify: " + diags_.str());
    for (size_t s = 0; s < samples.size(); ++s)
      if (!interpret(s, samples[s])) return Verdict::kBroken;
    return Verdict::kAccepted;
  }

  std::string text() const { return text_.empty() ? diags_.str() : text_; }
  const plan::Program& program() const { return program_; }
  const std::vector<Values>& outputs() const { return outputs_; }

  void write_values(Results& out) const {
    out.number(static_cast<uint32_t>(values_.size()));
    for (size_t s = 0; s < values_.size(); ++s) {
      const Values& values = values_[s];
      std::vector<size_t> computed;
      for (size_t t = 0; t < values.size(); ++t)
        if (!values[t].empty()) computed.push_back(t);
      out.number(static_cast<uint32_t>(computed.size() + outputs_[s].size()));
      for (size_t o = 0; o < outputs_[s].size(); ++o) {
        out.block(fmt::format("output {}", o));
        out.block(std::string(name_of(graph_[graph_.outputs[o].tensor].type.dtype)));
        out.block(outputs_[s][o]);
      }
      for (size_t t : computed) {
        const std::string& name = graph_.tensors[t].name;
        const bool shifted = name.ends_with(kAsInt8);
        out.block(shifted ? name.substr(0, name.size() - kAsInt8.size()) : name);
        out.block(std::string(shifted ? "u8" : name_of(graph_.tensors[t].type.dtype)));
        std::vector<uint8_t> bytes = values[t];
        if (shifted)
          for (uint8_t& byte : bytes) byte ^= 0x80;
        out.block(bytes);
      }
    }
  }

 private:
  Verdict broken(std::string why) {
    text_ = std::move(why);
    return Verdict::kBroken;
  }

  bool evaluate(const Values& in) {
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      auto have = i < in.size() ? static_cast<int64_t>(in[i].size()) : -1;
      int64_t want = graph_[graph_.inputs[i].tensor].type.bytes();
      if (have == want) continue;
      broken(fmt::format("input {} takes {} bytes, {} are given", i, want, have));
      return false;
    }
    values_.push_back(ops::evaluate_graph(graph_, in));
    for (const graph::Op& op : graph_.ops)
      if (op.name() == damage_) values_.back()[static_cast<size_t>(op.results[0].value)][0] ^= 1;
    Values outputs;
    for (const graph::Port& port : graph_.outputs)
      outputs.push_back(values_.back()[static_cast<size_t>(port.tensor.value)]);
    outputs_.push_back(std::move(outputs));
    return true;
  }

  bool interpret(size_t sample, const Values& in) {
    auto have = plan::run_program(program_, in, diags_);
    if (!have) {
      broken("TIR traps: " + diags_.str());
      return false;
    }
    for (size_t o = 0; o < have->size(); ++o) {
      DType dtype = graph_[graph_.outputs[o].tensor].type.dtype;
      if (same((*have)[o], outputs_[sample][o], dtype)) continue;
      broken(fmt::format("output {} of the loop programs is not what evaluation gives", o));
      return false;
    }
    return true;
  }

  std::string name_;
  uint64_t variant_;
  std::string damage_, text_;
  graph::Graph graph_, optimised_;
  plan::Program program_;
  std::vector<Values> values_, outputs_;  // by sample; every tensor, and the model's outputs
  Diagnostics diags_;
};

struct Options {
  std::string batch, results, work, cc = "gcc -O1", damage;
};

std::vector<std::string> command_of(const Options& options) {
  std::vector<std::string> command;
  std::istringstream words(options.cc);
  for (std::string word; words >> word;) command.push_back(word);
  for (const char* flag :
       {"-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-ffp-contract=off",
        "-I" AOTC_SOURCE_DIR "/tests/random_graphs", "-I" AOTC_SOURCE_DIR "/crt/include"})
    command.push_back(flag);
  return command;
}

int run(const Options& options) {
  namespace fs = std::filesystem;
  fs::create_directories(options.work);
  std::ifstream file(options.batch, std::ios::binary);
  Bytes in({std::istreambuf_iterator<char>(file), {}});
  Results out(options.results);
  Batches batches(options.work, command_of(options), 25);
  for (uint32_t count = in.number(); count > 0; --count) {
    std::string name = in.text();
    uint64_t variant = in.number();
    std::vector<uint8_t> model = in.block();
    std::vector<Values> samples(in.number());
    for (Values& sample : samples) {
      sample.resize(in.number());
      for (std::vector<uint8_t>& input : sample) input = in.block();
    }
    Trial trial(name, variant, options.damage);
    Verdict verdict = trial.run(model, samples);
    out.head(name, verdict, trial.text());
    trial.write_values(out);
    out.flush();
    if (verdict != Verdict::kAccepted || options.cc.empty()) continue;
    std::vector<Values> expected = trial.outputs();
    if (options.damage == "emitted") expected[0][0][0] ^= 1;
    batches.add(name, trial.program(), {samples, expected});
  }
  int ran = 0;
  std::string failures;
  for (const std::string& line : batches.run(&ran)) failures += line + "\n";
  out.head("", Verdict::kEmitted, failures);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What becomes of a batch of models in the compiler");
  Options options;
  app.add_option("batch", options.batch, "Models and inputs")->required();
  app.add_option("results", options.results, "File to write")->required();
  app.add_option("--work", options.work, "Directory for emitted C")->required();
  app.add_option("--cc", options.cc, "C compiler and flags; empty: no C is emitted");
  app.add_option("--damage", options.damage, "Spoil the results of an operator, or what emitted C is compared with");
  CLI11_PARSE(app, argc, argv);
  return run(options);
}
