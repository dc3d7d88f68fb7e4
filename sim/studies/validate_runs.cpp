#include "sim/studies/validate_runs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/workers.h"
#include "sim/breakdown.h"
#include "sim/studies/run.h"
#include "sim/studies/run_baselines.h"
#include "sim/studies/run_score.h"
#include "sim/studies/run_traits.h"
#include "sim/studies/scaling_interval.h"
#include "sim/studies/shares.h"

namespace foretrain::sim::studies {
namespace {

std::string plan_words(const Scenario& scenario) {
  const Plan& plan = scenario.plan;
  std::string words = fmt::format("t{} p{} d{}", plan.tensor, plan.pipeline,
                                  scenario.cluster.gpus / (plan.tensor * plan.pipeline * plan.context));
  if (plan.interleave > 1) words += fmt::format(" v{}", plan.interleave);
  if (plan.pipeline > 1 && plan.schedule != "1f1b" && plan.schedule != "interleaved") words += " " + plan.schedule;
  return words + fmt::format(" b{}", scenario.training.micro_batch);
}

// The part of the step beside computing that is longest.
void fill_largest_part(ValidatedRun& validated) {
  static const std::set<std::string> computing = {"forward", "backward", "recompute"};
  for (const auto& [part, seconds] : validated.parts) {
    if (computing.count(part) > 0 || seconds / validated.predicted <= validated.largest_part_share) continue;
    validated.largest_part = part;
    validated.largest_part_share = seconds / validated.predicted;
  }
}

Json traits_json(const calibrate::RunTraits& t) {
  return {t.family, t.stack, t.chip,   t.precision, t.network,    t.sharding,        t.schedule,        t.recompute,
          t.gpus,   t.nodes, t.tensor, t.pipeline,  t.parameters, t.tokens_per_pass, t.flops_per_kernel};
}

calibrate::RunTraits traits_from(const Json& json) {
  calibrate::RunTraits t;
  std::size_t next = 0;
  const auto take = [&](auto& value) { json.at(next++).get_to(value); };
  take(t.family), take(t.stack), take(t.chip), take(t.precision), take(t.network), take(t.sharding), take(t.schedule);
  take(t.recompute), take(t.gpus), take(t.nodes), take(t.tensor), take(t.pipeline), take(t.parameters);
  take(t.tokens_per_pass), take(t.flops_per_kernel);
  return t;
}

// What is known of a run without predicting it.
ValidatedRun unpredicted(const LlmRun& run) {
  ValidatedRun validated;
  validated.label = run.label;
  validated.gpus = run.scenario.cluster.gpus;
  validated.plan = plan_words(run.scenario);
  validated.measured = run.measured_step_seconds;
  validated.ideal_step_seconds = run.ideal_step_seconds;
  validated.bubble = run.bubble;
  validated.set = run.set;
  validated.configuration = run.configuration;
  return validated;
}

// What a worker says of a run. Numbers in JSON read back exactly.
std::string answer_text(const LlmRun& run, const calibrate::Catalogue& catalogue) {
  Json answer = Json::object();
  try {
    const ValidatedRun one = predict_run(run, catalogue);
    answer["run"] = {one.predicted, one.low, one.high, one.log_spread, one.repeat_spread};
    answer["parts"] = one.parts;
    answer["traits"] = traits_json(one.traits);
  } catch (const Error& error) {
    answer["reason"] = error.what();
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void take_answer(const WorkerAnswer& answer, const LlmRun& run, RunValidation& validation) {
  std::string reason = answer.failure;
  if (!reason.empty()) {
    ++validation.lost;
  } else {
    const Json said = Json::parse(answer.text);
    if (said.contains("run")) {
      const Json& numbers = said["run"];
      ValidatedRun validated = unpredicted(run);
      validated.predicted = numbers.at(0).get<double>();
      validated.low = numbers.at(1).get<double>();
      validated.high = numbers.at(2).get<double>();
      validated.log_spread = numbers.at(3).get<double>();
      validated.repeat_spread = numbers.at(4).get<double>();
      said["parts"].get_to(validated.parts);
      fill_largest_part(validated);
      validated.traits = traits_from(said["traits"]);
      validation.runs.push_back(validated);
      return;
    }
    reason = said["reason"].get<std::string>();
  }
  validation.declined.push_back({run.label, reason});
}

void refuse_double_ids(const RunCorpus& corpus) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& id) {
    if (!seen.insert(id).second) throw Error("two runs are called " + quoted(id), "", "give every run its own id");
  };
  for (const LlmRun& run : corpus.runs) check(run.label.id);
  for (const DeclinedRun& run : corpus.declined) check(run.label.id);
}

}  // namespace

ValidatedRun predict_run(const LlmRun& run, const calibrate::Catalogue& catalogue) {
  ParameterTable parameters;
  const Run ready(run.scenario, catalogue, {}, {}, parameters);
  const Timeline timeline = ready.replay();
  Effects effects = effects_of(critical_path(ready.job(), timeline), timeline.step_seconds, parameters);
  effects["effects outside the model"] = {1, ready.stack().at("unmodelled_spread").value};
  effects["what the source does not state"] = {1, run.assumed_spread};

  ValidatedRun validated = unpredicted(run);
  validated.log_spread = log_spread(effects);
  validated.repeat_spread = ready.stack().at("repeat_spread").value;
  validated.traits = traits_of(ready);
  const StepMargins margins =
      step_margins(validated.log_spread,
                   calibrate::factors_for(catalogue.interval_factors(), validated.traits),
                   validated.repeat_spread);
  validated.predicted = timeline.step_seconds;
  validated.low = validated.predicted * std::exp(-margins.below);
  validated.high = validated.predicted * std::exp(margins.above);
  validated.parts = breakdown(ready.job(), timeline, timeline.longest.instance);
  fill_largest_part(validated);
  return validated;
}

RunValidation validate(const RunCorpus& corpus, const calibrate::Catalogue& catalogue, const ValidateOptions& options) {
  refuse_double_ids(corpus);
  WorkerOptions workers;
  workers.workers = options.workers;
  workers.progress = options.progress;
  const auto work = [&](std::size_t task) { return answer_text(corpus.runs[task], catalogue); };
  const std::vector<WorkerAnswer> answers = run_in_workers(corpus.runs.size(), work, workers);

  RunValidation validation;
  validation.declined = corpus.declined;
  for (std::size_t i = 0; i < answers.size(); ++i) take_answer(answers[i], corpus.runs[i], validation);
  std::sort(validation.runs.begin(), validation.runs.end(),
            [](const ValidatedRun& a, const ValidatedRun& b) { return a.label.id < b.label.id; });
  std::sort(validation.declined.begin(), validation.declined.end(),
            [](const DeclinedRun& a, const DeclinedRun& b) { return a.label.id < b.label.id; });
  fill_baselines(validation.runs);
  fill_scores(validation);
  return validation;
}

}  // namespace foretrain::sim::studies
