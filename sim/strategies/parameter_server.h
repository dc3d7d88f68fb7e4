// Parameter servers: workers push gradients to servers, which update the variables and hand them out again.
//
// Names "parameter_server" (TensorFlow: every worker by itself, or with local_aggregation the GPUs of a node first)
// and "kvstore" (MXNet: a node sums first, with local_aggregation on its GPUs as dist_device_sync and device do, else
// in the memory of its host as dist_sync and local). A step begins with the pulls of what the last one updated, in
// the order of use, and ends with its updates; each server works through its pushes and pulls in order, servers work
// beside one another. Gradients are pushed when backward has made them; the share beyond `overlap` waits for its end,
// and those variables are all there before forward begins. An update is one fused pass of the optimizer over variable,
// gradient and state, in the memory of the server's host or GPU. A program has at most 64 parcels, and one more for
// each of at most 9 servers or groups of them (see the layout), each a push, an update, a pull, their launches and
// twice one step inside the node.
//
// Synchronously all workers take part in every exchange and a variable is updated once. Asynchronously every worker
// exchanges for itself and nobody waits but for the links and memories that all of them share; as the step is the
// first one, in which all workers start together, they meet there more often than later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/strategies/parameter_server_layout.h"
#include "sim/strategies/reducer.h"

namespace foretrain::sim::strategies {

class ParameterServerReducer final : public Reducer {
 public:
  explicit ParameterServerReducer(StepWriter& writer);
  [[nodiscard]] std::vector<Communicator> communicators() const override;
  [[nodiscard]] std::vector<ActivityIndex> before_forward(std::size_t index) override;
  void after_backward(std::size_t index, ActivityIndex gradients_done) override;
  [[nodiscard]] std::vector<ActivityIndex> finish() override;
  [[nodiscard]] bool updates_parameters() const override { return false; }
  [[nodiscard]] bool waits_for_all_ranks() const override;

 private:
  // Where the gradients of a node are summed before they leave it.
  enum class Aggregation { none, gpus, host };
  [[nodiscard]] static Aggregation aggregation_of(const StepWriter& writer);

  [[nodiscard]] std::vector<std::vector<int>> groups(bool by_node) const;
  [[nodiscard]] Bytes wire_bytes(const Parcel& parcel) const;
  [[nodiscard]] Bytes update_bytes(const Parcel& parcel) const;
  ActivityIndex pull(const Parcel& parcel);
  void push(const Parcel& parcel, ActivityIndex gradients_done);
  void update(const Parcel& parcel, ActivityIndex pushed);
  // One collective of a parcel, with the host's calls for its variables.
  ActivityIndex exchange(calibrate::CollectiveKind kind, const Parcel& parcel, const std::string& where,
                         std::uint16_t stream, const std::vector<ActivityIndex>& after);
  ActivityIndex add(calibrate::CollectiveKind kind, const Parcel& parcel, const std::string& where,
                    std::uint16_t stream, Bytes bytes, const std::vector<ActivityIndex>& waits);

  StepWriter& writer_;
  Aggregation aggregation_;
  bool on_gpu_;               // the variables are
  bool has_servers_;          // beyond the GPUs of the only node
  double bytes_per_element_;  // on the wire
  std::vector<Server> servers_;
  std::vector<Parcel> parcels_;
  std::vector<bool> put_off_;  // by parcel: pushed after backward, pulled before forward
  struct Streams {             // by server
    std::uint16_t transfers = 0, updates = 0;
  };
  std::vector<Streams> streams_;
  std::size_t next_ = 0;  // the next parcel that backward completes
  ActivityIndex last_gradients_ = 0;
};

}  // namespace foretrain::sim::strategies
