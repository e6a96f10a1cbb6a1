// SPDX-License-Identifier: Apache-2.0
// Measures the accuracy of a classifier on the user's data, and how often each place (host or board) agrees with the
// reference evaluation. The class is the index of the largest element of the first output with more than one element.
// Of equal elements the first one counts, as in numpy's argmax.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/comparison.h"

namespace aotc::driver {

// Reads the class of each sample from an .npy file: integers of shape N or Nx1, or N rows of `classes` scores. The
// index of the largest score is the class. Reports [labels-invalid].
Result<std::vector<int>> read_labels(const std::string& path, size_t samples, size_t classes, Diagnostics& diags);

class Accuracy {
 public:
  // The results of one place.
  struct Place {
    std::string name;
    size_t equal = 0;                            // inputs for which all outputs equal the reference
    size_t same_class = 0;                       // inputs for which the class equals the reference
    size_t right = 0;                            // correct classes among the inputs with labels
    std::vector<std::vector<size_t>> confusion;  // [label][class]
    bool passed = false;
  };

  // Evaluates the reference for each run, which may take long, and stores the outputs. `compiled` must outlive this
  // object.
  Accuracy(const Compiled& compiled, const RunSequence& sequence);

  // Number of classes: elements of the classified output; 0 if the model has no such output.
  size_t classes() const { return classes_; }
  // The class of each run; empty if there are no classes.
  std::vector<int> reference_classes() const;
  // `labels`: one for each run, or empty.
  void set_labels(std::vector<int> labels);

  // Adds a place. Reports [verify-device], [verify-guard], [verify-differs] with the first output that differs.
  bool add(const std::string& place, const DeviceResults& results, Diagnostics& diags);

  std::string text() const;
  // An array with an object for each place; the first one is "reference" if labels are set.
  nlohmann::ordered_json json() const;

 private:
  struct Outputs {
    std::vector<std::vector<uint8_t>> values;            // by output of the graph
    std::vector<std::optional<ops::Tolerance>> allowed;  // nullopt: not compared
  };
  bool equal(const Outputs& want, size_t output, std::span<const uint8_t> have) const;
  int class_of(std::span<const uint8_t> values) const;
  void count(Place& place, size_t sample, int found) const;
  Place empty_place(std::string name) const;

  const graph::Graph& graph_;
  std::vector<Outputs> reference_;  // by run
  size_t output_ = 0, classes_ = 0;
  std::vector<int> labels_;
  std::vector<Place> places_;  // the reference first, when labels are set
};

}  // namespace aotc::driver
