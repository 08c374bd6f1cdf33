export { type Models, openModels } from "./models.ts";
export { modelProjections } from "./projection.ts";
export { modelRoutes } from "./routes.ts";
