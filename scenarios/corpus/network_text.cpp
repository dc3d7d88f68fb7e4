#include "scenarios/corpus/network_text.h"

#include <regex>
#include <vector>

namespace foretrain::scenarios {
namespace {

std::vector<std::string> clauses_of(const std::string& text) {
  std::vector<std::string> clauses(1);
  for (const char c : text) {
    if (c == ',' || c == ';' || c == '+') {
      clauses.emplace_back();
    } else {
      clauses.back() += c;
    }
  }
  return clauses;
}

template <class Fact>
const Fact* meaning(const RuleTable<Fact>& table, const std::string& words) {
  return table.first({{"inter_node", words}});
}

// Gigabits, not gigabytes: the b is small.
std::optional<double> written_rate(const std::string& clause) {
  static const std::regex rate(R"(([0-9]{1,5}(\.[0-9]{1,3})?) ?([Gg]b|[Gg]igabit))");
  std::smatch match;
  if (!std::regex_search(clause, match, rate)) return std::nullopt;
  const double gbits = std::stod(match[1]);
  return gbits > 0 ? std::optional<double>(gbits) : std::nullopt;
}

std::optional<std::int64_t> written_count(const std::string& clause) {
  static const std::regex count(R"((^|[^0-9A-Za-z.])([0-9]{1,3}) ?(x|X|×)([^0-9A-Za-z]|$))");
  static const std::regex two("dual.?rail", std::regex::ECMAScript | std::regex::icase);
  if (std::regex_search(clause, two)) return 2;
  std::smatch match;
  if (!std::regex_search(clause, match, count) || std::stoi(match[2]) < 1) return std::nullopt;
  return std::stoi(match[2]);
}

NetworkWords read_clause(const std::string& clause, const CorpusTables& tables) {
  NetworkWords words;
  if (const std::string* kind = meaning(tables.clause_kinds, clause)) words.kind = *kind;
  words.gbits_per_s = written_rate(clause);
  if (const double* rate = meaning(tables.port_rates, clause); rate != nullptr && !words.gbits_per_s) {
    words.gbits_per_s = *rate;
  }
  const std::optional<std::int64_t> count = written_count(clause);
  words.nics = count.value_or(1);
  words.nics_said = count.has_value();
  return words;
}

double total_rate(const NetworkWords& words) { return words.gbits_per_s.value_or(0) * static_cast<double>(words.nics); }

// The faster one; where no rates are written, the first kind that is said and InfiniBand before Ethernet.
bool is_better(const NetworkWords& one, const NetworkWords& other) {
  if (total_rate(one) != total_rate(other)) return total_rate(one) > total_rate(other);
  if (other.kind.empty() || one.kind.empty()) return other.kind.empty() && !one.kind.empty();
  return other.kind == "ethernet" && one.kind != "ethernet";
}

}  // namespace

NetworkWords read_network(const std::string& text, const CorpusTables& tables) {
  NetworkWords computing, any;
  std::string said;  // kind, anywhere, for a rate that stands apart from it: "InfiniBand, 56 Gb/s"
  for (const std::string& clause : clauses_of(text)) {
    const NetworkWords words = read_clause(clause, tables);
    const std::string* use = meaning(tables.clause_uses, clause);
    if (use != nullptr && *use == "computing" && is_better(words, computing)) computing = words;
    if (use == nullptr && is_better(words, any)) any = words;
    const bool counts = use == nullptr || *use == "computing";
    if (counts && !words.kind.empty() && (said.empty() || said == "ethernet")) said = words.kind;
  }
  NetworkWords best = computing.says_something() ? computing : any;
  if (best.kind.empty()) best.kind = said;
  if (const std::string* kind = meaning(tables.whole_texts, text)) best.kind = *kind;
  return best;
}

}  // namespace foretrain::scenarios
