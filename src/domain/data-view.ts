/** Returns a DataView of these bytes, which may be only a part of their buffer. */
export const dataView = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);
