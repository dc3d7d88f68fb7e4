#include "scenarios/field_rows.h"

#include <nlohmann/json.hpp>

#include "models/precision.h"

namespace foretrain::scenarios {

using sim::Scenario;
using namespace rows;

void add_training_fields(Fields& fields) {
  fields.push_back(integer<Scenario>(
      {.path = "training.micro_batch",
       .label = "micro-batch {}",
       .unit = "samples",
       .range = {1, 1e6},
       .doc = "Samples per GPU in one forward pass.",
       .example = "64",
       .aliases = {"batch", "batch_size", "per_device_train_batch_size", "mbs", "train_micro_batch_size_per_gpu",
                   "local_batch"},
       .required = true,
       .shown = true},
      [](auto& s) -> auto& { return s.training.micro_batch; }));
  fields.push_back(integer<Scenario>(
      {.path = "training.global_batch",
       .label = "global batch {}",
       .unit = "samples",
       .range = {0, largest_global_batch},
       .doc =
           "Samples per optimizer step over all GPUs; 0 or absent: micro_batch times the data-parallel degree, which "
           "is gpus / (tensor · pipeline · context). What goes beyond that is gradient accumulation.",
       .example = "64",
       .aliases = {"train_batch_size", "gbs", "total_batch_size", "gradient_accumulation_steps", "accumulation"}},
      [](auto& s) -> auto& { return s.training.global_batch; }));
  fields.push_back(integer<Scenario>(
      {.path = "training.sequence",
       .label = "sequence {}",
       .unit = "tokens",
       .range = {0, 1e7},
       .doc = "Length of a sample, for models that have one; 0 or absent: the model's own.",
       .example = "1024",
       .aliases = {"sequence_length", "seq_len", "seq_length", "block_size", "context_length"}},
      [](auto& s) -> auto& { return s.training.sequence; }));
  fields.push_back(
      {{.path = "training.precision",
        .label = "{}",
        .type = FieldType::choice,
        .choices = models::precision_names(),
        .doc = "fp16, bf16 and fp8 are mixed precision as frameworks do it (fp32 master weights); tf32 is fp32 "
               "with TF32 products.",
        .example = R"("fp16")",
        .aliases = {"dtype", "mixed_precision", "amp"},
        .shown = true},
       [](const JsonView& view, Scenario& s) {
         s.training.precision = models::precision_from(view.one_of(models::precision_names()));
       },
       [](const Scenario& s, Json& out) { out = models::to_string(s.training.precision); },
       {}});
  fields.push_back(choice<Scenario>(
      {.path = "training.optimizer",
       .label = "{}",
       .choices = {"sgd", "adam", "adamw", "lamb"},
       .doc = "Decides the optimizer's time and memory.",
       .example = R"("adam")",
       .aliases = {"optim"},
       .shown = true},
      [](auto& s) -> auto& { return s.training.optimizer; }));
  const std::vector<std::string> scalings = {"weak", "strong"};
  fields.push_back(
      {{.path = "training.scaling",
        .label = "{} scaling",
        .type = FieldType::choice,
        .choices = scalings,
        .doc = "With more GPUs the global batch grows (weak) or stays (strong).",
        .example = R"("weak")",
        .shown = true},
       [scalings](const JsonView& view, Scenario& s) {
         s.training.scaling = view.one_of(scalings) == "weak" ? sim::Scaling::weak : sim::Scaling::strong;
       },
       [](const Scenario& s, Json& out) { out = s.training.scaling == sim::Scaling::weak ? "weak" : "strong"; },
       {}});
  fields.push_back(number<Scenario>(
      {.path = "training.dataset_samples",
       .label = "{} dataset samples",
       .unit = "samples",
       .range = {0, 1e15},
       .doc = "Samples of one epoch; with it times and costs are given per epoch. 0 or absent: "
              "not stated.",
       .example = "5000000",
       .aliases = {"dataset_size", "samples"},
       .shown = true},
      [](auto& s) -> auto& { return s.training.dataset_samples; }));
  fields.push_back(number<Scenario>(
      {.path = "training.epochs",
       .label = "{} epochs",
       .unit = "epochs",
       .range = {0, 1e9},
       .doc = "How often the dataset is gone through; with it the whole run's time and cost are "
              "given. 0 or absent: not stated.",
       .example = "20",
       .aliases = {"num_train_epochs", "num_epochs"},
       .shown = true},
      [](auto& s) -> auto& { return s.training.epochs; }));
}

}  // namespace foretrain::scenarios
