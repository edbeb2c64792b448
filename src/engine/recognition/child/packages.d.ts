// Declarations of packages that come without types.

declare module "tesseract.js-core/tesseract-core-relaxedsimd-lstm.js" {
  import type { CreateCore } from "./tesseract-core.ts";
  const create: CreateCore;
  export default create;
}

declare module "tesseract.js-core/tesseract-core-lstm.js" {
  import type { CreateCore } from "./tesseract-core.ts";
  const create: CreateCore;
  export default create;
}
