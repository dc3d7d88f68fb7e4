#include "sim/strategies/powersgd.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"

namespace foretrain::sim::strategies {
namespace {

// PowerSGDState's min_compression_rate.
constexpr double least_compression = 2;

double sum(const std::map<LowRankBucket::Shape, double>& matrices, double (*elements)(const LowRankBucket::Shape&)) {
  return std::accumulate(matrices.begin(), matrices.end(), 0.0,
                         [&](double total, const auto& entry) { return total + entry.second * elements(entry.first); });
}

models::Operator product(double batch, double m, double n, double k) {
  const auto whole = [](double value) { return static_cast<std::int64_t>(std::llround(value)); };
  models::Operator op;
  op.kind = models::OperatorKind::gemm;
  op.shape = models::GemmShape{whole(batch), whole(m), whole(n), whole(k)};
  return op;
}

}  // namespace

double LowRankBucket::matrix_elements() const {
  return sum(matrices, [](const Shape& shape) { return shape.rows * shape.columns; });
}
double LowRankBucket::left_elements() const {
  return sum(matrices, [](const Shape& shape) { return shape.rows * shape.rank; });
}
double LowRankBucket::right_elements() const {
  return sum(matrices, [](const Shape& shape) { return shape.columns * shape.rank; });
}

LowRankBucket low_rank(const std::vector<ReadyGradient>& tensors, double rank) {
  LowRankBucket bucket;
  for (const ReadyGradient& tensor : tensors) {
    const double columns = tensor.elements / tensor.rows;
    const double own_rank = std::min({rank, tensor.rows, columns});
    if ((tensor.rows + columns) * own_rank * least_compression < tensor.elements) {
      ++bucket.matrices[{tensor.rows, columns, own_rank}];
    } else {
      bucket.vector_elements += tensor.elements;
    }
  }
  return bucket;
}

PowerSgd::PowerSgd(const CompressionPlace& place)
    : place_(place),
      rank_(place.writer.input().stack.at("powersgd_rank").value),
      clock_(*place.writer.input().cluster.device, models::Precision::fp32, {}, place.writer.parameters()) {}

ActivityIndex PowerSgd::products(const Sent& sent, Product which, ActivityIndex after) {
  static const std::map<Product, const char*> formulas = {
      {Product::left, "P = M·Q of "}, {Product::right, "Q = Mᵀ·P of "}, {Product::whole, "M = P·Qᵀ of "}};
  StepWriter& writer = place_.writer;
  const std::string name = formulas.at(which) + sent.what;
  for (const auto& [shape, count] : sent.parts.matrices) {
    const models::Operator op = which == Product::left    ? product(count, shape.rows, shape.rank, shape.columns)
                                : which == Product::right ? product(count, shape.columns, shape.rank, shape.rows)
                                                          : product(count, shape.rows, shape.columns, shape.rank);
    const calibrate::OperatorTime time = clock_.time(op, calibrate::Direction::forward);
    const Duration host = writer.host_time("host_seconds_per_launch_forward", 1);
    writer.explain(name, "compression", time.duration, time.formula, 1);
    after = writer.work({name, time.duration, host}, Category::compression, {after}, place_.lane);
  }
  return after;
}

// Column by column, all matrices of a shape together: its norm and the division by it (3 words per row), then for the
// columns behind it the product with each, the sum, the projection (product) and the difference: 4 kernels,
// (1 + 2) + 1 + (1 + 1) + 3 words per row and column behind (two of them read once per row).
ActivityIndex PowerSgd::orthogonalise(const Sent& sent, ActivityIndex after) {
  double words = 0, kernels = 0;
  for (const auto& [shape, count] : sent.parts.matrices) {
    for (double behind = shape.rank - 1; behind >= 0; --behind) {
      words += count * shape.rows * (3 + (behind > 0 ? 2 + 7 * behind : 0));
      kernels += behind > 0 ? 6 : 2;
    }
  }
  return write_pass(place_, "orthogonalise P of " + sent.what, bytes(words), kernels, {after});
}

void PowerSgd::send(const Bucket& bucket, const std::string& what, ActivityIndex ready) {
  Sent sent{what, low_rank(bucket.tensors, rank_), bucket.elements};
  // The error is added (2 words read, 1 written) and the sum kept for the next error (1 and 1).
  const ActivityIndex corrected = write_pass(place_, "add error to " + what, bytes(5 * bucket.elements), 2, {ready});
  if (sent.parts.vector_elements > 0) {
    const ActivityIndex gathered =
        write_pass(place_, "gather vectors of " + what, bytes(2 * sent.parts.vector_elements), 1, {corrected});
    sent.vectors = place_.exchange.average("vectors of " + what, bytes(sent.parts.vector_elements), {gathered});
  }
  if (!sent.parts.matrices.empty()) {
    const ActivityIndex left = products(sent, Product::left, corrected);
    sent.left = place_.exchange.average("P of " + what, bytes(sent.parts.left_elements()), {left});
  }
  sent_.push_back(std::move(sent));
}

std::vector<ActivityIndex> PowerSgd::receive() {
  const std::vector<Sent> all = std::exchange(sent_, {});
  std::vector<ActivityIndex> right(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].parts.matrices.empty()) continue;
    const ActivityIndex product = products(all[i], Product::right, orthogonalise(all[i], all[i].left));
    right[i] = place_.exchange.average("Q of " + all[i].what, bytes(all[i].parts.right_elements()), {product});
  }
  std::vector<ActivityIndex> done;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Sent& sent = all[i];
    ActivityIndex last = 0;
    if (sent.parts.vector_elements > 0) {
      last = write_pass(place_, "scatter vectors of " + sent.what, bytes(2 * sent.parts.vector_elements), 1,
                        {sent.vectors});
    }
    if (!sent.parts.matrices.empty()) last = products(sent, Product::whole, right[i]);
    done.push_back(write_pass(place_, "new error of " + sent.what, bytes(3 * sent.elements), 1, {last}));
  }
  return done;
}

}  // namespace foretrain::sim::strategies
