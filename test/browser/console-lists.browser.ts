import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { unknownNumber } from '../../src/core/message-failure.ts'
import { startTestGateway } from '../../src/testing/index.ts'
import { openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { addFailed } from '../support/failed-texts.ts'
import { createWorld, until } from '../support/world.ts'

const row = (page: Page, text: string) => page.locator('.row', { hasText: text })

test('a list that was scrolled and then replaced by its reasons begins at its top again, and new rows appear', async () => {
  await using world = await createWorld({ outside: true })
  const fail = async (count: number, from: string): Promise<void> => {
    await addFailed(world, count, { ...unknownNumber(from), from })
    // Its event makes the page read the list.
    await world.send({ body: 'sent' })
  }
  await fail(60, '+15035550160')
  await using opened = await openAsOperator(world, '/messages?state=failed&group=none')
  const { page } = opened
  await row(page, '+15035550160').first().waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: 400 }))
  await row(page, '+15035551125').waitFor()
  await page.getByRole('button', { name: 'Reason' }).click()
  await page.locator('.reason').first().waitFor()
  await fail(1, '+15035550161')
  await page.getByText('61', { exact: true }).first().waitFor()
  await page.getByRole('button', { name: 'None' }).click()
  await row(page, '+15035550161').waitFor()
  await fail(1, '+15035550162')
  await row(page, '+15035550162').waitFor()
})

test('new rows that cannot be read at the top of the list are still counted, and a click reads them', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const send = (body: string) => gateway.client.sms.send({ from, to: '+15555550199', body })
  for (let index = 0; index < 60; index++) await send(`text ${index}.`)
  await using opened = await openConsole(gateway.url, { hash: '#/messages' })
  const { page } = opened
  await row(page, 'text 59.').waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: 700 }))
  await row(page, 'text 10.').waitFor()
  await send('one more')
  const pill = page.getByRole('button', { name: '1 new' })
  await pill.waitFor()
  let refused = 0
  await page.route('**/v1/sms/messages*', (route) => {
    refused++
    return route.fulfill({ status: 429, json: { error: 'Too many requests' } })
  })
  await pill.click()
  await until(() => refused > 0)
  await pill.waitFor()
  await page.unroute('**/v1/sms/messages*')
  await pill.click()
  await row(page, 'one more').waitFor()
  await pill.waitFor({ state: 'detached' })
})

test('on a phone the first row that the keys lead to is the top of the list, where new rows appear', async () => {
  await using gateway = await startTestGateway()
  const [from = ''] = gateway.numbers
  const send = (body: string) => gateway.client.sms.send({ from, to: '+15555550199', body })
  for (let index = 0; index < 60; index++) await send(`text ${index}.`)
  await using opened = await openConsole(gateway.url, { hash: '#/messages', width: 390, height: 844 })
  const { page } = opened
  await row(page, 'text 59.').waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: 700 }))
  await row(page, 'text 45.').waitFor()
  await page.keyboard.press('j')
  await row(page, 'text 59.').waitFor()
  await send('one more')
  await row(page, 'one more').waitFor()
})

test('a conversation stands once in a list that was scrolled while others moved to its top', async () => {
  await using world = await createWorld({ outside: true, work: false })
  const write = async (first: number, end: number, word: string): Promise<void> => {
    for (let index = first; index < end; index++)
      await world.send({ to: `+1555555${1000 + index}`, body: `${word} ${index}.` })
  }
  await write(0, 160, 'text')
  await using opened = await openAsOperator(world, '/conversations')
  const { page } = opened
  await row(page, 'text 159.').waitFor()
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: 400 }))
  await page.getByText('100 of 160 loaded').waitFor()
  await write(100, 160, 'news')
  await write(0, 100, 'news')
  await page.getByRole('button', { name: /new$/ }).waitFor()
  const read = page.waitForResponse((response) => response.url().includes('page=3'))
  await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: rows.scrollHeight }))
  await read
  const seen = new Map<string, Set<string>>()
  for (let top = 0; top < 6000; top += 300) {
    await page.locator('.rows').evaluate((rows, to) => rows.scrollTo({ top: to }), top + 40)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
    for (const [id, text] of await page
      .locator('.row')
      .evaluateAll((rows) =>
        rows.map(
          (each) => [each.getAttribute('data-id') ?? '', each.querySelector('.mask')?.textContent ?? ''] as const,
        ),
      ))
      seen.set(id, (seen.get(id) ?? new Set()).add(text))
  }
  expect([...seen].filter(([, shown]) => shown.size > 1)).toEqual([])
})

test('a waiting message that is closed while it is read is not read again', async () => {
  await using world = await createWorld({ work: false })
  await world.send({ body: 'it waits' })
  const held = Promise.withResolvers<undefined>()
  const prepare = async (page: Page): Promise<void> => {
    await page.route('**/timeline', async (route) => {
      await held.promise
      await route.continue()
    })
  }
  await using opened = await openAsOperator(world, '/messages', { clock: 'moves', prepare })
  const { page, requests } = opened
  await row(page, 'it waits').click()
  const timelines = (): number => requests.filter((path) => path.endsWith('/timeline')).length
  await until(() => timelines() === 1)
  await page.keyboard.press('Escape')
  await page.locator('.detail').waitFor({ state: 'detached' })
  await page.clock.install()
  held.resolve(undefined)
  await page.waitForResponse((response) => response.url().endsWith('/timeline'))
  await page.clock.runFor(60_000)
  expect(timelines()).toBe(1)
})
