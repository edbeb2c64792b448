// Selects the model that answers, and shows what each can do.

import { capabilityNames, type Model } from "../logic/models.ts";
import { usePage } from "./context.ts";
import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { Trouble } from "./trouble.tsx";

export function ModelPicker() {
  const { session } = usePage();
  const { model } = session;
  const models = session.models.value;
  const groups = [
    { name: "Chat", models: models.filter(({ use }) => use === "chat") },
    { name: "Images", models: models.filter(({ use }) => use === "image") },
  ];
  const button = (
    <>
      <span class="name">{model?.id ?? (session.trouble.value ? "No model" : "…")}</span>
      <Icon name="down" />
    </>
  );
  return (
    <Menu label={model ? `Model: ${model.id}` : "No model"} button={button} buttonClass="quiet picker">
      {(close) => (
        <div class="models">
          {models.length === 0 && <Trouble />}
          {groups.map(
            (group) =>
              group.models.length > 0 && (
                <fieldset key={group.name}>
                  <legend>{group.name}</legend>
                  {group.models.map((one) => (
                    <Choice
                      key={one.id}
                      model={one}
                      isChosen={one === model}
                      onChoose={() => session.chooseModel(one.id)}
                      onDone={close}
                    />
                  ))}
                </fieldset>
              ),
          )}
        </div>
      )}
    </Menu>
  );
}

interface ChoiceProps {
  readonly model: Model;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly onDone: () => void;
}

const Choice = ({ model, isChosen, onChoose, onDone }: ChoiceProps) => (
  <label class="choice">
    <input
      type="radio"
      name="model"
      checked={isChosen}
      onChange={onChoose}
      // Arrow keys only select; Enter and a click also close the menu, after which no change is reported.
      onClick={(event) => {
        if (event.detail === 0) return;
        onChoose();
        onDone();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Enter") return;
        // Else Enter would press the button that then has the focus, which opens the menu again.
        event.preventDefault();
        onDone();
      }}
    />
    <span>
      <strong>{model.id}</strong>
      {model.about && <small>{model.about}</small>}
      <span class="chips">
        {capabilityNames(model).map((name) => (
          <span key={name}>{name}</span>
        ))}
        {!model.loaded && <span class="plain">loaded on first use</span>}
      </span>
    </span>
  </label>
);
