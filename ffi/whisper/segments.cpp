// Turns what whisper.cpp has recognized into segments and words.

#include "state.hpp"

#include "unicode.h"

#include <algorithm>

namespace whisper {
namespace {

// whisper.cpp counts hundredths of a second.
constexpr double TICKS = 100;

// Returns false for languages that put nothing between words.
bool has_spaces(const std::string & language) {
    for (const char * without : {"zh", "ja", "th", "lo", "my", "yue"}) {
        if (language == without) return false;
    }
    return true;
}

// Returns whether the piece is punctuation that belongs to the word before it.
bool closes(const std::string & piece) {
    for (const char * mark : {".", ",", "!", "?", ":", ";", "\"", "'", ")", "]", "}", "。", "、", "，", "！", "？", "：",
                              "；", "」", "』", "”", "）"}) {
        if (piece == mark) return true;
    }
    return false;
}

std::string trimmed(const std::string & text) {
    const size_t begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Returns whether a token's text begins a new word.
bool begins_word(const Word & last, const std::string & piece, bool spaced) {
    // A token can end in the middle of a character.
    if (!common_utf8_is_complete(last.text)) return false;
    return spaced ? piece[0] == ' ' : !closes(piece);
}

// whisper.cpp estimates the times of each token separately: they may overlap a little, or leave the segment.
void put_in_order(std::vector<Word> & words, const Segment & segment) {
    double earliest = segment.start;
    for (Word & word : words) {
        word.start = std::clamp(word.start, earliest, segment.end);
        word.end = std::clamp(word.end, word.start, segment.end);
        earliest = word.end;
    }
}

// whisper.cpp gives some words no time at all. They share the time up to the next word with what else begins where they do.
void give_duration(std::vector<Word> & words, const Segment & segment) {
    for (size_t first = 0; first < words.size(); first++) {
        const double start = words[first].start;
        if (words[first].end > start) continue;
        size_t next = first + 1;
        while (next < words.size() && words[next].start == start) next++;
        const double following = next < words.size() ? words[next].start : segment.end;
        const double until = words[next - 1].end > start ? words[next - 1].end : following;
        const double each = (until - start) / static_cast<double>(next - first);
        for (size_t index = first; index < next; index++) {
            words[index].start = start + each * static_cast<double>(index - first);
            words[index].end = std::min(until, start + each * static_cast<double>(index - first + 1));
        }
    }
}

struct Tokens {
    whisper_state * source;
    int segment;

    // Calls `use` with each token that is text.
    template <typename Use> void each(Use && use) const {
        const int count = whisper_full_n_tokens_from_state(source, segment);
        for (int index = 0; index < count; index++) {
            const whisper_token_data token = whisper_full_get_token_data_from_state(source, segment, index);
            if (token.id < whisper_token_eot(state.context)) use(token);
        }
    }
};

std::vector<Word> words_of(const Tokens & tokens, bool spaced) {
    std::vector<Word> words;
    tokens.each([&](const whisper_token_data & token) {
        const std::string piece = whisper_token_to_str(state.context, token.id);
        if (piece.empty()) return;
        if (words.empty() || begins_word(words.back(), piece, spaced)) words.push_back({token.t0 / TICKS, 0, ""});
        Word & word = words.back();
        word.text += piece;
        word.end = token.t1 / TICKS;
    });
    for (Word & word : words) word.text = trimmed(word.text);
    words.erase(std::remove_if(words.begin(), words.end(), [](const Word & word) { return word.text.empty(); }), words.end());
    return words;
}

} // namespace

Segment segment_at(whisper_state * source, int index, double temperature, const Job & job) {
    const double seconds = static_cast<double>(job.samples.size()) / SAMPLE_RATE;
    const Tokens tokens{source, index};
    Segment segment;
    // The segment's half minute can be longer than the sound.
    segment.start = std::clamp(whisper_full_get_segment_t0_from_state(source, index) / TICKS, 0.0, seconds);
    segment.end = std::clamp(whisper_full_get_segment_t1_from_state(source, index) / TICKS, segment.start, seconds);
    segment.text = whisper_full_get_segment_text_from_state(source, index);
    segment.temperature = temperature;
    segment.no_speech_prob = whisper_full_get_segment_no_speech_prob_from_state(source, index);
    tokens.each([&](const whisper_token_data & token) {
        segment.tokens.push_back(token.id);
        segment.avg_logprob += token.plog;
    });
    if (!segment.tokens.empty()) segment.avg_logprob /= static_cast<double>(segment.tokens.size());
    if (job.options.word_times) {
        const bool spaced = job.options.translate || has_spaces(whisper_lang_str(whisper_full_lang_id_from_state(source)));
        segment.words = words_of(tokens, spaced);
        put_in_order(*segment.words, segment);
        give_duration(*segment.words, segment);
    }
    return segment;
}

} // namespace whisper
