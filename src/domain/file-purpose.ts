// What stored files are for.

/** Purposes that clients give to uploads. */
export const UPLOAD_PURPOSES = ["batch", "ocr"] as const;
export type UploadPurpose = (typeof UPLOAD_PURPOSES)[number];

export const FILE_PURPOSES = ["batch", "batch_output", "ocr"] as const;
export type FilePurpose = (typeof FILE_PURPOSES)[number];
