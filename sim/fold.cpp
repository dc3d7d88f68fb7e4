#include "sim/fold.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <string>

#include "sim/colour_refinement.h"

namespace foretrain::sim {
namespace {

constexpr std::uint32_t none = 0xffffffffu;

// What a vertex is, so that no rank looks like a link.
enum class Thing : std::uint64_t { rank, group, flow, link };

Colour colour_of(Thing thing) { return Colour().add(static_cast<std::uint64_t>(thing)); }

std::uint64_t colour(const RankInstance& rank) {
  return colour_of(Thing::rank).add(std::uint64_t{rank.program}).add(rank.stretch).value();
}

std::uint64_t colour(const GroupShape& shape, std::uint32_t communicator) {
  Colour result = colour_of(Thing::group).add(std::uint64_t{communicator});
  for (const int count : {shape.ranks, shape.nodes, shape.ranks_per_node, shape.nics, int{shape.over_pcie}}) {
    result.add(static_cast<std::uint64_t>(count));
  }
  result.add(shape.rank_rate.value).add(shape.node_rate.value);
  result.add(std::uint64_t{shape.rank_parameter.index}).add(std::uint64_t{shape.node_parameter.index});
  result.add(std::uint64_t{shape.servers}).add(shape.exchange_rate.value).add(shape.update_rate.value);
  result.add(std::uint64_t{shape.exchange_parameter.index}).add(std::uint64_t{shape.update_parameter.index});
  return result.value();
}

std::uint64_t colour(const FlowTemplate& flow) {
  const std::uint64_t only_for = flow.only_for ? 1 + static_cast<std::uint64_t>(*flow.only_for) : 0;
  return colour_of(Thing::flow).add(std::uint64_t{flow.between_nodes}).add(flow.share).add(only_for).value();
}

std::uint64_t colour(const Link& link) {
  return colour_of(Thing::link)
      .add(std::uint64_t{link.kind})
      .add(link.capacity.value)
      .add(std::uint64_t{link.parameter.index})
      .value();
}

// The job as one graph: ranks in groups, flows of groups, flows over links. Vertices: ranks, groups, flows
// (group after group), then the links that flows cross.
class JobCells {
 public:
  explicit JobCells(const Job& job);

  [[nodiscard]] std::uint32_t rank(std::size_t instance) const { return cell_[instance]; }
  [[nodiscard]] std::uint32_t group(std::size_t group) const { return cell_[first_group_ + group]; }
  [[nodiscard]] std::uint32_t flow(std::size_t group, std::size_t flow) const {
    return cell_[first_flow_[group] + flow];
  }
  [[nodiscard]] std::uint32_t link(std::size_t link) const { return cell_[link_vertex_[link]]; }
  [[nodiscard]] std::uint32_t size(std::uint32_t cell) const { return size_[cell]; }

 private:
  void add_members(const Job& job, ColouredGraph& graph);
  void add_flows(const Job& job, ColouredGraph& graph);

  std::size_t first_group_ = 0;
  std::vector<std::size_t> first_flow_;     // by group
  std::vector<std::uint32_t> link_vertex_;  // by link; none = crossed by no flow
  std::vector<std::uint32_t> cell_, size_;
};

JobCells::JobCells(const Job& job) : first_group_(job.instances.size()), link_vertex_(job.links.size(), none) {
  ColouredGraph graph;
  for (const RankInstance& instance : job.instances) graph.add_vertex(colour(instance));
  add_members(job, graph);
  add_flows(job, graph);
  cell_ = graph.equitable_partition();
  for (const std::uint32_t cell : cell_) {
    if (cell == size_.size()) size_.push_back(0);
    ++size_[cell];
  }
}

void JobCells::add_members(const Job& job, ColouredGraph& graph) {
  std::map<std::string, std::uint32_t> communicators;
  for (const Group& group : job.groups) {
    const auto name = communicators.try_emplace(group.communicator, static_cast<std::uint32_t>(communicators.size()));
    const std::uint32_t vertex = graph.add_vertex(colour(group.shape, name.first->second));
    for (const std::uint32_t member : group.members) graph.add_edge(member, vertex);
  }
}

void JobCells::add_flows(const Job& job, ColouredGraph& graph) {
  std::vector<std::uint32_t> flows;
  for (std::size_t g = 0; g < job.groups.size(); ++g) {
    for (const FlowTemplate& flow : job.groups[g].flows) {
      const std::uint32_t vertex = graph.add_vertex(colour(flow));
      if (&flow == &job.groups[g].flows.front()) first_flow_.push_back(vertex);
      graph.add_edge(static_cast<std::uint32_t>(first_group_ + g), vertex);
      flows.push_back(vertex);
    }
    if (job.groups[g].flows.empty()) first_flow_.push_back(none);
  }
  auto vertex = flows.begin();
  for (const Group& group : job.groups) {
    for (const FlowTemplate& flow : group.flows) {
      for (const LinkUse& use : flow.route) {
        if (link_vertex_[use.link] == none) link_vertex_[use.link] = graph.add_vertex(colour(job.links[use.link]));
        graph.add_edge(*vertex, link_vertex_[use.link], use.weight);
      }
      ++vertex;
    }
  }
}

// Numbers cells in the order in which they are first asked for.
class Numbering {
 public:
  std::uint32_t operator()(std::uint32_t cell) {
    return number_.try_emplace(cell, static_cast<std::uint32_t>(number_.size())).first->second;
  }
  [[nodiscard]] std::size_t size() const { return number_.size(); }

