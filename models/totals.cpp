#include "models/totals.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace foretrain::models {
namespace {

constexpr double most = 1e18;
constexpr std::int64_t most_layers = 10'000;
constexpr double most_uses = 1e9;  // of one parameter by one sample: a long sequence has 1e6

std::int64_t rounded(double value) { return std::max<std::int64_t>(1, std::llround(value)); }

double flops(const GemmShape& shape) {
  return 2 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
}

// The product of one sample in one layer. A layer of `weights` parameters that a sample uses r times is
// r rows through a square matrix of them: 2·r·weights FLOPs. Rounded to whole numbers; of the widths near
// the square root the one whose depth loses least to rounding is taken (then the FLOPs are right to
// about 1e-5).
GemmShape product(double flops_per_layer, double weights) {
  const double half = flops_per_layer / 2;
  const double width = weights > 0 ? std::sqrt(std::min(weights, half)) : std::cbrt(half);
  const std::int64_t rows = rounded(half / (width * width));
  GemmShape best;
  double best_error = 0;
  constexpr std::int64_t candidates = 64;
  for (std::int64_t n = rounded(width); n < rounded(width) + candidates; ++n) {
    const double depth = half / (static_cast<double>(rows) * static_cast<double>(n));
    const GemmShape shape{1, rows, n, rounded(depth)};
    const double error = std::abs(flops(shape) - flops_per_layer);
    if (best.m == 0 || error < best_error) {
      best = shape;
      best_error = error;
    }
  }
  return best;
}

void check(const Totals& totals, const std::string& where) {
  const auto fail = [&where](const std::string& what) { throw Error(what, where); };
  const auto is_count = [](double value) { return value >= 0 && value <= most; };  // false for NaN
  if (!is_count(totals.parameters) || totals.parameters < 1) {
    fail(fmt::format("expected 1 to {} parameters, found {}", most, totals.parameters));
  }
  if (!is_count(totals.flops_per_sample)) {
    fail(fmt::format("expected 0 (unknown) to {} FLOPs per sample, found {}", most, totals.flops_per_sample));
  }
  if (!is_count(totals.activation_bytes_per_sample)) {
    fail(fmt::format("expected 0 (unknown) to {} activation bytes per sample, found {}", most,
                     totals.activation_bytes_per_sample));
  }
  if (!(totals.activation_element_bytes >= 1 && totals.activation_element_bytes <= 8)) {
    fail(fmt::format("expected 1 to 8 bytes per activation element, found {}", totals.activation_element_bytes));
  }
  if (totals.flops_per_sample > 6 * most_uses * totals.parameters) {
    fail(fmt::format("{} FLOPs per sample would use each of {} parameters more than {} times", totals.flops_per_sample,
                     totals.parameters, most_uses));
  }
  if (totals.layers < 1 || totals.layers > most_layers) {
    fail(fmt::format("expected 1 to {} layers, found {}", most_layers, totals.layers));
  }
  if (static_cast<double>(totals.layers) > totals.parameters) {
    fail(fmt::format("{} layers need at least as many parameters, found {}", totals.layers, totals.parameters));
  }
}

}  // namespace

Model build_totals_model(const Totals& totals, const std::string& where, const BatchShape& batch) {
  check(totals, where);
  const auto layers = static_cast<double>(totals.layers);
  const std::int64_t parameters = std::llround(totals.parameters);
  const std::int64_t share = parameters / totals.layers;
  const auto samples = static_cast<double>(batch.micro_batch);
  const double saved = totals.activation_bytes_per_sample / totals.activation_element_bytes / layers * samples;

  Operator op;
  if (totals.flops_per_sample > 0) {
    constexpr double directions = 3;  // forward, and backward twice as much
    GemmShape shape = product(totals.flops_per_sample / directions / layers, static_cast<double>(share));
    op.output_elements = samples * static_cast<double>(shape.m) * static_cast<double>(shape.n);
    shape.m *= batch.micro_batch;
    op.kind = OperatorKind::gemm;
    op.shape = shape;
  } else {
    op.kind = OperatorKind::elementwise;
    op.shape = MemoryShape{};
    op.output_elements = saved;
  }
  op.saved_elements = saved;

  Model model;
  model.name = "totals";
  model.family = "totals";
  model.sample_unit = "sample";
  model.micro_batch = batch.micro_batch;
  model.sequence = batch.sequence;
  model.source = "stated by the user";
  model.layers.reserve(static_cast<std::size_t>(totals.layers));
  for (std::int64_t i = 0; i < totals.layers; ++i) {
    op.name = fmt::format("layer{}", i);
    op.parameters = {{op.name + ".weight", {share + (i < parameters % totals.layers ? 1 : 0)}}};
    model.layers.push_back({op.name, {op}});
  }
  return model;
}

}  // namespace foretrain::models
