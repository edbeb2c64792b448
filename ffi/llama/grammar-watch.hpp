// An eye on grammars that take too long: an ambiguous one doubles llama.cpp's work with each character.
#pragma once

#include <cstdint>
#include <list>

namespace svc {

// Where a grammar is handled, as the exit code that tells of it: what waits is no cause of what holds an answer up.
enum class Handling : int { answer = 70, prompt = 71 };

// What a watch sees.
struct Watched {
    Handling handling;
    int32_t owner;
    // Counted, not read from a clock: time in which the whole process stood still does not count.
    int seconds;
};

// What this thread handles from here on is for this request, see svc_abort_listen; 0: for none.
void handle_for(int32_t owner);

// Lives as long as llama.cpp handles a grammar. That cannot be stopped: after half a minute it ends the process, which tells
// for whom it was; the successor takes the other requests. Any thread.
class GrammarWatch {
  public:
    // `is_needed`: there is a grammar.
    GrammarWatch(Handling handling, bool is_needed = true);
    ~GrammarWatch();
    GrammarWatch(const GrammarWatch &) = delete;
    GrammarWatch & operator=(const GrammarWatch &) = delete;

    // What it took of this thread's time so far; 0 where there is no grammar.
    double seconds() const;

  private:
    const bool is_needed;
    const double began;
    std::list<Watched>::iterator entry;
};

} // namespace svc
