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
                                     "blocks_per_stage": [{}], "bottleneck": {}, "stride_in_3x3": 1,
                                     "groups": 1, "group_width": 64)",
                                                        blocks, bottleneck)));
}

Model vgg(const std::string& convolutions, int batch_norm) {
  return build_from_overlay(entry("vgg", fmt::format(R"("image": 224, "channels": 3, "classes": 1000,
                                  "channels_per_stage": [64, 128, 256, 512, 512], "convolutions_per_stage": [{}],
                                  "classifier_pool": 7, "classifier_width": 4096, "batch_norm": {}, "dropout": 1)",
                                                     convolutions, batch_norm)));
}

}  // namespace

TEST_CASE("further ResNets and VGGs are zoo entries only") {
  // 200 layers (3, 24, 36, 3 bottlenecks): a block of width w holds 17 w² weights and 12 w of norms;
  // ResNet-152 and sixteen more blocks of the
  // second stage, 17·128² + 12·128 each.
  CHECK(parameter_count(resnet("3, 24, 36, 3", 1)) - 60'192'808 == 16. * (17 * 128 * 128 + 12 * 128));
  // VGG-16 with batch norm: torchvision's documentation, vgg16_bn.
  CHECK(parameter_count(vgg("2, 2, 3, 3, 3", 1)) == 138'365'992);
}

TEST_CASE("a bad zoo file is refused with its place") {
  const auto refused = [](const std::string& text) { return test::message([&] { (void)build_from_overlay(text); }); };
  CHECK_THAT(refused(entry("densenet", "")), Contains("/builder") && Contains("resnet"));
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
