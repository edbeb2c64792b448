#include "kv-regions.hpp"

#ifdef __linux__

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace svc {
namespace {

// Linux allows 65,530 mappings per process by default. Beyond this limit, common prefixes are copied instead of shared.
constexpr size_t MOST_MAPPINGS = 30'000;

// Slots per sequence in the file. A sequence that gives up shared cells leaves its slot to the others and takes
// another.
constexpr int32_t SLOTS = 2;

size_t bytes_of(int64_t count, const KvRegions::Part & part) { return static_cast<size_t>(count) * part.cell_bytes; }

void map_part(char * at, size_t size, int file, off_t offset) {
    if (!map_memory(at, size, MAP_SHARED | MAP_FIXED, file, offset)) throw std::runtime_error("memory of the KV cache cannot be mapped");
}

} // namespace

char * map_memory(void * at, size_t size, int flags, int file, off_t offset) {
    void * mapped = mmap(at, size, PROT_READ | PROT_WRITE, flags, file, offset);
    return mapped == MAP_FAILED ? nullptr : static_cast<char *>(mapped);
}

std::unique_ptr<KvRegions> KvRegions::make(std::vector<Part> parts, size_t bytes, int64_t cells, int32_t count) {
    const int file = memfd_create("svc-kv-cache", MFD_CLOEXEC);
    if (file < 0) return nullptr;
    if (ftruncate(file, static_cast<off_t>(SLOTS * bytes)) != 0) {
        close(file);
        return nullptr;
    }
    return std::unique_ptr<KvRegions>(new KvRegions(file, std::move(parts), cells, count));
}

KvRegions::KvRegions(int file, std::vector<Part> parts, int64_t cells, int32_t count)
    : file(file), parts(std::move(parts)), cells(cells), uses(static_cast<size_t>(SLOTS * count)) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    for (const Part & part : this->parts) grain = std::lcm(grain, static_cast<int64_t>(page / std::gcd(page, part.cell_bytes)));
    sequences.resize(static_cast<size_t>(count));
    reset();
}

KvRegions::~KvRegions() { close(file); }

void KvRegions::reset() {
    std::fill(uses.begin(), uses.end(), 0);
    unused.clear();
    const auto count = static_cast<int32_t>(sequences.size());
    for (int32_t slot = SLOTS * count - 1; slot >= count; slot--) unused.push_back(slot);
    for (int32_t i = 0; i < count; i++) {
        sequences[static_cast<size_t>(i)] = {{0, i}};
        uses[static_cast<size_t>(i)] = 1;
    }
    for (const Part & part : parts) {
        const size_t bytes = bytes_of(cells, part) * sequences.size();
        const off_t offset = in_file(part, 0, 0);
        punch_file(offset, SLOTS * bytes);
        map_part(part.memory, bytes, file, offset);
    }
}

void KvRegions::keep(int32_t sequence, int64_t kept) {
    const int64_t whole = kept / grain * grain;
    // The cells after the last whole page, in a page that other sequences may share.
    const std::vector<char> rest = rows(sequence, whole, kept);
    const Pieces before = sequences[static_cast<size_t>(sequence)];
    const Piece last = before.back();
    Pieces & pieces = sequences[static_cast<size_t>(sequence)];
    pieces.erase(std::find_if(pieces.begin(), pieces.end(), [&](const Piece & piece) { return piece.from >= whole; }), pieces.end());
    for (const Piece & piece : before) {
        if (piece.from >= whole && piece.slot != last.slot) release(piece.slot);
    }
    int32_t own = last.slot;
    if (shared_end(own, sequence) > whole) {
        own = take();
        if (last.from >= whole) release(last.slot);
        else punch(last.slot, shared_end(last.slot, sequence));
        place(sequence, whole, cells, own);
        pieces.push_back({whole, own});
    } else {
        punch(own, whole);
        if (last.from > whole) place(sequence, whole, last.from, own);
        if (last.from >= whole) pieces.push_back({whole, own});
    }
    write(sequence, whole, rest);
}

void KvRegions::share(int32_t from, int32_t to, int64_t count) {
    const Pieces source = sequences[static_cast<size_t>(from)];
    Pieces & target = sequences[static_cast<size_t>(to)];
    const int64_t whole = may_share(from) ? count / grain * grain : 0;
    if (whole > 0) {
        const int32_t own = target.back().slot;
        target.clear();
        for (size_t i = 0; i < source.size() && source[i].from < whole; i++) {
            const int64_t end = i + 1 < source.size() ? std::min(source[i + 1].from, whole) : whole;
            place(to, source[i].from, end, source[i].slot);
            target.push_back(source[i]);
            uses[static_cast<size_t>(source[i].slot)]++;
        }
        target.push_back({whole, own});
    }
    write(to, whole, rows(from, whole, count));
}

