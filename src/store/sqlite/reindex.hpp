// Makes the vectors of all items anew.
#pragma once

#include <cstddef>

#include <clew/store.hpp>

#include "checkpoint/sqlite/database.hpp"
#include "store/indexer.hpp"
#include "store/sqlite/item_codec.hpp"

namespace clew::sqlite {

// Returns how many items have vectors now.
std::size_t reindex_items(Database& database, const ItemCodec& codec, const store::Indexer& indexer,
                          const ReindexOptions& options);

// Items that should have a vector of this length (0: of any) and have none.
std::size_t count_missing_vectors(Connection& connection, std::size_t dims);

}  // namespace clew::sqlite
