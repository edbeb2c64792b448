// Every command of the program in one table; argument parsing, help, completions and docs are made from it.

import {
  extensionsOf,
  extensionsOfNamed,
  IMAGE_FILES,
  OCR_FORMATS,
  SPEECH_FILES,
  TRANSCRIPT_FORMATS,
  type Formats,
  type NamedFormats,
} from "./file-formats.ts";

/** An option that belongs to one command. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** Placeholder for the value; a flag without one is a switch. */
  readonly value?: string;
  readonly help: string;
}

export interface Command {
  /** What follows the name in the usage line. */
  readonly usage: string;
  readonly help: string;
  /** Minimum and maximum number of operands; `needs` names what is missing when there are fewer. */
  readonly least?: number;
  readonly most?: number;
  readonly needs?: string;
  /** Kind of the operands, for completions: files, downloaded models, or one of these words. */
  readonly operands?: "files" | "models" | readonly string[];
  readonly flags?: readonly Flag[];
  /** Options of svc that the command's help lists, by name, with what they mean to it. */
  readonly reads?: Readonly<Record<string, string>>;
  /** Whether the command serves or computes, so that it reads most options of svc. */
  readonly readsMost?: true;
  /** Calls that the command's help shows. */
  readonly examples?: readonly string[];
}

const format = (choices: readonly string[]) =>
  ({ name: "format", value: "FORMAT", help: `Format: ${choices.join(", ")}.` }) as const;
const language = (help: string) => ({ name: "language", value: "TAG", help }) as const;
const output = (help: string) => ({ name: "output", short: "o", value: "PATH", help }) as const;
const outputFile = (files: NamedFormats) =>
  output(`File, whose name extension sets the format: ${extensionsOfNamed(files)}; - is standard output.`);
const outputFolder = (source: string, formats: Formats) =>
  output(
    `Folder for one file per ${source}, or a file, whose name extension sets the format: ${extensionsOf(formats)}; - is standard output.`,
  );
const port = "Port of the server.";
/** How commands reach a running server. */
const server = {
  host: "Address of the server.",
  port,
  "api-key": "API key to send. Every user of the machine can read the command line, so prefer --api-key-file.",
  "api-key-file": "File of API keys, of which the first is sent.",
  "tls-cert": "Certificate of the server, if it uses HTTPS; the server must have this one.",
  "tls-key": "Private key of the certificate in --tls-cert.",
} as const;
/** What commands print besides their results. */
const notices = {
  quiet: "Print no progress and no notices.",
  "log-format": "Format of notices; with json, they are JSON lines on standard error.",
} as const;
const store = {
  "data-dir": "Folder of svc's data, in which downloaded models are unless --models-dir is given.",
  "models-dir": "Folder of the downloaded models; default: models in the data folder.",
} as const;
const json = { name: "json", help: "Print JSON." } as const;

