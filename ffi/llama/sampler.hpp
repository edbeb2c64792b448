// One request's way of choosing tokens.
#pragma once

#include "answer.hpp"

namespace svc {

struct Sampler {
    common_sampler_ptr chain;
    // Takes the answer apart; null where the text is the content.
    std::unique_ptr<AnswerReader> reader;
    // News of the answer that did not fit the caller's buffer.
    std::string unsent;
    // Temperature 0 and nothing that changes logits: the highest wins, no candidates need to be built.
    bool greedy = false;
    // What a greedy choice has to follow; others have theirs in the chain.
    std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)> grammar{nullptr, llama_sampler_free};
    bool constrained = false;
    // The grammar forbids every token, takes too long, or llama.cpp gave it up: the answer ends here.
    bool stuck = false;
    // Tokens before which the model cannot end its turn.
    int32_t min_tokens = 0;
    // Number of alternatives to keep for each token, or -1 for none at all.
    int32_t top_logprobs = -1;
    // Of the last token: first itself, then the alternatives.
    std::vector<llama_token_data> logprobs;
    // Where the log probabilities of the prompt's own tokens are wanted: the prompt, and what was kept since they were taken last,
    // for each token itself and then the alternatives.
    std::vector<llama_token> prompt;
    std::vector<llama_token_data> scores;
    // The step that used it last; a batch must not use one twice.
    int64_t step = 0;

    // True when a token costs enough for a second thread to be worth waking.
    bool is_slow() const { return !greedy || grammar || top_logprobs >= 0; }

    // Chooses and accepts a token for row `row` of the last batch, whose logits have been fetched once before.
    llama_token sample(int32_t row);
    // Keeps what row `row` of the last batch, at this position of the prompt, gives the prompt's next token.
    void score(int32_t row, int32_t position);

  private:
    llama_token choose(float * logits, int32_t row);
    llama_token choose_allowed(const float * logits);
    // Whether a chosen token may be accepted.
    bool possible(llama_token token) const;
    void accept(llama_token token);
    void note_grammar_seconds(double seconds);
    void keep_logprobs(const float * logits, llama_token chosen, std::vector<llama_token_data> & kept) const;

    int32_t generated = 0;
    // What the grammar took for the last token, and for all that took long.
    double last_seconds = 0;
    double slow_seconds = 0;
    // Tokens on end that took longer than the one before, and what the one before them took.
    int growths = 0;
    double grown_from = 0;
};

// Makes a sampler of `config` (see svc_prompt_submit in shim.h), constrained by `format` when there is one. `prompt` fills
// the repetition window. Any thread.
std::unique_ptr<Sampler> make_sampler(const common_json & config, std::shared_ptr<const AnswerFormat> format,
                                      const std::vector<llama_token> & prompt);

// Token with the highest logit, the first of equal ones. Any thread.
llama_token highest(const float * logits, int32_t count);

// Puts a sampler into a free slot. Decode thread only, like all that follows.
int32_t place_sampler(std::unique_ptr<Sampler> sampler);

// The sampler in a slot, or null.
Sampler * sampler_at(int32_t slot);

} // namespace svc
