#include "sim/strategies/unused_parameters.h"

#include "base/text.h"
#include "sim/strategies/local_model.h"

namespace foretrain::sim::strategies {
namespace {

constexpr const char* walk_key = "host_seconds_per_launch_backward";
constexpr double map_bytes_per_tensor = 4;

}  // namespace

UnusedParameters::UnusedParameters(StepWriter& writer, Exchange& exchange) : writer_(writer), exchange_(exchange) {
  if (writer.stack("find_unused_parameters") == 0 || writer.stack("static_graph") != 0) return;
  for (const models::Operator* op : flat_operators(writer.rank_model())) {
    tensors_ += static_cast<double>(op->parameters.size());
  }
}

void UnusedParameters::search() {
  if (tensors_ == 0) return;
  const Duration walk = writer_.host_time(walk_key, tensors_);
  writer_.explain("search for unused parameters", "launch", walk, significant(tensors_) + " tensors", 1);
  writer_.host_work("search for unused parameters", walk);
}

void UnusedParameters::agree() {
  if (tensors_ == 0) return;
  agreed_ = exchange_.collective(calibrate::CollectiveKind::all_reduce, "all-reduce map of used parameters",
                                 Bytes(tensors_ * map_bytes_per_tensor), {});
}

void UnusedParameters::read() {
  if (agreed_) writer_.host_work("read map of used parameters", writer_.host_time(walk_key, 0), {*agreed_});
}

}  // namespace foretrain::sim::strategies
