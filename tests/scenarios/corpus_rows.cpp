#include "tests/scenarios/corpus_rows.h"

#include <algorithm>

#include "base/files.h"
#include "scenarios/corpus/families.h"
#include "tests/catch.h"

namespace foretrain::scenarios {
namespace {

const std::vector<std::string> column_order = {"family_id",  "file",         "source",    "where",   "gpu",
                                               "intra_node", "inter_node",   "framework", "model",   "precision",
                                               "strategy",   "seq_or_image", "variant",   "scaling", "batch",
                                               "metric",     "gpus",         "values",    "speedup"};

}  // namespace

std::string in_quotes(const std::string& text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

Columns plain_row(const Columns& changes) {
  Columns row = {{"family_id", "T1"},
                 {"file", "tests.csv"},
                 {"source", "a test"},
                 {"where", ""},
                 {"gpu", "A100-SXM4-40GB"},
                 {"intra_node", "DGX A100"},
                 {"inter_node", "Compute: 8x ConnectX-6 IB HDR 200Gb/Sec"},
                 {"framework", "PyTorch"},
                 {"model", "ResNet-50 v1.5"},
                 {"precision", "mixed FP16"},
                 {"strategy", "DDP"},
                 {"seq_or_image", "224"},
                 {"variant", ""},
                 {"scaling", "weak (constant batch/GPU)"},
                 {"batch", "64/GPU"},
                 {"metric", "images_per_s"},
                 {"gpus", "1 8 16"},
                 {"values", "640 4800 9000"},
                 {"speedup", ""}};
  for (const auto& [column, text] : changes) row.at(column) = text;
  return row;
}

std::string table_of(const std::vector<Columns>& rows) {
  std::string text;
  for (const std::string& column : column_order) text += (text.empty() ? "" : ",") + column;
  text += "\n";
  for (const Columns& row : rows) {
    std::string line;
    for (const std::string& column : column_order) line += (line.empty() ? "" : ",") + in_quotes(row.at(column));
    text += line + "\n";
  }
  return text;
}

const calibrate::Catalogue& shared_catalogue() {
  static const calibrate::Catalogue catalogue{DataStore{}};
  return catalogue;
}

sim::Family family_of(const Columns& changes) {
  const auto corpus = read_families(table_of({plain_row(changes)}), "test.csv", shared_catalogue());
  if (!corpus.declined.empty()) FAIL(corpus.declined.front().reason);
  return corpus.families.front();
}

std::string reason_of(const Columns& changes) {
  const auto corpus = read_families(table_of({plain_row(changes)}), "test.csv", shared_catalogue());
  return corpus.declined.empty() ? "" : corpus.declined.front().reason;
}

std::string truth_text() { return read_file(FORETRAIN_SOURCE_DIR "/tests/truth/speedup_families.csv"); }

const sim::FamilyCorpus& truth() {
  static const sim::FamilyCorpus corpus =
      read_families(truth_text(), "speedup_families.csv", shared_catalogue());
  return corpus;
}

const sim::Family& truth_family(const std::string& id) {
  const auto& families = truth().families;
  const auto found =
      std::find_if(families.begin(), families.end(), [&](const auto& family) { return family.id == id; });
  if (found == families.end()) FAIL("no family " + id);
  return *found;
}

}  // namespace foretrain::scenarios
