// Model families by the name in their files, as far as it decides whether they can answer chats.

/** Decoder families of llama.cpp 0.5.0 (src/llama-arch.cpp), without encoders and parts of other models. */
export const supportedArchitectures: ReadonlySet<string> = new Set(
  `llama llama4 deci falcon grok gpt2 gptj gptneox mpt baichuan starcoder refact bloom stablelm qwen qwen2 qwen2moe qwen2vl
  qwen3 qwen3moe qwen3next qwen3vl qwen3vlmoe qwen35 qwen35moe qwen4exp phi2 phi3 phimoe plamo plamo2 plamo3 codeshell orion
  internlm2 minicpm minicpm3 gemma gemma2 gemma3 gemma3n gemma4 starcoder2 mamba mamba2 maple jamba falcon-h1 xverse
  command-r cohere2 cohere2moe dbrx olmo olmo2 olmoe muse-glimmer openelm arctic deepseek deepseek2 deepseek2-ocr deepseek32
  deepseek4 chatglm glm4 glm4moe glm-dsa bitnet jais jais2 nemotron nemotron_h nemotron_h_moe exaone exaone4 exaone-moe
  rwkv6 rwkv6qwen2 rwkv7 arwkv7 granite granitemoe granitehybrid graniteswitch granite_swa chameleon plm bailingmoe
  bailingmoe2 bailingmoe3 dots1 dots3note arcee afmoe laguna ernie4_5 ernie4_5-moe hunyuan-moe hunyuan-dense hunyuan_vl
  hy_v3 hy_v4 smollm3 gpt-oss lfm2 lfm2moe smallthinker seed_oss grovemoe apertus minimax-01 hrm_text minimax-m2 minimax-m3
  cogvlm pangu-embedded mistral3 mistral4 paddleocr mimo2 step35 spark2_5 maincoder kimi-linear kimi-k3 talkie mellum
  nanbeige`.split(/\s+/),
);

/** Why a family that GGUF files also hold cannot answer chats. */
export const unsuitableArchitectures: ReadonlyMap<string, string> = new Map([
  ["clip", "a projector for images or audio, which belongs beside a language model"],
  ...[
    "bert",
    "modern-bert",
    "nomic-bert",
    "nomic-bert-moe",
    "neo-bert",
    "jina-bert-v2",
    "jina-bert-v3",
    "eurobert",
    "gemma-embedding",
    "llama-embed",
  ].map((name) => [name, "an embedding model, which does not generate text"] as const),
  ...["t5", "t5encoder"].map((name) => [name, "an encoder-decoder model, which svc does not serve"] as const),
  ...["dream", "llada", "llada-moe", "rnd1"].map(
    (name) => [name, "a text diffusion model, which svc does not serve"] as const,
  ),
  ...["eagle3", "dflash", "gemma4-assistant"].map(
    (name) => [name, "a draft model, which belongs beside a language model"] as const,
  ),
  ...["wavtokenizer-dec", "qwen3tts", "pockettts"].map(
    (name) => [name, "a speech model, which does not chat"] as const,
  ),
]);
