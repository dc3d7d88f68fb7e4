// Parameter counts against published ones: exact, since they are unambiguous.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::zoo_model;

TEST_CASE("every zoo entry has exactly the published number of parameters") {
  int with_published = 0;
  for (const ZooEntry& entry : zoo_entries(DataStore())) {
    if (entry.published_parameters == 0) continue;
    INFO(entry.name);
    CHECK(entry.parameters == entry.published_parameters);
    ++with_published;
  }
  CHECK(with_published >= 23);
}

TEST_CASE("convolutional networks have torchvision's parameters") {
  // torchvision's documentation: resnet50 and vgg16.
  CHECK(parameter_count(zoo_model("resnet50")) == 25'557'032);
  CHECK(parameter_count(zoo_model("resnet50-v1")) == 25'557'032);  // strides have no weights
  CHECK(parameter_count(zoo_model("vgg16")) == 138'357'544);
}

TEST_CASE("groups divide the weights of the 3×3 convolutions") {
  // ResNeXt-101 32x4d by hand from ResNeXt-50 32x4d (torchvision: 25,028,904): 17 more blocks in the third
  // stage, 1024 channels outside and 512 inside: 2·1024·512 + 9·512·512/32 weights, norms 2·(512 + 512 + 1024).
  const double block = 2. * 1024 * 512 + 9. * 512 * 512 / 32 + 2. * (512 + 512 + 1024);
  CHECK(parameter_count(zoo_model("resnext101-32x4d")) == 25'028'904 + 17 * block);
}

