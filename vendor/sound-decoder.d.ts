// Imported `with { type: "file" }` it is its path, in the compiled binary too.
declare module "*/sound-decoder.wasm" {
  const path: string;
  export { path as default };
}
