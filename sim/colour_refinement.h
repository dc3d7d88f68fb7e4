// Colour refinement: the coarsest equitable partition of a graph that respects given colours.
//
// In an equitable partition every vertex of a cell has equally many neighbours, by edge label, in each
// cell. Splits cells by what their vertices see until nothing changes; of a split cell all but the largest
// part are looked at again (Hopcroft's rule), so the work is O((vertices + edges) · log(vertices)) plus
// sorting. Neighbourhoods are compared by 64-bit hashes of multisets.
#pragma once

#include <cstdint>
#include <vector>

namespace foretrain::sim {

class ColouredGraph {
 public:
  // Vertices are numbered in the order in which they are added; equal colours may end up in one cell.
  std::uint32_t add_vertex(std::uint64_t colour);
  void add_edge(std::uint32_t a, std::uint32_t b, std::uint32_t label = 1);

  // The cell of each vertex; cells are numbered in the order of their first vertices.
  [[nodiscard]] std::vector<std::uint32_t> equitable_partition() const;

 private:
  struct Edge {
    std::uint32_t a = 0, b = 0, label = 1;
  };
  std::vector<std::uint64_t> colours_;
  std::vector<Edge> edges_;
};

// Mixes values into one well-spread 64-bit colour; order counts.
class Colour {
 public:
  Colour& add(std::uint64_t value);
  Colour& add(double value);
  [[nodiscard]] std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace foretrain::sim
