#include "one-region.hpp"

#ifdef __linux__

#include "internals.hpp"
#include "kv-regions.hpp"
#include "paged-memory.hpp"

#include <algorithm>

namespace svc {

OneRegion::OneRegion(llama_context * context, const llama_batch & batch)
    : context(context), cache(plain_cache(context)), regions(regions_of(context)) {
    if (!regions) return;
    members = placed(batch);
    if (members.empty()) return;
    for (const Member & member : members) join(member);
    describe(true);
}

OneRegion::~OneRegion() {
    if (members.empty()) return;
    describe(false);
    for (const Member & member : members) leave(member);
    // The first member's new cells go where the others' were.
    for (auto member = members.rbegin(); member != members.rend(); member++) settle(*member);
    const int32_t first = members.front().sequence;
    regions->keep(first, cells_in(first).get_used());
}

llama_kv_cells & OneRegion::cells_in(int32_t sequence) const { return cells_of(*cache)[static_cast<size_t>(sequence)]; }

// Returns where everything goes in the region; nothing if it is too small, or more is to be copied than computed.
std::vector<OneRegion::Member> OneRegion::placed(const llama_batch & batch) const {
    std::vector<Member> found;
    for (int32_t i = 0; i < batch.n_tokens; i++) {
        const int32_t sequence = *batch.seq_id[i];
        if (i == 0 || sequence != found.back().sequence) {
            found.push_back({sequence, cells_in(sequence).get_used(), 0, 0, static_cast<uint32_t>(i), 0});
        }
        found.back().rows++;
    }
    Member & first = found.front();
    first.shared = first.held;
    uint32_t end = first.held;
    for (auto member = found.begin() + 1; member != found.end(); member++) {
        const int64_t common = std::min<int64_t>(regions->common(first.sequence, member->sequence), first.held);
        // At least one is copied: llama.cpp looks up each sequence's last position.
        if (member->held > 0) member->shared = static_cast<uint32_t>(std::min<int64_t>(common, member->held - 1));
        member->copies_at = end;
        end += member->held - member->shared;
    }
    for (Member & member : found) member.rows_at += end;
    const auto rows = static_cast<uint32_t>(batch.n_tokens);
    const bool pays = found.size() > 1 && end - first.held <= rows;
    if (!pays || end + rows > cells_in(first.sequence).size()) found.clear();
    return found;
}

void OneRegion::join(const Member & member) {
    const int32_t first = members.front().sequence;
    if (member.sequence == first) return;
    llama_kv_cells & cells = cells_in(first);
    auto & holders = holders_of(cells);
    for (uint32_t i = 0; i < member.shared; i++) holders[i].set(static_cast<size_t>(member.sequence));
    const uint32_t copies = member.held - member.shared;
    regions->copy(member.sequence, member.shared, copies, first, member.copies_at);
    cells.set(member.copies_at, cells_in(member.sequence).cp(member.shared, copies));
}

void OneRegion::leave(const Member & member) {
    const int32_t first = members.front().sequence;
    if (member.sequence == first) return;
    llama_kv_cells & cells = cells_in(first);
    auto & holders = holders_of(cells);
    for (uint32_t i = 0; i < member.shared; i++) holders[i].reset(static_cast<size_t>(member.sequence));
    for (uint32_t i = member.shared; i < member.held; i++) cells.rm(member.copies_at + i - member.shared);
}

// Moves a member's new cells behind those that it held. An aborted computation may have made some of them or none.
void OneRegion::settle(const Member & member) {
    const int32_t first = members.front().sequence;
    llama_kv_cells & cells = cells_in(first);
    uint32_t made = 0;
    while (made < member.rows && !cells.is_empty(member.rows_at + made)) made++;
    const llama_kv_cells moved = cells.cp(member.rows_at, made);
    for (uint32_t i = 0; i < made; i++) cells.rm(member.rows_at + i);
    regions->copy(first, member.rows_at, made, member.sequence, member.held);
    cells_in(member.sequence).set(member.held, moved);
}

// Tells llama.cpp that the cache is unified, in the region of the first member, or that it is as it was.
void OneRegion::describe(bool as_one) {
    std::vector<uint32_t> & streams = streams_of(*cache);
    for (const Member & member : members) {
        const int32_t stream = as_one ? members.front().sequence : member.sequence;
        streams[static_cast<size_t>(member.sequence)] = static_cast<uint32_t>(stream);
    }
    stream_count_of(*cache) = as_one ? 1 : static_cast<uint32_t>(cells_of(*cache).size());
    settings_of(*context).kv_unified = as_one;
    // A graph contains the address of the region for which it was made.
    graph_of(*context) = nullptr;
}

} // namespace svc

#else

namespace svc {

OneRegion::OneRegion(llama_context * context, const llama_batch &) : context(context), cache(nullptr), regions(nullptr) {}
OneRegion::~OneRegion() {}

} // namespace svc

#endif
