#include "sim/strategies/parameter_server_layout.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "sim/strategies/local_model.h"
#include "sim/tables.h"

namespace foretrain::sim::strategies {
namespace {

void add_to(Server& server, const std::vector<Variable>& variables, std::size_t variable) {
  server.variables.push_back(variable);
  server.elements += variables[variable].elements;
}

std::vector<Server> one_after_the_other(const std::vector<Variable>& variables, const std::vector<int>& server_nodes) {
  std::vector<Server> servers;
  for (std::size_t i = 0; i < server_nodes.size(); ++i) {
    servers.push_back({fmt::format("server {}", i + 1), {server_nodes[i]}, {}, 0});
  }
  for (std::size_t v = 0; v < variables.size(); ++v) add_to(servers[v % servers.size()], variables, v);
  const auto idle = [](const Server& server) { return server.variables.empty(); };
  servers.erase(std::remove_if(servers.begin(), servers.end(), idle), servers.end());
  return servers;
}

void merge_all_but_fullest(std::vector<Server>& servers) {
  if (servers.size() <= most_single_servers) return;
  std::stable_sort(servers.begin(), servers.end(),
                   [](const Server& a, const Server& b) { return a.elements > b.elements; });
  Server others{"other servers", {}, {}, 0};
  for (std::size_t s = most_single_servers; s < servers.size(); ++s) {
    others.nodes.insert(others.nodes.end(), servers[s].nodes.begin(), servers[s].nodes.end());
    others.variables.insert(others.variables.end(), servers[s].variables.begin(), servers[s].variables.end());
    others.elements += servers[s].elements;
  }
  std::sort(others.variables.begin(), others.variables.end());
  servers.resize(most_single_servers);
  servers.push_back(std::move(others));
}

void append_parcels(const std::vector<Variable>& variables, const Server& server, std::size_t index, double enough,
                    std::vector<Parcel>& parcels) {
  Parcel open;
  double largest = 0;
  for (std::size_t v = server.variables.size(); v-- > 0;) {
    const Variable& variable = variables[server.variables[v]];
    if (variable.elements > largest) open.largest = variable.name, largest = variable.elements;
    open.server = index;
    open.elements += variable.elements;
    open.first_use = variable.used_by;
    ++open.variables;
    if (open.elements < enough && v > 0) continue;
    parcels.push_back(std::move(open));
    open = {};
    largest = 0;
  }
}

}  // namespace

std::vector<Variable> variables_of(const models::Model& model, const Plan& plan) {
  const std::vector<const models::Operator*> operators = flat_operators(model);
  std::vector<Variable> variables;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (spreads_tables(plan) && operators[i]->often_sharded) continue;
    for (const models::ParameterTensor& tensor : operators[i]->parameters) {
      variables.push_back({operators[i]->name + " " + tensor.name, static_cast<double>(tensor.elements()), i});
    }
  }
  return variables;
}

std::vector<Server> place_variables(const std::vector<Variable>& variables, const std::vector<int>& server_nodes,
                                    bool sharded) {
  assert(!server_nodes.empty());
  std::vector<Server> servers;
  if (sharded || server_nodes.size() == 1) {
    servers.push_back({server_nodes.size() == 1 ? "the server" : "all servers", server_nodes, {}, 0});
    for (std::size_t v = 0; v < variables.size(); ++v) add_to(servers.front(), variables, v);
  } else {
    servers = one_after_the_other(variables, server_nodes);
    merge_all_but_fullest(servers);
  }
  return servers;
}

std::vector<Parcel> parcels_of(const std::vector<Variable>& variables, const std::vector<Server>& servers) {
  double elements = 0;
  for (const Variable& variable : variables) elements += variable.elements;
  std::vector<Parcel> parcels;
  for (std::size_t s = 0; s < servers.size(); ++s) {
    append_parcels(variables, servers[s], s, elements / most_parcels, parcels);
  }
  std::stable_sort(parcels.begin(), parcels.end(),
                   [](const Parcel& a, const Parcel& b) { return a.first_use > b.first_use; });
  return parcels;
}

}  // namespace foretrain::sim::strategies
