#include "internals.hpp"

namespace svc {
namespace {

// An explicit instantiation may name a private member; the friend function then gives it to everybody else.
template <typename Tag, typename Tag::Member member> struct Reach {
    friend typename Tag::Member reach(Tag) { return member; }
};

#define REACH(Tag, Class, Type, name)              \
    struct Tag {                                   \
        using Member = Type Class::*;              \
        friend Member reach(Tag);                  \
    };                                             \
    template struct Reach<Tag, &Class::name>;

REACH(Memory, llama_context, llama_memory_ptr, memory)
REACH(Settings, llama_context, llama_cparams, cparams)
REACH(Graph, llama_context, llm_graph_result *, gf_res_prev_active)
REACH(Heads, llama_kv_cache, std::vector<uint32_t>, v_heads)
REACH(Cells, llama_kv_cache, std::shared_ptr<llama_kv_cells_vec>, v_cells_impl)
REACH(Streams, llama_kv_cache, std::vector<uint32_t>, seq_to_stream)
REACH(StreamCount, llama_kv_cache, const uint32_t, n_stream)
REACH(Holders, llama_kv_cells, std::vector<llama_kv_cells::seq_set_t>, seq)

} // namespace

llama_memory_ptr & memory_of(llama_context & context) { return context.*reach(Memory{}); }
llama_cparams & settings_of(llama_context & context) { return context.*reach(Settings{}); }

bool is_as_said(llama_context & context) {
    const llama_cparams & settings = settings_of(context);
    return memory_of(context).get() == llama_get_memory(&context) && settings.n_ctx == llama_n_ctx(&context) &&
           settings.n_ctx_seq == llama_n_ctx_seq(&context) && settings.n_seq_max == llama_n_seq_max(&context) &&
           settings.n_batch == llama_n_batch(&context) && settings.n_ubatch == llama_n_ubatch(&context);
}

llm_graph_result *& graph_of(llama_context & context) { return context.*reach(Graph{}); }
std::vector<uint32_t> & heads_of(llama_kv_cache & cache) { return cache.*reach(Heads{}); }
llama_kv_cells_vec & cells_of(llama_kv_cache & cache) { return *(cache.*reach(Cells{})); }
std::vector<uint32_t> & streams_of(llama_kv_cache & cache) { return cache.*reach(Streams{}); }
uint32_t & stream_count_of(llama_kv_cache & cache) { return const_cast<uint32_t &>(cache.*reach(StreamCount{})); }
std::vector<llama_kv_cells::seq_set_t> & holders_of(llama_kv_cells & cells) { return cells.*reach(Holders{}); }

} // namespace svc
