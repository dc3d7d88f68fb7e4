#include "sim/strategies/top_k.h"

#include <algorithm>
#include <cmath>

namespace foretrain::sim::strategies {
namespace {

using calibrate::CollectiveKind;

// Device memory is read and written in sectors of this many bytes (CUDA C++ Best Practices Guide, coalesced access):
// what one element costs that stands alone.
constexpr double sector_bytes = 32;

// A radix select looks at eight bits of every key per pass, and gathers what it found in one more
// (ATen/native/cuda/TensorTopK.cu; unverified).
constexpr double bits_per_pass = 8, bits_per_byte = 8;

}  // namespace

double chosen_elements(double elements, double fraction) {
  return std::min(elements, std::max(1.0, std::ceil(elements * fraction)));
}

TopK::TopK(const CompressionPlace& place)
    : place_(place), fraction_(place.writer.input().stack.at("top_k_fraction").value) {}

void TopK::send(const Bucket& bucket, const std::string& what, ActivityIndex ready) {
  const double word = place_.bytes_per_element, ranks = place_.exchange.ranks();
  const double chosen = chosen_elements(bucket.elements, fraction_);
  const double dense = bucket.elements * word, sparse = chosen * (word + index_bytes);
  const double passes = word * bits_per_byte / bits_per_pass;
  // Gradient and error are added up (3 words), the magnitudes taken (2), the select reads them, and what was chosen
  // is cleared in the error, an element here and there.
  const ActivityIndex corrected = write_pass(place_, "add error to " + what, Bytes(3 * dense), 1, {ready});
  const ActivityIndex selected = write_pass(place_, "select the largest of " + what,
                                            Bytes((2 + passes + 1) * dense + sparse), 2 + passes, {corrected});
  const ActivityIndex kept =
      write_pass(place_, "new error of " + what, Bytes(chosen * (index_bytes + 2 * sector_bytes)), 1, {selected});
  const ActivityIndex values = place_.exchange.collective(CollectiveKind::all_gather, "all-gather values of " + what,
                                                          Bytes(ranks * chosen * word), {kept});
  const ActivityIndex indices = place_.exchange.collective(CollectiveKind::all_gather, "all-gather indices of " + what,
                                                           Bytes(ranks * chosen * index_bytes), {kept});
  sent_.push_back({what, bucket.elements, chosen, values, indices});
}

std::vector<ActivityIndex> TopK::receive() {
  std::vector<ActivityIndex> done;
  const double word = place_.bytes_per_element, ranks = place_.exchange.ranks();
  for (const Sent& sent : std::exchange(sent_, {})) {
    // Clears the bucket, then adds what all ranks chose: an element here and there.
    const double arrived = ranks * sent.chosen * (word + index_bytes + 2 * sector_bytes);
    done.push_back(write_pass(place_, "add up " + sent.what, Bytes(sent.elements * word + arrived), 2,
                              {sent.values, sent.indices}));
  }
  return done;
}

}  // namespace foretrain::sim::strategies
