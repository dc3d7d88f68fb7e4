#include "sim/strategies/stage_cuts.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace foretrain::sim::strategies {
namespace {

// From the last chunk on, each takes what it can do within `limit`, leaving one layer for every chunk before it; the
// first takes the rest, in time or not.
std::vector<std::size_t> filled_from_the_end(const std::vector<double>& seconds, std::size_t chunks, double limit) {
  std::vector<std::size_t> counts(chunks, 0);
  std::size_t left = seconds.size();
  for (std::size_t chunk = chunks; chunk-- > 1;) {
    double taken = 0;
    while (left > chunk && (counts[chunk] == 0 || taken + seconds[left - 1] <= limit)) {
      taken += seconds[--left];
      ++counts[chunk];
    }
  }
  counts.front() = left;
  return counts;
}

double first_seconds(const std::vector<double>& seconds, std::size_t count) {
  return std::accumulate(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
}

}  // namespace

std::vector<std::size_t> even_counts(std::size_t layers, std::size_t chunks) {
  assert(chunks > 0 && layers >= chunks);
  std::vector<std::size_t> counts(chunks, layers / chunks);
  for (std::size_t i = 0; i < layers % chunks; ++i) ++counts[i];
  return counts;
}

std::vector<std::size_t> timed_counts(const std::vector<double>& seconds, std::size_t chunks) {
  assert(chunks > 0 && seconds.size() >= chunks);
  double low = *std::max_element(seconds.begin(), seconds.end()), high = first_seconds(seconds, seconds.size());
  const auto fits = [&](double limit) {
    return first_seconds(seconds, filled_from_the_end(seconds, chunks, limit).front()) <= limit;
  };
  if (fits(low)) return filled_from_the_end(seconds, chunks, low);
  constexpr int digits_of_a_double = 53;
  for (int i = 0; i < digits_of_a_double; ++i) {
    const double middle = low + (high - low) / 2;
    (fits(middle) ? high : low) = middle;
  }
  return filled_from_the_end(seconds, chunks, high);
}

}  // namespace foretrain::sim::strategies
