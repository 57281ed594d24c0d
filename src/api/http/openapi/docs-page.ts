import { resolve } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import swaggerCssPath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import { loadOnce } from '../../../core/load-once.ts'
import { ServedFile } from '../served-file.ts'
import type { WebPage } from '../server.ts'
import cssPath from './page/docs.css' with { type: 'file' }
// oxlint-disable-next-line import/default -- the import is the path of the file
import startPath from './page/start.js' with { type: 'file' }

/** The links of the page `/docs` are relative, because a proxy may have removed a prefix from the path. */
export const STYLE = 'docs/swagger-ui.css'

/** The files that `/docs` loads. */
export const DOCS_ASSETS: readonly WebPage[] = [
  asset(`/${STYLE}`, swaggerCssPath, 'text/css'),
  asset('/docs/docs.css', cssPath, 'text/css'),
  asset('/docs/swagger-ui-bundle.js', bundlePath, 'text/javascript'),
  asset('/docs/start.js', startPath, 'text/javascript'),
]

/**
 * The plugin's page with files of this process. The plugin itself can only use a CDN, and starts Swagger UI in an inline script.
 * `simulated`: beside the built-in simulator, where the page uses the console's session.
 */
export async function docsPage(ofPlugin: Response, simulated: boolean): Promise<string> {
  const page = new HTMLRewriter()
    .on('html', { element: (html) => void (simulated && html.setAttribute('data-simulator', '')) })
    .on('head', { element: (head) => void head.append(LINKS, RAW) })
    .on('script', { element: (script) => void script.remove() })
    .on('body', { element: (body) => void body.append(SCRIPTS, RAW) })
    .transform(await ofPlugin.text())
  return page
}

const RAW = { html: true }
/** The empty icon spares a request for one. */
const LINKS = '<link rel="stylesheet" href="docs/docs.css"><link rel="icon" href="data:,">'
const SCRIPTS = '<script src="docs/swagger-ui-bundle.js"></script><script type="module" src="docs/start.js"></script>'

/** In a bundle the path is relative to the bundle; from source and in an executable it is absolute. */
function asset(path: string, filePath: string, type: string): WebPage {
  const load = loadOnce(async () => {
    const stored = await Bun.file(resolve(import.meta.dir, filePath)).bytes()
    // A build stores large files compressed.
    const bytes = filePath.endsWith('.br') ? new Uint8Array(brotliDecompressSync(stored)) : stored
    return new ServedFile({ name: path, type: `${type}; charset=utf-8`, bytes })
  })
  return { path, answer: async (request) => (await load()).answer(request) }
}
