import { expect, setDefaultTimeout, test } from 'bun:test'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { withServer } from '../support/cli-server.ts'
import { receiveText } from '../support/provider-events.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/world.ts'

// Each test starts many processes, and all run at once.
setDefaultTimeout(60_000)

test.concurrent('webhook deliveries are listed with their errors, and made again', async () => {
  await using receiver = startReceiver()
  receiver.answer = () => new Response('no such hook', { status: 410 })
  await withServer(async (world, sgw) => {
    await world.call('PUT', `/v1/apps/${world.app.appId}`, { body: { webhookUrl: receiver.url } })
    await world.control.injectSms({ text: 'hello' })
    await receiver.received(1)
    const listed = await until(async () => {
      const answer = await sgw.json<{ attempts: { deliveryId: string }[] }>('webhooks', 'list')
      return answer.attempts.length > 0 ? answer : null
    })
    expect((await world.json('GET', '/v1/webhook-deliveries')).body).toEqual(listed)
    const deliveryId = listed.attempts[0]?.deliveryId ?? ''
    const { stdout } = await sgw.text('webhook', 'list', '--outcome', 'http_error', '--app', world.app.appId)
    expect(stdout).toContain(`✗`)
    expect(stdout).toMatch(
      /http_error 410 after \d+ ms {2}http:\/\/\S+\n {4}The destination answered 410: no such hook\n/,
    )
    const { stdout: status } = await sgw.text('status')
    expect(status).toMatch(
      new RegExp(
        `^! webhooks of ${world.app.appId} have failed since .*\\n {4}http_error 410: sgw webhooks list --app ${world.app.appId}$`,
        'm',
      ),
    )
    expect(await sgw.json('webhooks', 'redeliver', deliveryId)).toEqual({ deliveryId, attemptNumber: 2 })
    await receiver.received(2)
    await until(async () => (await sgw.json<{ total: number }>('webhooks', 'list')).total === 2)
    expect(await sgw.json('webhooks', 'recover', '--since', '1h')).toEqual({ scheduled: 1 })
    await receiver.received(3)
    await until(async () => (await sgw.json<{ total: number }>('webhooks', 'list')).total === 3)
    expect(await sgw.text('webhooks', 'redeliver', 'nonsense')).toMatchObject({
      code: 1,
      stderr: 'Delivery not found: list the deliveries with sgw webhooks list\n',
    })
    receiver.answer = () => new Response('thanks')
    expect(await sgw.json('app', 'update', world.app.appId, '--webhook-url', `${receiver.url}/right`)).toEqual({
      appId: world.app.appId,
      ok: true,
    })
    const updated = await sgw.text('app', 'update', world.app.appId, '--webhook-url', `${receiver.url}/right`)
    expect(updated.stdout).toMatch(
      new RegExp(`^secret .*if you no longer have it: sgw app rotate-webhook-secret ${world.app.appId} --yes`, 'm'),
    )
    await sgw.json('webhooks', 'redeliver', deliveryId)
    expect((await receiver.received(4)).at(-1)?.path).toBe('/hook/right')
    await until(async () => !(await sgw.text('status')).stdout.includes('webhooks of'))
    expect((await sgw.text('app', 'update', world.app.appId, '--webhook-url', '')).stdout).not.toContain('secret')
    expect((await sgw.text('webhooks', 'redeliver', deliveryId)).stderr).toContain(
      'no destination: its app is inactive or has no webhook address (sgw app list --tenant TENANT)',
    )
    expect((await sgw.text('app', 'update', world.app.appId, '--webhook-url', 'localhost/hook')).stderr).toContain(
      'write it in full, such as https://example.com/sms; in production a private address such as 127.0.0.1 must be in WEBHOOK_ALLOW_CIDRS\n',
    )
    await sgw.json('app', 'deactivate', world.app.appId, '--yes')
    expect((await sgw.text('app', 'update', world.app.appId, '--webhook-url', receiver.url)).stderr).toBe(
      'App is not active: sgw app activate APP activates it, with a new key\n',
    )
    expect((await sgw.text('webhooks', 'recover', '--since', '1h', '--app', world.app.appId)).stderr).toBe(
      'App is not active: sgw app activate APP activates it, with a new key\n',
    )
  })
})

test.concurrent.each([401, 403])(
  'a receiver that answers %p is said to have another webhook secret, with the command',
  async (answered) => {
    await using receiver = startReceiver(answered)
    await withServer(async (world, sgw) => {
      const { appId } = world.app
      const said = `The receiver refuses the signature: it probably has another webhook secret. sgw app rotate-webhook-secret ${appId} --yes prints a new one for it.`
      await world.call('PUT', `/v1/apps/${appId}`, { body: { webhookUrl: receiver.url } })
      await sgw.json('trigger', 'create', '--tenant', world.tenantId, '--callback-url', `${receiver.url}/trigger`)
      await world.control.injectSms({ text: 'hello' })
      const listed = await until(async () => {
        const { stdout } = await sgw.text('webhooks', 'list')
        return stdout.match(/http_error/g)?.length === 2 ? stdout.replaceAll(/\s+/g, ' ') : null
      })
      expect(listed).toContain(said)
      expect(listed).toContain('if you have lost it, delete the trigger (sgw trigger delete) and create it again')
      const status = (await sgw.text('status')).stdout.replaceAll(/\s+/g, ' ')
      expect(status).toContain(`http_error ${answered}: sgw webhooks list --app ${appId} ${said}`)
    })
  },
)

