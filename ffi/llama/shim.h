// The C interface of the llama engine: a flat C ABI over llama.cpp and its common library.
//
// ../common/library.h has the rules and the functions that all libraries share. Unless stated otherwise, only the
// thread that calls svc_decode may call a function. One process holds one model and one context, without handles.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 19

// Error codes; all but the first two are the fault of a request.
enum svc_error {
    SVC_ERROR_FAILED,
    // The KV cache of the draft model is full.
    SVC_ERROR_NO_CAPACITY,
    // A token id is not in the vocabulary.
    SVC_ERROR_UNKNOWN_TOKEN,
    // The vocabulary has no tokens for a prompt with a suffix.
    SVC_ERROR_NO_INFILL,
    // The grammar is not valid GBNF, or too large.
    SVC_ERROR_BAD_GRAMMAR,
    // The assistant prefill nests deeper than parsers of constrained answers can follow.
    SVC_ERROR_PREFILL_TOO_DEEP,
    // The grammar can read the assistant prefill in so many ways that a token of it takes seconds.
    SVC_ERROR_PREFILL_AMBIGUOUS,
    // The template and the tokenizer take too long for any prompt.
    SVC_ERROR_PROMPT_TOO_SLOW
};

// ---- library ----

// Returns "llama.cpp 0.5.0 (<commit>)"; static.
SVC_API const char * svc_library_version(void);
// Loads the compute backends in `backend_dir`, and none from anywhere else. Returns 0, or a negative number.
SVC_API int32_t svc_init(const char * backend_dir);

// ---- model and context ----

// Starts loading on a native thread. `config` is JSON: {path, context, parallel, sequences, layout
// ("unified"|"streams"|"paged"; the last falls back to unified), region (maximum cells of a paged sequence), batch,
// microBatch, threads, gpuLayers (-1 all), flashAttention ("auto"|"on"|"off"), kvType ("f16"|"q8_0"|…), mmap, mlock,
// warmup, chatTemplate (Jinja source that replaces the model's own, or ""), adapters: [paths of LoRA files], draft?:
// {path, pMin}: a draft model, see svc_draft, spread: {workers: ["address:port" of reachable workers whose devices are
// also used], splitMode ("layer"|"row"|"none"), mainGpu, tensorSplit: [share of each device, workers first; empty: by
// free memory]}}. Returns 0, or a negative number.
// For vectors instead of text: {path, embedding: "embed"|"rank", batch (tokens computed at once, also the longest
// input), sequences (inputs at once), threads, gpuLayers, flashAttention, mmap, mlock, warmup}. Such a model supports
// only the embedding functions below.
SVC_API int32_t svc_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {description, architecture, parameters, bytes, vocabulary, trainedContext,
// context, layout, contextPerSequence, sequences, batch, chunk (maximum rows of a chunk; 0: none), template: {tools,
// thinking, system}, chatTemplate (Jinja source), bosToken, eosToken (text), device, longestToken (maximum bytes of
// text per token; 0: unknown), canRemovePartial, canRollBack (the tokens of the last few steps can be removed),
// sampling: {temperature?, topK?, topP?, minP?, repetitionPenalty?, repetitionWindow?} from the file's
// general.sampling.*}.
SVC_API int32_t svc_model_info(uint8_t * out, int32_t capacity);
// Returns the llama_model *, for other native libraries in this process; 0 when none is loaded. Valid until svc_unload.
SVC_API uint64_t svc_model_pointer(void);

// ---- prompts: rendered, tokenized and given a sampler on native threads ----

// Queues a prompt. `request` is JSON, one of
//   {"messages": [OpenAI shape; a part of type media_marker stands for a medium], "tools": [OpenAI shape],
//    "enforced": [for each tool, the schema that is enforced on its arguments; the prompt has those in "tools"],
//    "described"?: how many of the last tools the prompt's list omits, because the messages describe them,
//    "toolChoice": "auto"|"required", "parallelToolCalls": bool, "schema"?: JSON schema of the answer,
//    "grammar"?: GBNF of the answer, "constrain": bool (false: nothing is enforced), "kwargs": {name: value},
//    "enableThinking"?: bool (absent: the template's default), "continueLast": bool (the last message is the
//    prefix of the answer), "generationPrompt": bool (false: the prompt ends after the last message),
//    "media": bool (the prompt is tokenized elsewhere, with its media: no repetition window)}
//   {"text": string, "suffix"?: string (the answer fills the gap before it; then "begun"?: the answer's beginning, and
//    "files"?: [{filename, text}], read before the text), "parseSpecial": bool, "addSpecial": bool,
//    "schema"?, "grammar"?}
//   {"tokens": [ids], "schema"?, "grammar"?}
//   {"texts": [strings], "parseSpecial": bool, "addSpecial": bool}, whose tokens follow one another
//   the second and third with "score"?: true to request log probabilities of the prompt's tokens (see svc_sampler_logprobs).
// `sampler` is empty or JSON: {temperature, topP, topK, minP, typicalP, topNSigma, xtcProbability, xtcThreshold,
// dynatempRange, dynatempExponent, repetitionPenalty, repetitionWindow, presencePenalty, dryMultiplier, dryBase,
// dryAllowedLength, dryPenaltyLastN, drySequenceBreakers, mirostat, mirostatTau, mirostatEta, logitBias: [[token, bias]],
// seed, ignoreEos, minTokens, reasoningBudget (-1 = none), topLogprobs (-1 = none)}. With a sampler, a recent request is
// not rendered again: the answers to one prompt differ in their samplers alone.
// `client`: the sender. Clients take turns, by bytes, and none holds all threads. Short prompts without `has_grammar`
// (without tools, schema and grammar) do not wait for others. `owner`: svc_abort_listen reports this number if the
// prompt's grammar ends the process; 0: none. Returns a job number > 0, or a negative number.
SVC_API int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length, const uint8_t * sampler, int32_t sampler_length,
                                  int32_t has_grammar, const char * client, int32_t owner);
