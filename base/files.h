// Files: reading whole inputs with a size limit and writing whole outputs or nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace foretrain {

// The text of `path` ("-" is stdin). Throws Error for a missing file, a directory, an unreadable file
// or more than `limit` bytes.
[[nodiscard]] std::string read_file(const std::string& path, std::size_t limit = std::size_t{64} << 20);

// Writes beside `path` and renames, so that a reader never sees half a file; a failure leaves the old file.
// "-" is stdout; devices and pipes are written in place. Throws Error.
void write_file(const std::string& path, std::string_view text);

// Throws the Error that write_file would, without touching `path`: called before long work starts.
void check_writable(const std::string& path);

// FNV-1a of `text` as 16 hex digits: the input digest of results.
[[nodiscard]] std::string digest(std::string_view text);

}  // namespace foretrain
