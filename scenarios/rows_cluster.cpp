#include "scenarios/field_rows.h"

#include "calibrate/machine.h"

namespace foretrain::scenarios {

using sim::Scenario;
using namespace rows;

void add_cluster_fields(Fields& fields) {
  fields.push_back(text<Scenario>(
      {.path = "cluster.machine",
       .label = "{}",
       .doc = "A machine of the catalogue (`foretrain list machines`). Without one, `gpu` and "
              "`gpus_per_node` are required and the other keys describe the machine.",
       .example = R"("Standard_NC24ads_A100_v4")",
       .aliases = {"instance", "instance_type", "sku", "node"},
       .shown = true},
      [](auto& s) -> auto& { return s.cluster.machine; }));
  fields.push_back(integer<Scenario>(
      {.path = "cluster.gpus",
       .label = "{} GPUs",
       .unit = "GPUs",
       .range = {1, 1048576},
       .doc = "GPUs in all, over all machines; the last machine may be partly used.",
       .example = "1",
       .aliases = {"num_gpus", "world_size", "nodes", "machines", "num_nodes"},
       .shown = true},
      [](auto& s) -> auto& { return s.cluster.gpus; }));
  fields.push_back(text<Scenario>(
      {.path = "cluster.gpu",
       .label = "{}",
       .doc = "A device of the catalogue (`foretrain list devices`) in place of the machine's own.",
       .example = R"("A100-SXM4-80GB")",
       .aliases = {"device", "gpu_type"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.gpu; }));
  fields.push_back(integer<Scenario>(
      {.path = "cluster.gpus_per_node",
       .label = "{} GPUs per node",
       .unit = "GPUs",
       .range = {1, 1024},
       .doc = "GPUs of one machine.",
       .example = "8",
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.gpus_per_node; }));
  fields.push_back(choice<Scenario>(
      {.path = "cluster.intra_node",
       .label = "{} inside a node",
       .choices = calibrate::intra_node_names(),
       .doc = "What joins the GPUs of one machine.",
       .example = R"("nvswitch")",
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.intra_node; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.intra_node_gbytes_per_s",
       .label = "{} GB/s inside a node",
       .unit = "GB/s",
       .range = {1e-3, 1e5},
       .doc = "Per GPU and direction inside a machine, 10⁹ bytes per second.",
       .example = "300",
       .aliases = {"nvlink_bandwidth"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.intra_node_gbytes_per_s; }));
  fields.push_back(integer<Scenario>(
      {.path = "cluster.nics_per_node",
       .label = "{} NICs per node",
       .unit = "NICs",
       .range = {1, 256},
       .doc = "Network cards of one machine that collectives use.",
       .example = "8",
       .aliases = {"nics"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.nics_per_node; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.inter_node_gbits_per_s",
       .label = "{} Gbit/s between nodes",
       .unit = "Gbit/s",
       .range = {1e-3, 1e6},
       .doc = "Line rate between machines, the sum over a machine's network cards, per direction: 10⁹ bits per second.",
       .example = "200",
       .aliases = {"bandwidth", "network_bandwidth", "inter_node_bandwidth"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.inter_node_gbits_per_s; }));
  fields.push_back(text<Scenario>(
      {.path = "cluster.network",
       .label = "{}",
       .doc = "The kind of network between machines (`foretrain list networks`).",
       .example = R"("infiniband")",
       .aliases = {"interconnect", "fabric", "inter_node"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.network; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.network_achieved_fraction",
       .label = "network reaches {} of its line rate",
       .unit = "of the line rate",
       .range = {1e-3, 1},
       .doc = "Share of the line rate that large collectives reach, in place of the network "
              "kind's own.",
       .example = "0.8",
       .aliases = {"efficiency", "network_efficiency"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.network_achieved_fraction; }));
  fields.push_back(integer<Scenario>(
      {.path = "cluster.vcpus",
       .label = "{} vCPUs",
       .unit = "vCPUs",
       .range = {1, 1e5},
       .doc = "Virtual CPUs of one machine, for `input.samples_per_s_per_vcpu`.",
       .example = "96",
       .aliases = {"cpus", "cores"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.vcpus; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.price_usd_per_hour",
       .label = "{} USD/h",
       .unit = "USD/h",
       .range = {0, 1e7},
       .doc = "Price of one machine. Without it and without one in the catalogue, costs are "
              "unknown, not zero.",
       .example = "3.673",
       .aliases = {"price", "cost_per_hour", "hourly_price"},
       .of_machine = true},
      [](auto& s) -> auto& { return s.cluster.price_usd_per_hour; }));
  fields.push_back(integer<Scenario>(
      {.path = "cluster.nodes_per_leaf",
       .label = "{} nodes per leaf switch",
       .unit = "machines",
       .range = {1, 1e6},
       .doc = "Machines under one leaf switch; absent: the network does not block.",
       .example = "16"},
      [](auto& s) -> auto& { return s.cluster.nodes_per_leaf; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.oversubscription",
       .label = "oversubscription {}",
       .unit = "",
       .range = {1, 1000},
       .doc = "A leaf switch's downlinks over its uplinks: 1 is non-blocking; needs "
              "`nodes_per_leaf`.",
       .example = "2"},
      [](auto& s) -> auto& { return s.cluster.oversubscription; }));
  fields.push_back(number<Scenario>(
      {.path = "cluster.straggler_slowdown",
       .label = "straggler {} times slower",
       .unit = "times slower",
       .range = {1, 1000},
       .doc = "One GPU computes so many times slower than the others; 1: none does.",
       .example = "1.2"},
      [](auto& s) -> auto& { return s.cluster.straggler_slowdown; }));
}

}  // namespace foretrain::scenarios
