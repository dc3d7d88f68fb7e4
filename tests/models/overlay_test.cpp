// Further models by data alone: zoo entries of an overlay directory.
#include <fmt/format.h>

#include "models/model.h"
#include "tests/base/temporary_directory.h"
#include "tests/base/thrown.h"
#include "tests/catch.h"

using namespace foretrain;
using namespace foretrain::models;
using Catch::Matchers::Contains;

namespace {

// The entry "mine" of an overlay that holds the file `text`.
Model build_from_overlay(const std::string& text) {
  const test::TemporaryDirectory directory;
  directory.add("zoo/mine.json", text);
  ModelSource source;
  source.name = "mine";
  return build_model(source, {1, 0}, DataStore(directory.path()));
}

std::string entry(const std::string& builder, const std::string& sizes) {
  return fmt::format(R"({{"builder": "{}", "description": "a test", "source": "a test", "sizes": {{{}}}}})", builder,
                     sizes);
}

Model resnet(const std::string& blocks, int bottleneck) {
  return build_from_overlay(entry("resnet", fmt::format(R"("image": 224, "channels": 3, "classes": 1000, "width": 64,
                                     "blocks_per_stage": [{}], "bottleneck": {}, "stride_in_3x3": 1)",
                                                        blocks, bottleneck)));
}

Model vgg(const std::string& convolutions, int batch_norm) {
  return build_from_overlay(entry("vgg", fmt::format(R"("image": 224, "channels": 3, "classes": 1000,
                                  "channels_per_stage": [64, 128, 256, 512, 512], "convolutions_per_stage": [{}],
                                  "classifier_pool": 7, "classifier_width": 4096, "batch_norm": {}, "dropout": 1)",
                                                     convolutions, batch_norm)));
}

}  // namespace

TEST_CASE("the other ResNets and VGGs are zoo entries only") {
  // Parameters and multiply-adds in torchvision's documentation.
  CHECK(parameter_count(resnet("2, 2, 2, 2", 0)) == 11'689'512);
  CHECK(parameter_count(resnet("3, 4, 6, 3", 0)) == 21'797'672);
  CHECK(parameter_count(resnet("3, 4, 23, 3", 1)) == 44'549'160);
  CHECK(parameter_count(resnet("3, 8, 36, 3", 1)) == 60'192'808);
  CHECK(parameter_count(vgg("1, 1, 2, 2, 2", 0)) == 132'863'336);
  CHECK(parameter_count(vgg("2, 2, 2, 2, 2", 0)) == 133'047'848);
  CHECK(parameter_count(vgg("2, 2, 4, 4, 4", 0)) == 143'667'240);
  CHECK(parameter_count(vgg("2, 2, 3, 3, 3", 1)) == 138'365'992);
  CHECK(forward_flops(resnet("2, 2, 2, 2", 0)).value == Approx(2 * 1.81e9).epsilon(0.005));
  CHECK(forward_flops(resnet("3, 8, 36, 3", 1)).value == Approx(2 * 11.51e9).epsilon(0.005));
  CHECK(forward_flops(vgg("2, 2, 4, 4, 4", 0)).value == Approx(2 * 19.63e9).epsilon(0.005));
}

TEST_CASE("a bad zoo file is refused with its place") {
  const auto refused = [](const std::string& text) { return test::message([&] { (void)build_from_overlay(text); }); };
  CHECK_THAT(refused(entry("resnext", "")), Contains("/builder") && Contains("resnet"));
  CHECK_THAT(refused(entry("resnet", R"("image": 224)")), Contains("mine.json") && Contains("\"channels\" is missing"));
  CHECK_THAT(refused(R"({"builder": "vgg", "size": {}})"), Contains("\"size\"") && Contains("sizes"));
  CHECK_THAT(refused(R"({"builder": "vgg", "sizes": {}})"), Contains("\"source\" is missing"));
  // A key that the builder does not know, lists that do not match, stages that no image survives.
  const std::string sizes = R"("image": 32, "channels": 3, "classes": 10, "classifier_pool": 1,
                               "classifier_width": 64, "batch_norm": 0, "dropout": 0, )";
  CHECK_THAT(refused(entry("vgg", sizes + R"("channels_per_stage": [8], "convolutions_per_stage": [1], "depth": 3)")),
             Contains("depth"));
  CHECK_THAT(refused(entry("vgg", sizes + R"("channels_per_stage": [8, 8], "convolutions_per_stage": [1])")),
             Contains("/sizes/convolutions_per_stage") && Contains("1 stages here, 2"));
  CHECK_THAT(refused(entry("vgg", sizes + R"("channels_per_stage": [8, 8, 8, 8, 8, 8],
                                             "convolutions_per_stage": [1, 1, 1, 1, 1, 1])")),
             Contains("cannot be halved 6 times"));
  CHECK_THAT(refused(entry("vgg", sizes + R"("channels_per_stage": [], "convolutions_per_stage": [])")),
             Contains("found 0"));
}
