#include "models/recommender.h"

#include <numeric>

#include <fmt/format.h>

#include "models/model_writer.h"

namespace foretrain::models {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 40;
constexpr std::int64_t widest = 1 << 18;
constexpr std::int64_t most_lookups = 1 << 16;
constexpr double index_elements = 4;  // eight bytes

double real(std::int64_t count) { return static_cast<double>(count); }

// Tables, each with the rows it has and how many are looked up and summed per sample.
struct Tables {
  std::vector<std::int64_t> rows, lookups;
  std::int64_t width = 0;

  [[nodiscard]] std::int64_t all_lookups() const {
    return std::accumulate(lookups.begin(), lookups.end(), std::int64_t{0});
  }
};

// One kernel per table. Back, the rows' gradients are written; the tables are not touched.
Activation write_sparse_tables(ModelWriter& writer, const std::string& name, const Tables& tables) {
  const double vectors = real(writer.micro_batch()) * real(tables.width);
  const double read = vectors * real(tables.all_lookups()), written = vectors * real(std::ssize(tables.rows));
  Operator& op = writer.pass(name, OperatorKind::embedding, read, written, read + written, written);
  for (std::size_t i = 0; i < tables.rows.size(); ++i) {
    op.parameters.push_back({fmt::format("{}.{}.weight", name, i), {tables.rows[i], tables.width}});
  }
  op.kernels_forward = op.kernels_backward = real(std::ssize(tables.rows));
  op.needs_input_gradient = false;
  op.often_sharded = true;
  return {written, false};
}

// Linear layers, each with a ReLU.
Activation write_layers(ModelWriter& writer, const std::string& name, Activation x, std::int64_t in,
                        const std::vector<std::int64_t>& widths) {
  writer.begin_layer(name);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string layer = fmt::format("{}.{}", name, i);
    x = writer.linear(layer, x, writer.micro_batch(), in, widths[i], true);
    x = writer.relu(layer + ".relu", x);
    in = widths[i];
  }
  return x;
}

void write_click_loss(ModelWriter& writer, const std::string& name, Activation x, std::int64_t in) {
  const Activation logit = writer.linear(name, x, writer.micro_batch(), in, 1, true);
  const double n = logit.elements;
  writer.pass("loss", OperatorKind::loss, 2 * n, 1, 3 * n, 1).saved_elements = n;
}

Activation write_concatenation(ModelWriter& writer, const std::string& name, double elements) {
  return writer.copy(name, {elements, false});
}

// Products of all pairs of vectors, those of the upper half beside the dense vector.
Activation write_pairs(ModelWriter& writer, std::int64_t vectors, std::int64_t width) {
  const double batch = real(writer.micro_batch());
  Activation all = write_concatenation(writer, "interaction.cat", batch * real(vectors) * real(width));
  Activation same = all;
  same.kept = true;
  const double squares =
      writer.products("interaction.products", all, same, {writer.micro_batch(), vectors, vectors, width}).elements;
  const double features = batch * (real(width) + real(vectors * (vectors - 1) / 2));
  Operator& op = writer.pass("interaction.gather", OperatorKind::elementwise, features, 2 * features,
                             squares + 2 * features, features);
  op.kernels_forward = op.kernels_backward = 2;
  return {features, false};
}

// x₀ · (U·(V·x) + b) + x, a few times.
Activation write_cross_network(ModelWriter& writer, std::int64_t layers, std::int64_t rank, std::int64_t features) {
  const std::int64_t batch = writer.micro_batch();
  Activation first = write_concatenation(writer, "cross.cat", real(batch) * real(features));
  Activation x = first;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string name = fmt::format("cross.{}", i);
    Activation low = writer.linear(name + ".v", x, batch, features, rank, false);
    Activation full = writer.linear(name + ".w", low, batch, rank, features, true);
    const double n = full.elements;
    Operator& op = writer.pass(name + ".multiply_add", OperatorKind::elementwise, 4 * n, 2 * n, 6 * n, n);
    op.saved_elements = n;  // of the product; x₀ is kept by the first layer
    op.kernels_forward = op.kernels_backward = 2;
    x = {n, false};
  }
  return x;
}

void set_sample(Model& model, std::int64_t dense, std::int64_t lookups) {
  model.sample_unit = "sample";
  model.sample_elements = real(dense) + index_elements * real(lookups);
}

}  // namespace

