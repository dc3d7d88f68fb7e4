#include "sim/studies/validate.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/workers.h"
#include "sim/studies/score.h"
#include "sim/studies/score_baselines.h"

namespace foretrain::sim::studies {
namespace {

// What a worker says of a family: its predictions in the order of its points, or why there are none. Numbers in JSON
// read back exactly.
std::string answer_text(const Family& family, const calibrate::Catalogue& catalogue) {
  Json answer = Json::object();
  try {
    Json& points = answer["points"] = Json::array();
    for (const ValidatedPoint& point : predict_family(family, catalogue)) {
      points.push_back({point.predicted, point.low, point.high, point.largest_loss, point.largest_loss_share});
    }
  } catch (const Error& error) {
    answer = Json::object();
    answer["reason"] = error.what();
  }
  return answer.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void take_points(const Json& answers, const Family& family, std::vector<ValidatedPoint>& points) {
  for (std::size_t i = 0; i < family.points.size(); ++i) {
    const Json& answer = answers.at(i);
    ValidatedPoint point;
    point.id = family.id;
    point.group = family.group;
    point.kind = family.kind;
    point.gpus = family.points[i].gpus;
    point.anchor_gpus = family.anchor.gpus;
    point.measured = family.points[i].measured_speedup;
    point.predicted = answer.at(0).get<double>();
    point.low = answer.at(1).get<double>();
    point.high = answer.at(2).get<double>();
    point.largest_loss = answer.at(3).get<std::string>();
    point.largest_loss_share = answer.at(4).get<double>();
    points.push_back(point);
  }
}

void take_answer(const WorkerAnswer& answer, const Family& family, Validation& validation) {
  std::string reason = family.points.empty() ? "one number of GPUs: there is no speedup to predict" : answer.failure;
  if (!reason.empty()) {
    if (!family.points.empty()) ++validation.lost;
  } else {
    const Json said = Json::parse(answer.text);
    if (said.contains("points")) return take_points(said["points"], family, validation.points);
    reason = said["reason"].get<std::string>();
  }
  validation.declined.push_back({family.id, family.group, family.kind, reason});
}

void refuse_double_ids(const FamilyCorpus& corpus) {
  std::set<std::string> seen;
  const auto check = [&](const std::string& id) {
    if (!seen.insert(id).second) {
      throw Error("two families are called " + quoted(id), "", "give every family its own family_id");
    }
  };
  for (const Family& family : corpus.families) check(family.id);
  for (const DeclinedFamily& family : corpus.declined) check(family.id);
}

}  // namespace

Validation validate(const FamilyCorpus& corpus, const calibrate::Catalogue& catalogue, const ValidateOptions& options) {
  refuse_double_ids(corpus);
  WorkerOptions workers;
  workers.workers = options.workers;
  workers.progress = options.progress;
  // SimGrid keeps what every simulation leaves behind and slows down; a family is about ten simulations.
  workers.tasks_per_worker = 32;
  const auto work = [&](std::size_t task) { return answer_text(corpus.families[task], catalogue); };
  const std::vector<WorkerAnswer> answers = run_in_workers(corpus.families.size(), work, workers);

  Validation validation;
  validation.declined = corpus.declined;
  for (std::size_t i = 0; i < answers.size(); ++i) take_answer(answers[i], corpus.families[i], validation);
  std::sort(validation.points.begin(), validation.points.end(), [](const ValidatedPoint& a, const ValidatedPoint& b) {
    return std::tie(a.id, a.gpus) < std::tie(b.id, b.gpus);
  });
  std::sort(validation.declined.begin(), validation.declined.end(),
            [](const DeclinedFamily& a, const DeclinedFamily& b) { return a.id < b.id; });
  fill_baselines(validation.points);
  fill_scores(validation);
  return validation;
}

}  // namespace foretrain::sim::studies
