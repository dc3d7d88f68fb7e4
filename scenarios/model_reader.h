// Model reader: the `model` section, whose keys depend on how the model is given.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "calibrate/catalogue.h"
#include "scenarios/document.h"
#include "sim/scenario.h"

namespace foretrain::scenarios {

// What a scenario may say about a zoo entry.
struct ZooFacts {
  std::map<std::string, double> sizes;
  bool takes_sequence = false;
};
// Throws Error at `name` when it is no zoo entry, suggesting the nearest.
[[nodiscard]] ZooFacts zoo_facts(const JsonView& name, const DataStore& data);

// Remembers what it looked up, so that thousands of alternatives read each zoo entry and each file once.
class ModelReader {
 public:
  // `directory`: where operator lists and configurations with a relative name are.
  ModelReader(std::string directory, const calibrate::Catalogue& catalogue)
      : directory_(std::move(directory)), catalogue_(catalogue) {}

  void read(const Document& document, sim::Scenario& scenario);

 private:
  void read_zoo_entry(const Document& document, sim::Scenario& scenario);
  void read_configuration(const Document& document, sim::Scenario& scenario);
  // The text of the file that is the value at `key`.
  const std::string& text_of(const Document& document, const std::string& key, const std::string& name);

  std::string directory_;
  const calibrate::Catalogue& catalogue_;
  std::map<std::string, ZooFacts> zoo_;       // by name as written
  std::map<std::string, std::string> texts_;  // of operator lists and configurations, by name as written
};

}  // namespace foretrain::scenarios
