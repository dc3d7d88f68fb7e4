// PowerSGD: gradients as products of two thin matrices (Vogels et al. 2019, arXiv:1905.13727).
//
// Every gradient M of a matrix (rows × columns, the first dimension against all others) travels as P = M·Q, which is
// averaged and orthogonalised, and Q = Mᵀ·P, which is averaged; all ranks then take P·Qᵀ. The difference from M is kept
// and added to the next gradient (error feedback). The order of steps and which tensors are worth it follow PyTorch's
// powerSGD_hook (torch/distributed/algorithms/ddp_comm_hooks/powerSGD_hook.py), warm start and error feedback on: a
// tensor whose factors are not less than half of it, and every vector, travels as it is. So a bucket is three
// all-reduces: what is uncompressed, P, and Q. Orthogonalisation is Gram–Schmidt; PyTorch takes a QR factorisation
// from rank 3 on, whose time is not modelled. The steps before compression begins (start_powerSGD_iter) are not either.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/operator_time.h"
#include "sim/strategies/compression.h"

namespace foretrain::sim::strategies {

// A bucket as PowerSGD sees it.
struct LowRankBucket {
  struct Shape {
    double rows = 0, columns = 0, rank = 0;
    auto operator<=>(const Shape&) const = default;
  };
  std::map<Shape, double> matrices;  // how many of each shape
  double vector_elements = 0;        // that travel uncompressed
  [[nodiscard]] double matrix_elements() const;
  [[nodiscard]] double left_elements() const;   // of all P: rows × rank
  [[nodiscard]] double right_elements() const;  // of all Q: columns × rank
};
[[nodiscard]] LowRankBucket low_rank(const std::vector<ReadyGradient>& tensors, double rank);

class PowerSgd final : public Compressor {
 public:
  explicit PowerSgd(const CompressionPlace& place);
  void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) override;
  [[nodiscard]] std::vector<ActivityIndex> receive() override;

 private:
  struct Sent {
    std::string what;
    LowRankBucket parts;
    double elements = 0;
    ActivityIndex left = 0, vectors = 0;  // averaged; by parts, where there are any
  };
  [[nodiscard]] Bytes bytes(double elements) const { return Bytes(elements * place_.bytes_per_element); }
  // One batched product per shape: P = M·Q, Q = Mᵀ·P or M = P·Qᵀ.
  enum class Product { left, right, whole };
  ActivityIndex products(const Sent& sent, Product which, ActivityIndex after);
  ActivityIndex orthogonalise(const Sent& sent, ActivityIndex after);

  CompressionPlace place_;
  double rank_;
  calibrate::OperatorClock clock_;  // buckets are fp32 also where the model is not
  std::vector<Sent> sent_;
};

}  // namespace foretrain::sim::strategies
