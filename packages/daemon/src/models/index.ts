export { type Models, openModels } from "./models.ts";
export { modelProjections } from "./projection.ts";
