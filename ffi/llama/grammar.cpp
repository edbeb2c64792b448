// Converts JSON schemas to grammars, for the tables and tests that measure what grammars enforce.

#include "branches.hpp"
#include "state.hpp"

#include "json-schema-to-grammar.h"

#include <cmath>

using namespace svc;

namespace {

// Feeds the text token by token to a sampler that only knows the grammar.
bool accepts(llama_sampler * grammar, const std::vector<llama_token> & tokens) {
    const auto allowed = [&](llama_token token) {
        llama_token_data data = {token, 1.0f, 0.0f};
        llama_token_data_array one = {&data, 1, -1, false};
        llama_sampler_apply(grammar, &one);
        return data.logit > -INFINITY;
    };
    for (const llama_token token : tokens) {
        if (!allowed(token)) return false;
        llama_sampler_accept(grammar, token);
    }
    return allowed(llama_vocab_eos(state.vocab));
}

} // namespace

extern "C" {

int32_t svc_schema_grammar(const uint8_t * schema, int32_t length, uint8_t * out, int32_t capacity) {
    return guarded<int32_t>(-1, [&] { return copy_out(with_branches(json_schema_to_grammar(parse_json(schema, length))), out, capacity); });
}

int32_t svc_grammar_accepts(const uint8_t * grammar, int32_t grammar_length, const uint8_t * text, int32_t text_length) {
    return guarded<int32_t>(-1, [&]() -> int32_t {
        if (!is_loaded()) return fail("no model is loaded");
        const std::string source = with_branches(text_of(grammar, grammar_length));
        llama_sampler * sampler = llama_sampler_init_grammar(state.vocab, source.c_str(), "root");
        if (!sampler) return fail("the grammar is not valid GBNF");
        const bool result = accepts(sampler, common_tokenize(state.vocab, text_of(text, text_length), false, false));
        llama_sampler_free(sampler);
        return result ? 1 : 0;
    });
}

} // extern "C"
