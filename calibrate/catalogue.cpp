#include "calibrate/catalogue.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "calibrate/inherit.h"
#include "calibrate/parse.h"

namespace foretrain::calibrate {
namespace {

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool is_built_in(std::string_view kind, const DataFile& file) {
  const auto& embedded = embedded_files();
  return std::any_of(embedded.begin(), embedded.end(), [&](const EmbeddedFile& built_in) {
    return built_in.kind == kind && built_in.name == file.name && built_in.text == file.text;
  });
}

// Entries of one kind by name, case ignored. One of an overlay replaces the built-in one of its name.
template <class Entry>
class Register {
 public:
  void add(Entry entry, const std::string& source, bool built_in) {
    const std::string key = lower_case(entry.name);
    const auto [at, is_new] = slots_.try_emplace(key);
    Slot& slot = at->second;
    if (!is_new && slot.built_in == built_in) {
      throw Error(quoted(entry.name) + " is defined twice", source, "it is also in " + slot.source);
    }
    if (!is_new && built_in) return;
    slot = {std::move(entry), source, built_in};
  }

  [[nodiscard]] const Entry* find(const std::string& name) const {
    const auto found = slots_.find(lower_case(name));
    return found == slots_.end() ? nullptr : &found->second.entry;
  }

  [[nodiscard]] const Entry& get(const char* what, const std::string& name, const std::string& where) const {
    if (const Entry* entry = find(name)) return *entry;
    throw Error(std::string("unknown ") + what + " " + quoted(name), where, name_hint(name, names()));
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [key, slot] : slots_) names.push_back(slot.entry.name);
    return names;
  }

 private:
  struct Slot {
    Entry entry;
    std::string source;
    bool built_in = true;
  };
  std::map<std::string, Slot> slots_;
};

struct NamedJson {
  std::string name;
  Json json;
  std::string source;
};

Register<NamedJson> read_named(const DataStore& data, const char* kind) {
  Register<NamedJson> entries;
  for (const DataFile& file : data.files(kind)) {
    Json json = parse_json(file.text, file.source);
    const std::string name = JsonView(json, file.source).at("name").string();
    entries.add({name, std::move(json), file.source}, file.source, is_built_in(kind, file));
  }
  return entries;
}

template <class Entry>
Register<Entry> read_entries(const DataStore& data, const char* kind, Entry (*parse)(const JsonView&)) {
  Register<Entry> entries;
  for (const DataFile& file : data.files(kind)) {
    const Json json = parse_json(file.text, file.source);
    entries.add(parse(JsonView(json, file.source)), file.source, is_built_in(kind, file));
  }
  return entries;
}

// `entry` laid over the one that its "like" names; `what` is a kind of entry in one word.
Json resolved(const char* what, const NamedJson& entry, const Register<NamedJson>& all, std::size_t depth = 0) {
  const JsonView view(entry.json, entry.source);
  const auto like = view.find("like");
  if (!like) return entry.json;
  constexpr std::size_t deepest = 8;
  if (depth == deepest) like->fail(std::string(what) + "s that are like one another in a circle");
  const NamedJson* parent = all.find(like->string());
  if (parent == nullptr) like->fail(std::string("unknown ") + what + " " + quoted(like->string()), name_hint(like->string(), all.names()));
  return inherit(resolved(what, *parent, all, depth + 1), view);
}

template <class Entry>
Register<Entry> read_resolved(const DataStore& data, const char* kind, const char* what,
                              Entry (*parse)(const JsonView&)) {
  const Register<NamedJson> all = read_named(data, kind);
  Register<Entry> entries;
  for (const std::string& name : all.names()) {
    const NamedJson& entry = *all.find(name);
    const Json json = resolved(what, entry, all);
    entries.add(parse(JsonView(json, entry.source)), entry.source, true);
  }
  return entries;
}

Register<Machine> read_machines(const DataStore& data) {
  Register<Machine> machines;
  for (const DataFile& file : data.files("machines")) {
    const Json json = parse_json(file.text, file.source);
    const bool built_in = is_built_in("machines", file);
    for (Machine& machine : parse_machines(JsonView(json, file.source))) {
      machines.add(std::move(machine), file.source, built_in);
    }
  }
  return machines;
}

}  // namespace

