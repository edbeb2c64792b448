// Sizes of files and downloads, in the decimal units of disks and of the Hugging Face Hub.

/** Formats a number of bytes for people. */
export function fileSize(bytes: number): string {
  if (bytes >= 999.95e6) return `${(bytes / 1e9).toFixed(2)} GB`;
  return bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${bytes} bytes`;
}
