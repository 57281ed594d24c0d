/** A style sheet that is imported is adopted by the page (`src/console/bundle.ts`). */
declare module '*.css' {}
