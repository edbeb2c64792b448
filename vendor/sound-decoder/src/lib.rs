//! Sound files that the audio shim does not read, packet by packet: MP4, WebM and Matroska, Ogg, ADTS, AIFF and CAF with AAC,
//! ALAC, MP3, Vorbis or PCM inside. Opus comes out as packets, for another decoder.
//!
//! One instance reads one file, which the host hands out by `read`. Whatever a file makes panic traps.

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};

use symphonia::core::codecs::audio::well_known::{CODEC_ID_AAC, CODEC_ID_OPUS};
use symphonia::core::codecs::audio::{AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::{Error, Result};
use symphonia::core::formats::{FormatOptions, FormatReader, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream};
use symphonia::default::formats::{AdtsReader, AiffReader, CafReader, IsoMp4Reader, MkvReader, OggReader};

// What `open` and `next` return where there is nothing to hand out.
const END: i32 = -1;
const DAMAGED: i32 = -2;
const UNSUPPORTED: i32 = -3;
const NO_SOUND: i32 = -4;

const MOST_CHANNELS: usize = 16;
/// What every encoder of AAC puts before the sound, in samples.
const AAC_PRIMING: usize = 1024;

#[link(wasm_import_module = "host")]
unsafe extern "C" {
    /// Copies up to `length` bytes from `offset` of the file on to `out`. How many there were.
    fn read(offset: f64, out: *mut u8, length: u32) -> u32;
}

struct HostFile {
    position: u64,
    size: u64,
    is_seekable: bool,
}

impl Read for HostFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = unsafe { read(self.position as f64, out.as_mut_ptr(), out.len() as u32) } as usize;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for HostFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let target = match to {
            SeekFrom::Start(offset) => Some(offset),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
        };
        self.position = target.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl MediaSource for HostFile {
    fn is_seekable(&self) -> bool {
        self.is_seekable
    }
    fn byte_len(&self) -> Option<u64> {
        self.is_seekable.then_some(self.size)
    }
}

struct Sound {
    format: Box<dyn FormatReader>,
    track: u32,
    /// None: the packets are Opus.
    decoder: Option<Box<dyn AudioDecoder>>,
    /// Of the codec: how an Opus track is coded.
    head: Vec<u8>,
    interleaved: Vec<f32>,
    /// Of one channel.
    samples: Vec<f32>,
    packet: Box<[u8]>,
    rate: u32,
    /// Of the packet that came last, in seconds.
    time: f64,
    /// Samples at the beginning that are not to be played.
    priming: usize,
    /// Seconds of an Opus packet that are not to be played.
    trim: [f64; 2],
}

thread_local! {
    static SOUND: RefCell<Option<Sound>> = const { RefCell::new(None) };
}

fn code(error: &Error) -> i32 {
    match error {
        Error::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => END,
        Error::Unsupported(_) => UNSUPPORTED,
        _ => DAMAGED,
    }
}

fn reader(kind: i32, file: HostFile) -> Result<Box<dyn FormatReader>> {
    let source = MediaSourceStream::new(Box::new(file), Default::default());
    let options = FormatOptions::default();
    Ok(match kind {
        0 => Box::new(IsoMp4Reader::try_new(source, options)?),
        1 => Box::new(MkvReader::try_new(source, options)?),
        2 => Box::new(OggReader::try_new(source, options)?),
        3 => Box::new(AdtsReader::try_new(source, options)?),
        4 => Box::new(AiffReader::try_new(source, options)?),
        _ => Box::new(CafReader::try_new(source, options)?),
    })
}

/// The track that is played, and its decoder.
fn choose(format: Box<dyn FormatReader>) -> core::result::Result<Sound, i32> {
    let track = format.default_track(TrackType::Audio).ok_or(NO_SOUND)?;
    let params = track.codec_params.as_ref().and_then(|params| params.audio()).ok_or(UNSUPPORTED)?;
    if params.channels.as_ref().is_some_and(|channels| channels.count() > MOST_CHANNELS) {
        return Err(DAMAGED);
    }
    let decoder = if params.codec == CODEC_ID_OPUS {
        None
    } else {
        let made = symphonia::default::get_codecs().make_audio_decoder(params, &AudioDecoderOptions::default());
        Some(made.map_err(|error| code(&error))?)
    };
    let priming = if params.codec == CODEC_ID_AAC { AAC_PRIMING } else { 0 };
    let head = params.extra_data.as_deref().unwrap_or_default().to_vec();
    Ok(Sound {
        track: track.id,
        head,
        decoder,
        format,
        interleaved: Vec::new(),
        samples: Vec::new(),
        packet: Box::default(),
        rate: 0,
        time: 0.0,
        priming,
        trim: [0.0; 2],
    })
}

impl Sound {
    /// How many samples, or bytes of Opus, came of the next packet, which may be none; negative: see above.
    fn next(&mut self) -> i32 {
        let packet = match self.format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => return END,
            // One recording behind another.
            Err(Error::ResetRequired) => return self.choose_again(),
            Err(error) => return code(&error),
        };
        if packet.track_id != self.track {
            return 0;
        }
        let base = self.format.tracks().iter().find(|track| track.id == self.track).and_then(|track| track.time_base);
        let tick = base.map_or(0.0, |base| f64::from(base.numer.get()) / f64::from(base.denom.get()));
        self.time = packet.pts.get() as f64 * tick;
        let Some(decoder) = &mut self.decoder else {
            self.trim = [packet.trim_start.get() as f64 * tick, packet.trim_end.get() as f64 * tick];
            self.packet = packet.data;
            return self.packet.len() as i32;
        };
        match decoder.decode(&packet) {
            Ok(decoded) => {
                let channels = decoded.num_planes();
                if channels == 0 || channels > MOST_CHANNELS {
                    return DAMAGED;
                }
                self.rate = decoded.spec().rate();
                decoded.copy_to_vec_interleaved(&mut self.interleaved);
                let mono = self.interleaved.chunks_exact(channels).map(|frame| frame.iter().sum::<f32>() / channels as f32);
                let skipped = self.priming.min(decoded.frames());
                self.priming -= skipped;
                self.samples.clear();
                self.samples.extend(mono.skip(skipped));
                self.samples.len() as i32
            }
            // What is damaged is left out.
            Err(Error::DecodeError(_)) => 0,
            Err(Error::IoError(_)) => 0,
            Err(error) => code(&error),
        }
    }

    fn choose_again(&mut self) -> i32 {
        let Some(track) = self.format.default_track(TrackType::Audio) else { return END };
        let Some(params) = track.codec_params.as_ref().and_then(|params| params.audio()) else { return END };
        if (params.codec == CODEC_ID_OPUS) != self.decoder.is_none() {
            return END;
        }
        self.track = track.id;
        if self.decoder.is_none() {
            return 0;
        }
        match symphonia::default::get_codecs().make_audio_decoder(params, &AudioDecoderOptions::default()) {
            Ok(decoder) => {
                self.decoder = Some(decoder);
                0
            }
            Err(error) => code(&error),
        }
    }
}

