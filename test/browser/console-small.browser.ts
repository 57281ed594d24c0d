import { expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { openConsole } from '../support/console.ts'
import { openAsOperator } from '../support/console-operator.ts'
import { type World, createWorld } from '../support/world.ts'

const SMALL = { width: 320, height: 720 }
const LONG = '/messages?text=a+text+that+is+much+longer+than+the+field+in+which+it+stands'

test('on a phone an open message has one way back, to its list', async () => {
  await using world = await sentWorld()
  await using opened = await openAsOperator(world, '/messages', SMALL)
  const { page } = opened
  const up = page.locator('.top-bar').getByRole('link', { name: 'All tenants' })
  await up.waitFor()
  await page.locator('.row').first().click()
  const back = page.getByRole('button', { name: 'Back to the list' })
  await back.waitFor()
  await up.waitFor({ state: 'hidden' })
  await back.click()
  await up.waitFor()
})

test('a filter that is longer than its field is cut, and its button stays within the field', async () => {
  await using world = await sentWorld()
  await using opened = await openAsOperator(world, LONG, SMALL)
  const { page } = opened
  const remove = page.getByRole('button', { name: /^Remove filter text/ })
  await remove.waitFor()
  const [field, button] = [await page.locator('.search').boundingBox(), await remove.boundingBox()]
  expect((button?.x ?? 0) + (button?.width ?? 0)).toBeLessThanOrEqual((field?.x ?? 0) + (field?.width ?? 0))
  await remove.click()
  expect(await page.locator('.chip').count()).toBe(0)
})

test('the list of keys fits on a phone without scrolling', async () => {
  await using world = await sentWorld()
  await using opened = await openAsOperator(world, '/messages', SMALL)
  const { page } = opened
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  const hidden = `(() => { const { scrollHeight, clientHeight } = document.querySelector('dialog'); return scrollHeight - clientHeight })()`
  expect(await page.evaluate<number>(hidden)).toBe(0)
})

test('with forced colours no two buttons of a row touch', async () => {
  await using world = await sentWorld()
  await using opened = await openAsOperator(world, '/apps')
  const { page } = opened
  await page.emulateMedia({ forcedColors: 'active' })
  await page.getByRole('button', { name: 'Rotate key…' }).click()
  await page.getByRole('dialog').waitFor()
  expect(await gaps(page, '.thing-buttons:not(dialog *) > .button')).toBeGreaterThanOrEqual(4)
  expect(await gaps(page, 'dialog .actions > .button')).toBeGreaterThanOrEqual(4)
})

test('on a phone the names of the stations have room between them', async () => {
  await using world = await createWorld()
  await using opened = await openConsole(world.url, { ...SMALL, hash: '#/phone' })
  const { page } = opened
  await page.getByRole('button', { name: 'Send the first text' }).click()
  await page.locator('.stations b').first().waitFor()
  expect(await gaps(page, '.stations b')).toBeGreaterThanOrEqual(4)
})

/** The least room between two neighbours, in pixels. */
const gaps = (page: Page, selector: string): Promise<number> =>
  page.evaluate<number>(`(() => {
    const boxes = [...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.getBoundingClientRect())
    return Math.min(...boxes.slice(1).map(({ left }, index) => left - boxes[index].right))
  })()`)

async function sentWorld(): Promise<World> {
  const world = await createWorld({ outside: true })
  await world.otherTenant('Pine Street')
  await world.untilStatus(await world.send({ body: 'Hello' }))
  return world
}
