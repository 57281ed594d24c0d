import { Elysia } from 'elysia'
import { loadOnce } from '../../../core/load-once.ts'
import { OWN_FILES_HEADERS } from '../page-headers.ts'
import type { Route } from '../route.ts'
import { ServedFile } from '../served-file.ts'
import type { WebPage } from '../server.ts'
import { DOCS_ASSETS, STYLE, docsPage } from './docs-page.ts'
import { documentOf } from './document.ts'
import type { PostedEvent } from './posted-events.ts'

export interface Described {
  routes: readonly Route[]
  /** What the gateway posts to apps and triggers. */
  events: readonly PostedEvent[]
  /** Whether the built-in simulator is the provider, so that requests of the page work with the console's session. */
  simulated: boolean
}

/**
 * `/openapi.json` and its page `/docs`, by `@elysiajs/swagger`. The document is built at the first request, because describing the routes would
 * add a tenth to the time of every start.
 */
export function openApi(described: Described): WebPage[] {
  const load = loadOnce(() => filesOf(described))
  return [
    ...DOCS_ASSETS,
    {
      path: '/docs',
      answer: async (request) =>
        WITH_SLASH.test(request.url) ? toPage() : (await load()).page.answer(request, OWN_FILES_HEADERS),
    },
    { path: '/openapi.json', answer: async (request) => (await load()).document.answer(request) },
  ]
}

/** The router treats this path as the same, but the page's links are relative to the one without the slash. */
const WITH_SLASH = /^[^?]*\/docs\/(\?|$)/
const toPage = (): Response => new Response(null, { status: 302, headers: { location: '../docs' } })

interface Files {
  page: ServedFile
  document: ServedFile
}

async function filesOf({ routes, events, simulated }: Described): Promise<Files> {
  const { swagger } = await import('@elysiajs/swagger')
  const app = new Elysia().use(
    swagger({
      provider: 'swagger-ui',
      path: '/docs',
      specPath: '/openapi.json',
      theme: STYLE,
      autoDarkMode: false,
      documentation: documentOf(routes, events),
    }),
  )
  // Not the caller's host: Elysia finds no route if the host has fewer than four characters.
  const answer = (path: string): Promise<Response> => app.handle(new Request(`http://localhost${path}`))
  const document = await (await answer('/openapi.json')).text()
  return {
    page: served('docs', 'text/html; charset=utf-8', await docsPage(await answer('/docs'), simulated)),
    document: served('openapi.json', 'application/json', document),
  }
}

const served = (name: string, type: string, text: string): ServedFile =>
  new ServedFile({ name, type, bytes: new TextEncoder().encode(text) })
