import { jsonAnswer } from '../../core/json-answer.ts'
import { z } from 'zod'
import { route } from '../http/route.ts'
import { READY_STATES, readyStateOf } from './ready.ts'

const Health = z.object({ status: z.enum(['ok', 'draining']) }).meta({ id: 'Health', example: { status: 'ok' } })

const Ready = z.object({ status: z.enum(READY_STATES) }).meta({ id: 'Ready', example: { status: 'ready' } })

export const healthRoutes = [
  route({
    operationId: 'getHealth',
    method: 'GET',
    path: '/health',
    auth: 'none',
    tag: 'Health',
    summary: 'Whether the server is running',
    description: 'Returns 503 with `draining` while the server stops.',
    response: Health,
    otherwise: { 503: ['While the server stops', Health] },
    run: ({ gateway }) =>
      gateway.lifecycle.draining ? jsonAnswer({ status: 'draining' }, { status: 503 }) : { status: 'ok' },
  }),
  route({
    operationId: 'getReady',
    method: 'GET',
    path: '/ready',
    auth: 'none',
    tag: 'Health',
    summary: 'Whether the server accepts and sends messages',
    description:
      'For load balancers. A server that runs but cannot work, such as a standby, returns 503 and says why in `status`.',
    response: Ready,
    otherwise: { 503: ['While it is not ready', Ready] },
    run: async ({ gateway }) => {
      const status = await readyStateOf(gateway)
      return jsonAnswer({ status }, { status: status === 'ready' ? 200 : 503 })
    },
  }),
]
