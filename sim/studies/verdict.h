// Verdict: from compared alternatives to one answer in words.
//
// A function of the numbers alone, so that its rule can be tested on numbers written by hand.
#pragma once

#include "sim/prediction.h"

namespace foretrain::sim::studies {

// When a gain counts. Each is a judgement about what is worth having, not about hardware.
struct VerdictRule {
  // Several GPUs or nodes cost set-up and care: the low end of the gain has to be worth that.
  double clear_gain = 1.1;
  // Below half, more is paid for waiting than for training.
  double worthwhile_efficiency = 0.5;
};

// Fills answer, verdict, recommended and reasons of a decision whose base and alternatives are complete.
void judge(Decision& decision, const VerdictRule& rule = {});

// Fewer GPUs, and before that one GPU before several, one node before several.
[[nodiscard]] bool simpler(const AlternativeAnswer& a, const AlternativeAnswer& b);
// More GPUs than the base has: what "distributing" means for this question.
[[nodiscard]] bool distributes(const AlternativeAnswer& alternative, const AlternativeAnswer& base);
// The base's own GPUs and network: what differs is software, or how the work is shared. Nothing has to be bought.
[[nodiscard]] bool on_same_machines(const AlternativeAnswer& alternative, const AlternativeAnswer& base);
// Gain per GPU relative to the base's.
[[nodiscard]] double gain_per_gpu(const AlternativeAnswer& alternative, const AlternativeAnswer& base);

}  // namespace foretrain::sim::studies
