#include "models/operator_list.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "models/operator_shapes.h"

namespace foretrain::models {
namespace {

constexpr double most_kernels = 1e6;
constexpr std::size_t most_operators = 100'000;

double real(std::int64_t count) { return static_cast<double>(count); }

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
    const ShapeReader& reader = shape_reader(op.kind);
    std::vector<std::string> keys = {"name",
                                     "kind",
                                     "layer",
                                     "parameters",
                                     "saved_elements_per_sample",
                                     "output_elements_per_sample",
                                     "needs_input_gradient",
                                     "kernels_forward",
                                     "kernels_backward",
                                     "sequential_steps",
                                     "frozen"};
    keys.insert(keys.end(), reader.keys.begin(), reader.keys.end());
    view.allow_only(keys);

    op.name = text(view.at("name"));
    const double batch = real(model_.micro_batch);
    reader.read(view, model_.micro_batch, op);
    op.saved_elements =
        batch * number_or(view, "saved_elements_per_sample", most_listed_elements, op.saved_elements / batch);
    op.output_elements =
        batch * number_or(view, "output_elements_per_sample", most_listed_elements, op.output_elements / batch);
    op.needs_input_gradient = boolean_or(view, "needs_input_gradient", trained_so_far_);
    op.kernels_forward = number_or(view, "kernels_forward", most_kernels, op.kernels_forward);
    op.kernels_backward = number_or(view, "kernels_backward", most_kernels, op.kernels_backward);
    op.sequential_steps = number_or(view, "sequential_steps", real(longest_listed_sequence), 0);
    if (const auto parameters = view.find("parameters")) {
      for (const JsonView& item : parameters->items()) add_parameter(item, op);
    }
    if (boolean_or(view, "frozen", false)) {
      freeze(view, op);
    } else {
      trained_so_far_ = true;
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

  void freeze(const JsonView& view, Operator& op) const {
    if (trained_so_far_) {
      view.at("frozen").fail("a frozen operator stands behind a trained one, whose gradient has to cross it",
                             "only operators in front of all trained ones run forward only; leave \"frozen\" and the "
                             "parameters out here");
    }
    op.forward_only = true;
    op.needs_input_gradient = false;
    op.saved_elements = 0;
    op.kernels_backward = 0;
    std::swap(op.frozen_parameters, op.parameters);
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
  bool trained_so_far_ = false;
  bool in_named_layer_ = false;
};

std::int64_t sequence_of(const JsonView& file, std::int64_t asked) {
  const std::int64_t own = integer_or(file, "sequence", 1, longest_listed_sequence, 0);
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
  model.sample_elements = number_or(file, "sample_elements", most_listed_elements, 0);
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
