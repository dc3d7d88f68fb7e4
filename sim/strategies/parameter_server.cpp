#include "sim/strategies/parameter_server.h"

#include <algorithm>

#include <fmt/format.h>

#include "models/precision.h"
#include "sim/server_links.h"
#include "sim/stack_choice.h"
#include "sim/strategies/buckets.h"
#include "sim/strategies/optimizer.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

constexpr const char* local = "node";

// "fc6 weight and 3 more".
std::string contents(const Parcel& parcel) {
  return parcel.variables == 1 ? parcel.largest : fmt::format("{} and {} more", parcel.largest, parcel.variables - 1);
}

}  // namespace

ParameterServerReducer::Aggregation ParameterServerReducer::aggregation_of(const StepWriter& writer) {
  const ComposeInput& input = writer.input();
  if (writer.stack("local_aggregation") != 0) return Aggregation::gpus;
  // In one node the host that sums is the server.
  const bool several = input.cluster.nodes > 1 || writer.stack("servers_apart") != 0;
  return chosen_reducer(input.scenario.stack, input.stack) == "kvstore" && several ? Aggregation::host
                                                                                   : Aggregation::none;
}

ParameterServerReducer::ParameterServerReducer(StepWriter& writer)
    : writer_(writer),
      aggregation_(aggregation_of(writer)),
      on_gpu_(writer.stack("servers_on_gpu") != 0),
      has_servers_(writer.input().cluster.nodes > 1 || writer.stack("servers_apart") != 0 ||
                   aggregation_ != Aggregation::gpus),
      bytes_per_element_(writer.stack("gradient_bytes_per_parameter")) {
  const ComposeInput& input = writer.input();
  const std::vector<Variable> variables = variables_of(input.model, input.scenario.plan);
  servers_ = has_servers_ ? place_variables(variables, server_nodes(input.cluster, input.stack),
                                            writer.stack("variables_sharded") != 0)
                          : place_variables(variables, {0}, true);
  parcels_ = parcels_of(variables, servers_);
  std::vector<double> bytes;
  for (const Parcel& parcel : parcels_) bytes.push_back(parcel.elements);
  put_off_ = put_off(bytes, writer.stack("overlap"));
  Program& program = writer.program();
  for (const Server& server : servers_) {
    streams_.push_back({program.add_stream("to and from " + server.name, StreamKind::communication),
                        program.add_stream("updates of " + server.name, StreamKind::communication)});
  }
}

std::vector<std::vector<int>> ParameterServerReducer::groups(bool by_node) const {
  const Cluster& cluster = writer_.input().cluster;
  const int size = by_node ? cluster.machine.gpus : 1;
  std::vector<std::vector<int>> all;
  for (int rank = 0; rank < cluster.gpus; ++rank) {
    if (rank % size == 0) all.emplace_back();
    all.back().push_back(rank);
  }
  return all;
}

std::vector<Communicator> ParameterServerReducer::communicators() const {
  std::vector<Communicator> all;
  if (aggregation_ == Aggregation::gpus) all.push_back({local, groups(true)});
  if (aggregation_ == Aggregation::host) all.push_back({local, groups(true), Pattern::servers});
  if (!has_servers_) return all;
  for (const Server& server : servers_) {
    Communicator star = everyone(writer_.input().cluster.gpus).front();
    star.name = server.name;
    if (!waits_for_all_ranks()) star.groups = groups(aggregation_ != Aggregation::none);
    star.pattern = Pattern::servers;
    star.server_nodes = server.nodes;
    star.client = aggregation_ == Aggregation::gpus   ? Client::node
                  : aggregation_ == Aggregation::host ? Client::host
                                                      : Client::rank;
    all.push_back(std::move(star));
  }
  return all;
}

bool ParameterServerReducer::waits_for_all_ranks() const { return writer_.stack("asynchronous") == 0; }

Bytes ParameterServerReducer::wire_bytes(const Parcel& parcel) const {
  return Bytes(parcel.elements * bytes_per_element_);
}

Bytes ParameterServerReducer::update_bytes(const Parcel& parcel) const {
  const double words = optimizer_passes(writer_.input().scenario.training.optimizer, true).words;
  return Bytes(parcel.elements * words * models::activation_bytes(models::Precision::fp32));
}

