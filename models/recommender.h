// Recommenders: small dense networks over large tables of embeddings.
//
// The tables of DLRM and Wide & Deep are marked as often sharded and their gradients are sparse: only the rows that
// were looked up. NCF's are ordinary parameters with dense gradients, as its reference trains them.
#pragma once

#include "models/model.h"
#include "models/sizes.h"

namespace foretrain::models {

// DLRM (Naumov et al. 2019, arXiv:1906.00091). Sizes: dense_features; lists table_rows and lookups (one number per
// table); embedding; lists bottom_widths and top_widths (of the layers; the top's last is followed by one output);
// cross_layers, cross_rank (0: products of all pairs of vectors; else the low-rank cross network of DCN v2, Wang et
// al. 2020, arXiv:2008.13535).
void build_dlrm(Model& model, const Sizes& sizes);

// Neural collaborative filtering (He et al. 2017, arXiv:1708.05031). Sizes: users, items, factors (of the matrix
// factorisation), layer_widths (list; the first is twice the width of the tables).
void build_ncf(Model& model, const Sizes& sizes);

// Wide & Deep (Cheng et al. 2016, arXiv:1606.07792). Sizes: dense_features, deep_fields, wide_fields (lookups per
// sample), vocabulary (rows of the deep and of the wide table), embedding, layer_widths (list).
void build_wide_and_deep(Model& model, const Sizes& sizes);

}  // namespace foretrain::models
