// Imported `with { type: "file" }`, the module is the path of the file, in the compiled binary too.
declare module "*/sound-decoder.wasm" {
  const path: string;
  export { path as default };
}
