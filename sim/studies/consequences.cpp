#include "sim/studies/consequences.h"

#include <fmt/format.h>

#include "base/text.h"

namespace foretrain::sim::studies {
namespace {

constexpr double seconds_per_hour = 3600;
constexpr double joules_per_kilowatt_hour = 3.6e6;

Quantity scaled(const Quantity& quantity, double factor, const std::string& unit, const std::string& provenance) {
  return {quantity.value * factor, quantity.low * factor, quantity.high * factor, unit, provenance, quantity.known};
}

// Time for `samples` samples; slow throughput makes it long.
Quantity time_for(const Quantity& throughput, double samples, const std::string& provenance) {
  return {samples / throughput.value, samples / throughput.high, samples / throughput.low, "s", provenance, true};
}

Quantity hourly_price(const Cluster& cluster) {
  const std::string machine = cluster.machine.name.empty() ? "this machine" : cluster.machine.name;
  if (!cluster.machine.price_usd_per_hour) {
    return unknown_quantity("usd/h",
                            "the price of " + printable(machine) + " is not known; state cluster.price_usd_per_hour");
  }
  const double price = *cluster.machine.price_usd_per_hour * cluster.nodes;
  std::string provenance = fmt::format("{} per hour × {} machine{}", format_money(*cluster.machine.price_usd_per_hour),
                                       cluster.nodes, cluster.nodes == 1 ? "" : "s");
  if (!cluster.machine.price_note.empty()) provenance += " (" + printable(cluster.machine.price_note) + ")";
  return {price, price, price, "usd/h", provenance, true};
}

// Board power while kernels run, idle power otherwise. A busy GPU draws up to its board power and at least halfway
// between idle and it, which bounds the answer; no measurement of this workload stands behind it.
Quantity energy_of(const Replayed& replayed, const Prediction& prediction, double samples, const std::string& per) {
  const calibrate::Device& device = *replayed.main.run->cluster().device;
  if (device.power_watts <= 0) return unknown_quantity("kWh", "the power of " + device.name + " is not known");
  double busy = 0;
  for (const char* part : {"forward", "backward", "recompute", "optimizer", "compression", "other"}) {
    const auto found = replayed.breakdown.find(part);
    if (found != replayed.breakdown.end()) busy += found->second;
  }
  const double share = busy / replayed.main.step_seconds();
  const double steps = samples / static_cast<double>(prediction.global_batch);
  const double gpus = replayed.main.run->cluster().gpus;
  const auto kilowatt_hours = [&](double watts_while_busy, double step_seconds) {
    const double watts = watts_while_busy * share + device.idle_watts * (1 - share);
    return watts * step_seconds * gpus * steps / joules_per_kilowatt_hour;
  };
  const Quantity& step = prediction.step_time;
  return {kilowatt_hours(device.power_watts, step.value),
          kilowatt_hours((device.power_watts + device.idle_watts) / 2, step.low),
          kilowatt_hours(device.power_watts, step.high),
          "kWh",
          fmt::format("{}; GPUs only, board power {} W while kernels run, {} W otherwise (datasheet)", per,
                      significant(device.power_watts), significant(device.idle_watts)),
          true};
}

}  // namespace

void fill_consequences(Prediction& prediction, const Replayed& replayed) {
  const Training& training = replayed.main.run->scenario().training;
  constexpr double million = 1e6;
  const bool sized = training.dataset_samples > 0;
  const double samples = sized ? training.dataset_samples : million;
  const std::string per = sized ? fmt::format("per epoch of {} samples", format_count(samples)) : "per million samples";
  const Quantity time = time_for(prediction.throughput, samples, per);

  prediction.epoch_time = sized ? time : unknown_quantity("s", "training.dataset_samples is not stated");
  prediction.run_time = sized && training.epochs > 0
                            ? scaled(time, training.epochs, "s", fmt::format("{} epochs", significant(training.epochs)))
                            : unknown_quantity("s", "training.dataset_samples and training.epochs are not both stated");
  prediction.cost_per_hour = hourly_price(replayed.main.run->cluster());
  prediction.cost = prediction.cost_per_hour.known ? scaled(time, prediction.cost_per_hour.value / seconds_per_hour,
                                                            "usd", per + " at " + prediction.cost_per_hour.provenance)
                                                   : unknown_quantity("usd", prediction.cost_per_hour.provenance);
  prediction.energy = energy_of(replayed, prediction, samples, per);
}

}  // namespace foretrain::sim::studies
