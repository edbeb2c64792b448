// An eye on grammars that take too long: an ambiguous one doubles llama.cpp's work with each character.
#pragma once

#include <list>
#include <utility>

namespace svc {

// Where a grammar is handled, as the exit code that tells of it: what waits is no cause of what holds an answer up.
enum class Handling : int { answer = 70, prompt = 71 };

// Lives as long as llama.cpp handles a grammar. That cannot be stopped: after half a minute it ends the process, whose
// successor takes the other requests. Any thread.
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
    std::list<std::pair<Handling, int>>::iterator entry;
};

} // namespace svc
