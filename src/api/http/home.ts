import { apiError } from '../../core/errors.ts'
import { prefersPage } from './prefers-page.ts'
import type { Page } from './server.ts'

/** `GET /` leads browsers to the console. For programs it does not exist. */
export const home: Page = {
  path: '/',
  answer(request) {
    if (!prefersPage(request)) throw apiError('notFound')
    return new Response(null, { status: 302, headers: { location: '/console/', vary: 'Accept' } })
  },
}
