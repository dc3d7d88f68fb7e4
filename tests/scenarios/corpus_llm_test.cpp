// Published training runs of language models turned into scenarios, checked by hand.
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "models/model.h"
#include "models/precision.h"
#include "scenarios/corpus/csv_table.h"
#include "scenarios/corpus/llm_row.h"
#include "scenarios/corpus/llm_runs.h"
#include "sim/cluster.h"
#include "sim/strategies/batches.h"
#include "sim/strategies/schedule.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"
#include "tests/scenarios/llm_rows.h"

using namespace foretrain;
using namespace foretrain::scenarios;
using models::Precision;

namespace {

double size_of(const sim::LlmRun& run, const char* key) { return run.scenario.model.overrides.at(key); }

std::string place_of_complaint(const Columns& changes) {
  try {
    (void)read_llm_runs(runs_table({plain_run(changes)}), "t.csv", shared_catalogue());
  } catch (const Error& error) {
    return error.where();
  }
  return "";
}

std::string dump(const sim::LlmRun& run) {
  const sim::Scenario& s = run.scenario;
  std::string text = s.name + " " + s.model.name + " " + s.stack.name + " " + s.cluster.machine + " " +
                     s.plan.sharding + " " + s.plan.recompute + " " + s.plan.schedule + " " +
                     models::to_string(s.training.precision) + " " + std::to_string(run.assumed_spread) + " " +
                     std::to_string(s.measured.size());
  for (const auto& [key, value] : s.model.overrides) text += " " + key + "=" + std::to_string(value);
  for (const auto& [key, value] : s.stack.options) text += " " + key + "=" + std::to_string(value);
  for (const std::int64_t count : {s.training.micro_batch, s.training.global_batch, s.training.sequence, s.cluster.gpus,
                                   s.plan.tensor, s.plan.pipeline, s.plan.interleave}) {
    text += " " + std::to_string(count);
  }
  return text;
}

// The table with every measured column replaced.
std::string with_other_measurements(const std::string& text) {
  const CsvTable table(text, "truth");
  std::string altered;
  const auto add_row = [&](const std::vector<std::string>& fields) {
    std::string line;
    for (const std::string& field : fields) line += (line.empty() ? "" : ",") + in_quotes(field);
    altered += line + "\n";
  };
  add_row(table.columns());
  int count = 0;
  for (const CsvTable::Row& row : table.rows()) {
    std::vector<std::string> fields = row.fields;
    for (const char* column : {"step_time_s", "measured_value", "tokens_per_s_per_gpu"}) {
      std::string& field = fields[table.column(column)];
      if (!field.empty()) field = std::to_string(1 + ++count % 17);
    }
    add_row(fields);
  }
  return altered;
}

}  // namespace

TEST_CASE("a row becomes the scenario that was run") {
  const sim::LlmRun run = run_of({});
  CHECK(run.label.id == "r1");
  CHECK(run.label.group == "tests");
  CHECK(run.label.gpu_class == "A100-80GB");
  CHECK(run.label.tier == "A");
  CHECK(run.measured_step_seconds == 1.1);
  const sim::Scenario& scenario = run.scenario;
  CHECK(scenario.name == "r1");
  CHECK(scenario.measured.empty());
  CHECK(scenario.model.name == "megatron-gpt");
  CHECK(size_of(run, "layers") == 48);
  CHECK(size_of(run, "hidden") == 6144);
  CHECK(size_of(run, "heads") == 64);
  CHECK(size_of(run, "feed_forward") == 24576);
  CHECK(size_of(run, "vocabulary") == 51200);
  CHECK(size_of(run, "positions") == 2048);
  CHECK(size_of(run, "learned_positions") == 1);
  CHECK(scenario.training.sequence == 2048);
  CHECK(scenario.training.micro_batch == 4);
  CHECK(scenario.training.global_batch == 4);
  CHECK(scenario.training.precision == Precision::fp16);
  CHECK(scenario.plan.tensor == 8);
  CHECK(scenario.plan.pipeline == 1);
  CHECK(scenario.stack.name == "megatron");
  CHECK(scenario.cluster.gpus == 8);
  CHECK(run.assumed_spread == 0);
}

