import { route } from '../../http/route.ts'
import { Me, getMe } from './get-me.ts'

export const meRoutes = [
  route({
    method: 'GET',
    path: '/v1/me',
    auth: 'app',
    tag: 'Apps',
    summary: 'Who the key belongs to, and which gateway this is',
    status: 200,
    response: Me,
    run: ({ gateway, caller }) => getMe(gateway, caller),
  }),
]
