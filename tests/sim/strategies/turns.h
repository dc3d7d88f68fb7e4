// When turns run by arithmetic alone, the longest path through all stages' turns: for tests of schedules and pipelines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/strategies/schedule.h"

namespace foretrain::sim::strategies {

// Of one chunk; backward is their sum.
struct PassTimes {
  double forward = 1, input_gradient = 1, weight_gradient = 1;
  [[nodiscard]] double of(Pass pass) const {
    switch (pass) {
      case Pass::forward: return forward;
      case Pass::backward: return input_gradient + weight_gradient;
      case Pass::input_gradient: return input_gradient;
      case Pass::weight_gradient: return weight_gradient;
    }
    return 0;
  }
};

struct Course {
  bool complete = true;  // false: some turn waits for ever
  double makespan = 0;
  double longest_span = 0;  // of a stage, from its first turn's start to its last one's finish
  std::vector<std::vector<double>> finish;  // by stage and turn
};

// `transfer`: time of every result between two stages; `waited`: the sender's next turn waits for it.
inline Course course_of(const std::string& schedule, const PipelineShape& shape, const PassTimes& times,
                        double transfer = 0, bool waited = false) {
  using Key = std::tuple<int, int, int, std::int64_t>;  // stage, chunk, forward or not, micro-batch
  const auto going_back = [](Pass pass) { return pass == Pass::forward ? 0 : 1; };
  std::vector<std::vector<Turn>> turns;
  std::map<Key, std::size_t> place;
  for (int s = 0; s < shape.stages; ++s) {
    turns.push_back(schedule_of(schedule, shape, s));
    for (std::size_t t = 0; t < turns.back().size(); ++t) {
      const Turn& turn = turns.back()[t];
      if (turn.pass != Pass::weight_gradient) place[{s, turn.chunk, going_back(turn.pass), turn.micro_batch}] = t;
    }
  }
  const std::size_t stages = turns.size();
  Course course;
  std::vector<double> start(stages, -1), now(stages, 0);
  course.finish.resize(stages);
  const auto sends = [&](int s, const Turn& turn) {
    if (turn.pass == Pass::weight_gradient) return false;
    const Neighbour to = turn.pass == Pass::forward ? chunk_after(schedule, shape, s, turn.chunk)
                                                    : chunk_before(schedule, shape, s, turn.chunk);
    return to.stage >= 0 && to.stage != s;
  };
  const auto done = [&](int s, std::size_t t) { return t < course.finish[static_cast<std::size_t>(s)].size(); };
  const auto ready = [&](int s, double& at) {
    const auto i = static_cast<std::size_t>(s);
    const std::size_t t = course.finish[i].size();
    const Turn& turn = turns[i][t];
    at = now[i];
    if (waited && t > 0 && sends(s, turns[i][t - 1])) at += transfer;
    std::vector<std::pair<int, std::size_t>> needs;
    const auto need = [&](Neighbour from, Pass pass) {
      if (from.stage >= 0) {
        needs.emplace_back(from.stage, place.at({from.stage, from.chunk, going_back(pass), turn.micro_batch}));
      }
    };
    if (turn.pass == Pass::forward) need(chunk_before(schedule, shape, s, turn.chunk), Pass::forward);
    if (turn.pass == Pass::backward || turn.pass == Pass::input_gradient) {
      need(chunk_after(schedule, shape, s, turn.chunk), Pass::backward);
      need({s, turn.chunk}, Pass::forward);
    }
    if (turn.pass == Pass::weight_gradient) need({s, turn.chunk}, Pass::backward);
    for (const auto& [from, when] : needs) {
      if (!done(from, when)) return false;
      at = std::max(at, course.finish[static_cast<std::size_t>(from)][when] + (from == s ? 0 : transfer));
    }
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int s = 0; s < shape.stages; ++s) {
      const auto i = static_cast<std::size_t>(s);
      double at = 0;
      while (course.finish[i].size() < turns[i].size() && ready(s, at)) {
        if (start[i] < 0) start[i] = at;
        now[i] = at + times.of(turns[i][course.finish[i].size()].pass);
        course.finish[i].push_back(now[i]);
        moved = true;
      }
    }
  }
  for (std::size_t i = 0; i < stages; ++i) {
    course.complete = course.complete && course.finish[i].size() == turns[i].size();
    course.makespan = std::max(course.makespan, now[i]);
    course.longest_span = std::max(course.longest_span, now[i] - start[i]);
  }
  return course;
}

}  // namespace foretrain::sim::strategies
