/** A CommonJS module that exports llhttp, compiled to WebAssembly, as a Buffer made of a base64 literal. */
declare module 'undici/lib/llhttp/llhttp-wasm.js' {
  const source: string
  export default source
}
