// SPDX-License-Identifier: Apache-2.0
#include "driver/accuracy.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ops/operator.h"
#include "support/npy.h"
#include "support/text.h"

namespace aotc::driver {

namespace {

// The element as a number to compare with others of its type.
double element(std::span<const uint8_t> bytes, size_t index, DType t) {
  const auto read = [&]<typename T>(T) {
    T v;
    std::memcpy(&v, &bytes[index * sizeof v], sizeof v);
    return static_cast<double>(v);
  };
  switch (t) {
    case DType::kI8: return read(int8_t{});
    case DType::kU8:
    case DType::kBool: return read(uint8_t{});
    case DType::kI16: return read(int16_t{});
    case DType::kU16: return read(uint16_t{});
    case DType::kI32: return read(int32_t{});
    case DType::kU32: return read(uint32_t{});
    case DType::kI64: return read(int64_t{});
    case DType::kF32: return read(float{});
    case DType::kF64: return read(double{});
    default: return 0;  // see is_number
  }
}

// Of the types that `element` reads.
bool is_number(DType t) {
  switch (t) {
    case DType::kI8:
    case DType::kU8:
    case DType::kBool:
    case DType::kI16:
    case DType::kU16:
    case DType::kI32:
    case DType::kU32:
    case DType::kI64:
    case DType::kF32:
    case DType::kF64: return true;
    default: return false;
  }
}

int largest(std::span<const uint8_t> bytes, size_t begin, size_t count, DType t) {
  size_t best = 0;
  for (size_t i = 1; i < count; ++i)
    if (element(bytes, begin + i, t) > element(bytes, begin + best, t)) best = i;
  return static_cast<int>(best);
}

std::string share(size_t part, size_t all) {
  return fmt::format("{} of {} ({:.1f} %)", with_commas(static_cast<int64_t>(part)),
                     with_commas(static_cast<int64_t>(all)),
                     all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

}  // namespace

Result<std::vector<int>> read_labels(const std::string& path, size_t samples, size_t classes, Diagnostics& diags) {
  auto array = read_npy(path, diags);
  if (!array) return kFailure;
  Location where;
  where.file = path;
  const size_t count = array->bytes.size() / static_cast<size_t>(size_of(array->dtype));
  const bool rows = count == samples * classes && classes > 1 && array->shape.size() == 2;
  auto fail = [&](const std::string& what) {
    diags.error(where, "labels-invalid", what)
        .help(fmt::format("give {} integers from 0 to {}: the class of each input, in the order of the inputs", samples,
                          classes - 1));
    return kFailure;
  };
  if (!rows && count != samples)
    return fail(fmt::format("the file has {} labels (shape {}), but --data has {} inputs", count,
                            graph::to_string(array->shape), samples));
  const bool real = array->dtype == DType::kF32 || array->dtype == DType::kF64;
  if (!is_number(array->dtype) || (!rows && real))
    return fail(fmt::format("the labels have type {}, but must be integers", name_of(array->dtype)));
  std::vector<int> out;
  for (size_t i = 0; i < samples; ++i) {
    const double v =
        rows ? largest(array->bytes, i * classes, classes, array->dtype) : element(array->bytes, i, array->dtype);
    if (v < 0 || v >= static_cast<double>(classes))
      return fail(fmt::format("label {} is {}, but the model has {} classes", i, v, classes));
    out.push_back(static_cast<int>(v));
  }
  return out;
}

Accuracy::Accuracy(const Compiled& compiled, const RunSequence& sequence) : graph_(compiled.program.reference()) {
  for (size_t o = 0; o < graph_.outputs.size() && classes_ == 0; ++o)
    if (const graph::TensorType& t = graph_[graph_.outputs[o].tensor].type; t.elements() > 1 && is_number(t.dtype))
      output_ = o, classes_ = static_cast<size_t>(t.elements());
  ops::StateValues states = ops::initial_states(graph_);
  for (const Run& run : sequence.runs) {
    if (run.reset) states = ops::initial_states(graph_);
    ops::Evaluation evaluation;
    evaluation.states = &states;
    RunValues values;
    values.values = ops::evaluate_graph(graph_, run.inputs, evaluation);
    const RunTolerances tolerances(compiled.program, run.inputs, values);
    Outputs& outputs = reference_.emplace_back();
    outputs.values = output_values(graph_, run.inputs, values.values);
    for (size_t o = 0; o < graph_.outputs.size(); ++o)
      outputs.allowed.push_back(tolerances.of(graph_.outputs[o].tensor, outputs.values[o]));
  }
}

std::vector<int> Accuracy::reference_classes() const {
  std::vector<int> out;
  for (const Outputs& o : reference_) out.push_back(class_of(o.values[output_]));
  return out;
}

void Accuracy::set_labels(std::vector<int> labels) {
  labels_ = std::move(labels);
  Place reference = empty_place("reference");
  for (size_t s = 0; s < reference_.size(); ++s) count(reference, s, class_of(reference_[s].values[output_]));
  reference.equal = reference.same_class = reference_.size();
  reference.passed = true;
  places_.insert(places_.begin(), std::move(reference));
}

Accuracy::Place Accuracy::empty_place(std::string name) const {
  Place out;
  out.name = std::move(name);
  if (!labels_.empty()) out.confusion.assign(classes_, std::vector<size_t>(classes_, 0));
  return out;
}

void Accuracy::count(Place& place, size_t sample, int found) const {
  if (labels_.empty()) return;
  place.right += found == labels_[sample] ? 1 : 0;
  ++place.confusion[static_cast<size_t>(labels_[sample])][static_cast<size_t>(found)];
}

int Accuracy::class_of(std::span<const uint8_t> values) const {
  return largest(values, 0, classes_, graph_[graph_.outputs[output_].tensor].type.dtype);
}

bool Accuracy::equal(const Outputs& want, size_t output, std::span<const uint8_t> have) const {
  const std::vector<uint8_t>& values = want.values[output];
  if (!want.allowed[output] || std::equal(values.begin(), values.end(), have.begin(), have.end())) return true;
  if (graph_[graph_.outputs[output].tensor].type.dtype != DType::kF32) return false;
  for (size_t i = 0; i + 4 <= values.size(); i += 4) {
    float a, b;
    std::memcpy(&a, &have[i], 4);
    std::memcpy(&b, &values[i], 4);
    if (want.allowed[output]->distance(a, b) > want.allowed[output]->ulps) return false;
  }
  return true;
}

bool Accuracy::add(const std::string& name, const DeviceResults& results, Diagnostics& diags) {
  Location where;
  where.file = name;
  Place place = empty_place(name);
  std::vector<size_t> came(reference_.size(), 0), equal_outputs(reference_.size(), 0);
  bool well = results.well_formed && results.ended;
  size_t first_different = reference_.size();
  for (const DeviceRecord& r : results.records) {
    if (!r.is_output()) continue;
    well = well && r.sample < reference_.size() && r.result < graph_.outputs.size() &&
           r.data.size() == reference_[r.sample].values[r.result].size();
    if (!well) break;
    ++came[r.sample];
    if (equal(reference_[r.sample], r.result, r.data)) ++equal_outputs[r.sample];
    if (r.result != output_ || classes_ == 0) continue;
    const int found = class_of(r.data);
    place.same_class += found == class_of(reference_[r.sample].values[output_]) ? 1 : 0;
    count(place, r.sample, found);
  }
  for (size_t s = 0; well && s < came.size(); ++s) {
    well = came[s] == graph_.outputs.size();
    if (equal_outputs[s] == graph_.outputs.size()) ++place.equal;
    else first_different = std::min(first_different, s);
  }
  if (!well) diags.error(where, "verify-device", "the device wrote a malformed result file");
  else if (results.summary.status != 0)
    diags.error(where, "verify-device", fmt::format("the run of the model failed: status {}", results.summary.status));
  else if (results.summary.guard_ok != 1) diags.error(where, "verify-guard", "the model wrote outside of its arena");
  else if (place.equal != reference_.size())
    diags
        .error(where, "verify-differs",
               fmt::format("outputs differ from the reference for input {} and for {} more inputs", first_different,
                           reference_.size() - place.equal - 1))
        .help("pass this input with --input: 'aotc verify' then names the first layer that differs");
  else place.passed = true;
  if (well) places_.push_back(place);
  return place.passed;
}

std::string Accuracy::text() const {
  std::string out;
  for (const Place& p : places_) {
    out += p.name + ": ";
    if (!labels_.empty()) out += share(p.right, reference_.size()) + " right";
    if (p.name != "reference")
      out += fmt::format("{}outputs equal to the reference for {}{}", labels_.empty() ? "" : "; ",
                         share(p.equal, reference_.size()),
                         classes_ == 0 || p.same_class == reference_.size()
                             ? ""
                             : "; same class for " + share(p.same_class, reference_.size()));
    out += "\n";
  }
  if (places_.empty() || labels_.empty()) return out;
  const Place& last = places_.back();
  std::vector<std::vector<std::string>> rows = {{"label \\ class"}};
  for (size_t c = 0; c < classes_; ++c) rows[0].push_back(std::to_string(c));
  rows[0].emplace_back("right");
  for (size_t l = 0; l < classes_; ++l) {
    size_t all = 0;
    rows.push_back({std::to_string(l)});
    for (size_t n : last.confusion[l]) {
      rows.back().push_back(n == 0 ? "." : std::to_string(n));
      all += n;
    }
    rows.back().push_back(all == 0 ? ""
                                   : fmt::format("{:.1f} %", 100.0 * static_cast<double>(last.confusion[l][l]) /
                                                                 static_cast<double>(all)));
  }
  return out + format_table(rows);
}

nlohmann::ordered_json Accuracy::json() const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Place& p : places_) {
    nlohmann::ordered_json j = {
        {"place", p.name}, {"passed", p.passed}, {"inputs", reference_.size()}, {"equal", p.equal}};
    if (classes_ > 0) j["same_class"] = p.same_class;
    if (!labels_.empty()) j["right"] = p.right, j["confusion"] = p.confusion;
    out.push_back(std::move(j));
  }
  return out;
}

}  // namespace aotc::driver