void build_dlrm(Model& model, const Sizes& sizes) {
  sizes.allow_only({"dense_features", "table_rows", "lookups", "embedding", "bottom_widths", "top_widths",
                    "cross_layers", "cross_rank"});
  const std::int64_t dense = sizes.integer("dense_features", 1, widest);
  const Tables tables{sizes.list("table_rows", 1, most_rows), sizes.list("lookups", 1, most_lookups),
                      sizes.integer("embedding", 1, widest)};
  const std::vector<std::int64_t> bottom = sizes.list("bottom_widths", 1, widest);
  const std::vector<std::int64_t> top = sizes.list("top_widths", 1, widest);
  const std::int64_t cross_layers = sizes.integer("cross_layers", 0, 64);
  const std::int64_t cross_rank = sizes.integer("cross_rank", cross_layers > 0 ? 1 : 0, widest);
  if (tables.lookups.size() != tables.rows.size()) {
    sizes.fail({"lookups"}, fmt::format("{} numbers for {} tables", tables.lookups.size(), tables.rows.size()));
  }
  if (bottom.back() != tables.width) {
    sizes.fail({"embedding", "bottom_widths"}, "the bottom layers must end as wide as the embeddings");
  }

  set_sample(model, dense, tables.all_lookups());
  ModelWriter writer(model);
  write_layers(writer, "bottom", {real(model.micro_batch) * real(dense), false}, dense, bottom);
  writer.begin_layer("embeddings");
  write_sparse_tables(writer, "embeddings", tables);
  const std::int64_t vectors = std::ssize(tables.rows) + 1;
  writer.begin_layer("interaction");
  const bool cross = cross_layers > 0;
  const std::int64_t features = cross ? vectors * tables.width : tables.width + vectors * (vectors - 1) / 2;
  Activation x = cross ? write_cross_network(writer, cross_layers, cross_rank, features)
                       : write_pairs(writer, vectors, tables.width);
  x = write_layers(writer, "top", x, features, top);
  write_click_loss(writer, "top.output", x, top.back());
}

void build_ncf(Model& model, const Sizes& sizes) {
  sizes.allow_only({"users", "items", "factors", "layer_widths"});
  const std::int64_t users = sizes.integer("users", 1, most_rows);
  const std::int64_t items = sizes.integer("items", 1, most_rows);
  const std::int64_t factors = sizes.integer("factors", 1, widest);
  std::vector<std::int64_t> widths = sizes.list("layer_widths", 1, widest);
  const std::int64_t table_width = widths.front() / 2, last = widths.back(), batch = model.micro_batch;
  if (widths.size() < 2 || widths.front() % 2 != 0) {
    sizes.fail({"layer_widths"}, "expected an even first width, two tables beside each other, and at least a second");
  }

  set_sample(model, 0, 2);
  ModelWriter writer(model);
  writer.begin_layer("embeddings");
  writer.embedding("mf_user_embed", batch, users, factors, false);
  const double n = writer.embedding("mf_item_embed", batch, items, factors, false).elements;
  Operator& product = writer.pass("mf_product", OperatorKind::elementwise, 2 * n, n, 5 * n, n);
  product.saved_elements = 2 * n;
  writer.embedding("mlp_user_embed", batch, users, table_width, false);
  writer.embedding("mlp_item_embed", batch, items, table_width, false);
  Activation x = write_concatenation(writer, "mlp_cat", real(batch) * real(widths.front()));
  const std::int64_t in = widths.front();
  widths.erase(widths.begin());
  write_layers(writer, "mlp", x, in, widths);
  x = write_concatenation(writer, "cat", real(batch) * real(factors + last));
  write_click_loss(writer, "final", x, factors + last);
}

void build_wide_and_deep(Model& model, const Sizes& sizes) {
  sizes.allow_only({"dense_features", "deep_fields", "wide_fields", "vocabulary", "embedding", "layer_widths"});
  const std::int64_t dense = sizes.integer("dense_features", 0, widest);
  const std::int64_t deep_fields = sizes.integer("deep_fields", 1, most_lookups);
  const std::int64_t wide_fields = sizes.integer("wide_fields", 1, most_lookups);
  const std::int64_t vocabulary = sizes.integer("vocabulary", 1, most_rows);
  const std::int64_t width = sizes.integer("embedding", 1, widest);
  const std::vector<std::int64_t> widths = sizes.list("layer_widths", 1, widest);

  set_sample(model, dense, deep_fields + wide_fields);
  ModelWriter writer(model);
  writer.begin_layer("embeddings");
  const double wide = write_sparse_tables(writer, "wide", {{vocabulary}, {wide_fields}, 1}).elements;
  // Every field keeps its own vector.
  const double batch = real(model.micro_batch), deep = batch * real(deep_fields) * real(width);
  write_sparse_tables(writer, "deep", {{vocabulary}, {deep_fields}, width});
  writer.last_operator().shape = MemoryShape{deep, deep, 2 * deep};
  writer.last_operator().output_elements = deep;
  const std::int64_t features = dense + deep_fields * width;
  Activation x = write_concatenation(writer, "cat", batch * real(features));
  x = write_layers(writer, "layers", x, features, widths);
  writer.pass("add_wide", OperatorKind::elementwise, 2 * wide, wide, 0, wide).kernels_backward = 0;
  write_click_loss(writer, "output", x, widths.back());
}

}  // namespace foretrain::models
