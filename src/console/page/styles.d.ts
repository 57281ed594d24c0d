/** A style sheet that is imported becomes one of the page's own (`src/console/bundle.ts`). */
declare module '*.css' {}
