// Watches for grammars that take too long: an ambiguous grammar doubles llama.cpp's work with each character.
#pragma once

#include <cstdint>
#include <list>

namespace svc {

// Where a grammar is handled; the value is the exit code that reports it. Prompts that wait are not to blame when an
// answer hangs.
enum class Handling : int { answer = 70, prompt = 71 };

// State of one watch.
struct Watched {
    Handling handling;
    int32_t owner;
    // Counted, not read from a clock, so that time in which the whole process was stopped does not count.
    int seconds;
};

// Sets the owner of what this thread handles from now on, see svc_abort_listen; 0 for none.
void handle_for(int32_t owner);

// Exists while llama.cpp handles a grammar, which cannot be interrupted. After half a minute the watch ends the process
// and reports the owner; the next process takes over the other requests. Any thread.
class GrammarWatch {
  public:
    // `is_needed`: whether there is a grammar at all.
    GrammarWatch(Handling handling, bool is_needed = true);
    ~GrammarWatch();
    GrammarWatch(const GrammarWatch &) = delete;
    GrammarWatch & operator=(const GrammarWatch &) = delete;

    // Returns the CPU time, in seconds, that the grammar has taken on this thread so far; 0 where there is no grammar.
    double seconds() const;

  private:
    const bool is_needed;
    const double began;
    std::list<Watched>::iterator entry;
};

} // namespace svc
