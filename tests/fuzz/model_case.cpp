#include "model_case.h"

#include <memory>
#include <numeric>

#include "frontends/tflite/builtin_names.h"
#include "frontends/tflite/reader.h"
#include "ops/operator.h"

namespace aotc::fuzz {

namespace {

// Takes the place of every builtin operator and accepts everything, so that what the reader does
// behind the operators is reached whatever this build supports.
class AnyOperator : public ops::Operator {
 public:
  std::string_view name() const override { return "any"; }
  std::shared_ptr<graph::AttributesBase> default_attributes() const override {
    return std::make_shared<graph::NoAttributes>();
  }
  std::string_view summary() const override { return "for fuzzing"; }
  std::vector<ops::TypeSupport> types() const override { return {}; }
  Status verify(const ops::OpView&, Diagnostics&) const override { return success(); }
  Result<std::vector<graph::Shape>> infer(const ops::OpView& op, Diagnostics&) const override {
    std::vector<graph::Shape> shapes;
    for (size_t i = 0; i < op.op.results.size(); ++i) {
      shapes.push_back(op.has_operand(i) ? op.operand(i).shape : op.result(i).shape);
    }
    return shapes;
  }
  void evaluate(const ops::OpView&, const ops::EvalData&) const override {}
  ops::Lowered lower(const ops::OpView&, const ops::TargetInfo&) const override { return {}; }
  std::vector<int> tflite_builtins() const override {
    std::vector<int> all(frontends::tflite_builtin_names().size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};

const ops::OperatorSet& any_operators() {
  static const ops::OperatorSet set = [] {
    ops::OperatorSet made;
    made.add(std::make_unique<AnyOperator>());
    return made;
  }();
  return set;
}

// What every message owes its reader, and what the reader owes the stages behind it.
std::string broken_promise(const Diagnostics& diags, bool ok) {
  if (ok && diags.has_errors()) return "success, but errors were reported";
  if (!ok && !diags.has_errors()) return "failure without an error";
  for (const Diagnostic& d : diags.all()) {
    if (d.slug.empty() || d.message.empty()) return "a message without text or slug";
    if (d.location.file.empty()) return "a message without its file";
    if (d.slug == "ir-invalid") return "the reader made a broken graph";
  }
  return "";
}

}  // namespace

CaseResult run_tflite_case(std::vector<uint8_t> bytes) {
  CaseResult result;
  bool accepted = true;
  for (const ops::OperatorSet* set : {&any_operators(), &ops::operators()}) {
    frontends::ReadOptions options;
    options.operators = set;
    Diagnostics diags;
    auto graph = frontends::read_tflite(bytes, "case.tflite", diags, options);
    bool ok = graph.ok();
    // With operators that accept anything, only the structure means something.
    if (ok && set == &any_operators()) {
      ok = graph::verify_structure(*graph, diags).ok();
    } else if (ok) {
      ok = ops::verify_graph(*graph, diags).ok();
    }
    std::string broken = broken_promise(diags, ok);
    if (!broken.empty()) return {Verdict::kBroken, broken + "\n" + diags.str()};
    accepted = ok;
    result.text = diags.str();
  }
  result.verdict = accepted ? Verdict::kAccepted : Verdict::kRefused;
  return result;
}

}  // namespace aotc::fuzz