struct Catalogue::Contents {
  DataStore data;
  std::optional<Register<Device>> devices;
  std::optional<Register<Machine>> machines;
  std::optional<Register<NetworkKind>> networks;
  std::optional<Register<Stack>> stacks;
  std::optional<std::vector<CollectiveTable>> tables;
  std::optional<std::vector<TrackRecord>> records;
  std::optional<std::vector<PredictedRun>> runs;
  std::optional<std::vector<IntervalFactors>> factors;
  std::optional<CollectiveConstants> constants;

  explicit Contents(DataStore store) : data(std::move(store)) {}

  const Register<Device>& all_devices() {
    if (!devices) devices = read_resolved<Device>(data, "devices", "device", parse_device);
    return *devices;
  }
  const Register<Machine>& all_machines() {
    if (!machines) machines = read_machines(data);
    return *machines;
  }
  const Register<NetworkKind>& all_networks() {
    if (!networks) networks = read_entries<NetworkKind>(data, "networks", parse_network);
    return *networks;
  }
  const Register<Stack>& all_stacks() {
    if (!stacks) stacks = read_resolved<Stack>(data, "stacks", "stack", parse_stack);
    return *stacks;
  }
  // Files with "constants" hold the one set of constants (the last file by name wins), the others tables.
  void read_collectives() {
    if (tables) return;
    std::vector<CollectiveTable> all;
    for (const DataFile& file : data.files("collectives")) {
      const Json json = parse_json(file.text, file.source);
      const JsonView view(json, file.source);
      if (view.find("constants")) {
        constants = parse_collective_constants(view);
        continue;
      }
      for (CollectiveTable& table : parse_collective_tables(view)) all.push_back(std::move(table));
    }
    tables = std::move(all);
  }
};

Catalogue::Catalogue(DataStore data) : contents_(std::make_unique<Contents>(std::move(data))) {}
Catalogue::~Catalogue() = default;

const Device& Catalogue::device(const std::string& name, const std::string& where) const {
  return contents_->all_devices().get("device", name, where);
}

const Machine& Catalogue::machine(const std::string& name, const std::string& where) const {
  const Register<Machine>& machines = contents_->all_machines();
  if (const Machine* azure = machines.find("Standard_" + name)) return *azure;
  return machines.get("machine", name, where);
}

const NetworkKind& Catalogue::network(const std::string& name, const std::string& where) const {
  return contents_->all_networks().get("network", name, where);
}

const Stack& Catalogue::stack(const std::string& name, const std::string& where) const {
  return contents_->all_stacks().get("stack", name, where);
}

const std::vector<CollectiveTable>& Catalogue::collective_tables() const {
  contents_->read_collectives();
  return *contents_->tables;
}

const std::vector<TrackRecord>& Catalogue::track_records() const {
  if (!contents_->records) contents_->records = read_track_records(contents_->data);
  return *contents_->records;
}

const std::vector<PredictedRun>& Catalogue::predicted_runs() const {
  if (!contents_->runs) contents_->runs = read_predicted_runs(contents_->data);
  return *contents_->runs;
}

const std::vector<IntervalFactors>& Catalogue::interval_factors() const {
  if (!contents_->factors) contents_->factors = read_interval_factors(contents_->data);
  return *contents_->factors;
}

const CollectiveConstants& Catalogue::collective_constants() const {
  contents_->read_collectives();
  if (!contents_->constants) throw Error("no collective constants", "collectives/*.json", "a file with \"constants\"");
  return *contents_->constants;
}

std::vector<std::string> Catalogue::device_names() const { return contents_->all_devices().names(); }
std::vector<std::string> Catalogue::machine_names() const { return contents_->all_machines().names(); }
std::vector<std::string> Catalogue::network_names() const { return contents_->all_networks().names(); }
std::vector<std::string> Catalogue::stack_names() const { return contents_->all_stacks().names(); }

const DataStore& Catalogue::data() const { return contents_->data; }

}  // namespace foretrain::calibrate
