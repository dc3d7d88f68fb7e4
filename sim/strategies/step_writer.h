// StepWriter: the program of one rank while strategies write it.
//
// It owns the four streams every step has, turns stack values and operator times into durations with their
// parameter, and keeps the terms that `explain` prints. Device work never starts before the host has
// launched it: work() writes both activities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/operator_time.h"
#include "sim/strategies/compose.h"

namespace foretrain::sim::strategies {

// One piece of device work and the launches it needs (a host time of zero means none).
struct Work {
  std::string name;
  Duration device;
  Duration host;
};

// The streams that device work and its launches go to.
struct Lane {
  std::uint16_t host = 0, device = 0;
};

class StepWriter {
 public:
  StepWriter(const ComposeInput& input, ParameterTable& parameters);

  [[nodiscard]] const ComposeInput& input() const { return input_; }
  [[nodiscard]] const calibrate::OperatorClock& clock() const { return clock_; }
  [[nodiscard]] ParameterTable& parameters() { return parameters_; }
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] std::uint16_t host() const { return host_; }
  [[nodiscard]] std::uint16_t compute() const { return compute_; }
  [[nodiscard]] std::uint16_t communication() const { return communication_; }
  [[nodiscard]] std::uint16_t input_stream() const { return input_stream_; }

  // A stack value, 0 when the stack does not state it.
  [[nodiscard]] double stack(const std::string& key) const;
  // `count` times the stack's host time `key`, on this device's host.
  [[nodiscard]] Duration host_time(const std::string& key, double count);
  // `time`, which the stack's value `key` decides whatever the host (waits and messages).
  [[nodiscard]] Duration stack_time(const std::string& key, Seconds time);
  // Both are part of what a measured step anchors.
  [[nodiscard]] Duration anchored(Duration duration) const;
  [[nodiscard]] Duration anchored(const calibrate::OperatorTime& time) const { return anchored(time.duration); }
  // What the catalogue alone says of a duration that may have been anchored.
  [[nodiscard]] Seconds unanchored(Duration duration) const;

  // Writes launches and device work and returns the latter; `device_waits` are what it waits for besides its launch.
  ActivityIndex work(const Work& work, Category category, const std::vector<ActivityIndex>& device_waits = {});
  ActivityIndex work(const Work& work, Category category, const std::vector<ActivityIndex>& device_waits, Lane lane);
  // Host work alone.
  ActivityIndex host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits = {});
  ActivityIndex host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits,
                          std::uint16_t stream);
  // Where the layers' work goes, and what was written last on its host.
  [[nodiscard]] Lane main_lane() const { return {host_, compute_}; }
  [[nodiscard]] ActivityIndex last_host_work() const { return last_host_work_; }

  // A term of `explain`; `times` is how often it happens in the step. Terms alike in name, group and formula add up.
  void explain(const std::string& name, const std::string& group, const calibrate::OperatorTime& time, double times);
  void explain(const std::string& name, const std::string& group, Duration duration, const std::string& formula,
               double times);
  [[nodiscard]] std::vector<Term> take_terms() { return std::move(terms_); }

 private:
  const ComposeInput& input_;
  ParameterTable& parameters_;
  calibrate::OperatorClock clock_;
  ParameterId anchor_;
  Program program_;
  std::uint16_t host_, compute_, communication_, input_stream_;
  ActivityIndex last_host_work_ = 0;
  void add_term(Term term);
  [[nodiscard]] ParameterId stack_parameter(const std::string& key);

  std::vector<Term> terms_;
  std::map<std::string, std::size_t> term_index_;
};

}  // namespace foretrain::sim::strategies
