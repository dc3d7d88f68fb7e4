#include "models/box_loss.h"

namespace foretrain::models {
namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

void write_matching(ModelWriter& writer, const std::string& name, std::int64_t anchors_per_image,
                    std::int64_t objects) {
  const double images = real(writer.micro_batch());
  const double pairs = images * real(anchors_per_image) * real(objects);
  // Corners of the intersection (2 tensors of two), its sides, limited, their product; union; quotient; the best per
  // anchor and per object: of each pair 14 reads and 10 writes, in 20 kernels per image.
  Operator& op = writer.pass(name, OperatorKind::loss, 14 * pairs, 10 * pairs, 0, pairs);
  op.kernels_forward = 20 * images;
  op.kernels_backward = 0;
  op.forward_only = true;
}

void write_focal_loss(ModelWriter& writer, const std::string& name, Activation& logits, bool fused) {
  const double n = logits.elements;
  if (fused) {
    writer.pass(name, OperatorKind::loss, n, n, 3 * n, 1).saved_elements = n;
    return;
  }
  // With t the target (0 or 1), p = σ(x), q = p·t + (1−p)·(1−t): the loss is α_t·(1−q)²·ce(x, t), summed. Forward: t
  // and the selected x and t (2 read, 3 written), σ (1, 1), ce (2, 1), q (9, 6), (1−q)² (2, 2), ·ce (2, 1),
  // α_t (4, 4), its product (2, 1) and the sum (1, 0): 25 and 19 in 20 kernels. Back, through ·α_t, both factors,
  // the square, q's two products, σ, ce and the selection: 25 and 15 in 15 kernels.
  const double images = real(writer.micro_batch());
  Operator& op = writer.pass(name, OperatorKind::loss, 25 * n, 19 * n, 40 * n, 1);
  op.kernels_forward = 20 * images;
  op.kernels_backward = 15 * images;
  op.saved_elements = 8 * n;  // x, t, 1−t, p, 1−p, 1−q, its square, ce
}

void write_box_distance(ModelWriter& writer, const std::string& name, double boxes) {
  const double n = 4 * boxes;
  writer.pass(name, OperatorKind::loss, 2 * n, n, 3 * n, 1).saved_elements = n;
}

}  // namespace foretrain::models
