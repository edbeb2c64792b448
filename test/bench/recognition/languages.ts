// Pages in other languages: their text, fonts and trained data.

import { join } from "node:path";
import { ModelStore } from "../../../src/store/models/model-store.ts";
import { pull } from "../../../src/store/models/pull.ts";
import { pullTessdata } from "../../../src/store/models/pull-tessdata.ts";
import { parseReference } from "../../../src/store/models/reference.ts";
import { hubSettings, npmRegistry } from "../../../src/config/hub.ts";
import { userAgent } from "../../../src/config/version.ts";

const LATIN = ["truetype/dejavu/DejaVuSerif.ttf", "truetype/liberation/LiberationSans-Regular.ttf"];
/** Debian's package `fonts-noto-cjk`: files with a face for each region, selected by `face`. */
const HAN = ["opentype/noto/NotoSansCJK-Regular.ttc", "opentype/noto/NotoSerifCJK-Regular.ttc"];

export interface Language {
  readonly fonts: readonly string[];
  readonly face?: number;
  readonly sentences: readonly string[];
}

const below = (fonts: readonly string[]) => fonts.map((font) => join("/usr/share/fonts", font));

/** Languages by Tesseract's names. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  deu: {
    fonts: below(LATIN),
    sentences: [
      "Die Bücherei öffnet täglich um neun Uhr und schließt erst, wenn die letzte Fähre abgelegt hat.",
      "Bitte überweisen Sie den Betrag von 1.234,50 € innerhalb von 30 Tagen nach Rechnungsdatum.",
      "Zwölf Boxkämpfer jagten Viktor quer über den großen Sylter Deich.",
      "Über die Maßnahmen gegen Überschwemmungen entscheidet der Gemeinderat im März.",
      "Größere Schäden entstanden durch Feuchtigkeit, die durch das undichte Dach eindrang.",
    ],
  },
  fra: {
    fonts: below(LATIN),
    sentences: [
      "La bibliothèque ouvre chaque jour à neuf heures, même pendant les fêtes de Noël.",
      "Où est passé le garçon qui vendait des pâtés près de l'église ? Personne ne l'a revu.",
      "Veuillez régler la somme de 1 234,50 € dans un délai de 30 jours après réception.",
      "Portez ce vieux whisky au juge blond qui fume, répéta-t-elle en riant.",
      "Les élèves reçurent leurs diplômes au château, où régnait déjà une atmosphère de vacances.",
    ],
  },
  spa: {
    fonts: below(LATIN),
    sentences: [
      "La biblioteca abre todos los días a las nueve y cierra cuando zarpa el último barco.",
      "¿Dónde está el niño que vendía piñas junto a la estación? Nadie volvió a verlo.",
      "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío.",
      "Abone la cantidad de 1.234,50 € en un plazo de 30 días; después se cobrarán intereses.",
      "Según el señor Muñoz, la mayoría de los daños fueron causados por la humedad.",
    ],
  },
  chi_sim: {
    fonts: below(HAN),
    face: 2,
    sentences: [
      "图书馆每天上午九点开门，最后一班渡船离开以后才关门。",
      "请在收到发票后三十天内付款，逾期将按月收取百分之一点五的利息。",
      "河流为什么会弯曲？因为外岸的水流更快，带走的泥沙也更多。",
      "去年的出口额增长了百分之十二，主要是因为对东南亚的贸易扩大了。",
      "博物馆收藏的最古老的地图绘制于十六世纪，上面既没有道路也没有边界。",
      "委员会听取了二十五位专家的意见，并于十月公布了报告。",
    ],
  },
  jpn: {
    fonts: below(HAN),
    face: 0,
    sentences: [
      "図書館は毎日午前九時に開館し、最後の船が出るまで閉まりません。",
      "請求書の日付から三十日以内にお支払いください。遅れると利息がかかります。",
      "川はなぜ曲がるのでしょうか。外側の岸では水の流れが速いからです。",
      "昨年の輸出額は十二パーセント増えました。アジアとの貿易が広がったためです。",
      "カメラとコンピューターの修理は、サービスセンターの窓口で受け付けています。",
      "委員会は専門家の意見を聞き、十月にレポートを公開しました。",
    ],
  },
};

/** Downloads the trained data for these languages as users do; returns its folder. */
export async function languageData(names: Iterable<string>, models: string): Promise<string> {
  const registry = npmRegistry(process.env);
  const common = { registry, userAgent, folder: models, signal: new AbortController().signal, now: Date.now };
  for (const name of names) await pullTessdata({ ...common, name, progress: () => {}, note: console.error });
  return join(models, "tessdata");
}

/** Downloads PP-OCR as users do. */
export async function ppocrFiles(models: string): Promise<void> {
  const hub = hubSettings(process.env);
  await pull(parseReference("ppocr", hub.endpoint), {
    hub,
    store: new ModelStore(models),
    signal: new AbortController().signal,
    progress: () => {},
    note: console.error,
    check: () => {},
    now: Date.now,
  });
}
