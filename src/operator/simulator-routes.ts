import { z } from 'zod'
import { errorTexts } from '../core/errors.ts'
import { MAX_SIMULATED_BODY_BYTES } from '../core/limits.ts'
import { NEXT_FAULTS, SITUATIONS } from '../core/simulator-access.ts'
import { route } from '../api/http/route.ts'
import {
  advance,
  changeProvider,
  listCalls,
  nextFault,
  setNextFault,
  simulateInbound,
  simulateSituation,
} from './simulate.ts'
import { AdvanceBody, CallsQuery, ChangeBody, FaultBody, InboundBody, SituationBody } from './simulator-schemas.ts'

const common = { auth: 'operator', tag: 'Operator' } as const
const Fault = z.object({ fault: z.enum(NEXT_FAULTS).nullable() })

/** The built-in simulator, for the phone of the console. Only in development, and not in the OpenAPI document. */
export const simulatorRoutes = [
  route({
    ...common,
    operationId: 'simulateInbound',
    method: 'POST',
    path: '/v1/operator/simulator/inbound',
    summary: 'Send an SMS from a simulated phone to a connected number',
    body: InboundBody,
    maxBodyBytes: MAX_SIMULATED_BODY_BYTES,
    mayWait: true,
    response: z.object({ rcMessageId: z.string() }),
    errors: { 400: errorTexts('badPhoneNumber', 'badBodyLength') },
    run: ({ gateway, body }) => simulateInbound(gateway, body),
  }),
  route({
    ...common,
    operationId: 'setNextFault',
    method: 'PUT',
    path: '/v1/operator/simulator/next',
    summary: 'Set the fault of the next send',
    body: FaultBody,
    response: Fault,
    errors: { 400: errorTexts('badFault') },
    run: ({ gateway, body }) => setNextFault(gateway, body),
  }),
  route({
    ...common,
    operationId: 'getNextFault',
    method: 'GET',
    path: '/v1/operator/simulator/next',
    summary: 'The fault of the next send',
    response: Fault,
    run: ({ gateway }) => nextFault(gateway),
  }),
  route({
    ...common,
    operationId: 'listSimulatorCalls',
    method: 'GET',
    path: '/v1/operator/simulator/calls',
    summary: 'The last calls between gateway and simulator, oldest first',
    query: CallsQuery,
    response: z.object({ calls: z.array(z.unknown()) }),
    run: ({ gateway, query }) => listCalls(gateway, query),
  }),
]

/** The endpoints of `sgw simulate`, on the Unix socket. */
export const localSimulatorRoutes = [
  route({
    ...common,
    operationId: 'simulateSituation',
    method: 'POST',
    path: '/v1/operator/simulator/situation',
    summary: 'Make the simulated provider fail, or end that',
    body: SituationBody,
    response: z.object({ situation: z.enum(SITUATIONS) }),
    run: ({ gateway, body }) => simulateSituation(gateway, body),
  }),
  route({
    ...common,
    operationId: 'changeProvider',
    method: 'POST',
    path: '/v1/operator/simulator/change',
    summary: 'Change how the simulated provider behaves, its numbers or its extensions',
    body: ChangeBody,
    response: z.record(z.string(), z.unknown()),
    run: ({ gateway, body }) => changeProvider(gateway, body),
  }),
  route({
    ...common,
    operationId: 'advanceClock',
    method: 'POST',
    path: '/v1/operator/simulator/advance',
    summary: 'Move the time of a gateway for tests forward',
    body: AdvanceBody,
    mayWait: true,
    response: z.object({ now: z.string() }),
    run: ({ gateway, body }) => advance(gateway, body),
  }),
]
