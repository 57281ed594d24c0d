import { jsonAnswer } from '../../core/json-answer.ts'
import { z } from 'zod'
import { route } from '../http/route.ts'

const Health = z.object({ status: z.enum(['ok', 'draining']) }).meta({ id: 'Health', example: { status: 'ok' } })

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
]
