// The native surface of sound files: a flat C ABI over miniaudio, which reads WAV, MP3 and FLAC and changes sample rates.
//
// The rules and what is not particular to it are in ../common/library.h. Nothing is loaded and nothing computes for long: a
// call that reads decodes as many frames as are requested. One thread at a time may call. svc_unload closes everything.
//
// All samples that come out are of one channel at SVC_AUDIO_RATE Hz, between -1 and 1 unless a file holds louder ones.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 2
#define SVC_AUDIO_RATE 16000

// Why a call failed.
enum svc_audio_error {
    SVC_AUDIO_ERROR_FAILED,
    // The file is at fault: its format or what its header says.
    SVC_AUDIO_ERROR_BAD_SOUND
};

// Opens a WAV, MP3 or FLAC file by its path, and keeps it open. Returns its number > 0, or negative.
SVC_API int32_t svc_audio_open(const uint8_t * path, int32_t length);
// Writes JSON: {format ("wav"|"mp3"|"flac"), rate (Hz), channels: both of the file, seconds: how long it says to play, which
// may be wrong, or null}.
SVC_API int32_t svc_audio_info(int32_t sound, uint8_t * out, int32_t capacity);
// Decodes the next `frames` frames. Returns how many there were, 0 at the end; what is damaged counts as the end. Negative
// failed.
SVC_API int32_t svc_audio_read(int32_t sound, float * out, int32_t frames);

// Opens a converter from `rate` Hz, for samples of one channel that somebody else has decoded. Returns its number > 0, or
// negative.
SVC_API int32_t svc_audio_open_converter(int32_t rate);
// Converts all `frames` samples and returns how many came of them; what comes of the last few may come with the next call.
// `capacity` must be enough for all, else it is negative: frames · SVC_AUDIO_RATE / rate, and one more.
SVC_API int32_t svc_audio_convert(int32_t converter, const float * samples, int32_t frames, float * out, int32_t capacity);

// Closes a sound or a converter. A number that is unknown does nothing.
SVC_API void svc_audio_close(int32_t number);

#ifdef __cplusplus
}
#endif
