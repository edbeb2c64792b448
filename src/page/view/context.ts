// What all components share.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ToBlocks } from "../logic/markdown.ts";
import type { Api } from "../state/api.ts";
import type { Kept } from "../state/kept.ts";
import type { Session } from "../state/session.ts";
import type { Watch } from "../state/watch.ts";

interface Page {
  readonly api: Api;
  /** What the browser keeps beyond the tab. */
  readonly kept: Kept;
  readonly session: Session;
  readonly watch: Watch;
  readonly toBlocks: ToBlocks;
  /** Ends what is being read aloud. */
  readonly speech: { stop: () => void };
}

export const PageContext = createContext<Page | undefined>(undefined);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (!page) throw new Error("outside of the page");
  return page;
}