TEST_CASE("what is not stated is assumed, said, and makes the answer less sure") {
  const sim::LlmRun vocabulary = run_of({{"vocab", ""}});
  CHECK(size_of(vocabulary, "vocabulary") == 51200);
  CHECK(vocabulary.scenario.name == "r1 (vocabulary not stated: 51200 assumed)");
  CHECK(vocabulary.assumed_spread == Approx(0.01));
  const sim::LlmRun both = run_of({{"vocab", ""}, {"recompute", ""}});
  CHECK(both.scenario.plan.recompute == "none");
  CHECK(both.assumed_spread == Approx(std::hypot(0.01, 0.08)));
  // Between nodes only: eight GPUs are one node.
  const Columns foundry = {{"source", "MosaicML/Databricks llm-foundry MPT benchmark"},
                           {"inter_node", "RoCE 1600 Gb/s per node"},
                           {"gpus_per_node", ""},
                           {"tp", "1"},
                           {"dp", "8"},
                           {"global_batch", "32"}};
  CHECK(run_of(foundry).assumed_spread == 0);
  Columns two_nodes = foundry;
  two_nodes["gpus"] = two_nodes["dp"] = "16";
  two_nodes["global_batch"] = "64";
  CHECK(run_of(two_nodes).assumed_spread == Approx(0.02));
  CHECK(run_of(two_nodes).scenario.cluster.network == "roce");
}

TEST_CASE("architectures follow from the model's name and the notes") {
  const sim::LlmRun llama = run_of({{"model", "Llama3-8B"}, {"kv_heads", "8"}, {"ffn", ""}, {"hidden", "4096"}});
  CHECK(size_of(llama, "gated_feed_forward") == 1);
  CHECK(size_of(llama, "rms_norm") == 1);
  CHECK(size_of(llama, "rotary_positions") == 1);
  CHECK(size_of(llama, "learned_positions") == 0);
  CHECK(size_of(llama, "tied_embeddings") == 0);
  CHECK(size_of(llama, "biases") == 0);
  CHECK(size_of(llama, "key_value_heads") == 8);
  CHECK(size_of(llama, "feed_forward") == 10880);  // 8 · 4096 / 3 = 10922.7, down to a multiple of 64
  CHECK(size_of(run_of({{"ffn", ""}}), "feed_forward") == 4 * 6144);
  CHECK(size_of(run_of({{"notes", "swiglu; untie-embeddings-and-output-weights"}}), "gated_feed_forward") == 1);
  CHECK(size_of(run_of({{"notes", "untie-embeddings-and-output-weights"}}), "tied_embeddings") == 0);
  CHECK(size_of(run_of({{"model", "Nemotron4-340B"}, {"vocab", ""}}), "vocabulary") == 256000);
  CHECK(size_of(run_of({{"model", "MPT-7b"}}), "biases") == 0);
  CHECK(size_of(run_of({{"model", "gpt:tp1_pp2_rope_embeddings"}}), "rotary_positions") == 1);
}

TEST_CASE("encoder and decoder are both built, at their own lengths") {
  const sim::LlmRun& t5 = true_run("neml-0060");
  CHECK(t5.scenario.model.name == "mt5-xl");
  CHECK(size_of(t5, "layers") == 24);
  CHECK(size_of(t5, "decoder_layers") == 24);
  CHECK(size_of(t5, "sequence") == 512);
  CHECK(size_of(t5, "decoder_sequence") == 128);
  CHECK(run_reason({{"model", "mT5-3B"}, {"layers", "24+24"}}) == "not stated: the decoder's sequence length");
  CHECK(run_reason({{"layers", "24+24"}}) == "unsupported: model");
}

