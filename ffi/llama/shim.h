// The native surface of the llama engine: a flat C ABI over llama.cpp and its common library.
//
// The rules and what is not particular to it are in ../common/library.h. Unless stated otherwise every function belongs to
// the one thread that calls svc_decode. One process holds one model and one context, so there is no handle for them.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 12

// Why a call failed; the last five are the fault of a request.
enum svc_error {
    SVC_ERROR_FAILED,
    // The KV cache of the draft model is full.
    SVC_ERROR_NO_ROOM,
    // A token id is not in the vocabulary.
    SVC_ERROR_UNKNOWN_TOKEN,
    // The vocabulary has no tokens for a prompt with a suffix.
    SVC_ERROR_NO_INFILL,
    // The grammar is no GBNF, or too large.
    SVC_ERROR_BAD_GRAMMAR,
    // The assistant prefill nests deeper than any parser of constrained answers goes.
    SVC_ERROR_PREFILL_TOO_DEEP,
    // The grammar can read the assistant prefill in so many ways that a token of it takes seconds.
    SVC_ERROR_PREFILL_AMBIGUOUS,
    // Template and tokenizer would take longer than any prompt is worth.
    SVC_ERROR_PROMPT_TOO_SLOW
};

// ---- library ----

// "llama.cpp 0.5.0 (<commit>)"; static.
SVC_API const char * svc_library_version(void);
// Loads the compute backends found in `backend_dir` and nothing from anywhere else. 0, or negative.
SVC_API int32_t svc_init(const char * backend_dir);

// ---- model and context ----

