#include "scenarios/document.h"

#include <iterator>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace foretrain::scenarios {
namespace {

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    parts.emplace_back(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return parts;
}

}  // namespace

Document::Document(const Json& json, std::string source)
    : json_(std::make_unique<Json>(json)), source_(std::move(source)) {}
Document::~Document() = default;
Document::Document(const Document& other)
    : json_(std::make_unique<Json>(*other.json_)), source_(other.source_), changed_(other.changed_) {}
Document::Document(Document&& other) noexcept = default;
Document& Document::operator=(const Document& other) { return *this = Document(other); }
Document& Document::operator=(Document&& other) noexcept = default;

std::optional<JsonView> Document::find(std::string_view path) const {
  JsonView view(*json_, source_);
  for (const std::string& part : parts_of(path)) {
    const std::optional<JsonView> member = view.find(part);
    if (!member) return std::nullopt;
    view = *member;
  }
  if (const auto changed = changed_.find(path); changed != changed_.end()) {
    return JsonView(view.json(), changed->second.source, changed->second.pointer);
  }
  return view;
}

std::string Document::where(std::string_view path) const {
  Place place{source_, ""};
  if (const auto changed = changed_.find(path); changed != changed_.end()) {
    place = changed->second;
  } else {
    for (const std::string& part : parts_of(path)) place.pointer += "/" + part;
  }
  return JsonView(*json_, place.source, place.pointer).where();
}

void Document::fail(std::string_view path, const std::string& what, const std::string& hint) const {
  throw Error(what, where(path), hint);
}

void Document::set(const std::string& path, const JsonView& value) {
  const Json copy = value.json();  // `value` may be a view of this document
  const Place place{value.source(), value.pointer()};
  static_cast<void>(find(path));  // throws when something on the way is no object
  Json* at = json_.get();
  for (const std::string& part : parts_of(path)) {
    if (at->is_null()) *at = Json::object();
    at = &(*at)[part];
  }
  *at = copy;
  changed_[path] = place;
}

void Document::erase(const std::string& path) {
  Json* at = json_.get();
  std::vector<std::string> parts = parts_of(path);
  const std::string last = parts.back();
  parts.pop_back();
  for (const std::string& part : parts) {
    if (!at->is_object() || !at->contains(part)) return;
    at = &(*at)[part];
  }
  if (at->is_object()) at->erase(last);
  for (auto changed = changed_.begin(); changed != changed_.end();) {
    const bool inside = changed->first == path || changed->first.rfind(path + ".", 0) == 0;
    changed = inside ? changed_.erase(changed) : std::next(changed);
  }
}

}  // namespace foretrain::scenarios
