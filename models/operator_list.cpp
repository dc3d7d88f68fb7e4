#include "models/operator_list.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "models/model_writer.h"

namespace foretrain::models {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 31;
constexpr std::int64_t longest_sequence = 1 << 24;
constexpr std::int64_t most_heads = 1 << 16;
constexpr double most_elements = 1e15;  // per sample
constexpr double most_kernels = 1e6;
constexpr std::size_t most_operators = 100'000;

double real(std::int64_t count) { return static_cast<double>(count); }

std::int64_t extent(const JsonView& view, const std::string& key) { return view.at(key).integer(1, largest_extent); }

std::int64_t extent_or(const JsonView& view, const std::string& key, std::int64_t low, std::int64_t high,
                       std::int64_t otherwise) {
  const auto member = view.find(key);
  return member ? member->integer(low, high) : otherwise;
}

double number_or(const JsonView& view, const std::string& key, double high, double otherwise) {
  const auto member = view.find(key);
  return member ? member->number({0, high}) : otherwise;
}

bool boolean_or(const JsonView& view, const std::string& key, bool otherwise) {
  const auto member = view.find(key);
  return member ? member->boolean() : otherwise;
}

// --- shapes, each with what it implies when the user says nothing else: the operator's saved and output
// elements (for the whole micro-batch) and its kernels ------------------------------------------------

void read_gemm(const JsonView& view, std::int64_t batch, Operator& op) {
  const bool batched = view.find("products_per_sample").has_value();
  if (batched == view.find("m_per_sample").has_value()) {
    view.fail("a gemm has either \"m_per_sample\" or \"products_per_sample\"",
              "m_per_sample: rows that share one weight; products_per_sample: separate products m×k by k×n");
  }
  GemmShape shape;
  shape.n = extent(view, "n");
  shape.k = extent(view, "k");
  if (batched) {
    shape.batch = batch * extent(view, "products_per_sample");
    shape.m = extent(view, "m");
  } else {
    if (const auto m = view.find("m")) m->fail("\"m\" goes with \"products_per_sample\" only");
    shape.m = batch * extent(view, "m_per_sample");
  }
  op.shape = shape;
  op.saved_elements = real(shape.batch) * real(shape.k) * (real(shape.m) + (batched ? real(shape.n) : 0));
  op.output_elements = real(shape.batch) * real(shape.m) * real(shape.n);
}

void read_convolution(const JsonView& view, std::int64_t batch, Operator& op) {
  constexpr std::int64_t largest_stride = 4096;
  ConvolutionShape shape;
  shape.batch = batch;
  shape.in_channels = extent(view, "in_channels");
  shape.height = extent(view, "height");
  shape.width = extent(view, "width");
  shape.out_channels = extent(view, "out_channels");
  shape.kernel_height = extent(view, "kernel_height");
  shape.kernel_width = extent(view, "kernel_width");
  shape.stride_height = extent_or(view, "stride_height", 1, largest_stride, 1);
  shape.stride_width = extent_or(view, "stride_width", 1, largest_stride, 1);
  shape.groups = extent_or(view, "groups", 1, largest_extent, 1);
  const std::int64_t padding_height = extent_or(view, "padding_height", 0, largest_stride, 0);
  const std::int64_t padding_width = extent_or(view, "padding_width", 0, largest_stride, 0);
  shape.out_height = window_output(shape.height, shape.kernel_height, shape.stride_height, padding_height);
  shape.out_width = window_output(shape.width, shape.kernel_width, shape.stride_width, padding_width);
  if (shape.out_height < 1 || shape.out_width < 1) {
    view.fail("the kernel is larger than the padded image", "make the image or the padding larger");
  }
  if (shape.in_channels % shape.groups != 0 || shape.out_channels % shape.groups != 0) {
    view.at("groups").fail(fmt::format("{} input and {} output channels do not divide into {} groups",
                                       shape.in_channels, shape.out_channels, shape.groups));
  }
  op.shape = shape;
  op.saved_elements = real(batch) * real(shape.in_channels) * real(shape.height) * real(shape.width);
  op.output_elements = real(batch) * real(shape.out_channels) * real(shape.out_height) * real(shape.out_width);
}

void read_attention(const JsonView& view, std::int64_t batch, Operator& op) {
  AttentionShape shape;
  shape.batch = batch;
  shape.heads = view.at("heads").integer(1, most_heads);
  shape.query_length = view.at("query_length").integer(1, longest_sequence);
  shape.key_length = extent_or(view, "key_length", 1, longest_sequence, shape.query_length);
  shape.head_dimension = view.at("head_dimension").integer(1, most_heads);
  shape.key_value_heads = extent_or(view, "key_value_heads", 1, most_heads, shape.heads);
  if (shape.heads % shape.key_value_heads != 0) {
    view.at("key_value_heads")
        .fail(fmt::format("{} heads do not divide into {} key-value heads", shape.heads, shape.key_value_heads));
  }
  shape.causal = boolean_or(view, "causal", false);
  shape.dropout = boolean_or(view, "dropout", false);
  op.shape = shape;
  op.output_elements = real(batch) * real(shape.heads) * real(shape.query_length) * real(shape.head_dimension);
  op.saved_elements = forward_elements(op);  // query, key, value and the output
  op.kernels_forward = unfused_kernels_forward(shape);
  op.kernels_backward = unfused_kernels_backward(shape);
}

void read_recurrent(const JsonView& view, std::int64_t batch, Operator& op) {
  constexpr std::int64_t widest = 1 << 20;
  RecurrentShape shape;
  shape.batch = batch;
  shape.steps = view.at("steps").integer(1, longest_sequence);
  shape.input = view.at("input").integer(1, widest);
  shape.hidden = view.at("hidden").integer(1, widest);
  shape.directions = extent_or(view, "directions", 1, 2, 1);
  shape.gates = extent_or(view, "gates", 1, 8, 4);
  op.shape = shape;
  const double rows = real(batch) * real(shape.steps);
  op.output_elements = rows * real(shape.directions) * real(shape.hidden);
  // Input, hidden states, and per state the gates and (LSTM) the cell and its tanh.
  op.saved_elements = rows * real(shape.input) + op.output_elements * (real(shape.gates) + 3);
  op.kernels_forward = 2 * real(shape.directions);
  op.kernels_backward = 3 * real(shape.directions);
}

void read_pass(const JsonView& view, std::int64_t batch, Operator& op) {
  MemoryShape shape;
  shape.elements_read = real(batch) * view.at("elements_read_per_sample").number({0, most_elements});
  shape.elements_written = real(batch) * view.at("elements_written_per_sample").number({0, most_elements});
  if (const auto backward = view.find("backward_elements_per_sample")) {
    shape.backward_elements = real(batch) * backward->number({0, most_elements});
  }
  op.shape = shape;
  op.saved_elements = op.output_elements = shape.elements_written;
  op.kernels_forward = op.kernels_backward = 1;
}

struct KindReader {
  void (*read)(const JsonView&, std::int64_t, Operator&);
  std::vector<std::string> keys;
};

const KindReader& reader_of(OperatorKind kind) {
  static const KindReader gemm{read_gemm, {"m_per_sample", "products_per_sample", "m", "n", "k"}};
  static const KindReader convolution{
      read_convolution,
      {"in_channels", "height", "width", "out_channels", "kernel_height", "kernel_width", "stride_height",
       "stride_width", "padding_height", "padding_width", "groups"}};
  static const KindReader attention{
      read_attention,
      {"heads", "query_length", "key_length", "head_dimension", "key_value_heads", "causal", "dropout"}};
  static const KindReader recurrent{read_recurrent, {"steps", "input", "hidden", "directions", "gates"}};
  static const KindReader pass{
      read_pass, {"elements_read_per_sample", "elements_written_per_sample", "backward_elements_per_sample"}};
  switch (kind) {
    case OperatorKind::gemm: return gemm;
    case OperatorKind::convolution: return convolution;
    case OperatorKind::attention: return attention;
    case OperatorKind::recurrent: return recurrent;
    default: return pass;
  }
}

// --- what all kinds have -----------------------------------------------------------------------------

ParameterTensor read_parameter(const JsonView& view, const std::string& operator_name) {
  constexpr std::size_t most_dimensions = 8;
  constexpr double most_weights = 0x1.0p53;
  view.allow_only({"name", "shape"});
  ParameterTensor tensor{operator_name + "." + view.at("name").string(), {}};
  const JsonView shape = view.at("shape");
  const auto extents = shape.items();
  if (extents.empty() || extents.size() > most_dimensions) {
    shape.fail(fmt::format("expected 1 to {} extents, found {}", most_dimensions, extents.size()));
  }
  double elements = 1;
  for (const JsonView& item : extents) {
    tensor.shape.push_back(item.integer(1, std::int64_t{1} << 40));
    elements *= real(tensor.shape.back());
    if (elements > most_weights) shape.fail("the tensor has more than 2^53 elements");
  }
  return tensor;
}

OperatorKind kind_of(const JsonView& view) {
  const std::string name = view.at("kind").one_of(operator_kind_names());
  const auto& names = operator_kind_names();
  return static_cast<OperatorKind>(std::find(names.begin(), names.end(), name) - names.begin());
}

class ListReader {
 public:
  explicit ListReader(Model& model) : model_(model) {}