// Starts loading on a native thread. `config` is JSON: {path, context, parallel, sequences, layout ("unified"|"streams"|
// "paged": where that is not to be had, unified), region (most cells of a paged sequence), batch, microBatch, threads, gpuLayers (-1 all), flashAttention ("auto"|"on"|"off"), kvType ("f16"|"q8_0"|…), mmap, mlock, warmup, chatTemplate
// (Jinja source in place of the model's own, or ""), adapters: [paths of LoRA files], draft?: {path, pMin}: a model that
// drafts for this one, see svc_draft, spread: {workers: ["address:port" of those whose devices are used, too, each known to be
// there], splitMode ("layer"|"row"|"none"), mainGpu, tensorSplit: [a share for each device, workers first; none: by free memory]}}. 0, or negative.
// For vectors instead of text: {path, embedding: "embed"|"rank", batch (tokens that are computed at once, also the longest
// input), sequences (inputs at once), threads, gpuLayers, flashAttention, mmap, mlock, warmup}. Of all functions below only
// those about embeddings are for such a model.
SVC_API int32_t svc_load_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the loaded model: {description, architecture, parameters, bytes, vocabulary, trainedContext,
// context, contextPerSequence, sequences, batch, hasChatTemplate, template: {tools, thinking, system}, chatTemplate (Jinja source), bosToken, eosToken (text), addBos, device,
// longestToken (bytes of text that a token stands for at most; 0: unknown), canRemovePartial, canRollBack (the tokens of the last few steps can be removed), sampling: {temperature?, topK?, topP?, minP?, repetitionPenalty?, repetitionWindow?}} where `sampling`
// is what the file's general.sampling.* says.
SVC_API int32_t svc_model_info(uint8_t * out, int32_t capacity);
// The llama_model *, for other native libraries in this process; 0 when none is loaded. Valid until svc_unload.
SVC_API uint64_t svc_model_pointer(void);

// ---- prompts: rendered, tokenized and given a sampler on native threads ----

// Queues a prompt. `request` is JSON, one of
//   {"messages": [OpenAI shape; a part of type media_marker stands for a medium], "tools": [OpenAI shape],
//    "enforced": [for each tool the schema that its arguments are held to; the prompt has those in "tools"],
//    "described"?: how many of the last tools the prompt leaves out of its list: the messages tell of them,
//    "toolChoice": "auto"|"required", "parallelToolCalls": bool, "schema"?: JSON schema of the answer,
//    "grammar"?: GBNF of the answer, "constrain": bool (false: nothing is enforced), "kwargs": {name: value},
//    "enableThinking"?: bool (absent: as the template does by itself), "continueLast": bool (the last message is the
//    beginning of the answer), "generationPrompt": bool (false: the prompt ends behind the last message), "sampler": {…},
//    "media": bool (the prompt is tokenized elsewhere, with its media: no repetition window)}
//   {"text": string, "suffix"?: string (the answer fills the gap before it; then "begun"?: string, what it begins with, and
//    "files"?: [{filename, text}], read before), "parseSpecial": bool, "addSpecial": bool,
//    "schema"?, "grammar"?, "sampler"?: {…}}
//   {"tokens": [ids], "schema"?, "grammar"?, "sampler"?: {…}}
//   the last two with "score"?: true where log probabilities of the prompt's tokens are wanted (see svc_sampler_scores)
// where `sampler` is {temperature, topP, topK, minP, typicalP, topNSigma, xtcProbability, xtcThreshold, dynatempRange,
// dynatempExponent, repetitionPenalty, repetitionWindow, presencePenalty, dryMultiplier, dryBase, dryAllowedLength,
// dryPenaltyLastN, drySequenceBreakers, mirostat, mirostatTau, mirostatEta, logitBias: [[token, bias]], seed, ignoreEos,
// minTokens, reasoningBudget (-1 = none), topLogprobs (-1 = none)}.
// `client`: whose it is; clients take turns, by bytes, and none holds all threads. Short ones without `has_grammar`, which are
// those without tools, schema and grammar, do not wait for others. `owner`: what svc_abort_listen tells of it, should its
// grammar end the process; 0: nothing.
// Returns a job number > 0, or negative.
SVC_API int32_t svc_prompt_submit(const uint8_t * request, int32_t request_length, int32_t has_grammar, const char * client, int32_t owner);
// Forgets a job, and its bytes if it has not begun; where many that had begun are forgotten, the result of one may still come.
SVC_API void svc_prompt_cancel(int32_t job);
// Waits up to `timeout_ms` (0 = not at all) for any job to end. Returns its number, or 0.
SVC_API int32_t svc_prompt_wait(int32_t timeout_ms);
// Number of tokens of a finished job, or negative with why it failed; a failed job is freed by this.
SVC_API int32_t svc_prompt_tokens_count(int32_t job);
// Copies the rendered text of a finished job for messages.
SVC_API int32_t svc_prompt_text(int32_t job, uint8_t * out, int32_t capacity);
// Copies the tokens and the job's JSON and frees the job. The JSON is {} with, for messages, {stops: [additional stop
// strings], parsed: the answer must be read with svc_answer_read, constrained: a grammar is at work, unconstrained: one
// was wanted but could not be built (of a tool's arguments, or at all), preserved: [special tokens that are text here],
// thinkingEnds: [text that ends reasoning]}, and {sampler: slot} when a sampler was requested.
SVC_API int32_t svc_prompt_take(int32_t job, int32_t * tokens, int32_t tokens_capacity, uint8_t * json, int32_t json_capacity);

// ---- tokens ----

// Text of a token as raw bytes; control tokens as nothing, unless `special`.
SVC_API int32_t svc_token_piece(int32_t token, int32_t special, uint8_t * out, int32_t capacity);
// 1 when the token ends a generation.
SVC_API int32_t svc_token_is_end(int32_t token);

// ---- samplers: one for each request, with its own generator; made by svc_prompt_take ----

SVC_API void svc_sampler_free(int32_t sampler);
// 1 when the answer was cut at the last token: the grammar allows no other, or takes too long.
SVC_API int32_t svc_sampler_stuck(int32_t sampler);
// Log probabilities of the last sampled token: ids[0], logprobs[0] is the token, the rest the best alternatives in
// order. From the model's raw distribution, before penalties and temperature. Returns the number of entries.
SVC_API int32_t svc_sampler_logprobs(int32_t sampler, int32_t * ids, float * logprobs, int32_t capacity);

// Takes the log probabilities of a prompt's own tokens that the last steps gave: for each row that was marked (see svc_decode), in
// their order, the token behind it, then the best alternatives, as many for each. Returns the number of entries.
SVC_API int32_t svc_sampler_scores(int32_t sampler, int32_t * ids, float * logprobs, int32_t capacity);

// ---- answers: taken apart while they are written, where svc_prompt_take says `parsed` ----

// Appends the text of a token. 0, or negative.
SVC_API int32_t svc_answer_push(int32_t sampler, const uint8_t * bytes, int32_t count);
// Reads the text so far and writes what is new in it since the last call as JSON: {reasoning?, content?, calls?: [{index,
// name and id in a call's first appearance (id may be ""), arguments?}], failed?: true}, the strings being what is to be
// appended. `final`: the text is complete; `failed` then says that it does not follow the format: what it contains beyond
// tool calls is content. Returns 0 when nothing is new.
SVC_API int32_t svc_answer_read(int32_t sampler, int32_t final, uint8_t * out, int32_t capacity);

// ---- grammars ----

// Writes the GBNF that llama.cpp makes of a JSON schema.
SVC_API int32_t svc_schema_grammar(const uint8_t * schema, int32_t length, uint8_t * out, int32_t capacity);
// 1 when the whole text follows the grammar, 0 when not, negative when the grammar is invalid.
SVC_API int32_t svc_grammar_accepts(const uint8_t * grammar, int32_t grammar_length, const uint8_t * text, int32_t text_length);

// ---- decode ----

enum svc_decoded {
    SVC_DECODED_DONE,
    // The KV cache has no room, and is as before.
    SVC_DECODED_NO_ROOM,
    SVC_DECODED_ABORTED,
    // Of a chunk: there is more to compute.
    SVC_DECODED_PAUSED
};
// Decodes one batch of `count` tokens and samples the rows whose `samplers[i]` is ≥ 0 with that sampler, which accepts
// its token. Several rows in a row with one sampler hold draft tokens: each but the first holds the token that the one before
// is expected to give. They are sampled in order up to the first that is not as drafted, ends the turn or is the last that
// the grammar allows; those behind it give -1, and their cells are the caller's to remove. At most parallel + 64 rows are
// sampled. A row whose entry is -2 - SLOT is one of the prompt of that slot's sampler, at its own position: nothing is sampled, the
// log probability of the prompt's next token is kept; it counts among those rows. Rows must be sorted by sequence id for the stream KV mode to keep them in one piece. Sampled tokens are
// written in row order to `out_tokens`. `owner` is the request whose tokens alone fill the batch: an abort request for it stops the computation.
// -1: an abort request for anyone does, because the batch is long and shared. 0: none does.
// `steps` > 1 asks for so many decode steps on end, each with the tokens that the one before gave; every row must have a
// sampler of its own. They stop early behind a step in which any row's turn ends, and at one that cannot be computed.
// `out_tokens` then holds the rows of each step one after the other, -1 for steps that were not made.
// Returns svc_decoded, or negative. Of an aborted batch a part may be in the cache, finished from its front (see
// svc_kv_remove).
SVC_API int32_t svc_decode(const int32_t * tokens, const int32_t * positions, const int32_t * sequences,
                           const int32_t * samplers, int32_t count, int32_t owner, int32_t steps, int32_t * out_tokens);
// Decodes `count` embeddings of a medium (the address and the positions that the media library gives; four numbers a
// position where the model wants that) for one sequence. `non_causal`: all of them attend to each other. Nothing is
// sampled. Returns what svc_decode does.
SVC_API int32_t svc_decode_embeddings(uint64_t embeddings, const int32_t * positions, int32_t count, int32_t sequence,
                                      int32_t non_causal, int32_t owner);

// What the draft model is to do with one of its sequences, which are its own and have the model's ids: forget what it holds
// from the position on, take in the next `length` tokens, then write on, greedily, for `wanted` tokens at most, up to the end
// of a turn or a token that is less probable than pMin.
typedef struct svc_draft_job {
    int32_t sequence;
    int32_t position;
    int32_t length;
    int32_t wanted;
} svc_draft_job;
// Does `count` of these together; `tokens` holds what each takes in, one after the other, at most the batch size in all.
// Each job has as many places in `out_tokens` as it wants, and `out_counts` says how many it took: -1 if a token is not in
// the draft's vocabulary, and nothing was taken in. Afterwards a sequence holds what it took in and all that it wrote but the
// last token. Returns the number of decode calls, or negative; with SVC_ERROR_NO_ROOM, these sequences are empty now.
SVC_API int32_t svc_draft(const svc_draft_job * jobs, int32_t count, const int32_t * tokens, int32_t * out_tokens, int32_t * out_counts);

// ---- chunks: rows of prompts, none of them sampled, whose computation pauses while others' steps are made ----

// Begins a chunk of `count` rows, at most svc_model_info's `chunk`; one at a time. Nothing is computed yet. Until the chunk
// is done, its sequences belong to it; those of others may be decoded, copied, saved and removed. 0, or negative.
SVC_API int32_t svc_chunk_begin(const int32_t * tokens, const int32_t * positions, const int32_t * sequences, int32_t count);
// Computes it for about so long: a node of the graph that would not end in time is left to the next call, unless it is the
// first. An abort request for `owner` (see
// svc_decode) stops it. Returns svc_decoded, or negative. If paused: call again; else the chunk has ended, and unless it is done, the
// cache is as before it.
SVC_API int32_t svc_chunk_resume(int32_t owner, double milliseconds);
// Ends the chunk, if one is begun: the cache is then as before it.
SVC_API void svc_chunk_abandon(void);
// Threads that compute at this moment: at most those of the configuration, fewer while other programs want the cores.
SVC_API int32_t svc_compute_threads(void);

// ---- LoRA adapters ----

// What is decoded from here on, and chunks that begin from here on, are computed by the model with these of its adapters,
// numbered in the order in which they were loaded, each with its scale; with `count` 0 by the model alone. Another set than
// before costs the next decode, or the next chunk, the planning of its graph. 0, or negative.
SVC_API int32_t svc_adapters_set(const int32_t * ids, const float * scales, int32_t count);

// ---- KV cache ----

// Forgets positions [from, to) of a sequence; to < 0 means to the end. 1 done, 0 not possible for this model.
SVC_API int32_t svc_kv_remove(int32_t sequence, int32_t from, int32_t to);
// Gives back the memory of a paged sequence's cells but the first `cells`, which hold all its tokens. This must follow
// each svc_kv_remove of tokens that the sequence may share with another; one that empties it does it itself.
SVC_API void svc_kv_give_back(int32_t sequence, int32_t cells);
// Makes `to` share (unified and paged; `cells`: how many cells these take) or copy (streams) the first `length` positions of
// `from`, in place of what it held. 0, or negative.
SVC_API int32_t svc_kv_copy(int32_t from, int32_t to, int32_t length, int32_t cells);
// Chooses positions [from, to) of a sequence (to < 0: to the end; in the stream layout only all of them can be) and
// returns the bytes that saving them takes; 0 when that is not possible.
SVC_API double svc_kv_save_begin(int32_t sequence, int32_t from, int32_t to);
// Writes what was chosen. Returns the bytes written, or negative. `out` holds `capacity` bytes.
SVC_API double svc_kv_save(uint8_t * out, double capacity);
// Adds what was saved to a sequence that holds what was before it; `first`: it replaces what the sequence held. 1 done, 0
// not possible: the sequence is empty then.
SVC_API int32_t svc_kv_restore(int32_t sequence, const uint8_t * bytes, double length, int32_t first);
SVC_API void svc_kv_clear(void);

// ---- workers: this machine's devices for other machines' models, by llama.cpp's RPC protocol ----

// Listens and serves on native threads, one client after the other. `config` is JSON: {host (an IPv4 address), port (0: a free
// one), allow: [networks "address/bits" that may connect], threads, devices: [names; none: the GPUs, or else the CPU], memory (the most
// bytes that the CPU has free)}. Once a process. Returns the port, or negative.
SVC_API int32_t svc_worker_start(const uint8_t * config, int32_t config_length);
// Writes JSON about the devices that are served: [{name, description, free, total (bytes)}].
SVC_API int32_t svc_worker_devices(uint8_t * out, int32_t capacity);

// ---- embeddings: a model loaded with `embedding` ----

// Writes JSON about the loaded model: {description, architecture, parameters, bytes, vocabulary, trainedContext, dimensions
// (1 for rank), pooling: "mean"|"cls"|"last"|"rank", batch, sequences, device, bos, eos, sep (-1: none), addBos, addEos, addSep,
// stripsAccents: its tokenizer is BERT's, for text without accents, rerankTemplate?}.
SVC_API int32_t svc_embed_info(uint8_t * out, int32_t capacity);
// Token ids of a text. `add_special`: with those that the model puts around an input; `parse_special`: those spelt in the
// text count. Returns their number, or the negated number needed.
SVC_API int32_t svc_embed_tokenize(const uint8_t * text, int32_t length, int32_t add_special, int32_t parse_special,
                                   int32_t * out, int32_t capacity);
// Computes `count` inputs together, whose tokens lie one after the other in `tokens`: at most `sequences` inputs and
// `batch` tokens. Writes `dimensions` numbers each: vectors of length 1, or the score. An abort request for `owner` stops it,
// as in svc_decode. Returns svc_decoded, or negative.
SVC_API int32_t svc_embed(const int32_t * tokens, const int32_t * lengths, int32_t count, int32_t owner, float * out);

#ifdef __cplusplus
}
#endif
