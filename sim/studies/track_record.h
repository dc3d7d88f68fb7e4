// Which part of foretrain's own track record speaks of a run.
#pragma once

#include <optional>

#include "calibrate/catalogue.h"
#include "sim/studies/run.h"

namespace foretrain::sim::studies {

// Of published curves on the same kind of cluster; nothing for one GPU.
[[nodiscard]] std::optional<calibrate::TrackRecord> track_record_of(const Run& run,
                                                                    const calibrate::Catalogue& catalogue);

}  // namespace foretrain::sim::studies
