#include "sim/colour_refinement.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace foretrain::sim {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection whose output bits all depend on all input bits.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct Neighbour {
  std::uint32_t vertex = 0;
  std::uint32_t label = 1;
};

struct Adjacency {
  std::vector<std::size_t> first;  // by vertex, and one more
  std::vector<Neighbour> neighbours;
};

// Cells as consecutive ranges of one permutation of the vertices.
class Partition {
 public:
  explicit Partition(const std::vector<std::uint64_t>& colours);

  // Splits the cells of `touched` by signature (untouched vertices form a part of their own) and returns the
  // vertices of all new parts; the largest part of each cell keeps the cell.
  std::vector<std::uint32_t> split(std::vector<std::uint32_t>& touched, const std::vector<std::uint64_t>& signature);

  [[nodiscard]] std::uint32_t cell(std::uint32_t vertex) const { return cell_[vertex]; }
  [[nodiscard]] const std::vector<std::uint32_t>& all() const { return order_; }
  [[nodiscard]] std::vector<std::uint32_t> numbered_by_first_vertex() const;

 private:
  struct Cell {
    std::size_t begin = 0, end = 0;
  };
  void swap_into(std::size_t place, std::uint32_t vertex);
  void split_cell(std::uint32_t cell, const std::vector<std::size_t>& part_begins, std::vector<std::uint32_t>& fresh);

  std::vector<std::uint32_t> order_;  // permutation
  std::vector<std::size_t> place_;    // of each vertex in order_
  std::vector<std::uint32_t> cell_;
  std::vector<Cell> cells_;
};

Partition::Partition(const std::vector<std::uint64_t>& colours) : place_(colours.size()), cell_(colours.size()) {
  for (std::uint32_t v = 0; v < colours.size(); ++v) order_.push_back(v);
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return colours[a] != colours[b] ? colours[a] < colours[b] : a < b;
  });
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i == 0 || colours[order_[i]] != colours[order_[i - 1]]) cells_.push_back({i, i});
    cells_.back().end = i + 1;
    place_[order_[i]] = i;
    cell_[order_[i]] = static_cast<std::uint32_t>(cells_.size() - 1);
  }
}

void Partition::swap_into(std::size_t place, std::uint32_t vertex) {
  const std::uint32_t other = order_[place];
  std::swap(order_[place], order_[place_[vertex]]);
  place_[other] = place_[vertex];
  place_[vertex] = place;
}

std::vector<std::uint32_t> Partition::split(std::vector<std::uint32_t>& touched,
                                            const std::vector<std::uint64_t>& signature) {
  std::sort(touched.begin(), touched.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (cell_[a] != cell_[b]) return cell_[a] < cell_[b];
    return signature[a] != signature[b] ? signature[a] < signature[b] : a < b;
  });
  std::vector<std::uint32_t> fresh;
  std::vector<std::size_t> part_begins;
  for (std::size_t i = 0; i < touched.size();) {
    const std::uint32_t cell = cell_[touched[i]];
    std::size_t end = i;
    while (end < touched.size() && cell_[touched[end]] == cell) ++end;
    // The touched vertices go to the back of the cell's range, part after part.
    const std::size_t back = cells_[cell].end - (end - i);
    part_begins.clear();
    if (back > cells_[cell].begin) part_begins.push_back(cells_[cell].begin);
    for (std::size_t k = i; k < end; ++k) {
      if (k == i || signature[touched[k]] != signature[touched[k - 1]]) part_begins.push_back(back + (k - i));
      swap_into(back + (k - i), touched[k]);
    }
    if (part_begins.size() > 1) split_cell(cell, part_begins, fresh);
    i = end;
  }
  return fresh;
}

void Partition::split_cell(std::uint32_t cell, const std::vector<std::size_t>& part_begins,
                           std::vector<std::uint32_t>& fresh) {
  const std::size_t end = cells_[cell].end;
  const auto part = [&](std::size_t p) {
    return Cell{part_begins[p], p + 1 < part_begins.size() ? part_begins[p + 1] : end};
  };
  std::size_t largest = 0;
  for (std::size_t p = 1; p < part_begins.size(); ++p) {
    if (part(p).end - part(p).begin > part(largest).end - part(largest).begin) largest = p;
  }
  for (std::size_t p = 0; p < part_begins.size(); ++p) {
    if (p == largest) continue;
    for (std::size_t i = part(p).begin; i < part(p).end; ++i) {
      cell_[order_[i]] = static_cast<std::uint32_t>(cells_.size());
      fresh.push_back(order_[i]);
    }
    cells_.push_back(part(p));
  }
  cells_[cell] = part(largest);
}

std::vector<std::uint32_t> Partition::numbered_by_first_vertex() const {
  constexpr std::uint32_t none = 0xffffffffu;
  std::vector<std::uint32_t> number(cells_.size(), none);
  std::vector<std::uint32_t> result(cell_.size());
  std::uint32_t next = 0;
  for (std::size_t v = 0; v < cell_.size(); ++v) {
    if (number[cell_[v]] == none) number[cell_[v]] = next++;
    result[v] = number[cell_[v]];
  }
  return result;
}

}  // namespace

std::uint32_t ColouredGraph::add_vertex(std::uint64_t colour) {
  colours_.push_back(colour);
  return static_cast<std::uint32_t>(colours_.size() - 1);
}

void ColouredGraph::add_edge(std::uint32_t a, std::uint32_t b, std::uint32_t label) {
  assert(a < colours_.size() && b < colours_.size());
  edges_.push_back({a, b, label});
}

std::vector<std::uint32_t> ColouredGraph::equitable_partition() const {
  Adjacency graph;
  graph.first.assign(colours_.size() + 1, 0);
  for (const Edge& edge : edges_) ++graph.first[edge.a + 1], ++graph.first[edge.b + 1];
  for (std::size_t v = 0; v < colours_.size(); ++v) graph.first[v + 1] += graph.first[v];
  graph.neighbours.resize(2 * edges_.size());
  std::vector<std::size_t> next = graph.first;
  for (const Edge& edge : edges_) {
    graph.neighbours[next[edge.a]++] = {edge.b, edge.label};
    graph.neighbours[next[edge.b]++] = {edge.a, edge.label};
  }

  Partition partition(colours_);
  std::vector<std::uint32_t> fresh = partition.all();
  std::vector<std::uint64_t> signature(colours_.size(), 0);
  std::vector<char> is_touched(colours_.size(), 0);
  std::vector<std::uint32_t> touched;
  while (!fresh.empty()) {
    for (const std::uint32_t v : fresh) {
      const std::uint64_t seen_as = partition.cell(v);
      for (std::size_t n = graph.first[v]; n < graph.first[v + 1]; ++n) {
        const Neighbour& neighbour = graph.neighbours[n];
        if (!is_touched[neighbour.vertex]) touched.push_back(neighbour.vertex);
        is_touched[neighbour.vertex] = 1;
        signature[neighbour.vertex] += mixed(seen_as << 32 | neighbour.label);
      }
    }
    fresh = partition.split(touched, signature);
    for (const std::uint32_t v : touched) signature[v] = 0, is_touched[v] = 0;
    touched.clear();
  }
  return partition.numbered_by_first_vertex();
}

Colour& Colour::add(std::uint64_t value) {
  state_ = mixed(state_ ^ mixed(value));
  return *this;
}

Colour& Colour::add(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return add(bits);
}

}  // namespace foretrain::sim
