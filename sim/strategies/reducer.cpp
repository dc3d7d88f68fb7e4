#include "sim/strategies/reducer.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "sim/stack_choice.h"
#include "sim/strategies/bucketed.h"
#include "sim/strategies/compression.h"
#include "sim/strategies/horovod.h"
#include "sim/strategies/local_sgd.h"
#include "sim/strategies/parameter_server.h"
#include "sim/strategies/sharded.h"

namespace foretrain::sim::strategies {
namespace {

using Pointer = std::unique_ptr<Reducer>;

Pointer mirrored(StepWriter& writer) {
  if (writer.input().cluster.nodes > 1) {
    throw Error(
        "MirroredStrategy works inside one node, and the job has " + std::to_string(writer.input().cluster.nodes),
        "/stack/reducer", "use multi_worker_mirrored over several nodes");
  }
  return std::make_unique<BucketedReducer>(writer, tensorflow_limits(writer.input().stack));
}

struct KnownReducer {
  const char* name;
  Pointer (*make)(StepWriter& writer);
  bool compresses = true;  // takes any compression of gradients
  bool updates_every_micro_batch = false;
  bool goes_with_model_parallelism = false;  // its ranks may be parts of a copy of the model
};

Pointer parameter_servers(StepWriter& writer) { return std::make_unique<ParameterServerReducer>(writer); }

const std::vector<KnownReducer>& known_reducers() {
  static const std::vector<KnownReducer> known = {
      {"ddp",
       [](StepWriter& writer) -> Pointer {
         return std::make_unique<BucketedReducer>(writer, ddp_limits(writer.input().stack));
       },
       true,
       false,
       true},
      {"horovod", [](StepWriter& writer) -> Pointer { return std::make_unique<HorovodReducer>(writer); }},
      {"mirrored", mirrored},
      {"multi_worker_mirrored",
       [](StepWriter& writer) -> Pointer {
         return std::make_unique<BucketedReducer>(writer, tensorflow_limits(writer.input().stack));
       }},
      {"parameter_server", parameter_servers, false},
      {"kvstore", parameter_servers, false},
      {"local_sgd", [](StepWriter& writer) -> Pointer { return std::make_unique<LocalSgdReducer>(writer); }, false,
       true},
  };
  return known;
}

const KnownReducer& known_reducer(const StackChoice& choice, const calibrate::Stack& stack) {
  const std::string& name = chosen_reducer(choice, stack);
  const auto found = std::find_if(known_reducers().begin(), known_reducers().end(),
                                  [&](const KnownReducer& known) { return known.name == name; });
  if (found != known_reducers().end()) return *found;
  throw Error("unknown way of sharing gradients " + quoted(name) +
                  (choice.reducer.empty() ? " of stack " + quoted(stack.name) : ""),
              "/stack/reducer", name_hint(name, reducer_names()));
}

}  // namespace

std::vector<ActivityIndex> Reducer::before_forward(std::size_t /*index*/) { return {}; }

std::vector<Communicator> everyone(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return {{"data", {all}}};
}

std::vector<std::string> reducer_names() {
  std::vector<std::string> names;
  for (const KnownReducer& known : known_reducers()) names.emplace_back(known.name);
  return names;
}

void require_known_reducer(const StackChoice& choice, const calibrate::Stack& stack) {
  require_known_compression(choice.compression);
  const KnownReducer& reducer = known_reducer(choice, stack);
  if (reducer.compresses || choice.compression == "none") return;
  throw Error(std::string("reducer ") + reducer.name + " has no gradients to compress by " + choice.compression,
              "/stack/compression", "set stack.compression to \"none\"");
}

bool updates_every_micro_batch(const StackChoice& choice, const calibrate::Stack& stack) {
  return known_reducer(choice, stack).updates_every_micro_batch;
}

// Copies of the model that lie over several ranks are averaged part by part, which only some reducers do.
void require_whole_copies(const StepWriter& writer, const KnownReducer& reducer) {
  if (writer.layout().tensor() == 1 && writer.layout().stages() == 1) return;
  const bool levels = writer.stack("hierarchical") != 0;
  if (reducer.goes_with_model_parallelism && !levels) return;
  std::vector<std::string> fitting;
  for (const KnownReducer& known : known_reducers()) {
    if (known.goes_with_model_parallelism) fitting.emplace_back(known.name);
  }
  throw Error(levels ? std::string("hierarchical all-reduce does not go with tensor or pipeline parallelism")
                     : std::string("reducer ") + reducer.name + " does not go with tensor or pipeline parallelism",
              levels ? "/stack/options/hierarchical" : "/stack/reducer",
              levels ? "set it to 0" : "these do: " + joined(fitting));
}

std::unique_ptr<Reducer> make_reducer(StepWriter& writer) {
  const StackChoice& choice = writer.input().scenario.stack;
  require_known_reducer(choice, writer.input().stack);
  if (chosen_sharding(writer.input().scenario.plan, writer.input().stack) != "none") return make_sharded_reducer(writer);
  require_whole_copies(writer, known_reducer(choice, writer.input().stack));
  return known_reducer(choice, writer.input().stack).make(writer);
}

}  // namespace foretrain::sim::strategies
