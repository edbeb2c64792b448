// Edits the text of grammars that llama.cpp writes.

#include "grammar-text.hpp"

#include "grammar-watch.hpp"

#include <cctype>

namespace svc {

bool compiles(const std::string & grammar) {
    const GrammarWatch watch(Handling::prompt);
    llama_sampler * sampler = llama_sampler_init_grammar(state.vocab, grammar.c_str(), "root");
    if (sampler) llama_sampler_free(sampler);
    return sampler != nullptr;
}

std::string with_prefix(const std::string & grammar, const std::string & prefix) {
    const auto starts_name = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_'; };
    std::string out;
    for (size_t i = 0; i < grammar.size();) {
        const char c = grammar[i];
        if (c == '"' || c == '[' || c == '<') {
            const char close = c == '"' ? '"' : c == '[' ? ']' : '>';
            size_t end = i + 1;
            while (end < grammar.size() && grammar[end] != close) end += grammar[end] == '\\' ? 2 : 1;
            out.append(grammar, i, end + 1 - i);
            i = end + 1;
        } else if (starts_name(c)) {
            size_t end = i;
            while (end < grammar.size() && in_name(grammar[end])) end++;
            out += prefix + grammar.substr(i, end - i);
            i = end;
        } else {
            out += c;
            i++;
        }
    }
    return out;
}

std::string without_preamble(const std::string & grammar) {
    const size_t start = grammar.rfind("root ::=", 0) == 0 ? 0 : grammar.find("\nroot ::=");
    if (start == std::string::npos) return grammar;
    std::string out = grammar.substr(0, start);
    const size_t end = std::min(grammar.find('\n', start + 1), grammar.size());
    int depth = 0;
    for (size_t i = start; i < end;) {
        const char c = grammar[i];
        size_t next = i + 1;
        if (c == '"' || c == '[') {
            const char close = c == '"' ? '"' : ']';
            while (next < end && grammar[next] != close) next += grammar[next] == '\\' ? 2 : 1;
            next++;
        } else if (depth == 0 && grammar.compare(i, 7, " until-") == 0) {
            next = std::min(grammar.find(' ', i + 1), end);
            i = next;
        }
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        out.append(grammar, i, next - i);
        i = next;
    }
    const std::string strict = out + grammar.substr(end);
    return compiles(strict) ? strict : grammar;
}

} // namespace svc
