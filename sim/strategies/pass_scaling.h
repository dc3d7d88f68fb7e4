// Pass scaling: passes over memory of which there is more (padding) or less (a rank's part).
#pragma once

#include "models/operator.h"

namespace foretrain::sim::strategies {

// A pass over memory, with what it saves and puts out, `factor` times as long. Of a loss the output stays: it is one
// number whatever the loss is over.
void scale_pass(models::Operator& op, double factor);

// A lookup: of `table` times as large a table for `tokens` times as many tokens. The parameters stay.
void scale_lookup(models::Operator& op, double table, double tokens);

}  // namespace foretrain::sim::strategies
