import { expect, setDefaultTimeout, test } from 'bun:test'
import { Alerts } from '../../src/operator/alerts/alerts.ts'
import { CONDITIONS } from '../../src/operator/conditions/table.ts'
import { traitsOf } from '../../src/operator/conditions/traits.ts'
import type { Finding } from '../../src/operator/doctor/finding.ts'
import { sgwIn } from '../support/cli.ts'
import { withServer } from '../support/cli-server.ts'
import { folderInMemory } from '../support/memory-folder.ts'
import type { World } from '../support/world.ts'

// All run at once.
setDefaultTimeout(60_000)

const HOUR = 3_600_000

/** Lets the extension of the world be revoked, and the alerts of the gateway be checked. */
async function revoke(world: World): Promise<string> {
  const alerts = new Alerts(world.gateway, null)
  world.gateway.alerts.check = () => alerts.check()
  world.gateway.alerts.setMutes = (change) => alerts.setMutes(change)
  await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
  world.gateway.directory.forget(world.tenantId)
  return world.control.extensions()[0]?.extensionId ?? ''
}

interface Listed {
  alerts: { alert: string; subject: string; mutedUntil?: string; mutedBy?: string }[]
}

test.concurrent('alerts are listed with name, subject and text, and muted until they are over or for a time', async () => {
  await withServer(async (world, sgw) => {
    expect(await sgw.text('alerts')).toEqual({ code: 0, stdout: 'none\n', stderr: '' })
    expect(await sgw.json<Listed>('alerts')).toEqual({ alerts: [] })
    const subject = await revoke(world)
    const ofExtension = new RegExp(
      `^✗ extension_revoked ${subject}  since \\S+ \\S+\\n {4}Extension ${subject} of tenant_\\w+ is revoked, so .*$`,
      'm',
    )
    expect((await sgw.text('alerts')).stdout).toMatch(ofExtension)
    expect(await sgw.json('alerts', 'mute', 'extension_revoked', subject)).toEqual({ ok: true })
    const muted = async () =>
      (await sgw.json<Listed>('alerts')).alerts.find(({ alert }) => alert === 'extension_revoked')
    expect(await muted()).toMatchObject({ subject, mutedUntil: 'over', mutedBy: 'cli' })
    expect((await sgw.text('alerts')).stdout).toContain(', muted until it is over (cli)\n')
    const before = Date.now()
    expect((await sgw.text('alert', 'mute', 'extension_revoked', subject, '--for', '8h')).code).toBe(0)
    const until = Date.parse((await muted())?.mutedUntil ?? '')
    expect(until).toBeGreaterThanOrEqual(before + 8 * HOUR)
    expect(until).toBeLessThanOrEqual(Date.now() + 8 * HOUR)
    expect(await sgw.json('alerts', 'unmute', 'extension_revoked', subject)).toEqual({ ok: true })
    expect(await muted()).not.toHaveProperty('mutedUntil')
  })
})

test.concurrent('status and doctor still tell of what is muted, and until when', async () => {
  await withServer(async (world, sgw) => {
    const subject = await revoke(world)
    const doctor = async () => {
      const { stdout } = await sgw.text('doctor', '--json')
      return (JSON.parse(stdout) as Finding[]).find(({ check }) => check === 'extensions')
    }
    const loud = await doctor()
    await sgw.json('alerts', 'mute', 'extension_revoked', subject)
    expect((await sgw.text('status')).stdout).toMatch(
      /^! since \S+ \S+, muted until it is over \(cli\)\n {4}Extension \d+ of tenant_\w+ is revoked, so .*$/m,
    )
    expect(await doctor()).toEqual({
      ...(loud as Finding),
      detail: `${loud?.detail} This is muted until it is over (cli).`,
    })
  })
})

test.concurrent('status tells every alert in its own words, effects after everything that may cause them', async () => {
  await withServer(async ({ gateway }, sgw) => {
    const alerts = [...CONDITIONS.map(({ alert }) => alert), 'one_of_a_newer_server']
    const firing = alerts.map((alert) => ({
      alert,
      subject: 'gateway',
      what: `<${alert}> is wrong`,
      fix: 'Mend it.',
      overText: '',
      since: Date.now(),
      detail: {},
    }))
    // The checks of this gateway find nothing.
    Object.defineProperty(gateway.alerts, 'firing', { get: () => firing, set() {} })
    const { stdout } = await sgw.text('status')
    const told = [...stdout.matchAll(/<(\w+)> is wrong\. Mend it\./g)].map(([, alert = '']) => alert)
    // Status has lines of its own about what these are about, before they fire.
    const others = alerts.filter((alert) => !['webhook_failing', 'webhooks_interrupted'].includes(alert))
    expect(told.toSorted()).toEqual(others.toSorted())
    const effects = alerts.filter((alert) => traitsOf(alert).isEffect === true)
    expect(effects).toContain('queue_old')
    expect(told).toEqual([...others.filter((alert) => !effects.includes(alert)), ...effects])
  })
})

test.concurrent('what cannot be muted, does not fire or lasts too long is refused with what to do', async () => {
  await withServer(async (world, sgw) => {
    const subject = await revoke(world)
    expect(await sgw.text('alerts', 'mute', 'no_extension_can_send', world.tenantId)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'This alert cannot be muted\n',
    })
    expect(await sgw.text('alerts', 'mute', 'queue_old', 'gateway', '--for', '1h')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'Alert not found: it is not firing, or not for this subject (sgw alerts lists those that are)\n',
    })
    for (const duration of ['8', 'forever', '0h', '31d', '-1h'])
      expect(await sgw.text('alerts', 'mute', 'extension_revoked', subject, '--for', duration)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('at most 30d'),
      })
    expect(await sgw.text('alerts', 'mute', 'extension_revoked')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("missing required argument 'subject'"),
    })
    expect((await sgw.json<Listed>('alerts')).alerts.some(({ mutedUntil }) => mutedUntil !== undefined)).toBe(false)
  })
})

test.concurrent('without a server nothing fires, and the commands say so', async () => {
  const folder = folderInMemory()
  for (const words of [
    ['alerts'],
    ['alerts', 'mute', 'queue_old', 'gateway'],
    ['alerts', 'unmute', 'queue_old', 'gateway'],
  ])
    expect(await sgwIn(folder, words)).toMatchObject({
      code: 7,
      stdout: '',
      stderr: expect.stringContaining('No server answers'),
    })
})
