/** Returns the certificates that programs here trust by default, in PEM. An import would read them at each start. */
export const rootCertificates = (): readonly string[] => process.getBuiltinModule("node:tls").rootCertificates;