// Forgets a job, and its bytes if it has not begun. After many that had begun, the result of one may still come.
SVC_API void svc_prompt_cancel(int32_t job);
// Waits up to `timeout_ms` (0 = not at all) for any job to end. Returns its number, or 0. Writes its number of tokens, or a
// negative number when it failed, which svc_last_error explains; a failed job is freed.
SVC_API int32_t svc_prompt_wait(int32_t timeout_ms, int32_t * tokens);
// Copies the tokens and the job's JSON and frees the job. The JSON is {} with, for messages, {stops: [additional stop
// strings], parsed: the answer must be read with svc_answer_read, constrained: a grammar applies, unconstrained: a
// requested grammar could not be built (for a tool's arguments, or at all), preserved: [special tokens that are text
// here], thinkingEnds: [text that ends reasoning]}, {text: the rendered prompt} for messages with media, {sampler: slot}
// when a sampler was requested, and {lengths: [number of tokens of each text]} for texts.
SVC_API int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity);

// ---- tokens ----

// Writes the text of a token as raw bytes; a control token has none, unless `special`.
SVC_API int32_t svc_token_piece(int32_t token, int32_t special, uint8_t * out, int32_t capacity);
// Returns 1 when the token ends a generation.
SVC_API int32_t svc_token_is_end(int32_t token);

// ---- samplers: one for each request, with its own generator; made by svc_prompt_take ----

SVC_API void svc_sampler_free(int32_t sampler);
// Returns 1 when the answer was cut at the last token, because the grammar allows no other token or takes too long.
SVC_API int32_t svc_sampler_stuck(int32_t sampler);
// Writes log probabilities of the last sampled token: ids[0], logprobs[0] is the token, the rest the best alternatives
// in order. From the raw distribution, before penalties and temperature. With `of_prompt`, takes those of the prompt's own
// tokens from the last steps: the same for the token after each row marked for it (see svc_decode), in order, with as many
// alternatives for each. Returns the number of entries.
SVC_API int32_t svc_sampler_logprobs(int32_t sampler, int32_t of_prompt, int32_t * ids, float * logprobs, int32_t capacity);

// ---- answers: parsed while they are written, where svc_prompt_take says `parsed` ----

// Appends the text of a token. Returns 0, or a negative number.
SVC_API int32_t svc_answer_push(int32_t sampler, const uint8_t * bytes, int32_t count);
// Parses the text so far and writes what is new since the last call as JSON: {reasoning?, content?, calls?: [{index,
// name and id in a call's first appearance (id may be ""), arguments?}], failed?: true}; strings are to be appended.
// `final`: the text is complete. `failed` then says that it does not follow the format: everything in it but tool calls
// is content. Returns 0 when nothing is new.
SVC_API int32_t svc_answer_read(int32_t sampler, int32_t final, uint8_t * out, int32_t capacity);

