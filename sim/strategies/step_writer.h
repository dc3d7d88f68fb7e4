// StepWriter: the program of one rank while strategies write it.
//
// It owns the four streams every step has, turns stack values and operator times into durations with their
// parameter, and keeps the terms that `explain` prints. Device work never starts before the host has
// launched it: work() writes both activities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/operator_time.h"
#include "sim/layout.h"
#include "sim/strategies/compose.h"
#include "sim/strategies/local_model.h"
#include "sim/strategies/stages.h"

namespace foretrain::sim::strategies {

// One piece of device work and the launches it needs (a host time of zero means none).
struct Work {
  std::string name;
  Duration device;
  Duration host;
};

// Which ranks a program is of.
struct RankRole {
  const Layout& layout;
  int stage = 0;
  const Stage& chunks;  // of that stage
};

// The streams that device work and its launches go to.
struct Lane {
  std::uint16_t host = 0, device = 0;
};

class StepWriter {
 public:
  // Everything that is passed must outlive it.
  StepWriter(const ComposeInput& input, const RankRole& role, ParameterTable& parameters);

  [[nodiscard]] const ComposeInput& input() const { return input_; }
  [[nodiscard]] const Layout& layout() const { return role_.layout; }
  [[nodiscard]] int stage() const { return role_.stage; }
  // What this rank has of the model, all of its chunks in forward order: as a model (whose operators are numbered as
  // reducers number them), as local operators, and for each operator its layer, counted through.
  [[nodiscard]] const models::Model& rank_model() const;
  [[nodiscard]] const std::vector<const LocalOperator*>& local_operators() const { return local_operators_; }
  [[nodiscard]] const std::vector<std::size_t>& local_units() const { return local_units_; }

  [[nodiscard]] const calibrate::OperatorClock& clock() const { return clock_; }
  [[nodiscard]] ParameterTable& parameters() { return parameters_; }
  [[nodiscard]] Program& program() { return program_; }
  [[nodiscard]] std::uint16_t host() const { return host_; }
  [[nodiscard]] std::uint16_t compute() const { return compute_; }
  [[nodiscard]] std::uint16_t communication() const { return communication_; }
  [[nodiscard]] std::uint16_t input_stream() const { return input_stream_; }
  // A stream of that name, made when it is first asked for.
  [[nodiscard]] std::uint16_t stream(const std::string& name, StreamKind kind);

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
  // Device work that stands for much (Program::mixtures), launches included.
  ActivityIndex mixed_work(const std::string& name, Category category, std::uint32_t mixture,
                           const std::vector<ActivityIndex>& waits = {});
  // Host work alone.
  ActivityIndex host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits = {});
  ActivityIndex host_work(const std::string& name, Duration duration, const std::vector<ActivityIndex>& waits,
                          std::uint16_t stream);
  // Where the layers' work goes, and what was written last on its host.
  [[nodiscard]] Lane main_lane() const { return {host_, compute_}; }
  [[nodiscard]] ActivityIndex last_host_work() const { return last_host_work_; }
  [[nodiscard]] std::optional<ActivityIndex> last_device_work() const { return last_device_work_; }

  // A collective that layers wait for, on the stream of its communicator; launched by the host.
  ActivityIndex layer_collective(const LayerCollective& collective, const std::vector<ActivityIndex>& waits);
  // The same alone, while all groups of its communicator do it; by the planner.
  [[nodiscard]] CollectivePlan alone(const LayerCollective& collective);
  // A collective as the stack leaves it to be waited for.
  [[nodiscard]] LayerCollective exposed(LayerCollective collective) const;

  // A term of `explain`; `times` is how often it happens in the step. Terms alike in name, group and formula add up.
  void explain(const std::string& name, const std::string& group, const calibrate::OperatorTime& time, double times);
  void explain(const std::string& name, const std::string& group, Duration duration, const std::string& formula,
               double times);
  // A collective of layers, alone.
  void explain(const LayerCollective& collective, double times);
  [[nodiscard]] std::vector<Term> take_terms() { return std::move(terms_); }

 private:
  const ComposeInput& input_;
  ParameterTable& parameters_;
  calibrate::OperatorClock clock_;
  ParameterId anchor_;
  Program program_;
  std::uint16_t host_, compute_, communication_, input_stream_;
  ActivityIndex last_host_work_ = 0;
  std::optional<ActivityIndex> last_device_work_;
  RankRole role_;
  mutable std::optional<models::Model> rank_model_;  // made when it is first asked for
  std::vector<const LocalOperator*> local_operators_;
  std::vector<std::size_t> local_units_;
  std::map<std::string, GroupShape> contended_;  // by communicator
  void add_term(Term term);
  [[nodiscard]] ParameterId stack_parameter(const std::string& key);

  std::vector<Term> terms_;
  std::map<std::string, std::size_t> term_index_;
};

}  // namespace foretrain::sim::strategies
