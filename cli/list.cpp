#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/listing.h"
#include "cli/output.h"
#include "reports/json.h"

namespace foretrain::cli {

const std::vector<std::string>& list_kinds() {
  static const std::vector<std::string> kinds = {"models", "devices", "machines", "networks", "stacks"};
  return kinds;
}

ExitCode list(const Arguments& arguments) {
  const std::string& kind = arguments.subject;
  if (kind.empty()) throw Error("say what to list", "foretrain list", "one of: " + joined(list_kinds()));
  if (std::find(list_kinds().begin(), list_kinds().end(), kind) == list_kinds().end()) {
    throw Error("there is no list of " + quoted(kind), "foretrain list", name_hint(kind, list_kinds()));
  }
  check_outputs(arguments);
  const calibrate::Catalogue catalogue{DataStore(arguments.data)};

  reports::Head head;
  head.command = "list";
  head.version = FORETRAIN_VERSION;
  const Json items = listing_json(kind, catalogue);
  const auto json = [&] {
    Json result = reports::result_json(head);
    result[kind] = items;
    return reports::json_text(result);
  };
  deliver(arguments, {[&] { return listing_text(kind, catalogue); }, json,
                      [&] { return listing_table(items).csv(); }, [&] { return listing_table(items).markdown(); }});
  return ExitCode::done;
}

}  // namespace foretrain::cli