TEST_CASE("classes that are not simulated are declined with what they are") {
  const auto by_notes = [](const char* notes) { return run_reason({{"notes", notes}}); };
  const auto by_model = [](const char* model) { return run_reason({{"model", model}}); };
  CHECK(by_notes("MoE experts=128 top8 moe_ffn=1536") == "unsupported: mixture of experts");
  CHECK(by_notes("num-experts=8; moe-router-topk=1") == "unsupported: mixture of experts");
  CHECK(by_model("Qwen3_30B_a3B") == "unsupported: mixture of experts");
  CHECK(by_notes("multi-latent-attention") == "unsupported: multi-head latent attention");
  CHECK(by_model("hybrid:hybrid_mr_mcore_te") == "unsupported: state-space layers");
  CHECK(by_model("multimodal-llava:x") == "unsupported: vision and language model");
  CHECK(by_notes("optimizer offload=Y param offload=N") == "unsupported: offload to host memory");
  CHECK(by_notes("checkpoint-in-cpu=Y") == "unsupported: offload to host memory");
  CHECK(by_notes("optimizer offload=N param offload=N; checkpoint-in-cpu=N").empty());
  CHECK(by_notes("(table follows \"With full cpu offload\" section)").empty());
  CHECK(by_notes("cpu_offload_act=False").empty());
  CHECK(by_model("LLaMA2-7B LoRA r32") == "unsupported: low-rank adapters");
  CHECK(by_notes("64k-token FlexAttention with document masks") == "unsupported: sparse attention");
  CHECK(by_notes("bitsandbytes 8-bit Adam") == "unsupported: 8-bit optimizer state");
  CHECK(by_notes("incl. optimizer (Muon variants)") == "unsupported: optimizer that is not simulated");
  CHECK(by_model("GPT-2-like L12 h768 (2024-10-09_SOAP)") == "unsupported: optimizer that is not simulated");
  CHECK(run_reason({{"cp", "2"}, {"dp", "1"}, {"tp", "4"}}) == "unsupported: context parallelism");
  CHECK(run_reason({{"ep", "8"}}) == "unsupported: expert parallelism");
  CHECK(run_reason({{"cp", "1"}, {"ep", "1"}}).empty());
  CHECK(run_reason({{"precision", "nvfp4"}, {"gpu", "GB300"}, {"intra_node", "NVLink (NVL72 rack)"}}) ==
        "unsupported: 4-bit number format");
  CHECK(run_reason({{"precision", "fp8"}}) == "unsupported: number format that the device lacks");  // A100
  CHECK(run_reason({{"gpu", "MI355X"}, {"gpu_class", "MI355X"}}) == "unsupported: device");
  CHECK(run_reason({{"source", "somebody"}, {"file", "x"}}) == "unsupported: software");
}

TEST_CASE("rows without what a run needs are declined by what is missing") {
  CHECK(run_reason({{"step_time_s", ""}}) == "not published: the step time");
  CHECK(run_reason({{"micro_batch", ""}}) == "not stated: the micro-batch");
  CHECK(run_reason({{"layers", ""}, {"seq_len", ""}}) == "not stated: layers, the sequence length");
  CHECK(run_reason({{"tier", "D"}}).empty());  // a tier is somebody's summary: what counts is what is there
  CHECK(run_reason({{"tp", "4"}}) == "contradictory: the degrees do not multiply to the number of GPUs");
  CHECK(run_reason({{"global_batch", "6"}}) ==
        "contradictory: the batch is no multiple of micro-batch and data-parallel degree");
}

TEST_CASE("values that no such table can have are refused with their place") {
  CHECK(place_of_complaint({{"gpus", "8.5"}}) == "t.csv:2: gpus");
  CHECK(place_of_complaint({{"tp", "0"}}) == "t.csv:2: tp");
  CHECK(place_of_complaint({{"hidden", "-1"}}) == "t.csv:2: hidden");
  CHECK(place_of_complaint({{"layers", "24+"}}) == "t.csv:2: layers");
  CHECK(place_of_complaint({{"layers", "8+8+8"}}) == "t.csv:2: layers");
  CHECK(place_of_complaint({{"step_time_s", "nan"}}) == "t.csv:2: step_time_s");
  CHECK(place_of_complaint({{"step_time_s", "0"}}) == "t.csv:2: step_time_s");
  CHECK(place_of_complaint({{"id", ""}}) == "t.csv:2: id");
  CHECK(place_of_complaint({{"notes", std::string(1001, 'x')}}) == "t.csv:2: notes");
  CHECK(place_of_complaint({{"gpus", "999999999"}}) == "t.csv:2: gpus");
  CHECK_THROWS_AS(read_llm_runs(runs_table({plain_run(), plain_run()}), "t.csv", shared_catalogue()), Error);
  CHECK_THROWS_AS(read_llm_runs(runs_table({}), "t.csv", shared_catalogue()), Error);
  CHECK_THROWS_AS(read_llm_runs("id,file\nr1,x\n", "t.csv", shared_catalogue()), Error);
}

