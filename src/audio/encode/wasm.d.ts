// Declares files and code of packages without types.

declare module "*.wasm" {
  const path: string;
  export default path;
}

declare module "wasm-media-encoders/wasm/mp3" {
  const path: string;
  export default path;
}

declare module "opusscript/build/opusscript_native_wasm.js" {
  import type { OpusModule } from "./opus.ts";
  export default function create(options: { readonly wasmBinary: Uint8Array }): OpusModule;
}
