#include "sim/strategies/ddp.h"

#include <fmt/format.h>

#include "models/precision.h"
#include "sim/strategies/layers.h"

namespace foretrain::sim::strategies {
namespace {

// Gradients are kept, and buckets measured, in the parameters' own fp32 also under mixed precision.
const double gradient_storage_bytes = models::activation_bytes(models::Precision::fp32);

}  // namespace

std::vector<Bucket> assign_buckets(const std::vector<ReadyGradient>& gradients, Bytes first_limit, Bytes limit) {
  std::vector<Bucket> buckets;
  Bucket open;
  for (const ReadyGradient& gradient : gradients) {
    open.elements += gradient.elements;
    open.ready_after = gradient.made_by;
    ++open.tensors;
    if (open.elements * gradient_storage_bytes >= (buckets.empty() ? first_limit : limit).value) {
      buckets.push_back(open);
      open = Bucket{};
    }
  }
  if (open.tensors > 0) buckets.push_back(open);
  return buckets;
}

std::vector<ReadyGradient> ready_order(const models::Model& model, const Plan& plan) {
  const std::vector<const models::Operator*> operators = flat_operators(model);
  std::vector<ReadyGradient> gradients;
  for (std::size_t i = operators.size(); i-- > 0;) {
    if (spreads_tables(plan) && operators[i]->often_sharded) continue;
    const std::vector<models::ParameterTensor>& tensors = operators[i]->parameters;
    for (std::size_t k = tensors.size(); k-- > 0;) {
      gradients.push_back({static_cast<double>(tensors[k].elements()), i});
    }
  }
  return gradients;
}

DdpReducer::DdpReducer(StepWriter& writer)
    : writer_(writer),
      buckets_(assign_buckets(ready_order(writer.input().model, writer.input().scenario.plan),
                              Bytes(writer.input().stack.at("first_bucket_bytes").value),
                              Bytes(writer.input().stack.at("bucket_bytes").value))),
      bytes_per_element_(writer.input().stack.at("gradient_bytes_per_parameter").value),
      overlap_(writer.input().stack.at("overlap").value != 0),
      communicator_(writer.program().add_communicator("data")) {}

std::vector<Communicator> DdpReducer::communicators() const { return everyone(writer_.input().cluster.gpus); }

void DdpReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  last_gradients_ = gradients_done;
  if (!overlap_) return;
  for (; next_ < buckets_.size() && buckets_[next_].ready_after >= index; ++next_) reduce(next_, gradients_done);
}

// A pass that reads gradients and writes the bucket, or the other way round.
Work DdpReducer::copy(std::size_t bucket, const char* where) const {
  const Bytes moved(buckets_[bucket].elements * (gradient_storage_bytes + bytes_per_element_));
  const std::string name = fmt::format("copy {} bucket {}", where, bucket + 1);
  const calibrate::OperatorTime time = writer_.clock().memory_pass(moved);
  writer_.explain(name, "all_reduce", time.duration, time.formula, 1);
  return {name, time.duration, {}};
}

void DdpReducer::reduce(std::size_t bucket, ActivityIndex gradients_done) {
  const ActivityIndex copied = writer_.work(copy(bucket, "into"), Category::backward, {gradients_done});
  const Duration launch_time = writer_.host_time("collective_launch_seconds", 1);
  const std::string name = fmt::format("all-reduce bucket {}", bucket + 1);
  const ActivityIndex launched = writer_.host_work("launch " + name, launch_time);
  Program& program = writer_.program();
  reduced_.push_back(program.add_collective(
      writer_.communication(), communicator_, calibrate::CollectiveKind::all_reduce,
      Bytes(buckets_[bucket].elements * bytes_per_element_), program.add_label(name), {copied, launched}));
}

std::vector<ActivityIndex> DdpReducer::finish() {
  for (; next_ < buckets_.size(); ++next_) reduce(next_, last_gradients_);
  std::vector<ActivityIndex> copied_back;
  for (std::size_t bucket = 0; bucket < reduced_.size(); ++bucket) {
    copied_back.push_back(writer_.work(copy(bucket, "out of"), Category::backward, {reduced_[bucket]}));
  }
  return copied_back;
}

}  // namespace foretrain::sim::strategies
