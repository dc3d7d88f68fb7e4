// The devices' few numbers against the tables they were fitted to (every third to twelfth row of them).
#include "tests/catch.h"

#include "calibrate/attention_time.h"
#include "calibrate/catalogue.h"
#include "calibrate/operator_time.h"
#include "calibrate/product_time.h"
#include "models/precision.h"
#include "tests/calibrate/tables.h"

namespace foretrain::calibrate {
namespace {

// Tables are of single kernels: what long runs lose to power limits does not belong to them.
ProductProfile as_measured(const Device& device, models::Precision precision) {
  ProductProfile profile = device.products.at(precision);
  profile.sustained = 1;
  return profile;
}

std::int64_t whole(const TableRow& row, const std::string& column) {
  return static_cast<std::int64_t>(number(row, column));
}

void check(const Errors& errors, const std::map<std::string, double>& bounds) {
  CHECK(errors.groups().size() == bounds.size());
  for (const auto& [group, bound] : bounds) {
    INFO(group << ": mean absolute error over " << errors.count(group) << " rows");
    CHECK(errors.mean_absolute(group) < bound);
  }
}

TEST_CASE("products of the measured tables") {
  const Catalogue catalogue{DataStore()};
  Errors errors;
  for (const TableRow& row : read_table("products")) {
    const Device& device = catalogue.device(row.at("device"));
    const models::Precision precision = models::precision_from(row.at("precision"));
    const ProductProfile profile = as_measured(device, precision);
    const ProductMachine machine{profile, device.peak.at(precision), device.multiprocessors, device.memory_bandwidth,
                                 models::activation_bytes(precision)};
    const ProductSize size{1, number(row, "m"), number(row, "n"), number(row, "k")};
    errors.add(row.at("device") + " " + row.at("precision"), product_time(machine, size).total.value,
               number(row, "seconds"));
  }
  check(errors, {{"V100-SXM2-16GB fp32", 0.08},
                 {"V100-SXM2-16GB fp16", 0.12},
                 {"T4 fp32", 0.13},
                 {"T4 fp16", 0.11},
                 {"A100-SXM4-80GB fp16", 0.08},
                 {"A100-PCIE-80GB fp16", 0.08},
                 {"H100-SXM5-80GB fp16", 0.09},
                 {"P100-PCIE-16GB fp32", 0.07},
                 {"B200-SXM-180GB fp16", 0.12}});
}

TEST_CASE("convolutions of the measured tables") {
  const Catalogue catalogue{DataStore()};
  const std::map<std::string, ConvolutionPass> passes = {{"forward", ConvolutionPass::forward},
                                                         {"input_gradient", ConvolutionPass::input_gradient},
                                                         {"weight_gradient", ConvolutionPass::weight_gradient}};
  Errors errors;
  for (const TableRow& row : read_table("convolutions")) {
    const Device& device = catalogue.device(row.at("device"));
    const models::Precision precision = models::precision_from(row.at("precision"));
    const ProductProfile profile = as_measured(device, precision);
    const ProductMachine machine{profile, device.peak.at(precision), device.multiprocessors, device.memory_bandwidth,
                                 models::activation_bytes(precision)};
    models::ConvolutionShape shape;
    shape.batch = whole(row, "batch");
    shape.in_channels = whole(row, "in_channels");
    shape.height = whole(row, "height");
    shape.width = whole(row, "width");
    shape.out_channels = whole(row, "out_channels");
    shape.kernel_height = whole(row, "kernel_height");
    shape.kernel_width = whole(row, "kernel_width");
    shape.stride_height = whole(row, "stride_height");
    shape.stride_width = whole(row, "stride_width");
    shape.out_height = whole(row, "out_height");
    shape.out_width = whole(row, "out_width");
    const KernelTime time =
        convolution_time(machine, device.convolutions.at(precision), shape, passes.at(row.at("pass")));
    errors.add(row.at("device") + " " + row.at("precision"), time.total.value, number(row, "seconds"));
  }
  check(errors, {{"V100-SXM2-16GB fp32", 0.24},
                 {"V100-SXM2-16GB fp16", 0.22},
                 {"T4 fp32", 0.22},
                 {"T4 fp16", 0.28},
                 {"P100-PCIE-16GB fp32", 0.22}});
}

TEST_CASE("fused attention of the measured tables") {
  const Catalogue catalogue{DataStore()};
  Errors errors;
  for (const TableRow& row : read_table("attention")) {
    ParameterTable parameters;
    KernelChoices choices;
    choices.attention_generation = static_cast<int>(number(row, "generation"));
    const Device& device = catalogue.device(row.at("device"));
    const OperatorClock clock(device, models::Precision::bf16, choices, parameters);
    models::AttentionShape shape;
    shape.batch = whole(row, "batch");
    shape.heads = shape.key_value_heads = whole(row, "heads");
    shape.query_length = shape.key_length = whole(row, "length");
    shape.head_dimension = whole(row, "head_dimension");
    shape.causal = whole(row, "causal") != 0;
    models::Operator core;
    core.kind = models::OperatorKind::attention;
    core.shape = shape;
    double work = 0, predicted = 0;
    for (const bool forward : {true, false}) {
      if (row.at("pass") == (forward ? "backward" : "forward")) continue;
      work += attention_work(shape, forward).value;
      predicted += clock.time(core, forward ? Direction::forward : Direction::backward).duration.time.value;
    }
    errors.add(row.at("device") + " generation " + row.at("generation"), predicted,
               work / (number(row, "tflops_per_s") * 1e12));
  }
  check(errors, {{"A100-SXM4-80GB generation 1", 0.12},
                 {"A100-SXM4-80GB generation 2", 0.06},
                 {"H100-SXM5-80GB generation 1", 0.09},
                 {"H100-SXM5-80GB generation 2", 0.07},
                 {"H100-SXM5-80GB generation 3", 0.11},
                 {"B200-SXM-180GB generation 2", 0.04},
                 {"B200-SXM-180GB generation 3", 0.11},
                 {"GB200-186GB generation 3", 0.07},
                 {"GB300-288GB generation 3", 0.07}});
}

TEST_CASE("recurrent layers of the measured table") {
  const Catalogue catalogue{DataStore()};
  Errors errors;
  for (const TableRow& row : read_table("recurrent")) {
    ParameterTable parameters;
    const OperatorClock clock(catalogue.device(row.at("device")), models::precision_from(row.at("precision")), {},
                              parameters);
    models::Operator layer;
    layer.kind = models::OperatorKind::recurrent;
    // DeepBench skips the input's product: one of eight inputs costs next to nothing.
    models::RecurrentShape shape;
    shape.batch = whole(row, "batch");
    shape.steps = whole(row, "steps");
    shape.input = 8;
    shape.hidden = whole(row, "hidden");
    shape.gates = whole(row, "gates");
    layer.shape = shape;
    layer.needs_input_gradient = false;
    const std::string& device = row.at("device");
    errors.add(device + " forward", clock.time(layer, Direction::forward).duration.time.value,
               number(row, "forward_seconds"));
    errors.add(device + " backward", clock.time(layer, Direction::backward).duration.time.value,
               number(row, "backward_seconds"));
  }
  check(errors, {{"V100-SXM2-16GB forward", 0.22},
                 {"V100-SXM2-16GB backward", 0.22},
                 {"P100-PCIE-16GB forward", 0.35},
                 {"P100-PCIE-16GB backward", 0.45}});
}

}  // namespace
}  // namespace foretrain::calibrate
