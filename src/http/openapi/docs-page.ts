import { resolve } from 'node:path'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import cssPath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Page } from '../server.ts'

const BUNDLE_PATH = '/docs/swagger-ui-bundle.js'
export const STYLE_PATH = '/docs/swagger-ui.css'

/** The files of Swagger UI that `/docs` loads. */
export const DOCS_ASSETS: readonly Page[] = [
  { path: STYLE_PATH, answer: () => asset(file(cssPath), 'text/css') },
  { path: BUNDLE_PATH, answer: () => asset(file(bundlePath), 'text/javascript') },
]

/** The plugin's page, with the script from this process. The plugin itself can only use a CDN. */
export async function docsPage(ofPlugin: Response): Promise<Response> {
  const html = new HTMLRewriter()
    .on('script[src]', {
      element: (script) => void script.setAttribute('src', BUNDLE_PATH).removeAttribute('crossorigin'),
    })
    .transform(await ofPlugin.text())
  return new Response(html, {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': CONTENT_SECURITY_POLICY },
  })
}

/** The page starts Swagger UI in an inline script. Nothing is loaded from elsewhere. */
const CONTENT_SECURITY_POLICY =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'"

/** In a bundle the path is relative to the bundle; from source and in an executable it is absolute. */
const file = (path: string): Blob => Bun.file(resolve(import.meta.dir, path))

const asset = (content: string | Blob, type: string): Response =>
  new Response(content, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  })
