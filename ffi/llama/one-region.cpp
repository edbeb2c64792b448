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
    if (!find_members(batch) || !choose_host()) {
        members.clear();
        return;
    }
    for (const Member & member : members) join(member);
    describe(true);
}

OneRegion::~OneRegion() {
    if (members.empty()) return;
    describe(false);
    for (const Member & member : members) leave(member);
    // The host's new cells go where the others' were.
    for (const Member & member : members) {
        if (member.sequence != host) settle(member);
    }
    settle(*std::find_if(members.begin(), members.end(), [&](const Member & member) { return member.sequence == host; }));
    regions->keep(host, cells_in(host).get_used());
}

llama_kv_cells & OneRegion::cells_in(int32_t sequence) const { return cells_of(*cache)[static_cast<size_t>(sequence)]; }

// Returns false unless there are several sequences, and the rows of each are side by side.
bool OneRegion::find_members(const llama_batch & batch) {
    for (int32_t i = 0; i < batch.n_tokens; i++) {
        const int32_t sequence = *batch.seq_id[i];
        if (i == 0 || sequence != members.back().sequence) {
            if (i > 0 && sequence < members.back().sequence) return false;
            members.push_back({sequence, cells_in(sequence).get_used(), static_cast<uint32_t>(i), 0, 0, 0});
        }
        members.back().rows++;
    }
    return members.size() > 1;
}

// Chooses the region for which the fewest cells are copied. Returns false if these are more than a page of each sequence
// and one for each row, or the region is too small.
bool OneRegion::choose_host() {
    const Member * best = nullptr;
    uint32_t fewest = 0;
    for (const Member & member : members) {
        const uint32_t copies = place_copies(member);
        if (!best || copies < fewest) {
            best = &member;
            fewest = copies;
        }
    }
    host = best->sequence;
    place_copies(*best);
    rows_at = best->held + fewest;
    const uint32_t rows = members.back().first_row + members.back().rows;
    return fewest <= rows + members.size() * static_cast<size_t>(regions->cells_of_page()) &&
           rows_at + rows <= cells_in(host).size();
}

// Places the cells that `in` does not share with the others behind its own. Returns how many these are.
uint32_t OneRegion::place_copies(const Member & in) {
    uint32_t copies = 0;
    for (Member & member : members) {
        if (&member == &in) continue;
        const int64_t common = std::min<int64_t>(regions->common(in.sequence, member.sequence), in.held);
        // The last one is always a copy, whose position llama.cpp can look up.
        member.shared = member.held == 0 ? 0 : static_cast<uint32_t>(std::min<int64_t>(common, member.held - 1));
        member.copies_at = in.held + copies;
        copies += member.held - member.shared;
    }
    return copies;
}

// Puts what a sequence holds into the region.
void OneRegion::join(const Member & member) {
    if (member.sequence == host) return;
    llama_kv_cells & cells = cells_in(host);
    // llama.cpp's own call also records each position in a set, which takes longer, and which only the last one needs.
    auto & holders = holders_of(cells);
    for (uint32_t i = 0; i < member.shared; i++) holders[i].set(static_cast<size_t>(member.sequence));
    const uint32_t copies = member.held - member.shared;
    regions->copy(member.sequence, member.shared, copies, host, member.copies_at);
    cells.set(member.copies_at, cells_in(member.sequence).cp(member.shared, copies));
}

void OneRegion::leave(const Member & member) {
    if (member.sequence == host) return;
    llama_kv_cells & cells = cells_in(host);
    auto & holders = holders_of(cells);
    for (uint32_t i = 0; i < member.shared; i++) holders[i].reset(static_cast<size_t>(member.sequence));
    for (uint32_t i = member.shared; i < member.held; i++) cells.rm(member.copies_at + i - member.shared);
}

// Moves a member's new cells behind those that it held. An aborted computation may have made some of them or none.
void OneRegion::settle(const Member & member) {
    llama_kv_cells & cells = cells_in(host);
    const uint32_t from = rows_at + member.first_row;
    uint32_t made = 0;
    while (made < member.rows && !cells.is_empty(from + made)) made++;
    const llama_kv_cells moved = cells.cp(from, made);
    for (uint32_t i = 0; i < made; i++) cells.rm(from + i);
    regions->copy(host, from, made, member.sequence, member.held);
    cells_in(member.sequence).set(member.held, moved);
}

// Tells llama.cpp that the cache is unified, in the host's region, or that it is as it was.
void OneRegion::describe(bool as_one) {
    std::vector<uint32_t> & streams = streams_of(*cache);
    for (const Member & member : members) {
        streams[static_cast<size_t>(member.sequence)] = static_cast<uint32_t>(as_one ? host : member.sequence);
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
