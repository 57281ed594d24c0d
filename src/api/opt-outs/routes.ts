import { errorTexts } from '../../core/errors.ts'
import { Done } from '../http/done.ts'
import { route } from '../http/route.ts'
import { listOptOuts } from './list-opt-outs.ts'
import { getPolicy, setPolicy } from './policy.ts'
import { OptOutBody, OptOutList, OptOutsQuery, Policy } from './schemas.ts'
import { setOptOut } from './set-opt-out.ts'

const common = { auth: 'app', tag: 'Opt-outs' } as const

export const optOutsRoutes = [
  route({
    ...common,
    operationId: 'listOptOuts',
    method: 'GET',
    path: '/v1/opt-outs',
    summary: "Contacts that have opted out of the tenant's numbers, latest first",
    query: OptOutsQuery,
    mayWait: true,
    response: OptOutList,
    run: ({ gateway, caller, query }) => listOptOuts(gateway, caller, query),
  }),
  route({
    ...common,
    operationId: 'setOptOut',
    method: 'PUT',
    path: '/v1/opt-outs',
    summary: 'Opt a contact out of a number, or in again',
    body: OptOutBody,
    priority: ['badNumberOrContact', 'badOptedOut'],
    response: Done,
    errors: { 400: errorTexts('badNumberOrContact', 'badOptedOut', 'badJson') },
    run: ({ gateway, caller, body }) => setOptOut(gateway, caller, body),
  }),
  route({
    ...common,
    operationId: 'getOptOutPolicy',
    method: 'GET',
    path: '/v1/opt-outs/policy',
    summary: "The tenant's policy for messages to contacts that have opted out",
    response: Policy,
    run: ({ gateway, caller }) => getPolicy(gateway, caller),
  }),
  route({
    ...common,
    operationId: 'setOptOutPolicy',
    method: 'PUT',
    path: '/v1/opt-outs/policy',
    summary: 'Set whether messages to contacts that have opted out fail',
    description:
      'With `block` such a message ends `failed` with `Recipient opted out` when its turn comes, without a call to the provider. With `observe`, the default, it is sent.',
    body: Policy,
    response: Done,
    errors: { 400: errorTexts('badPolicy', 'badJson') },
    run: ({ gateway, caller, body }) => setPolicy(gateway, caller, body),
  }),
]
