// Chooses the tokens of one request.
#pragma once

#include "answer.hpp"

namespace svc {

struct Sampler {
    common_sampler_ptr chain;
    // Parses the answer; null where the text is the content.
    std::unique_ptr<AnswerReader> reader;
    // With a grammar that applies only from a tool call on, and a minimum length: parses the answer up to the last token.
    std::unique_ptr<AnswerReader> ahead;
    // Parsed output that did not fit into the caller's buffer.
    std::string unsent;
    // Temperature 0 and nothing that changes logits: the highest logit wins, and no candidates need to be built.
    bool greedy = false;
    // Grammar of a greedy choice; other samplers have theirs in the chain.
    std::unique_ptr<llama_sampler, decltype(&llama_sampler_free)> grammar{nullptr, llama_sampler_free};
    bool constrained = false;
    // The grammar forbids every token, takes too long, or has failed in llama.cpp: the answer ends here.
    bool stuck = false;
    // Number of tokens before which the model cannot end its turn.
    int32_t min_tokens = 0;
    // Number of alternatives to keep for each token, or -1 for none at all.
    int32_t top_logprobs = -1;
    // For the last token: the token itself, then the alternatives.
    std::vector<llama_token_data> logprobs;
    // When log probabilities of the prompt's own tokens are requested: the prompt, and the entries since they were last
    // taken, for each token the token itself and then the alternatives.
    std::vector<llama_token> prompt;
    std::vector<llama_token_data> scores;
    // The last step that used this sampler; a batch must not use a sampler twice.
    int64_t step = 0;

    // Returns true when sampling a token costs enough to justify waking a second thread.
    bool is_slow() const { return !greedy || grammar || top_logprobs >= 0; }

    // Chooses and accepts a token for row `row` of the last batch, whose logits have been fetched once before.
    llama_token sample(int32_t row);
    // Returns the log probability that row `row` of the last batch, at this position, gives to the prompt's next token,
    // then the alternatives. Any thread.
    std::vector<llama_token_data> score(int32_t row, int32_t position) const;

  private:
    llama_token choose(float * logits, int32_t row);
    // `goes_on`: no token that ends a turn.
    llama_token pick(float * logits, int32_t row, bool goes_on);
    llama_token choose_allowed(const float * logits);
    // Returns whether a chosen token may be accepted.
    bool possible(llama_token token) const;
    void accept(llama_token token);
    void note_grammar_seconds(double seconds);
    std::vector<llama_token_data> logprobs_of(const float * logits, llama_token chosen) const;

    int32_t generated = 0;
    // Seconds that the grammar took for the last token, and for all slow tokens together.
    double last_seconds = 0;
    double slow_seconds = 0;
    // Consecutive tokens that each took longer than the one before, and what the token before them took.
    int growths = 0;
    double grown_from = 0;
};

// Makes a sampler from `config` (see svc_prompt_submit in shim.h), constrained by `format` when there is one. `prompt`
// fills the repetition window. Any thread.
std::unique_ptr<Sampler> make_sampler(const common_json & config, std::shared_ptr<const AnswerFormat> format,
                                      const std::vector<llama_token> & prompt);

// Returns the token with the highest logit, the first of equal ones. Any thread.
llama_token highest(const float * logits, int32_t count);

// Puts a sampler into a free slot and returns the slot. Decode thread only, like all functions below.
int32_t place_sampler(std::unique_ptr<Sampler> sampler);

// Returns the sampler in a slot, or null.
Sampler * sampler_at(int32_t slot);

} // namespace svc
