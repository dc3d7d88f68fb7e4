// DeepSpeed: a ds_config.json put on a scenario.
//
// Batches, precision, optimizer, ZeRO stage and what of its settings changes a step; sizes of buckets are numbers of
// elements there and bytes here. "auto" leaves what the scenario says, as Hugging Face's integration fills it in from
// its own arguments. What is not simulated (offloading, quantized gathers) is an Error.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace foretrain::scenarios {

// `config` is the file; `scenario` has training and cluster as far as they are known. Throws Error at the key.
void apply_deepspeed(const JsonView& config, Json& scenario, std::vector<std::string>& notes);

// Stage 3 limits what is gathered by elements, a stack by units (blocks): `unit_parameters` is the size of one.
void apply_gather_limits(const JsonView& config, double unit_parameters, Json& scenario);

}  // namespace foretrain::scenarios
