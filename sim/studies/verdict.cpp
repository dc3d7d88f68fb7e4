#include "sim/studies/verdict.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "sim/studies/shares.h"

namespace foretrain::sim::studies {
namespace {

using Candidate = const AlternativeAnswer*;

std::string times(double factor) { return significant(factor, factor < 10 ? 2 : 3) + "×"; }

std::string times_between(const Quantity& gain) {
  return fmt::format("{} ({}–{})", times(gain.value), significant(gain.low, 2), times(gain.high));
}

std::string money(const Prediction& prediction) {
  if (!prediction.cost.known) return "an unknown price";
  return format_money(prediction.cost.value);
}

std::string cost_against(const Prediction& a, const Prediction& b) {
  if (!a.cost.known && !b.cost.known) return "prices unknown";
  const std::string per = a.epoch_time.known ? " per epoch" : " per million samples";
  return money(a) + " instead of " + money(b) + per;
}

class Judge {
 public:
  Judge(Decision& decision, const VerdictRule& rule) : decision_(decision), rule_(rule) {
    for (const AlternativeAnswer& alternative : decision.alternatives) {
      if (alternative.prediction.memory.fits) usable_.push_back(&alternative);
    }
    std::stable_sort(usable_.begin(), usable_.end(), [](Candidate a, Candidate b) { return simpler(*a, *b); });
  }

  void judge() {
    const Candidate worthwhile = first([&](Candidate a) { return is_worthwhile(a); });
    const double needed = worthwhile != nullptr ? worthwhile->gain_interval.low : rule_.clear_gain;
    const auto is_enough = [&](Candidate a) { return !is_distributed(a) && is_clear(a) && a->gain >= needed; };
    const Candidate undistributed = first(is_enough);
    const Candidate unbought = fastest([&](Candidate a) { return is_same_machines(a) && is_enough(a); });
    if (unbought != nullptr) {
      say_same_machines(*unbought, worthwhile);
    } else if (undistributed != nullptr) {
      say_undistributed(*undistributed, worthwhile);
    } else if (worthwhile != nullptr) {
      say_yes(*worthwhile);
    } else if (const Candidate inefficient = first([&](Candidate a) { return is_distributed(a) && is_clear(a); })) {
      say_inefficient(*inefficient);
    } else if (const Candidate uncertain = first([&](Candidate a) { return is_uncertain(a); })) {
      say_uncertain(*uncertain);
    } else {
      say_no();
    }
    add_unusable();
    add_independent_runs();
    add_binding();
  }

 private:
  template <class Predicate>
  Candidate first(Predicate predicate) const {
    const auto found = std::find_if(usable_.begin(), usable_.end(), predicate);
    return found == usable_.end() ? nullptr : *found;
  }
  template <class Predicate>
  Candidate fastest(Predicate predicate) const {
    Candidate best = nullptr;
    for (const Candidate option : usable_) {
      if (predicate(option) && (best == nullptr || option->gain > best->gain)) best = option;
    }
    return best;
  }
  bool is_same_machines(Candidate a) const { return on_same_machines(*a, decision_.base); }
  bool is_distributed(Candidate a) const { return distributes(*a, decision_.base); }
  bool is_clear(Candidate a) const { return a->gain_interval.low > rule_.clear_gain; }
  bool is_worthwhile(Candidate a) const {
    return is_distributed(a) && is_clear(a) && gain_per_gpu(*a, decision_.base) >= rule_.worthwhile_efficiency;
  }
  bool is_uncertain(Candidate a) const {
    return (is_distributed(a) || is_same_machines(a)) && a->gain > rule_.clear_gain &&
           gain_per_gpu(*a, decision_.base) >= rule_.worthwhile_efficiency;
  }

  void answer(const std::string& word, const std::string& sentence, Candidate recommended) {
    decision_.answer = word;
    decision_.verdict = word + ": " + sentence;
    decision_.recommended = recommended == nullptr ? -1 : static_cast<int>(recommended - decision_.alternatives.data());
  }
  void reason(const std::string& text) { decision_.reasons.push_back(text); }

  void say_yes(const AlternativeAnswer& pick) {
    answer("Yes",
           fmt::format("on {} training runs {} as fast as on {}, at {} of its speed per GPU; {}.", pick.name,
                       times_between(pick.gain_interval), decision_.base.name,
                       format_percent(gain_per_gpu(pick, decision_.base)),
                       cost_against(pick.prediction, decision_.base.prediction)),
           &pick);
    compare_others(pick);
  }