const commands = {
  serve: {
    usage: "[options] [model.gguf]",
    help: "serve; standard input is never read as a prompt",
    readsMost: true,
    most: 1,
    operands: "files",
  },
  transcribe: {
    usage: "FILE… [-o PATH]",
    help: "transcribe recordings; - is standard input",
    least: 1,
    needs: "the names of recordings; - is standard input",
    operands: "files",
    flags: [
      format(Object.keys(TRANSCRIPT_FORMATS)),
      language("Language of the speech; default: detected."),
      { name: "translate", help: "Translate into English." },
      outputFolder("recording", TRANSCRIPT_FORMATS),
    ],
    readsMost: true,
    examples: ["svc transcribe interview.mp3", "svc transcribe lecture.m4a -o lecture.srt"],
  },
  ocr: {
    usage: "FILE… [-o PATH]",
    help: "recognise text in images and documents; - is standard input",
    least: 1,
    needs: "the names of images or documents; - is standard input",
    operands: "files",
    flags: [
      format(Object.keys(OCR_FORMATS)),
      language("Languages of the text, separated by commas; default: those of --ocr-language."),
      { name: "pages", value: "PAGES", help: "Pages of a document, such as 1-3,7; default: all." },
      outputFolder("document", OCR_FORMATS),
    ],
    readsMost: true,
    examples: ["svc ocr letter.png", "svc ocr report.pdf --pages 1-3 -o report.md"],
  },
  say: {
    usage: "TEXT [-o FILE]",
    help: "speak a text, or the text on standard input",
    flags: [
      format(SPEECH_FILES.formats),
      { name: "voice", value: "VOICE", help: "Voice, by its id." },
      { name: "voices", help: "List the voices; with --json as JSON." },
      { name: "locale", value: "TAG", help: "Language of the text, or of the voices to list." },
      { name: "speed", value: "N", help: "Speed, 0.25 to 4; default: 1." },
      outputFile(SPEECH_FILES),
      json,
    ],
    readsMost: true,
    examples: ['svc say "Good morning." -o morning.mp3', "svc say -o book.opus < book.txt"],
  },
  draw: {
    usage: "PROMPT [-o FILE]",
    help: "draw images from a description, or from one on standard input",
    flags: [
      { name: "count", short: "n", value: "N", help: "Number of images; default: 1." },
      { name: "size", value: "WxH", help: "Size in pixels; default: the model's own." },
      { name: "seed", value: "N", help: "Seed of the first image; default: random." },
      { name: "steps", value: "N", help: "Number of steps; default: the model's own." },
      format(IMAGE_FILES.formats),
      outputFile(IMAGE_FILES),
    ],
    readsMost: true,
    examples: ['svc draw "a red circle above a blue square" -o shapes.png'],
  },
  launch: {
    usage: "codex|claude|opencode|aider [-- ARG…]",
    help: "start a coding agent that uses the server at --host and --port, or a new server for --model",
    least: 1,
    needs: "the name of an agent: codex, claude, opencode or aider",
    operands: ["codex", "claude", "opencode", "aider"],
    reads: { ...server, model: "Model for a new server, where none runs; otherwise the server's model to use." },
    readsMost: true,
    examples: ["svc launch claude --model model.gguf --ctx 65536", 'svc launch codex -- exec "Fix the failing test"'],
  },
  models: {
    usage: "[--json]",
    help: "list the models of the server at --host and --port",
    most: 0,
    flags: [json],
    reads: server,
  },
  upstreams: {
    usage: "[--drain NAME] [--json]",
    help: "list the upstreams of the server at --host and --port, or drain one",
    most: 0,
    flags: [
      { name: "drain", value: "NAME", help: "Send this upstream no new requests; running requests finish." },
      { name: "resume", value: "NAME", help: "Send this upstream requests again." },
      { name: "replica", value: "URL", help: "Drain or resume only this replica of the upstream." },
      json,
    ],
    reads: server,
  },
  wait: {
    usage: "[--timeout N]",
    help: "wait until the server at --host and --port is ready",
    most: 0,
    flags: [{ name: "timeout", value: "N", help: "Maximum seconds to wait; default: 300." }],
    reads: { ...server, ...notices },
  },
  qr: {
    usage: "[--port N]",
    help: "show a QR code that opens the server's web page on a phone",
    most: 0,
    reads: {
      host: "Address to show; for loopback, 0.0.0.0 and ::, the first of this machine's at which the server answers.",
      port,
    },
  },
  pull: {
    usage: "MODEL",
    help: "download owner/repository[:QUANT], a URL, whisper:NAME, tessdata:NAME, kokoro, ppocr, realesrgan, flux2-klein, …, or component:NAME of svc-slim",
    least: 1,
    most: 1,
    needs: "the name of a model, such as Qwen/Qwen3-4B-GGUF",
    reads: {
      ...store,
      ...notices,
      "cache-dir": "Folder of downloaded components.",
      releases: "URL to download components from; default: where this build was released.",
    },
    examples: [
      "svc pull Qwen/Qwen3-4B-GGUF",
      "svc pull Qwen/Qwen3-4B-GGUF:Q8_0",
      "svc pull whisper:small",
      "svc pull tessdata:deu",
    ],
  },
  list: { usage: "[--json]", help: "list the downloaded models and data", most: 0, flags: [json], reads: store },
  rm: {
    usage: "MODEL",
    help: "remove a downloaded model or data",
    least: 1,
    most: 1,
    needs: "the name of a model, as svc list shows it",
    operands: "models",
    reads: store,
  },
  worker: {
    usage: "[--allow ADDRESS[/BITS],…]",
    help: "compute layers of other machines' models on this machine",
    most: 0,
    flags: [
      { name: "host", value: "ADDRESS", help: "IPv4 address to listen on; default: 127.0.0.1." },
      { name: "port", value: "N", help: "Port to listen on; default: 50052; 0: any free port." },
      {
        name: "allow",
        value: "ADDRESSES",
        help: "IPv4 addresses or networks that may connect, separated by commas; required unless --host is a loopback address. The RPC protocol has neither encryption nor a password.",
      },
      {
        name: "device",
        value: "NAMES",
        help: "Devices to offer, separated by commas; default: the GPUs, or the CPU if there is none.",
      },
    ],
    reads: {
      ...notices,
      "cache-dir": "Folder of unpacked native libraries.",
      threads: "Maximum CPU threads.",
      "ready-file": "File to write the worker's address to once it is ready; it is removed when the worker stops.",
    },
  },
  update: {
    usage: "[--check]",
    help: "replace this executable with that of the newest release, after verifying its checksum",
    most: 0,
    flags: [{ name: "check", help: "Only report whether there is a newer release." }],
    reads: { ...notices, releases: "URL to download from; default: where this build was released." },
  },
  "self-test": {
    usage: "[options] [--chats]",
    help: "start the server on a free port, try the main routes, the model of --model and each model inside svc, and stop",
    most: 0,
    flags: [{ name: "chats", help: "Try only the chat models." }],
    readsMost: true,
  },
  completion: {
    usage: "bash|zsh|fish",
    help: "print a shell completion script",
    least: 1,
    most: 1,
    needs: "the name of a shell: bash, zsh or fish",
    operands: ["bash", "zsh", "fish"],
  },
} as const satisfies Readonly<Record<string, Command>>;

export type CommandName = keyof typeof commands;

type OwnFlag<Name extends CommandName> = Extract<
  (typeof commands)[Name],
  { readonly flags: readonly Flag[] }
>["flags"][number];

/** A command's own options as they were given: texts, and `true` for switches. */
export type FlagsOf<Name extends CommandName> = {
  readonly [Given in OwnFlag<Name> as Given["name"]]?: Given extends { readonly value: string } ? string : true;
};

export const commandNames = Object.keys(commands) as CommandName[];

export const isCommand = (word: string | undefined): word is CommandName => commandNames.some((name) => name === word);

export const commandOf = (name: CommandName): Command => commands[name];

/** Returns a command as a usage line shows it: `svc pull MODEL`. */
export const callOf = (name: CommandName): string => `svc ${name} ${commandOf(name).usage}`;

/** `-o, --output PATH`. */
export const flagSpelling = ({ name, short, value }: Flag): string =>
  `${short === undefined ? "    " : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
