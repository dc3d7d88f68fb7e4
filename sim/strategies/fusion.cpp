#include "sim/strategies/fusion.h"

#include <algorithm>
#include <cmath>

namespace foretrain::sim::strategies {
namespace {

// Wakings are `cycle` apart; the first at or after `at`.
Seconds next_waking(Seconds wake, Seconds at, Seconds cycle) {
  if (at <= wake) return wake;
  if (cycle.value <= 0) return at;
  return wake + cycle * std::ceil((at - wake) / cycle);
}

// Groups of tensors [begin, end), in order, each up to the threshold.
void form_groups(const std::vector<HandedOver>& tensors, std::size_t begin, std::size_t end, const FusionRules& rules,
                 FusedCycle& cycle) {
  for (std::size_t i = begin; i < end; ++i) {
    const ReadyGradient& gradient = tensors[i].gradient;
    const bool fits =
        !cycle.groups.empty() &&
        (cycle.groups.back().elements + gradient.elements) * rules.bytes_per_element <= rules.threshold.value;
    if (!fits) {
      cycle.groups.emplace_back();
      cycle.group_ends.push_back(i);
    }
    cycle.groups.back().add(gradient);
    cycle.group_ends.back() = i + 1;
  }
}

}  // namespace

std::vector<FusedCycle> fuse(const std::vector<HandedOver>& tensors, const FusionRules& rules) {
  std::vector<FusedCycle> cycles;
  Seconds wake(0), idle_since(0);
  for (std::size_t begin = 0; begin < tensors.size();) {
    wake = next_waking(std::max(wake, idle_since), tensors[begin].at, rules.cycle);
    std::size_t end = begin;
    while (end < tensors.size() && tensors[end].at <= wake) ++end;
    FusedCycle cycle;
    cycle.last = end - 1;
    cycle.wait = wake - std::max(tensors[cycle.last].at, idle_since);
    form_groups(tensors, begin, end, rules, cycle);
    idle_since = wake + rules.negotiation;
    for (const std::size_t group_end : cycle.group_ends)
      idle_since = std::max(idle_since, tensors[group_end - 1].ready);
    cycles.push_back(std::move(cycle));
    wake += rules.cycle;
    begin = end;
  }
  return cycles;
}

}  // namespace foretrain::sim::strategies
