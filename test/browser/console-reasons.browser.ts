import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { MESSAGE_FAILURES, rejected, unknownNumber } from '../../src/core/message-failure.ts'
import { expectAccessible, openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { FROM, type World, createWorld, until } from '../support/world.ts'

const UNKNOWN = unknownNumber('+15035550199')
const BLOCKED = rejected('Blocked as spam', 'SMS-UP-430')
const HOUR_MS = 3_600_000

/** Messages that have failed, each to a contact of its own: the first of them the newest. */
async function failed(
  world: World,
  count: number,
  { code, text }: { code: string; text: string },
  agoMs = 0,
): Promise<void> {
  for (let index = 0; index < count; index++) {
    const at = world.gateway.clock.now() - agoMs - index * 1000
    await world.gateway.database.gate.execute({
      sql: `INSERT INTO messages (id, job_id, tenant_id, app_id, direction, from_number, to_number, body, status, error, error_code, created_at, updated_at)
        SELECT 'msg_' || lower(hex(randomblob(6))), 'job_0', ?1, ?2, 'outbound', ?8, ?3, ?4, 'failed', ?5, ?6, ?7, ?7`,
      args: [
        world.tenantId,
        world.app.appId,
        `+1503555${String(1000 + index)}`,
        `${code} ${index}${agoMs === 0 ? '' : ' old'}`,
        text,
        code,
        at,
        code === UNKNOWN.code ? '+15035550199' : FROM,
      ],
    })
  }
}

const heading = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText()
const group = (page: Page, title: RegExp) => page.locator('.reason', { has: page.getByRole('button', { name: title }) })
const sentTexts = (world: World): unknown[] => world.control.messages({ direction: 'Outbound' }).map(({ text }) => text)

test('failures stand by reason, and those of one go out again once, from another number', async () => {
  await using world = await createWorld()
  await failed(world, 5, UNKNOWN)
  await failed(world, 2, UNKNOWN, 2 * HOUR_MS)
  await failed(world, 2, BLOCKED)
  await failed(world, 1, MESSAGE_FAILURES.cancelled)
  await world.call('PUT', '/v1/opt-outs', { body: { number: FROM, contact: '+15035551004', optedOut: true } })
  await using opened = await openAsOperator(world, '/messages?state=failed')
  const { page, complaints } = opened
  const unknown = group(page, /belongs to no connected extension/)
  await unknown.locator('.row').nth(4).waitFor()
  expect(await heading(page)).toBe('7 of 9 failures have one cause: +15035550199 is not connected.')
  expect(await unknown.innerText()).toContain('Sending again works from a connected number.')
  const blocked = group(page, /RingCentral refused the text \(SMS-UP-430\)/)
  expect(await blocked.innerText()).toContain('RingCentral said “Blocked as spam”. Sending again would fail, too.')
  expect(await blocked.getByRole('button').count()).toBe(1)
  await expectAccessible(page)
  await unknown.getByRole('button', { name: 'Resend 7…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send 7 texts again' })
  await dialog.getByRole('button', { name: 'Send 6 again' }).waitFor()
  const facts = await dialog.innerText()
  expect(facts).toContain('2 are older than an hour: what they say may be over.')
  // Lines of 20 pixels keep the facts apart.
  expect(await page.evaluate("getComputedStyle(document.querySelector('.dialog .fact')).lineHeight")).toBe('20px')
  expect(facts).toContain('1 to a contact who opted out is left out.')
  expect(facts).toContain('About 9 s at 40 a minute.')
  await expectAccessible(page)
  const leave = dialog.getByRole('button', { name: 'Leave them out' })
  for (const width of [390, 320, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    expect((await leave.boundingBox())?.height).toBeLessThan(24)
  }
  await leave.click()
  await dialog.getByRole('button', { name: 'Send 4 again' }).click()
  await unknown.getByText(/4 texts sent again at .*, 3 left out\./).waitFor()
  await unknown.getByText('4 were sent again.').waitFor()
  await until(() => sentTexts(world).length === 4)
  expect(sentTexts(world).toSorted()).toEqual([0, 1, 2, 3].map((index) => `unknown_number ${index}`))
  // Again: only what was left out is there.
  await unknown.getByRole('button', { name: 'Resend 3…' }).click()
  await page.getByRole('button', { name: 'Send 2 again' }).click()
  await until(() => sentTexts(world).length === 6)
  expect(new Set(sentTexts(world)).size).toBe(6)
  expect(complaints).toEqual([])
})

test('with the keyboard alone a reason is opened, its messages are sent again, and the others are listed', async () => {
  await using world = await createWorld()
  await failed(world, 7, MESSAGE_FAILURES.expired)
  await failed(world, 1, BLOCKED)
  await using opened = await openAsOperator(world, '/messages?state=failed')
  const { page } = opened
  await page.getByText('2 more').waitFor()
  const focused = (): Promise<string> => page.locator(':focus').innerText()
  await page.keyboard.press('j')
  expect(await focused()).toBe('They waited too long')
  for (let index = 0; index < 7; index++) await page.keyboard.press('j')
  expect(await focused()).toContain('RingCentral refused the text')
  await page.keyboard.press('Enter')
  await group(page, /RingCentral refused/)
    .locator('.row')
    .waitFor()
  await page.keyboard.press('k')
  expect(await focused()).toBe('They waited too long')
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Resend 7…')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Send 7 again' }).waitFor()
  // The number, Back, and then the verb.
  for (const key of ['Tab', 'Tab', 'Enter']) await page.keyboard.press(key)
  await group(page, /They waited/)
    .getByText(/7 texts sent again/)
    .waitFor()
  await until(() => sentTexts(world).length === 7)
  await page.keyboard.press('k')
  await page.getByRole('button', { name: 'They waited too long' }).press('Enter')
  await page.getByRole('link', { name: '2 more' }).press('Enter')
  await until(async () => (await page.locator('.row').count()) === 7)
  expect(new URL(page.url()).hash).toBe('#/messages?state=failed&failure=expired')
  await page.getByRole('button', { name: 'Reason' }).click()
  await page.getByRole('heading', { level: 1, name: /failures/ }).waitFor()
  await page.getByRole('button', { name: 'None' }).click()
  await until(async () => (await page.locator('.row').count()) === 8)
})

