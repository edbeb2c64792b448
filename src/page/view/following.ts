// Where a reader is in the conversation.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { pathOf } from "../logic/conversation.ts";
import { usePage } from "./context.ts";

/** Distance from the end, in pixels, from which a button leads there. */
const AWAY = 90;
/** Distance from the end, in pixels, from which scrolling down follows new text again: what comes meanwhile. */
const NEAR = 50;

/** Scrolls to the end of a conversation and of a new answer, and follows its text unless the reader scrolls up. */
export function useFollowing() {
  const { session } = usePage();
  const { id, leaf } = session.conversation.value;
  const runningTurn = session.run?.turn;
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(false);
  const lastTop = useRef(0);
  const lastLeaf = useRef(leaf);
  const [isAway, setAway] = useState(false);
  const measure = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = scroller.current ?? {};
    const distance = scrollHeight - scrollTop - clientHeight;
    setAway(distance > AWAY);
    return { scrollTop, distance };
  };
  const toEnd = () => {
    follows.current = true;
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  };
  const look = () => {
    const { scrollTop, distance } = measure();
    if (distance <= 1 || (scrollTop > lastTop.current && distance < NEAR)) follows.current = leaf !== null;
    else if (scrollTop < lastTop.current) follows.current = false;
    lastTop.current = scrollTop;
  };
  useLayoutEffect(() => {
    // Another version of a turn is shown where that turn is.
    if (!pathOf(session.conversation.value).some((turn) => turn.id === lastLeaf.current)) follows.current = false;
    lastLeaf.current = leaf;
  }, [leaf]);
  useLayoutEffect(() => {
    if (leaf !== null) toEnd();
    else scroller.current?.scrollTo({ top: 0 });
  }, [id]);
  useLayoutEffect(() => {
    if (runningTurn !== undefined) toEnd();
  }, [runningTurn]);
  useEffect(() => {
    const resized = new ResizeObserver(() => {
      // An editor that opens stays where it is.
      const isEditing = content.current?.querySelector(".editor:focus-within");
      if (follows.current && !isEditing) toEnd();
      measure();
    });
    // The scroller, too: the message field grows and shrinks, and phones show a keyboard.
    for (const { current } of [scroller, content]) if (current) resized.observe(current);
    return () => resized.disconnect();
  }, []);
  return { scroller, content, isAway: isAway && leaf !== null, toEnd, look };
}
