#include "sim/strategies/pipeline.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "sim/breakdown.h"
#include "sim/memory.h"
#include "sim/workload.h"
#include "tests/catch.h"
#include "tests/sim/strategies/step.h"
#include "tests/sim/strategies/turns.h"

namespace foretrain::sim::strategies {
namespace {

// Every transfer takes the same time; nothing else is planned.
class EqualTransfers : public CollectivePlanner {
 public:
  explicit EqualTransfers(double seconds = 0) : seconds_(seconds) {}
  [[nodiscard]] CollectivePlan plan(calibrate::CollectiveKind kind, Bytes /*bytes*/,
                                    const GroupShape& /*shape*/) const override {
    REQUIRE(kind == calibrate::CollectiveKind::send_receive);
    CollectivePlan plan;
    plan.alpha.time = plan.alone.time = Seconds(seconds_);
    return plan;
  }

 private:
  double seconds_;
};

// Stages of equal products, all passes as blocks that take the same time in every micro-batch.
Step equal_stages(const std::string& schedule, const PipelineShape& shape, bool overlaps = true) {
  Step step(shape.stages);
  step.model = square_products(shape.stages * shape.chunks);
  step.model.layers.front().operators.front().needs_input_gradient = true;
  step.scenario.training.global_batch = shape.micro_batches;
  step.scenario.plan.pipeline = shape.stages;
  step.scenario.plan.interleave = shape.chunks;
  step.scenario.plan.schedule = schedule;
  step.explicit_micro_batches = 0;
  step.set("fused_gradient_sum", 1);
  step.set("compute_slowdown_while_communicating", 0);
  step.set("pipeline_overlap", overlaps ? 1 : 0);
  return step;
}

struct Passes {
  PassTimes times{0, 0, 0};  // a whole backward pass counts as input gradient
  double seconds = 0;  // from the first one's start to the last one's finish, on any rank
};

Passes passes_of(const Job& job, const Timeline& timeline) {
  double begin = 1e30, end = 0;
  Passes passes;
  for (std::size_t i = 0; i < job.instances.size(); ++i) {
    const Program& program = job.programs[job.instances[i].program];
    for (ActivityIndex a = 0; a < program.activities.size(); ++a) {
      const Activity& activity = program.activities[a];
      if (activity.mixture == no_mixture) continue;
      const Span& span = timeline.spans[timeline.first_of[i] + a];
      begin = std::min(begin, span.start);
      end = std::max(end, span.finish);
      const bool weights = program.labels[activity.label].rfind("weight gradients", 0) == 0;
      double& time = activity.category == Category::forward ? passes.times.forward
                     : weights                              ? passes.times.weight_gradient
                                                            : passes.times.input_gradient;
      time = span.finish - span.start;
    }
  }
  passes.seconds = end - begin;
  return passes;
}

Job folded(Step& step) {
  Composed composed = step.composed();
  const Cluster cluster = resolve_cluster(step.scenario.cluster, studies::catalogue());
  return fold(std::move(composed.programs), composed.placement, Topology(cluster, step.parameters));
}

Passes replayed(Step& step, double transfer) {
  const Job job = folded(step);
  return passes_of(job, engine::replay(job, EqualTransfers(transfer)));
}

template <typename Check>
void for_all_schedules(Check check) {
  for (const int p : {2, 3, 4, 8}) {
    for (const std::int64_t m : {1, 2, 3, 4, 8, 16}) {
      for (const char* name : {"none", "gpipe", "1f1b", "zb-h1", "zb-h2"}) {
        INFO(name << ", " << p << " stages, " << m << " micro-batches");
        check(name, PipelineShape{p, 1, m});
      }
      INFO(p << " stages, " << m << " micro-batches");
      check("zb-v", PipelineShape{p, 2, m});
      for (const int v : {2, 3}) {
        INFO(v << " chunks");
        if (m % p == 0) check("interleaved", PipelineShape{p, v, m});
      }
    }
  }
}

TEST_CASE("without time for transfers a step has its schedule's bubble") {
  for_all_schedules([](const std::string& name, const PipelineShape& shape) {
    Step step = equal_stages(name, shape);
    const auto [times, seconds] = replayed(step, 0);
    const double both = shape.chunks * (times.forward + times.of(Pass::backward));  // of a stage
    const auto m = static_cast<double>(shape.micro_batches);
    if (name == "none") CHECK(seconds == Approx(shape.stages * m * both).epsilon(1e-9));
    if (name == "gpipe" || name == "1f1b") CHECK(seconds == Approx((m + shape.stages - 1) * both).epsilon(1e-9));
    if (name == "interleaved") {
      CHECK(seconds == Approx((m + (shape.stages - 1.0) / shape.chunks) * both).epsilon(1e-9));
    }
    CHECK(seconds == Approx(course_of(name, shape, times).makespan).epsilon(1e-9));
  });
}

double sum_of(const std::map<std::string, double>& parts) {
  double sum = 0;
  for (const auto& [name, seconds] : parts) sum += seconds;
  return sum;
}

TEST_CASE("steps of zero-bubble schedules follow each other, those of others begin together") {
  const PipelineShape shape{4, 1, 24};
  const auto replay_of = [&](const std::string& schedule) {
    Step step = equal_stages(schedule, shape);
    Job job = folded(step);
    job.steps_overlap = is_zero_bubble(step.scenario.plan);
    Timeline timeline = engine::replay(job, EqualTransfers(0));
    return std::pair(std::move(job), std::move(timeline));
  };
  for (const char* schedule : {"1f1b", "zb-h1", "zb-h2"}) {
    INFO(schedule);
    const auto [job, timeline] = replay_of(schedule);
    double work_of_slowest = 0, last_finish = 0;
    for (std::uint32_t i = 0; i < job.instances.size(); ++i) {
      const std::map<std::string, double> parts = breakdown(job, timeline, i);
      CHECK(sum_of(parts) == Approx(timeline.step_seconds).epsilon(1e-9));
      const auto bubble = parts.find("pipeline_bubble");
      const double idle = bubble == parts.end() ? 0 : bubble->second;
      CHECK(idle >= -1e-12);
      work_of_slowest = std::max(work_of_slowest, timeline.step_seconds - idle);
    }
    for (const Span& span : timeline.spans) last_finish = std::max(last_finish, span.finish);
    double critical = 0;
    for (const CriticalShare& share : critical_path(job, timeline)) critical += share.seconds;
    CHECK(critical == Approx(timeline.step_seconds).epsilon(1e-9));
    if (std::string(schedule) == "zb-h2") {
      // Forward, input and weight gradient take alike: no rank idles, though the last one begins 3 passes later.
      CHECK(timeline.step_seconds == Approx(work_of_slowest).epsilon(0.01));
      CHECK(timeline.step_seconds < last_finish * 0.97);
    } else {
      CHECK(timeline.step_seconds == Approx(last_finish).epsilon(0.02));
    }
  }
}

TEST_CASE("transfers delay what needs them, and where they are waited for what comes next") {
  for (const bool overlaps : {false, true}) {
    for_all_schedules([&](const std::string& name, const PipelineShape& shape) {
      INFO(overlaps);
      Step step = equal_stages(name, shape, overlaps);
      const double transfer = 20e-6;  // a pass takes about a millisecond
      const auto [times, seconds] = replayed(step, transfer);
      CHECK(seconds == Approx(course_of(name, shape, times, transfer, !overlaps).makespan).epsilon(1e-9));
    });
  }
}

TEST_CASE("what 1f1b's transfers cost") {
  const PipelineShape shape{4, 1, 16};
  const double transfer = 20e-6;
  const auto cost = [&](bool overlaps) {
    Step step = equal_stages("1f1b", shape, overlaps);
    return replayed(step, transfer).seconds - replayed(step, 0).seconds;
  };
  // There and back once, over 3 hops, and between two stages that work in turns the round trip of every further group
  // of as many micro-batches as there are stages: overlap hides nothing of what the next pass waits for.
  CHECK(cost(true) >= 2 * 3 * transfer * (1 - 1e-9));
  CHECK(cost(false) >= cost(true));
  CHECK(cost(false) <= 2 * (16 + 3) * transfer * (1 + 1e-9));
}

// GPT-2 (12 blocks) in fp16 on one node of A100.
Step gpt2(int gpus, std::int64_t tensor, std::int64_t stages, std::int64_t micro_batches) {
  Step step(gpus);
  step.scenario = studies::scenario("gpt2", "Standard_ND96amsr_A100_v4", gpus, 8, models::Precision::fp16);
  step.scenario.plan.tensor = tensor;
  step.scenario.plan.pipeline = stages;
  step.scenario.training.global_batch = 8 * micro_batches * (gpus / (tensor * stages));
  step.model = build_workload(step.scenario, 8, studies::catalogue().data());
  return step;
}

TEST_CASE("blocks take as long as what they stand for") {
  for (const std::int64_t tensor : {1, 2}) {
    Step step = gpt2(static_cast<int>(4 * tensor), tensor, 4, 12);
    step.explicit_micro_batches = 0;
    const double blocks = step.replayed().step_seconds;
    step.explicit_micro_batches = 12;
    INFO("tensor " << tensor);
    CHECK(step.replayed().step_seconds == Approx(blocks).epsilon(0.01));
  }
}

TEST_CASE("folded pipelines with data-parallel ranks end when all of their ranks do") {
  for (const char* schedule : {"1f1b", "zb-h1"}) {
    Step step = gpt2(8, 2, 2, 6);
    step.scenario.plan.schedule = schedule;
    const double seconds = step.replayed(true).step_seconds;
    CHECK(step.replayed(false).step_seconds == Approx(seconds).epsilon(1e-9));
  }
}

std::vector<Call> named(const Program& program, const std::string& communicator) {
  std::vector<Call> found;
  for (const Call& call : calls(program)) {
    if (call.communicator == communicator) found.push_back(call);
  }
  return found;
}

TEST_CASE("tensor-parallel ranks share out a transfer and gather it on arrival") {
  const double whole = 8 * 1024 * 768 * 2;  // samples · tokens · width, of two bytes
  for (const bool shares_out : {false, true}) {
    for (const bool sequence_parallel : {false, true}) {
      Step step = gpt2(4, 2, 2, 6);
      step.explicit_micro_batches = 0;
      step.set("scatter_gather_transfers", shares_out ? 1 : 0);
      step.scenario.plan.sequence_parallel = sequence_parallel;
      const Composed composed = step.composed();
      const std::vector<Call> sent = named(composed.programs[0], Layout::activations_name(0));
      REQUIRE(sent.size() == 6);
      const double parts = shares_out || sequence_parallel ? 2 : 1;
      for (const Call& call : sent) CHECK(call.bytes == Approx(whole / parts));
      // The blocks that take it in begin with gathering it; under sequence parallelism layers gather by themselves.
      bool gathers = false;
      for (const Mixture& mixture : composed.programs[1].mixtures) {
        for (const Part& piece : mixture) {
          gathers = gathers || (piece.category == Category::communication &&
                                piece.collective == calibrate::CollectiveKind::all_gather);
        }
      }
      CHECK(gathers == (shares_out || sequence_parallel));
    }
  }
}

TEST_CASE("first and last stage add up the gradients of the tied embedding") {
  Step step = gpt2(4, 1, 4, 6);
  const Composed composed = step.composed();
  for (std::size_t s = 0; s < 4; ++s) {
    const std::vector<Call> sums = named(composed.programs[s], embedding_communicator);
    REQUIRE(sums.size() == (s == 0 || s == 3 ? 1 : 0));
    for (const Call& sum : sums) CHECK(sum.bytes == Approx(50257.0 * 768 * 4));
  }
}

TEST_CASE("every stage reduces its own gradients once, after all of its micro-batches") {
  for (const char* schedule : {"1f1b", "gpipe", "interleaved", "zb-h1", "zb-v"}) {
    Step step = gpt2(4, 1, 2, 6);
    step.scenario.plan.schedule = schedule;
    const bool chunks = step.scenario.plan.schedule == "interleaved" || step.scenario.plan.schedule == "zb-v";
    step.scenario.plan.interleave = chunks ? 2 : 1;
    INFO(schedule);
    double elements = 0;
    for (const Program& program : step.composed().programs) {
      elements += bytes_of(named(program, data_communicator)) / 4;
    }
    // The output layer's copy of the embedding is the last stage's own, unless one stage has both.
    const double tied = step.scenario.plan.schedule == "zb-v" ? 0 : 50257.0 * 768;
    CHECK(elements == Approx(models::parameter_count(step.model) + tied));
    CHECK_NOTHROW(step.replayed());
  }
}

TEST_CASE("stages of 1f1b hold one micro-batch less each") {
  Step step = equal_stages("1f1b", {4, 1, 8});
  const Job job = folded(step);
  const Timeline timeline = engine::replay(job, EqualTransfers());
  std::map<std::string, double> peaks;
  for (std::size_t i = 0; i < job.instances.size(); ++i) {
    const Program& program = job.programs[job.instances[i].program];
    peaks[program.rank_class] = timeline.peak_bytes[i] - program.resident_bytes;
  }
  const double saved = dynamic_bytes(step.model.layers[1].operators[0], &step.model.layers[0].operators[0],
                                     models::Precision::fp32, step.stack)
                           .saved;
  for (int s = 0; s < 3; ++s) {
    CHECK(peaks.at("stage " + std::to_string(s)) - peaks.at("stage " + std::to_string(s + 1)) ==
          Approx(saved).epsilon(1e-6));
  }
}

TEST_CASE("a schedule that does not go with the plan is an error") {
  Step step = gpt2(4, 1, 4, 6);
  step.scenario.plan.schedule = "interleaved";
  CHECK_THROWS_AS(step.composed(), Error);
  step.scenario.plan.interleave = 3;  // 6 micro-batches are no multiple of 4 stages
  CHECK_THROWS_AS(step.composed(), Error);
}

}  // namespace
}  // namespace foretrain::sim::strategies
