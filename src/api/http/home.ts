import { apiError } from '../../core/errors.ts'
import { prefersPage } from './prefers-page.ts'
import type { WebPage } from './server.ts'

/**
 * `GET /` leads browsers to the console. For programs it does not exist. The address is relative, because a proxy may have taken a
 * prefix from the path.
 */
export const home: WebPage = {
  path: '/',
  answer(request) {
    if (!prefersPage(request)) throw apiError('notFound')
    return new Response(null, { status: 302, headers: { location: 'console/', vary: 'Accept' } })
  },
}