 private:
  std::map<std::uint32_t, std::uint32_t> number_;
};

class Folder {
 public:
  explicit Folder(const Job& job) : job_(job), cells_(job) {}

  Job folded() {
    add_instances();
    add_groups();
    for (RankInstance& instance : result_.instances) {
      for (std::uint32_t& group : instance.group_of_communicator) {
        if (group != no_group) group = group_number_(cells_.group(group));
      }
    }
    result_.link_kinds = job_.link_kinds;
    result_.folded = true;
    result_.ranks = job_.ranks;
    return std::move(result_);
  }

 private:
  void add_instances() {
    for (std::size_t i = 0; i < job_.instances.size(); ++i) {
      assert(job_.instances[i].represents == 1);
      const std::uint32_t cell = cells_.rank(i);
      if (rank_number_(cell) < result_.instances.size()) continue;
      result_.instances.push_back(job_.instances[i]);
      result_.instances.back().represents = static_cast<int>(cells_.size(cell));
    }
  }

  void add_groups() {
    for (std::size_t g = 0; g < job_.groups.size(); ++g) {
      if (group_number_(cells_.group(g)) < result_.groups.size()) continue;
      const Group& group = job_.groups[g];
      Group folded;
      folded.communicator = group.communicator;
      folded.shape = group.shape;
      for (const std::uint32_t member : group.members) folded.members.push_back(rank_number_(cells_.rank(member)));
      std::sort(folded.members.begin(), folded.members.end());
      folded.members.erase(std::unique(folded.members.begin(), folded.members.end()), folded.members.end());
      Numbering flow_number;
      for (std::size_t f = 0; f < group.flows.size(); ++f) {
        if (flow_number(cells_.flow(g, f)) == folded.flows.size()) folded.flows.push_back(folded_flow(g, f));
      }
      result_.groups.push_back(std::move(folded));
    }
  }

  // A link of cell L is crossed by |F|·m/|L| flows of cell F when each of those crosses m links of L.
  FlowTemplate folded_flow(std::size_t g, std::size_t f) {
    const FlowTemplate& flow = job_.groups[g].flows[f];
    const std::uint64_t flows = cells_.size(cells_.flow(g, f));
    std::map<std::uint32_t, std::uint64_t> crossed;  // weight by number of link
    for (const LinkUse& use : flow.route) crossed[link_number(use.link)] += use.weight;
    FlowTemplate folded = flow;
    folded.route.clear();
    for (const auto& [link, weight] : crossed) {
      assert(flows * weight % link_size_[link] == 0);
      folded.route.push_back({link, static_cast<std::uint32_t>(flows * weight / link_size_[link])});
    }
    return folded;
  }

  std::uint32_t link_number(std::uint32_t link) {
    const std::uint32_t number = link_number_(cells_.link(link));
    if (number == result_.links.size()) {
      result_.links.push_back(job_.links[link]);
      link_size_.push_back(cells_.size(cells_.link(link)));
    }
    return number;
  }

  const Job& job_;
  JobCells cells_;
  Job result_;
  Numbering rank_number_, group_number_, link_number_;
  std::vector<std::uint64_t> link_size_;  // by number: links of the cell
};

}  // namespace

Job fold(Job every_rank) {
  Job folded = Folder(every_rank).folded();
  folded.programs = std::move(every_rank.programs);
  return folded;
}

}  // namespace foretrain::sim