TEST_CASE("machines and networks of the sources are found") {
  const auto cluster = [](const char* id) {
    return sim::resolve_cluster(true_run(id).scenario.cluster, shared_catalogue());
  };
  const sim::Cluster selene = cluster("kort-0009");
  CHECK(selene.nodes == 280);
  CHECK(selene.device->name == "A100-SXM4-80GB");
  CHECK(selene.machine.nics == 8);
  CHECK(selene.machine.inter_node_bandwidth->value == Approx(1600e9 / 8));
  const sim::Cluster vtrain = cluster("vtrain-multi-0042");
  CHECK(vtrain.machine.nics == 4);
  CHECK(vtrain.machine.inter_node_bandwidth->value == Approx(800e9 / 8));
  const sim::Cluster jean_zay = cluster("bs-v100-0022");
  CHECK(jean_zay.machine.gpus == 4);
  CHECK(jean_zay.nodes == 16);
  CHECK(jean_zay.machine.inter_node_bandwidth->value == Approx(400e9 / 8));
  CHECK(cluster("dlp-0003").machine.name == "DLPerf V100");
  CHECK(cluster("nemo-0001").machine.inter_node_bandwidth->value == Approx(3200e9 / 8));
  // Racks of 72 GPUs are one NVLink domain, whatever a tray holds.
  CHECK(cluster("mbr-0033").nodes == 4);  // 256 GPUs
  CHECK(cluster("mci-0028").machine.gpus == 72);
  CHECK(cluster("mlm-0034").machine.gpus == 16);  // DGX-2
  CHECK(cluster("zb-0007").network->name == "roce");
}

TEST_CASE("software, sharding and options follow from source, columns and notes") {
  const auto stack = [](const char* id) { return true_run(id).scenario.stack; };
  CHECK(stack("kort-0001").name == "megatron");
  CHECK(stack("vtrain-multi-0042").name == "megatron");
  CHECK(stack("llmf-0001").name == "pytorch-fsdp");
  CHECK(stack("llmf-0001").options.at("gradient_bytes_per_parameter") == 4);
  CHECK(stack("llmf-0190").options.at("gradient_bytes_per_parameter") == 2);  // PURE
  CHECK(stack("dlp-0001").name == "megatron");
  CHECK(stack("dlp-0019").name == "oneflow");
  CHECK(stack("mbr-0033").name == "megatron-core");
  CHECK(stack("nemo-0001").name == "megatron-core");
  CHECK(stack("neml-0034").name == "megatron");
  CHECK(stack("smx-0025").options.at("overlap") == 0);
  CHECK(stack("mci-0024").options.count("overlap") == 0);  // overlap-grad-reduce is in its notes
  CHECK(stack("mci-0028").options.at("overlap") == 0);
  CHECK(stack("mci-0028").options.at("fused_attention") == 0);  // attention-backend=unfused
  CHECK(stack("bs-v100-0048").name == "deepspeed");
  CHECK(stack("bs-v100-0022").name == "megatron");
  CHECK(stack("bs-v100-0038").options.at("bucket_bytes") == 4e9);  // reduce_bucket=2e9
  const auto plan = [](const char* id) { return true_run(id).scenario.plan; };
  CHECK(plan("bs-v100-0048").sharding == "zero3");
  CHECK(plan("bs-v100-0036").sharding == "zero1");
  CHECK(plan("kort-0001").sharding == "none");
  CHECK(plan("llmf-0001").sharding == "zero3");
  CHECK(plan("sm-0002").sharding == "hsdp");
  CHECK(plan("sm-0002").shard_group == 128);
  CHECK(plan("nemo-0003").sequence_parallel);
  CHECK_FALSE(plan("nemo-0001").sequence_parallel);  // nothing to be parallel with
  CHECK(plan("kort-0002").sequence_parallel);
  CHECK(plan("kort-0002").recompute == "selective");
}

TEST_CASE("schedules by their published names, and stages that are one layer short at both ends") {
  const auto plan = [](const char* id) { return true_run(id).scenario.plan; };
  CHECK(plan("zb-0025").schedule == "1f1b");
  CHECK(plan("zb-0013").schedule == "zb-h1");
  CHECK(plan("zb-0001").schedule == "zb-h2");
  CHECK(plan("zb-0052").schedule == "zb-v");
  CHECK(plan("zb-0052").interleave == 2);
  CHECK(plan("zb-0037").schedule == "interleaved");
  CHECK(plan("zb-0037").interleave == 3);
  CHECK(plan("kort-0003").schedule == "interleaved");
  // 22 layers on 8 stages: 3 · 8 − 2.
  CHECK(plan("zb-0025").stage_layers == std::vector<std::int64_t>{2, 3, 3, 3, 3, 3, 3, 2});
  // 24 chunks of one layer, the first and the last of none.
  CHECK(plan("zb-0037").stage_layers.size() == 24);
  CHECK(plan("zb-0037").stage_layers.front() == 0);
  CHECK(plan("zb-0037").stage_layers[1] == 1);
  CHECK(plan("kort-0003").stage_layers.empty());  // 96 on 24 chunks
  CHECK(plan("mbr-0033").stage_layers.front() == 3);  // 126 = 4 · 32 − 2
  // Five micro-batches on two interleaved stages.
  CHECK(run_reason({{"tp", "4"}, {"pp", "2"}, {"vpp", "2"}, {"schedule", "1F1B-I"}, {"global_batch", "20"}}) ==
        "unsupported: interleaved micro-batches that are no multiple of the stages");
}