  void say_same_machines(const AlternativeAnswer& pick, Candidate distributed) {
    answer("Yes",
           fmt::format("with {}, training runs {} as fast as today, on the same {}; {}.", pick.name,
                       times_between(pick.gain_interval), base_machines(),
                       cost_against(pick.prediction, decision_.base.prediction)),
           &pick);
    if (distributed == nullptr) say_no_distribution();
    compare_others(pick);
  }

  const char* base_machines() const { return decision_.base.prediction.nodes > 1 ? "machines" : "machine"; }

  void say_no_distribution() {
    if (first([&](Candidate a) { return is_distributed(a); }) == nullptr) return;
    reason("No way to distribute is both clearly faster and worth its GPUs.");
  }

  void say_undistributed(const AlternativeAnswer& pick, Candidate distributed) {
    const char* how = pick.scenario.cluster.gpus == 1 ? "one faster GPU is enough" : "as many faster GPUs are enough";
    answer("No",
           fmt::format("{}: on {} training runs {} as fast as on {}; {}.", how, pick.name,
                       times_between(pick.gain_interval), decision_.base.name,
                       cost_against(pick.prediction, decision_.base.prediction)),
           &pick);
    if (distributed == nullptr) say_no_distribution();
    compare_others(pick);
  }

  void say_inefficient(const AlternativeAnswer& pick) {
    answer("It depends",
           fmt::format("on {} training runs {} as fast as on {}, but at only {} of its speed per GPU; {}. Worth it "
                       "where time matters more than money.",
                       pick.name, times_between(pick.gain_interval), decision_.base.name,
                       format_percent(gain_per_gpu(pick, decision_.base)),
                       cost_against(pick.prediction, decision_.base.prediction)),
           nullptr);
    compare_others(pick);
  }

  void say_uncertain(const AlternativeAnswer& pick) {
    const std::string gain = times_between(pick.gain_interval);
    const std::string what =
        is_same_machines(&pick)
            ? fmt::format("with {}, training would run {} as fast as today, on the same {}", pick.name, gain,
                          base_machines())
            : fmt::format("on {} training would run {} as fast as on {}", pick.name, gain, decision_.base.name);
    answer("It depends",
           what + "; the low end is hardly worth it. Measure one step to know more (\"measured\" in the scenario).",
           nullptr);
    compare_others(pick);
  }

  void say_no() {
    if (usable_.empty()) {
      answer("No",
             decision_.alternatives.empty() ? "there is nothing to compare with."
                                            : "none of the options fits into memory.",
             nullptr);
      return;
    }
    const Candidate best =
        *std::max_element(usable_.begin(), usable_.end(), [](Candidate a, Candidate b) { return a->gain < b->gain; });
    const char* what = is_slower(*best) ? "is slower" : "is not clearly faster";
    answer("No",
           fmt::format("stay with {}; even the fastest option, {}, {}: {} its speed.", decision_.base.name, best->name,
                       what, times_between(best->gain_interval)),
           nullptr);
    for (const Candidate option : usable_) say_gradients(*option);
  }

  static bool is_slower(const AlternativeAnswer& option) { return option.gain_interval.high < 1; }

  // What computes while gradients move.
  static std::string beside(const GradientExchange& gradients) {
    if (!gradients.overlaps) return "after the backward pass: nothing computes meanwhile";
    if (gradients.has_parameters) return "in part while forward and backward passes compute";
    return fmt::format("{} the backward pass ({}) they can hide behind",
                       gradients.seconds > gradients.backward_seconds ? "longer than" : "less than",
                       format_time(Seconds(gradients.backward_seconds)));
  }

  void say_gradients(const AlternativeAnswer& option) {
    const GradientExchange& gradients = option.prediction.gradients;
    if (gradients.seconds <= 0) return;
    reason(fmt::format("{}: {} ({}) take {} per step over {}, {}.", option.name,
                       gradients.has_parameters ? "gradients and sharded parameters" : "gradients",
                       format_bytes(Bytes(gradients.bytes)), format_time(Seconds(gradients.seconds)), gradients.over,
                       beside(gradients)));
  }

