#include "scenarios/field_rows.h"

namespace foretrain::scenarios {
namespace {

using sim::Scenario;
using namespace rows;

Field<Scenario> degree(FieldInfo info, std::int64_t sim::Plan::*member) {
  info.range = {1, 65536};
  info.example = "2";
  return integer<Scenario>(
      std::move(info), [member](auto& s) -> auto& { return s.plan.*member; });
}

void add_degrees(Fields& fields) {
  fields.push_back(degree({.path = "plan.tensor",
                           .label = "tensor {}",
                           .unit = "ranks",
                           .doc = "Tensor-parallel degree: so many ranks share the matrices of every layer.",
                           .aliases = {"tp", "tensor_parallel", "tensor_model_parallel_size", "model_parallel_size"}},
                          &sim::Plan::tensor));
  fields.push_back(flag<Scenario>(
      {.path = "plan.sequence_parallel",
       .label = "sequence-parallel {}",
       .doc = "Norms, residual connections and dropout work on a tensor-parallel rank's part of the tokens; all-reduces "
              "become reduce-scatters and all-gathers, and activations shrink. It needs `tensor` above 1.",
       .example = "true",
       .aliases = {"sp", "sequence_parallelism"}},
      [](auto& s) -> auto& { return s.plan.sequence_parallel; }));
  fields.push_back(degree({.path = "plan.pipeline",
                           .label = "pipeline {}",
                           .unit = "stages",
                           .doc = "Pipeline stages: so many ranks have different layers.",
                           .aliases = {"pp", "pipeline_parallel", "pipeline_model_parallel_size", "pipe_parallel_size",
                                       "stages"}},
                          &sim::Plan::pipeline));
  fields.push_back(degree({.path = "plan.context",
                           .label = "context {}",
                           .unit = "ranks",
                           .doc = "Context-parallel degree; above 1 it is refused: not simulated.",
                           .aliases = {"cp", "context_parallel", "context_parallel_size"}},
                          &sim::Plan::context));
  fields.push_back(degree({.path = "plan.expert",
                           .label = "expert {}",
                           .unit = "ranks",
                           .doc = "Expert-parallel degree, inside the data-parallel ranks; above 1 it is refused: not "
                                  "simulated.",
                           .aliases = {"ep", "expert_parallel", "expert_model_parallel_size"}},
                          &sim::Plan::expert));
}

void add_state(Fields& fields) {
  fields.push_back(choice<Scenario>(
      {.path = "plan.sharding",
       .label = "sharding {}",
       .choices = {"none", "zero1", "zero2", "zero3", "hsdp"},
       .doc = "What is in shards over the data-parallel ranks: nothing, the optimizer's state (zero1; Megatron's "
              "distributed optimizer), gradients too (zero2), parameters too (zero3; FSDP), or all of it inside groups "
              "of `shard_group` ranks that hold copies of one another (hsdp). Absent: the stack's own way, which is "
              "zero3 for `pytorch-fsdp`.",
       .example = R"("zero1")",
       .aliases = {"zero", "zero_stage", "fsdp", "sharding_strategy", "use_distributed_optimizer"}},
      [](auto& s) -> auto& { return s.plan.sharding; }));
  fields.push_back(integer<Scenario>(
      {.path = "plan.shard_group",
       .label = "shards over {} ranks",
       .unit = "ranks",
       .range = {0, 1048576},
       .doc = "Of hsdp: so many ranks share one copy of the state; 0 or absent: those of a node.",
       .example = "8",
       .aliases = {"mics_shard_size", "zero_hpz_partition_size", "data_parallel_shard_degree"}},
      [](auto& s) -> auto& { return s.plan.shard_group; }));
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
}

void add_recompute(Fields& fields) {
  fields.push_back(choice<Scenario>(
      {.path = "plan.recompute",
       .label = "recompute {}",
       .choices = {"none", "selective", "full"},
       .doc = "Which activations are computed again in the backward pass: none, those of the attention core "
              "(selective), or whole layers (full).",
       .example = R"("full")",
       .aliases = {"gradient_checkpointing", "activation_checkpointing", "checkpointing", "recompute_granularity"}},
      [](auto& s) -> auto& { return s.plan.recompute; }));
  fields.push_back(integer<Scenario>(
      {.path = "plan.recompute_every",
       .label = "keeping the input of every {} layers",
       .unit = "layers",
       .range = {1, 1e4},
       .doc = "Of full recompute: the input of every so many layers is kept.",
       .example = "2",
       .aliases = {"recompute_num_layers", "checkpoint_num_layers", "activation_checkpoint_interval"}},
      [](auto& s) -> auto& { return s.plan.recompute_every; }));
}

void add_stages(Fields& fields) {
  fields.push_back(choice<Scenario>(
      {.path = "plan.schedule",
       .label = "schedule {}",
       .choices = {"none", "gpipe", "1f1b", "interleaved", "zero-bubble", "zb-h1", "zb-h2", "zb-v"},
       .doc = "Order of micro-batches over pipeline stages. none: one at a time goes forward and back through all "
              "stages (mere placement of layers); gpipe: all forward passes, then all backward ones; 1f1b; interleaved: "
              "1f1b over `interleave` chunks per stage; zb-h1, zb-h2, zb-v: zero-bubble schedules (zero-bubble is "
              "zb-h1).",
       .example = R"("1f1b")",
       .aliases = {"pipeline_schedule"}},
      [](auto& s) -> auto& { return s.plan.schedule; }));
  fields.push_back(degree({.path = "plan.interleave",
                           .label = "interleave {}",
                           .unit = "chunks",
                           .doc = "Chunks of layers per pipeline stage (virtual stages).",
                           .aliases = {"vpp", "virtual_pipeline_model_parallel_size"}},
                          &sim::Plan::interleave));
  fields.push_back(choice<Scenario>(
      {.path = "plan.stage_split",
       .label = "stages of like {}",
       .choices = {"even", "time"},
       .doc = "How layers are dealt out to stages: as evenly as their number allows, or so that stages take like time "
              "(embedding and output count).",
       .example = R"("time")",
       .aliases = {"partition_method", "split"}},
      [](auto& s) -> auto& { return s.plan.stage_split; }));
  fields.push_back(integers<Scenario>(
      {.path = "plan.stage_layers",
       .label = "stages of {} layers",
       .unit = "layers",
       .range = {0, 1e4},
       .doc = "Layers of every chunk in forward order, in place of `stage_split`; interleave · pipeline numbers.",
       .example = "[24,24]",
       .aliases = {"layers_per_stage", "pipeline_layers", "decoder_first_pipeline_num_layers"}},
      [](auto& s) -> auto& { return s.plan.stage_layers; }));
}

}  // namespace

void add_plan_fields(Fields& fields) {
  add_degrees(fields);
  add_state(fields);
  add_recompute(fields);
  add_stages(fields);
}

}  // namespace foretrain::scenarios
