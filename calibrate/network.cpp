#include "calibrate/machine.h"
#include "calibrate/parse.h"

namespace foretrain::calibrate {

NetworkKind parse_network(const JsonView& value) {
  value.allow_only({"name", "achieved_fraction", "achieved_spread", "message_bytes_per_nic", "message_share",
                    "hop_latency_seconds", "hop_spread", "time_jitter_per_doubling", "scaling_loss_factor", "source", "notes"});
  NetworkKind network;
  network.name = value.at("name").string();
  network.achieved_fraction = value.at("achieved_fraction").number({0, 1, true});
  network.achieved_spread = value.at("achieved_spread").number({0, 2});
  if (const auto sizes = value.find("message_bytes_per_nic")) {
    network.message_bytes_per_nic = parse_numbers(*sizes, {0, 1e15, true}, true);
    network.message_share = parse_numbers(value.at("message_share"), {0, 1, true}, true);
    if (network.message_share.size() != network.message_bytes_per_nic.size()) {
      value.at("message_share").fail("needs one share for each message size");
    }
    for (std::size_t i = 1; i < network.message_share.size(); ++i) {
      if (network.message_share[i] / network.message_share[i - 1] >
          network.message_bytes_per_nic[i] / network.message_bytes_per_nic[i - 1] * (1 + 1e-9)) {
        value.at("message_share").fail("a share that rises faster than the bytes: more bytes would take less time");
      }
    }
  }
  network.hop_latency = Seconds(value.at("hop_latency_seconds").number({0, 1}));
  network.hop_spread = value.at("hop_spread").number({0, 2});
  network.time_jitter_per_doubling = value.at("time_jitter_per_doubling").number({0, 1});
  if (const auto factor = value.find("scaling_loss_factor")) network.scaling_loss_factor = factor->number({0, 100});
  network.source = value.at("source").string();
  return network;
}

}  // namespace foretrain::calibrate
