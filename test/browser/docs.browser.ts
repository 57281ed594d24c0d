import { expect, test } from 'bun:test'
import { ROUTES } from '../../src/server/app.ts'
import { postedEvents } from '../../src/api/events/routes.ts'
import { openConsole } from '../support/console.ts'
import { type World, createWorld } from '../support/world.ts'

test('the documentation page asks only the gateway, breaks no rule of its policy, and is dark where the system is', async () => {
  await using world = await createWorld({ connect: false, work: false })
  const origins = new Set<string>()
  await using docs = await openConsole(world.url, {
    path: '/docs',
    theme: 'dark',
    prepare: async (opening) => {
      opening.on('request', (request) => origins.add(new URL(request.url()).origin))
      // The console stores its choice at every visit.
      await opening.addInitScript(`localStorage.setItem('sgw.theme', 'system')`)
    },
  })
  const { page, complaints } = docs
  await page.waitForSelector('.opblock-summary-path')
  expect(await page.locator('.opblock').count()).toBe(ROUTES.length + postedEvents.length)
  expect(await page.locator('html').getAttribute('class')).toContain('dark-mode')
  if (Bun.env['SCREENSHOT'] !== undefined) await page.screenshot({ path: Bun.env['SCREENSHOT'] })
  expect([...origins].filter((origin) => origin !== 'null')).toEqual([new URL(page.url()).origin])
  expect(complaints).toEqual([])
})

test('beside the simulator a request of the page works at once, with the session of the console', async () => {
  await using world = await createWorld()
  await using docs = await openConsole(world.url)
  const { page, complaints } = docs
  await page.locator('.connection', { hasText: 'Live' }).waitFor()
  await page.goto(`${new URL(page.url()).origin}/docs#/SMS/sendSms`)
  const block = page.locator('#operations-SMS-sendSms')
  // As in `console-prefix.browser.ts`.
  await block.locator('.btn.execute').click({ timeout: 90_000 })
  await block.locator('.live-responses-table .response-col_status').first().waitFor()
  // What the operation refers to is there, too.
  expect(await block.locator('.parameters').first().textContent()).toContain('Idempotency-Key')
  expect(await block.locator('.live-responses-table .response').first().textContent()).toContain('"status": "queued"')
  expect(complaints).toEqual([])
  expect(await sessionsOf(world)).toBe(1)
}, 120_000)

test('the page opens no session, and says nothing of one that has ended', async () => {
  await using world = await createWorld({ work: false })
  await using docs = await openConsole(world.url, { path: '/docs' })
  const { page, complaints, requests } = docs
  const authorize = page.locator('.auth-wrapper .authorize')
  await authorize.waitFor()
  await page.waitForLoadState('networkidle')
  expect(requests.filter((request) => request.includes('/v1/'))).toEqual([])
  expect(await sessionsOf(world)).toBe(0)
  for (const stored of ['nonsense', JSON.stringify({ token: 'sgw_op_x', expiresAt: '2020-01-01T00:00:00.000Z' })]) {
    await page.evaluate(`localStorage.setItem('sgw.operator', ${JSON.stringify(stored)})`)
    await page.reload()
    await authorize.waitFor()
    await page.waitForLoadState('networkidle')
  }
  expect(requests.filter((request) => request.includes('/v1/'))).toEqual([])
  expect(complaints).toEqual([])
})

const sessionsOf = async ({ gateway }: World): Promise<number> =>
  (await gateway.database.gate.execute('SELECT id FROM operator_sessions')).rows.length