fn with<T>(nothing: T, body: impl FnOnce(&mut Sound) -> T) -> T {
    SOUND.with_borrow_mut(|sound| sound.as_mut().map_or(nothing, body))
}

/// Opens the file of `size` bytes that the host has. `kind`: 0 MP4, 1 Matroska, 2 Ogg, 3 ADTS, 4 AIFF, 5 CAF. `is_seekable`: 0
/// looks for nothing at the end of the file, which may be cut off. 0: `next` gives samples; 1: it gives Opus packets; negative:
/// see above. Once an instance.
#[unsafe(no_mangle)]
pub extern "C" fn open(kind: i32, size: f64, is_seekable: i32) -> i32 {
    let file = HostFile { position: 0, size: size as u64, is_seekable: is_seekable != 0 };
    let sound = reader(kind, file).map_err(|error| code(&error)).and_then(choose);
    match sound {
        Ok(sound) => {
            let is_opus = sound.decoder.is_none();
            SOUND.set(Some(sound));
            i32::from(is_opus)
        }
        Err(code) => code,
    }
}

/// Reads a packet: see `Sound::next`. What came of it is at `output`.
#[unsafe(no_mangle)]
pub extern "C" fn next() -> i32 {
    with(END, Sound::next)
}

#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    with(core::ptr::null(), |sound| match sound.decoder {
        Some(_) => sound.samples.as_ptr().cast(),
        None => sound.packet.as_ptr(),
    })
}

/// Hz of the samples that came last.
#[unsafe(no_mangle)]
pub extern "C" fn rate() -> i32 {
    with(0, |sound| sound.rate as i32)
}

/// Where what came last begins, in seconds by the clock of the file.
#[unsafe(no_mangle)]
pub extern "C" fn time() -> f64 {
    with(0.0, |sound| sound.time)
}

/// Seconds at the start of the Opus packet that came last that are not to be played.
#[unsafe(no_mangle)]
pub extern "C" fn trim_start() -> f64 {
    with(0.0, |sound| sound.trim[0])
}

/// The same at its end.
#[unsafe(no_mangle)]
pub extern "C" fn trim_end() -> f64 {
    with(0.0, |sound| sound.trim[1])
}

#[unsafe(no_mangle)]
pub extern "C" fn head() -> *const u8 {
    with(core::ptr::null(), |sound| sound.head.as_ptr())
}

/// Bytes at `head`: the identification header of an Opus track.
#[unsafe(no_mangle)]
pub extern "C" fn head_length() -> i32 {
    with(0, |sound| sound.head.len() as i32)
}
