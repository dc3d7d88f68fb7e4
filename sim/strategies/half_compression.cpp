#include "sim/strategies/half_compression.h"

#include "models/precision.h"

namespace foretrain::sim::strategies {
namespace {

const double half = models::activation_bytes(models::Precision::fp16);

}  // namespace

void HalfCompression::send(const Bucket& bucket, const std::string& what, ActivityIndex ready) {
  const double cast = place_.bytes_per_element + half, division = 2 * half;
  const ActivityIndex ready_half =
      write_pass(place_, "cast " + what + " to two bytes", Bytes(bucket.elements * (cast + division)), 2, {ready});
  sent_.push_back({what, bucket.elements, place_.exchange.average(what, Bytes(bucket.elements * half), {ready_half})});
}

std::vector<ActivityIndex> HalfCompression::receive() {
  std::vector<ActivityIndex> done;
  for (const Sent& sent : std::exchange(sent_, {})) {
    done.push_back(write_pass(place_, "cast " + sent.what + " back",
                              Bytes(sent.elements * (half + place_.bytes_per_element)), 1, {sent.averaged}));
  }
  return done;
}

}  // namespace foretrain::sim::strategies
