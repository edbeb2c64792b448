// Loaded before Bun, whose stack for signals begins at any address: AddressSanitizer wants a multiple of eight, and ends the
// process at the first C++ exception otherwise.

#include <dlfcn.h>
#include <signal.h>

#include <cstdint>

extern "C" int sigaltstack(const stack_t * wanted, stack_t * former) noexcept {
    static const auto real = reinterpret_cast<decltype(&sigaltstack)>(dlsym(RTLD_NEXT, "sigaltstack"));
    if (!wanted) return real(wanted, former);
    constexpr uintptr_t ALIGNMENT = 64;
    const auto begin = reinterpret_cast<uintptr_t>(wanted->ss_sp);
    const uintptr_t skipped = (ALIGNMENT - begin % ALIGNMENT) % ALIGNMENT;
    stack_t aligned = *wanted;
    aligned.ss_sp = reinterpret_cast<void *>(begin + skipped);
    aligned.ss_size = wanted->ss_size > skipped ? (wanted->ss_size - skipped) / ALIGNMENT * ALIGNMENT : 0;
    return real(&aligned, former);
}
