#include "sim/studies/decide.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/input_load.h"
#include "sim/studies/advice.h"
#include "sim/studies/alone.h"
#include "sim/studies/scaling_interval.h"
#include "sim/studies/shares.h"
#include "sim/studies/verdict.h"

namespace foretrain::sim::studies {
namespace {

std::string describe(const Scenario& scenario, const calibrate::Catalogue& catalogue) {
  const Cluster cluster = resolve_cluster(scenario.cluster, catalogue);
  const std::string machine = cluster.machine.name.empty() ? cluster.device->name : printable(cluster.machine.name);
  return fmt::format("{} × {} ({} GPU{})", cluster.nodes, machine, cluster.gpus, cluster.gpus == 1 ? "" : "s");
}

// What as many independent one-GPU runs process together: only the input is shared.
Quantity independent_runs(const Scenario& scenario, const Prediction& prediction,
                          const calibrate::Catalogue& catalogue) {
  const Cluster cluster = resolve_cluster(scenario.cluster, catalogue);
  if (cluster.gpus == 1) return unknown_quantity("samples/s", "one GPU runs one training at a time");
  if (!prediction.one_gpu_fits) return unknown_quantity("samples/s", "one GPU cannot hold the model");
  const double limit = strategies::input_samples_per_second(scenario, cluster, cluster.nodes).value_or(HUGE_VAL);
  Quantity runs = prediction.one_gpu_throughput;
  for (double* end : {&runs.value, &runs.low, &runs.high}) *end = std::min(*end * cluster.gpus, limit);
  runs.provenance = fmt::format("{} runs of one GPU each, sharing the input pipeline of their node", cluster.gpus);
  return runs;
}

AlternativeAnswer answer_for(const std::string& name, const Scenario& scenario, const calibrate::Catalogue& catalogue,
                             const PredictOptions& options) {
  AlternativeAnswer answer;
  answer.name = name;
  answer.scenario = scenario;
  answer.prediction = predict(scenario, catalogue, options);
  answer.gain_interval = {1, 1, 1, "1", "the base", true};
  answer.odds_faster_than_base = 0.5;
  answer.independent_runs = independent_runs(scenario, answer.prediction, catalogue);
  return answer;
}

// What cannot be simulated says which of the options it is.
AlternativeAnswer answer_for_option(const Alternative& option, const calibrate::Catalogue& catalogue,
                                    const PredictOptions& options) {
  try {
    return answer_for(option.name, option.scenario, catalogue, options);
  } catch (const Error& error) {
    throw Error("option " + quoted(option.name) + ": " + error.what(), error.where(), error.hint(), error.code());
  }
}

bool on_the_same_cluster(const Scenario& a, const Scenario& b) {
  return a.cluster.machine == b.cluster.machine && a.cluster.gpu == b.cluster.gpu && a.cluster.gpus == b.cluster.gpus &&
         a.cluster.gpus_per_node == b.cluster.gpus_per_node && a.cluster.network == b.cluster.network &&
         a.cluster.inter_node_gbits_per_s == b.cluster.inter_node_gbits_per_s && a.stack.name == b.stack.name &&
         a.stack.reducer == b.stack.reducer && a.stack.options == b.stack.options;
}

// What the model leaves out of two plans on one cluster with one stack is the same effects: of the gain only the
// difference in how much of them there is stays open. Elsewhere they are independent.
LogMargins unexplained_of_gain(const AlternativeAnswer& answer, const AlternativeAnswer& base) {
  const LogMargins &more = answer.prediction.unexplained_loss, &less = base.prediction.unexplained_loss;
  if (!on_the_same_cluster(answer.scenario, base.scenario)) return together(more, {less.above, less.below});
  return {std::abs(more.below - less.below), std::abs(more.above - less.above)};
}

void compare(AlternativeAnswer& answer, const AlternativeAnswer& base) {
  answer.gain = answer.prediction.throughput.value / base.prediction.throughput.value;
  const double spread = log_spread_of_ratio(effects_of(answer.prediction), effects_of(base.prediction));
  const LogMargins margins = together(unexplained_of_gain(answer, base), symmetric_margins(spread));
  answer.gain_interval = rate_quantity(answer.gain, margins, "1", "ratio of two simulations, shared errors cancel");
  answer.odds_faster_than_base = odds_above_one(answer.gain, margins);
}

Question with_something_to_compare(const Question& question, const calibrate::Catalogue& catalogue) {
  if (!question.options.empty()) return question;
  if (question.base.cluster.gpus == 1) {
    throw Error("there is nothing to compare one GPU with", "/options",
                "add options (or --try MACHINE:COUNT), such as {\"cluster.gpus\": [4, 8]}");
  }
  const strategies::Batches batches =
      strategies::resolve_batches(question.base.training, question.base.plan, question.base.cluster.gpus);
  Question compared;
  compared.base = on_one_gpu(question.base, batches);
  compared.options.push_back({describe(question.base, catalogue), question.base});
  return compared;
}

}  // namespace

Decision decide(const Question& asked, const calibrate::Catalogue& catalogue, const PredictOptions& options) {
  const Question question = with_something_to_compare(asked, catalogue);
  PredictOptions shared = options;
  const Scenario& measured_in = asked.as_written ? *asked.as_written : asked.base;
  shared.measured_in = &measured_in;
  Decision decision;
  decision.base = answer_for(describe(question.base, catalogue), question.base, catalogue, shared);
  for (const Alternative& option : question.options) {
    decision.alternatives.push_back(answer_for_option(option, catalogue, shared));
    compare(decision.alternatives.back(), decision.base);
  }
  judge(decision);
  decision.change_first =
      advice(decision.base.name, decision.base.scenario, decision.base.prediction, measured_in, catalogue);
  if (decision.recommended >= 0) {
    const AlternativeAnswer& pick = decision.alternatives[static_cast<std::size_t>(decision.recommended)];
    for (std::string& sentence : advice(pick.name, pick.scenario, pick.prediction, measured_in, catalogue)) {
      decision.change_first.push_back(std::move(sentence));
    }
  }
  return decision;
}

}  // namespace foretrain::sim::studies