test.concurrent('what never arrived is listed and dismissed, of all tenants or of one', async () => {
  await using receiver = startReceiver(500)
  await withServer(async (world, sgw) => {
    const other = await world.otherTenant()
    const ids: string[] = []
    for (const { tenantId } of [world.app, other]) {
      const create = ['trigger', 'create', '--tenant', tenantId, '--callback-url', receiver.url]
      await sgw.json(...create)
      await receiveText(world, `lost of ${tenantId}`, tenantId)
    }
    const list = ['webhooks', 'list', '--state', 'never_arrived']
    const listed = () => sgw.json<{ total: number; attempts: { deliveryId: string; tenantId: string }[] }>(...list)
    const { attempts } = await until(async () => {
      const found = await listed()
      return found.total === 2 ? found : null
    })
    ids.push(...attempts.map(({ deliveryId }) => deliveryId))
    expect(await sgw.json('webhooks', 'dismiss', '--since', '1h', '--tenant', other.tenantId)).toEqual({ dismissed: 1 })
    expect((await listed()).attempts.map(({ tenantId }) => tenantId)).toEqual([world.tenantId])
    expect(await sgw.json('webhooks', 'dismiss', ...ids, 'nonsense')).toEqual({ dismissed: 1 })
    expect(await listed()).toMatchObject({ total: 0 })
    expect(await sgw.json('webhooks', 'recover', '--since', '1h')).toEqual({ scheduled: 0 })
    expect(await sgw.json('webhooks', 'redeliver', ids[0] ?? '')).toMatchObject({ attemptNumber: 2 })
    await until(async () => (await listed()).total === 1)
    expect(await sgw.text('webhooks', 'dismiss', '--since', '1h')).toMatchObject({ code: 0 })
    expect(await listed()).toMatchObject({ total: 0 })
    for (const args of [[], ['--until', '1h'], ['x', '--since', '1h'], ['x', '--app', world.app.appId]])
      expect((await sgw.text('webhooks', 'dismiss', ...args)).code).toBe(2)
    expect((await sgw.text('webhooks', 'list', '--state', 'lost')).code).toBe(2)
    const missing = await sgw.text('webhooks', 'dismiss', '--since', '1h', '--trigger', 'trg_0000000000000000')
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('sgw trigger list') })
  })
})

test.concurrent('status says which alerts fire', async () => {
  await withServer(async (world, sgw) => {
    expect((await sgw.text('status')).stdout).not.toContain('✗')
    await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
    await new Alerts(world.gateway, null).run()
    expect((await sgw.text('status')).stdout).toMatch(
      /^✗ since \S+ \S+\n {4}Extension \d+ of tenant_\w+ is revoked, so .*$/m,
    )
  })
})

test.concurrent('the webhooks of one trigger are found, whichever tenant it belongs to', async () => {
  await using receiver = startReceiver(500)
  await withServer(async (world, sgw) => {
    const other = await world.otherTenant()
    const created = ['trigger', 'create', '--tenant', other.tenantId, '--callback-url', receiver.url]
    const { triggerId } = await sgw.json<{ triggerId: string }>(...created)
    await receiveText(world, 'for the other tenant', other.tenantId)
    await receiver.received(1)
    const list = ['webhooks', 'list', '--trigger', triggerId]
    await until(async () => (await sgw.json<{ total: number }>(...list)).total === 1)
    expect((await sgw.text('status')).stdout).toContain(`: sgw ${list.join(' ')}\n`)
    expect(await sgw.json('webhooks', 'recover', '--since', '1h', '--trigger', triggerId)).toEqual({ scheduled: 1 })
    await receiver.received(2)
    const missing = await sgw.text('webhooks', 'recover', '--since', '1h', '--trigger', 'trg_0000000000000000')
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('sgw trigger list') })
  })
})

test.concurrent('a trigger is deleted although a tenant that has left refuses the same call', async () => {
  await withServer(async (world, sgw) => {
    const other = await world.otherTenant()
    const created = ['trigger', 'create', '--tenant', other.tenantId, '--callback-url', 'http://localhost:8080/hook']
    const { triggerId } = await sgw.json<{ triggerId: string }>(...created)
    await sgw.json('tenant', 'deactivate', world.tenantId)
    expect(await sgw.json('trigger', 'delete', triggerId)).toEqual({ ok: true })
    expect(await sgw.text('trigger', 'delete', triggerId)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Trigger not found: list the triggers with sgw trigger list; a tenant that is not active was left out\n',
    })
    expect(await sgw.text('trigger', 'delete', triggerId, '--tenant', world.tenantId)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Tenant suspended or inactive'),
    })
  })
})
