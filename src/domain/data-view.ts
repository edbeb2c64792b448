/** Numbers of these bytes, which may be a part of their buffer. */
export const dataView = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
