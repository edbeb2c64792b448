// Builds small GGUF files in memory, valid or deliberately malformed.

export type Entry =
  | { readonly u32: number }
  | { readonly u64: bigint }
  | { readonly f32: number }
  | { readonly string: string }
  | { readonly strings: readonly string[] }
  | { readonly i32s: readonly number[] };

export interface GgufPlan {
  readonly magic?: string;
  readonly version?: number;
  readonly metadata?: Readonly<Record<string, Entry>>;
  /** F32 vectors by name. Their data follows the header unless `withoutData` is true. */
  readonly tensors?: readonly { readonly name: string; readonly elements: bigint; readonly type?: number }[];
  readonly withoutData?: boolean;
}

const ALIGNMENT = 32;
const encoder = new TextEncoder();

class Bytes {
  private readonly parts: Uint8Array[] = [];
  length = 0;

  add(bytes: Uint8Array): this {
    this.parts.push(bytes);
    this.length += bytes.length;
    return this;
  }
  u32(value: number): this {
    return this.add(new Uint8Array(Uint32Array.of(value).buffer));
  }
  u64(value: bigint): this {
    return this.add(new Uint8Array(BigUint64Array.of(value).buffer));
  }
  string(value: string): this {
    const bytes = encoder.encode(value);
    return this.u64(BigInt(bytes.length)).add(bytes);
  }
  join(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.parts));
  }
}

function entry(out: Bytes, value: Entry): void {
  if ("u32" in value) out.u32(4).u32(value.u32);
  else if ("u64" in value) out.u32(10).u64(value.u64);
  else if ("f32" in value) out.u32(6).add(new Uint8Array(Float32Array.of(value.f32).buffer));
  else if ("string" in value) out.u32(8).string(value.string);
  else if ("strings" in value) {
    out.u32(9).u32(8).u64(BigInt(value.strings.length));
    for (const item of value.strings) out.string(item);
  } else {
    out.u32(9).u32(5).u64(BigInt(value.i32s.length));
    out.add(new Uint8Array(Int32Array.from(value.i32s).buffer));
  }
}

/** Returns the bytes of a GGUF file. */
export function ggufBytes(plan: GgufPlan = {}): Uint8Array {
  const { magic = "GGUF", version = 3, metadata = llama, tensors = [{ name: "output", elements: 64n }] } = plan;
  const entries = Object.entries(metadata);
  const out = new Bytes().add(encoder.encode(magic)).u32(version);
  out.u64(BigInt(tensors.length)).u64(BigInt(entries.length));
  for (const [key, value] of entries) entry(out.string(key), value);
  let offset = 0n;
  for (const { name, elements, type = 0 } of tensors) {
    out.string(name).u32(1).u64(elements).u32(type).u64(offset);
    offset += elements * 4n;
  }
  if (plan.withoutData || tensors.length === 0) return out.join();
  out.add(new Uint8Array((ALIGNMENT - (out.length % ALIGNMENT)) % ALIGNMENT));
  return out.add(new Uint8Array(Number(offset))).join();
}

/** The metadata that every model needs in order to be served. */
export const llama = {
  "general.architecture": { string: "llama" },
  "general.name": { string: "Tiny" },
  "llama.context_length": { u32: 2048 },
  "llama.block_count": { u32: 2 },
  "llama.embedding_length": { u32: 64 },
  "llama.attention.head_count": { u32: 4 },
  "llama.attention.head_count_kv": { u32: 2 },
  "tokenizer.ggml.model": { string: "gpt2" },
  "tokenizer.ggml.tokens": { strings: ["a", "b", "c"] },
} as const satisfies Record<string, Entry>;
