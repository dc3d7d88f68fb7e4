// Of a family draft: its model, the units it is counted in, its number format.
#include <regex>

#include <fmt/format.h>

#include "models/model.h"
#include "scenarios/corpus/family_draft.h"

namespace foretrain::scenarios {
namespace {

// Frameworks compute products of fp32 numbers in TF32 where the device can.
models::Precision default_precision(const calibrate::Device& device) {
  return device.peak.count(models::Precision::tf32) > 0 ? models::Precision::tf32 : models::Precision::fp32;
}

}  // namespace

Reason FamilyDraft::map_model() {
  const ModelFact* fact = tables_.models.first(texts_);
  if (fact == nullptr || !fact->unsupported.empty() || targets_.zoo.count(fact->zoo) == 0) return unsupported("model");
  texts_["zoo"] = fact->zoo;
  scenario_.model.name = fact->zoo;
  scenario_.model.where = row_.place + ": model";
  scenario_.training.optimizer = fact->optimizer;
  const bool takes_sequence = models::build_model(scenario_.model, {}, catalogue_.data()).sequence > 0;
  if (takes_sequence) scenario_.training.sequence = fact->sequence;
  for (const NumbersFact* sizes : tables_.sizes.all(texts_)) {
    for (const auto& [key, value] : *sizes) scenario_.model.overrides[key] = value;
  }
  read_sequence_or_image(texts_.at("seq_or_image"));
  return std::nullopt;
}

// "224", "224x224" of models that see images, "seq512", "512", "512 tokens" of others that have a length to choose.
void FamilyDraft::read_sequence_or_image(const std::string& text) {
  static const std::regex sequence("(seq ?)?([1-9][0-9]{0,6})( tokens)?"), image("([1-9][0-9]{0,4})(x[0-9]{1,5})?");
  const auto sizes = models::zoo_sizes(scenario_.model.name, catalogue_.data());
  const auto own = sizes.find("image");
  std::smatch match;
  if (own != sizes.end()) {
    if (!std::regex_match(text, match, image)) return;
    const double side = std::stod(match[1]);
    if (own->second != side) scenario_.model.overrides["image"] = side;
  } else if (std::regex_match(text, match, sequence)) {
    const models::Model model = models::build_model(scenario_.model, {}, catalogue_.data());
    if (model.sequence > 0) scenario_.training.sequence = std::stoll(match[2]);
  }
}

Reason FamilyDraft::map_units() {
  const UnitFact* fact = tables_.units.first(texts_);
  if (fact == nullptr) return unsupported("metric");
  units_ = *fact;
  if (units_.per_sample > 0) return std::nullopt;
  const models::Model model = models::build_model(scenario_.model, {1, scenario_.training.sequence}, catalogue_.data());
  if (model.sequence < 1) return unsupported("metric");
  units_.per_sample = static_cast<double>(model.sequence);
  return std::nullopt;
}

Reason FamilyDraft::map_precision() {
  const std::string* name = tables_.precisions.first(texts_);
  if (name == nullptr) return unsupported("precision");
  models::Precision& precision = scenario_.training.precision;
  const calibrate::Device& device = *node_.device;
  if (*name != "default" && *name != "not stated") {
    precision = models::precision_from(*name);
  } else {
    precision = default_precision(device);
  }
  if (*name == "not stated") {
    const models::Model one = models::build_model(scenario_.model, {1, scenario_.training.sequence}, catalogue_.data());
    const double flops_per_second =
        models::training_flops(one).value * anchor_samples_per_second() / static_cast<double>(row_.gpus.front());
    if (flops_per_second > device.peak.at(precision).value) precision = models::Precision::fp16;
    notes_.push_back(fmt::format("precision not stated: {} assumed", models::to_string(precision)));
  }
  // Devices without tensor cores, or without the format, compute as they can.
  if (device.peak.count(precision) == 0) precision = default_precision(device);
  return std::nullopt;
}

}  // namespace foretrain::scenarios
