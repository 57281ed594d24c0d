import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { SIZES, expectAccessible, openConsole, show } from '../support/console.ts'
import { writeManyMessages } from '../support/many-messages.ts'
import { sharedByTests } from '../support/shared.ts'
import { FROM, type World, createWorld } from '../support/world.ts'

const A = '+15035558842'
const B = '+4915112348842'

test('a text of yesterday is found by the last four digits of its number, by keyboard alone, though it is not loaded', async () => {
  await using world = await manyMessages(300)
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/messages' })
  const { page, complaints } = opened
  await page.locator('.row').first().waitFor()
  expect(await row(page, 'the first of all').count()).toBe(0)
  await page.keyboard.press('/')
  await page.keyboard.type('8842')
  await page.keyboard.press('Enter')
  await row(page, 'the first of all').waitFor()
  expect(await page.locator('.row').count()).toBe(2)
  expect(new URL(page.url()).hash).toBe('#/messages?ends=8842')
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.locator('.outcome', { hasText: 'Sent' }).waitFor()
  // As people write it, and narrower.
  await page.keyboard.press('Escape')
  await page.locator('.row:focus').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('(503) 555-8842')
  await page.keyboard.press('Enter')
  await row(page, 'the second').waitFor({ state: 'detached' })
  await row(page, 'the first of all').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('+49 151 1234 8842')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: `Remove filter contact ${B}` }).waitFor()
  expect(complaints).toEqual([])
})

test('digits that end no number are looked for in texts by a click, and more than a hundred contacts need more digits', async () => {
  await using world = await manyMessages(300)
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/messages?ends=000299' })
  const { page, complaints } = opened
  await page.getByRole('heading', { name: 'No message is with a number that ends with 000299.' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('/')
  await page.keyboard.type('299')
  await page.keyboard.press('Enter')
  await row(page, 'Message number 299 ').waitFor()
  await page.getByRole('button', { name: 'Remove filter ends' }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('"number 299"')
  await page.keyboard.press('Enter')
  await page.getByText('“number 299” is in 1 of all 302 messages.').first().waitFor()
  for (let index = 0; index < 101; index++) await world.send({ to: `+1555${String(1000 + index)}777` })
  await page.goto(`${page.url().split('#')[0]}#/messages?ends=777`)
  await page.getByRole('heading', { name: 'More than 100 contacts end with 777. Type more of the number.' }).waitFor()
  await page.goto(`${page.url().split('#')[0]}#/messages?ends=first`)
  await page.getByText('The gateway says: Invalid contactEndsWith.').waitFor()
  await page.goto(`${page.url().split('#')[0]}#/messages?ends=4711`)
  await page.getByRole('link', { name: 'Search texts for “4711”' }).click()
  await page.getByRole('heading', { name: 'No message has “4711”.' }).waitFor()
  // What was refused stands in the browser's console, too.
  expect(complaints.filter((text) => !text.includes('400'))).toEqual([])
})

test('words are looked for page by page, with how far it has looked, and a click looks further to the end', async () => {
  await using world = await manyMessages(2400)
  await using opened = await openConsole(world.url, { key: world.key, hash: '#/messages?text=of+all' })
  const { page, complaints, requests } = opened
  await note(page, '“of all” is in none of the 1,090 newest of 2,402 messages, back to').waitFor()
  await page.getByRole('heading', { name: 'Nothing found so far.' }).waitFor()
  expect(requests.filter((request) => request === 'GET /v1/sms/messages').length).toBe(11)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Search further' }).focus()
  await page.keyboard.press('Enter')
  await note(page, '“of all” is in none of the 2,080 newest of 2,402 messages').waitFor()
  await page.getByRole('button', { name: 'Search further' }).click()
  await note(page, '“of all” is in 1 of all 2,402 messages.').waitFor()
  await row(page, 'the first of all').waitFor()
  expect(await page.getByRole('button', { name: 'Search further' }).count()).toBe(0)
  // A new text that has the words comes to the top.
  await world.send({ to: A, body: 'once more of all' })
  await row(page, 'once more of all').waitFor()
  await note(page, '“of all” is in 2 of all 2,403 messages.').waitFor()
  expect(complaints).toEqual([])
})

test('looking is stopped by a click, shows how far it came, and stops by itself where a page is full of what was found', async () => {
  await using world = await manyMessages(2400)
  const gate = Promise.withResolvers<void>()
  await using opened = await openConsole(world.url, {
    key: world.key,
    hash: '#/messages?text=nowhere',
    prepare: async (page) => {
      let asked = 0
      await page.route('**/v1/sms/messages?*', async (route) => {
        if (++asked > 3) await gate.promise
        await route.continue()
      })
    },
  })
  const { page } = opened
  await note(page, 'Searching for “nowhere”: 298 newest of 2,402 messages, back to').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  gate.resolve()
  await note(page, '“nowhere” is in none of the').waitFor()
  expect(await page.getByRole('button', { name: 'Stop' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Search further' }).waitFor()
  await page.goto(`${page.url().split('#')[0]}#/messages?text=few+words`)
  await note(page, '“few words” is in 100 of the 100 newest of 2,402 messages').waitFor()
})

test('where older messages cannot be read, it says so and how far it came', async () => {
  await using world = await manyMessages(2400)
  await using opened = await openConsole(world.url, {
    key: world.key,
    hash: '#/messages?text=of+all',
    prepare: async (page) => {
      let asked = 0
      await page.route('**/v1/sms/messages?*', (route) =>
        ++asked === 3 ? route.fulfill({ status: 400, json: { error: 'Something is wrong' } }) : route.continue(),
      )
    },
  })
  const { page } = opened
  await note(page, '“of all” is in none of the 199 newest of 2,402 messages').waitFor()
  await note(page, 'The gateway says: Something is wrong.').waitFor()
  await page.getByRole('button', { name: 'Search further' }).click()
  await note(page, 'is in none of the 1,189 newest').waitFor()
})

const lookedThrough = sharedByTests(async (stack) => {
  const world = stack.use(await manyMessages(1200))
  const opened = stack.use(await openConsole(world.url, { key: world.key, hash: '#/messages?text=number+119' }))
  await opened.page.goto(`${opened.page.url().split('#')[0]}#/messages?text=the+second`)
  return opened
})

for (const [width, height, theme] of SIZES)
  test(`at ${width} × ${height} in ${theme} what was looked for fits, and axe finds nothing`, async () => {
    const { page } = await lookedThrough()
    await show(page, [width, height, theme])
    await note(page, 'is in none of the 1,090 newest').waitFor()
    await expectAccessible(page)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
  })

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })
const note = (page: Page, text: string) => page.locator('.list-note', { hasText: text })

/** Two texts whose contacts end with 8842, and after them many others. */
async function manyMessages(count: number): Promise<World> {
  const world = await createWorld()
  await world.untilStatus(await world.send({ to: A, from: FROM, body: 'the first of all' }))
  await world.untilStatus(await world.send({ to: B, from: FROM, body: 'the second' }))
  const { gateway, tenantId, app } = world
  const since = gateway.clock.now() - count * 1000
  await gateway.database.gate.execute({ sql: 'UPDATE messages SET created_at = ?1', args: [since - 86_400_000] })
  await writeManyMessages(gateway.database.gate, { count, since, tenantId, appId: app.appId })
  return world
}