ActivityIndex ParameterServerReducer::add(CollectiveKind kind, const Parcel& parcel, const std::string& where,
                                          std::uint16_t stream, Bytes bytes, const std::vector<ActivityIndex>& waits) {
  Program& program = writer_.program();
  const std::string name = fmt::format("{} {} ({})", calibrate::to_string(kind), contents(parcel), where);
  return program.add_collective(stream, program.add_communicator(where), kind, bytes, program.add_label(name), waits);
}

ActivityIndex ParameterServerReducer::exchange(CollectiveKind kind, const Parcel& parcel, const std::string& where,
                                               std::uint16_t stream, const std::vector<ActivityIndex>& after) {
  const Duration calls = writer_.host_time("collective_launch_seconds", static_cast<double>(parcel.variables));
  const std::string name = fmt::format("launch {} {} ({})", calibrate::to_string(kind), contents(parcel), where);
  std::vector<ActivityIndex> waits = after;
  waits.push_back(writer_.host_work(name, calls));
  return add(kind, parcel, where, stream, wire_bytes(parcel), waits);
}

ActivityIndex ParameterServerReducer::pull(const Parcel& parcel) {
  const Server& server = servers_[parcel.server];
  std::vector<ActivityIndex> arrived;
  if (has_servers_) {
    arrived = {exchange(CollectiveKind::pull, parcel, server.name, streams_[parcel.server].transfers, {})};
  }
  if (aggregation_ == Aggregation::none) return arrived.front();
  const CollectiveKind spread = aggregation_ == Aggregation::gpus ? CollectiveKind::all_gather : CollectiveKind::pull;
  return exchange(spread, parcel, local, writer_.communication(), arrived);
}

void ParameterServerReducer::push(const Parcel& parcel, ActivityIndex gradients_done) {
  ActivityIndex ready = gradients_done;
  if (aggregation_ != Aggregation::none) {
    const CollectiveKind sum =
        aggregation_ == Aggregation::gpus ? CollectiveKind::reduce_scatter : CollectiveKind::push;
    ready = exchange(sum, parcel, local, writer_.communication(), {ready});
  }
  if (has_servers_) {
    ready = exchange(CollectiveKind::push, parcel, servers_[parcel.server].name, streams_[parcel.server].transfers,
                     {ready});
  }
  update(parcel, ready);
}

void ParameterServerReducer::update(const Parcel& parcel, ActivityIndex pushed) {
  const Server& server = servers_[parcel.server];
  const std::uint16_t stream = streams_[parcel.server].updates;
  if (has_servers_ && !on_gpu_) {
    add(CollectiveKind::update, parcel, server.name, stream, update_bytes(parcel), {pushed});
    return;
  }
  // A server's variables lie on one GPU; without servers each GPU of the node has its part of them.
  const Cluster& cluster = writer_.input().cluster;
  const double parts = has_servers_ ? static_cast<double>(server.nodes.size()) : cluster.gpus;
  const calibrate::OperatorTime time = writer_.clock().memory_pass(update_bytes(parcel) / parts);
  Program& program = writer_.program();
  const std::string name = fmt::format("update {} ({})", contents(parcel), server.name);
  writer_.explain(name, "optimizer", time, 1);
  program.add_timed(stream, Category::optimizer, program.add_label(name), time.duration, {pushed});
}

std::vector<ActivityIndex> ParameterServerReducer::before_forward(std::size_t index) {
  std::vector<ActivityIndex> arrived;
  for (std::size_t p = parcels_.size(); p-- > 0;) {
    const bool now = put_off_[p] ? index == 0 : parcels_[p].first_use == index;
    if (now) arrived.push_back(pull(parcels_[p]));
  }
  return arrived;
}

void ParameterServerReducer::after_backward(std::size_t index, ActivityIndex gradients_done) {
  last_gradients_ = gradients_done;
  for (; next_ < parcels_.size() && parcels_[next_].first_use >= index; ++next_) {
    if (!put_off_[next_]) push(parcels_[next_], gradients_done);
  }
}

std::vector<ActivityIndex> ParameterServerReducer::finish() {
  for (std::size_t p = 0; p < parcels_.size(); ++p) {
    if (put_off_[p] || p >= next_) push(parcels_[p], last_gradients_);
  }
  next_ = 0;
  return {};
}

}  // namespace foretrain::sim::strategies
