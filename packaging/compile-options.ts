/** Returns how executables are compiled; `more`: further options of the compilation, such as another system. */
export const compileOptions = (outfile: string, more: Partial<Bun.CompileBuildOptions> = {}) =>
  ({
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false, ...more },
    // Elysia reads the source of handlers, so their names must survive.
    minify: { whitespace: true, syntax: true, identifiers: false },
    bytecode: true,
    format: "esm",
    sourcemap: "none",
  }) as const;
