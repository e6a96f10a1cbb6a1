// SPDX-License-Identifier: Apache-2.0
// Diagnostics: the sink to which every stage reports errors and warnings.
// A message has a text, a Location, helps, and a stable identifier (slug) that docs/errors.md lists. Nothing is printed
// here; the driver prints the collected messages.
#pragma once

#include <string>
#include <vector>

#include "support/result.h"

namespace aotc {

// A location in the user's files. Fields that do not apply have their default values.
struct Location {
  std::string file;     // model or text file as the user named it
  int subgraph = -1;    // index in the model
  int op_index = -1;    // operator index within the subgraph, as in the file
  std::string op_type;  // as the file's format spells it, e.g. "CONV_2D"
  std::string tensor;   // name of the tensor concerned
  int line = 0;         // 1-based, for text inputs
  int column = 0;       // 1-based

  // Returns "kws.tflite: op 3 CONV_2D 'conv/BiasAdd'" or "t.air:4:7"; untrusted names are escaped.
  std::string str() const;
};

enum class Severity { kNote, kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string slug;
  Location location;
  std::string message;
  std::vector<std::string> notes;
  std::vector<std::string> helps;

  Diagnostic& note(std::string text);
  Diagnostic& help(std::string text);
  // The complete text: one line for the message and one for each note and help.
  std::string str() const;
};

class Diagnostics {
 public:
  Diagnostic& error(const Location& where, std::string slug, std::string message);
  Diagnostic& warning(const Location& where, std::string slug, std::string message);

  bool has_errors() const { return errors_ > 0; }
  int error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // All messages, in order of reporting, each ended by a newline.
  std::string str() const;

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
};

// Makes text from a model safe for one line of a terminal. Control characters, quotes and bytes that are not UTF-8
// become \xNN. Text over `limit` bytes is cut and ends with "...".
std::string escape_for_display(const std::string& text, size_t limit = 120);

}  // namespace aotc
