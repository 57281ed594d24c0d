import { apiError, errorTexts } from '../../core/errors.ts'
import { isFresh } from '../../core/lease.ts'
import { route } from '../http/route.ts'
import { EventsAnswer, EventsQuery, POSTED_EVENTS } from './schemas.ts'

/** By then the lease is renewed, or another gateway answers. */
const LEASE_RETRY_SECONDS = 1

/** For the OpenAPI document. */
export const postedEvents = POSTED_EVENTS

export const eventsRoutes = [
  route({
    operationId: 'listEvents',
    method: 'GET',
    path: '/v1/events',
    auth: 'app',
    tag: 'Events',
    summary: 'Events after a cursor, oldest first',
    description:
      "What the app's WebSocket would have received, with the same fields: `sms_status` and `sms_delivery` events of its messages and `sms_inbound` and `opt_out` events of its tenant. A page may have fewer events than `limit` although more follow: continue with its `cursor` until `events` is empty. `gap` is true when events after the cursor may be gone, because they are older than `EVENT_RETENTION` or the database was restored from a backup; the page then begins with the oldest kept event.",
    query: EventsQuery,
    mayWait: true,
    response: EventsAnswer,
    errors: { 400: errorTexts('badCursor') },
    run: ({ gateway, caller, query }) => {
      // The cursors of an overtaken gateway mean nothing to its successor.
      if (!isFresh(gateway.lease)) throw apiError('storageUnavailable', LEASE_RETRY_SECONDS)
      return gateway.events.page(caller, query.after, query.limit)
    },
  }),
]
