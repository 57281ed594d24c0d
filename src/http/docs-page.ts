import { resolve } from 'node:path'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import cssPath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Page } from './server.ts'

/** Draws the document with Swagger UI; the plugin's page loads this where it would ask a CDN for another viewer. */
const LOADER = `
for (const element of document.querySelectorAll('#api-reference')) element.remove()
const style = document.createElement('link')
style.rel = 'stylesheet'
style.href = '/docs/swagger-ui.css'
document.head.append(style)
const root = document.createElement('div')
root.id = 'ui'
document.body.append(root)
const script = document.createElement('script')
script.src = '/docs/swagger-ui-bundle.js'
script.onload = () => SwaggerUIBundle({ url: '/openapi.json', dom_id: '#ui', validatorUrl: null })
document.body.append(script)
`

/** The assets of `/docs`, from this process. */
export const DOCS_ASSETS: readonly Page[] = [
  { path: '/docs/ui.js', answer: () => asset(LOADER, 'text/javascript') },
  { path: '/docs/swagger-ui.css', answer: () => asset(file(cssPath), 'text/css') },
  { path: '/docs/swagger-ui-bundle.js', answer: () => asset(file(bundlePath), 'text/javascript') },
]

/** In a bundle the path is relative to the bundle; from source and in one executable it is absolute. */
const file = (path: string): Blob => Bun.file(resolve(import.meta.dir, path))

const asset = (content: string | Blob, type: string): Response =>
  new Response(content, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'max-age=3600',
      'x-content-type-options': 'nosniff',
    },
  })
