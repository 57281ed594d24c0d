import { route } from '../http/route.ts'
import { Me, getMe } from './get-me.ts'

export const meRoutes = [
  route({
    operationId: 'getMe',
    method: 'GET',
    path: '/v1/me',
    auth: 'app or operator',
    tag: 'Apps',
    summary: 'Who the key belongs to, and which gateway this is',
    response: Me,
    run: ({ gateway, context }) => getMe(gateway, context.caller, context.operator !== null),
  }),
]
