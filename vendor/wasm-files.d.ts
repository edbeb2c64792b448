// A WebAssembly file imported `with { type: "file" }` is its path, in the compiled binary too.
declare module "*.wasm" {
  const path: string;
  export { path as default };
}