  void read(const JsonView& view) {
    Operator op;
    op.kind = kind_of(view);
    const KindReader& reader = reader_of(op.kind);
    std::vector<std::string> keys = {"name", "kind", "layer", "parameters", "saved_elements_per_sample",
                                     "output_elements_per_sample", "needs_input_gradient", "kernels_forward",
                                     "kernels_backward", "sequential_steps"};
    keys.insert(keys.end(), reader.keys.begin(), reader.keys.end());
    view.allow_only(keys);

    op.name = text(view.at("name"));
    const double batch = real(model_.micro_batch);
    reader.read(view, model_.micro_batch, op);
    op.saved_elements = batch * number_or(view, "saved_elements_per_sample", most_elements, op.saved_elements / batch);
    op.output_elements =
        batch * number_or(view, "output_elements_per_sample", most_elements, op.output_elements / batch);
    op.needs_input_gradient = boolean_or(view, "needs_input_gradient", !model_.layers.empty());
    op.kernels_forward = number_or(view, "kernels_forward", most_kernels, op.kernels_forward);
    op.kernels_backward = number_or(view, "kernels_backward", most_kernels, op.kernels_backward);
    op.sequential_steps = number_or(view, "sequential_steps", real(longest_sequence), 0);
    if (const auto parameters = view.find("parameters")) {
      for (const JsonView& item : parameters->items()) add_parameter(item, op);
    }
    place(view, std::move(op));
  }

