/** Node's internal HTTP parser (llhttp), as far as it is used here: `node:_http_common` of Node 22, which Bun has too. */
declare module 'node:_http_common' {
  export class HTTPParser {
    static readonly RESPONSE: number
    static readonly kOnMessageBegin: number
    static readonly kOnHeaders: number
    static readonly kOnHeadersComplete: number
    static readonly kOnBody: number
    static readonly kOnMessageComplete: number
    initialize(type: number, resource: object, maxHeaderSize?: number): void
    /** How many bytes were read, or what is wrong with them. */
    execute(bytes: Uint8Array): number | (Error & { code: string })
    /** The other side has ended. */
    finish(): undefined | null | (Error & { code: string })
    [callback: number]: (...values: never[]) => unknown
  }
}
