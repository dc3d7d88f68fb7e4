#include "calibrate/device.h"

#include <algorithm>
#include <iterator>

#include "base/statistics.h"
#include "calibrate/parse.h"
#include "models/operator.h"

namespace foretrain::calibrate {
namespace {

// Of NVIDIA, in order of appearance.
const std::vector<std::string>& generation_names() {
  static const std::vector<std::string> names = {"kepler", "maxwell", "pascal", "volta",    "turing",
                                                 "ampere", "ada",     "hopper", "blackwell"};
  return names;
}

constexpr NumberRange positive{0, 1e30, true};
constexpr NumberRange share_of_one{0, 1, true};
constexpr NumberRange seconds_range{0, 1};

std::vector<std::string> with_evidence(std::vector<std::string> keys) {
  keys.insert(keys.end(), evidence_keys().begin(), evidence_keys().end());
  return keys;
}

Seconds seconds(const JsonView& group, const char* key) { return Seconds(group.at(key).number(seconds_range)); }

models::Precision precision_key(const JsonView& group, const std::string& key) {
  const std::vector<std::string>& names = models::precision_names();
  if (std::find(names.begin(), names.end(), key) == names.end()) group.allow_only(names);
  return models::precision_from(key);
}

EfficiencyCurve parse_curve(const JsonView& group, const std::string& axis) {
  group.allow_only(with_evidence({"axis", "work", "share"}));
  EfficiencyCurve curve;
  curve.axis = group.at("axis").one_of({axis});
  curve.work = parse_numbers(group.at("work"), positive, true);
  curve.share = parse_numbers(group.at("share"), share_of_one, false);
  if (curve.share.size() != curve.work.size()) group.at("share").fail("needs one share for each work");
  for (std::size_t i = 1; i < curve.work.size(); ++i) {
    if (curve.share[i] / curve.share[i - 1] > curve.work[i] / curve.work[i - 1]) {
      group.at("share").fail("a share that rises faster than the work: a bigger problem would take less time");
    }
  }
  curve.evidence = parse_evidence(group);
  return curve;
}

std::vector<Tile> parse_tiles(const JsonView& list) {
  std::vector<Tile> tiles;
  for (const JsonView& item : list.items()) {
    const std::vector<JsonView> parts = item.items();
    if (parts.size() != 3) item.fail("a tile is [rows, columns, share of peak]");
    tiles.push_back({static_cast<double>(parts[0].integer(1, 1024)), static_cast<double>(parts[1].integer(1, 1024)),
                     parts[2].number(share_of_one)});
  }
  if (tiles.empty()) list.fail("an empty list");
  return tiles;
}

ProductProfile parse_product(const JsonView& group) {
  group.allow_only(with_evidence({"tiles", "depth_overhead", "most_splits", "split_seconds", "memory_share",
                                  "launch_seconds", "unaligned_factor", "sustained", "most_flops"}));
  ProductProfile profile;
  profile.tiles = parse_tiles(group.at("tiles"));
  profile.depth_overhead = group.at("depth_overhead").number({0, 4096});
  profile.most_splits = static_cast<int>(group.at("most_splits").integer(1, 1024));
  profile.split_time = seconds(group, "split_seconds");
  profile.memory_share = group.at("memory_share").number(share_of_one);
  profile.launch = seconds(group, "launch_seconds");
  profile.unaligned_factor = group.at("unaligned_factor").number({1, 16});
  profile.sustained = group.at("sustained").number(share_of_one);
  profile.most_flops = group.at("most_flops").number(positive);
  profile.evidence = parse_evidence(group);
  return profile;
}

// The relative rates may exceed 1 (a convolution keeps its operands in cache), but no tile may exceed the peak.
double relative_rate(const JsonView& group, const char* key, const ProductProfile& product) {
  double best = 0;
  for (const Tile& tile : product.tiles) best = std::max(best, tile.share);
  return group.at(key).number({0, 1 / best, true});
}

ConvolutionProfile parse_convolution(const JsonView& group, const ProductProfile& product) {
  group.allow_only(
      with_evidence({"forward", "input_gradient", "strided_input_gradient", "weight_gradient", "memory_share",
                     "launch_seconds", "channel_multiple", "winograd_launch_seconds", "most_flops"}));
  ConvolutionProfile profile;
  profile.forward = relative_rate(group, "forward", product);
  profile.input_gradient = relative_rate(group, "input_gradient", product);
  profile.strided_input_gradient = relative_rate(group, "strided_input_gradient", product);
  profile.weight_gradient = relative_rate(group, "weight_gradient", product);
  profile.memory_share = group.at("memory_share").number(share_of_one);
  profile.launch = seconds(group, "launch_seconds");
  profile.channel_multiple = static_cast<int>(group.at("channel_multiple").integer(1, 128));
  if (group.find("winograd_launch_seconds")) profile.winograd_launch = seconds(group, "winograd_launch_seconds");
  profile.most_flops = group.at("most_flops").number(positive);
  profile.evidence = parse_evidence(group);
  return profile;
}

void parse_matrix_work(const JsonView& value, Device& device) {
  const JsonView peaks = value.at("peak_flops_per_s");
  for (const std::string& key : peaks.keys()) {
    device.peak[precision_key(peaks, key)] = FlopsPerSecond(peaks.at(key).number(positive));
  }
  const JsonView products = value.at("products");
  for (const std::string& key : products.keys()) {
    device.products[precision_key(products, key)] = parse_product(products.at(key));
  }
  const JsonView convolutions = value.at("convolutions");
  for (const std::string& key : convolutions.keys()) {
    const auto product = device.products.find(precision_key(convolutions, key));
    if (product == device.products.end()) convolutions.at(key).fail("convolutions need \"products\" of that precision");
    device.convolutions[product->first] = parse_convolution(convolutions.at(key), product->second);
  }
  for (const auto& [precision, peak] : device.peak) {
    const auto kind = precision == models::Precision::bf16 ? models::Precision::fp16 : precision;
    const auto convolved = precision == models::Precision::fp8 ? models::Precision::fp16 : kind;
    if (device.products.count(kind) + device.convolutions.count(convolved) != 2) {
      peaks.at(models::to_string(precision))
          .fail("a peak without \"products\" and \"convolutions\" of its precision (bf16 uses those of fp16, fp8 its convolutions)");
    }
  }
}

AttentionPass parse_attention_pass(const JsonView& group) {
  constexpr NumberRange overhead{0, 1e4};
  group.allow_only({"share", "width", "diagonal", "fill"});
  return {group.at("share").number(share_of_one), group.at("width").number(overhead),
          group.at("diagonal").number(overhead), group.at("fill").number(overhead)};
}

void parse_attention(const JsonView& value, Device& device) {
  if (const auto fused = value.find("attention")) {
    fused->allow_only({"generation_1", "generation_2", "generation_3"});
    for (const std::string& key : fused->keys()) {
      const JsonView kernel = fused->at(key);
      kernel.allow_only(with_evidence({"forward", "backward"}));
      device.attention[key.back() - '0'] = {parse_attention_pass(kernel.at("forward")),
                                            parse_attention_pass(kernel.at("backward")), parse_evidence(kernel)};
    }
  }
  const JsonView unfused = value.at("unfused_attention");
  unfused.allow_only(with_evidence({"forward_passes_per_score", "backward_passes_per_score"}));
  device.unfused_attention = {unfused.at("forward_passes_per_score").number({1, 100}),
                              unfused.at("backward_passes_per_score").number({1, 100}), parse_evidence(unfused)};
}

void parse_memory(const JsonView& value, Device& device) {
  device.memory = Bytes(value.at("memory_bytes").number(positive));
  device.memory_bandwidth = gbytes_per_s(value.at("memory_bandwidth_gbytes_per_s").number(positive));
  device.memory_curve = parse_curve(value.at("memory_efficiency"), "bytes");
  const JsonView kinds = value.at("memory_kind_share");
  std::vector<std::string> names = models::operator_kind_names();
  names.push_back("source");
  kinds.allow_only(names);
  for (const std::string& key : kinds.keys()) {
    if (key != "source") device.memory_kind_share[key] = kinds.at(key).number(share_of_one);
  }
}

void parse_steps(const JsonView& value, Device& device) {
  const JsonView recurrent = value.at("recurrent");
  recurrent.allow_only(with_evidence({"forward_step_seconds", "backward_step_seconds"}));
  device.recurrent = {seconds(recurrent, "forward_step_seconds"), seconds(recurrent, "backward_step_seconds"),
                      parse_evidence(recurrent)};
  const JsonView floors = value.at("floors");
  floors.allow_only(with_evidence({"kernel_seconds", "dependent_step_seconds"}));
  device.kernel_floor = seconds(floors, "kernel_seconds");
  device.dependent_step = seconds(floors, "dependent_step_seconds");
  device.floors = parse_evidence(floors);
}

}  // namespace

double EfficiencyCurve::at(double work_done, bool& outside) const {
  if (work_done < work.front() || work_done > work.back()) outside = true;
  return interpolate_log_log(work, share, work_done);
}

const AttentionProfile* attention_profile(const Device& device, int generation) {
  if (device.attention.empty()) return nullptr;
  const auto after = device.attention.upper_bound(generation);
  return after == device.attention.begin() ? &after->second : &std::prev(after)->second;
}

Device parse_device(const JsonView& value) {
  value.allow_only({"name",
                    "chip",
                    "like",
                    "transfer_spread",
                    "generation",
                    "memory_bytes",
                    "memory_bandwidth_gbytes_per_s",
                    "multiprocessors",
                    "peak_flops_per_s",
                    "products",
                    "convolutions",
                    "recurrent",
                    "attention",
                    "unfused_attention",
                    "memory_efficiency",
                    "memory_kind_share",
                    "floors",
                    "host_factor",
                    "power_watts",
                    "idle_watts",
                    "datasheet_source",
                    "notes"});
  if (const auto spread = value.find("transfer_spread"); spread && !value.find("like")) {
    spread->fail("a transfer from no device", "\"like\" names the device that numbers are taken over from");
  }
  Device device;
  device.name = value.at("name").string();
  device.chip = value.at("chip").string();
  device.generation = value.at("generation").one_of(generation_names());
  device.multiprocessors = static_cast<int>(value.at("multiprocessors").integer(1, 10000));
  parse_memory(value, device);
  parse_matrix_work(value, device);
  parse_attention(value, device);
  parse_steps(value, device);
  device.host_factor = value.at("host_factor").number({0, 100, true});
  device.power_watts = value.at("power_watts").number({0, 1e5, true});
  device.idle_watts = value.at("idle_watts").number({0, device.power_watts});
  device.datasheet_source = value.at("datasheet_source").string();
  return device;
}

}  // namespace foretrain::calibrate
