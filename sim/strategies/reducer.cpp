#include "sim/strategies/reducer.h"

#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "sim/strategies/ddp.h"

namespace foretrain::sim::strategies {

std::vector<ActivityIndex> Reducer::before_forward(std::size_t /*index*/) { return {}; }

std::vector<Communicator> everyone(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return {{"data", {all}}};
}

std::unique_ptr<Reducer> make_reducer(StepWriter& writer) {
  const calibrate::Stack& stack = writer.input().stack;
  if (stack.reducer == "ddp") return std::make_unique<DdpReducer>(writer);
  throw Error("stack " + quoted(stack.name) + " reduces gradients by " + quoted(stack.reducer) +
                  ", which is not supported yet by this version",
              "/stack/name", "use a stack whose reducer is \"ddp\", such as pytorch-ddp");
}

}  // namespace foretrain::sim::strategies
