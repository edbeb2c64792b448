// A small button that is an icon.

import { Icon, type IconName } from "./icons.tsx";

interface ActProps {
  readonly icon: IconName;
  readonly label: string;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

export const Act = ({ icon, label, disabled = false, onClick }: ActProps) => (
  <button
    type="button"
    class="quiet icon-button"
    aria-label={label}
    title={label}
    disabled={disabled}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
);
