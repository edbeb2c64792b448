// Icons as strokes in a 24 × 24 box.

const PATHS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  clip: "M20 11.5l-8.2 8.2a5 5 0 0 1-7.1-7.1l8.5-8.5a3.4 3.4 0 0 1 4.8 4.8l-8.4 8.4a1.7 1.7 0 0 1-2.4-2.4l7.6-7.6",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.5l4.5 4.5L19 7.5",
  again: "M20 11a8 8 0 1 0-2.3 6.3M20 5v6h-6",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  branch: "M6 4v9a4 4 0 0 0 4 4h8M14 13l4 4-4 4M6 8h0",
  speaker: "M4 9.5v5h4l5 4v-13l-5 4zM16.5 9a4.2 4.2 0 0 1 0 6M19 6.5a8 8 0 0 1 0 11",
  sliders: "M4 8h9M17 8h3M4 16h3M11 16h9M15 5.5v5M9 13.5v5",
  more: "M5 11.5v1M12 11.5v1M19 11.5v1M4.5 12h1M11.5 12h1M18.5 12h1",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  download: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  upload: "M12 16V5M7 9.5l5-5 5 5M5 20h14",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9.5l6 6 6-6",
  left: "M14.5 6l-6 6 6 6",
  right: "M9.5 6l6 6-6 6",
  pulse: "M3 12h4l3-7 4 14 3-7h4",
  book: "M5 5a2 2 0 0 1 2-2h12v18H7a2 2 0 0 1-2-2zM5 18a2 2 0 0 1 2-2h12",
  tool: "M14.5 6.5a4 4 0 0 1 5-1.8l-2.7 2.8 1.7 1.7 2.8-2.7a4 4 0 0 1-5.6 4.9L8.9 18.2a2 2 0 0 1-2.9-2.8l6.8-6.8",
  thought: "M9.5 18h5M10.5 21h3M12 3a6 6 0 0 0-3.5 10.9V16h7v-2.1A6 6 0 0 0 12 3z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
} as const;

export type IconName = keyof typeof PATHS;

export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={`icon ${name}`} viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

/** The product's logo. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" class="mark-ground" />
    <path
      d="M12 8h8a4.5 4.5 0 0 1 4.5 4.5v3.5a4.5 4.5 0 0 1-4.5 4.5h-4.6L11 24.2v-3.8a4.5 4.5 0 0 1-3.5-4.4v-3.5A4.5 4.5 0 0 1 12 8Z"
      class="mark-bubble"
    />
    <path d="M12.4 15.5v-2.6M16 17v-5.6M19.6 15.5v-2.6" class="mark-bars" />
  </svg>
);