TEST_CASE("the baseline's step is Megatron's formula at the device's peak") {
  // 72·B·l·s·h²·(1 + s/6h + V/12lh) = 72·4·48·2048·6144²·(1 + 0.055556 + 0.014467) FLOPs over 8 · 312 TFLOP/s.
  CHECK(run_of({}).ideal_step_seconds ==
        Approx(72. * 4 * 48 * 2048 * 6144 * 6144 * (1 + 2048. / (6 * 6144) + 51200. / (12. * 48 * 6144)) / (8 * 312e12))
            .epsilon(1e-9));
  // Recomputed in full: 96·…·(1 + s/6h + V/16lh).
  CHECK(run_of({{"recompute", "full"}}).ideal_step_seconds ==
        Approx(96. * 4 * 48 * 2048 * 6144 * 6144 * (1 + 2048. / (6 * 6144) + 51200. / (16. * 48 * 6144)) / (8 * 312e12))
            .epsilon(1e-9));
  CHECK(run_of({}).bubble == 0);
  CHECK(true_run("kort-0003").bubble == Approx(7. / (64 * 3)));  // 8 stages, 64 micro-batches, 3 chunks
}

TEST_CASE("runs of one set share everything but how they split the work") {
  const sim::LlmRun eight = run_of({}), four = run_of({{"tp", "4"}, {"pp", "2"}});
  CHECK(eight.set == four.set);
  CHECK(eight.configuration != four.configuration);
  CHECK(eight.set != run_of({{"recompute", "full"}}).set);
  CHECK(eight.set != run_of({{"seq_len", "1024"}}).set);
}

TEST_CASE("the whole table of published runs maps or is declined by class") {
  CHECK(true_runs().runs.size() + true_runs().declined.size() == 663);
  std::set<std::string> reasons;
  std::int64_t complete = 0, complete_mapped = 0;
  for (const auto& run : true_runs().declined) {
    INFO(run.label.id << ": " << run.reason);
    CHECK(run.reason.find(run.label.id) == std::string::npos);
    reasons.insert(run.reason);
    if (run.label.keeps_tokens_whole && (run.label.tier == "A" || run.label.tier == "B")) ++complete;
  }
  CHECK(reasons.size() <= 30);  // reasons are of classes
  for (const auto& run : true_runs().runs) {
    if (run.label.keeps_tokens_whole && (run.label.tier == "A" || run.label.tier == "B")) ++complete_mapped;
  }
  complete += complete_mapped;
  CHECK(complete == 450);
  CHECK(static_cast<double>(complete_mapped) >= 0.85 * static_cast<double>(complete));
}

TEST_CASE("everything that a mapped run names exists") {
  for (const sim::LlmRun& run : true_runs().runs) {
    INFO(run.label.id << " " << run.scenario.name);
    const sim::Scenario& scenario = run.scenario;
    CHECK_NOTHROW(models::build_model(scenario.model, {1, scenario.training.sequence}, shared_catalogue().data()));
    CHECK_NOTHROW(sim::resolve_cluster(scenario.cluster, shared_catalogue()));
    CHECK_NOTHROW(shared_catalogue().stack(scenario.stack.name));
    const sim::strategies::Batches batches =
        sim::strategies::resolve_batches(scenario.training, scenario.plan, scenario.cluster.gpus);
    CHECK_NOTHROW(sim::strategies::require_schedule(scenario.plan, batches.accumulation));
    CHECK(run.ideal_step_seconds > 0);
    CHECK(run.measured_step_seconds > run.ideal_step_seconds);  // nobody beats the devices' peak
  }
}

TEST_CASE("what was measured has no part in any scenario") {
  const sim::RunCorpus other =
      read_llm_runs(with_other_measurements(true_runs_text()), "llm_runs.csv", shared_catalogue());
  REQUIRE(other.runs.size() == true_runs().runs.size());
  int measured_otherwise = 0;
  for (std::size_t i = 0; i < other.runs.size(); ++i) {
    CHECK(dump(other.runs[i]) == dump(true_runs().runs[i]));
    CHECK(other.runs[i].scenario.measured.empty());
    measured_otherwise += other.runs[i].measured_step_seconds != true_runs().runs[i].measured_step_seconds ? 1 : 0;
  }
  CHECK(measured_otherwise > 300);
}
