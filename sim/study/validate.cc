// SPDX-License-Identifier: Apache-2.0
#include "study/validate.h"

namespace wavetail::study {

Validation validate(const std::vector<Measurement>& rows, const ValidateOptions& options,
                    config::Diagnostics& diagnostics) {
  Validation v;
  GpuShelf shelf(options.load, diagnostics);
  Batch batch;
  for (const Measurement& row : rows) { batch.add(row, shelf); }
  if (diagnostics.ok()) {
    Pool pool(options.control);
    batch.run(pool, options.progress);
  }
  v.rows = batch.rows();
  v.simulations = batch.simulations();
  v.events = batch.events();
  v.outcome = batch.outcome();
  v.outcome_message = batch.message();
  if (diagnostics.ok()) { compare(v); }
  return v;
}

}  // namespace wavetail::study
