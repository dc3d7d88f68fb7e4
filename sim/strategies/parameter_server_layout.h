// Layout of parameter servers: which server holds which variable, and which variables travel together.
//
// Variables (the tensors of the model) are placed whole, one server after the other in the order of their creation
// (tf.train.replica_device_setter's default), or spread evenly over all servers (partitioned variables, MXNet's large
// arrays; MXNet leaves arrays below a million elements whole, which is not followed). Of many servers the fullest
// few are kept one by one and the rest as one even group: it is the fullest one that everybody waits for.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/model.h"
#include "sim/scenario.h"

namespace foretrain::sim::strategies {

struct Variable {
  std::string name;
  double elements = 0;
  std::size_t used_by = 0;  // operator, in forward order
};
// In the order of creation. A tied tensor stands with its first user, whose gradient is complete last. Tables that the
// plan spreads over the workers stay with them.
[[nodiscard]] std::vector<Variable> variables_of(const models::Model& model, const Plan& plan);

struct Server {
  std::string name;
  std::vector<int> nodes;              // one, or those of an even group
  std::vector<std::size_t> variables;  // ascending
  double elements = 0;
};
inline constexpr std::size_t most_single_servers = 8;
// Servers that hold something; `server_nodes` has the node of each server.
[[nodiscard]] std::vector<Server> place_variables(const std::vector<Variable>& variables,
                                                  const std::vector<int>& server_nodes, bool sharded);

// Variables of one server, neighbours in the order of the backward pass, that are pushed, updated and pulled at once.
struct Parcel {
  std::size_t server = 0;
  double elements = 0;
  std::size_t variables = 0;
  std::string largest;        // of them
  std::size_t first_use = 0;  // operator: the forward pass needs them from here on, backward is done with them here
};
// In the order in which backward completes them. A parcel ends with the variable that makes it at least
// 1/most_parcels of all elements: there are at most most_parcels of those, and one more per server.
inline constexpr double most_parcels = 64;
[[nodiscard]] std::vector<Parcel> parcels_of(const std::vector<Variable>& variables,
                                             const std::vector<Server>& servers);

}  // namespace foretrain::sim::strategies
