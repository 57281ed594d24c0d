/** Pino's build for browsers, which needs no Node.js. Its options and methods are a subset of those of `pino`. */
declare module 'pino/browser' {
  export { default } from 'pino'
}
