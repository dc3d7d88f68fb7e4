#include "sim/strategies/onebit_adam.h"

#include "base/error.h"
#include "base/text.h"
#include "models/precision.h"

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

constexpr double bits_per_byte = 8;

}  // namespace

OnebitAdam::OnebitAdam(const CompressionPlace& place) : place_(place) {
  const std::string& optimizer = place.writer.input().scenario.training.optimizer;
  if (optimizer == "adam" || optimizer == "adamw") return;
  throw Error("1-bit Adam compresses Adam's momentum, and the optimizer is " + quoted(optimizer), "/stack/compression",
              "set training.optimizer to adam or adamw, or choose another compression");
}

// Words per element of a buffer that is compressed: the error is added (3), the norm taken (1), the signs packed
// (1 and a bit), the new error made (2). Unpacking writes a word for a bit, and scaling reads and writes it.
void OnebitAdam::send(const Bucket& bucket, const std::string& what, ActivityIndex ready) {
  const double word = models::activation_bytes(models::Precision::fp32);  // optimizer state
  const double bit = 1 / bits_per_byte, ranks = place_.exchange.ranks();
  const double elements = bucket.elements, part = elements / ranks;
  const double compress = 7 * word + bit, unpack = bit + 3 * word;
  constexpr double compress_kernels = 5, unpack_kernels = 2;
  const Bytes signs(elements * bit), scales(ranks * word);

  const ActivityIndex packed =
      write_pass(place_, "pack signs of " + what, Bytes(elements * compress), compress_kernels, {ready});
  place_.exchange.collective(CollectiveKind::all_to_all, "all-to-all signs of " + what, signs, {packed});
  const ActivityIndex arrived =
      place_.exchange.collective(CollectiveKind::all_gather, "all-gather scales of " + what, scales, {packed});
  // This rank's part of everyone's signs, as many as the whole buffer has, becomes words and a sum.
  const ActivityIndex averaged =
      write_pass(place_, "average signs of " + what, Bytes(elements * (unpack + word) + part * word),
                 unpack_kernels + 1, {arrived});
  const ActivityIndex repacked =
      write_pass(place_, "pack averaged signs of " + what, Bytes(part * compress), compress_kernels, {averaged});
  place_.exchange.collective(CollectiveKind::all_gather, "all-gather signs of " + what, signs, {repacked});
  const ActivityIndex back = place_.exchange.collective(CollectiveKind::all_gather,
                                                        "all-gather averaged scales of " + what, scales, {repacked});
  done_.push_back(write_pass(place_, "unpack signs of " + what, Bytes(elements * unpack), unpack_kernels, {back}));
}

}  // namespace foretrain::sim::strategies
