// Document: a scenario's JSON in which some values were replaced, each with the place it came from.
//
// --set and options change the JSON before it is read, so that one reader checks everything; a message about
// a changed value names the --set or the option, not a place in the file that says something else.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace foretrain::scenarios {

class Document {
 public:
  // `json` is an object.
  Document(const Json& json, std::string source);
  ~Document();
  Document(const Document& other);
  Document(Document&& other) noexcept;
  Document& operator=(const Document& other);
  Document& operator=(Document&& other) noexcept;

  // The value at a dotted path ("training.micro_batch"; "" is the whole), if it is there. Throws Error when
  // something on the way is no object. Views live as long as the document stays unchanged.
  [[nodiscard]] std::optional<JsonView> find(std::string_view path) const;
  // The place of the value, or where it would stand in the file, as messages show it.
  [[nodiscard]] std::string where(std::string_view path) const;
  // Whether the value at `path` was replaced by set().
  [[nodiscard]] bool is_changed(std::string_view path) const { return changed_.find(path) != changed_.end(); }
  [[noreturn]] void fail(std::string_view path, const std::string& what, const std::string& hint = "") const;

  // Puts a copy of `value` at `path`; its source and pointer are from now on the place of that path.
  // Objects on the way are made; throws Error when something on the way is no object.
  void set(const std::string& path, const JsonView& value);
  // Removes the value and everything inside it, if it is there.
  void erase(const std::string& path);

 private:
  struct Place {
    std::string source, pointer;
  };
  std::unique_ptr<Json> json_;
  std::string source_;
  std::map<std::string, Place, std::less<>> changed_;  // by dotted path
};

}  // namespace foretrain::scenarios
