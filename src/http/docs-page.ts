import { Elysia } from 'elysia'

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
export function docsAssets() {
  return new Elysia()
    .get('/docs/ui.js', () => asset(LOADER, 'text/javascript'))
    .get('/docs/swagger-ui.css', () => asset(file('swagger-ui.css'), 'text/css'))
    .get('/docs/swagger-ui-bundle.js', () => asset(file('swagger-ui-bundle.js'), 'text/javascript'))
}

const file = (name: string): Blob => Bun.file(Bun.resolveSync(`swagger-ui-dist/${name}`, import.meta.dir))

const asset = (content: string | Blob, type: string): Response =>
  new Response(content, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'max-age=3600', 'x-content-type-options': 'nosniff' } })
