import { expect, setDefaultTimeout, test } from 'bun:test'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { FROM, TO } from '../support/world.ts'

setDefaultTimeout(60_000)

interface Listed {
  extensions: Record<string, unknown>[]
}

test.concurrent('where several tenants exist, lists name the tenant of each extension and message, and with --json always', async () => {
  await withServer(async (world, sgw) => {
    await world.untilStatus(await world.send({ from: FROM, to: TO, body: 'one' }))
    expect((await sgw.text('extensions', 'list')).stdout).not.toContain('First')
    expect((await sgw.text('messages', 'list')).stdout).not.toContain('First')
    const [alone] = (await sgw.json<Listed>('extensions', 'list')).extensions
    expect(alone).toMatchObject({ tenantId: world.tenantId, tenantName: 'First', name: 'Alice', connectedBy: 'link' })
    const { messages } = await sgw.json<{ messages: object[] }>('messages', 'list')
    expect(messages).toEqual([expect.objectContaining({ tenantId: world.tenantId, tenantName: 'First', body: 'one' })])

    const other = await world.otherTenant('Böhm & Söhne')
    await world.connect({ tenantId: other.tenantId })
    await world.send({ body: 'two' }, { key: other.apiKey })
    const list = (await sgw.text('extensions', 'list')).stdout.split('\n')
    expect(list[0]).toMatch(/^extensionId +tenantId +tenant +status +by +numbers +name$/)
    expect(list.slice(1, 3).map((line) => line.split(/ {2,}/)[2])).toEqual(['First', 'Böhm & Söhne'])
    expect((await sgw.text('messages', 'list')).stdout).toMatch(/ Böhm & Söhne +two\n.* First +one\n/)
    expect((await sgw.text('messages', 'list', '--tenant', world.tenantId)).stdout).not.toContain('First')
    // What the endpoints say is there unchanged.
    const { extensions } = await sgw.json<Listed>('extensions', 'list')
    const { body } = await world.json<Listed>('GET', '/v1/rc/extensions')
    expect(extensions[0]).toMatchObject(body.extensions[0] ?? {})
    expect(extensions.map(({ tenantName }) => tenantName)).toEqual(['First', 'Böhm & Söhne'])
  })
})

test.concurrent('the lines of status and doctor about a tenant name it, but in commands to copy and with --json it is the id', async () => {
  await withServer(async (world, sgw) => {
    const other = await world.otherTenant('Other \u001B[31mLtd')
    await world.connect({ tenantId: other.tenantId })
    await world.gateway.database.gate.execute({
      sql: "UPDATE extensions SET status = 'revoked' WHERE tenant_id = ?1",
      args: [other.tenantId],
    })
    world.gateway.directory.forget(other.tenantId)
    await world.untilStatus(await world.send({}, { key: other.apiKey }), ['failed'], 20_000, { key: other.apiKey })
    const later = new Date(world.gateway.clock.now() + 3_600_000).toISOString()
    await world.send({ sendAt: later })
    const shown = `${other.tenantId} (Other \\u001b[31mLtd)`
    const status = (await sgw.text('status')).stdout
    expect(status).toContain(`, ${shown}\n`)
    expect(status).toContain(`sgw messages list --status failed --tenant ${other.tenantId}\n`)
    expect(status).toMatch(new RegExp(`^✓ 1 message has waited since .*, ${world.tenantId} \\(First\\)$`, 'm'))
    const doctor = (await sgw.text('doctor')).stdout
    expect(doctor).toContain(`of ${shown} is revoked`)
    expect(`${status}${doctor}`).not.toContain(`--tenant ${shown}`)
    const json = (await sgwIn(world.folder, ['doctor', '--json'])).stdout
    expect(json).toContain(other.tenantId)
    expect(json).not.toContain('Ltd')
    const lines = (await sgw.text('extensions', 'list')).stdout
    expect(lines).toMatch(/^! \d+ of Other .*Ltd: Its authorization has ended/m)
  })
})

test.concurrent('a gateway with one tenant has no names in its lines', async () => {
  await withServer(async (world, sgw) => {
    const later = new Date(world.gateway.clock.now() + 3_600_000).toISOString()
    await world.send({ sendAt: later })
    const { stdout } = await sgw.text('status')
    expect(stdout).toContain(world.tenantId)
    expect(stdout).not.toContain('First')
  })
})
