// SPDX-License-Identifier: Apache-2.0
// All mistakes of the user's input, collected so that they are shown in one go, sorted by place, in
// the form that compilers use:
//
//   bad.yaml:2:3: error: unknown key 'hbm.chanels'; did you mean 'channels'?
//       chanels: 40
//       ^
//   --set gpu.sms=0: error: 'gpu.sms' is 0; allowed 1 to 4096
//   1 error; nothing was simulated.
#pragma once

#include <string>
#include <vector>

#include "config/place.h"

namespace wavetail::config {

struct Diagnostic {
  Place place;
  std::string message;
};

class Diagnostics {
 public:
  void error(const Place& place, std::string message);

  [[nodiscard]] bool ok() const { return errors_.empty(); }

  [[nodiscard]] std::size_t count() const { return errors_.size(); }

  // By source name, line, column; what is said twice of one place (an alias, a variant) is kept
  // once.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

  // Every message with its source line and a caret, and the closing count; empty if there are none.
  [[nodiscard]] std::string render() const;

  void append(const Diagnostics& other);

 private:
  std::vector<Diagnostic> errors_;
};

}  // namespace wavetail::config
