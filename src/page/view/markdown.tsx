// Shows a model's text as formatted blocks; blocks that do not change are not rendered again.

import { render } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Block } from "../logic/markdown.ts";
import { Act } from "./act.tsx";
import { copyText } from "./browser.ts";
import { usePage } from "./context.ts";
import { sanitised } from "./sanitise.ts";

export function Markdown({ text }: { readonly text: string }) {
  const { toBlocks } = usePage();
  const blocks = useMemo(() => toBlocks(text), [text]);
  return (
    <div class="markdown">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block: { html, code } }: { readonly block: Block }) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!element.current) return;
    const unframe = frameCode(element.current);
    // What is scrolled sideways is so with the keyboard, too.
    for (const wide of element.current.querySelectorAll<HTMLElement>("pre, table")) {
      if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
    }
    return unframe;
  }, [html]);
  return useMemo(() => {
    const content = (
      <div class="block" dir="auto" ref={element} dangerouslySetInnerHTML={{ __html: sanitised(html) }} />
    );
    if (!code) return content;
    return (
      <div class="code">
        <div class="code-head">
          <CodeHead {...code} />
        </div>
        {content}
      </div>
    );
  }, [html, code?.language]);
}

const CodeHead = ({ text, language }: NonNullable<Block["code"]>) => (
  <>
    <span>{language || "text"}</span>
    <CopyButton text={text} label="Copy code" />
  </>
);

/** Frames code within lists and quotes, which is part of the block's HTML, like code in a block of its own. */
function frameCode(block: HTMLElement): () => void {
  const heads = [...block.querySelectorAll(":is(li, blockquote) > pre > code")].map((code) => {
    const [frame, head] = [document.createElement("div"), document.createElement("div")];
    frame.className = "code";
    head.className = "code-head";
    const language = /language-(\S+)/.exec(code.className)?.[1] ?? "";
    render(<CodeHead text={code.textContent} language={language} />, head);
    const pre = code.parentElement;
    pre?.replaceWith(frame);
    frame.append(head, pre ?? code);
    return head;
  });
  return () => {
    for (const head of heads) render(null, head);
  };
}

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<"" | "done" | "refused">("");
  const copy = async () => {
    const end = await copyText(text).then(
      () => "done" as const,
      () => "refused" as const,
    );
    setState(end);
    setTimeout(() => setState(""), end === "done" ? 1500 : 5000);
  };
  const isDone = state === "done";
  return (
    <>
      <Act icon={isDone ? "check" : "copy"} label={isDone ? "Copied" : label} onClick={() => void copy()} />
      {state === "refused" && (
        <span class="error" role="alert">
          The browser does not allow copying.
        </span>
      )}
    </>
  );
}