void KvRegions::exchange(int32_t a, int32_t b) {
    std::swap(sequences[static_cast<size_t>(a)], sequences[static_cast<size_t>(b)]);
    place(a);
    place(b);
}

int64_t KvRegions::common(int32_t a, int32_t b) const {
    const Pieces & one = sequences[static_cast<size_t>(a)];
    const Pieces & other = sequences[static_cast<size_t>(b)];
    size_t i = 0;
    while (i < std::min(one.size(), other.size()) && one[i].from == other[i].from && one[i].slot == other[i].slot) i++;
    if (i == 0) return 0;
    const auto end = [&](const Pieces & pieces) { return i < pieces.size() ? pieces[i].from : cells; };
    return std::min(end(one), end(other));
}

void KvRegions::copy(int32_t from, int64_t first, int64_t count, int32_t to, int64_t at) {
    write(to, at, rows(from, first, first + count));
}

char * KvRegions::at(const Part & part, int32_t sequence, int64_t cell) const {
    return part.memory + bytes_of(sequence * cells + cell, part);
}

off_t KvRegions::in_file(const Part & part, int32_t slot, int64_t cell) const {
    return static_cast<off_t>(SLOTS * part.offset + bytes_of(slot * cells + cell, part));
}

void KvRegions::place(int32_t sequence, int64_t from, int64_t to, int32_t slot) {
    for (const Part & part : parts) {
        map_part(at(part, sequence, from), bytes_of(to - from, part), file, in_file(part, slot, from));
    }
}

// Maps all pieces of a sequence.
void KvRegions::place(int32_t sequence) {
    const Pieces & pieces = sequences[static_cast<size_t>(sequence)];
    for (size_t i = 0; i < pieces.size(); i++) {
        place(sequence, pieces[i].from, i + 1 < pieces.size() ? pieces[i + 1].from : cells, pieces[i].slot);
    }
}

std::vector<char> KvRegions::rows(int32_t sequence, int64_t from, int64_t to) const {
    std::vector<char> read;
    for (const Part & part : parts) read.insert(read.end(), at(part, sequence, from), at(part, sequence, to));
    return read;
}

void KvRegions::write(int32_t sequence, int64_t from, const std::vector<char> & read) {
    if (read.empty()) return;
    size_t cell = 0;
    for (const Part & part : parts) cell += part.cell_bytes;
    const size_t count = read.size() / cell;
    const char * next = read.data();
    for (const Part & part : parts) {
        std::memcpy(at(part, sequence, from), next, count * part.cell_bytes);
        next += count * part.cell_bytes;
    }
}

void KvRegions::punch_file(off_t offset, size_t size) {
    // Failure does not matter: an empty file has nothing to free.
    (void) fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, static_cast<off_t>(size));
}

// Frees the pages of a slot from cell `from` on.
void KvRegions::punch(int32_t slot, int64_t from) {
    for (const Part & part : parts) {
        if (from < cells) punch_file(in_file(part, slot, from), bytes_of(cells - from, part));
    }
}

// Returns where the last piece of a slot ends that any sequence but `except` has. Those sequences do not write to it.
int64_t KvRegions::shared_end(int32_t slot, int32_t except) const {
    int64_t end = 0;
    for (size_t s = 0; s < sequences.size(); s++) {
        if (static_cast<int32_t>(s) == except) continue;
        const Pieces & pieces = sequences[s];
        for (size_t i = 0; i < pieces.size(); i++) {
            if (pieces[i].slot == slot) end = std::max(end, i + 1 < pieces.size() ? pieces[i + 1].from : cells);
        }
    }
    return end;
}

// Called when one sequence fewer has a piece of the slot.
void KvRegions::release(int32_t slot) {
    if (--uses[static_cast<size_t>(slot)] > 0) return punch(slot, shared_end(slot, -1));
    punch(slot, 0);
    unused.push_back(slot);
}

int32_t KvRegions::take() {
    if (unused.empty()) throw std::runtime_error("no slot of the KV cache is free");
    const int32_t slot = unused.back();
    unused.pop_back();
    uses[static_cast<size_t>(slot)] = 1;
    return slot;
}

// Returns whether cells of `from` may be shared. Each shared slot may be left to others; its sequence then needs a free
// one.
bool KvRegions::may_share(int32_t from) const {
    const size_t count = sequences.size();
    const size_t left = count - unused.size();
    size_t shared = 0, pieces = 0;
    for (size_t s = 0; s < count; s++) {
        const int32_t own = sequences[s].back().slot;
        shared += uses[static_cast<size_t>(own)] > 1 || static_cast<int32_t>(s) == from;
        pieces += sequences[s].size();
    }
    const size_t mappings = (pieces + sequences[static_cast<size_t>(from)].size() + 1) * parts.size();
    return left + shared <= count && mappings <= MOST_MAPPINGS;
}

} // namespace svc

#endif
