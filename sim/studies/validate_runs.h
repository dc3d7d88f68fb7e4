// Validate runs: published training runs of language models predicted without any measurement, and how well that went.
//
// A prediction is the step of the scenario alone; its 90 % interval is that of predict (the parameters on the critical
// path to first order, and what lies outside the model), wider by what the source does not state.
#pragma once

#include "calibrate/catalogue.h"
#include "sim/llm_run.h"
#include "sim/studies/validate.h"
#include "sim/validation.h"

namespace foretrain::sim::studies {

// Predicts every run, in worker processes (base/workers.h: no other thread may be running). One that cannot be
// simulated after all is declined with that reason; one whose worker crashed, was ended or failed counts as lost as
// well. Throws Error when two runs have one id.
[[nodiscard]] RunValidation validate(const RunCorpus& corpus, const calibrate::Catalogue& catalogue,
                                     const ValidateOptions& options = {});

// One run, in this process; its baselines, which need the other runs, are empty.
[[nodiscard]] ValidatedRun predict_run(const LlmRun& run, const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