// ---- grammars ----

// Writes the GBNF that llama.cpp makes from a JSON schema.
SVC_API int32_t svc_schema_grammar(const uint8_t * schema, int32_t length, uint8_t * out, int32_t capacity);
// Returns 1 when the whole text follows the grammar, 0 when not, negative when the grammar is invalid.
SVC_API int32_t svc_grammar_accepts(const uint8_t * grammar, int32_t grammar_length, const uint8_t * text, int32_t text_length);

// ---- decode ----

enum svc_decoded {
    SVC_DECODED_DONE,
    // The KV cache has no free cells, and is as before.
    SVC_DECODED_NO_CAPACITY,
    SVC_DECODED_ABORTED,
    // For a chunk: there is more to compute.
    SVC_DECODED_PAUSED
};
// Decodes one batch of `count` tokens. Samples rows whose `samplers[i]` is ≥ 0; that sampler accepts the token.
// Consecutive rows with one sampler hold draft tokens: each row but the first holds the token that the row before is
// expected to give. They are sampled in order up to the first that differs from its draft, ends the turn or is the last
// that the grammar allows. Later rows give -1; the caller must remove their cells. At most parallel + 64 rows are
// sampled.
// A row with -2 - SLOT belongs to the prompt of that slot's sampler, at its own position: nothing is sampled, and the
// log probability of the prompt's next token is kept. It counts among the sampled rows.
// Rows must be sorted by sequence id, so that the stream KV mode keeps them in one piece. Sampled tokens are written in
// row order to `out_tokens`. `owners` has the request of each row, or 0: abort requests for those of more than half of
// the rows stop the computation.
// `steps` > 1 requests multi-step decoding, each step with the tokens that the one before gave; every row must have its
// own sampler. Decoding stops early after a step in which any row's turn ends, and at a step that cannot be computed.
// `out_tokens` then holds the rows of each step one after the other, -1 for steps that were not made.
// `together`: in a paged cache, all rows are computed in one region if possible (see one-region.hpp).
// Returns svc_decoded, or a negative number. Part of an aborted batch may be in the cache, complete from its start (see
// svc_kv_remove).
SVC_API int32_t svc_decode(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                           const int32_t * samplers, const int32_t * owners, int32_t count, int32_t steps,
                           int32_t together, int32_t * out_tokens);
// Decodes `count` embeddings of a medium for one sequence, with the address and positions from the media library (four
// numbers per position where the model needs that). `non_causal`: all embeddings attend to each other. Nothing is
// sampled. An abort request for `owner` stops it; 0: none does. Returns what svc_decode does.
SVC_API int32_t svc_decode_embeddings(uint64_t embeddings, const int32_t * positions, int32_t count, int32_t sequence,
                                      int32_t non_causal, int32_t owner);

// Runs `count` jobs of the draft model together. `jobs` has four numbers for each: sequence, position, length, wanted.
// Each job trims one of the draft's sequences, which are its own and have the model's ids, to the position, feeds the next
// `length` tokens, then generates greedily at most `wanted` tokens, up to the end of a turn or a token less probable than
// pMin. `tokens` holds the tokens to feed, job after job, at most the batch size in all. Each job
// has `wanted` places in `out_tokens`, and `out_counts` says how many it used: -1 if a token is not in the draft's
// vocabulary, in which case nothing was fed. Afterwards a sequence holds the fed tokens and all generated tokens but
// the last. Returns the number of decode calls, or negative; after SVC_ERROR_NO_CAPACITY the sequences are empty.
SVC_API int32_t svc_draft(const int32_t * jobs, int32_t count, const int32_t * tokens, int32_t * out_tokens, int32_t * out_counts);

// ---- chunks: rows of prompts, none of them sampled, whose computation pauses during the steps of others ----

// Begins a chunk of `count` rows, at most svc_model_info's `chunk`; only one at a time. Nothing is computed yet. Until
// the chunk is done, its sequences belong to it; other sequences may be decoded, copied, saved and removed. `owners`:
// see svc_decode. Returns 0, or a negative number.
SVC_API int32_t svc_chunk_begin(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                                const int32_t * owners, int32_t count);
// Computes the chunk for about `milliseconds`: a graph node that would not end in time is left to the next call, unless
// it is the first. Returns svc_decoded, or a negative number.
// If paused, call again; otherwise the chunk has ended, and unless it is done, the cache is as before it.
SVC_API int32_t svc_chunk_resume(double milliseconds);
// Ends the chunk, if there is one; the cache is then as before it.
SVC_API void svc_chunk_abandon(void);
// Returns the number of threads in use: at most the configured number, fewer while other programs need the cores.
SVC_API int32_t svc_compute_threads(void);

