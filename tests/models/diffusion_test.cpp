// Stable Diffusion's U-Net: parameters and FLOPs.
#include "models/model.h"
#include "tests/catch.h"
#include "tests/models/zoo_models.h"

using namespace foretrain;
using namespace foretrain::models;
using test::find_operator;
using test::zoo_model;

TEST_CASE("the U-Nets of Stable Diffusion 1 and 2 differ by what reads the text") {
  // diffusers: 859,520,964 parameters (text vectors of 768, version 1), 865,910,724 (1024, version 2). Two products per
  // attention to the text: 16 transformers, 320, 640 and 1280 wide twice on the way down and three times up, 1280 in
  // the middle, 12,480 together.
  const double second = parameter_count(zoo_model("stable-diffusion-v2"));
  const double first = parameter_count(zoo_model("stable-diffusion-v2", 1, 0, {{"text_width", 768}}));
  CHECK(second == 865'910'724);
  CHECK(first == 859'520'964);
  CHECK(second - first == (1024. - 768) * 2 * 12'480);
}

TEST_CASE("the U-Net needs the published FLOPs") {
  // Published for version 1, a pair of latents of 64×64 (one with, one without the text): 1.6795e12. It counts a
  // multiply-add as two and the passes over memory as well.
  const double flops = forward_flops(zoo_model("stable-diffusion-v2", 1, 0, {{"text_width", 768}})).value;
  CHECK(flops == Approx(1.6795e12 / 2).epsilon(0.05));
}

TEST_CASE("attention among the places of an image and to the text, which needs no gradient") {
  const Model model = zoo_model("stable-diffusion-v2", 3);
  const auto& places =
      std::get<AttentionShape>(find_operator(model, "input_blocks.1.1.transformer_blocks.0.attn1.core").shape);
  CHECK(places.query_length == 64 * 64);
  CHECK(places.key_length == 64 * 64);
  CHECK(places.heads == 320 / 64);
  const auto& text =
      std::get<AttentionShape>(find_operator(model, "output_blocks.5.1.transformer_blocks.0.attn2.core").shape);
  CHECK(text.query_length == 16 * 16);
  CHECK(text.key_length == 77);
  CHECK(text.heads == 1280 / 64);
  const Operator& key = find_operator(model, "output_blocks.5.1.transformer_blocks.0.attn2.to_k");
  CHECK(forward_flops(key).value == 2. * 3 * 77 * 1024 * 1280);
  CHECK(backward_flops(key).value == forward_flops(key).value);
  // The text's vectors are kept once.
  CHECK(find_operator(model, "input_blocks.1.1.transformer_blocks.0.attn2.to_k").saved_elements == 3. * 77 * 1024);
  CHECK(key.saved_elements == 0);
}

TEST_CASE("what was seen on the way down is beside what comes up") {
  // The levels' blocks on the way up read 2560, 2560, 2560; 2560, 2560, 1920; 1920, 1280, 960; 960, 640, 640 channels.
  const Model model = zoo_model("stable-diffusion-v2");
  const std::int64_t channels[] = {2560, 2560, 2560, 2560, 2560, 1920, 1920, 1280, 960, 960, 640, 640};
  for (int i = 0; i < 12; ++i) {
    const std::string name = "output_blocks." + std::to_string(i) + ".0.in_layers.2";
    INFO(name);
    CHECK(std::get<ConvolutionShape>(find_operator(model, name).shape).in_channels == channels[i]);
  }
}
