import { brotliCompressSync, constants } from 'node:zlib'
import { type PageFile, bundlePage } from './bundle.ts'

/** The files that are served. `simulator.html` is `index.html` beside the built-in simulator. */
export type PageFileName = 'index.html' | 'simulator.html' | 'main.js' | 'theme.js' | 'style.css'

type Encoding = 'br' | 'gzip' | 'identity'

/** A file as it is served: compressed when first asked for, with a strong validator for each encoding. */
export class ServedFile {
  readonly #hash: string
  readonly #encoded = new Map<Encoding, Uint8Array<ArrayBuffer>>()

  constructor(readonly file: PageFile) {
    this.#hash = Bun.hash(file.bytes).toString(36)
    this.#encoded.set('identity', file.bytes)
  }

  /** The answer to a request: 304 if the client has the file, else its bytes in an encoding that the client accepts. */
  answer(request: Request, headers: Record<string, string>): Response {
    const encoding = encodingFor(request.headers.get('accept-encoding') ?? '')
    const etag = `"${this.#hash}-${encoding}"`
    const own = { ...headers, etag, vary: 'accept-encoding', 'cache-control': 'no-cache' }
    if ((request.headers.get('if-none-match') ?? '').split(/,\s*/).includes(etag))
      return new Response(null, { status: 304, headers: own })
    const encoded = encoding === 'identity' ? {} : { 'content-encoding': encoding }
    return new Response(this.#bytes(encoding), { headers: { ...own, ...encoded, 'content-type': this.file.type } })
  }

  #bytes(encoding: Encoding): Uint8Array<ArrayBuffer> {
    const bytes = this.#encoded.get(encoding) ?? compress(this.file.bytes, encoding)
    this.#encoded.set(encoding, bytes)
    return bytes
  }
}

/** The files of the page by name, bundled when first asked for; with `isAnew` bundled again, to show a change of the source. */
export function pageFiles({ isAnew }: { isAnew: boolean }): Promise<PageFiles> {
  if (isAnew || bundled === null) bundled = bundle()
  return bundled
}

export interface PageFiles {
  get(name: PageFileName): ServedFile
}

let bundled: Promise<PageFiles> | null = null

async function bundle(): Promise<PageFiles> {
  const files = await bundlePage()
  const served = new Map([...files, simulatorPage(files)].map((file) => [file.name, new ServedFile(file)]))
  return {
    get(name) {
      const file = served.get(name)
      if (file === undefined) throw new Error(`The bundle of the console has no ${name}`)
      return file
    },
  }
}

/** The page beside the built-in simulator: it learns so from an attribute, without a request. */
function simulatorPage(files: readonly PageFile[]): PageFile {
  const html = new TextDecoder().decode(files.find(({ name }) => name === 'index.html')?.bytes)
  const bytes = new TextEncoder().encode(html.replace('<html', '<html data-simulator'))
  return { name: 'simulator.html', type: 'text/html;charset=utf-8', bytes }
}

function encodingFor(accepted: string): Encoding {
  const names = accepted.split(',').map((entry) => entry.trim())
  const accepts = (name: string): boolean =>
    names.some((entry) => entry === name || (entry.startsWith(`${name};`) && !/q=0(\.0+)?$/.test(entry)))
  return accepts('br') ? 'br' : accepts('gzip') ? 'gzip' : 'identity'
}

/** A higher quality would take a hundred times as long for a tenth of the size. */
const BROTLI_QUALITY = 6

const compress = (bytes: Uint8Array<ArrayBuffer>, encoding: Encoding): Uint8Array<ArrayBuffer> =>
  encoding === 'br'
    ? new Uint8Array(brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }))
    : Bun.gzipSync(bytes)
