// StepWriter: the program of one rank while strategies write it.
//
// It owns the four streams every step has, turns stack values and operator times into durations with their
// parameter, and keeps the terms that `explain` prints. Device work never starts before the host has
// launched it: work() writes both activities.
#pragma once

#include <cstdint>
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
  // Both are part of what a measured step anchors.
  [[nodiscard]] Duration anchored(Duration duration) const;
  [[nodiscard]] Duration anchored(const calibrate::OperatorTime& time) const { return anchored(time.duration); }

  // Writes launches and device work and returns the latter; `device_waits` are what it waits for besides its launch.
  ActivityIndex work(const Work& work, Category category, const std::vector<ActivityIndex>& device_waits = {});
  // Host work alone.
  ActivityIndex host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits = {});

  // A term of `explain`; `times` is how often it happens in the step.
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
  std::vector<Term> terms_;
};

}  // namespace foretrain::sim::strategies