TEST_CASE("BERT has the parameters of its encoder with pooler") {
  // Embeddings (30522 + 512 + 2)·768 + 2·768 = 23,837,184; a layer 4·(768² + 768) + 2·768·3072 + 3072 + 768
  // + 2·2·768 = 7,087,872, twelve of them 85,054,464; pooler 768² + 768 = 590,592.
  CHECK(parameter_count(zoo_model("bert-base")) == 23'837'184 + 85'054'464 + 590'592);
  CHECK(parameter_count(zoo_model("bert-base")) == 109'482'240);
  CHECK(parameter_count(zoo_model("bert-large")) == 335'141'888);
}

TEST_CASE("BERT's pre-training heads add the transform and two biases, the decoder being tied") {
  // Masked language model: 768² + 768 and a norm of 2·768, and a bias per word: 590,592 + 1,536 + 30,522.
  const double mlm = parameter_count(zoo_model("bert-base", 1, 0, {{"mlm_head", 1}}));
  CHECK(mlm - 109'482'240 == 590'592 + 1'536 + 30'522);
  // Next sentence: 2·768 + 2. The sum is what Hugging Face's BertForPreTraining holds.
  CHECK(parameter_count(zoo_model("bert-base", 1, 0, {{"mlm_head", 1}, {"nsp_head", 1}})) == 110'106'428);
  CHECK(parameter_count(zoo_model("bert-large", 1, 0, {{"mlm_head", 1}, {"nsp_head", 1}})) == 336'226'108);
}

TEST_CASE("the GPT-2 family has the parameters of the released checkpoints") {
  CHECK(parameter_count(zoo_model("gpt2")) == 124'439'808);
  CHECK(parameter_count(zoo_model("gpt2-medium")) == 354'823'168);
  CHECK(parameter_count(zoo_model("gpt2-large")) == 774'030'080);
  CHECK(parameter_count(zoo_model("gpt2-xl")) == 1'557'611'200);
}

TEST_CASE("an untied output layer is one more table of embeddings") {
  const double tied = parameter_count(zoo_model("gpt2"));
  CHECK(parameter_count(zoo_model("gpt2", 1, 0, {{"tied_embeddings", 0}})) - tied == 50'257.0 * 768);
}

TEST_CASE("a decoder of Llama 2's sizes has Llama 2 7B's parameters") {
  // 32000·4096 twice; 32 layers of 4·4096² + 3·4096·11008 + 2·4096; a last norm of 4096: 6,738,415,616
  // (Touvron et al. 2023, arXiv:2307.09288, "7B"; the released checkpoint's count).
  const Model llama = zoo_model("gpt2", 1, 0,
                                {{"layers", 32},
                                 {"hidden", 4096},
                                 {"heads", 32},
                                 {"key_value_heads", 32},
                                 {"feed_forward", 11008},
                                 {"vocabulary", 32000},
                                 {"gated_feed_forward", 1},
                                 {"tied_embeddings", 0},
                                 {"biases", 0},
                                 {"query_key_value_biases", 0},
                                 {"rms_norm", 1},
                                 {"learned_positions", 0},
                                 {"rotary_positions", 1},
                                 {"dropout", 0},
                                 {"sequence", 4096}});
  CHECK(parameter_count(llama) == 6'738'415'616);
}

TEST_CASE("grouped queries shrink the key and value projections") {
  // 12 heads of 64 share 4 key-value heads: keys and values lose 2·(12 − 4)·64 columns and biases per layer.
  const double full = parameter_count(zoo_model("gpt2"));
  const double grouped = parameter_count(zoo_model("gpt2", 1, 0, {{"key_value_heads", 4}}));
  CHECK(full - grouped == 12 * 2.0 * 8 * 64 * (768 + 1));
}

TEST_CASE("ViT-B/16 has torchvision's parameters") {
  CHECK(parameter_count(zoo_model("vit-b-16")) == 86'567'656);
  // Without a class token one vector and one position less.
  CHECK(parameter_count(zoo_model("vit-b-16", 1, 0, {{"class_token", 0}})) == 86'567'656 - 2 * 768);
}

TEST_CASE("the handwriting CRNN has about 9 million parameters") {
  // 3×3 convolutions with bias, in·9·out + out: 640 + 73,856 + 295,168 + 590,080 + 1,180,160 + 2,359,808;
  // the 2×2 one 512·4·512 + 512 = 1,049,088: together 5,548,800. Batch norm on two layers 2·2·512 = 2,048.
  // A bidirectional LSTM of 256 over 512 inputs: 2·(4·256·(512 + 256) + 2·4·256) = 1,576,960, twice, since
  // two directions of 256 are 512 inputs again. Linear 512·101 + 101 = 51,813.
  CHECK(parameter_count(zoo_model("crnn-handwriting")) == 5'548'800 + 2'048 + 2 * 1'576'960 + 51'813);
  CHECK(parameter_count(zoo_model("crnn-handwriting")) == 8'756'581);
}

TEST_CASE("parameters are named as PyTorch names them, with its shapes, in forward order") {
  const Model gpt2 = zoo_model("gpt2");
  const auto& projection = test::find_operator(gpt2, "h.11.mlp.c_proj");
  REQUIRE(projection.parameters.size() == 2);
  CHECK(projection.parameters[0].name == "h.11.mlp.c_proj.weight");
  CHECK(projection.parameters[0].shape == std::vector<std::int64_t>{768, 3072});
  CHECK(projection.parameters[1].name == "h.11.mlp.c_proj.bias");

  const Model resnet = zoo_model("resnet50");
  CHECK(resnet.layers.front().operators.front().parameters.front().name == "conv1.weight");
  CHECK(test::find_operator(resnet, "layer3.5.conv2").parameters.front().shape ==
        std::vector<std::int64_t>{256, 256, 3, 3});
  CHECK(test::find_operator(resnet, "layer1.0.downsample.0").parameters.front().name == "layer1.0.downsample.0.weight");

  const Model crnn = zoo_model("crnn-handwriting");
  const auto& lstm = test::find_operator(crnn, "rnn.l1");
  REQUIRE(lstm.parameters.size() == 8);
  CHECK(lstm.parameters[5].name == "rnn.weight_hh_l1_reverse");
  CHECK(lstm.parameters[5].shape == std::vector<std::int64_t>{1024, 256});
}
