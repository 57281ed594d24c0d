import { Elysia } from 'elysia'
import type { Route } from '../route.ts'
import type { Page } from '../server.ts'
import { DOCS_ASSETS, STYLE_PATH, docsPage } from './docs-page.ts'
import { documentOf } from './document.ts'
import type { PostedEvent } from './posted-events.ts'

/**
 * `/openapi.json` and its page `/docs`, by `@elysiajs/swagger`. The document is made at the first request, because describing the
 * routes would add a tenth to the time of every start.
 */
export function openApi(routes: readonly Route[], events: readonly PostedEvent[]): Page[] {
  let described: Promise<Described> | null = null
  const answer = async (path: string): Promise<Response> => (await (described ??= describe(routes, events)))(path)
  return [
    ...DOCS_ASSETS,
    { path: '/docs', answer: async () => docsPage(await answer('/docs')) },
    { path: '/openapi.json', answer: () => answer('/openapi.json') },
  ]
}

/** The plugin's own address of the document is relative, so it would be wrong at `/docs/`, which is the same page. */
const SWAGGER_UI = { url: '/openapi.json', validatorUrl: 'none' }

/** The plugin's answer to a GET of this path. */
type Described = (path: string) => Promise<Response>

async function describe(routes: readonly Route[], events: readonly PostedEvent[]): Promise<Described> {
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia().use(
    swagger({
      provider: 'swagger-ui',
      path: '/docs',
      specPath: '/openapi.json',
      theme: STYLE_PATH,
      autoDarkMode: false,
      swaggerOptions: SWAGGER_UI,
      // The plugin writes 3.0.3, and knows the types of that version only.
      documentation: documentOf(routes, events),
    }),
  )
  // Not the caller's host: Elysia finds no route if the host has fewer than four characters.
  return async (path) => app.handle(new Request(`http://localhost${path}`))
}
