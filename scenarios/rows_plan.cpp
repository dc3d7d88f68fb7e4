#include "scenarios/field_rows.h"

namespace foretrain::scenarios {

using sim::Scenario;
using namespace rows;

void add_plan_fields(Fields& fields) {
  const auto degree = [](std::string path, std::string label, std::string doc, std::vector<std::string> aliases,
                         auto member) {
    return integer<Scenario>(
        {.path = std::move(path),
         .label = std::move(label),
         .unit = "ranks",
         .range = {1, 65536},
         .doc = std::move(doc),
         .example = "2",
         .aliases = std::move(aliases)},
        [member](auto& s) -> auto& { return s.plan.*member; });
  };
  fields.push_back(
      degree("plan.tensor", "tensor {}", "Tensor-parallel degree.", {"tp", "tensor_parallel"}, &sim::Plan::tensor));
  fields.push_back(degree("plan.pipeline", "pipeline {}", "Pipeline stages.", {"pp", "pipeline_parallel", "stages"},
                          &sim::Plan::pipeline));
  fields.push_back(degree("plan.context", "context {}", "Context-parallel degree.", {"cp", "context_parallel"},
                          &sim::Plan::context));
  fields.push_back(degree("plan.expert", "expert {}", "Expert-parallel degree, inside the data-parallel ranks.",
                          {"ep", "expert_parallel"}, &sim::Plan::expert));
  fields.push_back(choice<Scenario>(
      {.path = "plan.sharding",
       .label = "sharding {}",
       .choices = {"none", "zero1", "zero2", "zero3", "hsdp"},
       .doc = "What is sharded over the data-parallel ranks: the optimizer (zero1), gradients "
              "too (zero2), parameters too (zero3, FSDP), or all of it inside a node (hsdp).",
       .example = R"("none")",
       .aliases = {"zero", "zero_stage", "fsdp"},
       .shown = true},
      [](auto& s) -> auto& { return s.plan.sharding; }));
  fields.push_back(choice<Scenario>(
      {.path = "plan.tables",
       .label = "{} tables",
       .choices = {"replicated", "sharded"},
       .doc = "Large tables (embeddings of a recommender, a classifier of many identities): on every GPU, or spread "
              "over all of them (partial FC, hybrid-parallel recommenders).",
       .example = R"("sharded")",
       .aliases = {"partial_fc", "embedding_parallel", "model_parallel_classifier"},
       .shown = true},
      [](auto& s) -> auto& { return s.plan.tables; }));
  fields.push_back(choice<Scenario>(
      {.path = "plan.recompute",
       .label = "recompute {}",
       .choices = {"none", "selective", "full"},
       .doc = "Which activations are computed again in the backward pass.",
       .example = R"("full")",
       .aliases = {"gradient_checkpointing", "checkpointing"}},
      [](auto& s) -> auto& { return s.plan.recompute; }));
  fields.push_back(choice<Scenario>(
      {.path = "plan.schedule",
       .label = "schedule {}",
       .choices = {"gpipe", "1f1b", "interleaved", "zero-bubble"},
       .doc = "Order of micro-batches over pipeline stages.",
       .example = R"("1f1b")"},
      [](auto& s) -> auto& { return s.plan.schedule; }));
  fields.push_back(degree("plan.interleave", "interleave {}", "Model chunks per pipeline stage (virtual stages).",
                          {"vpp"}, &sim::Plan::interleave));
}

}  // namespace foretrain::scenarios
