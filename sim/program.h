// Rank programs: what one rank does in one step, as activities on streams.
//
// A strategy writes one program per *rank class* (data parallelism has one; a pipeline has one per
// stage). Activities on one stream run in order; an activity also waits for the ones it names. The host
// is a stream like any other: a kernel waits for its launch. Collectives name a communicator of the
// program, never ranks; the placement says who is in it. Activities may allocate and free memory, so
// that the peak is read off the timeline.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameter.h"
#include "base/units.h"
#include "calibrate/collective_profile.h"

namespace foretrain::sim {

enum class StreamKind : std::uint8_t { host, compute, communication, input };

// What an activity's time is called in the breakdown of a step.
// clang-format off
enum class Category : std::uint8_t {
  forward, backward, recompute, optimizer, compression, communication, launch, input, other
};
// clang-format on
[[nodiscard]] const char* to_string(Category category);

struct Stream {
  std::string name;  // "compute", "host", "data-parallel communication", "input"
  StreamKind kind = StreamKind::compute;
};

using ActivityIndex = std::uint32_t;

// A share of the time of an activity that stands for many (a pipeline stage's whole forward pass of a micro-batch): what
// was being done, and what its time rests on. Collectives that the work waits for are parts too; they take their time
// without contention from elsewhere (sim/strategies/chunk.h).
struct Part {
  Category category = Category::other;
  calibrate::CollectiveKind collective = calibrate::CollectiveKind::all_reduce;  // of Category::communication
  ParameterId parameter;
  double seconds = 0;
};
using Mixture = std::vector<Part>;
inline constexpr std::uint32_t no_mixture = 0xffffffffu;

struct Activity {
  std::uint32_t label = 0;  // index into Program::labels
  std::uint16_t stream = 0;
  Category category = Category::other;
  bool is_collective = false;
  Duration duration;  // of a timed activity; unused for a collective
  // Index into Program::mixtures of a timed activity that stands for many: then `duration` is the sum of its parts, its
  // parameter that of the largest, and draws, critical path and breakdown go by the parts. On a compute stream a rank's
  // stretch applies to all parts but communication.
  std::uint32_t mixture = no_mixture;

  // Collectives: every member's k-th collective on the communicator belongs together.
  std::uint16_t communicator = 0;  // index into Program::communicators
  calibrate::CollectiveKind collective = calibrate::CollectiveKind::all_reduce;
  Bytes bytes;  // as nccl-tests counts: the buffer of one rank (all-reduce), the whole buffer (gather, scatter);
                // what one client sends or receives (push, pull), what all servers read and write (update)

  std::uint32_t first_dependency = 0;  // range in Program::dependencies
  std::uint32_t dependency_count = 0;
  double allocates_bytes = 0;  // when it starts
  double frees_bytes = 0;      // when it finishes
};

struct Program {
  std::string rank_class;
  std::vector<Stream> streams;
  std::vector<std::string> communicators;  // "data", "tensor", …: names that the placement knows
  std::vector<std::string> labels;
  std::vector<Mixture> mixtures;
  std::vector<Activity> activities;  // an activity may only wait for earlier ones
  std::vector<ActivityIndex> dependencies;
  double resident_bytes = 0;                    // memory held through the whole step
  double compute_rate_while_communicating = 1;  // compute streams run at this rate while the rank communicates

  std::uint16_t add_stream(std::string name, StreamKind kind);
  std::uint16_t add_communicator(std::string name);  // or finds it
  std::uint32_t add_label(std::string label);
  // A kind of activity that stands for many; the same for every activity made of it.
  std::uint32_t add_mixture(Mixture mixture);
  // Appends a timed activity / one made of a mixture / a collective that waits for `waits_for`.
  ActivityIndex add_timed(std::uint16_t stream, Category category, std::uint32_t label, Duration duration,
                          const std::vector<ActivityIndex>& waits_for = {});
  ActivityIndex add_mixed(std::uint16_t stream, Category category, std::uint32_t label, std::uint32_t mixture,
                          const std::vector<ActivityIndex>& waits_for = {});
  ActivityIndex add_collective(std::uint16_t stream, std::uint16_t communicator, calibrate::CollectiveKind kind,
                               Bytes bytes, std::uint32_t label, const std::vector<ActivityIndex>& waits_for = {});
};

}  // namespace foretrain::sim