 private:
  static std::string text(const JsonView& view) {
    std::string value = view.string();
    if (value.empty()) view.fail("expected a name, found empty text");
    return value;
  }

  void add_parameter(const JsonView& view, Operator& op) {
    ParameterTensor tensor = read_parameter(view, op.name);
    if (!names_.insert(tensor.name).second) {
      view.at("name").fail(fmt::format("there are two parameters {}", quoted(tensor.name)),
                           "parameters are called operator.parameter; no two may be the same");
    }
    op.parameters.push_back(std::move(tensor));
  }

  // Neighbours of the same "layer" stand together; an operator without one is its own layer.
  void place(const JsonView& view, Operator op) {
    const auto layer = view.find("layer");
    const std::string name = layer ? text(*layer) : op.name;
    if (!layer || !in_named_layer_ || model_.layers.back().name != name) model_.layers.push_back({name, {}});
    in_named_layer_ = layer.has_value();
    model_.layers.back().operators.push_back(std::move(op));
  }

  Model& model_;
  std::set<std::string> names_;
  bool in_named_layer_ = false;
};

std::int64_t sequence_of(const JsonView& file, std::int64_t asked) {
  const std::int64_t own = extent_or(file, "sequence", 1, longest_sequence, 0);
  if (asked > 0 && asked != own) {
    throw Error(fmt::format("the operators of {} are for {}, not for a sequence of {}", printable(file.source()),
                            own > 0 ? fmt::format("a sequence of {}", own) : "samples without a sequence", asked),
                "training.sequence", "leave it out, or write the operators for that sequence");
  }
  return own;
}

}  // namespace

Model build_operator_list(const std::string& text, const std::string& source, const BatchShape& batch) {
  const Json json = parse_json(text, source);
  const JsonView file(json, source);
  file.allow_only({"foretrain_operators", "name", "sample_unit", "sample_elements", "sequence", "source", "operators"});
  [[maybe_unused]] const std::int64_t version = file.at("foretrain_operators").integer(1, 1);
  Model model;
  model.name = file.at("name").string();
  model.family = "operators";
  model.micro_batch = batch.micro_batch;
  model.sequence = sequence_of(file, batch.sequence);
  const auto sample_unit = file.find("sample_unit");
  model.sample_unit = sample_unit ? sample_unit->string() : "sample";
  model.sample_elements = number_or(file, "sample_elements", most_elements, 0);
  const auto stated_source = file.find("source");
  model.source = stated_source ? stated_source->string() : source;

  const JsonView operators = file.at("operators");
  const auto items = operators.items();
  if (items.empty() || items.size() > most_operators) {
    operators.fail(fmt::format("expected 1 to {} operators, found {}", most_operators, items.size()));
  }
  ListReader reader(model);
  for (const JsonView& item : items) reader.read(item);
  return model;
}

}  // namespace foretrain::models
