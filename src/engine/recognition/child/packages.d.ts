// Declarations of packages that come without types.

declare module "tesseract.js-core/tesseract-core-relaxedsimd-lstm.js" {
  import type { CreateInstance } from "./tesseract-wasm.ts";
  const create: CreateInstance;
  export default create;
}

declare module "tesseract.js-core/tesseract-core-lstm.js" {
  import type { CreateInstance } from "./tesseract-wasm.ts";
  const create: CreateInstance;
  export default create;
}
