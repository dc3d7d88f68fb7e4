#include "tests/scenarios/llm_rows.h"

#include <algorithm>

#include "base/files.h"
#include "scenarios/corpus/llm_row.h"
#include "scenarios/corpus/llm_runs.h"
#include "tests/catch.h"
#include "tests/scenarios/corpus_rows.h"

namespace foretrain::scenarios {

Columns plain_run(const Columns& changes) {
  Columns row;
  for (const std::string& column : llm_columns()) row[column];
  const Columns plain = {{"id", "r1"},
                         {"file", "tests"},
                         {"source", "Megatron-LM, a test"},
                         {"tier", "A"},
                         {"gpu", "A100-80GB"},
                         {"gpu_class", "A100-80GB"},
                         {"gpus", "8"},
                         {"gpus_per_node", "8"},
                         {"intra_node", "NVLink/NVSwitch"},
                         {"inter_node", "8x 200 Gb/s HDR InfiniBand"},
                         {"model", "GPT 22B"},
                         {"layers", "48"},
                         {"hidden", "6144"},
                         {"heads", "64"},
                         {"kv_heads", "64"},
                         {"ffn", "24576"},
                         {"seq_len", "2048"},
                         {"vocab", "51200"},
                         {"global_batch", "4"},
                         {"micro_batch", "4"},
                         {"tp", "8"},
                         {"pp", "1"},
                         {"dp", "1"},
                         {"recompute", "none"},
                         {"precision", "fp16"},
                         {"step_time_s", "1.1"}};
  for (const auto& [column, text] : plain) row.at(column) = text;
  for (const auto& [column, text] : changes) row.at(column) = text;
  return row;
}

std::string runs_table(const std::vector<Columns>& rows) {
  std::string text;
  for (const std::string& column : llm_columns()) text += column + ",";
  text += "measured_value\n";
  for (const Columns& row : rows) {
    for (const std::string& column : llm_columns()) text += in_quotes(row.at(column)) + ",";
    text += "7\n";
  }
  return text;
}

sim::LlmRun run_of(const Columns& changes) {
  const sim::RunCorpus corpus = read_llm_runs(runs_table({plain_run(changes)}), "test.csv", shared_catalogue());
  if (!corpus.declined.empty()) FAIL(corpus.declined.front().reason);
  return corpus.runs.front();
}

std::string run_reason(const Columns& changes) {
  const sim::RunCorpus corpus = read_llm_runs(runs_table({plain_run(changes)}), "test.csv", shared_catalogue());
  return corpus.declined.empty() ? "" : corpus.declined.front().reason;
}

std::string true_runs_text() { return read_file(FORETRAIN_SOURCE_DIR "/tests/truth/llm_runs.csv"); }

const sim::RunCorpus& true_runs() {
  static const sim::RunCorpus corpus = read_llm_runs(true_runs_text(), "llm_runs.csv", shared_catalogue());
  return corpus;
}

const sim::LlmRun& true_run(const std::string& id) {
  const auto& runs = true_runs().runs;
  const auto found = std::find_if(runs.begin(), runs.end(), [&](const auto& run) { return run.label.id == id; });
  if (found == runs.end()) FAIL("no run " + id);
  return *found;
}

}  // namespace foretrain::scenarios