  // Why not a simpler option than `pick`, and what the others buy and cost, or that they buy nothing.
  void compare_others(const AlternativeAnswer& pick) {
    for (const Candidate other : usable_) {
      if (other == &pick) continue;
      if (simpler(*other, pick)) {
        const char* what = is_clear(other) ? "gains less" : is_slower(*other) ? "slower" : "not clearly faster";
        reason(fmt::format("{} is simpler, but {}: {}.", other->name, what, times_between(other->gain_interval)));
        continue;
      }
      if (other->gain < pick.gain_interval.low) {
        reason(fmt::format("{} {}: {}.", other->name, is_slower(*other) ? "is slower" : "gains less",
                           times_between(other->gain_interval)));
        say_gradients(*other);
      } else if (other->gain <= pick.gain_interval.high) {
        reason(fmt::format("{} is not distinguishable from it: {}.", other->name, times_between(other->gain_interval)));
      } else {
        reason(fmt::format("{} buys {}, at {} of the base's speed per GPU; {}.{}", other->name,
                           times_between(other->gain_interval), format_percent(gain_per_gpu(*other, decision_.base)),
                           cost_against(other->prediction, decision_.base.prediction), complexity(pick, *other)));
      }
    }
  }

  static std::string complexity(const AlternativeAnswer& pick, const AlternativeAnswer& other) {
    if (other.prediction.nodes <= 1 || pick.prediction.nodes > 1) return "";
    return " It takes several nodes: a launcher, a network that has to be right, data that all of them can read, and "
           "more that can fail.";
  }

  void add_unusable() {
    const auto add = [&](const AlternativeAnswer& option) {
      if (option.prediction.memory.fits) return;
      reason(fmt::format("{} does not fit into memory ({} of {}): {}.", option.name,
                         format_bytes(Bytes(option.prediction.memory.total.value)),
                         format_bytes(Bytes(option.prediction.memory.capacity.value)),
                         option.prediction.memory.advice));
    };
    add(decision_.base);
    for (const AlternativeAnswer& option : decision_.alternatives) add(option);
  }

  void add_independent_runs() {
    Candidate option = nullptr;
    if (decision_.recommended >= 0) {
      option = &decision_.alternatives[static_cast<std::size_t>(decision_.recommended)];
    } else if (const Candidate distributed = first([&](Candidate a) { return is_distributed(a); })) {
      option = distributed;
    }
    if (option == nullptr || !option->independent_runs.known) return;
    const double factor = option->independent_runs.value / option->prediction.throughput.value;
    reason(
        fmt::format("For many runs, such as a search for hyper-parameters, {} independent runs on {} process {} what "
                    "one distributed run does, without communication.",
                    option->scenario.cluster.gpus, option->name, times(factor)));
  }

  void add_binding() {
    reason(fmt::format("What holds {}: {}.", decision_.base.name, decision_.base.prediction.binding));
    if (decision_.recommended < 0) return;
    const AlternativeAnswer& pick = decision_.alternatives[static_cast<std::size_t>(decision_.recommended)];
    reason(fmt::format("What holds {}: {}.", pick.name, pick.prediction.binding));
    say_gradients(pick);
  }

  Decision& decision_;
  const VerdictRule& rule_;
  std::vector<Candidate> usable_;  // simplest first
};

int simplicity_class(const AlternativeAnswer& alternative) {
  if (alternative.prediction.nodes > 1) return 2;
  return alternative.scenario.cluster.gpus > 1 ? 1 : 0;
}

}  // namespace

bool simpler(const AlternativeAnswer& a, const AlternativeAnswer& b) {
  return std::make_tuple(simplicity_class(a), a.scenario.cluster.gpus) <
         std::make_tuple(simplicity_class(b), b.scenario.cluster.gpus);
}

bool distributes(const AlternativeAnswer& alternative, const AlternativeAnswer& base) {
  return alternative.scenario.cluster.gpus > base.scenario.cluster.gpus;
}

bool on_same_machines(const AlternativeAnswer& alternative, const AlternativeAnswer& base) {
  const auto hardware = [](const ClusterChoice& c) {
    return std::tie(c.machine, c.gpus, c.gpu, c.gpus_per_node, c.intra_node, c.intra_node_gbytes_per_s, c.nics_per_node,
                    c.inter_node_gbits_per_s, c.network, c.network_achieved_fraction, c.vcpus, c.nodes_per_leaf,
                    c.oversubscription, c.straggler_slowdown);
  };
  return hardware(alternative.scenario.cluster) == hardware(base.scenario.cluster);
}

double gain_per_gpu(const AlternativeAnswer& alternative, const AlternativeAnswer& base) {
  return alternative.gain * static_cast<double>(base.scenario.cluster.gpus) /
         static_cast<double>(alternative.scenario.cluster.gpus);
}

void judge(Decision& decision, const VerdictRule& rule) { Judge(decision, rule).judge(); }

}  // namespace foretrain::sim::studies
