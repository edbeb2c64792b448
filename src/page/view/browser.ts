// Helpers for what browsers make complicated.

import { useLayoutEffect, useState } from "preact/hooks";

/** Whether writing needs no on-screen keyboard, which would hide the conversation. */
export const hasKeyboard = (): boolean => !matchMedia("(pointer: coarse)").matches;

export const focusMessage = (): void => document.querySelector<HTMLElement>("#message")?.focus();

/**
 * Whether a key is an input method's. Safari ends the composition before it reports the key that ends it, which then
 * has only the key code of all such keys.
 */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Copies text to the clipboard, also on pages loaded over plain HTTP. Throws when the browser refuses it. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const { activeElement: focused } = document;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  if (!isCopied) throw new Error("The browser did not allow copying.");
}

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, 1000 * seconds));

/** Seconds for which the browser holds a file that it saves. */
const HELD_S = 10;

/** Makes the browser save a file with this text. Throws when it has no room for it. */
export async function saveFile(name: string, type: string, text: string): Promise<void> {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await madeBlob(text, type));
  link.download = name;
  link.click();
  void pause(HELD_S).then(() => URL.revokeObjectURL(link.href));
}

/** Browsers have room for only some hundred MB at a time, so this may wait until those of earlier files are free. */
async function madeBlob(text: string, type: string): Promise<Blob> {
  for (let tries = 0; tries < 2 * HELD_S; tries++) {
    const blob = new Blob([text], { type });
    try {
      // Only reading tells that there was no room; a download would end without a word.
      await blob.slice(-1).text();
      return blob;
    } catch {
      await pause(1);
    }
  }
  throw new Error("The browser has no room for a file of this size.");
}

/** Lets the user choose files. */
export function chooseFiles(accept: string, chosen: (files: readonly File[]) => void): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = accept;
  input.addEventListener("change", () => chosen([...(input.files ?? [])]));
  input.click();
}

/**
 * Receives files that are dropped anywhere on the page, and returns whether files are being dragged over it. Without
 * `take`, files are refused; else the browser would leave the page and open them.
 */
export function useDroppedFiles(take?: (files: readonly File[]) => void): boolean {
  const [isOver, setOver] = useState(false);
  // Before the next event: files belong to the chat that is shown.
  useLayoutEffect(() => {
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      if (!take) event.dataTransfer.dropEffect = "none";
      setOver(event.type === "dragover");
      if (event.type === "drop") take?.([...event.dataTransfer.files]);
    };
    const types = ["dragover", "dragleave", "drop"] as const;
    for (const type of types) addEventListener(type, over);
    return () => {
      for (const type of types) removeEventListener(type, over);
    };
  });
  return isOver;
}

/** Reads a file as a data URL. */
export const dataUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(new Error("The file cannot be read.")));
    reader.readAsDataURL(file);
  });
