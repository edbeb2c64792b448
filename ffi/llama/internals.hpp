// Private members of llama.cpp's classes for which it has no public call. Their offsets are those of the headers that the
// libraries were built from.
#pragma once

#include "llama-context.h"
#include "llama-kv-cache.h"

#include <cstdint>
#include <vector>

namespace svc {

llama_memory_ptr & memory_of(llama_context & context);
llama_cparams & settings_of(llama_context & context);
// Returns whether these two members are where the headers say.
bool is_as_said(llama_context & context);
// The graph that the next computation may reuse, or null.
llm_graph_result *& graph_of(llama_context & context);

// Where the search for the next free cell of each stream begins.
std::vector<uint32_t> & heads_of(llama_kv_cache & cache);
// The cells of each stream.
llama_kv_cells_vec & cells_of(llama_kv_cache & cache);
// The stream of each sequence.
std::vector<uint32_t> & streams_of(llama_kv_cache & cache);
// 1 in a unified cache. The member is const, but no compiler sees both its making and a change of it.
uint32_t & stream_count_of(llama_kv_cache & cache);
// The sequences that hold each cell.
std::vector<llama_kv_cells::seq_set_t> & holders_of(llama_kv_cells & cells);

} // namespace svc
