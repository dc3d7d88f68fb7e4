#include "sim/strategies/compression.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "sim/strategies/half_compression.h"
#include "sim/strategies/onebit_adam.h"
#include "sim/strategies/powersgd.h"
#include "sim/strategies/top_k.h"

namespace foretrain::sim::strategies {
namespace {

// What is in the bucket travels.
class NoCompression final : public Compressor {
 public:
  explicit NoCompression(const CompressionPlace& place) : place_(place) {}
  void send(const Bucket& bucket, const std::string& what, ActivityIndex ready) override {
    sent_.push_back(place_.exchange.average(what, Bytes(bucket.elements * place_.bytes_per_element), {ready}));
  }
  [[nodiscard]] std::vector<ActivityIndex> receive() override { return std::exchange(sent_, {}); }

 private:
  CompressionPlace place_;
  std::vector<ActivityIndex> sent_;
};

}  // namespace

const std::vector<std::string>& compression_names() {
  static const std::vector<std::string> names = {"none", "fp16", "bf16", "powersgd", "top_k", "onebit_adam"};
  return names;
}

void require_known_compression(const std::string& name) {
  for (const std::string& known : compression_names()) {
    if (name == known) return;
  }
  throw Error("unknown gradient compression " + quoted(name), "/stack/compression",
              name_hint(name, compression_names()));
}

std::unique_ptr<Compressor> make_compressor(const std::string& name, const CompressionPlace& place) {
  require_known_compression(name);
  if (name == "fp16" || name == "bf16") return std::make_unique<HalfCompression>(place);
  if (name == "powersgd") return std::make_unique<PowerSgd>(place);
  if (name == "top_k") return std::make_unique<TopK>(place);
  if (name == "onebit_adam") return std::make_unique<OnebitAdam>(place);
  return std::make_unique<NoCompression>(place);
}

ActivityIndex write_pass(const CompressionPlace& place, const std::string& name, Bytes moved, double kernels,
                         const std::vector<ActivityIndex>& waits) {
  StepWriter& writer = place.writer;
  const calibrate::OperatorTime time = writer.clock().memory_pass(moved);
  const Duration host = writer.host_time("host_seconds_per_launch_forward", kernels);
  writer.explain(name, "compression", time.duration, time.formula, 1);
  writer.explain(name, "launch", host, significant(kernels) + " launches", 1);
  return writer.work({name, time.duration, host}, Category::compression, waits, place.lane);
}

}  // namespace foretrain::sim::strategies
