// Inherit: a device or stack described as "like" another, with what it says itself laid over it.
#pragma once

#include "base/json.h"

namespace foretrain::calibrate {

// `child` laid over `parent` (RFC 7396: objects member by member, the rest as a whole), both with their own
// "like" resolved or gone. What the child takes over of measured or fitted numbers is known less well on it: by
// the child's "transfer_spread" (added in quadrature), with a source that names the parent, and as an assumption
// where the chip is another. Groups to which the child gives a "relative_spread" are its own.
[[nodiscard]] Json inherit(const Json& parent, const JsonView& child);

}  // namespace foretrain::calibrate
