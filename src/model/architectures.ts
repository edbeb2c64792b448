// The architectures that svc can serve. The names are those of LLM_ARCH_NAMES in src/llama-arch.cpp of the pinned
// llama.cpp; test/model/upstream-data.test.ts fails when a new version has others.

const NAMES = `
clip llama llama4 deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bert modern-bert nomic-bert
nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert bloom stablelm qwen qwen2 qwen2moe qwen2vl qwen3 qwen3moe
qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2 phi3 phimoe plamo plamo2 plamo3 codeshell orion
internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 gemma4-assistant gemma-embedding starcoder2 mamba
mamba2 maple jamba falcon-h1 xverse command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe muse-glimmer openelm arctic
deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 chatglm glm4 glm4moe glm-dsa bitnet t5 t5encoder jais jais2
nemotron nemotron_h nemotron_h_moe exaone exaone4 exaone-moe rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe
granitehybrid graniteswitch granite_swa chameleon wavtokenizer-dec plm bailingmoe bailingmoe2 bailingmoe3 dots1
dots3note arcee afmoe laguna ernie4_5 ernie4_5-moe hunyuan-moe hunyuan-dense hunyuan_vl hy_v3 hy_v4 smollm3 gpt-oss
lfm2 lfm2moe dream smallthinker llada llada-moe seed_oss grovemoe apertus minimax-01 hrm_text minimax-m2 minimax-m3
cogvlm rnd1 pangu-embedded mistral3 eagle3 dflash mistral4 paddleocr mimo2 step35 spark2_5 llama-embed maincoder
kimi-linear kimi-k3 talkie mellum nanbeige qwen3tts pockettts
`;

/** Every architecture that llama.cpp knows. */
export const knownArchitectures: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/));

const EMBEDDING = "is an embedding model: it turns text into vectors and cannot answer";
const DIFFUSION = "is a text diffusion model, which does not write token after token";
const SPEECH = "is a speech model, not a language model";
const DRAFT = "is a draft model that only works beside the model it was made for";
const IMAGE = "is an image or video model, not a language model";
const SEQUENCE = "is an encoder-decoder model, which is not supported";

const UNSERVED: readonly (readonly [reason: string, names: string])[] = [
  ["is the vision or audio part of a model (mmproj), not the language model itself", "clip"],
  [
    EMBEDDING,
    "bert modern-bert nomic-bert nomic-bert-moe neo-bert jina-bert-v2 jina-bert-v3 eurobert gemma-embedding llama-embed",
  ],
  [DIFFUSION, "dream llada llada-moe rnd1"],
  [SPEECH, "wavtokenizer-dec qwen3tts pockettts whisper kokoro parler-tts"],
  [DRAFT, "eagle3 dflash gemma4-assistant"],
  [SEQUENCE, "t5 t5encoder"],
  // Not in llama.cpp: architectures in GGUF files for image programs.
  [IMAGE, "flux sd1 sd3 sdxl aura hidream cosmos lumina2 ltxv hyvid wan qwen_image"],
];

const reasons: ReadonlyMap<string, string> = new Map(
  UNSERVED.flatMap(([reason, names]) => names.split(" ").map((name) => [name, reason] as const)),
);

/** Returns why a model of this architecture cannot be served, as the end of a sentence; undefined when it can. */
export function whyUnserved(architecture: string): string | undefined {
  const reason = reasons.get(architecture);
  if (reason) return reason;
  if (knownArchitectures.has(architecture)) return undefined;
  return `has the architecture '${printable(architecture)}', which this version does not support`;
}

/** Returns why a model of this architecture has no embeddings, if so. Generating models and encoders have some. */
export function whyNoEmbedding(architecture: string): string | undefined {
  const reason = whyUnserved(architecture);
  return reason === EMBEDDING || architecture === "t5encoder" ? undefined : reason;
}

/** Returns a name from a file, which may contain anything, for messages: shortened, in visible ASCII. */
const printable = (name: string): string => name.slice(0, 40).replaceAll(/[^\x21-\x7e]/g, "?");
