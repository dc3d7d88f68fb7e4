// Hand-made results with round numbers, so that every form can be checked by reading it.
#pragma once

#include "reports/result.h"

namespace foretrain::reports::test {

// ResNet-50 on two machines of eight GPUs; price and energy known.
[[nodiscard]] PredictResult predict_example();
// The same with a model that does not fit, without a price, extrapolating, and with hostile names.
[[nodiscard]] PredictResult awkward_example();
// With terms, as explain asks for.
[[nodiscard]] PredictResult explain_example();
// One GPU today, four and sixteen as options; four are recommended.
[[nodiscard]] DecideResult decide_example();

}  // namespace foretrain::reports::test