// ---- LoRA adapters ----

// Selects the adapters, numbered in the order in which they were loaded, and their scales for batches and chunks that
// begin from now on; with `count` 0 the model computes alone. After a change the next decode or chunk must plan its
// graph anew. Returns 0, or a negative number.
SVC_API int32_t svc_adapters_set(const int32_t * ids, const float * scales, int32_t count);

// ---- KV cache ----

// Removes positions [from, to) of a sequence; to < 0 means the end. Returns 1, or 0 when this model cannot.
SVC_API int32_t svc_kv_remove(int32_t sequence, int32_t from, int32_t to);
// Releases the memory of a paged sequence's cells except the first `cells`, which hold all its tokens. Needed after
// each svc_kv_remove of tokens that the sequence may share, unless that empties it. Returns 0, or a negative number.
SVC_API int32_t svc_kv_release(int32_t sequence, int32_t cells);
// Replaces the contents of `to` by the first `length` positions of `from`: shares them (unified and paged; `cells`:
// number of cells that they take) or copies them (streams). Returns 0, or a negative number.
SVC_API int32_t svc_kv_copy(int32_t from, int32_t to, int32_t length, int32_t cells);
// Replaces the contents of `to` by those of `from`, which is empty afterwards: without a copy, except in streams. Returns
// 0, or a negative number.
SVC_API int32_t svc_kv_move(int32_t from, int32_t to);
// Selects positions [from, to) of a sequence for saving (to < 0: the end; the stream layout can only save all). Returns
// the bytes needed; 0 when that is not possible.
SVC_API double svc_kv_save_begin(int32_t sequence, int32_t from, int32_t to);
// Writes the selected positions to `out`, which holds `capacity` bytes. Returns the bytes written, or negative.
SVC_API double svc_kv_save(uint8_t * out, double capacity);
// Adds a saved part to a sequence that holds what precedes it; `first`: the part replaces what the sequence held.
// Returns 1, or 0 when that failed; the sequence is then empty.
SVC_API int32_t svc_kv_restore(int32_t sequence, const uint8_t * bytes, double length, int32_t first);

// ---- workers: serve this machine's devices to models on other machines, by llama.cpp's RPC protocol ----

// Listens and serves on native threads, one client after the other. `config` is JSON: {host (an IPv4 address), port (0:
// a free one), allow: [networks "address/bits" that may connect], threads, devices: [names; empty: the GPUs, or else
// the CPU], memory (limit on the bytes that the CPU reports as free)}. Once per process. Returns the port, or negative.
SVC_API int32_t svc_worker_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the served devices: [{name, description, free, total (bytes)}].
SVC_API int32_t svc_worker_devices(uint8_t * out, int32_t capacity);

// ---- embeddings: a model loaded with `embedding` ----

// Writes JSON about the loaded model: {description, architecture, parameters, bytes, vocabulary, trainedContext,
// dimensions (1 for rank), batch, sequences, device, bos, eos, sep (-1: none), addBos, addEos, addSep, stripsAccents:
// its tokenizer is BERT's, for text without accents, probabilities: scores are from 0 to 1, rerankTemplate?}.
SVC_API int32_t svc_embed_info(uint8_t * out, int32_t capacity);
// Writes the token ids of a text. `add_special`: adds the tokens that the model puts around an input; `parse_special`:
// reads special tokens spelt in the text. Returns their number, or the negated number needed.
SVC_API int32_t svc_embed_tokenize(const uint8_t * text, int32_t length, int32_t add_special, int32_t parse_special,
                                   int32_t * out, int32_t capacity);
// Computes `count` inputs together, whose tokens lie one after the other in `tokens`: at most `sequences` inputs and
// `batch` tokens. Writes `dimensions` numbers each: vectors of length 1, or the score. An abort request for `owner`
// stops the computation, as in svc_decode. Returns svc_decoded, or a negative number.
SVC_API int32_t svc_embed(const int32_t * tokens, const int32_t * lengths, int32_t count, int32_t owner, float * out);

#ifdef __cplusplus
}
#endif
