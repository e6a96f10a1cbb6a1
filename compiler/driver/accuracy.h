// SPDX-License-Identifier: Apache-2.0
// How often a classifier is right on data of the user's, and whether each place that computes it gives what the
// reference evaluation gives. The one thing to know: the class is the place of the largest element of the first output
// that has more than one; of equal ones the first, as numpy's argmax has it.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "driver/comparison.h"

namespace aotc::driver {

// Classes by sample from an .npy: whole numbers, N or Nx1, or N rows of `classes` of which the largest is meant.
// Reports [labels-invalid].
Result<std::vector<int>> read_labels(const std::string& path, size_t samples, size_t classes, Diagnostics& diags);

class Accuracy {
 public:
  // What one place made of the data.
  struct Place {
    std::string name;
    size_t equal = 0;       // inputs whose outputs are all what the reference gives
    size_t same_class = 0;  // ... whose class is
    size_t right = 0;       // of those with labels
    std::vector<std::vector<size_t>> confusion;  // [label][class]
    bool passed = false;
  };

  // Evaluates the reference for each run, which takes a while; keeps nothing but outputs. The sequence must outlive
  // this.
  Accuracy(const Compiled& compiled, const RunSequence& sequence);

  // Of the output that is taken for the classes; 0: there is none.
  size_t classes() const { return classes_; }
  // By run, if there are classes.
  std::vector<int> reference_classes() const;
  // One for each run, or none.
  void set_labels(std::vector<int> labels);

  // Adds a place. Reports [verify-device], [verify-guard], [verify-differs] with the first output that differs.
  bool add(const std::string& place, const DeviceResults& results, Diagnostics& diags);

  std::string text() const;
  // "reference" and the places.
  nlohmann::ordered_json json() const;

 private:
  struct Outputs {
    std::vector<std::vector<uint8_t>> values;           // by output of the graph
    std::vector<std::optional<ops::Tolerance>> allowed;  // nothing: not compared
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
