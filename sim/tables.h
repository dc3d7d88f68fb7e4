// Tables: large tables (embeddings of a recommender, a classifier of many identities) spread over all ranks.
//
// Each rank holds an equal part of every table and does that part's work for the samples of all ranks: as much work
// as for its own samples with the whole table, but no gradients of tables to average. Instead activations travel: a
// classifier's inputs are gathered and the gradients of them summed up and handed back (the model-parallel classifier
// of ArcFace's partial FC, An et al. 2020, arXiv:2010.05222, section 3), embeddings go to the ranks whose samples they
// belong to and their gradients back (Naumov et al. 2019, arXiv:1906.00091, section 3.2).
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "calibrate/collective_profile.h"
#include "models/model.h"
#include "models/precision.h"
#include "sim/scenario.h"

namespace foretrain::sim {

[[nodiscard]] bool spreads_tables(const Plan& plan);

// `model` as one of `ranks` ranks has it: tables cut to its part, products over the samples of all.
[[nodiscard]] models::Model with_spread_tables(models::Model model, std::int64_t ranks);

// What one spread operator sends in each direction; bytes as nccl-tests counts.
struct TableExchange {
  calibrate::CollectiveKind forward, backward;
  Bytes bytes;
  bool inputs = false;  // what goes into the operator travels (before forward, after backward); else what comes out
};
// Empty for operators that are not such tables. `op` is of a model with spread tables.
[[nodiscard]] std::optional<TableExchange> table_exchange(const models::Operator& op, models::Precision precision);

// Parameters that one update touches: all of them, but of a spread embedding only the rows that were looked up.
[[nodiscard]] double updated_elements(const models::Operator& op, const Plan& plan);

}  // namespace foretrain::sim
