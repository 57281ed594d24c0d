import { expect, test } from 'bun:test'
import type { Locator, Page } from 'playwright-core'
import { MESSAGE_FAILURES, unknownNumber } from '../../src/core/message-failure.ts'
import { anIncident, routeAll } from '../support/all-tenants.ts'
import { addFailed } from '../support/failed-texts.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { FROM, TO, createWorld } from '../support/world.ts'

const PAIR = `/conversations?${new URLSearchParams({ number: FROM, contact: TO })}`

/** Where the words of something begin and end, to the pixel. */
async function wordsOf(target: Locator): Promise<{ left: number; right: number; bottom: number }> {
  await target.waitFor()
  return target.evaluate((element) => {
    const range = element.ownerDocument.createRange()
    range.selectNodeContents(element)
    const [first] = [...range.getClientRects()]
    const { left = 0, right = 0, bottom = 0 } = first ?? {}
    return { left: Math.round(left), right: Math.round(right), bottom: Math.round(bottom) }
  })
}

async function boxOf(target: Locator): Promise<{ left: number; right: number }> {
  await target.waitFor()
  const { x, width } = (await target.boundingBox()) ?? { x: 0, width: 0 }
  return { left: Math.round(x), right: Math.round(x + width) }
}

const styleOf = (target: Locator, property: string): Promise<string> =>
  target.evaluate(
    (element, name) => element.ownerDocument.defaultView?.getComputedStyle(element).getPropertyValue(name) ?? '',
    property,
  )

test('on the page of all tenants names and sentences begin in one column, and the head of the table stands on one line', async () => {
  await using world = await createWorld({ outside: true })
  const shown = anIncident(Date.now(), world.tenantId)
  await using opened = await openAsOperator(world, '/all', { prepare: (page) => routeAll(page, () => shown) })
  const { page } = opened
  const need = await wordsOf(page.locator('.needs li p').first())
  expect((await wordsOf(page.locator('.tenant-name').first())).left).toBe(need.left)
  const head = await wordsOf(page.locator('.tenants-head h2'))
  expect((await wordsOf(page.getByRole('button', { name: /^Usage of/ }).first())).bottom).toBe(head.bottom)
  await page.setViewportSize({ width: 320, height: 720 })
  const range = await wordsOf(page.getByRole('button', { name: '24 h', exact: true }))
  const title = await wordsOf(page.locator('h1'))
  expect(range.left).toBe(title.left)
  expect((await wordsOf(page.locator('.tenants-usage'))).left).toBe(title.left)
})

test('reasons have their counts and buttons in columns, say from when to when on a phone, and are told apart in forced colours', async () => {
  await using world = await createWorld({ outside: true })
  await addFailed(world, 2, { ...unknownNumber('+15035550199'), from: '+15035550199' })
  await addFailed(world, 1, { ...MESSAGE_FAILURES.expired, from: FROM })
  await using opened = await openAsOperator(world, '/messages?state=failed')
  const { page } = opened
  const heads = page.locator('.reason-head')
  await heads.nth(1).waitFor()
  await page.locator('.reason .row').first().waitFor()
  for (const [part, side] of [
    ['h2', 'left'],
    ['b', 'right'],
  ] as const)
    expect((await wordsOf(heads.nth(0).locator(part)))[side]).toBe((await wordsOf(heads.nth(1).locator(part)))[side])
  const { right } = await boxOf(page.locator('.search'))
  for (const index of [0, 1])
    expect((await boxOf(heads.nth(index).getByRole('button', { name: /^Resend/ }))).right).toBe(right)
  await page.emulateMedia({ forcedColors: 'active' })
  await heads
    .first()
    .getByRole('button', { name: /^Resend/ })
    .click()
  const label = page.getByRole('dialog').locator('label')
  await label.waitFor()
  expect(await styleOf(label, 'outline-style')).toBe('none')
  await page.keyboard.press('Escape')
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await page.getByRole('group', { name: 'Group by' }).innerText()).toContain('Group by')
  expect(await heads.first().innerText()).toMatch(/\d\d:\d\d/)
})

test('dialogs look alike wherever they are opened, and keep off the edges of a phone', async () => {
  await using world = await createWorld({ outside: true })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hello' })
  await world.untilStatus(await world.send({ body: 'Sent again' }))
  await using opened = await openAsOperator(world, PAIR, { width: 390, height: 844 })
  const { page } = opened
  const shapes: unknown[] = []
  const measure = async (): Promise<void> => {
    const dialog = page.getByRole('dialog')
    const [back, act] = [await boxOf(dialog.getByText('Back')), await boxOf(dialog.locator('.actions > :last-child'))]
    shapes.push([await titleSize(page), await boxOf(dialog), act.left - back.right])
  }
  await page.getByRole('button', { name: 'Opt out…' }).click()
  await measure()
  await page.keyboard.press('Escape')
  await page.evaluate("location.hash = '/messages'")
  await page.locator('.row').filter({ hasText: 'Sent again' }).click()
  await page.getByRole('button', { name: 'Send again as new…' }).click()
  await measure()
  await page.keyboard.press('Escape')
  await page.evaluate("location.hash = '/apps'")
  await page.getByRole('button', { name: 'Rotate key…' }).click()
  await measure()
  const alike = ['20px', { left: 16, right: 374 }, 8]
  expect(shapes).toEqual([alike, alike, alike])
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate key' }).click()
  await page.getByRole('dialog').getByText('SGW_').waitFor()
  expect([await titleSize(page), await boxOf(page.getByRole('dialog'))]).toEqual(['20px', { left: 16, right: 374 }])
})

const titleSize = (page: Page): Promise<string> => styleOf(page.getByRole('dialog').locator('h2'), 'font-size')

test('More says in words whether events arrive, and fits on the smallest phone', async () => {
  await using world = await createWorld({ outside: true })
  await using opened = await openAsOperator(world, '/messages', { width: 320, height: 720 })
  const { page } = opened
  await page.getByRole('button', { name: /^More/ }).click()
  const dialog = page.getByRole('dialog')
  const { right } = await boxOf(dialog)
  const live = dialog.getByText('Live', { exact: true })
  expect((await live.boundingBox())?.width).toBeGreaterThan(10)
  expect((await boxOf(dialog.locator('.panel-item').first())).right).toBeLessThan(right)
})

for (const width of [390, 1024, 1440])
  test(`at ${width} pixels the sections of Setup begin where its sentence does`, async () => {
    await using world = await createWorld({ outside: true })
    await using opened = await openAsOperator(world, '/numbers', { width, height: 900 })
    const { page } = opened
    const { left } = await wordsOf(page.locator('.setup h1'))
    expect((await wordsOf(page.locator('.setup .segmented > :first-child'))).left).toBe(left)
  })

test('on a phone the reason of a text is whole beside the number that tells two conversations apart', async () => {
  await using world = await createWorld({ outside: true })
  await world.control.injectSms({ from: TO, to: FROM, text: 'Hello' })
  await world.untilStatus(await world.send({ from: '+15555550777', body: 'Reminder: your visit is tomorrow' }))
  await using opened = await openAsOperator(world, '/conversations', { width: 390, height: 844 })
  const row = opened.page.locator('.row', { hasText: 'number not connected' })
  await row.getByText(/^via/).waitFor()
  const room = await row.locator('em').evaluateAll((all) => all.map((each) => each.scrollWidth - each.clientWidth))
  expect(room).toEqual([0, 0])
})
