// The C interface for sound files: a flat C ABI over miniaudio, which reads WAV, MP3 and FLAC and changes sample rates.
//
// ../common/library.h has the rules and the functions that all libraries share. Nothing is loaded, and no call computes
// for long: a read decodes only as many frames as requested. One thread at a time may call. svc_unload closes all.
//
// Returned samples have one channel at SVC_AUDIO_RATE Hz. They are between -1 and 1 unless a file holds louder ones.
#pragma once
#include "../common/library.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SVC_ABI_VERSION 3
#define SVC_AUDIO_RATE 16000

// Error codes.
enum svc_audio_error {
    SVC_AUDIO_ERROR_FAILED,
    // The file is at fault: either its format or the contents of its header.
    SVC_AUDIO_ERROR_BAD_SOUND
};

// Opens a WAV, MP3 or FLAC file by its path. Returns its handle > 0, or a negative number.
SVC_API int32_t svc_audio_open(const uint8_t * path, int32_t length);
// Returns the number of frames that the file declares, which may be wrong; 0: it declares none, negative: failed.
SVC_API double svc_audio_declared_frames(int32_t sound);
// Decodes the next `frames` frames. Returns how many there were: 0 at the end or where the rest is damaged, negative:
// failed.
SVC_API int32_t svc_audio_read(int32_t sound, float * out, int32_t frames);

// Opens a converter from `rate` Hz for one-channel samples decoded elsewhere. Returns its handle > 0, or a negative
// number.
SVC_API int32_t svc_audio_open_converter(int32_t rate);
// Converts all `frames` samples and returns the number of output samples; output for the last few may come with the
// next call. Returns a negative number when `capacity` is too small; frames · SVC_AUDIO_RATE / rate + 1 is enough.
SVC_API int32_t svc_audio_convert(int32_t converter, const float * samples, int32_t frames, float * out, int32_t capacity);

// Closes a sound or a converter. Does nothing for an unknown handle.
SVC_API void svc_audio_close(int32_t number);

#ifdef __cplusplus
}
#endif
