// SPDX-License-Identifier: Apache-2.0
// How well fitted values predict what they were not fitted to: the rows of one set (or of one GPU)
// are left out, the values fitted to all others from the same start, and the rows predicted.
#pragma once

#include <vector>

#include "study/calibration.h"
#include "study/row_fit.h"

namespace wavetail::study {

// Fills `left_out` of c, of its sets, its GPUs and its rows. `subjects` are those of the predictor
// behind c.rows. False where the budget ended or the user interrupted; what is known by
// then is there.
[[nodiscard]] bool cross_validate(RowFit& fit, const std::vector<std::size_t>& subjects,
                                  Calibration& c);

}  // namespace wavetail::study
