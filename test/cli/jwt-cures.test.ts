import { expect, setDefaultTimeout, test } from 'bun:test'
import { MESSAGE_FAILURES } from '../../src/core/message-failure.ts'
import { sgwIn } from '../support/cli.ts'
import { openOperatorSocket, operate } from '../support/operator.ts'
import { FROM, TO, type World, createWorld, until } from '../support/world.ts'

// The contract's text of a revoked extension names a link. Where a JWT keeps the extension, the terminal says so beside it.

setDefaultTimeout(60_000)

const flat = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** What each command prints about a message that has failed, on standard output and error. */
async function printed(world: World) {
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await sgwIn(world.folder, words)
    return `${stdout}${stderr}`
  }
  const messageId = await world.send()
  await world.untilStatus(messageId, ['failed'])
  return {
    show: await run('messages', 'show', messageId),
    list: await run('messages', 'list'),
    send: await run('send', '--from', FROM, '--to', TO, '--wait', 'Hello'),
    status: await run('status'),
  }
}

for (const events of ['webhook', 'websocket'])
  test.concurrent(`with a JWT and ${events} every command that shows the text says how the extension is connected again, the cause before what came of it`, async () => {
    await using world = await createWorld({ connect: false, env: { RC_EVENTS: events } })
    const operator = openOperatorSocket(world)
    const { tenantId } = world
    const { extensionId = '' } = world.control.extensions()[0] ?? {}
    const { jwt } = world.control.addJwt({ extensionId })
    expect((await operate(world, 'POST', '/v1/operator/extensions', { tenantId, jwt })).status).toBe(200)
    const status = async (): Promise<string> => (await sgwIn(world.folder, ['status'])).stdout
    await until(async () => /^subscriptions +1 active, 0 pending/m.test(await status()))
    world.control.removeJwt({ jwt })
    world.control.revokeTokens({ extensionId })
    const all = await printed(world)
    const cure = `${extensionId}: Its JWT is no longer accepted. Make another one in the developer console: sgw extensions connect-jwt --tenant ${tenantId} --jwt-file FILE, or set RC_JWT and restart.`
    for (const text of Object.values(all)) {
      expect(flat(text)).toContain(MESSAGE_FAILURES.revoked.text)
      expect(flat(text)).toContain(cure)
      expect(text).not.toContain('sgw extensions invite')
    }
    expect(all.show).toMatch(/^fix +\d+: Its JWT is no longer accepted\. Make another one/m)
    const parts = [/^✗ since /m, /is revoked, so its messages fail/, /^! 2 messages failed /m]
    const at = parts.map((part) => all.status.search(part))
    expect(at).toEqual(at.toSorted((one, other) => one - other))
    expect(at).not.toContain(-1)
    // Nobody waits for a subscription of an extension that is revoked.
    expect(all.status).toMatch(/^subscriptions +0 active, 0 pending$/m)
    const { body } = await operate<{ check: string; detail: string }[]>(world, 'GET', '/v1/operator/doctor')
    expect(body.find(({ check }) => check === 'subscriptions')?.detail).toBe('none needed: no extension is active')
    const health = await world.json<{ extensions: { subscription: object }[] }>('GET', '/v1/rc/extensions/health')
    expect(health.body.extensions[0]?.subscription).toEqual({ status: 'none', expiresAt: null })
    await operator.stop()
  })

test.concurrent('with a link nothing speaks of a JWT', async () => {
  await using world = await createWorld()
  const operator = openOperatorSocket(world)
  world.control.revokeTokens({ extensionId: world.control.extensions()[0]?.extensionId ?? '' })
  for (const text of Object.values(await printed(world))) {
    expect(flat(text)).toContain(MESSAGE_FAILURES.revoked.text)
    expect(text).not.toMatch(/JWT|connect-jwt/)
  }
  await operator.stop()
})
