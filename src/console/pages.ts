import type { Gateway } from '../gateway.ts'
import type { Page } from '../http/server.ts'
import { pageFiles } from './page-files.ts'

/** The files of the console's page. `index.html` is served as `/console/`. */
const FILES = ['main.js', 'theme.js', 'style.css'] as const

/** The console: one page and its files. In development each load of the page bundles it anew, so that a change of its source shows. */
export function consolePages({ config }: Gateway): Page[] {
  return [
    {
      // The router takes `/console` for the same.
      path: '/console/',
      answer: async (request) => {
        const files = await pageFiles({ isAnew: !config.production })
        return files.get(config.provider.simulated ? 'simulator.html' : 'index.html').answer(request, PAGE_HEADERS)
      },
    },
    ...FILES.map((name) => ({
      path: `/console/${name}`,
      answer: async (request: Request) => (await pageFiles({ isAnew: false })).get(name).answer(request),
    })),
  ]
}

/** Everything comes from this origin, and nothing is inline. */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
