#include "sim/studies/rank_score.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace foretrain::sim::studies {
namespace {

constexpr std::size_t fewest_alternatives = 3;

int sign(double value) { return (value > 0) - (value < 0); }

// Means of what is known.
class Mean {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] double value() const { return count_ == 0 ? std::nan("") : sum_ / count_; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

}  // namespace

double kendall_tau_b(const std::vector<double>& a, const std::vector<double>& b) {
  assert(a.size() == b.size());
  double balance = 0, ordered_in_a = 0, ordered_in_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = i + 1; j < a.size(); ++j) {
      const int in_a = sign(a[i] - a[j]), in_b = sign(b[i] - b[j]);
      balance += in_a * in_b;
      ordered_in_a += std::abs(in_a);
      ordered_in_b += std::abs(in_b);
    }
  }
  return balance / std::sqrt(ordered_in_a * ordered_in_b);  // 0 / 0 is NaN
}

double regret(const std::vector<double>& measured, const std::vector<double>& predicted) {
  assert(!measured.empty() && measured.size() == predicted.size());
  const double fastest = *std::min_element(predicted.begin(), predicted.end());
  Mean picked;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (predicted[i] == fastest) picked.add(measured[i]);
  }
  return picked.value() / *std::min_element(measured.begin(), measured.end()) - 1;
}

RankScore rank_score(const std::vector<const ValidatedRun*>& runs) {
  std::map<std::string, std::vector<const ValidatedRun*>> sets;
  for (const ValidatedRun* run : runs) sets[run->set].push_back(run);
  RankScore score;
  Mean tau, lost;
  for (const auto& [name, members] : sets) {
    std::set<std::string> configurations;
    std::vector<double> measured, predicted;
    for (const ValidatedRun* run : members) {
      configurations.insert(run->configuration);
      measured.push_back(run->measured);
      predicted.push_back(run->predicted);
    }
    if (configurations.size() < fewest_alternatives) continue;
    ++score.sets;
    tau.add(kendall_tau_b(measured, predicted));
    lost.add(regret(measured, predicted));
  }
  score.kendall_tau = tau.value();
  score.regret = lost.value();
  return score;
}

}  // namespace foretrain::sim::studies
