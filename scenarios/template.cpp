#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "scenarios/describe.h"
#include "scenarios/fields.h"

namespace foretrain::scenarios {
namespace {

constexpr std::size_t line_width = 100;

// One member of an object with its comment; a commented-out one is there to be uncommented.
struct Member {
  std::string comment, key, value;
  bool active = true;
};

// `text` as // lines.
std::string comment_lines(const std::string& text, const std::string& indent) {
  std::string lines, line = indent + "//";
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (display_width(line) + 1 + display_width(word) > line_width) {
      lines += line + "\n";
      line = indent + "//";
    }
    line += " " + word;
    start = end + 1;
  }
  return lines + line + "\n";
}

std::string written(const std::vector<Member>& members, const std::string& indent) {
  std::size_t last_active = 0;  // every section shows at least one key
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].active) last_active = i;
  }
  std::string text;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const Member& member = members[i];
    text += comment_lines(member.comment, indent);
    // A comma stands where any line may lose its "// " and the whole stays JSON.
    text += fmt::format("{}{}{}\"{}\": {}{}\n", indent, member.active ? "" : "// ", i > last_active ? ", " : "",
                        member.key, member.value, i < last_active ? "," : "");
  }
  return text;
}

std::string comment_of(const FieldInfo& field) {
  std::string comment = field.doc;
  if (!field.unit.empty()) comment += " Unit: " + field.unit + ".";
  if (!field.choices.empty()) comment += " One of: " + joined(field.choices) + ".";
  return comment;
}

template <class Owner>
std::vector<Member> members_of(const std::vector<Field<Owner>>& fields, const std::string& section) {
  std::vector<Member> members;
  for (const auto& field : fields) {
    if (section_of(field.path) != section || key_of(field.path) == "*" || field.path == "$schema") continue;
    members.push_back({comment_of(field), key_of(field.path), field.example, field.shown});
  }
  return members;
}

}  // namespace

std::string scenario_template() {
  std::vector<Member> top;
  for (const Section& section : sections()) {
    if (section.path == "measured[]" || section.path == "stack.options") continue;
    if (section.path.empty()) {
      top = members_of(scenario_fields(), "");
      continue;
    }
    std::vector<Member> members = members_of(scenario_fields(), section.path);
    if (section.path == "stack") {
      members.push_back(
          {"Values of the stack that this run changes.", "options", R"({"bucket_bytes": 52428800})", false});
    }
    top.push_back({section.doc, section.path, "{\n" + written(members, "    ") + "  }", true});
  }
  top.push_back({"Steps you measured, if any: a rank's own work is then anchored to them. Replace the number.",
                 "measured", R"([{"gpus": 1, "step_seconds": 0.31}])", false});
  top.push_back(
      {"What `foretrain decide` compares with: this scenario with these keys changed; a list is one option each.",
       "options", R"([{"cluster.machine": "Standard_NC96ads_A100_v4", "cluster.gpus": [4, 8]}])", true});
  return "{\n" + written(top, "  ") + "}\n";
}

}  // namespace foretrain::scenarios
