#include "scenarios/corpus/node.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <regex>

#include "base/error.h"
#include "base/text.h"
#include "scenarios/corpus/network_text.h"

namespace foretrain::scenarios {
namespace {

using calibrate::Catalogue;
using calibrate::Machine;

// Letters and digits, lower case: names are written with and without hyphens, spaces, underscores.
std::string squeezed(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

// The machine of the catalogue whose name stands in the row, the longest where several do; only one with the row's
// kind of GPU. Azure's names are also written without their first word.
const Machine* named_machine(const Texts& texts, const calibrate::Device& device, const Catalogue& catalogue) {
  const Machine* found = nullptr;
  std::size_t longest = 0;
  for (const char* column : {"intra_node", "gpu", "inter_node", "variant", "where"}) {
    const std::string text = squeezed(texts.at(column));
    for (const std::string& name : catalogue.machine_names()) {
      std::string wanted = squeezed(name);
      const std::string prefix = "standard";
      if (wanted.compare(0, prefix.size(), prefix) == 0) wanted.erase(0, prefix.size());
      if (wanted.size() <= longest || text.find(wanted) == std::string::npos) continue;
      const Machine& machine = catalogue.machine(name);
      if (catalogue.device(machine.device).chip != device.chip) continue;
      found = &machine;
      longest = wanted.size();
    }
    if (found != nullptr) return found;
  }
  return nullptr;
}

// What the tables know of the row's machine, or what the row itself names; nothing = neither.
std::optional<MachineFact> known_machine(const Texts& texts, const calibrate::Device& device,
                                         const Catalogue& catalogue, const CorpusTables& tables) {
  if (const MachineFact* listed = tables.machines.first(texts)) return *listed;
  if (const Machine* named = named_machine(texts, device, catalogue)) return MachineFact{named->name, "", ""};
  return std::nullopt;
}

// What is usual with the row's GPU.
MachineFact usual_machine(const Texts& texts, const calibrate::Device& device, const CorpusTables& tables) {
  const MachineFact* usual = tables.default_machines.first(texts);
  if (usual == nullptr) throw Error("no machine is usual with " + quoted(device.name), "corpus/machines.json");
  return *usual;
}

// The number of GPUs in "8/node", "4x V100 per node", "4 Titan X per server", "4-GPU nodes", "nodes with 8 GPUs"; 0 =
// none. Words stand apart, so that a long text is read in one go.
std::int64_t gpus_per_node_in(const std::string& text, const std::string& words_before_per) {
  static constexpr auto flags = std::regex::ECMAScript | std::regex::icase;
  const std::string start = "(?:^|[^0-9A-Za-z.])", number = "([1-9][0-9]?)(?![0-9])", times = "(?: ?x)? ?";
  const std::string node = "(?:node|server|machine|host|instance)";
  for (const std::string& pattern : {start + number + times + words_before_per + "(?:/|per) ?" + node,
                                     start + number + "[ -]?GPU " + node,
                                     node + "s? (?:of|with) " + number + times + "(?:[A-Z0-9-]+ ){0,3}GPU"}) {
    std::smatch match;
    if (std::regex_search(text, match, std::regex(pattern, flags))) return std::stoll(match[1]);
  }
  return 0;
}

// What the row itself says of its nodes; 0 = nothing. Where networks are described, only what is called GPUs counts:
// there are network cards per node, too.
std::int64_t stated_gpus_per_node(const Texts& texts) {
  const std::string gpus = "(?:[A-Z0-9-]+ ){0,3}GPUs? ?", any = "(?:(?![GMT]i?b)[A-Z0-9-]+(?: |(?=/))){0,4}";
  for (const char* column : {"intra_node", "gpu"}) {
    if (const std::int64_t count = gpus_per_node_in(texts.at(column), any); count > 0) return count;
  }
  return gpus_per_node_in(texts.at("inter_node"), gpus);
}

// Sockets over an InfiniBand card are TCP; a network that is Ethernet anyway stays what the catalogue says it is.
std::string network_of(const std::string& said, const std::string& own) {
  if (said.empty()) return own;
  if (said != "ethernet") return said;
  return own.empty() || own == "infiniband" ? "tcp" : own;
}

// What a row says of its network, laid over the machine.
void apply_network(const NetworkWords& words, const std::string& own, Node& node) {
  node.network_stated = node.network_stated || words.says_something();
  node.network = network_of(words.kind, own);
  if (!node.network.empty() && node.network != own) node.cluster.network = node.network;
  if (!words.gbits_per_s) return;
  node.cluster.nics_per_node = words.nics;
  node.cluster.inter_node_gbits_per_s = *words.gbits_per_s * static_cast<double>(words.nics);
  node.network_known = true;
}

Node bare_node(const MachineFact& fact, const calibrate::Device& device, const Catalogue& catalogue) {
  Node node;
  node.device = &device;
  node.cluster.machine = fact.machine;
  if (fact.machine.empty()) {
    node.cluster.gpu = device.name;
    node.cluster.intra_node = fact.intra_node;
    node.cluster.gpus_per_node = node.gpus = fact.gpus_per_node;
    return node;
  }
  const Machine& machine = catalogue.machine(fact.machine);
  if (machine.device != device.name) node.cluster.gpu = device.name;
  node.gpus = fact.gpus_per_node > 0 ? fact.gpus_per_node : machine.gpus;
  if (node.gpus != machine.gpus) node.cluster.gpus_per_node = node.gpus;
  if (fact.nics_per_node > 0) node.cluster.nics_per_node = fact.nics_per_node;
  node.vcpus = machine.vcpus;
  node.network_known = machine.inter_node_bandwidth.has_value();
  return node;
}

// "HDR InfiniBand" of a machine that the row names and that has eight such cards: all of them, where no count is said.
bool is_own_card(const NetworkWords& words, const Machine& machine) {
  if (words.nics_said || !words.gbits_per_s || !machine.inter_node_bandwidth) return false;
  const double cards = *machine.inter_node_bandwidth / gbits_per_s(*words.gbits_per_s);
  return std::abs(cards - machine.nics) < 0.01 * machine.nics;
}

}  // namespace

Node node_of(const MachineFact& stated, bool is_known, const Texts& texts, std::int64_t most_gpus,
             const Catalogue& catalogue, const CorpusTables& tables) {
  const calibrate::Device& device = catalogue.device(texts.at("device"));
  MachineFact fact = stated;
  if (const std::int64_t count = stated_gpus_per_node(texts); count > 0) {
    fact.gpus_per_node = count;
    fact.gpus_per_node_at_most = 0;
  }
  Node node = bare_node(fact, device, catalogue);
  // A fact of cards and rate is what the row's words mean.
  const bool words_are_known = fact.nics_per_node > 0 && fact.inter_node_gbits_per_s > 0;
  NetworkWords words = words_are_known ? NetworkWords() : read_network(texts.at("inter_node"), tables);
  if (is_known && !fact.machine.empty() && is_own_card(words, catalogue.machine(fact.machine))) {
    words.nics = catalogue.machine(fact.machine).nics;
  }
  std::string own = fact.machine.empty() ? "" : catalogue.machine(fact.machine).network;
  if (!fact.network.empty()) own = fact.network;
  if (fact.inter_node_gbits_per_s > 0) {
    node.cluster.inter_node_gbits_per_s = fact.inter_node_gbits_per_s;
    node.cluster.network = own;
    node.network_known = true;
  }
  apply_network(words, own, node);
  if (!node.network_stated && !node.network_known && most_gpus > node.gpus && most_gpus <= fact.gpus_per_node_at_most) {
    node.gpus = most_gpus;
    node.cluster.gpus_per_node = most_gpus;
  }
  return node;
}

Node find_node(const Texts& texts, std::int64_t most_gpus, const Catalogue& catalogue, const CorpusTables& tables) {
  const calibrate::Device& device = catalogue.device(texts.at("device"));
  const std::optional<MachineFact> known = known_machine(texts, device, catalogue, tables);
  return node_of(known ? *known : usual_machine(texts, device, tables), known.has_value(), texts, most_gpus, catalogue,
                 tables);
}

}  // namespace foretrain::scenarios
