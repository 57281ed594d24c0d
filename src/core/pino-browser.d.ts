/** Pino in plain JavaScript, without Node.js; its options and methods are among those of `pino`. */
declare module 'pino/browser' {
  export { default } from 'pino'
}
