import type { Gateway } from '../messages/gateway.ts'
import { OWN_FILES_HEADERS } from '../api/http/page-headers.ts'
import type { WebPage } from '../api/http/server.ts'
import { type PageFileName, SCRIPTS, pageFiles } from './page-files.ts'

/** The console: one page and its files. In development, loading the page bundles it again if its source has changed. */
export function consolePages({ config }: Gateway): WebPage[] {
  return [
    {
      path: '/console/',
      answer: async (request) => {
        if (WITHOUT_SLASH.test(request.url))
          return new Response(null, { status: 302, headers: { location: 'console/' } })
        const files = await pageFiles({ isAnew: !config.production })
        // In development the files change with their source.
        if (config.production) void files.compressBest()
        return files.get(pageOf(config)).answer(request, OWN_FILES_HEADERS)
      },
    },
    ...SCRIPTS.map((name) => ({
      path: `/console/${name}`,
      answer: async (request: Request) => (await pageFiles({ isAnew: false })).get(name).answer(request),
    })),
  ]
}

function pageOf({ production, hasPublicUrl, provider }: Gateway['config']): PageFileName {
  if (provider.simulated) return 'simulator.html'
  return production && !hasPublicUrl ? 'home.html' : 'index.html'
}

/** The router accepts this path too, but the page's relative addresses start in the folder. */
const WITHOUT_SLASH = /^[^?]*\/console(\?|$)/