test('an app’s key sees the reasons and whom to ask, and cannot send anything again', async () => {
  await using world = await createWorld()
  await failed(world, 3, MESSAGE_FAILURES.expired)
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/messages?state=failed' })
  const { page, complaints, requests } = opened
  await page.getByText('An operator of the gateway can send them again.').waitFor()
  expect(await heading(page)).toBe('All 3 failures have one cause: they waited too long.')
  expect(await page.getByRole('button', { name: /Resend/ }).count()).toBe(0)
  expect(requests.filter((url) => url.includes('/v1/operator/'))).toEqual([])
  expect(complaints).toEqual([])
})

test('the cure stands in the place of Resend as long as it is needed', async () => {
  await using world = await createWorld()
  await failed(world, 2, MESSAGE_FAILURES.revoked)
  await world.gateway.database.gate.execute("UPDATE extensions SET status = 'revoked'")
  await using opened = await openAsOperator(world, '/messages?state=failed')
  const { page } = opened
  const revoked = group(page, /The extension was revoked/)
  await revoked.getByRole('button', { name: 'Authorize again' }).waitFor()
  expect(await revoked.getByRole('button', { name: /Resend/ }).count()).toBe(0)
  expect((await world.connect()).ok).toBe(true)
  await page.reload()
  await revoked.getByRole('button', { name: 'Resend 2…' }).waitFor()
})

test('the reasons obey the filters, the overview leads to them, and privacy mode masks their numbers', async () => {
  await using world = await createWorld()
  await failed(world, 3, UNKNOWN)
  await using opened = await openAsOperator(world, '/messages?state=failed&contact=%2B15035551001')
  const { page } = opened
  await page.getByRole('button', { name: 'Resend 1…' }).click()
  await page.getByRole('button', { name: 'Send 1 again' }).click()
  await page.getByText(/One text sent again/).waitFor()
  await until(() => sentTexts(world).length === 1)
  expect(sentTexts(world)).toEqual(['unknown_number 1'])
  await page.keyboard.press('p')
  await page.locator('.private .reason h2 .mask').first().waitFor()
  await page.goto(`${world.url}/console/#/messages?state=failed&failure=nonsense`)
  await page.getByText(/Invalid failure: “nonsense”\. Try expired or revoked/).waitFor()
  world.control.fault({ route: 'sms', fault: { kind: 'respond', status: 400 } })
  await world.untilStatus(await world.send(), ['failed'])
  await page.goto(`${world.url}/console/#/overview`)
  await page.locator('[aria-labelledby=reasons] a').first().click()
  await until(async () => (await page.locator('.row').count()) === 1)
  expect(new URL(page.url()).hash).toMatch(/^#\/messages\?state=failed&failure=rejected.*&after=24h$/)
})
