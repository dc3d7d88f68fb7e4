#include "sim/studies/score.h"

#include <map>
#include <set>

#include "sim/studies/error_score.h"

namespace foretrain::sim::studies {
namespace {

using PointsByName = std::map<std::string, std::vector<const ValidatedPoint*>>;

std::vector<GroupScore> scores_by(const Validation& validation, std::string ValidatedPoint::*name_of_point,
                                  std::string DeclinedFamily::*name_of_declined) {
  PointsByName points;
  for (const ValidatedPoint& point : validation.points) points[point.*name_of_point].push_back(&point);
  std::map<std::string, std::int64_t> declined;
  for (const DeclinedFamily& family : validation.declined) {
    ++declined[family.*name_of_declined];
    points[family.*name_of_declined];
  }
  std::vector<GroupScore> scores;
  for (const auto& [name, own] : points) {
    GroupScore score = score_of(own);
    score.name = name;
    score.unsupported = declined[name];
    score.rows = score.predicted + score.unsupported;
    scores.push_back(score);
  }
  return scores;
}

}  // namespace

GroupScore score_of(const std::vector<const ValidatedPoint*>& points) {
  std::set<std::string> families;
  std::vector<Compared> compared;
  for (const ValidatedPoint* point : points) {
    families.insert(point->id);
    compared.push_back({point->measured, point->predicted, point->low, point->high, &point->baselines});
  }
  GroupScore score = error_score(compared);
  score.predicted = score.rows = static_cast<std::int64_t>(families.size());
  return score;
}

void fill_scores(Validation& validation) {
  validation.groups = scores_by(validation, &ValidatedPoint::group, &DeclinedFamily::group);
  validation.kinds = scores_by(validation, &ValidatedPoint::kind, &DeclinedFamily::kind);
  std::vector<const ValidatedPoint*> all;
  for (const ValidatedPoint& point : validation.points) all.push_back(&point);
  validation.overall = score_of(all);
  validation.overall.name = "overall";
  validation.overall.unsupported = static_cast<std::int64_t>(validation.declined.size());
  validation.overall.rows = validation.overall.predicted + validation.overall.unsupported;
}

}  // namespace foretrain::sim::studies
