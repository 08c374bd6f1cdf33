export { descriptorLimit } from "./count.ts";
export { mustHaveDescriptors, mustHavePipes, shortageIn } from "./shortage.ts";
