// Catalogue: devices, machines, networks, stacks, collective tables and track records, found by name.
//
// Files are parsed when first asked for. Unknown names are Errors with the nearest known name; machine
// names ignore case, and a vendor's short form without "Standard_" is found too. An entry of a data directory
// (--data) replaces the built-in one of its name, whichever file it stands in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/data.h"
#include "calibrate/collective_profile.h"
#include "calibrate/device.h"
#include "calibrate/interval_factors.h"
#include "calibrate/machine.h"
#include "calibrate/stack.h"
#include "calibrate/track_record.h"

namespace foretrain::calibrate {

class Catalogue {
 public:
  explicit Catalogue(DataStore data);
  ~Catalogue();

  // `where` is the place in the user's input, for the message.
  [[nodiscard]] const Device& device(const std::string& name, const std::string& where = "") const;
  [[nodiscard]] const Machine& machine(const std::string& name, const std::string& where = "") const;
  [[nodiscard]] const NetworkKind& network(const std::string& name, const std::string& where = "") const;
  [[nodiscard]] const Stack& stack(const std::string& name, const std::string& where = "") const;
  [[nodiscard]] const std::vector<CollectiveTable>& collective_tables() const;
  [[nodiscard]] const CollectiveConstants& collective_constants() const;
  // How published measurements were predicted.
  [[nodiscard]] const std::vector<TrackRecord>& track_records() const;
  [[nodiscard]] const std::vector<PredictedRun>& predicted_runs() const;
  [[nodiscard]] const std::vector<IntervalFactors>& interval_factors() const;

  [[nodiscard]] std::vector<std::string> device_names() const;
  [[nodiscard]] std::vector<std::string> machine_names() const;
  [[nodiscard]] std::vector<std::string> network_names() const;
  [[nodiscard]] std::vector<std::string> stack_names() const;

  [[nodiscard]] const DataStore& data() const;

 private:
  struct Contents;
  std::unique_ptr<Contents> contents_;
};

}  // namespace foretrain::calibrate
