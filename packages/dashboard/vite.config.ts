import type { Plugin } from "vite";
import solid from "vite-plugin-solid";

export default {
  root: import.meta.dirname,
  plugins: [solid(), listModules()],
  build: {
    target: "es2024",
    // The page's policy lets no data: script in, and there is one file of each kind anyway.
    assetsInlineLimit: 0,
    modulePreload: false,
    emptyOutDir: true,
  },
};

/** Leaves beside the pages which files they are made of, for the build, which owes their licences a word. */
function listModules(): Plugin {
  return {
    name: "list-modules",
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
      this.emitFile({ type: "asset", fileName: "bundled-modules.json", source: JSON.stringify(modules) });
    },
  };
}
