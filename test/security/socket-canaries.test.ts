import { expect, test } from 'bun:test'
import { createLog } from '../../src/core/log.ts'
import { SOCKET_FAULTS, type SocketFaultKind } from '../../src/core/provider-changes.ts'
import type { Route } from '../../src/api/http/route.ts'
import { localRoutes } from '../../src/operator/local-routes.ts'
import { simulatorRoutes } from '../../src/operator/simulator-routes.ts'
import { ROUTES, createLocalServer } from '../../src/server/app.ts'
import { MINUTE, SECOND, SocketCase } from '../flows/sockets/socket-case.ts'
import { operate } from '../support/operator.ts'
import { until } from '../support/world.ts'
import { ENCRYPTED, filesOf, found, noteSocketSecrets, partsOfJwt } from './canaries.ts'

// A JWT, the tickets of its sockets and their recovery tokens: after every fault of a socket they are in no log line, no answer, no
// trace and no page of the database. `socket-canaries.long.ts` does the same with programs.

const TEXT = 'canary-incoming-text'
/** Faults of events need a text; those of the next connection, a cut. The others happen at once. */
const OF_EVENTS: readonly SocketFaultKind[] = ['drop', 'delay', 'duplicate']
const HARMLESS: readonly SocketFaultKind[] = ['heartbeat', ...OF_EVENTS]

/** They end the process, or never end. */
const LEFT_OUT = ['stopServer', 'giveLease', 'followDevelopmentEvents', 'openSocket']

/** Each fault once, and after it a socket again. */
async function playFaults(it: SocketCase): Promise<void> {
  for (const kind of SOCKET_FAULTS) {
    await it.run(31 * SECOND)
    const opened = it.control.requests({ route: 'socket' }).length
    const tickets = it.control.requests({ route: 'wstoken' }).length
    it.control.faultSockets({ kind })
    await it.text(TEXT)
    if (HARMLESS.includes(kind)) continue
    it.control.faultSockets({ kind: 'cut' })
    await it.noticed()
    await it.pass(MINUTE, () => it.control.requests({ route: 'wstoken' }).length > tickets)
    await it.reopened(11 * MINUTE)
    expect(it.control.requests({ route: 'socket' }).length).toBeGreaterThan(opened)
  }
}

const connectByJwt = (it: SocketCase, jwt: string): Promise<unknown> =>
  operate(it.world, 'POST', '/v1/operator/extensions', { tenantId: it.world.tenantId, jwt })

/** What each endpoint answers to the operator of this machine: first those that read. */
async function answersOf(it: SocketCase): Promise<string[]> {
  const { gateway, app, tenantId } = it.world
  gateway.simulator = it.control
  const [message] = (await gateway.database.gate.execute('SELECT id FROM messages')).rows
  const extensionId = it.control.extensions()[0]?.extensionId
  const ids: Record<string, unknown> = { messageId: message?.['id'], appId: app.appId, tenantId, extensionId }
  const server = createLocalServer(gateway)
  const ask = async ({ method, path }: Route): Promise<string> => {
    const url = `http://localhost${path.replaceAll(/:(\w+)/g, (_, name: string) => String(ids[name] ?? 'x'))}`
    const body = method === 'GET' ? {} : { body: '{}', headers: { 'content-length': '2' } }
    const headers = { 'sgw-app': app.appId, ...body.headers }
    const answer = await server.handle(new Request(url, { method, ...body, headers }))
    return `${method} ${path} ${answer.status}\n${[...answer.headers].join('\n')}\n${await answer.text()}`
  }
  const routes = [...ROUTES, ...simulatorRoutes, ...localRoutes].filter(
    ({ operationId }) => !LEFT_OUT.includes(operationId),
  )
  const reading = routes.filter(({ method }) => method === 'GET')
  const answers: string[] = []
  for (const route of [...reading, ...routes.filter((one) => !reading.includes(one))]) answers.push(await ask(route))
  return answers
}

for (const format of ['json', 'pretty'] as const)
  test(`no JWT, ticket or recovery token is in ${format} log lines, answers, traces or the database, whatever happens to the socket`, async () => {
    using noted = noteSocketSecrets()
    const lines: string[] = []
    const log = createLog({ level: 'debug', format, causes: true, write: (line) => lines.push(line) })
    await using it = await SocketCase.open({ connect: false, timeoutMs: 300, log })
    const { gateway } = it.world
    const extensionId = it.control.extensions()[0]?.extensionId ?? ''
    const { jwt } = it.control.addJwt({ extensionId })
    const { jwt: dead } = it.control.addJwt({ extensionId })
    it.control.removeJwt({ jwt: dead })
    const answers = [JSON.stringify([await connectByJwt(it, dead), await connectByJwt(it, jwt)])]
    await until(async () => (await it.shown()).health === 'active')
    await playFaults(it)
    it.control.revokeTokens({ extensionId })
    await gateway.tokens.refresh({ tenantId: it.world.tenantId, extensionId })
    const [row] = (await gateway.database.gate.execute('SELECT jwt FROM extensions')).rows
    expect(row?.['jwt']).toEqual(expect.stringMatching(ENCRYPTED))

    answers.push(...(await answersOf(it)))
    const traces = JSON.stringify([it.control.calls(), it.control.requests(), it.control.sockets()])
    await gateway.database.writer.drained()
    const files = filesOf(it.world.folder)
    const secrets = [...partsOfJwt(jwt), ...partsOfJwt(dead), ...noted.secrets()]
    console.log(`${secrets.length} secrets, ${lines.length} log lines, ${answers.length} answers`)
    expect(noted.secrets().length).toBeGreaterThan(4 * SOCKET_FAULTS.length - 20)

    expect(found(lines.join(''), secrets)).toEqual([])
    expect(lines.join('')).not.toMatch(/access_token=|wsc=/)
    for (const answer of answers) expect([answer.split('\n')[0], ...found(answer, secrets)]).toHaveLength(1)
    expect(found(traces, secrets)).toEqual([])
    for (const [name, bytes] of Object.entries(files)) expect([name, ...found(bytes, secrets)]).toEqual([name])

    // The search finds what is there: the text in answers and pages.
    expect([found(answers.join(''), [TEXT]).length, found(Object.values(files).join(''), [TEXT]).length]).toEqual([
      1, 1,
    ])
    expect(lines.join('')).toContain('event socket has closed')
  }, 60_000)
