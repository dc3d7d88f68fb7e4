// Names, overrides and what is refused.
#include "base/error.h"
#include "models/model.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using Catch::Matchers::Contains;
using test::zoo_model;

TEST_CASE("names are found in any case, with dashes, underscores or neither") {
  CHECK(zoo_model("ResNet-50").name == "resnet50");
  CHECK(zoo_model("RESNET50").name == "resnet50");
  CHECK(zoo_model("resnet_50").name == "resnet50");
  CHECK(zoo_model("ResNet-50-v1").name == "resnet50-v1");
  CHECK(zoo_model("resnet50-v1.5").name == "resnet50");
  CHECK(zoo_model("GPT-2").name == "gpt2");
  CHECK(zoo_model("GPT2-XL").name == "gpt2-xl");
  CHECK(zoo_model("ViT-B").name == "vit-b-16");
  CHECK(zoo_model("ViT-B/16").name == "vit-b-16");
  CHECK(zoo_model("BERT_Large").name == "bert-large");
  CHECK(zoo_model("VGG-16").name == "vgg16");
}

TEST_CASE("a model says what it is") {
  const Model image = zoo_model("vit-b");
  CHECK(image.family == "transformer");
  CHECK(image.sample_unit == "image");
  CHECK(image.sequence == 0);
  CHECK(image.sample_elements == 3. * 224 * 224);
  const Model text = zoo_model("bert-base", 2);
  CHECK(text.sample_unit == "sequence");
  CHECK(text.sequence == 512);
  CHECK(zoo_model("bert-base", 2, 128).sequence == 128);
  const Model line = zoo_model("crnn-handwriting");
  CHECK(line.family == "recurrent");
  CHECK(line.sample_unit == "line");
  CHECK(line.sample_elements == 64. * 1024);
  CHECK_FALSE(line.source.empty());
}

TEST_CASE("an unknown model is refused with the nearest name") {
  const Error error = test::thrown([] { (void)zoo_model("resnet5"); });
  CHECK_THAT(error.what(), Contains("\"resnet5\""));
  CHECK_THAT(error.hint(), Contains("resnet50"));
  CHECK(error.where() == "scenario.json: /model");
  CHECK_THAT(test::thrown([] { (void)zoo_model("bert-bas"); }).hint(), Contains("bert-base"));
}

TEST_CASE("sizes are overridden by the zoo file's own keys") {
  CHECK(zoo_sizes("gpt2", DataStore()).at("layers") == 12);
  CHECK(zoo_sizes("ResNet-50", DataStore()).count("blocks_per_stage") == 0);  // a list
  CHECK(zoo_model("gpt2", 1, 0, {{"layers", 6}}).layers.size() == 8);
  // 384×384 images: three times the pixels, three times the work of the convolutions.
  const double small = forward_flops(zoo_model("resnet50")).value;
  CHECK(forward_flops(zoo_model("resnet50", 1, 0, {{"image", 448}})).value == Approx(4 * small).epsilon(0.002));
}

TEST_CASE("bad overrides are refused before anything is built, each with its place") {
  const auto refused = [](const std::string& model, const std::string& key, double value) {
    const Error error = test::thrown([&] { (void)zoo_model(model, 1, 0, {{key, value}}); });
    CHECK(error.where() == "scenario.json: /model/" + key);
    return std::string(error.what()) + " | " + error.hint();
  };
  CHECK_THAT(refused("gpt2", "layer", 6), Contains("no size \"layer\"") && Contains("layers"));
  CHECK_THAT(refused("gpt2", "layers", 0), Contains("an integer from 1 to 4096, found 0"));
  CHECK_THAT(refused("gpt2", "layers", 2.5), Contains("found 2.5"));
  CHECK_THAT(refused("gpt2", "layers", 1e12), Contains("found 1000000000000"));
  CHECK_THAT(refused("gpt2", "hidden", -768), Contains("found -768"));
  CHECK_THAT(refused("gpt2", "heads", 11), Contains("a hidden size of 768 does not divide into 11 heads"));
  CHECK_THAT(refused("gpt2", "key_value_heads", 5), Contains("12 heads do not divide into 5"));
  CHECK_THAT(refused("gpt2", "sequence", 2048), Contains("1024 learned positions"));
  CHECK_THAT(refused("gpt2", "biases", 2), Contains("from 0 to 1"));
  CHECK_THAT(refused("resnet50", "blocks_per_stage", 3), Contains("is a list"));
  CHECK_THAT(refused("resnet50", "image", 8), Contains("from 32"));
  CHECK_THAT(refused("vit-b-16", "patch", 15), Contains("does not divide into patches of 15"));
  CHECK_THAT(refused("vit-b-16", "image", 225), Contains("does not divide into patches of 16"));
  CHECK_THAT(refused("bert-base", "classes", -1), Contains("found -1"));
  CHECK_THAT(refused("bert-base", "predictions_per_sequence", 600), Contains("in a sequence of 512"));
  CHECK_THAT(refused("crnn-handwriting", "image_height", 32), Contains("into 0; it must become 1"));
  CHECK_THAT(refused("crnn-handwriting", "target_length", 300), Contains("only 255 time steps"));
}

TEST_CASE("BERT's sentence heads need the pooled output") {
  const std::map<std::string, double> overrides = {{"pooler", 0}, {"nsp_head", 1}};
  const Error error = test::thrown([&] { (void)zoo_model("bert-base", 1, 0, overrides); });
  CHECK_THAT(error.what(), Contains("reads the pooled output"));
  CHECK(error.where() == "scenario.json: /model/nsp_head");
}

TEST_CASE("a sequence that a model cannot have is refused") {
  const Error longer = test::thrown([] { (void)zoo_model("gpt2", 1, 2048); });
  CHECK_THAT(longer.what(), Contains("2048 tokens") && Contains("1024 learned positions"));
  CHECK(longer.where() == "training.sequence");
  CHECK_THAT(test::thrown([] { (void)zoo_model("resnet50", 1, 128); }).what(), Contains("no sequence length"));
  CHECK_THAT(test::thrown([] { (void)zoo_model("vit-b-16", 1, 128); }).what(), Contains("no sequence length"));
  // Rotary positions have no table that could end.
  CHECK(zoo_model("gpt2", 1, 2048, {{"learned_positions", 0}, {"rotary_positions", 1}}).sequence == 2048);
}

TEST_CASE("an impossible micro-batch is refused") {
  CHECK(test::thrown([] { (void)zoo_model("gpt2", 0); }).where() == "training.micro_batch");
  CHECK_THAT(test::thrown([] { (void)zoo_model("gpt2", -3); }).what(), Contains("found -3"));
  CHECK_THAT(test::thrown([] { (void)zoo_model("gpt2", std::int64_t{1} << 40); }).what(), Contains("1099511627776"));
}
