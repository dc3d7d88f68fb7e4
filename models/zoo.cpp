#include "models/zoo.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "models/convnet.h"
#include "models/detector.h"
#include "models/diffusion.h"
#include "models/face_recognition.h"
#include "models/inception.h"
#include "models/recommender.h"
#include "models/recurrent.h"
#include "models/segmentation.h"
#include "models/sizes.h"
#include "models/speech.h"
#include "models/speech_synthesis.h"
#include "models/transformer.h"

namespace foretrain::models {
namespace {

struct Builder {
  std::string name, family;
  bool takes_sequence;
  void (*build)(Model&, const Sizes&);
};

const std::vector<Builder>& builders() {
  static const std::vector<Builder> all = {{"resnet", "convnet", false, build_resnet},
                                           {"vgg", "convnet", false, build_vgg},
                                           {"alexnet", "convnet", false, build_alexnet},
                                           {"inception-v3", "convnet", false, build_inception_v3},
                                           {"efficientnet", "convnet", false, build_efficientnet},
                                           {"face-resnet", "convnet", false, build_face_resnet},
                                           {"mobile-facenet", "convnet", false, build_mobile_facenet},
                                           {"encoder", "transformer", true, build_encoder},
                                           {"electra", "transformer", true, build_electra},
                                           {"encoder-decoder", "transformer", true, build_encoder_decoder},
                                           {"t5", "transformer", true, build_t5},
                                           {"transformer-xl", "transformer", true, build_transformer_xl},
                                           {"decoder", "transformer", true, build_decoder},
                                           {"vision-transformer", "transformer", false, build_vision_transformer},
                                           {"ssd", "convnet", false, build_ssd},
                                           {"retinanet", "convnet", false, build_retinanet},
                                           {"mask-rcnn", "convnet", false, build_mask_rcnn},
                                           {"unet", "convnet", false, build_unet},
                                           {"unet-3d", "convnet", false, build_unet_3d},
                                           {"diffusion-unet", "convnet", false, build_diffusion_unet},
                                           {"jasper", "convnet", false, build_jasper},
                                           {"tacotron2", "recurrent", false, build_tacotron2},
                                           {"fastpitch", "transformer", false, build_fastpitch},
                                           {"waveglow", "convnet", false, build_waveglow},
                                           {"dlrm", "recommender", false, build_dlrm},
                                           {"ncf", "recommender", false, build_ncf},
                                           {"wide-and-deep", "recommender", false, build_wide_and_deep},
                                           {"gnmt", "recurrent", true, build_gnmt},
                                           {"rnn-transducer", "recurrent", false, build_rnn_transducer},
                                           {"crnn", "recurrent", false, build_crnn}};
  return all;
}

// A zoo file, parsed; views point into `json`.
struct Entry {
  std::string name, source;
  Json json;
  [[nodiscard]] JsonView view() const { return {json, source}; }
};

Entry parse(const DataFile& file) {
  Entry entry{file.name, file.source, parse_json(file.text, file.source)};
  entry.view().allow_only({"builder", "description", "aliases", "source", "sizes", "published_parameters",
                           "published_forward_flops_per_sample", "published_flops_convention"});
  return entry;
}

std::string without_separators(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != ' ') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

bool has_alias(const Entry& entry, const std::string& plain) {
  const auto aliases = entry.view().find("aliases");
  if (!aliases) return false;
  const auto items = aliases->items();
  return std::any_of(items.begin(), items.end(),
                     [&plain](const JsonView& alias) { return without_separators(alias.string()) == plain; });
}

Entry find_entry(const std::string& name, const std::string& where, const DataStore& data) {
  const std::vector<DataFile> files = data.files("zoo");
  const std::string plain = without_separators(name);
  for (const DataFile& file : files) {
    if (without_separators(file.name) == plain) return parse(file);
  }
  std::vector<std::string> names;
  for (const DataFile& file : files) {
    Entry entry = parse(file);
    if (has_alias(entry, plain)) return entry;
    names.push_back(file.name);
  }
  throw Error(fmt::format("no model is called {}", quoted(name)), where, name_hint(name, names, 40));
}

const Builder& find_builder(const std::string& name) {
  const auto found = std::find_if(builders().begin(), builders().end(),
                                  [&name](const Builder& builder) { return builder.name == name; });
  assert(found != builders().end());
  return *found;
}

const Builder& builder_of(const Entry& entry) {
  std::vector<std::string> names;
  for (const Builder& builder : builders()) names.push_back(builder.name);
  return find_builder(entry.view().at("builder").one_of(names));
}

Model build(const Entry& entry, const std::map<std::string, double>& overrides, const std::string& where,
            const BatchShape& batch) {
  Model model;
  model.name = entry.name;
  model.micro_batch = batch.micro_batch;
  model.sequence = batch.sequence;
  model.source = entry.view().at("source").string();
  build_by(builder_of(entry).name, Sizes(entry.view().at("sizes"), overrides, where), model);
  return model;
}

double optional_number(const JsonView& view, const std::string& key) {
  const auto member = view.find(key);
  return member ? member->number({0, 1e18, true}) : 0;
}

}  // namespace

void build_by(const std::string& builder, const Sizes& sizes, Model& model) {
  const Builder& found = find_builder(builder);
  if (model.sequence > 0 && !found.takes_sequence) {
    throw Error(fmt::format("{} has no sequence length to choose, but {} is given", printable(model.name),
                            model.sequence),
                "training.sequence", "leave it out; image sizes are sizes of the model");
  }
  model.family = found.family;
  found.build(model, sizes);
}

Model build_zoo_model(const std::string& name, const std::map<std::string, double>& overrides, const std::string& where,
                      const BatchShape& batch, const DataStore& data) {
  return build(find_entry(name, where, data), overrides, where, batch);
}

std::vector<ZooEntry> zoo_entries(const DataStore& data) {
  std::vector<ZooEntry> entries;
  for (const DataFile& file : data.files("zoo")) {
    const Entry entry = parse(file);
    ZooEntry row;
    row.name = entry.name;
    row.family = builder_of(entry).family;
    row.description = entry.view().at("description").string();
    row.source = entry.view().at("source").string();
    row.published_parameters = optional_number(entry.view(), "published_parameters");
    row.published_forward_flops = optional_number(entry.view(), "published_forward_flops_per_sample");
    const Model model = build(entry, {}, "", BatchShape{});
    row.parameters = parameter_count(model);
    row.forward_flops = forward_flops(model);
    entries.push_back(row);
  }
  return entries;
}

std::map<std::string, double> zoo_sizes(const std::string& name, const DataStore& data) {
  const Entry entry = find_entry(name, "", data);
  const JsonView sizes = entry.view().at("sizes");
  std::map<std::string, double> numbers;
  for (const std::string& key : sizes.keys()) {
    if (const JsonView size = sizes.at(key); size.is_number()) numbers[key] = size.number();
  }
  return numbers;
}

}  // namespace foretrain::models
