#include "models/margin_classifier.h"

#include <utility>

#include "models/convolution_blocks.h"

namespace foretrain::models {

MarginClassifier::MarginClassifier(const Sizes& sizes)
    : embedding(sizes.integer("embedding", 1, most_channels)),
      identities(sizes.integer("identities", 1, 1 << 30)),
      sample_percent(sizes.integer("sample_percent", 1, 100)) {}

void MarginClassifier::write(ModelWriter& writer, const Activation& embeddings) const {
  const std::int64_t rows = writer.micro_batch(), classes = sampled();
  writer.begin_layer("classifier");
  const double n = embeddings.elements, w = static_cast<double>(classes) * static_cast<double>(embedding);
  if (classes < identities) {  // drawn anew in each step; only their gradients are computed
    writer.pass("classifier.sample", OperatorKind::embedding, w, w, 2 * w, w).often_sharded = true;
  }
  // A norm reads its rows, then they are divided; back the same over gradient and result.
  for (const auto& [name, elements] : {std::pair{"classifier.normalize", n}, {"classifier.normalize_weight", w}}) {
    Operator& op = writer.pass(name, OperatorKind::normalization, 2 * elements, elements, 5 * elements, elements);
    op.kernels_forward = op.kernels_backward = 2;
  }
  writer.last_operator().saved_elements = w;
  writer.last_operator().often_sharded = true;  // a pass over the table goes where the table is
  Activation normed{n, false};
  const Activation cosines = writer.linear("classifier.weight_activated", normed, rows, embedding, classes, false);
  Operator& product = writer.last_operator();
  product.parameters.front() = {"classifier.weight", {identities, embedding}};
  product.often_sharded = true;
  // Limited to [-1, 1], the margin taken from each row's own class, and scaled.
  const double c = cosines.elements;
  Operator& margin = writer.pass("classifier.margin", OperatorKind::elementwise, 2 * c, 2 * c, 5 * c, c);
  margin.kernels_forward = margin.kernels_backward = 2;
  writer.cross_entropy("loss", {c, false}, rows);
}

}  // namespace foretrain::models
