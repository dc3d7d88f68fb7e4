#include "calibrate/inherit.h"

#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

namespace foretrain::calibrate {
namespace {

// How a group says how well its numbers are known.
struct Transfer {
  double spread = 0;
  std::string parent;
  bool other_chip = false;
};

// Malformed groups are left to the parser, which says what is wrong with them.
void transfer(Json& group, const Transfer& how) {
  const auto spread = group.find("relative_spread");
  const auto source = group.find("source");
  if (spread == group.end() || source == group.end() || !spread->is_number() || !source->is_string()) return;
  *spread = std::hypot(spread->get<double>(), how.spread);
  *source = "as " + how.parent + ": " + source->get<std::string>();
  if (how.other_chip) group["provenance"] = "assumed";
}

bool gives_spread(const Json& group) { return group.is_object() && group.contains("relative_spread"); }

// Groups stand in the device itself ("recurrent") or one level deeper ("products" by precision).
void transfer_groups(Json& merged, const Json& child, const Transfer& how) {
  const Json nothing = Json::object();
  for (auto& [key, value] : merged.items()) {
    if (!value.is_object()) continue;
    const Json& own = child.contains(key) ? child.at(key) : nothing;
    if (gives_spread(value)) {
      if (!gives_spread(own)) transfer(value, how);
      continue;
    }
    for (auto& [name, group] : value.items()) {
      if (!gives_spread(group)) continue;
      const bool given = own.is_object() && own.contains(name) && gives_spread(own.at(name));
      if (!given) transfer(group, how);
    }
  }
}

}  // namespace

Json inherit(const Json& parent, const JsonView& child) {
  Json merged = parent;
  merged.erase("notes");
  merged.erase("transfer_spread");
  merged.merge_patch(child.json());
  const auto spread = child.find("transfer_spread");
  if (!spread) return merged;
  const auto text = [](const Json& json, const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  transfer_groups(merged, child.json(),
                  {spread->number({0, 1}), text(parent, "name"), text(parent, "chip") != text(merged, "chip")});
  return merged;
}

}  // namespace foretrain::calibrate
