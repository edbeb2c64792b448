// A small button with an icon.

import { Icon, type IconName } from "./icons.tsx";

interface ActProps {
  readonly icon: IconName;
  readonly label: string;
  /** Tooltip; by default the label. */
  readonly title?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  /** Absent: the button submits its form. */
  readonly onClick?: () => void;
}

export const Act = ({ icon, label, title = label, class: name = "quiet icon-button", disabled, onClick }: ActProps) => (
  <button
    type={onClick ? "button" : "submit"}
    class={name}
    aria-label={label}
    title={title}
    disabled={disabled}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
);
