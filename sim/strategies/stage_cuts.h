// Stage cuts: how many layers each chunk of a pipeline gets, in forward order.
#pragma once

#include <cstddef>
#include <vector>

namespace foretrain::sim::strategies {

// Numbers that differ by at most one, the first chunks having more. At least as many layers as chunks.
[[nodiscard]] std::vector<std::size_t> even_counts(std::size_t layers, std::size_t chunks);

// Numbers with which the slowest chunk is as fast as it can be, every chunk having one layer or more; of several such
// ways one that gives the first chunks, which keep most activations, the least.
[[nodiscard]] std::vector<std::size_t> timed_counts(const std::vector<double>& seconds, std::size_t chunks);

}  // namespace foretrain::sim::strategies
