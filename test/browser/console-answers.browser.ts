import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { Sgw } from '../../src/client/client.ts'
import { SIZES, expectAccessible, openConsole, show } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { sharedByTests } from '../support/shared.ts'
import { FROM, type World, createWorld, until } from '../support/world.ts'

const contact = (index: number): string => `+1503555${String(1000 + index)}`

test('the rail of every view and the title of the tab count who waits for an answer, of all conversations, and follow', async () => {
  await using world = await createWorld({ outside: true })
  await fill(world, 60)
  await using opened = await openAsOperator(world, '/overview')
  const { page, complaints } = opened
  await railCount(page, '60').waitFor()
  expect(await page.title()).toBe('(60) Overview – sgw')
  await railCount(page, '60 to answer').waitFor()
  await expectAccessible(page)
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Messages' }).first().click()
  await page.locator('.row').first().waitFor()
  await titled(page, '(60) Messages – sgw')
  await page.keyboard.press('g')
  await page.keyboard.press('c')
  // 50 rows are loaded.
  await page.getByRole('heading', { name: '60 of 61 conversations need your answer.' }).waitFor()
  await titled(page, '(60) Conversations – sgw')
  await world.send({ to: contact(1), body: 'We are here' })
  await page.getByRole('heading', { name: '59 of 61 conversations need your answer.' }).waitFor()
  await titled(page, '(59) Conversations – sgw')
  await new Sgw({ baseUrl: world.url, apiKey: world.key }).optOuts.set({
    number: FROM,
    contact: contact(2),
    optedOut: true,
  })
  await page.getByRole('heading', { name: '58 of 61 conversations need your answer.' }).waitFor()
  await titled(page, '(58) Conversations – sgw')
  expect(complaints).toEqual([])
})

test('without anybody who waits neither the rail nor the title counts, and the first who does is counted at once', async () => {
  await using world = await createWorld({ outside: true })
  await world.untilStatus(await world.send({ to: contact(1) }))
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/webhooks' })
  const { page } = opened
  await opened.quiet()
  expect([await page.title(), await page.locator('.rail-count').count()]).toEqual(['Webhooks – sgw', 0])
  await receive(world, contact(1), 'Thanks')
  await titled(page, '(1) Webhooks – sgw')
  await railCount(page, '1 to answer').waitFor()
})

test('a short code says that it cannot be answered, and stands out no more than what was answered', async () => {
  await using world = await createWorld({ outside: true })
  await receive(world, contact(1), 'a week ago')
  await stored(world, 1)
  await world.gateway.database.gate.execute('UPDATE messages SET created_at = created_at - 8 * 86400000')
  await receive(world, '72345', 'Your code is 4711')
  await receive(world, contact(2), 'now')
  await stored(world, 3)
  await using opened = await openAsOperator(world, '/conversations')
  const { page } = opened
  await page.getByRole('heading', { name: '1 of 3 conversations needs your answer.' }).waitFor()
  await row(page, '4711').getByText('cannot be answered').waitFor()
  expect(await page.locator('.row.to-answer').allTextContents()).toEqual([expect.stringContaining('now')])
  expect(await row(page, 'now').getByText('cannot be answered').count()).toBe(0)
})

test('a conversation says of its newest text what Messages says: waits until, scheduled for, paused, failed', async () => {
  await using world = await createWorld({ outside: true })
  await world.send({ to: contact(1), body: 'later', sendAt: new Date(Date.now() + 86_400_000).toISOString() })
  await world.untilStatus(await world.send({ to: contact(2), from: '+15555550777', body: 'from nowhere' }))
  const headers = { 'retry-after': '90' }
  world.control.fault({ route: 'sms', calls: 1, fault: { kind: 'respond', status: 429, headers } })
  await world.send({ to: contact(3), body: 'held' })
  const said = async (view: string): Promise<string[]> => {
    await using opened = await openAsOperator(world, view)
    const { page } = opened
    await row(page, 'held').locator('em', { hasText: 'paused until' }).waitFor()
    const texts = ['later', 'from nowhere', 'held'].map(async (text) => {
      const found = row(page, text)
      return `${await found.locator('.word').textContent()}: ${(await found.locator('em').allTextContents()).join(', ')}`
    })
    return await Promise.all(texts)
  }
  const inMessages = await said('/messages')
  expect(inMessages).toEqual([
    expect.stringMatching(/^Scheduled: goes out tomorrow/),
    'Failed: number not connected',
    expect.stringMatching(/^Waiting: paused until \d\d:/),
  ])
  expect(await said('/conversations')).toEqual(inMessages)
})

test('a wait that ends is read again, and the row says what became of it', async () => {
  await using world = await createWorld({ outside: true })
  const headers = { 'retry-after': '3' }
  world.control.fault({ route: 'sms', calls: 1, fault: { kind: 'respond', status: 429, headers } })
  await world.send({ to: contact(3), body: 'held' })
  await using opened = await openAsOperator(world, '/conversations')
  const { page } = opened
  await row(page, 'held')
    .locator('.word', { hasText: /Sent|Delivered/ })
    .waitFor()
  expect(await row(page, 'held').locator('em').count()).toBe(0)
})

const withCounts = sharedByTests(async (stack) => {
  const world = stack.use(await createWorld({ outside: true }))
  await fill(world, 12)
  await receive(world, '72345', 'Your code is 4711, which nobody but you may know')
  return stack.use(await openAsOperator(world, '/conversations'))
})

for (const [width, height, theme] of SIZES)
  test(`at ${width} × ${height} in ${theme} the counts fit, and axe finds nothing`, async () => {
    const { page } = await withCounts()
    await show(page, [width, height, theme])
    await page.locator('.row', { hasText: 'cannot be answered' }).waitFor()
    await expectAccessible(page)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    // A reason is never cut while there is text to cut.
    const cut = `[...document.querySelectorAll('.row em')].filter((em) => em.scrollWidth > em.clientWidth).length`
    expect(await page.evaluate<number>(cut)).toBe(0)
  })

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })
/** Where a view has its count: in the rail, or on a phone in the bar. */
const railCount = (page: Page, text: string) => page.locator('.rail-count.plain', { hasText: text })
const titled = (page: Page, title: string) => until(async () => (await page.title()) === title)

const receive = (world: World, from: string, text: string) => world.control.injectSms({ from, to: FROM, text })

const stored = (world: World, count: number) =>
  until(async () => (await world.json<{ total: number }>('GET', '/v1/sms/messages')).body.total === count)

/** So many contacts that wait for an answer, and one that was answered. */
async function fill(world: World, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await receive(world, contact(index), `Question ${index}`)
  await world.untilStatus(await world.send({ to: contact(900), body: 'Our answer' }))
}
