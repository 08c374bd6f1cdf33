import solid from "vite-plugin-solid";

export default {
  root: import.meta.dirname,
  plugins: [solid()],
  build: {
    target: "es2024",
    // The page's policy lets no data: script in, and there is one file of each kind anyway.
    assetsInlineLimit: 0,
    modulePreload: false,
    emptyOutDir: true,
  },
};
